"""Texts that do not overlap, whatever the size of the figure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from gitcluster._support.names import visible
from gitcluster.plots._colours import ink_on, readable_on

Choice = tuple[tuple[float, float], tuple[float, float]]
"""A place, and an offset from it in points."""
OFFSETS = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Where a text may go, from the place that it names; the first of them is the place itself."""
GAP = 1.5
"""Pixels between two texts."""
MARKER = 3.0
"""Pixels from the middle of a marker that a text beside it leaves free."""
LONGEST = 60
"""Characters of a name that are shown."""


def plain(name: str, longest: int = LONGEST) -> str:
    r"""The name of a column as a label: never a formula for matplotlib, no control characters, not too long.

    Examples
    --------
    >>> plain("price in $")
    'price in \\$'
    """
    shown = visible(name)
    return (shown if len(shown) <= longest else shown[: longest - 3] + "...").replace("$", r"\$")


class Arrangement(Artist):
    """Draws nothing itself. Before the texts are drawn it moves them apart and hides those without room.

    The first text has the first choice. Drawing is the only time at which the sizes of texts and axes are known.
    ``choices`` has for every text the places at which it may stand, each with an offset in points, the best first.
    """

    def __init__(self, texts: Sequence[Annotation], choices: Sequence[Sequence[Choice]], *, beside: bool) -> None:
        super().__init__()
        self.texts, self.choices, self.beside = texts, choices, beside
        self.set_zorder(-10)  # before the texts
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Find a place for every text."""
        taken = [_around(text) for text in self.texts] if self.beside else []
        for text, choices in zip(self.texts, self.choices, strict=True):
            room = text.axes.bbox if text.axes is not None else Bbox.unit()
            text.set_visible(True)
            for place, offset in choices:
                text.xy = place
                text.set_position(offset)
                box = text.get_window_extent(renderer).padded(GAP)
                if _contains(room, box) and not any(box.overlaps(other) for other in taken):
                    taken.append(box)
                    break
            else:
                text.set_visible(False)


def _around(text: Annotation) -> Bbox:
    """The box of the marker that a text names."""
    x, y = text.axes.transData.transform(text.xy) if text.axes is not None else (0.0, 0.0)
    return Bbox.from_bounds(x - MARKER, y - MARKER, 2 * MARKER, 2 * MARKER)


def _contains(outer: Any, inner: Bbox) -> bool:
    return bool(outer.x0 <= inner.x0 and inner.x1 <= outer.x1 and outer.y0 <= inner.y0 and inner.y1 <= outer.y1)


def name_places(
    ax: Axes,
    places: Any,
    names: Sequence[str],
    *,
    size: float = 8,
    weight: str = "normal",
    beside: float = 0.0,
    colours: Any = None,
) -> None:
    """Write names at places, or ``beside`` points away from them; where room is short, the first names have it.

    ``places`` has one place per name, around which it may move, or several, of which it takes one and does not move.
    ``colours``, one per name, are made readable.
    """
    halo = [withStroke(linewidth=3.0, foreground=ax.get_facecolor())]
    reach = beside or 1.2 * size
    offsets = [(reach * x, reach * y) for x, y in OFFSETS[beside > 0 :]]
    texts, choices = [], []
    for i, (among, name) in enumerate(zip(places, names, strict=True)):
        spots = [(float(x), float(y)) for x, y in np.reshape(among, (-1, 2))]
        moves = offsets if beside or np.ndim(among) == 1 else [(0.0, 0.0)]
        choices.append([(spot, move) for spot in spots for move in moves])
        text = ax.annotate(
            name, spots[0], xytext=(0, 0), textcoords="offset points", ha="center", va="center",
            fontsize=size, fontweight=weight, path_effects=halo, zorder=6, annotation_clip=True,
            color=ink_on(ax) if colours is None else readable_on(ax, colours[i]),
        )  # fmt: skip
        text.set_in_layout(False)
        texts.append(text)
    ax.add_artist(Arrangement(texts, choices, beside=beside > 0))
