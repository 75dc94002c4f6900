"""Plots of the samples and of the topo-graph among them: intensity, local and final clusters, explanations."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import follow_to_end
from gitcluster._support.names import count_of
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.explanation import PairExplanation, SampleExplanation
from gitcluster.fitted.layout import SampleLayout, layout_graph, layout_samples, usual_values
from gitcluster.kernels import structures
from gitcluster.plots._drawing import (
    DASHED,
    FAINT,
    INTENSITY_MAP,
    MAX_ENTRIES,
    NOISE,
    add_colour_bar,
    add_legend,
    axes_area,
    background_on,
    colours_of,
    draw_names,
    draw_points,
    find_cells,
    ink_on,
    line_entry,
    local_colours,
    marker_entry,
    plain,
    take_map,
)
from gitcluster.preprocessing.sources import Distances
from gitcluster.topo_graph import TopoGraph

MAX_ARROWS = 1500
"""More samples have one mean arrow per cell of a grid."""
FLOW_GRID = 26
"""Columns and rows of the grid for mean arrows."""
MAX_PAIRS = 200
"""Boundary pairs that are drawn, the nearest first."""
CROSSING = "#B2182B"
MAX_EDGES, MAX_CUT_EDGES = 3000, 300
"""Of more edges, the strongest are drawn, and the strongest that are cut."""
NODE_COVERAGE = 0.07
"""Share of the axes that all nodes cover."""


def plot_intensity(
    model: Any, X: Any = None, *, ax: Axes | None = None, embedding: ArrayLike | None = None, legend: bool | None = None
) -> Axes:
    """Draw the samples, coloured by their log intensity.

    ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.
    """
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title="Intensity")
    draw_intensity(ax, clustering, layout, legend=legend)
    return ax


def draw_intensity(ax: Axes, clustering: Clustering, layout: SampleLayout, *, legend: bool) -> None:
    """Draw samples coloured by their log intensity, the highest on top."""
    values = usual_values(clustering.log_intensity)
    low, high = np.quantile(values, 0.05), values.max()
    mapped = ScalarMappable(Normalize(low, high if high > low else low + 1.0), INTENSITY_MAP)
    order = np.argsort(values, kind="stable")
    draw_points(ax, layout.xy[order], mapped.to_rgba(values[order])[:, :3], floor=0.8)
    if legend:
        add_colour_bar(ax, mapped, label="log intensity")


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
    # the strongest edge between two groups stands for all; a bridge only if there is nothing else
    ends, order = np.sort(group[graph.edges], axis=1), np.lexsort((-graph.log_weights, ~graph.real))
    order = order[ends[order, 0] != ends[order, 1]]
    edges, strongest, which = np.unique(ends[order], axis=0, return_index=True, return_inverse=True)
    pairs = np.bincount(which.ravel(), graph.pairs[order], minlength=len(edges)).astype(np.int64)
    sizes, weights = np.bincount(group, graph.sizes), graph.log_weights[order[strongest]]
    graph = TopoGraph(sizes, graph.peaks[first], edges, weights, pairs)
    cut = clustering.edge_cut._replace(labels=labels[first], kept=graph.inside(labels[first]))
    local_labels = group[clustering.local_labels]
    return replace(clustering, topo_graph=graph, edge_cut=cut, local_labels=local_labels, hierarchy=None)


def describe_nodes(clustering: Clustering, drawn: Clustering) -> str:
    """Return the number of local clusters, and of the groups in which they are drawn."""
    nodes = count_of(len(clustering.peaks), "local cluster")
    return nodes if drawn is clustering else f"{nodes}, in {count_of(len(drawn.peaks), 'group')}"


def plot_local_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    arrows: bool = True,
    max_nodes: int | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the local clusters, their peaks, and the direction in which the samples climb.

    Connected local clusters have different colours; others may share one. ``model``, ``X``, ``ax``, ``embedding`` and
    ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    arrows : bool, default=True
        Whether to draw the gradient flow: an arrow from every sample to the next one uphill. More than 1,500 samples
        have the mean direction in every cell of a grid.
    max_nodes : int, default=None
        Maximum number of colours and peaks. If there are more local clusters, those that merge first are drawn as one.
    """
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    drawn = coarsen(clustering, max_nodes)
    ax = take_map(ax, layout, title=describe_nodes(clustering, drawn), width=8.4, aside=2.0)
    draw_local_clusters(ax, drawn, layout, arrows=arrows)
    if legend:
        entries = [marker_entry("peak", FAINT, "^", 8), marker_entry("sample, in the colour\nof its peak", FAINT)]
        if arrows:
            entries.append(marker_entry("uphill", ink_on(ax), "$\\rightarrow$", 11))
        add_legend(ax, entries)
    return ax


def draw_local_clusters(ax: Axes, clustering: Clustering, layout: SampleLayout, *, arrows: bool) -> None:
    """Draw samples in the colours of their local clusters, arrows uphill, and peaks."""
    xy, colours = layout.xy, local_colours(clustering.topo_graph)
    pale = 1 - 0.6 * (1 - colours) if arrows else colours
    draw_points(ax, xy, pale[clustering.local_labels], floor=0.6)
    if arrows:
        start, step = xy, xy[clustering.parents] - xy
        tints: Any = 0.7 * colours[clustering.local_labels]
        if len(xy) > MAX_ARROWS:
            start, step = _mean_flow(xy, step)
            tints = np.broadcast_to(to_rgb(ink_on(ax)), (len(step), 3))
        moving = np.abs(step).max(axis=1) > 0
        ax.quiver(
            *start[moving].T, *step[moving].T, angles="xy", scale_units="xy", scale=1.0, units="dots",
            width=0.6 * ax.figure.dpi / 72, headwidth=5, headlength=6, headaxislength=5, minlength=0.3,
            color=tints[moving], alpha=0.8, zorder=3,
        )  # fmt: skip
    peaks = xy[clustering.peaks]
    area = float(np.clip(0.02 * axes_area(ax) / len(peaks), 3, 50))
    edges = {"edgecolors": ink_on(ax), "linewidths": 0.12 * np.sqrt(area)} if area > 6 else {"linewidths": 0}
    ax.scatter(
        peaks[:, 0], peaks[:, 1], s=area, c=colours if area > 6 else 0.6 * colours, marker="^", zorder=4, **edges
    )  # fmt: skip


def _mean_flow(xy: NDArray[np.float64], step: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return one arrow per cell of a grid: the mean direction of its samples, as long as the cell if all agree."""
    cell, low, span = find_cells(xy, FLOW_GRID)
    cells, which = np.unique(cell[:, 1] * FLOW_GRID + cell[:, 0], return_inverse=True)
    scaled = step / span
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-300)
    mean = np.column_stack([np.bincount(which, scaled[:, axis]) / np.bincount(which) for axis in range(2)])
    middle = low + (np.column_stack([cells % FLOW_GRID, cells // FLOW_GRID]) + 0.5) / FLOW_GRID * span
    length = 0.9 / FLOW_GRID * span
    return middle - mean * length / 2, mean * length


def plot_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the final clusters, each with its number at its highest peak, if the text fits; noise is grey.

    The legend lists the clusters and their sizes. ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all
    plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    labels : array-like of shape (n_samples,), default=None
        Other labels than ``labels_``, such as ``model.cut(n_clusters=5)``.
    """
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    shown = np.asarray(clustering.to_ids(clustering.labels) if labels is None else labels)
    n_samples = len(clustering.labels)
    if shown.shape != (n_samples,) or shown.dtype.kind not in "iu" or shown.min() < -1 or shown.max() < 0:
        raise ValueError(
            f"labels must be {n_samples} integers from -1 (noise) on, got {shown.dtype} of shape {shown.shape}."
        )
    clusters, counts = np.unique(shown[shown >= 0], return_counts=True)
    titles = clustering.titles if labels is None else dict(enumerate(map(str, range(int(shown.max()) + 1))))
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title=count_of(len(clusters), "cluster"))
    draw_clusters(ax, clustering, layout, shown.astype(np.int64), titles)
    if legend:
        n_shown = len(clusters) if len(clusters) <= MAX_ENTRIES else MAX_ENTRIES - 1
        entries = [
            marker_entry(f"{plain(titles[c])}:  {count:,}", colours_of(c))
            for c, count in zip(clusters[:n_shown].tolist(), counts[:n_shown].tolist(), strict=True)
        ]
        if len(clusters) > n_shown:
            entries.append(line_entry(f"and {len(clusters) - n_shown} more", NOISE, linestyle=""))
        if (shown < 0).any():
            entries.append(marker_entry(f"noise:  {(shown < 0).sum():,}", NOISE))
        add_legend(ax, entries, title="cluster:  samples")
    return ax


def draw_clusters(
    ax: Axes, clustering: Clustering, layout: SampleLayout, labels: NDArray[np.int64], titles: dict[int, str]
) -> None:
    """Draw samples in the colours of their clusters, in random order so that none hides another, noise below."""
    order = np.random.default_rng(0).permutation(len(labels))
    order = order[np.argsort(labels[order] >= 0, kind="stable")]
    draw_points(ax, layout.xy[order], colours_of(labels[order]))
    if len(np.unique(labels[labels >= 0])) > 1:
        by_intensity = np.argsort(-clustering.log_intensity, kind="stable")
        clusters, first = np.unique(labels[by_intensity], return_index=True)
        peaks, named = layout.xy[by_intensity[first]], clusters >= 0
        beside = 12 if len(labels) <= 100 else 0  # a text must not cover one of few samples
        draw_names(
            ax, peaks[named], [plain(titles[c]) for c in clusters[named].tolist()], size=10, weight="bold",
            beside=beside, colours=colours_of(clusters[named]),
        )  # fmt: skip


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
    clusters, and cut edges are dashed. Of more than 3,000 edges, the strongest are drawn. ``model``, ``X``, ``ax``,
    ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

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
    colours = colours_of(clustering.to_ids(cut.labels)) if after else local_colours(graph)
    shrink = float(np.clip(np.sqrt(axes_area(ax) / 1e5), 0.4, 1.0))  # thinner lines in small axes
    # widths in points by log weight; bridges, which have no boundary pairs, are thin
    width = np.full(len(graph.edges), 0.6)
    if graph.real.any():
        low, high = np.quantile(graph.log_weights[graph.real], 0.05), graph.log_weights[graph.real].max()
        level = (graph.log_weights - low) / (high - low) if high > low else np.ones(len(width))
        width = np.where(graph.real, 0.6 + 3.2 * np.clip(level, 0, 1) ** 1.5, width)
    width *= shrink / max(1.0, (min(len(width), MAX_EDGES) / 400) ** 0.25)
    order = np.lexsort((-graph.log_weights, graph.pairs == 0))  # the strongest first, bridges last
    groups = [(order[~cut.kept[order]], True), (order[cut.kept[order]], False)] if after else [(order, False)]
    alpha = float(np.clip(np.sqrt(400 / max(min(len(order), MAX_EDGES), 1)), 0.5, 0.9))
    for group, dashed in groups:
        inside = after and not dashed
        many = MAX_CUT_EDGES if dashed and len(order) > MAX_EDGES else MAX_EDGES
        chosen: Any = group[:many][::-1]  # strong ones on top
        lines = LineCollection(
            list(nodes[graph.edges[chosen]]),
            linewidths=np.maximum(width[chosen] * (0.5 if dashed else 1.0), shrink * (0.8 if dashed else 0.5)),
            colors=colours[graph.edges[chosen, 0]] if inside else ink_on(ax) if dashed else FAINT,
            linestyles=DASHED if dashed else "solid",
            alpha=min(0.8, alpha) if dashed else alpha,
            zorder=2 + inside * 0.1,
            label="cut" if dashed else "kept" if after else "edge",
        )
        ax.add_collection(lines, autolim=False)
    largest = np.argsort(-graph.sizes, kind="stable")
    total = NODE_COVERAGE * axes_area(ax)
    area = np.clip(total * graph.sizes / graph.sizes.sum(), 2.5, min(total / 4, 450.0))[largest]
    ax.scatter(
        nodes[largest, 0], nodes[largest, 1], s=area, c=colours[largest], edgecolors=ax.get_facecolor(),
        linewidths=np.clip(0.08 * np.sqrt(area), 0.0, 0.7).tolist(), zorder=3, label="local clusters",
    )  # fmt: skip
    named = largest[:n_labels]
    draw_names(ax, nodes[named], [str(i) for i in named], size=8)


def plot_explanation(
    explanation: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the explanation of one sample or two among all samples.

    The samples climb to their peaks along thin lines. For a pair, the strongest path leads from peak to peak, with cut
    edges dashed, and the boundary pairs of its weakest edge are drawn. ``X``, ``ax``, ``embedding`` and ``legend`` are
    as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    explanation : SampleExplanation or PairExplanation
        The result of ``model.explain``.
    """
    if isinstance(explanation, PairExplanation):
        samples, clusters = list(explanation.samples), list(explanation.clusters)
        first, second = map(plain, explanation.names)
        answer = "one cluster" if explanation.same_cluster else "two clusters"
        title = f"Samples {first} and {second}: {answer}"
    elif isinstance(explanation, SampleExplanation):
        samples, clusters = [explanation.sample], [explanation.home]
        home = explanation.clustering.title_of(explanation.home)
        answer = "noise" if explanation.cluster < 0 else f"cluster {plain(home)}"
        title = f"Sample {plain(explanation.name)}: {answer}"
    else:
        raise TypeError(f"explanation must be the result of model.explain, got {type(explanation).__name__}.")
    clustering = explanation.clustering
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title=title, width=8.0)
    ink, xy = ink_on(ax), layout.xy
    labels = clustering.edge_cut.labels[clustering.local_labels]
    involved = np.isin(labels, clusters)
    order = np.argsort(involved, kind="stable")
    ground = np.array(to_rgb(ax.get_facecolor()))
    pale = ground + 0.45 * (colours_of(clustering.to_ids(labels)) - ground)
    draw_points(ax, xy[order], np.where(involved[:, None], pale, background_on(ax))[order], zorder=0)
    entries = [line_entry("climb to the peak", ink, linewidth=0.9, marker="^", markersize=6)]
    if isinstance(explanation, PairExplanation):
        entries += _draw_path(ax, explanation, xy)
    halo = [withStroke(linewidth=3, foreground=ax.get_facecolor())]
    for sample, side in zip(samples, (1, -1), strict=False):
        climb = xy[clustering.climb(sample)]
        ax.plot(climb[:, 0], climb[:, 1], color=ink, linewidth=0.9, zorder=4)
        ax.scatter(climb[-1:, 0], climb[-1:, 1], s=46, marker="^", color=ink, zorder=5)
        ax.annotate(
            plain(clustering.name_of(sample)), xy[sample], xytext=(0, 13 * side), textcoords="offset points",
            ha="center", va="center", weight="bold", color=ink, path_effects=halo, zorder=7,
        )  # fmt: skip
    ax.scatter(xy[samples, 0], xy[samples, 1], s=60, color=ax.get_facecolor(), edgecolors=ink, linewidths=1.6, zorder=6)
    if legend:
        add_legend(ax, entries)
    return ax


def _draw_path(ax: Axes, explanation: PairExplanation, xy: Any) -> list[Line2D]:
    """Draw the path from peak to peak and the boundary pairs of its weakest edge; return entries for the legend."""
    if not len(explanation.edges):
        return []
    ink = ink_on(ax)
    peaks: Any = xy[explanation.clustering.peaks[explanation.path]]
    steps: Any = np.stack([peaks[:-1], peaks[1:]], axis=1)
    entries = []
    colour: Any = tuple(0.75 * colours_of(explanation.clustering.cluster_ids[explanation.clusters[0]]))
    styles: Any = (("strongest path", ~explanation.cut, colour, "solid"), ("cut", explanation.cut, ink, DASHED))
    for label, chosen, tint, style in styles:
        if chosen.any():
            lines = LineCollection(steps[chosen], colors=tint, linewidths=2.4, linestyles=style, zorder=3, label=label)
            ax.add_collection(lines, autolim=False)
            entries.append(line_entry(label, tint, linewidth=2.4, linestyle=style))
    ax.scatter(peaks[1:-1, 0], peaks[1:-1, 1], s=14, color=ax.get_facecolor(), edgecolors=ink, linewidths=0.8, zorder=4)
    known = not isinstance(explanation.clustering.source, Distances) or explanation.X is not None
    pairs: Any = explanation.boundary_pairs[:MAX_PAIRS] if known else ()
    if len(pairs):
        ax.add_collection(LineCollection(xy[pairs], colors=CROSSING, linewidths=0.8, zorder=3.5), autolim=False)
        entries.append(line_entry("boundary pairs of\nthe weakest edge", CROSSING, linewidth=0.8))
    return entries
