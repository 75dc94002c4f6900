"""Plots of what was chosen and why: the cut of the hierarchy, the number of neighbours and of clusters."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from gitcluster._jit import unions
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import usual_values
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.plots._colours import FAINT, HUES, colours_of, ink_on, readable_on, unborn_on
from gitcluster.plots._labels import name_places
from gitcluster.plots._style import add_legend, check_model, count_of, line_entry, mark_level, marker_entry, take_axes


def check_hierarchy(model: Any, ax: Axes | None) -> tuple[Clustering, Hierarchy]:
    """A clustering that has a hierarchy, and the hierarchy."""
    found = check_model(model, ax=ax)
    if found.hierarchy is None:
        raise ValueError(
            f"variant={found.recipe.name!r} makes no hierarchy, only the default does. Fit GIT(variant='adaptive')."
        )
    return found, found.hierarchy


def plot_hierarchy(model: Any, X: Any = None, *, ax: Axes | None = None, max_leaves: int = 40) -> Axes:
    """Draw the dendrogram of the local clusters, with the clusters chosen in their colours and the cut as a line.

    The height of a merge is how much weaker the connection is than the strongest one. There is no line where the
    chosen clusters come from the sweep against a prior and are no cut of the hierarchy. ``model``, fitted with the
    default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    max_leaves : int, default=40
        Number of leaves at most. What merges below them is drawn as one leaf, with its number of samples.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_hierarchy(GIT(4).fit(X), ax=Figure().subplots())
    """
    found, hierarchy = check_hierarchy(model, ax)
    n_leaves = min(check_integer("max_leaves", max_leaves, low=2), len(found.peaks))
    title = f"Hierarchy of {count_of(len(found.peaks), 'local cluster')}"
    ax = take_axes(ax, width=7.4, ratio=0.65, title=title)
    if not len(hierarchy.linkage):
        ax.text(0.5, 0.5, "one local cluster: nothing to merge", ha="center", va="center", transform=ax.transAxes)
        ax.set(xticks=[], yticks=[])
        return ax
    tree = dendrogram(hierarchy.linkage, p=n_leaves, truncate_mode="lastp", no_plot=True)
    labels = _labels_of_merges(found, hierarchy)
    heights = hierarchy.linkage[:, 2]
    top = float(heights[-1])
    _draw_links(ax, labels[len(found.peaks) :], heights, tree)
    ax.set(xlim=(0, 10 * len(tree["leaves"])), ylim=(-0.02 * top, 1.05 * top))
    ax.set(xlabel="samples in every leaf", ylabel="weakness of the connection")
    _name_leaves(ax, labels[tree["leaves"]], _samples_in_merges(found, hierarchy)[tree["leaves"]])
    if np.array_equal(cut_hierarchy(hierarchy, found.topo_graph, n_clusters=found.n_clusters), found.edge_cut.labels):
        _draw_cut(ax, heights, found.n_clusters)
    else:
        ax.set_title(f"{title}\n(the chosen clusters are no single cut of it)")
    return ax


def _draw_links(ax: Axes, labels: NDArray[np.int64], heights: NDArray[np.float64], tree: dict[str, Any]) -> None:
    """Links whose local clusters are all of one final cluster have its colour."""
    merge_at = {height: t for t, height in enumerate(heights.tolist())}
    for x, y in zip(tree["icoord"], tree["dcoord"], strict=True):
        which = labels[merge_at[y[1]]]
        colour = ink_on(ax) if which < 0 else tuple(colours_of(which))
        ax.plot(x, y, color=colour, linewidth=1.3, solid_joinstyle="miter")


def _labels_of_merges(found: Clustering, hierarchy: Hierarchy) -> NDArray[np.int64]:
    """(2 m - 1,) final cluster of every leaf and merge of the linkage, -1 where it holds several."""
    labels = found.edge_cut.labels.astype(np.int64).tolist()
    for left, right in hierarchy.linkage[:, :2].astype(int).tolist():
        labels.append(labels[left] if labels[left] == labels[right] else -1)
    return np.array(labels)


def _samples_in_merges(found: Clustering, hierarchy: Hierarchy) -> NDArray[np.float64]:
    """(2 m - 1,) number of samples in every leaf and merge of the linkage; weights are scaled to that number."""
    sizes = found.topo_graph.sizes.tolist()
    total = sum(sizes)
    for left, right in hierarchy.linkage[:, :2].astype(int).tolist():
        sizes.append(sizes[left] + sizes[right])
    return np.array([size * len(found.labels) / total for size in sizes])


def _name_leaves(ax: Axes, labels: NDArray[np.int64], samples: NDArray[np.float64]) -> None:
    """Number of samples in every leaf, below the tree, in the colour of its cluster."""
    upright = len(labels) > 14
    size = "x-small" if upright else "small"
    names = [f"{number:,.0f}" for number in samples]
    ax.set_xticks(5 + 10 * np.arange(len(labels)), names, rotation=90 if upright else 0, fontsize=size)
    ax.tick_params(axis="x", length=0)
    for tick, label in zip(ax.get_xticklabels(), labels, strict=True):
        tick.set_color(ink_on(ax) if label < 0 else readable_on(ax, colours_of(label)))


def _draw_cut(ax: Axes, heights: NDArray[np.float64], n_clusters: int) -> None:
    """A line between the last merge that was made and the first that was not."""
    bounds = np.concatenate(([0.0], heights, [heights[-1] * 1.05]))
    level = bounds[len(heights) + 1 - n_clusters : len(heights) + 3 - n_clusters].mean()
    mark_level(ax, level, count_of(n_clusters, "cluster"), linewidth=1.2)


def plot_selection(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how the clustering was chosen: the score of every candidate, the chosen one marked.

    The score is how well a candidate agrees with the others (mean adjusted Rand index) plus a little for how much it
    says, and with a prior minus the share of samples that would have to move. Lines are of the chosen representation
    of the features, grey dots of the others.
    ``model``, fitted with the default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is
    ignored.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_selection(GIT(4).fit(X), ax=Figure().subplots())
    """
    found, _ = check_hierarchy(model, ax)
    table: Any = found.selection
    has_prior = np.isfinite(table["proportion_distance"]).any()
    score_name = "score" if has_prior else "agreement and evenness"
    ax = take_axes(ax, title="Choice among candidates", xlabel="number of neighbours", ylabel=score_name)
    best = int(np.flatnonzero(table["chosen"])[0])
    chosen = table["n_neighbors"][best]
    own = table["representation"] == table["representation"][best]
    if not own.all():
        style: dict[str, Any] = {"linestyle": "", "marker": ".", "color": unborn_on(ax), "label": "other views"}
        ax.plot(table["n_neighbors"][~own], table["score"][~own], **style)
    for number, merge in enumerate(dict.fromkeys(table["merge"][own].tolist())):
        rows = np.flatnonzero(own & (table["merge"] == merge))
        rows = rows[np.argsort(table["n_neighbors"][rows], kind="stable")]
        style = {"color": HUES[number], "marker": "os^DvP"[number], "markersize": 9 - number, "label": merge}
        ax.plot(table["n_neighbors"][rows], table["score"][rows], **style)
    ax.plot(
        chosen, table["score"][best], linestyle="", marker="o", markersize=13, markerfacecolor="none",
        markeredgecolor=ink_on(ax), markeredgewidth=1.5, zorder=5, label=f"chosen: {chosen} neighbours",
    )  # fmt: skip
    sizes = np.unique(table["n_neighbors"])
    ax.set_xticks(sizes, [str(k) for k in sizes])
    ax.margins(x=0.06)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low - 0.03, 0.75), max(high + 0.03, 1.23))  # a difference in the third digit must look small
    ax.grid(axis="y", color="#EEEEEE", zorder=0)
    add_legend(ax, ax.get_legend_handles_labels()[0])
    return ax


def plot_n_clusters(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how the number of clusters was chosen: the score of every number, the chosen one in colour.

    ``model``, fitted with ``n_clusters="auto"``, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is
    ignored.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_n_clusters(GIT().fit(X), ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    table = found.n_clusters_scores
    if table is None:
        raise ValueError(
            "The model was told its number of clusters and has no scores of others. Fit GIT(n_clusters='auto')."
        )
    return draw_scores(table, found.n_clusters, ax=ax)


def draw_scores(table: dict[str, NDArray[Any]], n_clusters: int, *, ax: Axes | None) -> Axes:
    """Draw a table of scores of numbers of clusters, of which one was chosen."""
    ax = take_axes(ax, title="Choice of the number of clusters", xlabel="number of clusters", ylabel="score")
    numbers, score = table["n_clusters"], table["score"]
    chosen = numbers == n_clusters
    ax.bar(numbers, score, width=0.75, color=np.where(chosen[:, None], HUES[0], unborn_on(ax)), zorder=2)
    dot = 3.0 if len(numbers) < 30 else 1.5
    ax.plot(numbers, table["agreement"], color=HUES[3], linewidth=1.2, marker="o", markersize=dot, zorder=3)
    ax.axhline(0, color=ink_on(ax), linewidth=0.8)
    step = max(1, -(-len(numbers) // 15))
    every = [n for n in numbers[step - 1 :: step].tolist() if abs(n - n_clusters) >= step]
    ax.set_xticks([*every, n_clusters] if n_clusters <= step else [1, *every, n_clusters])
    entries = [
        marker_entry(f"chosen: {n_clusters}", HUES[0], "s", 9),
        marker_entry("score", unborn_on(ax), "s", 9),
        line_entry("agreement\nof the views", HUES[3], marker="o", markersize=3),
    ]
    add_legend(ax, entries)
    return ax


def plot_decision(model: Any, X: Any = None, *, ax: Axes | None = None, n_labels: int = 25) -> Axes:
    """Draw every local cluster by the intensity of its peak and its persistence; those that stand out are clusters.

    The persistence of a peak is how weak the connection is (minus its logarithm) along which its cluster joins one
    with a higher peak. Peaks that join none, or only across a bridge, lie above the line at the top. The highest
    peaks of the chosen clusters have their colours and numbers. ``model``, fitted with the default variant, and ``ax``
    are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    n_labels : int, default=25
        How many clusters are numbered, at most, as far as there is room.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_decision(GIT(4).fit(X), ax=Figure().subplots())
    """
    found, hierarchy = check_hierarchy(model, ax)
    check_integer("n_labels", n_labels, low=0)
    persistence = peak_persistence(hierarchy, found.topo_graph.edges)
    intensity = usual_values(found.log_intensity)[found.peaks]
    endless = ~np.isfinite(persistence)
    finite = persistence[~endless] if not endless.all() else np.zeros(1)
    span = float(np.ptp(finite)) or 1.0
    line = float(finite.max()) + 0.08 * span
    height = np.where(endless, line + 0.13 * span, persistence)
    clusters, chosen = np.unique(found.edge_cut.labels, return_index=True)
    others = np.setdiff1d(np.arange(len(intensity)), chosen)
    title = f"{len(clusters)} of {len(intensity):,} peaks stand for clusters"
    ax = take_axes(ax, title=title, xlabel="log intensity of the peak", ylabel="persistence")
    ax.scatter(intensity[others], height[others], s=16, color=FAINT, alpha=0.6, linewidths=0, zorder=2)
    ax.scatter(
        intensity[chosen], height[chosen], s=60, c=colours_of(clusters), edgecolors=ax.get_facecolor(), linewidths=0.8,
        zorder=3,
    )  # fmt: skip
    mark_level(ax, line, "above: joins no\nhigher peak, or only\nacross a bridge", linewidth=1.0)
    ax.set_ylim(finite.min() - 0.08 * span, line + 0.27 * span)
    ax.margins(x=0.08)
    places = np.column_stack([intensity, height])[chosen]
    name_places(ax, places[:n_labels], [str(c) for c in clusters[:n_labels]], size=9, weight="bold", beside=11)
    return ax


def peak_persistence(hierarchy: Hierarchy, edges: NDArray[Any]) -> NDArray[np.float64]:
    """(m,) minus the log strength of the merge at which a local cluster joins one with a higher peak; inf for none."""
    m = len(hierarchy.edges) + 1
    persistence = np.full(m, np.inf)
    root, highest = np.arange(m), np.arange(m)
    for edge, strength in zip(hierarchy.edges.tolist(), hierarchy.log_strength.tolist(), strict=True):
        i, j = (unions.find(root, end) for end in edges[edge].tolist())
        winner, loser = sorted((highest[i], highest[j]))  # lower numbers are higher peaks
        persistence[loser] = -strength
        highest[unions.union(root, i, j)] = winner
    return persistence
