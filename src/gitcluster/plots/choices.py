"""Plots of what was chosen and why: the candidate, the representation of the features, the number of clusters."""

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gitcluster._support.validation import check_choice, check_integer
from gitcluster.fitted.places import usual_values
from gitcluster.hierarchy import Hierarchy
from gitcluster.kernels import unions
from gitcluster.plots._colours import FAINT, HUES, colours_of, ink_on, unborn_on
from gitcluster.plots._labels import name_places
from gitcluster.plots._style import add_legend, check_model, mark_level, marker_entry, take_axes
from gitcluster.plots.trees import check_hierarchy

REPRESENTATIONS = {
    "std": "divided by standard deviations",
    "given": "as given",
    "range": "divided by ranges",
    "power": "less skewed, by powers",
    "components": "principal components",
}
QUANTITIES = {
    "score": "Score by number of clusters",
    "agreement": "Agreement by number of clusters",
}


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


def plot_representations(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how the features were looked at: the best score of every representation, the chosen one in colour.

    The score is that of :func:`plot_selection`. A representation that was not tried has its reason in place of a bar.
    ``model``, fitted with the default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is
    ignored.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_representations(GIT(4).fit(X), ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    table = found.representations
    if table is None:
        raise ValueError("The model was told how to scale the features, or has none. Fit GIT(scale='auto').")
    names = [REPRESENTATIONS.get(name, name) for name in table["representation"].tolist()]
    tried, place = ~np.isnan(table["score"]), np.arange(len(names))
    ax = take_axes(
        ax, width=7.4, ratio=0.09 * len(names) + 0.06, aside=2.6, title="Score by feature scaling",
        xlabel="best score",
    )  # fmt: skip
    colour = np.where(table["chosen"][:, None], HUES[0], unborn_on(ax))
    ax.barh(place[tried], table["score"][tried], height=0.66, color=colour[tried], zorder=2)
    for i in place.tolist():
        reason = "\n".join(wrap(str(table["reason"][i]) or "not tried", 36))
        text = f" {table['score'][i]:.3f}" if tried[i] else reason
        x = table["score"][i] if tried[i] else 0.02
        ax.text(x, i, text, va="center", fontsize="small", color=ink_on(ax) if tried[i] else FAINT)
    ax.set_yticks(place, names)
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.14)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.get_yticklabels()[int(np.argmax(table["chosen"]))].set_fontweight("bold")
    return ax


def plot_n_clusters(model: Any, X: Any = None, *, ax: Axes | None = None, quantity: str = "score") -> Axes:
    """Draw how the number of clusters was chosen: the score of every number, the chosen one and the next in colour.

    The next are the best of the numbers that differ from it, and from each other, by a half or more.
    ``model``, fitted with ``n_clusters="auto"``, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is
    ignored.

    Parameters
    ----------
    quantity : {"score", "agreement"}, default="score"
        What to draw: the score that decides, or how well the views of the data agree on so many clusters.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_n_clusters(GIT().fit(X), ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    check_choice("quantity", quantity, tuple(QUANTITIES))
    table = found.n_clusters_scores
    if table is None:
        raise ValueError(
            "The model was told its number of clusters and has no scores of others. Fit GIT(n_clusters='auto')."
        )
    return draw_scores(table, found.n_clusters, ax=ax, quantity=quantity)


def draw_scores(table: dict[str, NDArray[Any]], n_clusters: int, *, ax: Axes | None, quantity: str = "score") -> Axes:
    """Draw a table of scores of numbers of clusters, of which one was chosen."""
    numbers, height, rank = table["n_clusters"], table[quantity], table["rank"]
    ax = take_axes(
        ax, title=QUANTITIES[quantity], ylabel=quantity,
        xlabel=f"number of clusters (up to {numbers.max()} were compared)",
    )  # fmt: skip
    chosen = numbers == n_clusters
    next_best = (rank > 1) & (table["confidence"] > 0) & ~chosen
    colour = np.where(chosen[:, None], HUES[0], np.where(next_best[:, None], HUES[5], unborn_on(ax)))
    ax.bar(numbers, height, width=0.75, color=colour, zorder=2)
    marked = [n_clusters, *numbers[next_best][np.argsort(rank[next_best])].tolist()]
    scored = numbers[table["score"] > 0.01 * table["score"].max()]
    last = min(int(numbers.max()), max(10, int(1.2 * max(*marked, scored.max(initial=1)))))
    step = max(1, last // 12)
    every = [n for n in range(step, last + 1, step) if all(abs(n - m) >= step for m in marked)]
    ax.set_xticks([*marked, *every])
    for tick in ax.get_xticklabels()[: len(marked)]:
        tick.set_fontweight("bold")
    ax.set_xlim(0.4, last + 0.6)
    entries = [marker_entry(f"chosen: {n_clusters}", HUES[0], "s", 9)]
    if len(marked) > 1:
        entries.append(marker_entry(f"or else {', '.join(map(str, marked[1:]))}", HUES[5], "s", 9))
    add_legend(ax, [*entries, marker_entry("others", unborn_on(ax), "s", 9)])
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
    name_places(
        ax, places[:n_labels], [str(c) for c in clusters[:n_labels]], size=9, weight="bold", beside=11,
        colours=colours_of(clusters[:n_labels]),
    )  # fmt: skip
    entries = [
        marker_entry("highest peak\nof a cluster", colours_of(0), size=8),
        marker_entry("other peak", FAINT, size=4),
    ]
    add_legend(ax, entries, low=True)
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
