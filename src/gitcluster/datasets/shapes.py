"""Generated sets in the likeness of the paper's drawn ones: the same kinds, sizes and positions of clusters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from gitcluster._support.validation import check_integer
from gitcluster.datasets.store import Labelled

Points = NDArray[np.float64]


def make_smile(n_samples: int = 1001, *, noise: float = 0.01, random_state: Any = None) -> Labelled:
    """Two eyes, the outline of a face and a mouth: four clusters in the plane.

    Parameters
    ----------
    n_samples : int, default=1001
        Divided evenly.
    noise : float, default=0.01
        Standard deviation of the eyes; the mouth is some three times as thick. The outline has none.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        0 and 1 the eyes, 2 the outline, 3 the mouth.

    Examples
    --------
    >>> X, y = make_smile(400, random_state=0)
    >>> np.bincount(y).tolist()
    [100, 100, 100, 100]
    """
    rng = check_random_state(random_state)
    right, left, outline, mouth = _sizes(n_samples, [1] * 4)
    noise = check_not_negative("noise", noise)
    angle = 2 * np.pi * np.arange(outline) / outline
    across = rng.uniform(-0.95, 0.95, mouth)
    return _together(
        rng.normal((-0.3, 0.7), noise, (right, 2)),
        rng.normal((-0.7, 0.7), noise, (left, 2)),
        (-0.5, 0.5) + 0.5 * _on_circle(angle),
        (-0.45, 0.55) + (0.3 + rng.normal(0, 2.8 * noise, mouth))[:, None] * _on_circle(across - np.pi / 2),
    )


def make_chainlink(n_samples: int = 1001, *, noise: float = 0.1, random_state: Any = None) -> Labelled:
    """Two rings in space, one through the other.

    Parameters
    ----------
    n_samples : int, default=1001
        Divided evenly.
    noise : float, default=0.1
        Greatest distance of a sample from the middle of its ring, whose radius is 1.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_chainlink(500, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((500, 3), [250, 250])
    """
    rng = check_random_state(random_state)
    noise = check_not_negative("noise", noise)
    rings = []
    for size in _sizes(n_samples, [1] * 2):
        offset = rng.uniform(0, noise, size)[:, None] * _on_circle(rng.uniform(0, 2 * np.pi, size))
        flat = (1 + offset[:, :1]) * _on_circle(rng.uniform(0, 2 * np.pi, size))
        rings.append(np.column_stack([flat, offset[:, 1]]))
    return _together(rings[0], rings[1][:, [2, 1, 0]] + (0, 1, 0))


def make_impossible(n_samples: int = 3595, *, noise: float = 1.0, random_state: Any = None) -> Labelled:
    """A round cloud, three rings, two spirals and a slanting band: seven clusters of mixed shapes.

    Parameters
    ----------
    n_samples : int, default=3595
        Divided as in the paper's set, from 893 in the cloud to 270 in the inner ring.
    noise : float, default=1.0
        Width of the cloud, the band and the rings, times that of the paper's set. The spirals are thin lines.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        In [-10, 10].
    y : ndarray of shape (n_samples,)
        0 the cloud, 1 to 3 the rings from outside, 4 and 5 the spirals, 6 the band.

    Examples
    --------
    >>> X, y = make_impossible(random_state=0)
    >>> np.bincount(y).tolist()
    [893, 676, 406, 270, 450, 450, 450]
    """
    rng = check_random_state(random_state)
    noise = check_not_negative("noise", noise)
    sizes = _sizes(n_samples, [893, 676, 406, 270, 450, 450, 450])
    cloud = rng.normal((-5.4, 5.3), (1.15 * noise, 1.4 * noise), (sizes[0], 2))
    rings = [
        (5, -5) + radius * (1 - 0.1 * noise * rng.uniform(size=(size, 1))) * _on_circle(rng.uniform(0, 2 * np.pi, size))
        for size, radius in zip(sizes[1:4], (4, 2.5, 1), strict=True)
    ]
    turns = [np.linspace(0.3 + start, 12.6, size) for size, start in zip(sizes[4:6], (0, 1.5), strict=True)]
    spirals = [
        (4.75, 4.75) + 0.34 * turn[:, None] * _on_circle(turn + side)
        for turn, side in zip(turns, (0, np.pi), strict=True)
    ]
    along, across = rng.uniform(-5.8, 5.8, sizes[6]), rng.normal(0, 1.17 * noise, sizes[6])
    band = np.column_stack([along + across, across - along]) / np.sqrt(2) - 5
    return _together(*(np.clip(part, -10, 10) for part in (cloud, *rings, *spirals, band)))


def make_s_set(n_samples: int = 5000, *, noise: float = 1.0, random_state: Any = None) -> Labelled:
    """Fifteen Gaussian clusters in a square of a million by a million, some of them stretched.

    Parameters
    ----------
    n_samples : int, default=5000
        Divided evenly.
    noise : float, default=1.0
        Width of the clusters, times one at which they hardly touch (S1 of the S-sets; its successors overlap more).
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_s_set(random_state=0)
    >>> X.shape, int(y.max())
    ((5000, 2), 14)
    """
    rng = check_random_state(random_state)
    noise = check_not_negative("noise", noise)
    centres = rng.uniform(140_000, 860_000, (1, 2))
    for _ in range(14):  # of many candidates the farthest from all others, so that clusters do not coincide
        candidates = rng.uniform(140_000, 860_000, (200, 2))
        distances = np.linalg.norm(candidates[:, None] - centres, axis=2).min(axis=1)
        centres = np.concatenate([centres, candidates[[distances.argmax()]]])
    clusters = []
    for size, centre in zip(_sizes(n_samples, [1] * 15), centres, strict=True):
        widths = 33_000 * noise * np.array([1, 1 - 0.9 * rng.uniform() ** 3])
        turn = _on_circle(rng.uniform(0, 2 * np.pi, 1))[0]
        clusters.append(centre + rng.normal(0, widths, (size, 2)) @ np.array([turn, [-turn[1], turn[0]]]))
    return _together(*clusters)


def _on_circle(angle: Points) -> Points:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _together(*clusters: Points) -> Labelled:
    """Samples of all clusters, one after the other, and their labels."""
    return np.concatenate(clusters), np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])


def _sizes(n_samples: int, shares: list[int]) -> list[int]:
    """``n_samples`` in whole numbers as near to the shares as they go."""
    n_samples = check_integer("n_samples", n_samples, low=2 * len(shares))
    exact = np.array(shares) * n_samples / sum(shares)
    sizes = np.floor(exact).astype(int)
    sizes[np.argsort(sizes - exact, kind="stable")[: n_samples - sizes.sum()]] += 1
    return [int(size) for size in sizes]


def check_not_negative(name: str, value: Any) -> float:
    """``value`` as a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number >= 0, got {name}={value!r}.")
    return float(value)
