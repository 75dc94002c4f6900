"""The topo-graph: local clusters as nodes, boundary pairs between them as edges, before and after cutting."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import Places, lay_out, place_samples
from gitcluster.plots._coarse import coarsen, told_nodes
from gitcluster.plots._colours import FAINT, colours_of, ink_on, local_colours
from gitcluster.plots._labels import name_places
from gitcluster.plots._points import axes_area, draw_backdrop, take_map
from gitcluster.plots._style import add_legend, check_model, line_entry, marker_entry

TIMES = ("before", "after")
LAYOUTS = ("position", "force")
MOST_EDGES = 3000
"""Edges up to which all are drawn."""
DASHED = (0, (4, 2.5))
STRONGEST = 3
"""Edges drawn for every node where there are more."""
COVERAGE = 0.07
"""Share of the axes that all nodes cover together."""


def plot_topo_graph(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    when: str = "after",
    layout: str = "position",
    embedding: ArrayLike | None = None,
    n_labels: int = 25,
    max_nodes: int | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the topo-graph: the area of a node is its number of samples, the width of an edge its strength.

    Before cutting, nodes have the colours of :func:`plot_local_clusters`; after it, those of the final clusters, and
    cut edges are dashed. If there are more than 3,000 edges, only the three strongest of every node are drawn, and the
    strongest cut one between every two clusters. ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all
    plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    when : {"after", "before"}, default="after"
        After or before edges are cut.
    layout : {"position", "force"}, default="position"
        Nodes at their peaks, or where their connections pull them, which needs no samples.
    n_labels : int, default=25
        How many of the largest nodes are numbered, at most, as far as there is room; 0 is the local cluster of the
        highest peak.
    max_nodes : int, default=None
        How many nodes there are at most: where there are more local clusters, those that merge first are one node. By
        default each is a node.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_topo_graph(GIT(4).fit(X), X, ax=Figure().subplots(), when="before")
    """
    found = check_model(model, ax=ax)
    check_choice("when", when, TIMES)
    check_choice("layout", layout, LAYOUTS)
    check_integer("n_labels", n_labels, low=0)
    whole, found = found, coarsen(found, max_nodes)
    if layout == "position":
        places = place_samples(found, X, embedding=embedding)
        nodes = places.xy[found.peaks]
    else:
        nodes = lay_out(found.topo_graph, found.edge_cut.kept)
        places = Places(nodes, ("", ""), False)
    n_edges, cut = len(found.topo_graph.edges), int((~found.edge_cut.kept).sum())
    edges = count_of(n_edges, "edge") + (f", {cut:,} of them cut" if when == "after" else "")
    note = "\n(the strongest are drawn)" if n_edges > MOST_EDGES else ""
    legend = ax is None if legend is None else legend
    title = f"{told_nodes(whole, found)}, {edges}{note}"
    ax = take_map(ax, places, title=title, width=7.4, aside=2.4)
    if layout == "position":
        draw_backdrop(ax, places)
    else:
        ax.spines[:].set_visible(False)
    draw_graph(ax, found, nodes, when=when, n_labels=n_labels)
    if legend:
        _explain_edges(ax, has_cut=when == "after" and cut > 0)
    return ax


def draw_graph(
    ax: Axes, found: Clustering, nodes: NDArray[np.float64], *, when: str, n_labels: int = 0, bend: float = 0.0
) -> None:
    """Nodes, edges and numbers; edges are bent upwards by ``bend`` times their length."""
    graph, cut = found.topo_graph, found.edge_cut
    after = when == "after"
    colours = colours_of(cut.labels) if after else local_colours(graph)
    shrink = float(np.clip(np.sqrt(axes_area(ax) / 1e5), 0.4, 1.0))
    width = shrink * edge_widths(found)
    order = drawn_edges(found)[::-1]  # strong ones on top
    alpha = float(np.clip(np.sqrt(400 / max(len(order), 1)), 0.5, 0.9))
    paths = _edge_paths(nodes, graph.edges, bend)
    groups = [(order[~cut.kept[order]], True), (order[cut.kept[order]], False)] if after else [(order, False)]
    for chosen, dashed in groups:
        inside = after and not dashed
        lines = LineCollection(
            paths[chosen],
            linewidths=np.maximum(width[chosen] * (0.5 if dashed else 1.0), shrink * (0.8 if dashed else 0.5)),
            colors=colours[graph.edges[chosen, 0]] if inside else ink_on(ax) if dashed else FAINT,
            linestyles=DASHED if dashed else "solid",
            alpha=min(0.8, alpha) if dashed else alpha,
            zorder=2 + inside * 0.1,
            label="cut" if dashed else "kept" if after else "edge",
        )
        ax.add_collection(lines, autolim=False)
    largest = np.argsort(-graph.sizes, kind="stable")
    area = node_areas(ax, graph.sizes)
    ax.scatter(
        nodes[largest, 0], nodes[largest, 1], s=area[largest], c=colours[largest], edgecolors=ax.get_facecolor(),
        linewidths=np.clip(0.08 * np.sqrt(area[largest]), 0.0, 0.7).tolist(), zorder=3, label="local clusters",
    )  # fmt: skip
    named = largest[:n_labels]
    name_places(ax, nodes[named], [str(i) for i in named], size=8)


def _edge_paths(nodes: NDArray[np.float64], edges: NDArray[Any], bend: float) -> NDArray[np.float64]:
    """(e, points, 2) lines along which edges are drawn."""
    start, stop = nodes[edges[:, 0]], nodes[edges[:, 1]]
    if bend == 0:
        return np.stack([start, stop], axis=1)
    t = np.linspace(0, 1, 25)[:, None]
    paths = start[:, None] * (1 - t) + stop[:, None] * t
    paths[:, :, 1] += 4 * bend * np.abs(stop - start)[:, None, 0] * (t * (1 - t))[:, 0]
    return np.asarray(paths)


def drawn_edges(found: Clustering) -> NDArray[np.int64]:
    """Edges to draw, the strongest first: all, or if they are too many, the strongest of every node, and the strongest
    cut edge between every two clusters."""
    graph, labels = found.topo_graph, found.edge_cut.labels
    order = np.lexsort((-graph.log_weights, graph.pairs == 0))
    if len(order) <= MOST_EDGES:
        return order
    seen = np.zeros(len(graph.sizes), np.int64)
    met: set[tuple[int, int]] = set()
    drawn = []
    for edge in order.tolist():
        i, j = graph.edges[edge].tolist()
        a, b = sorted((int(labels[i]), int(labels[j])))
        if min(seen[i], seen[j]) < STRONGEST or (a < b and (a, b) not in met):
            drawn.append(edge)
        seen[[i, j]] += 1
        met.add((a, b))
    return np.array(drawn)


def edge_widths(found: Clustering) -> NDArray[np.float64]:
    """(e,) widths in points: by log weight, from the weakest to the strongest; bridges, which have none, are thin."""
    graph = found.topo_graph
    real = graph.pairs > 0
    width = np.full(len(graph.edges), 0.6)
    if real.any():
        low, high = np.quantile(graph.log_weights[real], 0.05), graph.log_weights[real].max()
        level = (graph.log_weights - low) / (high - low) if high > low else np.ones(len(width))
        width = np.where(real, 0.6 + 3.2 * np.clip(level, 0, 1) ** 1.5, width)
    return np.asarray(width / max(1.0, (min(len(width), MOST_EDGES) / 400) ** 0.25))


def node_areas(ax: Axes, sizes: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) areas in square points, in proportion to the samples."""
    whole = COVERAGE * axes_area(ax)
    return np.asarray(np.clip(whole * sizes / sizes.sum(), 2.5, min(whole / 4, 450.0)))


def _explain_edges(ax: Axes, *, has_cut: bool) -> None:
    entries = [
        marker_entry("local cluster:\narea = samples", FAINT, size=9),
        line_entry("strong connection", FAINT, linewidth=3.2),
        line_entry("weak connection", FAINT, linewidth=0.8),
    ]
    if has_cut:
        entries.append(line_entry("cut", ink_on(ax), linewidth=1.2, linestyle=DASHED))
    add_legend(ax, entries)
