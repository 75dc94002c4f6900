"""Colours, text, markers, axes and legends that all plots share. Nothing here changes matplotlib's global state.

Each cluster has the same colour in every plot, and noise is grey. The first eight colours are safe for colour-blind
readers; further clusters have the same hues, darker and lighter.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from numpy.typing import NDArray

from gitcluster._support.names import count_of, escape_control
from gitcluster.fitted.layout import SampleLayout, inside, usual_range

Colours = NDArray[np.float64]
HUES = np.array(
    [to_rgb(c) for c in ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A1F5C", "#A3A13B")]
)
LIGHTNESS = (0.0, -0.4, 0.45, -0.62, 0.24, -0.2, 0.62)
"""Share of black (negative) or white (positive) that is mixed into the hues of every further eight clusters."""
NOISE, BACKGROUND = np.array(to_rgb("#BDBDBD")), np.array(to_rgb("#DADADA"))
INK, FAINT = "#333333", "#8A8A8A"
DASHED = (0, (4, 2.5))

MAX_MARKERS = 20_000
"""If there are more samples, this many are drawn at random."""
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
TEXT_GAP = 1.5
"""Pixels between two texts."""


def colours_of(labels: Any) -> Colours:
    """Return (n, 3) colours of cluster labels; noise (-1) is grey."""
    labels = np.asarray(labels)
    hue = HUES[labels % len(HUES)]
    mix = np.array(LIGHTNESS)[labels // len(HUES) % len(LIGHTNESS)][..., None]
    mixed = np.where(mix < 0, hue * (1 + mix), hue + (1 - hue) * mix)
    return np.asarray(np.where((labels < 0)[..., None], NOISE, mixed))


def readable(colour: Any) -> str:
    """Return a darker colour, for text."""
    return to_hex(tuple(0.65 * np.asarray(colour)))


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

    The sizes of texts and axes are known only while drawing. Earlier texts choose first, among positions around their
    points.
    """

    def __init__(self, texts: Sequence[Annotation], reach: float) -> None:
        super().__init__()
        self.texts, self.reach = texts, reach
        self.set_zorder(-10)  # is drawn before the texts
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Choose a position for every text."""
        taken: list[Any] = []
        for text in self.texts:
            assert text.axes is not None
            frame = text.axes.bbox
            text.set_visible(True)
            for x, y in OFFSETS:
                text.set_position((self.reach * x, self.reach * y))
                box = text.get_window_extent(renderer).padded(TEXT_GAP)
                fits = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
                if fits and not any(box.overlaps(other) for other in taken):
                    taken.append(box)
                    break
            else:
                text.set_visible(False)


def draw_names(
    ax: Axes, positions: Any, names: Sequence[str], colours: Any = None, *, size: float = 10, weight: str = "bold"
) -> None:
    """Write names at points or near them, in readable ``colours``; if space is short, the first names are shown."""
    texts = [
        ax.annotate(
            name, (float(x), float(y)), xytext=(0, 0), textcoords="offset points", ha="center", va="center",
            color=INK if colours is None else readable(colours[i]), zorder=6, annotation_clip=True,
            path_effects=[withStroke(linewidth=3.0, foreground="white")], fontsize=size, fontweight=weight,
        )
        for i, ((x, y), name) in enumerate(zip(positions, names, strict=True))
    ]  # fmt: skip
    for text in texts:
        text.set_in_layout(False)
    ax.add_artist(Arrangement(texts, 1.2 * size))


def draw_points(ax: Axes, xy: NDArray[np.float64], colours: Any, *, zorder: float = 1) -> None:
    """Draw samples as markers, later ones above earlier ones; of many, a random part."""
    colours = np.broadcast_to(colours, (len(xy), 3))
    if len(xy) > MAX_MARKERS:
        chosen = np.sort(np.random.default_rng(0).choice(len(xy), MAX_MARKERS, replace=False))
        xy, colours = xy[chosen], colours[chosen]
    area = float(np.clip(COVERAGE * axes_area(ax) / len(xy), 1.5, 50))
    ax.scatter(xy[:, 0], xy[:, 1], s=area, c=colours, alpha=0.8, linewidths=0, zorder=zorder, rasterized=len(xy) > 2000)


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
        raise TypeError(f"ax must be two-dimensional matplotlib Axes, got {type(ax).__name__}. Use plt.subplots().")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(**names)
    return ax


def take_map(ax: Axes | None, layout: SampleLayout, *, title: str, width: float = 6.8, aside: float = 1.9) -> Axes:
    """Return the given axes or new ones, with limits, aspect and labels for the samples."""
    first, second = map(plain, layout.names)
    window = low, high = usual_range(layout.xy)
    one_scale = layout.has_one_scale(window)
    ratio = float(np.clip((high - low)[1] / (high - low)[0], 0.5, 1.1)) if one_scale else 0.75
    ax = take_axes(ax, width=width, ratio=ratio, aside=aside, xlabel=first, ylabel=second, title=title)
    margin = np.where(high > low, MARGIN * (high - low), 0.5)
    (left, bottom), (right, top) = low - margin, high + margin
    ax.set(xlim=(left, right), ylim=(bottom, top))
    if one_scale:
        ax.set_aspect("equal", adjustable="box")
    n, n_outside = len(layout.xy), int((~inside(layout.xy, window)).sum())
    notes = [f"{count_of(n_outside, 'sample')} outside"] if n_outside else []
    notes += [f"{MAX_MARKERS:,} of {n:,} samples"] if n > MAX_MARKERS else []
    if notes:
        ax.text(
            0.99, 0.01, "\n".join(notes), transform=ax.transAxes, ha="right", va="bottom", fontsize="small",
            path_effects=[withStroke(linewidth=3.0, foreground="white")], zorder=7,
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


def add_legend(ax: Axes, entries: list[Any], *, title: str | None = None) -> None:
    """Add a legend to the right of the axes."""
    ax.legend(
        handles=entries, title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, borderaxespad=0.0,
        handletextpad=0.5, alignment="left", fontsize="small", title_fontsize="small",
    )  # fmt: skip


def add_colour_bar(ax: Axes, mapped: ScalarMappable, *, label: str, extend: str = "min") -> None:
    """Add a narrow colour bar to the right of the axes."""
    bar = ax.figure.colorbar(mapped, cax=ax.inset_axes((1.02, 0.0, 0.03, 1.0)), label=label, extend=extend)
    bar.outline.set_visible(False)
