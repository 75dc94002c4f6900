"""The paper's figures of the method itself: the pipeline (Fig. 1), the idea in one dimension (Fig. 2), how local
clusters grow as the intensity threshold falls (Fig. 3), and the climb over lines of equal intensity (Fig. 8).
``python -m docs.images`` draws them."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from gitcluster._support.arrays import inverse_order
from gitcluster._support.names import count_of
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.explanation import find_boundary_pairs
from gitcluster.fitted.layout import SampleLayout, layout_samples, usual_values
from gitcluster.fitted.prediction import predict_samples
from gitcluster.plots._drawing import (
    DASHED,
    FAINT,
    INTENSITY_MAP,
    axes_area,
    background_on,
    colours_of,
    draw_names,
    draw_points,
    ink_on,
    line_entry,
    local_colours,
    marker_entry,
    plain,
    take_map,
)
from gitcluster.plots.samples import (
    coarsen,
    describe_nodes,
    draw_clusters,
    draw_graph,
    draw_intensity,
    draw_local_clusters,
    plot_local_clusters,
)

ROOM_FOR_ARROW = 60
"""Arrows are drawn where the axes have more square points than this for every sample."""
MOST_NAMED = 12
"""Local clusters that have a name in the plot in one dimension."""


def plot_pipeline(model: Any, X: Any, *, max_nodes: int | None = 20) -> Figure:
    """Draw the method in six steps: samples, intensity, local clusters, topo-graph, cut edges, clusters.

    If there are more than ``max_nodes`` local clusters, those that merge first are drawn as one.
    """
    found = clustering_of(model)
    layout = layout_samples(found, X)
    drawn = coarsen(found, max_nodes)
    nodes = layout.xy[drawn.peaks]
    fig = plt.figure(figsize=(10.5, 2 * (3.4 * layout.ratio + 0.35) + 0.35), layout="constrained")
    panels: list[Axes] = fig.subplots(2, 3).ravel().tolist()
    titles = (
        f"(a) {len(layout.xy):,} samples",
        "(b) intensity",
        f"(c) {describe_nodes(found, drawn)}",
        f"(d) topo-graph, {count_of(len(drawn.topo_graph.edges), 'edge')}",
        f"(e) {count_of(int((~drawn.edge_cut.kept).sum()), 'edge')} cut",
        f"(f) {count_of(found.n_clusters, 'cluster')}",
    )
    for ax, title in zip(panels, titles, strict=True):
        frame_panel(ax, layout, title)
    draw_points(panels[0], layout.xy, to_rgb(FAINT))
    draw_intensity(panels[1], found, layout, legend=False)
    draw_local_clusters(panels[2], drawn, layout, arrows=axes_area(panels[2]) > ROOM_FOR_ARROW * len(layout.xy))
    for ax, when in zip(panels[3:5], ("before", "after"), strict=True):
        draw_points(ax, layout.xy, background_on(ax), zorder=0)
        draw_graph(ax, drawn, nodes, when=when)
    draw_clusters(panels[5], found, layout, found.labels)
    entries = [
        marker_entry("peak of a local cluster", FAINT, "^", 7),
        marker_entry("local cluster: area = samples", FAINT, size=9),
        line_entry("edge: width = strength", FAINT, linewidth=2.5),
        line_entry("cut", ink_on(panels[0]), linewidth=1.2, linestyle=DASHED),
    ]
    _explain_panels(fig, entries)
    return fig


def _explain_panels(fig: Figure, entries: list[Line2D]) -> None:
    """Add a legend below all panels, with that of the intensity first."""
    low, high = colormaps[INTENSITY_MAP]([0.1, 0.95])
    entries = [marker_entry("low", low), marker_entry("high intensity", high), *entries]
    fig.legend(
        handles=entries, loc="outside lower center", ncols=len(entries), frameon=False, fontsize="small",
        handletextpad=0.5, columnspacing=1.6,
    )  # fmt: skip


def plot_growth(model: Any, X: Any, *, thresholds: ArrayLike = (0.6, 0.5, 0.4, 0.0)) -> Figure:
    """Draw how local clusters grow while the intensity threshold falls: the samples above it, in their colours."""
    found = clustering_of(model)
    layout = layout_samples(found, X)
    intensity, levels = np.exp(found.log_intensity), np.asarray(thresholds)
    n_columns = len(levels) + 1
    fig = plt.figure(figsize=(2.7 * n_columns, 2.6 * layout.ratio + 0.95), layout="constrained")
    grid: list[Axes] = fig.subplots(1, n_columns).tolist()
    frame_panel(grid[0], layout, "intensity")
    draw_intensity(grid[0], found, layout, legend=False)
    colours = local_colours(found.topo_graph)
    for ax, level in zip(grid[1:], levels.tolist(), strict=True):
        born = intensity >= level
        there = count_of(int(born[found.peaks].sum()), "local cluster")
        title = f"$\\lambda$ = {level:.3g}\n{born.mean():.0%} of samples, {there}"
        frame_panel(ax, layout, title, fontsize="small")
        draw_points(ax, layout.xy, background_on(ax), zorder=0)
        if born.any():
            own = colours[found.local_labels[born]]
            draw_points(ax, layout.xy[born], own, n_total=len(born), floor=0.6, zorder=2)
    born_entry = marker_entry(r"above $\lambda$: in the colour of its local cluster", colours[0])
    _explain_panels(fig, [born_entry, marker_entry(r"below $\lambda$", background_on(grid[0]))])
    return fig


def plot_motivation(model: Any, X: Any) -> Figure:
    """Draw the idea on data of one feature: intensity and local clusters, the graph between them, what is cut.

    Local clusters are numbered from left to right, their peaks are the roots r of the paper; the two samples x are the
    nearest boundary pair of the strongest edge.
    """
    found = clustering_of(model)
    layout = layout_samples(found, X)
    fig = plt.figure(figsize=(7.0, 5.6), layout="constrained")
    curve, before, after = fig.subplots(3, 1, sharex=True, height_ratios=[3, 1.3, 1.3])
    x = layout.xy[:, 0]
    _draw_curve(curve, found, x)
    _mark_pair(curve, found, x, X)
    nodes = np.column_stack([x[found.peaks], np.zeros(len(found.peaks))])
    span = float(np.ptp(x)) or 1.0
    for ax, when in ((before, "before"), (after, "after")):
        ax.set(ylim=(-0.06 * span, 0.12 * span), yticks=[], xlim=(x.min() - 0.04 * span, x.max() + 0.04 * span))
        draw_graph(ax, found, nodes, when=when)
        for lines in (drawn for drawn in ax.collections if isinstance(drawn, LineCollection)):
            lines.set_segments([bend(*ends) for ends in lines.get_segments()])
        ax.spines[["left", "top", "right"]].set_visible(False)
        ax.tick_params(axis="x", labelbottom=ax is after)
    number = 1 + inverse_order(np.argsort(nodes[:, 0], kind="stable"))
    named = np.argsort(-found.topo_graph.sizes, kind="stable")[:MOST_NAMED]
    tops = np.column_stack([nodes[:, 0], np.exp(usual_values(found.log_intensity))[found.peaks]])
    draw_names(curve, tops[named], [f"$r_{{{number[i]}}}$" for i in named], size=11, beside=13)
    draw_names(before, nodes[named], [f"$v_{{{number[i]}}}$" for i in named], size=11, beside=18)
    first = [int(np.flatnonzero(found.edge_cut.labels == c)[0]) for c in range(min(found.n_clusters, MOST_NAMED))]
    draw_names(after, nodes[first], [str(c) for c in range(len(first))], size=10, weight="bold", beside=18)
    cut = count_of(int((~found.edge_cut.kept).sum()), "edge")
    titles = {
        curve: "(a) intensity, local clusters, their roots, a boundary pair",
        before: "(b) topo-graph",
        after: f"(c) {cut} cut, {count_of(found.n_clusters, 'cluster')}",
    }
    for ax, title in titles.items():
        ax.set_title(title, fontsize="medium", loc="left")
    after.set_xlabel(plain(layout.names[0]))
    return fig


def bend(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of an arc over a horizontal line, 0.12 times as high as the line is long."""
    t = np.linspace(0, 1, 25)[:, None]
    return start + (end - start) * t + [0, 4 * 0.12 * abs(end[0] - start[0])] * (t * (1 - t))


def plot_ascent(model: Any, X: Any) -> Axes:
    """Draw peaks and arrows uphill over lines of equal intensity, which is predicted on a grid."""
    found = clustering_of(model)
    ax = plot_local_clusters(found, X)
    low, high = X.min(axis=0), X.max(axis=0)
    sides = np.linspace(low - (high - low) / 4, high + (high - low) / 4, 160).T
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    samples = found.fitted.source.check_new(grid.reshape(-1, 2), check_array)
    height = predict_samples(found.fitted, samples).log_intensity.reshape(grid.shape[:2])
    levels = np.linspace(*np.quantile(usual_values(found.log_intensity), (0.05, 1)), 10)[:-1]
    limits = ax.get_xlim(), ax.get_ylim()
    ax.contour(*sides, height, levels=levels, colors=FAINT, linewidths=0.7, linestyles="solid", zorder=0)
    ax.set_xlim(*limits[0], auto=True)
    ax.set_ylim(*limits[1], auto=True)
    return ax


def _mark_pair(ax: Axes, found: Clustering, x: NDArray[np.float64], X: Any) -> None:
    """Draw the two samples of a boundary pair, if the graph has an edge."""
    graph = found.topo_graph
    if not graph.real.any():
        return
    edge = int(np.argmax(np.where(graph.real, graph.log_weights, -np.inf)))
    pairs = find_boundary_pairs(found, edge, X)
    if not len(pairs):
        return
    pair = pairs[0][np.argsort(x[pairs[0]])]
    height = np.exp(usual_values(found.log_intensity))[pair]
    ax.plot(x[pair], height, "o", markerfacecolor="white", color=ink_on(ax), markersize=5, zorder=5)
    for side, place, name in zip((-1, 1), np.column_stack([x[pair], height]), ("$x_1$", "$x_2$"), strict=True):
        ax.annotate(name, place, (side * 9, -12), textcoords="offset points", ha="center", color=ink_on(ax), zorder=5)


def _draw_curve(ax: Axes, found: Clustering, x: NDArray[np.float64]) -> None:
    """The intensity over the line, filled in the colours of the local clusters, valleys marked, samples below."""
    intensity = np.exp(usual_values(found.log_intensity))
    order = np.argsort(x, kind="stable")
    sorted_x, height, local = x[order], intensity[order], found.local_labels[order]
    ax.plot(sorted_x, height, color=ink_on(ax), linewidth=1.0, zorder=3)
    ends = np.flatnonzero(np.diff(local)) + 1
    colours = local_colours(found.topo_graph)
    for part in np.split(np.arange(len(x)), ends):
        ax.fill_between(
            sorted_x[part], 0, height[part], color=colours[local[part[0]]], alpha=0.55, linewidth=0, zorder=1
        )
    if len(ends) <= 3 * len(found.peaks):
        valleys = (sorted_x[ends - 1] + sorted_x[ends]) / 2
        ax.vlines(
            valleys, 0, np.minimum(height[ends - 1], height[ends]), color=FAINT, linewidth=0.8, linestyle=":", zorder=2
        )
    ax.scatter(x, np.full(len(x), -0.06 * height.max()), c=colours_of(found.labels), marker="|", s=40, linewidths=0.8)
    ax.scatter(x[found.peaks], intensity[found.peaks], color=ink_on(ax), s=18, zorder=4)
    ax.set(ylim=(-0.12 * height.max(), 1.15 * height.max()), ylabel="intensity")
    ax.spines[["top", "right"]].set_visible(False)


def frame_panel(ax: Axes, layout: SampleLayout, title: str, *, fontsize: str = "medium") -> None:
    """Set limits and aspect that suit the samples, a thin frame and no ticks."""
    take_map(ax, layout, title="")
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    ax.spines[:].set(color="#CCCCCC", visible=True)
    ax.set_title(title, fontsize=fontsize)
