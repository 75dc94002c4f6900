"""A plot of an explanation: how samples climb, and the way through the topo-graph between two of them."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import place_samples
from gitcluster.plots._colours import INK, UNBORN, colours_of
from gitcluster.plots._labels import plain
from gitcluster.plots._points import draw_points, take_map
from gitcluster.plots._style import add_legend, check_model, line_entry
from gitcluster.preprocessing.sources import Distances

DASHED = (0, (3, 2))
CROSSING = "#B2182B"
MOST_PAIRS = 200
"""Boundary pairs that are drawn, the nearest first."""


def plot_explanation(
    explanation: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw what ``model.explain`` found among the samples.

    The samples climb to their peaks along thin lines. For a pair, the strongest way leads from peak to peak, dashed
    where it is cut, with the boundary pairs behind its weakest edge. ``X``, ``ax``, ``embedding`` and ``legend`` are as
    in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    explanation : SampleExplanation or PairExplanation
        What ``model.explain`` returned.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_explanation(GIT(4).fit(X).explain(0, 99), X, ax=Figure().subplots()).get_title()
    'Samples 0 and 99: two clusters'
    """
    if not isinstance(getattr(explanation, "clustering", None), Clustering):
        raise TypeError(
            f"explanation must come from model.explain, got {type(explanation).__name__}. Pass model.explain(i), or "
            "model.explain(i, j) for a pair."
        )
    found = check_model(explanation.clustering, ax=ax)
    places = place_samples(found, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, places, title=_title(explanation), width=8.0)
    entries = [line_entry("climb to the peak", INK, linewidth=0.9)]
    if hasattr(explanation, "path"):
        samples = list(explanation.samples)
        _draw_pale(ax, found, places.xy, explanation.clusters)
        entries += _draw_way(ax, explanation, places.xy)
    else:
        samples = [explanation.sample]
        _draw_pale(ax, found, places.xy, (explanation.home,))
    for sample, side in zip(samples, (1, -1), strict=False):
        _draw_climb(ax, places.xy[found.climb(sample)])
        name = plain(found.name_of(sample))
        ax.annotate(
            name, places.xy[sample], xytext=(0, 13 * side), textcoords="offset points", ha="center", va="center",
            weight="bold", color=INK, path_effects=[withStroke(linewidth=3, foreground="white")], zorder=7,
        )  # fmt: skip
    x, y = places.xy[samples].T
    ax.scatter(x, y, s=60, c="white", edgecolors=INK, linewidths=1.6, zorder=6)
    if legend:
        add_legend(ax, entries)
    return ax


def _title(explanation: Any) -> str:
    if hasattr(explanation, "path"):
        i, j = map(plain, explanation.names)
        return f"Samples {i} and {j}: {'one cluster' if explanation.together else 'two clusters'}"
    where = "noise" if explanation.cluster < 0 else f"cluster {explanation.cluster}"
    return f"Sample {plain(explanation.name)}: {where}"


def _draw_pale(ax: Axes, found: Clustering, xy: Any, clusters: tuple[int, ...]) -> None:
    """All samples, those of the given clusters in pale colours."""
    labels = found.edge_cut.labels[found.local_labels]
    inside = np.isin(labels, clusters)
    pale = 1 - 0.45 * (1 - colours_of(labels))
    order = np.argsort(inside, kind="stable")
    draw_points(ax, xy[order], np.where(inside[:, None], pale, UNBORN)[order], zorder=0)


def _draw_climb(ax: Axes, way: Any) -> None:
    ax.plot(way[:, 0], way[:, 1], color=INK, linewidth=0.9, zorder=4)
    ax.scatter(way[-1:, 0], way[-1:, 1], s=46, marker="^", c=INK, zorder=5)


def _draw_way(ax: Axes, explanation: Any, xy: Any) -> list[Line2D]:
    """The path from peak to peak and the boundary pairs of its weakest edge; their entries in the legend."""
    if not len(explanation.edges):
        return []
    peaks: Any = xy[explanation.clustering.peaks[explanation.path]]
    steps: Any = np.stack([peaks[:-1], peaks[1:]], axis=1)
    entries = []
    colour = colours_of(explanation.clusters[0])
    styles: tuple[tuple[bool, Any, str], ...] = ((False, "solid", "strongest way"), (True, DASHED, "cut"))
    for cut, style, label in styles:
        chosen = explanation.cut == cut
        if chosen.any():
            tint: Any = INK if cut else tuple(0.75 * colour)
            lines = LineCollection(steps[chosen], colors=tint, linewidths=2.4, linestyles=style, zorder=3, label=label)
            ax.add_collection(lines, autolim=False)
            entries.append(line_entry(label, tint, linewidth=2.4, linestyle=style))
    ax.scatter(peaks[1:-1, 0], peaks[1:-1, 1], s=14, c="white", edgecolors=INK, linewidths=0.8, zorder=4)
    known = not isinstance(explanation.clustering.source, Distances) or explanation.distances is not None
    pairs: Any = explanation.boundary_pairs[:MOST_PAIRS] if known else ()
    if len(pairs):
        ax.add_collection(LineCollection(xy[pairs], colors=CROSSING, linewidths=0.8, zorder=3.5), autolim=False)
        entries.append(line_entry("boundary pairs of\nthe weakest edge", CROSSING, linewidth=0.8))
    return entries
