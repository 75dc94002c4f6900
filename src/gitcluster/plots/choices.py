"""Plots of selections and their reliability: numbers of clusters, hierarchy, layers, memberships, profiles, flows."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_choice, check_integer
from gitcluster.comparison import Comparison
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.cutting import Layer, find_layers
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.profiles import MAX_COLUMNS, STRONG, Profile, heat_rows, profile
from gitcluster.hierarchy import cut_hierarchy, is_same_partition
from gitcluster.plots._drawing import (
    FAINT,
    HUES,
    NOISE,
    add_colour_bar,
    add_legend,
    background_on,
    colours_of,
    draw_names,
    ink_on,
    line_entry,
    marker_entry,
    plain,
    readable_on,
    take_axes,
)

QUANTITIES = {"score": "Score by number of clusters", "agreement": "Agreement by number of clusters"}
CLUSTER_GAP = 0.015
"""Share of all samples that is left free between the bars of two clusters."""
TEXT_HEIGHT = 15.0
"""Points between the numbers of two clusters."""
MAX_BARS = 400
"""Bars of a cluster; of more samples, evenly spaced ones are drawn."""
LAYER_AREA = 900.0
"""Area of a node with all samples in a plot of layers, in square points."""
MAX_CLUSTERS = 20
"""Clusters in the plot of a profile."""
FLOW_BAR, FLOW_GAP, FLOW_TEXT = 0.04, 0.02, 0.045
"""Width of the bars in a plot of a flow, gap between them, and height of a line of text."""
MIN_FLOW = 0.002
"""Smallest share of the rows that is drawn as a band."""


def plot_n_clusters(model: Any, X: Any = None, *, ax: Axes | None = None, quantity: str = "score") -> Axes:
    """Draw the score of every number of clusters, the selected one and the next best in colour.

    The next best numbers differ from it, and from each other, by a factor of 1.5 or more. ``model``, fitted with
    ``n_clusters="auto"``, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    quantity : {"score", "agreement"}, default="score"
        The score that decides, or the agreement of the configurations on each number of clusters.
    """
    clustering = clustering_of(model)
    check_choice("quantity", quantity, tuple(QUANTITIES))
    if clustering.n_clusters_scores is None:
        raise ValueError("The model has no scores of numbers of clusters. Fit GIT(n_clusters='auto').")
    return draw_scores(clustering.n_clusters_scores, clustering.n_clusters, ax=ax, quantity=quantity)


def draw_scores(table: dict[str, NDArray[Any]], n_clusters: int, *, ax: Axes | None, quantity: str = "score") -> Axes:
    """Draw a table of scores of numbers of clusters and mark the selected one."""
    numbers, rank = table["n_clusters"], table["rank"]
    xlabel = f"number of clusters (up to {numbers.max()} were compared)"
    ax = take_axes(ax, title=QUANTITIES[quantity], ylabel=quantity, xlabel=xlabel)
    chosen = numbers == n_clusters
    next_best = (rank > 1) & ~chosen
    colour = np.where(chosen[:, None], HUES[0], np.where(next_best[:, None], HUES[5], background_on(ax)))
    ax.bar(numbers, table[quantity], width=0.75, color=colour, zorder=2)
    # show the numbers with a visible score
    marked = [n_clusters, *numbers[next_best][np.argsort(rank[next_best])].tolist()]
    scored = numbers[table["score"] > 0.01 * table["score"].max()]
    last = min(int(numbers.max()), max(10, int(1.2 * max(*marked, scored.max(initial=1)))))
    ax.set_xlim(0.4, last + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(15, integer=True))
    entries = [marker_entry(f"selected: {n_clusters}", HUES[0], "s", 9)]
    if len(marked) > 1:
        entries.append(marker_entry(f"next best: {', '.join(map(str, marked[1:]))}", HUES[5], "s", 9))
    add_legend(ax, [*entries, marker_entry("others", background_on(ax), "s", 9)])
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
        ax, [tops[c] for c in order], [plain(titles[c]) for c in order], size=10, weight="bold", beside=12,
        colours=colours_of(order),
    )  # fmt: skip
    top = float(heights[-1])
    ax.set(ylim=(-0.02 * top, 1.05 * top), xlabel="samples per leaf", ylabel="weakness of the connection")
    for tick, label in zip(ax.get_xticklabels(), leaves, strict=True):
        tick.set_color(ink if label < 0 else readable_on(ax, colours_of(label)))
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
    grey = readable_on(ax, background_on(ax))
    for level, (layer, x) in enumerate(zip(layers, centres, strict=True)):
        share = layer.sizes / max(1, layer.sizes.sum())
        for c, parent in enumerate(layer.parents if level else ()):
            ends = (centres[level - 1][parent], x[c]), (1 - level, -level)
            ax.plot(*ends, color=background_on(ax), linewidth=1 + 9 * share[c], solid_capstyle="round", zorder=1)
        homes = [np.unique(clustering.to_ids(clustering.labels)[layer.labels == c]) for c in range(layer.n_clusters)]
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


def plot_memberships(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the membership of every sample in its cluster: one bar each, sorted within clusters, as in silhouettes.

    A membership is 1 well inside a cluster and 0.5 at the boundary to another one, see ``model.probabilities_``. The
    mean of every cluster stands beside it; noise has no bars. ``model`` and ``ax`` are as in all plots, see
    :mod:`gitcluster.plots`; ``X`` is ignored.
    """
    clustering = clustering_of(model)
    share, labels, titles = own_shares(clustering), clustering.to_ids(clustering.labels), clustering.titles
    gap, mean = max(1.0, CLUSTER_GAP * len(labels)), float(share[labels >= 0].mean())
    ax = take_axes(ax, title="Membership of samples in their clusters", xlabel="membership", ylabel="cluster")
    clusters, start, middles, means = np.unique(labels[labels >= 0]).tolist(), 0.0, [], []
    for c in clusters:
        own = np.sort(share[labels == c])[::-1]
        edges = np.linspace(0, len(own), min(len(own), MAX_BARS) + 1)
        bars = own[np.minimum(((edges[:-1] + edges[1:]) / 2).astype(int), len(own) - 1)]
        ax.stairs(bars, start + edges, baseline=0.0, orientation="horizontal", fill=True, color=colours_of(c))
        middles.append(start + len(own) / 2)
        means.append(own.mean())
        start += len(own) + gap
    ax.axvline(mean, color=ink_on(ax), linewidth=1.2, linestyle=(0, (5, 3)))
    ax.set(xlim=(0.45, 1.02), ylim=(start, -gap))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    # number the first cluster, and every next one that is far enough from the number above
    height = TEXT_HEIGHT * (start + gap) / (ax.get_window_extent().height * 72 / ax.figure.dpi)
    named: list[int] = []
    for i, middle in enumerate(middles):
        if not named or middle - middles[named[-1]] >= height:
            named.append(i)
    ax.set_yticks([middles[i] for i in named], [plain(titles[clusters[i]]) for i in named])
    for tick, i in zip(ax.get_yticklabels(), named, strict=True):
        tick.set(color=readable_on(ax, colours_of(clusters[i])), fontweight="bold")
        ax.annotate(
            f"{means[i]:.2f}", (1.02, middles[i]), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize="small", annotation_clip=False,
        )  # fmt: skip
    entries = [
        marker_entry("a sample, in the\ncolour of its cluster", FAINT, "s", 8),
        line_entry(f"mean of all: {mean:.2f}", ink_on(ax), linewidth=1.2, linestyle=(0, (5, 3))),
    ]
    add_legend(ax, entries, right=1.09)
    return ax


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
            if cell is not None and not np.isnan(cell.inside):
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


def plot_flow(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the flow of rows between the clusters of two clusterings, before on the left and after on the right.

    Bands have the colours of the clusters before. Rows of one side only come from "new" and lead to "lost"; flows of
    fewer than one in 500 rows are not drawn. ``ax`` is as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    comparison : Comparison
        The result of :func:`gitcluster.compare`.
    """
    if not isinstance(comparison, Comparison):
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
    total, gap = max(int(flow.sum()), 1), FLOW_GAP
    ends: list[dict[int, float]] = []
    names = ([*comparison.titles[0], "noise", "new"], [*comparison.titles[1], "noise", "lost"])
    ax = take_axes(ax, width=7.0, ratio=0.75, aside=0.0, title="Clusters before and after")
    texts: list[tuple[float, float, str, str]] = []
    for side, order in enumerate(orders):
        top, starts = 0.0, dict[int, float]()
        sizes = flow.sum(axis=1 - side) / total
        for c in order:
            if sizes[c] <= 0:
                continue
            starts[c] = top
            x = -FLOW_BAR if side == 0 else 1.0
            ax.add_patch(Rectangle((x, top), FLOW_BAR, sizes[c], color=(tints, after_tints)[side][c], linewidth=0))
            count = f"{int(flow.sum(axis=1 - side)[c]):,}"
            texts.append((x, top + sizes[c] / 2, f"{plain(names[side][c])} ({count})", ("right", "left")[side]))
            top += sizes[c] + gap
        ends.append(starts)
    reached = [dict(starts) for starts in ends]
    for a in orders[0]:
        for b in orders[1]:
            height = flow[a, b] / total
            if height <= 0:
                continue
            y, z = reached[0][a], reached[1][b]
            reached[0][a] += height
            reached[1][b] += height
            if height >= MIN_FLOW:
                ax.add_patch(_band(y, z, height, tints[a]))
    lowest = max(max(start + flow.sum(axis=1 - side)[c] / total for c, start in ends[side].items()) for side in (0, 1))
    last = [-1.0, -1.0]
    for x, y, text, align in sorted(texts, key=lambda entry: entry[1]):
        side = 0 if align == "right" else 1
        y = max(y, last[side] + FLOW_TEXT * lowest)  # names of thin bars do not overlap
        last[side] = y
        ax.text(x - 0.015 if side == 0 else x + FLOW_BAR + 0.015, y, text, ha=align, va="center", fontsize="small")
    ax.set(xlim=(-0.32, 1.36), ylim=(max(lowest, *last) + 0.03, -0.03), yticks=[])
    ax.set_xticks([-FLOW_BAR / 2, 1 + FLOW_BAR / 2], ["before", "after"])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _band(left: float, right: float, height: float, colour: Any) -> PathPatch:
    """Return a band of a height from one side to the other, as two curves."""
    kinds = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    points = [
        (0, left), (0.5, left), (0.5, right), (1, right),
        (1, right + height), (0.5, right + height), (0.5, left + height), (0, left + height), (0, left),
    ]  # fmt: skip
    return PathPatch(Path(points, kinds), facecolor=colour, alpha=0.45, linewidth=0)
