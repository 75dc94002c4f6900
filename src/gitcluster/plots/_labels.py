"""Texts that do not overlap, whatever the size of the figure."""

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from gitcluster._support.names import visible

OFFSETS = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))
"""Where a text may go, from the place that it names; the first of them is the place itself."""
GAP = 1.5
"""Pixels between two texts."""
MARKER = 3.0
"""Pixels from the middle of a marker that a text beside it leaves free."""


LONGEST = 60
"""Characters of a name that are shown."""


def plain(name: str) -> str:
    r"""The name of a column as a label: never a formula for matplotlib, no control characters, not too long.

    Examples
    --------
    >>> plain("price in $")
    'price in \\$'
    """
    shown = visible(name)
    return (shown if len(shown) <= LONGEST else shown[: LONGEST - 3] + "...").replace("$", r"\$")


class Arrangement(Artist):
    """Draws nothing itself. Before the texts are drawn it moves them apart and hides those without room.

    The first text has the first choice. Drawing is the only time at which the sizes of texts and axes are known.
    """

    def __init__(self, texts: Sequence[Annotation], *, reach: float, beside: bool) -> None:
        super().__init__()
        self.texts, self.beside = texts, beside
        self.offsets = [(reach * x, reach * y) for x, y in OFFSETS[beside:]]
        self.set_zorder(-10)  # before the texts
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Find a place for every text."""
        taken = [_around(text) for text in self.texts] if self.beside else []
        for text in self.texts:
            room = text.axes.bbox if text.axes is not None else Bbox.unit()
            text.set_visible(True)
            for offset in self.offsets:
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
    ax: Axes, places: Any, names: Sequence[str], *, size: float = 8, weight: str = "normal", beside: float = 0.0
) -> None:
    """Write names at places, or ``beside`` points away from them; where room is short, the first names have it."""
    halo = [withStroke(linewidth=2.2, foreground=ax.get_facecolor())]
    texts = []
    for (x, y), name in zip(places, names, strict=True):
        text = ax.annotate(
            name, (float(x), float(y)), xytext=(0, 0), textcoords="offset points", ha="center", va="center",
            fontsize=size, fontweight=weight, path_effects=halo, zorder=6, annotation_clip=True,
        )  # fmt: skip
        text.set_in_layout(False)
        texts.append(text)
    ax.add_artist(Arrangement(texts, reach=beside or 1.2 * size, beside=beside > 0))
