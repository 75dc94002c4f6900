"""Axes and legends that all plots share. Nothing here touches matplotlib's global state."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.plots._colours import FAINT, NOISE, colours_of

MOST_ENTRIES = 12
"""Entries of a legend, then "and N more"."""


def check_model(model: Any, *, ax: Any = None) -> Clustering:
    """Return the clustering of a fitted model; raise if the model is not fitted or ``ax`` is not valid."""
    found = clustering_of(model)
    check_axes(ax)
    return found


def check_axes(ax: Any) -> None:
    """Raise where axes are not plain ones."""
    if ax is not None and (not isinstance(ax, Axes) or ax.name != "rectilinear"):
        kind = f"{ax.name} axes" if isinstance(ax, Axes) else type(ax).__name__
        raise TypeError(f"ax must be plain two-dimensional matplotlib Axes, got {kind}. Use plt.subplots(), or None.")


def take_axes(ax: Axes | None, *, width: float = 6.8, ratio: float = 0.75, aside: float = 1.9, **names: str) -> Axes:
    """The axes that were given, or those of a new figure that a notebook will show, without upper and right line.

    ``ratio`` is their height by their width, ``aside`` the part of the width for what stands beside them, ``names``
    are the title and the labels of the axes.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, (width - aside) * ratio + 0.8), layout="constrained")
    clear_frame(ax)
    ax.set(**names)
    return ax


def clear_frame(ax: Axes) -> None:
    """Without the upper and the right line."""
    ax.spines[["top", "right"]].set_visible(False)


def mark_level(ax: Axes, level: float, text: str, *, linewidth: float) -> None:
    """A dashed line across the axes, behind all else, with a text at its right end."""
    ax.axhline(level, color=FAINT, linewidth=linewidth, linestyle=(0, (5, 3)), zorder=0)
    ax.annotate(
        text, (1.0, level), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
        va="center", fontsize="small", annotation_clip=False,
    )  # fmt: skip


def line_entry(label: str, colour: Any, **style: Any) -> Line2D:
    """A line in a legend."""
    return Line2D([], [], color=colour, label=label, **style)


def marker_entry(label: str, colour: Any, marker: str = "o", size: float = 6) -> Line2D:
    """A marker in a legend."""
    return line_entry(label, colour, linestyle="", marker=marker, markersize=size)


def add_legend(
    ax: Axes, entries: list[Any], *, title: str | None = None, low: bool = False, right: float = 1.01
) -> None:
    """A legend right of the axes, where no data are, at the top or ``low``; ``right`` is its left end."""
    place: dict[str, Any] = {"loc": "lower left" if low else "upper left", "bbox_to_anchor": (right, 1.0 - low)}
    ax.legend(
        handles=entries, title=title, **place, frameon=False, borderaxespad=0.0,
        handletextpad=0.5, alignment="left", fontsize="small", title_fontsize="small",
    )  # fmt: skip


def label_clusters(ax: Axes, labels: NDArray[Any], *, n_clusters: int) -> None:
    """A legend right of the axes: colour and number of samples of every cluster, the first twelve of them."""
    counts = np.bincount(labels + 1, minlength=n_clusters + 1)
    shown = n_clusters if n_clusters <= MOST_ENTRIES else MOST_ENTRIES - 1
    entries = [marker_entry(f"{c}:  {counts[c + 1]:,}", colours_of(c)) for c in range(shown)]
    if n_clusters > shown:
        entries.append(line_entry(f"and {n_clusters - shown} more", NOISE, linestyle=""))
    if counts[0]:
        entries.append(marker_entry(f"noise:  {counts[0]:,}", NOISE))
    add_legend(ax, entries, title="cluster:  samples")


def add_colour_bar(ax: Axes, mapped: ScalarMappable, *, label: str) -> None:
    """A narrow colour bar right of the axes."""
    bar = ax.figure.colorbar(mapped, ax=ax, label=label, fraction=0.045, pad=0.02, extend="min")
    bar.outline.set_visible(False)
