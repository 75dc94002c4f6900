"""Samples as markers, or where there are too many for that, as an image.

In the image the colour of a pixel is the mean colour of its samples, and its opacity grows with the logarithm of
their number, so that a million samples show both their shape and what lies alone.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from gitcluster.fitted.places import Places
from gitcluster.plots._labels import plain
from gitcluster.plots._style import Colours, clear_frame

MOST_MARKERS = 20_000
"""Samples up to which each has a marker."""
COVERAGE = 0.12
"""Share of the axes that markers cover, were none over another."""


class Pixels(NamedTuple):
    """Where samples fall in an image."""

    place: NDArray[np.int64]
    """(n,) number of the pixel of every sample."""
    side: int
    """Pixels a side."""
    extent: tuple[float, float, float, float]


def draw_points(
    ax: Axes,
    xy: NDArray[np.float64],
    colours: Any,
    *,
    n_total: int | None = None,
    floor: float = 0.35,
    zorder: float = 1,
    scale: float = 1.0,
) -> Any:
    """Draw samples; the later ones lie above the earlier.

    Parameters
    ----------
    ax : Axes
    xy : ndarray of shape (n, 2)
    colours : array-like of shape (n, 3) or (3,)
    n_total : int, default=None
        Number of all samples, where these are a part of them: markers suit that many.
    floor : float, default=0.35
        Opacity of a lonely sample in an image.
    zorder : float, default=1
    scale : float, default=1.0
        Area of the markers relative to the usual one.

    Returns
    -------
    artist : PathCollection or AxesImage
    """
    colours = np.broadcast_to(colours, (len(xy), 3))
    n_total = n_total or len(xy)
    if n_total <= MOST_MARKERS:
        area = marker_area(ax, n_total)
        alpha = 0.9 if area > 4 else 0.75
        return ax.scatter(
            xy[:, 0], xy[:, 1], s=area * scale, c=colours, alpha=alpha, linewidths=0, zorder=zorder,
            rasterized=len(xy) > 2000,
        )  # fmt: skip
    pixels = find_pixels(xy, n_total=n_total)
    image = AxesImage(ax, extent=pixels.extent, origin="lower", interpolation="nearest", zorder=zorder)
    image.set_data(paint(pixels, colours, floor=floor))
    image.set_clip_path(ax.patch)
    ax.add_image(image)  # not imshow, which takes the limits and the aspect of the axes for its own
    return image


def axes_area(ax: Axes) -> float:
    """Area of the axes in square points."""
    box = ax.get_window_extent()
    return float(box.width * box.height * (72 / ax.figure.dpi) ** 2)


def marker_area(ax: Axes, n_samples: int) -> float:
    """Area of a marker in square points: what suits so many samples in axes of this size."""
    return float(np.clip(COVERAGE * axes_area(ax) / n_samples, 1.5, 50))


def find_pixels(xy: NDArray[np.float64], *, n_total: int) -> Pixels:
    """The pixel of every sample; the more samples there are, the finer the image."""
    side = int(np.clip(0.9 * np.sqrt(n_total), 160, 480))
    low, high = xy.min(axis=0), xy.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    cell = np.minimum(((xy - low) / span * side).astype(np.int64), side - 1)
    (left, bottom), (right, top) = low.tolist(), (low + span).tolist()
    return Pixels(cell[:, 1] * side + cell[:, 0], side, (left, right, bottom, top))


def paint(pixels: Pixels, colours: Colours, *, floor: float = 0.35) -> NDArray[np.float32]:
    """(side, side, 4) image of samples in their colours."""
    place, side, _ = pixels
    n_pixels = side * side
    counts = np.bincount(place, minlength=n_pixels)
    image = np.zeros((n_pixels, 4), np.float32)
    for channel in range(3):
        sums = np.bincount(place, np.ascontiguousarray(colours[:, channel]), minlength=n_pixels)
        image[:, channel] = np.clip(sums / np.maximum(counts, 1), 0, 1)
    filled = counts > 0
    full = np.log1p(np.quantile(counts[filled], 0.98))
    image[filled, 3] = floor + (1 - floor) * np.minimum(np.log1p(counts[filled]) / full, 1)
    return image.reshape(side, side, 4)


def frame_points(ax: Axes, places: Places, *, bare: bool = False) -> None:
    """Limits, aspect and names of the axes; ``bare`` for a panel among others."""
    low, high = places.xy.min(axis=0), places.xy.max(axis=0)
    flat = np.where(high > low, 0.0, 0.5)
    ax.margins(0.06)
    ax.update_datalim([low - flat, high + flat])
    ax.autoscale_view()
    if places.one_scale:
        ax.set_aspect("equal", adjustable="datalim")
    if bare:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_color("#CCCCCC")
        return
    clear_frame(ax)
    ax.set(xlabel=plain(places.names[0]), ylabel=plain(places.names[1]))
    if not places.as_given and places.names[1] != "log intensity":
        ax.set(xticks=[], yticks=[])  # numbers of such directions say nothing
