"""Plots of the topo-graph and of the hierarchy of its local clusters."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import dendrogram

from gitcluster._support.arrays import follow_to_end
from gitcluster._support.names import count_of
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.cutting import Layer, find_layers
from gitcluster.fitted.layout import SampleLayout, layout_graph, layout_samples
from gitcluster.hierarchy import cut_hierarchy
from gitcluster.kernels import structures
from gitcluster.plots._drawing import (
    DASHED,
    FAINT,
    add_legend,
    axes_area,
    background_on,
    colours_of,
    draw_names,
    draw_points,
    ink_on,
    line_entry,
    local_colours,
    marker_entry,
    readable_on,
    take_axes,
    take_map,
)
from gitcluster.topo_graph import TopoGraph

MAX_EDGES = 3000
"""Of more edges, the strongest are drawn."""
STRONGEST = 3
"""Edges that are then drawn for every node."""
COVERAGE = 0.07
"""Share of the axes that all nodes cover."""
LAYER_AREA = 900.0
"""Area of a node with all samples in a plot of layers, in square points."""


def coarsen(clustering: Clustering, max_nodes: Any) -> Clustering:
    """Return a clustering with at most ``max_nodes`` local clusters, for drawing only.

    Local clusters merge in the order of the hierarchy, but never across final clusters. The result is the clustering
    itself if it has no more local clusters, or no hierarchy.
    """
    if max_nodes is None:
        return clustering
    most = check_integer("max_nodes", max_nodes, low=1)
    if clustering.hierarchy is None or len(clustering.peaks) <= most:
        return clustering
    graph, labels = clustering.topo_graph, clustering.edge_cut.labels
    merges = clustering.hierarchy.edges[graph.inside(labels)[clustering.hierarchy.edges]]
    root = np.arange(len(graph.sizes))
    structures.union_edges(root, graph.edges, merges[: len(root) - most])
    first, group = np.unique(follow_to_end(root), return_inverse=True)  # the first of a group has its highest peak
    # similarities of boundary pairs are summed; bridges stay if there is nothing else
    ends = np.sort(group[graph.edges], axis=1)
    between = np.flatnonzero(ends[:, 0] != ends[:, 1])
    edges, which = np.unique(ends[between], axis=0, return_inverse=True)
    which, log_sums, real = which.ravel(), graph.log_sums[between], graph.real[between]
    sizes, pairs = np.bincount(group, graph.sizes), np.bincount(which, graph.pairs[between], minlength=len(edges))
    largest, bridge = np.full(len(edges), -np.inf), np.full(len(edges), -np.inf)
    np.maximum.at(largest, which[real], log_sums[real])
    np.maximum.at(bridge, which[~real], log_sums[~real])
    total = np.bincount(which[real], np.exp(log_sums[real] - largest[which[real]]), minlength=len(edges))
    weights = np.log(np.maximum(total, 1e-300)) + largest - np.log(sizes[edges]).sum(axis=1)
    weights = np.where(np.isfinite(largest), weights, bridge)
    graph = TopoGraph(sizes, graph.peaks[first], edges, weights, pairs.astype(np.int64))
    cut = clustering.edge_cut._replace(labels=labels[first], kept=graph.inside(labels[first]))
    local_labels = group[clustering.local_labels]
    return replace(clustering, topo_graph=graph, edge_cut=cut, local_labels=local_labels, hierarchy=None)


def describe_nodes(clustering: Clustering, drawn: Clustering) -> str:
    """Return the number of local clusters, and of the groups in which they are drawn."""
    nodes = count_of(len(clustering.peaks), "local cluster")
    return nodes if drawn is clustering else f"{nodes}, in {count_of(len(drawn.peaks), 'group')}"


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

    Before cutting, nodes have the colours of :func:`plot_local_clusters`. After cutting, they have those of the final
    clusters, and cut edges are dashed. If there are more than 3,000 edges, the three strongest of every node are drawn,
    and the strongest cut one between every two clusters. ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as
    in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    when : {"after", "before"}, default="after"
        After or before edges are cut.
    layout : {"position", "force"}, default="position"
        Nodes at their peaks, or by the forces of their connections, which needs no samples.
    n_labels : int, default=25
        Maximum number of nodes that are numbered, the largest first, if the text fits; 0 is the local cluster of the
        highest peak.
    max_nodes : int, default=None
        Maximum number of nodes. If there are more local clusters, those that merge first are one node.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_topo_graph(GIT(4).fit(X), X, ax=Figure().subplots(), when="before")
    """
    clustering = clustering_of(model)
    check_choice("when", when, ("before", "after"))
    check_choice("layout", layout, ("position", "force"))
    check_integer("n_labels", n_labels, low=0)
    drawn = coarsen(clustering, max_nodes)
    if layout == "position":
        laid_out = layout_samples(drawn, X, embedding=embedding)
        nodes = laid_out.xy[drawn.peaks]
    else:
        nodes = layout_graph(drawn.topo_graph, drawn.edge_cut.kept)
        laid_out = SampleLayout(nodes, ("", ""), False)
    n_edges, n_cut = len(drawn.topo_graph.edges), int((~drawn.edge_cut.kept).sum())
    edges = count_of(n_edges, "edge") + (f", {n_cut:,} of them cut" if when == "after" else "")
    note = "\n(the strongest are drawn)" if n_edges > MAX_EDGES else ""
    legend = ax is None if legend is None else legend
    title = f"{describe_nodes(clustering, drawn)}, {edges}{note}"
    ax = take_map(ax, laid_out, title=title, width=7.4, aside=2.4)
    if layout == "position":
        draw_points(ax, laid_out.xy, background_on(ax), zorder=0)
    else:
        ax.spines[:].set_visible(False)
    draw_graph(ax, drawn, nodes, when=when, n_labels=n_labels)
    if legend:
        entries = [
            marker_entry("local cluster:\narea = samples", FAINT, size=9),
            line_entry("strong connection", FAINT, linewidth=3.2),
            line_entry("weak connection", FAINT, linewidth=0.8),
        ]
        if when == "after" and n_cut:
            entries.append(line_entry("cut", ink_on(ax), linewidth=1.2, linestyle=DASHED))
        add_legend(ax, entries)
    return ax


def draw_graph(ax: Axes, clustering: Clustering, nodes: NDArray[np.float64], *, when: str, n_labels: int = 0) -> None:
    """Draw nodes, edges and numbers."""
    graph, cut = clustering.topo_graph, clustering.edge_cut
    after = when == "after"
    colours = colours_of(cut.labels) if after else local_colours(graph)
    shrink = float(np.clip(np.sqrt(axes_area(ax) / 1e5), 0.4, 1.0))  # thinner lines in small axes
    # widths in points by log weight; bridges, which have no boundary pairs, are thin
    width = np.full(len(graph.edges), 0.6)
    if graph.real.any():
        low, high = np.quantile(graph.log_weights[graph.real], 0.05), graph.log_weights[graph.real].max()
        level = (graph.log_weights - low) / (high - low) if high > low else np.ones(len(width))
        width = np.where(graph.real, 0.6 + 3.2 * np.clip(level, 0, 1) ** 1.5, width)
    width *= shrink / max(1.0, (min(len(width), MAX_EDGES) / 400) ** 0.25)
    order = _choose_edges(clustering)[::-1]  # strong ones on top
    alpha = float(np.clip(np.sqrt(400 / max(len(order), 1)), 0.5, 0.9))
    groups = [(order[~cut.kept[order]], True), (order[cut.kept[order]], False)] if after else [(order, False)]
    for chosen, dashed in groups:
        inside = after and not dashed
        lines = LineCollection(
            nodes[graph.edges[chosen]],
            linewidths=np.maximum(width[chosen] * (0.5 if dashed else 1.0), shrink * (0.8 if dashed else 0.5)),
            colors=colours[graph.edges[chosen, 0]] if inside else ink_on(ax) if dashed else FAINT,
            linestyles=DASHED if dashed else "solid",
            alpha=min(0.8, alpha) if dashed else alpha,
            zorder=2 + inside * 0.1,
            label="cut" if dashed else "kept" if after else "edge",
        )
        ax.add_collection(lines, autolim=False)
    largest = np.argsort(-graph.sizes, kind="stable")
    total = COVERAGE * axes_area(ax)
    area = np.clip(total * graph.sizes / graph.sizes.sum(), 2.5, min(total / 4, 450.0))[largest]
    ax.scatter(
        nodes[largest, 0], nodes[largest, 1], s=area, c=colours[largest], edgecolors=ax.get_facecolor(),
        linewidths=np.clip(0.08 * np.sqrt(area), 0.0, 0.7).tolist(), zorder=3, label="local clusters",
    )  # fmt: skip
    named = largest[:n_labels]
    draw_names(ax, nodes[named], [str(i) for i in named], size=8)


def _choose_edges(clustering: Clustering) -> NDArray[np.int64]:
    """Return the edges to draw, the strongest first."""
    graph, labels = clustering.topo_graph, clustering.edge_cut.labels
    order = np.lexsort((-graph.log_weights, graph.pairs == 0))
    if len(order) <= MAX_EDGES:
        return order
    n_drawn = np.zeros(len(graph.sizes), np.int64)
    connected: set[tuple[int, int]] = set()
    chosen = []
    for edge in order.tolist():
        i, j = graph.edges[edge].tolist()
        a, b = sorted((int(labels[i]), int(labels[j])))
        if min(n_drawn[i], n_drawn[j]) < STRONGEST or (a < b and (a, b) not in connected):
            chosen.append(edge)
        n_drawn[[i, j]] += 1
        connected.add((a, b))
    return np.array(chosen)


def plot_hierarchy(model: Any, X: Any = None, *, ax: Axes | None = None, max_leaves: int = 40) -> Axes:
    """Draw the dendrogram of the local clusters: final clusters in their colours, with their numbers, and the cut.

    The height of a merge is how much weaker the connection is than the strongest one. If the final clusters come from
    the sweep against a prior, they are not a cut of the hierarchy, and there is no line. ``model``, fitted with the
    default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    max_leaves : int, default=40
        Maximum number of leaves. Parts that merge below them are drawn as one leaf, with their number of samples.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_hierarchy(GIT(4).fit(X), ax=Figure().subplots())
    """
    clustering = clustering_of(model)
    hierarchy, n_clusters, n_local = clustering.hierarchy, clustering.n_clusters, len(clustering.peaks)
    if hierarchy is None:
        raise ValueError(f"variant={clustering.variant.name!r} has no hierarchy. Fit GIT(variant='adaptive').")
    linkage, heights = hierarchy.linkage, hierarchy.linkage[:, 2]
    n_leaves = min(check_integer("max_leaves", max_leaves, low=2), n_local)
    ax = take_axes(ax, width=7.4, ratio=0.65, title=f"Hierarchy of {count_of(n_local, 'local cluster')}")
    if not len(linkage):
        ax.text(0.5, 0.5, "one local cluster: nothing to merge", ha="center", va="center", transform=ax.transAxes)
        ax.set(xticks=[], yticks=[])
        return ax
    # the final cluster (-1 for several) and the size of every node: local clusters first, then merges
    nodes, sizes = clustering.edge_cut.labels.tolist(), clustering.topo_graph.sizes.tolist()
    for left, right in linkage[:, :2].astype(int).tolist():
        nodes.append(nodes[left] if nodes[left] == nodes[right] else -1)
        sizes.append(sizes[left] + sizes[right])
    scale = len(clustering.labels) / sizes[-1]  # weights are shown as numbers of samples
    upright, ink = n_leaves > 14, ink_on(ax)
    drawn = dendrogram(
        linkage, p=n_leaves, truncate_mode="lastp", ax=ax, leaf_rotation=90 if upright else 0,
        leaf_font_size=7 if upright else 9, leaf_label_func=lambda node: f"{sizes[node] * scale:,.0f}",
        link_color_func=lambda node: ink if nodes[node] < 0 else to_hex(tuple(colours_of(nodes[node]))),
    )  # fmt: skip
    for links in ax.collections:
        links.set_linewidth(1.3)
    leaves = np.array(nodes)[drawn["leaves"]]
    tops: dict[int, tuple[float, float]] = {}  # of the widest branch of every final cluster
    for c in np.unique(leaves[leaves >= 0]).tolist():
        x = 5 + 10 * np.flatnonzero(leaves == c)
        run = max(np.split(x, np.flatnonzero(np.diff(x) > 10) + 1), key=len)
        highest = [(y[1], (i[1] + i[2]) / 2) for i, y in zip(drawn["icoord"], drawn["dcoord"], strict=True)
                 if run[0] <= i[0] and i[3] <= run[-1]]  # fmt: skip
        tops[c] = max(highest, default=(0.0, float(run.mean())))[::-1]
    order = sorted(tops, key=lambda c: -np.count_nonzero(leaves == c))  # the largest choose first
    draw_names(
        ax, [tops[c] for c in order], [str(c) for c in order], size=10, weight="bold", beside=12,
        colours=colours_of(order),
    )  # fmt: skip
    top = float(heights[-1])
    ax.set(ylim=(-0.02 * top, 1.05 * top), xlabel="samples per leaf", ylabel="weakness of the connection")
    for tick, label in zip(ax.get_xticklabels(), leaves, strict=True):
        tick.set_color(ink if label < 0 else readable_on(ax, colours_of(label)))
    cut = cut_hierarchy(hierarchy, clustering.topo_graph, n_clusters=n_clusters)
    if np.array_equal(cut, clustering.edge_cut.labels):
        # between the last merge inside final clusters and the first across
        bounds = np.concatenate(([0.0], heights, [heights[-1] * 1.05]))
        level = bounds[len(heights) + 1 - n_clusters : len(heights) + 3 - n_clusters].mean()
        _mark_level(ax, level, count_of(n_clusters, "cluster"), linewidth=1.2)
    else:
        ax.set_title(f"{ax.get_title()}\n(the final clusters are not a single cut of it)")
    return ax


def _mark_level(ax: Axes, level: float, text: str, *, linewidth: float) -> None:
    """Draw a dashed horizontal line behind everything else, with a text at its right end."""
    ax.axhline(level, color=FAINT, linewidth=linewidth, linestyle=(0, (5, 3)), zorder=0)
    ax.annotate(
        text, (1.0, level), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
        va="center", fontsize="small", annotation_clip=False,
    )  # fmt: skip


def plot_layers(model: Any, X: Any = None, *, n_clusters: Iterable[int] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the layers of a model, coarse above fine: every cluster, its number of samples, and its parts.

    Final clusters have their colours, and so do their parts; coarser clusters that hold several are grey. ``model``,
    fitted with the default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    n_clusters : iterable of int, default=None
        Numbers of clusters of the layers; by default those of ``model.layers()``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_layers(GIT().fit(X), n_clusters=[2, 4, 6], ax=Figure().subplots())
    """
    clustering = clustering_of(model)
    layers = find_layers(clustering, n_clusters)
    ax = take_axes(ax, width=8.4, ratio=0.16 * (len(layers) + 1), aside=1.6, title="Layers")
    centres = _arrange_layers(layers)
    grey = readable_on(ax, background_on(ax))
    for level, (layer, x) in enumerate(zip(layers, centres, strict=True)):
        share = layer.sizes / max(1, layer.sizes.sum())
        for c, parent in enumerate(layer.parents if level else ()):
            ends = (centres[level - 1][parent], x[c]), (1 - level, -level)
            ax.plot(*ends, color=background_on(ax), linewidth=1 + 9 * share[c], solid_capstyle="round", zorder=1)
        homes = [np.unique(clustering.labels[layer.labels == c]) for c in range(layer.n_clusters)]
        colours: Any = [colours_of(home[0]) if len(home) == 1 and home[0] >= 0 else grey for home in homes]
        area = LAYER_AREA * share + 40
        ax.scatter(x, np.full(len(x), -level), s=area, c=colours, edgecolors=ax.get_facecolor(), zorder=3)
        score = "" if np.isnan(layer.score) else f"\nscore {layer.score:.2f}"
        _mark_level(ax, -level, count_of(layer.n_clusters, "cluster") + score, linewidth=0.6)
        order = np.argsort(-layer.sizes, kind="stable")
        below = np.column_stack([x[order], np.full(len(x), -level - 0.3)])
        draw_names(ax, below, [f"{layer.names[c]}\n{layer.sizes[c]:,}" for c in order], size=7.5)
    ax.set(xticks=[], yticks=[], ylim=(0.45 - len(layers), 0.35))
    ax.margins(x=0.08)
    ax.set_xlabel("area: samples; grey: several of the final clusters", fontsize="small")
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def _arrange_layers(layers: list[Layer]) -> list[NDArray[np.float64]]:
    """Return the horizontal positions of all clusters: parts below their parents, without crossings."""
    width = [np.ones(layer.n_clusters) for layer in layers]
    for level in range(len(layers) - 1, 0, -1):
        needed = np.bincount(layers[level].parents, width[level], minlength=len(width[level - 1]))
        width[level - 1] = np.maximum(needed, 1.0)
    starts: list[NDArray[np.float64]] = []
    for level, layer in enumerate(layers):
        start, free = np.empty(layer.n_clusters), np.zeros(1) if level == 0 else starts[-1].copy()
        for c, parent in enumerate(layer.parents if level else np.zeros(layer.n_clusters, int)):
            start[c] = free[parent]
            free[parent] += width[level][c]
        starts.append(start)
    return [start + own / 2 for start, own in zip(starts, width, strict=True)]
