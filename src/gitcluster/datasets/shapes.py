"""Generated data sets: the paper's shapes, and its moons and circles with noise and scales."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_circles, make_moons
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import check_random_state

from gitcluster._support.validation import check_integer

Labelled = tuple[NDArray[Any], NDArray[np.int64]]


def make_smile(n_samples: int = 1001, *, noise: float = 0.01, random_state: Any = None) -> Labelled:
    """Draw two eyes, the outline of a face and a mouth.

    Parameters
    ----------
    n_samples : int, default=1001
        Number of samples, divided evenly among the four clusters.
    noise : float, default=0.01
        Standard deviation of the eyes. The mouth is about three times as thick, and the outline is exact.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Labels: 0 and 1 for the eyes, 2 for the outline, 3 for the mouth.

    Examples
    --------
    >>> X, y = make_smile(400, random_state=0)
    >>> np.bincount(y).tolist()
    [100, 100, 100, 100]
    """
    n_samples = check_integer("n_samples", n_samples, low=8)
    _check_non_negative("noise", noise)
    rng = check_random_state(random_state)
    right, left, outline, mouth = (n_samples // 4 + (i < n_samples % 4) for i in range(4))
    across = rng.uniform(-0.95, 0.95, mouth)
    return _label(
        rng.normal((-0.3, 0.7), noise, (right, 2)),
        rng.normal((-0.7, 0.7), noise, (left, 2)),
        (-0.5, 0.5) + 0.5 * _on_circle(2 * np.pi * np.arange(outline) / outline),
        (-0.45, 0.55) + (0.3 + rng.normal(0, 2.8 * noise, mouth))[:, None] * _on_circle(across - np.pi / 2),
    )


def make_noisy_moons(noise: float, *, n_samples: int = 2000, random_state: Any = None) -> Labelled:
    """Draw two moons with Gaussian noise, scaled to 0..3 as in the paper.

    Parameters
    ----------
    noise : float
        Standard deviation before scaling. The paper uses 0.02 to 0.26.
    n_samples : int, default=2000
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed or generator. The paper's ten draws have the seeds 2020 to 2029.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
    """
    X, y = make_moons(n_samples, noise=noise, random_state=random_state)
    return MinMaxScaler((0, 3)).fit_transform(X), y


def make_scaled_circles(
    scale: float, *, noise: float = 0.15, n_samples: int = 2000, random_state: Any = 2020
) -> Labelled:
    """Draw two circles in 0..3 and an enlarged, mirrored copy: four clusters in two scales.

    Parameters
    ----------
    scale : float
        Factor by which the copy is enlarged, up to 100 in the paper. 0 omits the copy.
    noise : float, default=0.15
        Standard deviation before scaling.
    n_samples : int, default=2000
        Number of samples of the first pair and of the copy.
    random_state : int, RandomState or None, default=2020
        Seed or generator. The default is the paper's draw.

    Returns
    -------
    X : ndarray of shape (2 * n_samples, 2), or (n_samples, 2) if ``scale=0``
    y : ndarray of shape (len(X),)
    """
    _check_non_negative("scale", scale)
    X, y = make_circles(n_samples, noise=noise, factor=0.4, random_state=random_state)
    X = MinMaxScaler((0, 3)).fit_transform(X)
    return (X, y) if scale == 0 else (np.concatenate([X, -X * scale]), np.concatenate([y, y + 2]))


def draw_chainlink() -> Labelled:
    """Return two linked rings of radius 1 in space, up to 0.1 thick."""
    rng, rings = np.random.RandomState(0), []
    for size in (501, 500):
        offset = rng.uniform(0, 0.1, size)[:, None] * _on_circle(rng.uniform(0, 2 * np.pi, size))
        flat = (1 + offset[:, :1]) * _on_circle(rng.uniform(0, 2 * np.pi, size))
        rings.append(np.column_stack([flat, offset[:, 1]]))
    return _label(rings[0], rings[1][:, [2, 1, 0]] + (0, 1, 0))


def draw_impossible() -> Labelled:
    """Return a round cloud, three rings, two spirals and a slanting band in [-10, 10] squared."""
    rng = np.random.RandomState(0)
    cloud = rng.normal((-5.4, 5.3), (1.15, 1.4), (893, 2))
    rings = [
        (5, -5) + radius * (1 - 0.1 * rng.uniform(size=(size, 1))) * _on_circle(rng.uniform(0, 2 * np.pi, size))
        for size, radius in ((676, 4), (406, 2.5), (270, 1))
    ]
    spirals = [
        (4.75, 4.75) + 0.34 * angle[:, None] * _on_circle(angle + side)
        for angle, side in ((np.linspace(0.3, 12.6, 450), 0), (np.linspace(1.8, 12.6, 450), np.pi))
    ]
    along, across = rng.uniform(-5.8, 5.8, 450), rng.normal(0, 1.17, 450)
    band = np.column_stack([along + across, across - along]) / np.sqrt(2) - 5
    return _label(*(np.clip(part, -10, 10) for part in (cloud, *rings, *spirals, band)))


def draw_s_set() -> Labelled:
    """Return fifteen Gaussian clusters, some of them elongated, in a square of a million by a million."""
    rng = np.random.RandomState(0)
    centres = rng.uniform(140_000, 860_000, (1, 2))
    for _ in range(14):  # of 200 candidates, keep the one farthest from all other centres, so that none coincide
        candidates = rng.uniform(140_000, 860_000, (200, 2))
        distances = np.linalg.norm(candidates[:, None] - centres, axis=2).min(axis=1)
        centres = np.concatenate([centres, candidates[[distances.argmax()]]])
    clusters = []
    for i, centre in enumerate(centres):
        widths = 33_000 * np.array([1, 1 - 0.9 * rng.uniform() ** 3])  # clusters of this width hardly touch
        axis = _on_circle(rng.uniform(0, 2 * np.pi, 1))[0]
        offsets = rng.normal(0, widths, (334 if i < 5 else 333, 2))
        clusters.append(centre + offsets @ np.array([axis, [-axis[1], axis[0]]]))
    return _label(*clusters)


def _on_circle(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _label(*clusters: NDArray[np.float64]) -> Labelled:
    """Return the samples of all clusters in turn, and their labels."""
    return np.concatenate(clusters), np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])


def _check_non_negative(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"`{name}` must be a finite number >= 0, got {value!r}.")
