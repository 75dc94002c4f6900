"""Plots of the hierarchy of local clusters: a dendrogram, and a condensed tree as users of hdbscan know it."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.plots._colours import FAINT, colours_of, ink_on, readable_on, unborn_on
from gitcluster.plots._labels import name_places
from gitcluster.plots._style import add_legend, check_model, line_entry, mark_level, marker_entry, take_axes

SMALLEST = 0.02
"""Share of the samples below which a part falls off a condensed tree, unless a chosen cluster is smaller."""
APART = 0.03
"""Share of the samples that is left free between two branches."""


def check_hierarchy(model: Any, ax: Axes | None) -> tuple[Clustering, Hierarchy]:
    """A clustering that has a hierarchy, and the hierarchy."""
    found = check_model(model, ax=ax)
    if found.hierarchy is None:
        raise ValueError(
            f"variant={found.variant.name!r} makes no hierarchy, only the default does. Fit GIT(variant='adaptive')."
        )
    return found, found.hierarchy


def plot_hierarchy(model: Any, X: Any = None, *, ax: Axes | None = None, max_leaves: int = 40) -> Axes:
    """Draw the dendrogram of the local clusters: chosen clusters in their colours, with their names, and the cut.

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
        return _say_nothing_merges(ax)
    tree = dendrogram(hierarchy.linkage, p=n_leaves, truncate_mode="lastp", no_plot=True)
    labels = _labels_of_merges(found, hierarchy)
    heights = hierarchy.linkage[:, 2]
    top = float(heights[-1])
    _draw_links(ax, labels[len(found.peaks) :], heights, tree)
    _name_branches(ax, labels[tree["leaves"]], tree)
    ax.set(xlim=(0, 10 * len(tree["leaves"])), ylim=(-0.02 * top, 1.05 * top))
    ax.set(xlabel="samples in every leaf", ylabel="weakness of the connection")
    _name_leaves(ax, labels[tree["leaves"]], _samples_in_merges(found, hierarchy)[tree["leaves"]])
    _draw_cut(ax, found, hierarchy)
    return ax


def _say_nothing_merges(ax: Axes) -> Axes:
    ax.text(0.5, 0.5, "one local cluster: nothing to merge", ha="center", va="center", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[])
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


def _name_branches(ax: Axes, labels: NDArray[np.int64], tree: dict[str, Any]) -> None:
    """The name of every chosen cluster above its branch, or above the largest of them where it has several."""
    places = {}
    for c in np.unique(labels[labels >= 0]).tolist():
        x = 5 + 10 * np.flatnonzero(labels == c)
        run = max(np.split(x, np.flatnonzero(np.diff(x) > 10) + 1), key=len)
        tops = [(y[1], (i[1] + i[2]) / 2) for i, y in zip(tree["icoord"], tree["dcoord"], strict=True)
                if run[0] <= i[0] and i[3] <= run[-1]]  # fmt: skip
        top, middle = max(tops, default=(0.0, float(run.mean())))
        places[c] = (middle, top)
    order = sorted(places, key=lambda c: -np.count_nonzero(labels == c))
    name_places(
        ax, [places[c] for c in order], [str(c) for c in order], size=10, weight="bold", beside=9,
        colours=colours_of(order),
    )  # fmt: skip


def _draw_cut(ax: Axes, found: Clustering, hierarchy: Hierarchy) -> None:
    """A line between the last merge that was made and the first that was not, if the clusters are such a cut."""
    n_clusters, heights = found.n_clusters, hierarchy.linkage[:, 2]
    if not np.array_equal(cut_hierarchy(hierarchy, found.topo_graph, n_clusters=n_clusters), found.edge_cut.labels):
        ax.set_title(f"{ax.get_title()}\n(the chosen clusters are no single cut of it)")
        return
    bounds = np.concatenate(([0.0], heights, [heights[-1] * 1.05]))
    level = bounds[len(heights) + 1 - n_clusters : len(heights) + 3 - n_clusters].mean()
    mark_level(ax, level, count_of(n_clusters, "cluster"), linewidth=1.2)


class Branch(NamedTuple):
    """A branch of a condensed tree, from its top down to where it splits or ends."""

    above: int
    """The branch that it is a part of; -1 for the whole."""
    steps: list[tuple[int, float, float]]
    """Node of the linkage, and the heights between which it is the whole branch."""


def plot_condensed_tree(model: Any, X: Any = None, *, ax: Axes | None = None, min_size: int | None = None) -> Axes:
    """Draw the hierarchy as a condensed tree: wide where there are many samples, long where a cluster lasts.

    Read it from the top: where a branch splits, both parts have at least ``min_size`` samples; smaller parts fall off,
    and the branch becomes narrower. The chosen clusters have their colours and names. ``model``, fitted with the
    default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    min_size : int, default=None
        Samples that a branch has at least; by default a fiftieth of all, or those of the smallest cluster if they are
        fewer.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_condensed_tree(GIT(4).fit(X), ax=Figure().subplots())
    """
    found, hierarchy = check_hierarchy(model, ax)
    samples = _samples_in_merges(found, hierarchy)
    smallest = found.edge_cut.sizes.min() * samples[-1] / found.edge_cut.sizes.sum()
    least = min(SMALLEST * samples[-1], smallest) if min_size is None else check_integer("min_size", min_size, low=1)
    ax = take_axes(ax, width=7.4, ratio=0.65, title="Condensed tree", ylabel="weakness of the connection")
    if not len(hierarchy.linkage):
        return _say_nothing_merges(ax)
    labels, top = _labels_of_merges(found, hierarchy), float(hierarchy.linkage[-1, 2])
    branches = condense(hierarchy, samples, least)
    room, middle = _arrange(branches, samples)
    names = _draw_branches(ax, branches, middle, samples, labels)
    bottom = min(branch.steps[-1][2] for branch in branches)
    ax.set(xlim=(0, room[0]), ylim=(bottom - 0.02 * (top - bottom), 1.08 * top), xticks=[])
    ax.set_xlabel(f"width: samples; parts below {max(1, round(least)):,} fall off")
    ax.spines["bottom"].set_visible(False)
    _draw_cut(ax, found, hierarchy)
    order = sorted(names, key=lambda c: -names[c][2])
    name_places(
        ax, [names[c][:2] for c in order], [str(c) for c in order], size=10, weight="bold", beside=9,
        colours=colours_of(order),
    )  # fmt: skip
    entries = [
        marker_entry("chosen cluster,\nin its colour", colours_of(0), "s", 9),
        marker_entry("several clusters", unborn_on(ax), "s", 9),
        line_entry("split", FAINT, linewidth=1.0),
    ]
    add_legend(ax, entries, low=True)
    return ax


def condense(hierarchy: Hierarchy, samples: NDArray[np.float64], least: float) -> list[Branch]:
    """The branches of the tree of merges, in which parts of fewer samples are none; the whole comes first."""
    m = len(hierarchy.linkage) + 1
    pairs, heights = hierarchy.linkage[:, :2].astype(int), hierarchy.linkage[:, 2]
    branches: list[Branch] = []
    waiting = [(-1, 2 * m - 2, float(heights[-1]) * 1.05)]
    while waiting:
        above, node, top = waiting.pop()
        branch = Branch(above, [])
        while True:
            bottom = float(heights[node - m]) if node >= m else 0.0
            branch.steps.append((node, top, bottom))
            large = [child for child in pairs[node - m].tolist() if samples[child] >= least] if node >= m else []
            if len(large) != 1:
                break
            node, top = large[0], bottom
        waiting += [(len(branches), child, bottom) for child in large]
        branches.append(branch)
    return branches


def _arrange(branches: list[Branch], samples: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Width that every branch and all below it need, and the middle of each; none lies over another."""
    gap = APART * samples[-1]
    below = np.full(len(branches), -gap)
    room, middle = np.zeros(len(branches)), np.zeros(len(branches))
    for i in range(len(branches) - 1, -1, -1):
        room[i] = max(samples[branches[i].steps[0][0]], below[i])
        if i:
            below[branches[i].above] += room[i] + gap
    middle[0] = room[0] / 2
    free = np.full(len(branches), np.nan)
    free[0] = middle[0] - below[0] / 2
    for i, branch in enumerate(branches[1:], 1):
        middle[i] = free[branch.above] + room[i] / 2
        free[branch.above] += room[i] + gap
        free[i] = middle[i] - below[i] / 2
    return room, middle


def _draw_branches(
    ax: Axes, branches: list[Branch], middle: NDArray[np.float64], samples: NDArray[np.float64], labels: NDArray[Any]
) -> dict[int, tuple[float, float, float]]:
    """Draw branches; where the chosen clusters begin, and how wide they are there."""
    names: dict[int, tuple[float, float, float]] = {}
    for branch, x in zip(branches, middle.tolist(), strict=True):
        for node, above, below in branch.steps:
            width, label = float(samples[node]), int(labels[node])
            colour = unborn_on(ax) if label < 0 else colours_of(label)
            ax.add_patch(Rectangle((x - width / 2, below), width, above - below, facecolor=colour, linewidth=0))
            if label >= 0 and width > names.get(label, (0.0, 0.0, 0.0))[2]:
                names[label] = (x, above, width)
        if branch.above >= 0:
            ax.hlines(branch.steps[0][1], x, middle[branch.above], color=FAINT, linewidth=1.0, zorder=0.9)
    return names
