"""The window of a page: places of samples in coordinates near to -1 to 1."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster.fitted.places import inside, usual_range

UNEVEN = 4.0
"""Axes are scaled each for itself where their ranges differ by more than this factor."""


class Window(NamedTuple):
    """Two coordinates of every sample, near to -1 to 1, and what they were: centre + unit * coordinate."""

    coordinates: NDArray[np.float32]
    centre: list[float]
    unit: list[float]
    extent: list[float]
    """How far the samples reach in either direction, at most 1."""
    n_outside: int
    """Number of samples that the page does not show at first, because they lie far away."""


def fit_window(values: NDArray[np.float64]) -> Window:
    """Coordinates in which nearly all samples lie within -1 to 1."""
    window = usual_range(values)
    low, high = window
    centre, unit = low / 2 + high / 2, high / 2 - low / 2
    unit = np.where(unit > 0, unit, unit.max() or 1.0)
    if unit.max() <= UNEVEN * unit.min():
        unit = np.full(2, unit.max())
    coordinates = ((values / 2 - centre / 2) / unit * 2).astype(np.float32)
    extent = np.clip(np.abs(coordinates).max(axis=0, initial=0.0), 0.05, 1.0)
    n_outside = int((~inside(values, window)).sum())
    return Window(coordinates, centre.tolist(), unit.tolist(), extent.astype(float).tolist(), n_outside)
