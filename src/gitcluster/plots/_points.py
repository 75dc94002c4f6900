"""Samples as markers, or where there are too many for that, as an image.

In the image the colour of a pixel is the mean colour of its samples, and its opacity grows with the logarithm of
their number, so that a million samples show both their shape and what lies alone.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from gitcluster._support.names import count_of
from gitcluster.fitted.places import Places, inside, usual_range
from gitcluster.plots._colours import Colours, unborn_on
from gitcluster.plots._labels import plain
from gitcluster.plots._style import take_axes

MOST_MARKERS = 20_000
"""Samples up to which each has a marker."""
PAD = 0.06
"""Margin around the samples, as a share of their range."""
COVERAGE = 0.12
"""Share of the axes that markers cover, were none over another."""


class Pixels(NamedTuple):
    """Where samples fall in an image."""

    place: NDArray[np.int64]
    """(n,) number of the pixel of every sample; the number after the last one if it lies outside."""
    side: int
    """Width and height of the image in pixels."""
    extent: tuple[float, float, float, float]


def draw_points(
    ax: Axes,
    xy: NDArray[np.float64],
    colours: Any,
    *,
    n_total: int | None = None,
    floor: float = 0.35,
    zorder: float = 1,
) -> Any:
    """Draw samples in one colour each, or all in one; the later ones lie above the earlier.

    Where the samples are a part of all, ``n_total`` is the number of all, and markers have the size that suits it.
    ``floor`` is the opacity of a lonely sample in an image.
    """
    colours = np.broadcast_to(colours, (len(xy), 3))
    n_total = n_total or len(xy)
    if n_total <= MOST_MARKERS:
        area = float(np.clip(COVERAGE * axes_area(ax) / n_total, 1.5, 50))
        alpha = 0.9 if area > 4 else 0.75
        return ax.scatter(
            xy[:, 0], xy[:, 1], s=area, c=colours, alpha=alpha, linewidths=0, zorder=zorder, rasterized=len(xy) > 2000
        )
    pixels = find_pixels(xy, n_total=n_total)
    image = AxesImage(ax, extent=pixels.extent, origin="lower", interpolation="nearest", zorder=zorder)
    image.set_data(paint(pixels, colours, floor=floor))
    image.set_clip_path(ax.patch)
    ax.add_image(image)  # not imshow, which takes the limits and the aspect of the axes for its own
    return image


def draw_backdrop(ax: Axes, places: Places) -> None:
    """All samples, pale and behind all else."""
    draw_points(ax, places.xy, unborn_on(ax), zorder=0)


def axes_area(ax: Axes) -> float:
    """Area of the axes in square points."""
    box = ax.get_window_extent()
    return float(box.width * box.height * (72 / ax.figure.dpi) ** 2)


def find_pixels(xy: NDArray[np.float64], *, n_total: int) -> Pixels:
    """The pixel of every sample; the more samples there are, the finer the image."""
    side = int(np.clip(0.9 * np.sqrt(n_total), 160, 480))
    cell, low, span = find_cells(xy, side)
    (left, bottom), (right, top) = low.tolist(), (low + span).tolist()
    place = np.where(inside(xy, usual_range(xy)), cell[:, 1] * side + cell[:, 0], side * side)
    return Pixels(place, side, (left, right, bottom, top))


def find_cells(xy: NDArray[np.float64], side: int) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return the column and row of every sample in a grid over the window, its lowest corner and its span.

    Samples outside the window are in the cells at its border.
    """
    low, high = usual_range(xy)
    span = np.where(high > low, high - low, 1.0)
    return np.clip((xy - low) / span * side, 0, side - 1).astype(np.int64), low, span


def paint(pixels: Pixels, colours: Colours, *, floor: float = 0.35) -> NDArray[np.float32]:
    """(side, side, 4) image of samples in their colours."""
    place, side, _ = pixels
    n_pixels = side * side
    counts = np.bincount(place, minlength=n_pixels)[:n_pixels]
    image = np.zeros((n_pixels, 4), np.float32)
    for channel in range(3):
        sums = np.bincount(place, np.ascontiguousarray(colours[:, channel]), minlength=n_pixels)[:n_pixels]
        image[:, channel] = np.clip(sums / np.maximum(counts, 1), 0, 1)
    filled = counts > 0
    full = np.log1p(np.quantile(counts[filled], 0.98))
    image[filled, 3] = floor + (1 - floor) * np.minimum(np.log1p(counts[filled]) / full, 1)
    return image.reshape(side, side, 4)


def take_map(ax: Axes | None, places: Places, *, title: str, width: float = 6.8, aside: float = 1.9) -> Axes:
    """The axes that were given or new ones, with limits, aspect and labels that suit the samples."""
    first, second = map(plain, places.names)
    ax = take_axes(ax, width=width, ratio=places.ratio, aside=aside, xlabel=first, ylabel=second, title=title)
    _set_limits(ax, places)
    if not places.as_given and second != "log intensity":
        ax.set(xticks=[], yticks=[])  # numbers of such directions say nothing
    return ax


def _set_limits(ax: Axes, places: Places) -> None:
    """Set limits and aspect, and note how many samples lie outside."""
    low, high = places.window
    flat = np.where(high > low, 0.0, 0.5)
    ax.margins(PAD)
    ax.update_datalim([low - flat, high + flat])
    ax.autoscale_view()
    outside = places.n_outside
    if places.one_scale:
        ax.set_aspect("equal", adjustable="box" if outside else "datalim")
    if not outside:
        return
    (left, bottom), (right, top) = low - flat - PAD * (high - low), high + flat + PAD * (high - low)
    ax.set(xlim=(left, right), ylim=(bottom, top))  # fixed, so that far samples do not widen them
    ax.text(
        0.99, 0.01, f"{count_of(outside, 'sample')} outside", transform=ax.transAxes, ha="right", va="bottom",
        fontsize="small", path_effects=[withStroke(linewidth=3.0, foreground=ax.get_facecolor())], zorder=7,
    )  # fmt: skip
