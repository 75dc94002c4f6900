"""Plots of selections and their results: numbers of clusters, hierarchy, layers, profiles, flows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.cutting import Layer, find_layers
from gitcluster.fitted.profiles import MAX_COLUMNS, STRONG, Profile, heat_rows, profile
from gitcluster.hierarchy import cut_hierarchy, is_same_partition
from gitcluster.plots._drawing import (
    BACKGROUND,
    FAINT,
    HUES,
    INK,
    NOISE,
    add_colour_bar,
    add_legend,
    colours_of,
    draw_names,
    marker_entry,
    plain,
    readable,
    take_axes,
)

LAYER_AREA = 900.0
"""Area of a node with all samples in a plot of layers, in square points."""
MAX_CLUSTERS = 20
"""Clusters in the plot of a profile."""
FLOW_BAR, FLOW_GAP, FLOW_TEXT = 0.04, 0.02, 0.05
"""Width of the bars in a plot of a flow, gap between them, and height of a line of text, as shares of the axes."""
MIN_FLOW = 0.002
"""Smallest share of the rows that is drawn as a band."""


def plot_n_clusters(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the score of every number of clusters, the selected one and the next best in colour.

    The next best numbers differ from it, and from each other, by a factor of 1.5 or more. ``model``, fitted with
    ``n_clusters="auto"``, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.
    """
    clustering = clustering_of(model)
    if clustering.n_clusters_scores is None:
        raise ValueError("The model has no scores of numbers of clusters. Fit GIT(n_clusters='auto').")
    return draw_scores(clustering.n_clusters_scores, clustering.n_clusters, ax=ax)


def draw_scores(table: dict[str, NDArray[Any]], n_clusters: int, *, ax: Axes | None) -> Axes:
    """Draw a table of scores of numbers of clusters and mark the selected one."""
    numbers, rank, score = table["n_clusters"], table["rank"], table["score"]
    xlabel = f"number of clusters (up to {numbers.max()} were compared)"
    ax = take_axes(ax, title="Score by number of clusters", ylabel="score", xlabel=xlabel)
    next_best = (rank > 1) & (numbers != n_clusters)
    others = numbers[next_best][np.argsort(rank[next_best])].tolist()
    colour = np.where((numbers == n_clusters)[:, None], HUES[0], np.where(next_best[:, None], HUES[5], BACKGROUND))
    ax.bar(numbers, score, width=0.75, color=colour, zorder=2)
    # show the numbers with a visible score
    shown = max(10, n_clusters, *others, *numbers[score > 0.01 * score.max()].tolist())
    ax.set_xlim(0.4, min(int(numbers.max()), int(1.2 * shown)) + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(15, integer=True))
    entries = [marker_entry(f"selected: {n_clusters}", HUES[0], "s", 9)]
    if others:
        entries.append(marker_entry(f"next best: {', '.join(map(str, others))}", HUES[5], "s", 9))
    add_legend(ax, [*entries, marker_entry("others", BACKGROUND, "s", 9)])
    return ax


def plot_hierarchy(model: Any, X: Any = None, *, ax: Axes | None = None, max_leaves: int = 40) -> Axes:
    """Draw the dendrogram of the local clusters: final clusters in their colours, with their numbers, and the cut.

    The height of a merge is how much weaker the connection is than the strongest one. If the final clusters come from
    the sweep against a prior, they are not a cut of the hierarchy, and there is no line. ``model``, fitted with the
    default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    max_leaves : int, default=40
        Maximum number of leaves. Parts that merge below them are drawn as one leaf, with their number of samples.
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
    nodes, sizes = clustering.to_ids(clustering.edge_cut.labels).tolist(), clustering.topo_graph.sizes.tolist()
    for left, right in linkage[:, :2].astype(int).tolist():
        nodes.append(nodes[left] if nodes[left] == nodes[right] else -1)
        sizes.append(sizes[left] + sizes[right])
    titles, scale = clustering.titles, len(clustering.labels) / sizes[-1]  # weights are shown as numbers of samples
    upright = n_leaves > 14
    drawn = dendrogram(
        linkage, p=n_leaves, truncate_mode="lastp", ax=ax, leaf_rotation=90 if upright else 0,
        leaf_font_size=7 if upright else 9, leaf_label_func=lambda node: f"{sizes[node] * scale:,.0f}",
        link_color_func=lambda node: INK if nodes[node] < 0 else to_hex(tuple(colours_of(nodes[node]))),
    )  # fmt: skip
    for links in ax.collections:
        links.set_linewidth(1.3)
    tops: dict[str, tuple[float, float]] = {}  # the highest merge inside every final cluster
    for x, y, colour in zip(drawn["icoord"], drawn["dcoord"], drawn["color_list"], strict=True):
        if y[1] >= tops.get(colour, (0.0, 0.0))[1]:
            tops[colour] = (x[1] + x[2]) / 2, y[1]
    inside = [c for c in clustering.cluster_ids.tolist() if to_hex(tuple(colours_of(c))) in tops]
    positions = [tops[to_hex(tuple(colours_of(c)))] for c in inside]
    draw_names(ax, positions, [plain(titles[c]) for c in inside], colours_of(inside) if inside else None)
    top = float(heights[-1])
    ax.set(ylim=(-0.02 * top, 1.05 * top), xlabel="samples per leaf", ylabel="weakness of the connection")
    for tick, leaf in zip(ax.get_xticklabels(), drawn["leaves"], strict=True):
        tick.set_color(INK if nodes[leaf] < 0 else readable(colours_of(nodes[leaf])))
    cut = cut_hierarchy(hierarchy, clustering.topo_graph, n_clusters=n_clusters)
    if is_same_partition(cut, clustering.edge_cut.labels):
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
    """
    clustering = clustering_of(model)
    layers = find_layers(clustering, n_clusters)
    ax = take_axes(ax, width=8.4, ratio=0.16 * (len(layers) + 1), aside=1.6, title="Layers")
    centres = _arrange_layers(layers)
    grey = readable(BACKGROUND)
    for level, (layer, x) in enumerate(zip(layers, centres, strict=True)):
        share = layer.sizes / max(1, layer.sizes.sum())
        for c, parent in enumerate(layer.parents if level else ()):
            ends = (centres[level - 1][parent], x[c]), (1 - level, -level)
            ax.plot(*ends, color=BACKGROUND, linewidth=1 + 9 * share[c], solid_capstyle="round", zorder=1)
        homes = [np.unique(clustering.to_ids(clustering.labels)[layer.labels == c]) for c in range(layer.n_clusters)]
        colours: Any = [tuple(colours_of(home[0])) if len(home) == 1 and home[0] >= 0 else grey for home in homes]
        area = LAYER_AREA * share + 40
        ax.scatter(x, np.full(len(x), -level), s=area, c=colours, edgecolors="white", zorder=3)
        score = "" if np.isnan(layer.score) else f"\nscore {layer.score:.2f}"
        _mark_level(ax, -level, count_of(layer.n_clusters, "cluster") + score, linewidth=0.6)
        order = np.argsort(-layer.sizes, kind="stable")
        below = np.column_stack([x[order], np.full(len(x), -level - 0.3)])
        draw_names(ax, below, [f"{layer.names[c]}\n{layer.sizes[c]:,}" for c in order], size=7.5, weight="normal")
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


def plot_profile(model: Any, X: Any = None, *, ax: Axes | None = None, columns: int = MAX_COLUMNS) -> Axes:
    """Draw the differences of clusters from all other rows, column by column, with their means or shares.

    Blue is above and red below the other rows. A category is shown by the value that is most above its share elsewhere.
    ``model`` can also be the result of ``model.profile``; ``ax`` is as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_columns), default=None
        A table with the fitted rows and the columns to describe; by default the fitted features.
    columns : int, default=15
        Maximum number of columns, those with the largest differences first.
    """
    clusters = (model if isinstance(model, Profile) else profile(model, X, rules=False)).clusters[:MAX_CLUSTERS]
    rows = heat_rows(clusters, columns)
    width = 0.75 * max(4, len(clusters))
    ax = take_axes(
        ax, width=2.6 + width, ratio=0.12 + 0.42 * len(rows) / width, aside=2.0, title="How the clusters differ",
        xlabel="cluster",
    )  # fmt: skip
    mapped = ScalarMappable(Normalize(-STRONG, STRONG), "RdBu")
    effects = [[0.0 if cell is None else cell.effect for cell in row] for row in rows.values()]
    ax.imshow(mapped.to_rgba(np.reshape(effects, (len(rows), len(clusters)))), aspect="auto")
    for y, row in enumerate(rows.values()):
        for x, cell in enumerate(row):
            if cell is not None:
                value = "" if cell.value is None else plain(cell.value, 10) + "\n"
                ax.text(
                    x, y, value + cell.show(cell.inside), ha="center", va="center", fontsize=7 if value else 8,
                    color="white" if abs(cell.effect) > 0.6 * STRONG else "#1d2733",
                )  # fmt: skip
    ax.set_xticks(range(len(clusters)), [plain(c.title) for c in clusters])
    ax.set_yticks(range(len(rows)), [plain(name, 36) for name in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    add_colour_bar(ax, mapped, label="difference (standard deviations)", extend="both")
    return ax


def plot_flow(comparison: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the flow of rows between the clusters of two clusterings, before on the left and after on the right.

    Bands have the colours of the clusters before. Rows of one side only come from "new" and lead to "lost"; flows of
    fewer than one in 500 rows are not drawn. ``ax`` is as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    comparison : Comparison
        The result of :func:`gitcluster.compare`.
    """
    if not hasattr(comparison, "flow"):
        raise TypeError(f"comparison must be the result of gitcluster.compare, got {type(comparison).__name__}.")
    flow, match = comparison.flow, comparison.match
    if not comparison.n_common:  # no row has a cluster on both sides: draw matched clusters as bands
        flow = np.zeros_like(flow)
        for b, a in enumerate(match):
            flow[a if a >= 0 else -1, b] = comparison.sizes[1][b]
        lost = np.setdiff1d(np.arange(len(comparison.sizes[0])), match)
        flow[lost, -1] = comparison.sizes[0][lost]
    n_before, n_after = flow.shape[0] - 2, flow.shape[1] - 2
    numbers = [c if isinstance(c, int) else i for i, c in enumerate(comparison.ids[0])]
    tints = [*colours_of(numbers), NOISE, FAINT]
    fresh = iter(range(max(numbers) + 1, max(numbers) + 1 + n_after))
    after_tints = [tints[a] if a >= 0 else colours_of(next(fresh)) for a in match] + [NOISE, FAINT]
    # Clusters that continue others stand opposite to them, new ones beside those that most of their rows come from.
    origin = np.where(match >= 0, match, flow[:, :n_after].argmax(axis=0) + 0.5)
    orders = [*range(n_before + 2)], [*np.argsort(origin, kind="stable").tolist(), n_after, n_after + 1]
    names = ([*comparison.titles[0], "noise", "new"], [*comparison.titles[1], "noise", "lost"])
    total = max(int(flow.sum()), 1)
    ax = take_axes(ax, width=7.0, ratio=0.75, aside=0.0, title="Clusters before and after")
    ends: list[dict[int, float]] = [{}, {}]
    for side, x in enumerate((-FLOW_BAR, 1.0)):
        counts, top, last = flow.sum(axis=1 - side), 0.0, -1.0
        for c in orders[side]:
            if not counts[c]:
                continue
            height = counts[c] / total
            ends[side][c] = top
            ax.add_patch(Rectangle((x, top), FLOW_BAR, height, color=(tints, after_tints)[side][c], linewidth=0))
            last = max(top + height / 2, last + FLOW_TEXT)  # names of thin bars do not overlap
            text, at = f"{plain(names[side][c])} ({counts[c]:,})", (x - 0.015, x + FLOW_BAR + 0.015)[side]
            ax.text(at, last, text, ha=("right", "left")[side], va="center", fontsize="small")
            top += height + FLOW_GAP
    steps = np.linspace(0, 1, 40)
    curve = steps**2 * (3 - 2 * steps)  # from 0 to 1, level at both ends
    for a in ends[0]:
        for b in orders[1]:
            height = flow[a, b] / total
            if height >= MIN_FLOW:
                middle = ends[0][a] + (ends[1][b] - ends[0][a]) * curve
                ax.fill_between(steps, middle, middle + height, color=tints[a], alpha=0.45, linewidth=0)
            if height:
                ends[0][a] += height
                ends[1][b] += height
    lowest = max(*ends[0].values(), *ends[1].values(), *(text.get_position()[1] for text in ax.texts))
    ax.set(xlim=(-0.32, 1.36), ylim=(lowest + 0.03, -0.03), yticks=[])
    ax.set_xticks([-FLOW_BAR / 2, 1 + FLOW_BAR / 2], ["before", "after"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
