"""Colours, text, markers, axes and legends that all plots share. Nothing here changes matplotlib's global state.

Each cluster has the same colour in every plot, and noise is grey. The first eight colours are safe for colour-blind
readers; further clusters have the same hues, darker and lighter.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from gitcluster._support.names import count_of, escape_control
from gitcluster.fitted.layout import SampleLayout, inside, usual_range
from gitcluster.topo_graph import TopoGraph

Colours = NDArray[np.float64]
HUES = np.array(
    [to_rgb(c) for c in ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A1F5C", "#A3A13B")]
)
LIGHTNESS = (0.0, -0.4, 0.45, -0.62, 0.24, -0.2, 0.62)
"""Share of black (negative) or white (positive) that is mixed into the hues of every further eight clusters."""
NOISE = np.array(to_rgb("#BDBDBD"))
BACKGROUND, DARK_BACKGROUND = np.array(to_rgb("#DADADA")), np.array(to_rgb("#454545"))
INK, LIGHT_INK, FAINT = "#333333", "#D9D9D9", "#8A8A8A"
INTENSITY_MAP = "viridis"
DASHED = (0, (4, 2.5))

MAX_MARKERS = 20_000
"""More samples are drawn as an image."""
COVERAGE = 0.12
"""Share of the axes that markers would cover without overlap."""
MARGIN = 0.06
"""Margin around the samples, as a share of their range."""
MAX_ENTRIES = 12
"""Clusters in a legend; the others are counted."""
MAX_NAME = 60
"""Characters of a name that are shown."""
OFFSETS = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Directions in which a text may be moved away from the point that it names."""
TEXT_GAP, MARKER_RADIUS = 1.5, 3.0
"""Pixels between two texts, and around a marker that text must not cover."""


class ClusterColours(NamedTuple):
    """The colour of a cluster, and that of its name on a light and on a dark background, as hex codes."""

    area: str
    light: str
    dark: str


def colours_of(labels: Any) -> Colours:
    """Return (n, 3) colours of cluster labels; noise (-1) is grey."""
    labels = np.asarray(labels)
    hue = HUES[labels % len(HUES)]
    mix = np.array(LIGHTNESS)[labels // len(HUES) % len(LIGHTNESS)][..., None]
    mixed = np.where(mix < 0, hue * (1 + mix), hue + (1 - hue) * mix)
    return np.asarray(np.where((labels < 0)[..., None], NOISE, mixed))


def local_colours(graph: TopoGraph) -> Colours:
    """Return (m, 3) colours of local clusters: connected ones differ, and all colours are used about equally often."""
    neighbours: list[list[int]] = [[] for _ in graph.sizes]
    for i, j in graph.edges.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    chosen = np.full(len(graph.sizes), -1)
    n_colours = len(HUES) * 2
    used = np.where(np.arange(n_colours) < len(HUES), 0, len(graph.sizes))  # darker shades only if hues run out
    for i, others in enumerate(neighbours):
        taken = {chosen[j] for j in others}
        free = [c for c in range(n_colours) if c not in taken] or list(range(n_colours))
        chosen[i] = min(free, key=lambda c: used[c])
        used[chosen[i]] += 1
    return colours_of(chosen)


def _is_dark(ax: Axes) -> bool:
    red, green, blue, opacity = to_rgba(ax.get_facecolor())
    return opacity > 0 and 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.4  # relative luminance


def ink_on(ax: Axes) -> str:
    """Return the colour of prominent lines on light or dark axes."""
    return LIGHT_INK if _is_dark(ax) else INK


def background_on(ax: Axes) -> Colours:
    """Return the colour of background elements on light or dark axes."""
    return DARK_BACKGROUND if _is_dark(ax) else BACKGROUND


def readable_on(ax: Axes, colour: Colours) -> tuple[float, float, float]:
    """Return a colour for text: darker on light axes, lighter on dark ones."""
    return _readable(colour, dark=_is_dark(ax))


def _readable(colour: Colours, *, dark: bool) -> tuple[float, float, float]:
    red, green, blue = (colour + 0.4 * (1 - colour) if dark else 0.65 * colour).tolist()
    return red, green, blue


def cluster_colours(n_clusters: int) -> list[ClusterColours]:
    """Return the colours of clusters as hex codes for a page."""
    return [
        ClusterColours(to_hex(hue), to_hex(_readable(hue, dark=False)), to_hex(_readable(hue, dark=True)))
        for hue in colours_of(np.arange(n_clusters))
    ]


def plain(name: str, longest: int = MAX_NAME) -> str:
    r"""Return a name as a label: shortened, without control characters, and not parsed as a formula.

    Examples
    --------
    >>> plain("price in $")
    'price in \\$'
    """
    shown = escape_control(name)
    return (shown if len(shown) <= longest else shown[: longest - 3] + "...").replace("$", r"\$")


class Arrangement(Artist):
    """An invisible artist that moves texts before they are drawn so that none overlap, and hides those without space.

    The sizes of texts and axes are known only while drawing. Earlier texts choose first, among ``offsets`` in points.
    """

    def __init__(self, texts: Sequence[Annotation], offsets: Sequence[tuple[float, float]], *, beside: bool) -> None:
        super().__init__()
        self.texts, self.offsets, self.beside = texts, offsets, beside
        self.set_zorder(-10)  # is drawn before the texts
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Choose a position for every text."""
        taken = []
        for text in self.texts if self.beside else ():
            assert text.axes is not None
            x, y = text.axes.transData.transform(text.xy)
            taken.append(Bbox.from_bounds(x - MARKER_RADIUS, y - MARKER_RADIUS, 2 * MARKER_RADIUS, 2 * MARKER_RADIUS))
        for text in self.texts:
            assert text.axes is not None
            frame = text.axes.bbox
            text.set_visible(True)
            for offset in self.offsets:
                text.set_position(offset)
                box = text.get_window_extent(renderer).padded(TEXT_GAP)
                fits = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
                if fits and not any(box.overlaps(other) for other in taken):
                    taken.append(box)
                    break
            else:
                text.set_visible(False)


def draw_names(
    ax: Axes,
    positions: Any,
    names: Sequence[str],
    *,
    size: float = 8,
    weight: str = "normal",
    beside: float = 0.0,
    colours: Any = None,
) -> None:
    """Write names at points, or ``beside`` points away from them; if space is short, the first names are shown.

    ``colours``, one per name, are made readable.
    """
    halo = [withStroke(linewidth=3.0, foreground=ax.get_facecolor())]
    reach = beside or 1.2 * size
    texts = []
    for i, ((x, y), name) in enumerate(zip(positions, names, strict=True)):
        text = ax.annotate(
            name, (float(x), float(y)), xytext=(0, 0), textcoords="offset points", ha="center", va="center",
            color=ink_on(ax) if colours is None else readable_on(ax, colours[i]),
            fontsize=size, fontweight=weight, path_effects=halo, zorder=6, annotation_clip=True,
        )  # fmt: skip
        text.set_in_layout(False)
        texts.append(text)
    offsets = [(reach * x, reach * y) for x, y in OFFSETS[beside > 0 :]]
    ax.add_artist(Arrangement(texts, offsets, beside=beside > 0))


def draw_points(
    ax: Axes,
    xy: NDArray[np.float64],
    colours: Any,
    *,
    n_total: int | None = None,
    floor: float = 0.35,
    zorder: float = 1,
) -> Any:
    """Draw samples as markers, later ones above earlier ones, or as an image if there are many.

    In the image, the colour of a pixel is the mean colour of its samples, and its opacity grows with the logarithm of
    their number, from ``floor`` on. If the samples are a part of all, ``n_total`` is the number of all.
    """
    colours = np.broadcast_to(colours, (len(xy), 3))
    n_total = n_total or len(xy)
    if n_total <= MAX_MARKERS:
        area = float(np.clip(COVERAGE * axes_area(ax) / n_total, 1.5, 50))
        alpha = 0.9 if area > 4 else 0.75
        return ax.scatter(
            xy[:, 0], xy[:, 1], s=area, c=colours, alpha=alpha, linewidths=0, zorder=zorder, rasterized=len(xy) > 2000
        )
    side = int(np.clip(0.9 * np.sqrt(n_total), 160, 480))  # pixels: more samples, finer image
    cell, low, span = find_cells(xy, side)
    shown = inside(xy, usual_range(xy))
    pixel, colours = (cell[:, 1] * side + cell[:, 0])[shown], colours[shown]
    counts = np.bincount(pixel, minlength=side * side)
    filled = counts > 0
    pixels = np.zeros((side * side, 4), np.float32)
    for channel in range(3):
        sums = np.bincount(pixel, np.ascontiguousarray(colours[:, channel]), minlength=side * side)
        pixels[:, channel] = np.clip(sums / np.maximum(counts, 1), 0, 1)
    full = np.log1p(np.quantile(counts[filled], 0.98))
    pixels[filled, 3] = floor + (1 - floor) * np.minimum(np.log1p(counts[filled]) / full, 1)
    (left, bottom), (right, top) = low.tolist(), (low + span).tolist()
    image = AxesImage(ax, extent=(left, right, bottom, top), origin="lower", interpolation="nearest", zorder=zorder)
    image.set_data(pixels.reshape(side, side, 4))
    image.set_clip_path(ax.patch)
    ax.add_image(image)  # imshow would change the limits and the aspect of the axes
    return image


def find_cells(xy: NDArray[np.float64], side: int) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return the column and row of every sample in a grid over the window, its lowest corner and its span.

    Samples outside the window are in the cells at its border.
    """
    low, high = usual_range(xy)
    span = np.where(high > low, high - low, 1.0)
    return np.clip((xy - low) / span * side, 0, side - 1).astype(np.int64), low, span


def axes_area(ax: Axes) -> float:
    """Return the area of the axes in square points."""
    box = ax.get_window_extent()
    return float(box.width * box.height * (72 / ax.figure.dpi) ** 2)


def take_axes(ax: Axes | None, *, width: float = 6.8, ratio: float = 0.75, aside: float = 1.9, **names: str) -> Axes:
    """Return the given axes, or those of a new figure that a notebook shows, without the upper and right line.

    ``ratio`` is their height relative to their width, ``aside`` the width of the legend beside them, and ``names`` are
    the title and the labels of the axes.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, (width - aside) * ratio + 0.8), layout="constrained")
    elif not isinstance(ax, Axes) or ax.name != "rectilinear":
        kind = f"{ax.name} axes" if isinstance(ax, Axes) else type(ax).__name__
        raise TypeError(f"ax must be two-dimensional matplotlib Axes, got {kind}. Use plt.subplots(), or None.")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(**names)
    return ax


def take_map(ax: Axes | None, layout: SampleLayout, *, title: str, width: float = 6.8, aside: float = 1.9) -> Axes:
    """Return the given axes or new ones, with limits, aspect and labels for the samples."""
    first, second = map(plain, layout.names)
    ax = take_axes(ax, width=width, ratio=layout.ratio, aside=aside, xlabel=first, ylabel=second, title=title)
    low, high = layout.window
    flat = np.where(high > low, 0.0, 0.5)
    ax.margins(MARGIN)
    ax.update_datalim([low - flat, high + flat])
    ax.autoscale_view()
    n_outside = layout.n_outside
    if layout.one_scale:
        ax.set_aspect("equal", adjustable="box" if n_outside else "datalim")
    if n_outside:
        (left, bottom), (right, top) = low - flat - MARGIN * (high - low), high + flat + MARGIN * (high - low)
        ax.set(xlim=(left, right), ylim=(bottom, top))  # fixed, so that far samples do not extend them
        ax.text(
            0.99, 0.01, f"{count_of(n_outside, 'sample')} outside", transform=ax.transAxes, ha="right", va="bottom",
            fontsize="small", path_effects=[withStroke(linewidth=3.0, foreground=ax.get_facecolor())], zorder=7,
        )  # fmt: skip
    if not layout.as_given and second != "log intensity":
        ax.set(xticks=[], yticks=[])  # coordinates of projections and layouts have no meaning
    return ax


def line_entry(label: str, colour: Any, **style: Any) -> Line2D:
    """Return a line for a legend."""
    return Line2D([], [], color=colour, label=label, **style)


def marker_entry(label: str, colour: Any, marker: str = "o", size: float = 6) -> Line2D:
    """Return a marker for a legend."""
    return line_entry(label, colour, linestyle="", marker=marker, markersize=size)


def add_legend(ax: Axes, entries: list[Any], *, title: str | None = None, right: float = 1.01) -> None:
    """Add a legend to the right of the axes."""
    ax.legend(
        handles=entries, title=title, loc="upper left", bbox_to_anchor=(right, 1.0), frameon=False, borderaxespad=0.0,
        handletextpad=0.5, alignment="left", fontsize="small", title_fontsize="small",
    )  # fmt: skip


def add_colour_bar(ax: Axes, mapped: ScalarMappable, *, label: str, extend: str = "min") -> None:
    """Add a narrow colour bar to the right of the axes."""
    bar = ax.figure.colorbar(mapped, ax=ax, label=label, fraction=0.045, pad=0.02, extend=extend)
    bar.outline.set_visible(False)
