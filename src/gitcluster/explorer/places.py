"""Where the page shows the samples: two features as they are, the principal components of more, or an embedding."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from gitcluster.pipeline import GIVEN_DISTANCES
from gitcluster.scaling import apply_scaling

FAR = 1.4
"""Samples so many times as far out as nearly all others do not decide what the page shows at first."""
ROOM = 1.1
"""What it shows then, beside the range of nearly all of them."""
UNEVEN = 4.0
"""Axes whose ranges differ more than so many times are scaled each for itself."""


class Places(NamedTuple):
    """Two coordinates of every shown sample, near to -1 to 1, and what they were: centre + unit * coordinate."""

    coordinates: NDArray[np.float32]
    names: list[str]
    centre: list[float]
    unit: list[float]


def place_samples(
    model: Any, X: Any, rows: NDArray[np.int64], *, embedding: ArrayLike | None, random_state: int
) -> Places:
    """Places of the samples ``rows``."""
    if embedding is not None:
        values, names = _check_embedding(embedding, len(model.labels_))[rows], ["embedding 1", "embedding 2"]
        names = [str(name) for name in getattr(embedding, "columns", names)]
    else:
        values, names = _project(model, X, rows, random_state)
    return _fit_window(values, names)


def _check_embedding(embedding: Any, n_samples: int) -> NDArray[np.float64]:
    values = np.asarray(embedding, dtype=np.float64)
    if values.shape != (n_samples, 2):
        raise ValueError(f"embedding must have shape ({n_samples}, 2), one place a sample, got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("embedding has values that are not finite. Give every sample a place.")
    return values


def _project(model: Any, X: Any, rows: NDArray[np.int64], random_state: int) -> tuple[NDArray[np.float64], list[str]]:
    """Samples in two dimensions, and what those are called."""
    reference, n_samples = model._reference, len(model.labels_)
    if reference.metric in GIVEN_DISTANCES:
        raise ValueError(
            f"A model of metric={reference.metric!r} knows no places of its samples. "
            "Give embedding, an array of shape (n_samples, 2)."
        )
    if X is None:
        if reference.points.shape[0] != n_samples:
            raise ValueError(
                "This model holds repeated rows in place of weights. Give X, the samples that were fitted."
            )
        samples = scaled = reference.points[rows]
    else:
        samples = model._check_samples(X, reset=False)
        if samples.shape[0] != n_samples:
            raise ValueError(f"X has {samples.shape[0]} samples, the model was fitted to {n_samples}. Give those.")
        samples = samples[rows]
        scaled = apply_scaling(samples, reference.scaling)
    features = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if len(features) != samples.shape[1]:
        features = [f"feature {i + 1}" for i in range(samples.shape[1])]
    if samples.shape[1] > 2:
        return _principal_components(scaled, random_state)
    dense = np.asarray(samples.toarray() if issparse(samples) else samples, dtype=np.float64)
    if dense.shape[1] < 2:  # a line is shown as the hills that the samples climb
        values = np.column_stack([dense if dense.shape[1] else np.zeros(len(rows)), model.log_intensity_[rows]])
        return values, [*features, "feature 1"][:1] + ["log intensity"]
    return dense, features


def _principal_components(points: Any, random_state: int) -> tuple[NDArray[np.float64], list[str]]:
    points = points / (abs(points).max() or 1.0)  # squares stay finite
    if issparse(points) and min(points.shape) <= 3:
        points = points.toarray()
    components = min(2, *points.shape)
    solver = "arpack" if issparse(points) else "auto"
    with np.errstate(all="ignore"):  # of samples that are all alike
        pca = PCA(components, svd_solver=solver, random_state=random_state).fit(points)
        values = np.asarray(pca.transform(points), dtype=np.float64)
    shares = np.nan_to_num(pca.explained_variance_ratio_)
    names = [f"component {i + 1} ({share:.0%})" for i, share in enumerate(shares)]
    return values, names


def _fit_window(values: NDArray[np.float64], names: list[str]) -> Places:
    """Coordinates in which nearly all samples lie within -1 to 1."""
    low, high = values.min(axis=0), values.max(axis=0)
    near, far = np.quantile(values, [0.005, 0.995], axis=0)
    outlying = (high / 2 - low / 2 > FAR * (far / 2 - near / 2)) & (far > near)
    low, high = np.where(outlying, near, low), np.where(outlying, far, high)
    centre, unit = low / 2 + high / 2, (high / 2 - low / 2) * np.where(outlying, ROOM, 1.0)
    unit = np.where(unit > 0, unit, unit.max() or 1.0)
    if unit.max() <= UNEVEN * unit.min():
        unit = np.full(2, unit.max())
    coordinates = ((values / 2 - centre / 2) / unit * 2).astype(np.float32)
    return Places(coordinates, names, centre.tolist(), unit.tolist())
