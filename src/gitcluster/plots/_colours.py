"""Colours that all plots share.

Cluster 0 has the same colour in every plot, so have all others, and noise is grey. The first eight colours are safe
for colour-blind readers; beyond them the same hues come back darker and lighter. Local clusters share these colours
such that no two that are connected have the same.
"""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb, to_rgba
from numpy.typing import NDArray

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


class ClusterColours(NamedTuple):
    """The colour of a cluster, and that of its name on light and on dark ground."""

    area: str
    light: str
    dark: str


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
    return _readable(colour, dark=_is_dark(ax))


def _readable(colour: Colours, *, dark: bool) -> tuple[float, float, float]:
    red, green, blue = (colour + 0.4 * (1 - colour) if dark else 0.65 * colour).tolist()
    return red, green, blue


def cluster_colours(n_clusters: int) -> list[ClusterColours]:
    """The colours of clusters as texts for a page."""
    found = colours_of(np.arange(n_clusters))
    return [
        ClusterColours(to_hex(hue), *(to_hex(_readable(hue, dark=dark)) for dark in (False, True))) for hue in found
    ]
