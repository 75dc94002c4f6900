"""Colours, axes and legends that all pictures share. Nothing here touches matplotlib's global state.

Cluster 0 has the same colour in every picture, so have all others, and noise is grey. The first eight colours are safe
for colour-blind readers; beyond them the same hues come back darker and lighter. Local clusters share these colours
such that no two that are connected have the same.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.topo_graph import TopoGraph

Colours = NDArray[np.float64]
HUES = np.array(
    [to_rgb(c) for c in ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A1F5C", "#A3A13B")]
)
LIGHTNESS = (0.0, -0.4, 0.45, -0.62, 0.24, -0.2, 0.62)
"""Share of black (below 0) or white (above) that is mixed into the hues, round after round."""
NOISE = np.array(to_rgb("#BDBDBD"))
UNBORN = np.array(to_rgb("#DADADA"))
DARK_UNBORN = np.array(to_rgb("#454545"))
INK = "#333333"
LIGHT_INK = "#D9D9D9"
FAINT = "#8A8A8A"
INTENSITY_MAP = "viridis"
MOST_ENTRIES = 12
"""Entries of a legend, then "and N more"."""


def colours_of(labels: Any) -> Colours:
    """(n, 3) colours of cluster labels; noise, -1, is grey.

    Examples
    --------
    >>> (colours_of([0, 1]) == colours_of([0, 1, 2, 3])[:2]).all()
    np.True_
    """
    labels = np.asarray(labels)
    hue = HUES[labels % len(HUES)]
    mix = np.array(LIGHTNESS)[labels // len(HUES) % len(LIGHTNESS)][..., None]
    mixed = np.where(mix < 0, hue * (1 + mix), hue + (1 - hue) * mix)
    return np.asarray(np.where((labels < 0)[..., None], NOISE, mixed))


def local_colours(graph: TopoGraph) -> Colours:
    """(m, 3) colours of local clusters: connected ones differ, and every colour is used about as often."""
    beside: list[list[int]] = [[] for _ in graph.sizes]
    for i, j in graph.edges.tolist():
        beside[i].append(j)
        beside[j].append(i)
    chosen = np.full(len(graph.sizes), -1)
    n_colours = len(HUES) * 2
    used = np.where(np.arange(n_colours) < len(HUES), 0, len(graph.sizes))  # darker shades only where hues run out
    for i, near in enumerate(beside):
        taken = {chosen[j] for j in near}
        free = [c for c in range(n_colours) if c not in taken] or list(range(n_colours))
        chosen[i] = min(free, key=lambda c: used[c])
        used[chosen[i]] += 1
    return colours_of(chosen)


def check_model(model: Any, *, ax: Any = None, fig: Any = None) -> Clustering:
    """The clustering of a fitted model; an error where it is not fitted, or axes or figures are not valid."""
    found = clustering_of(model)
    if ax is not None and (not isinstance(ax, Axes) or ax.name != "rectilinear"):
        kind = f"{ax.name} axes" if isinstance(ax, Axes) else type(ax).__name__
        raise TypeError(f"ax must be plain two-dimensional matplotlib Axes, got {kind}. Use plt.subplots(), or None.")
    if fig is not None and not isinstance(fig, (Figure, SubFigure)):
        raise TypeError(
            f"fig must be a matplotlib Figure or SubFigure, got {type(fig).__name__}. Use None for a new one."
        )
    return found


def take_axes(ax: Axes | None, *, width: float = 6.8, ratio: float = 0.75, aside: float = 1.9) -> Axes:
    """The axes that were given, or those of a new figure that a notebook will show.

    ``ratio`` is their height by their width, ``aside`` the part of the width for what stands beside them.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=(width, (width - aside) * ratio + 0.8), layout="constrained")
    return new


def take_figure(fig: Figure | SubFigure | None, *, size: tuple[float, float]) -> Figure | SubFigure:
    """The figure that was given, or a new one that a notebook will show."""
    if fig is None:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained")
    return fig


def _is_dark(ax: Axes) -> bool:
    red, green, blue, opacity = to_rgba(ax.get_facecolor())
    return opacity > 0 and 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4


def ink_on(ax: Axes) -> str:
    """The colour of lines that must be seen, on light or dark axes."""
    return LIGHT_INK if _is_dark(ax) else INK


def unborn_on(ax: Axes) -> Colours:
    """The colour of what lies in the background, on light or dark axes."""
    return DARK_UNBORN if _is_dark(ax) else UNBORN


def readable_on(ax: Axes, colour: Colours) -> tuple[float, float, float]:
    """A colour for text: darker on light axes, lighter on dark ones."""
    red, green, blue = (colour + 0.4 * (1 - colour) if _is_dark(ax) else 0.72 * colour).tolist()
    return red, green, blue


def count_of(number: int, what: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> count_of(1200, "edge"), count_of(1, "cluster")
    ('1,200 edges', '1 cluster')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def clear_frame(ax: Axes) -> None:
    """Without the upper and the right line."""
    ax.spines[["top", "right"]].set_visible(False)


def label_clusters(ax: Axes, labels: NDArray[Any], *, n_clusters: int) -> None:
    """A legend right of the axes: colour and number of samples of every cluster, the first twelve of them."""
    counts = np.bincount(labels + 1, minlength=n_clusters + 1)
    shown = n_clusters if n_clusters <= MOST_ENTRIES else MOST_ENTRIES - 1
    dot: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 6}
    handles = [
        Line2D([], [], color=tuple(colours_of(c)), label=f"{c}:  {counts[c + 1]:,}", **dot) for c in range(shown)
    ]
    if n_clusters > shown:
        handles.append(Line2D([], [], linestyle="", label=f"and {n_clusters - shown} more"))
    if counts[0]:
        handles.append(Line2D([], [], color=tuple(NOISE), label=f"noise:  {counts[0]:,}", **dot))
    add_legend(ax, handles, title="cluster:  samples")


def add_legend(ax: Axes, handles: list[Line2D], *, title: str | None = None) -> None:
    """A legend right of the axes, where no data are."""
    ax.legend(
        handles=handles, title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0.0,
        handletextpad=0.5, alignment="left", fontsize="small", title_fontsize="small",
    )  # fmt: skip


def add_colour_bar(ax: Axes, mapped: ScalarMappable, *, label: str) -> None:
    """A narrow colour bar right of the axes."""
    bar = ax.figure.colorbar(mapped, ax=ax, label=label, fraction=0.045, pad=0.02, extend="min")
    bar.outline.set_visible(False)
