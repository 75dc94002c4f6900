"""The paper's sets for its curves of robustness: moons with noise, circles in two scales, uniform noise."""

from typing import Any

import numpy as np
from sklearn.datasets import make_circles, make_moons
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import check_random_state

from gitcluster.datasets.loading import load
from gitcluster.datasets.shapes import check_not_negative
from gitcluster.datasets.store import Labelled


def make_noisy_moons(noise: float, *, n_samples: int = 2000, random_state: Any = None) -> Labelled:
    """Two moons with Gaussian noise, scaled to 0..3 as the published experiments drew them.

    Parameters
    ----------
    noise : float
        Standard deviation before scaling; the paper's curve goes from 0.02 to 0.26.
    n_samples : int, default=2000
    random_state : int, RandomState or None, default=None
        The paper's ten draws are those of 2020 to 2029.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> X, y = make_noisy_moons(0.1, random_state=2020)
    >>> X.shape, round(float(X.max()), 6)
    ((2000, 2), 3.0)
    """
    X, y = make_moons(n_samples, noise=noise, random_state=random_state)
    return MinMaxScaler((0, 3)).fit_transform(X), y


def make_scaled_circles(
    scale: float, *, noise: float = 0.15, n_samples: int = 2000, random_state: Any = 2020
) -> Labelled:
    """Two circles in 0..3 beside a mirrored copy of them, enlarged: four clusters in two scales.

    Parameters
    ----------
    scale : float
        How many times the copy is enlarged, up to 100 in the paper; 0 leaves it out.
    noise : float, default=0.15
        Standard deviation before scaling.
    n_samples : int, default=2000
        Samples of the first pair; the copy has as many.
    random_state : int, RandomState or None, default=2020
        The paper's draw by default.

    Returns
    -------
    X : ndarray of shape (2 * n_samples, 2), or (n_samples, 2) for scale 0
    y : ndarray of shape (len(X),)

    Examples
    --------
    >>> X, y = make_scaled_circles(100)
    >>> X.shape, np.bincount(y).tolist(), round(float(X.min()), 6)
    ((4000, 2), [1000, 1000, 1000, 1000], -300.0)
    """
    scale = check_not_negative("scale", scale)
    X, y = make_circles(n_samples, noise=noise, factor=0.4, random_state=random_state)
    X = MinMaxScaler((0, 3)).fit_transform(X)
    return (X, y) if scale == 0 else (np.concatenate([X, -X * scale]), np.concatenate([y, y + 2]))


def make_noisy_impossible(share: float = 0.1, *, random_state: Any = 2020) -> Labelled:
    """The set Impossible with uniform noise over [-10, 10] squared, which is a class of its own, the last.

    Parameters
    ----------
    share : float, default=0.1
        Number of noise samples as a share of the others.
    random_state : int, RandomState or None, default=2020

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        First what ``load_impossible`` gives, then the noise.
    y : ndarray of shape (n_samples,)
        7 for the noise.

    Examples
    --------
    >>> X, y = make_noisy_impossible(0.1)
    >>> len(X), int((y == 7).sum())
    (3954, 359)
    """
    share = check_not_negative("share", share)
    X, y = load("impossible")
    noise = check_random_state(random_state).uniform(-10, 10, (int(share * len(X)), 2))
    return np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), y.max() + 1)])
