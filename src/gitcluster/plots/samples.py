"""Plots of the samples and of the topo-graph among them."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.layout import SampleLayout, layout_graph, layout_samples, usual_values
from gitcluster.fitted.memberships import own_shares
from gitcluster.plots._drawing import (
    BACKGROUND,
    DASHED,
    FAINT,
    MAX_ENTRIES,
    NOISE,
    add_colour_bar,
    add_legend,
    axes_area,
    colours_of,
    draw_names,
    draw_points,
    line_entry,
    marker_entry,
    plain,
    take_map,
)
from gitcluster.topo_graph import TopoGraph

QUANTITIES = {"intensity": "log intensity", "membership": "membership", "outlier": "outlier score"}
"""Quantities that colour the samples, and their names."""
MAX_EDGES = 3000
"""Of more edges, the strongest are drawn."""
NODE_COVERAGE = 0.07
"""Share of the axes that all nodes cover."""


def plot_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    color: Any = "cluster",
    legend: bool | None = None,
) -> Axes:
    """Draw the samples in the colours of their clusters, or by another quantity.

    Each cluster has its name at its highest peak, if the text fits; noise is grey. The legend lists the clusters and
    their sizes. ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all plots, see
    :mod:`gitcluster.plots`.

    Parameters
    ----------
    color : {"cluster", "intensity", "membership", "outlier"} or array-like of shape (n_samples,), default="cluster"
        Integers are labels, such as ``model.cut(n_clusters=5)`` or ``model.local_labels_``, -1 for noise. Other numbers
        have a colour bar.
    """
    clustering = clustering_of(model)
    values, title, titles = _read_colour(clustering, color)
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    if values.dtype.kind == "f":
        ax = take_map(ax, layout, title=title)
        low, high = np.quantile(values, 0.05), values.max()
        mapped = ScalarMappable(Normalize(low, high if high > low else low + 1.0), "viridis")
        order = np.argsort(values, kind="stable")  # the highest on top
        draw_points(ax, layout.xy[order], mapped.to_rgba(values[order])[:, :3])
        if legend:
            add_colour_bar(ax, mapped, label=title)
        return ax
    clusters, counts = np.unique(values[values >= 0], return_counts=True)
    ax = take_map(ax, layout, title=count_of(len(clusters), "cluster"))
    # in random order, so that no cluster hides another, noise below
    order = np.random.default_rng(0).permutation(len(values))
    order = order[np.argsort(values[order] >= 0, kind="stable")]
    draw_points(ax, layout.xy[order], colours_of(values[order]))
    by_intensity = np.argsort(-clustering.log_intensity, kind="stable")
    named, first = np.unique(values[by_intensity], return_index=True)
    peaks, named = layout.xy[by_intensity[first[named >= 0]]], named[named >= 0]
    draw_names(ax, peaks, [plain(titles.get(c, str(c))) for c in named.tolist()], colours_of(named))
    if legend:
        n_shown = len(clusters) if len(clusters) <= MAX_ENTRIES else MAX_ENTRIES - 1
        entries = [
            marker_entry(f"{plain(titles.get(c, str(c)))}:  {count:,}", colours_of(c))
            for c, count in zip(clusters[:n_shown].tolist(), counts[:n_shown].tolist(), strict=True)
        ]
        if len(clusters) > n_shown:
            entries.append(line_entry(f"and {len(clusters) - n_shown} more", NOISE, linestyle=""))
        if (values < 0).any():
            entries.append(marker_entry(f"noise:  {(values < 0).sum():,}", NOISE))
        add_legend(ax, entries, title="cluster:  samples")
    return ax


def _read_colour(clustering: Clustering, color: Any) -> tuple[NDArray[Any], str, dict[int, str]]:
    """Return integers or floats that colour the samples, their name, and the names of labels."""
    if isinstance(color, str):
        check_choice("color", color, ("cluster", *QUANTITIES))
        if color == "cluster":
            return np.asarray(clustering.to_ids(clustering.labels)), color, clustering.titles
        quantity: NDArray[Any] = clustering.outlier_scores
        if color != "outlier":
            quantity = usual_values(clustering.log_intensity) if color == "intensity" else own_shares(clustering)
        return quantity.astype(np.float64), QUANTITIES[color], {}
    values, n_samples = np.asarray(color), clustering.n_samples
    if values.shape != (n_samples,) or values.dtype.kind not in "iuf":
        raise ValueError(f"color must be {n_samples} numbers, got {values.dtype} of shape {values.shape}.")
    if values.dtype.kind != "f" and values.min() < -1:
        raise ValueError(f"color must be labels from -1 (noise) on, got {values.min()}.")
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64), "value", {}


def coarsen(clustering: Clustering, max_nodes: int | None) -> Clustering:
    """Return a clustering with at most ``max_nodes`` local clusters, for drawing only.

    Local clusters merge in the order of the hierarchy, but never across final clusters. The result is the clustering
    itself if it has no more local clusters, or no hierarchy.
    """
    graph, cut, hierarchy = clustering.topo_graph, clustering.edge_cut, clustering.hierarchy
    if max_nodes is not None:
        check_integer("max_nodes", max_nodes, low=1)
    if max_nodes is None or hierarchy is None or len(graph.sizes) <= max_nodes:
        return clustering
    merges = hierarchy.edges[graph.inside(cut.labels)[hierarchy.edges]]
    peaks = graph.join(merges[: len(graph.sizes) - max_nodes])
    first, group = np.unique(peaks, return_inverse=True)
    ends = np.sort(group[graph.edges], axis=1)
    between = ends[:, 0] != ends[:, 1]
    edges, which = np.unique(ends[between], axis=0, return_inverse=True)
    which = which.ravel()  # numpy 2.0 returns two dimensions
    pairs = np.bincount(which, graph.pairs[between], minlength=len(edges)).astype(np.int64)
    weights = np.full(len(edges), -np.inf)
    np.maximum.at(weights, which, graph.log_weights[between])  # the strongest edge stands for all
    graph = TopoGraph(np.bincount(group, graph.sizes), graph.peaks[first], edges, weights, pairs)
    cut = cut._replace(labels=cut.labels[first], kept=graph.inside(cut.labels[first]))
    local_labels = group[clustering.local_labels]
    return replace(clustering, topo_graph=graph, edge_cut=cut, local_labels=local_labels, hierarchy=None)


def plot_topo_graph(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    layout: str = "position",
    embedding: ArrayLike | None = None,
    n_labels: int = 25,
    max_nodes: int | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the topo-graph: the area of a node is its number of samples, the width of an edge its strength.

    Nodes have the colours of the final clusters, and cut edges are dashed. Of more than 3,000 edges, the strongest are
    drawn. ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    layout : {"position", "force"}, default="position"
        Nodes at their peaks, or by the forces of their connections, which needs no samples.
    n_labels : int, default=25
        Maximum number of nodes that are numbered, the largest first, if the text fits; 0 is the local cluster of the
        highest peak.
    max_nodes : int, default=None
        Maximum number of nodes. If there are more local clusters, those that merge first are one node.
    """
    clustering = clustering_of(model)
    check_choice("layout", layout, ("position", "force"))
    check_integer("n_labels", n_labels, low=0)
    drawn = coarsen(clustering, max_nodes)
    graph, kept = drawn.topo_graph, drawn.edge_cut.kept
    if layout == "position":
        laid_out = layout_samples(drawn, X, embedding=embedding)
        nodes = laid_out.xy[drawn.peaks]
    else:
        nodes = layout_graph(graph, kept)
        laid_out = SampleLayout(nodes, ("", ""), False)
    title = count_of(len(clustering.peaks), "local cluster")
    title += "" if drawn is clustering else f" in {count_of(len(drawn.peaks), 'group')}"
    title += f", {count_of(len(kept), 'edge')}, {(~kept).sum():,} of them cut"
    title += "\n(the strongest are drawn)" if len(kept) > MAX_EDGES else ""
    legend = ax is None if legend is None else legend
    ax = take_map(ax, laid_out, title=title, width=7.4, aside=2.4)
    if layout == "position":
        draw_points(ax, laid_out.xy, BACKGROUND, zorder=0)
    else:
        ax.spines[:].set_visible(False)
    draw_graph(ax, drawn, nodes)
    largest = np.argsort(-graph.sizes, kind="stable")[:n_labels]
    draw_names(ax, nodes[largest], [str(i) for i in largest], size=8, weight="normal")
    if legend:
        entries = [
            marker_entry("local cluster:\narea = samples", FAINT, size=9),
            line_entry("strong connection", FAINT, linewidth=3.2),
            line_entry("weak connection", FAINT, linewidth=0.8),
            line_entry("cut", FAINT, linewidth=1.2, linestyle=DASHED),
        ]
        add_legend(ax, entries)
    return ax


def draw_graph(ax: Axes, clustering: Clustering, nodes: NDArray[np.float64]) -> None:
    """Draw nodes and edges."""
    graph, cut = clustering.topo_graph, clustering.edge_cut
    colours = colours_of(clustering.to_ids(cut.labels))
    order = np.lexsort((-graph.log_weights, ~graph.real))[:MAX_EDGES][::-1]  # bridges first, strong ones on top
    # widths in points by log weight; bridges, which have no boundary pairs, are thin
    width = np.full(len(graph.edges), 0.6)
    if graph.real.any():
        low, high = np.quantile(graph.log_weights[graph.real], 0.05), graph.log_weights[graph.real].max()
        level = (graph.log_weights - low) / (high - low) if high > low else np.ones(len(width))
        width = np.where(graph.real, 0.6 + 3.2 * np.clip(level, 0, 1) ** 1.5, width)
    # thinner lines in small axes and of many edges
    width *= np.clip(np.sqrt(axes_area(ax) / 1e5), 0.4, 1.0) / max(1.0, (len(order) / 400) ** 0.25)
    for kept in (False, True):
        chosen = order[cut.kept[order] == kept]
        lines = LineCollection(
            list(nodes[graph.edges[chosen]]),
            linewidths=width[chosen] if kept else 0.8,
            colors=colours[graph.edges[chosen, 0]] if kept else FAINT,
            linestyles="solid" if kept else DASHED,
            alpha=float(np.clip(np.sqrt(400 / max(len(order), 1)), 0.5, 0.9)),
            zorder=2 + 0.1 * kept,
            label="kept" if kept else "cut",
        )
        ax.add_collection(lines, autolim=False)
    largest = np.argsort(-graph.sizes, kind="stable")
    total = NODE_COVERAGE * axes_area(ax)
    area = np.clip(total * graph.sizes / graph.sizes.sum(), 2.5, min(total / 4, 450.0))[largest]
    ax.scatter(
        nodes[largest, 0], nodes[largest, 1], s=area, c=colours[largest], edgecolors="white", zorder=3,
        linewidths=np.clip(0.08 * np.sqrt(area), 0.0, 0.7).tolist(),
    )  # fmt: skip
