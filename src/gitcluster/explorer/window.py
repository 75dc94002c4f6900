"""The window of a page: places of samples in coordinates near to -1 to 1."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FAR = 1.4
"""Samples that lie farther out than this multiple of the usual range do not decide what the page shows at first."""
ROOM = 1.1
"""What it shows then, beside the range of nearly all of them."""
UNEVEN = 4.0
"""Axes are scaled each for itself where their ranges differ by more than this factor."""


class Window(NamedTuple):
    """Two coordinates of every sample, near to -1 to 1, and what they were: centre + unit * coordinate."""

    coordinates: NDArray[np.float32]
    centre: list[float]
    unit: list[float]
    extent: list[float]
    """How far the samples reach in either direction, at most 1."""


def fit_window(values: NDArray[np.float64]) -> Window:
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
    extent = np.clip(np.abs(coordinates).max(axis=0, initial=0.0), 0.05, 1.0)
    return Window(coordinates, centre.tolist(), unit.tolist(), extent.astype(float).tolist())
