"""Plots of what was selected and how reliable it is: numbers of clusters, memberships, profiles."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from gitcluster._support.validation import check_choice
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.profiles import MAX_COLUMNS, STRONG, Profile, heat_rows, profile
from gitcluster.plots._drawing import (
    FAINT,
    HUES,
    add_colour_bar,
    add_legend,
    background_on,
    colours_of,
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
MAX_CLUSTERS = 20
"""Clusters in the plot of a profile."""


def plot_n_clusters(model: Any, X: Any = None, *, ax: Axes | None = None, quantity: str = "score") -> Axes:
    """Draw the score of every number of clusters, the selected one and the next best in colour.

    The next best numbers differ from it, and from each other, by a factor of 1.5 or more. ``model``, fitted with
    ``n_clusters="auto"``, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    quantity : {"score", "agreement"}, default="score"
        The score that decides, or the agreement of the configurations on each number of clusters.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_n_clusters(GIT().fit(X), ax=Figure().subplots())
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
    next_best = (rank > 1) & (table["confidence"] > 0) & ~chosen
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


def plot_memberships(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the membership of every sample in its cluster: one bar each, sorted within clusters, as in silhouettes.

    A membership is 1 well inside a cluster and 0.5 at the boundary to another one, see ``model.probabilities_``. The
    mean of every cluster stands beside it; noise has no bars. ``model`` and ``ax`` are as in all plots, see
    :mod:`gitcluster.plots`; ``X`` is ignored.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_memberships(GIT(4).fit(X), ax=Figure().subplots()).get_xlabel()
    'membership'
    """
    clustering = clustering_of(model)
    share, labels = own_shares(clustering), np.asarray(clustering.labels)
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
    ax.set_yticks([middles[i] for i in named], [str(clusters[i]) for i in named])
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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_profile(GIT(4).fit(X), X, ax=Figure().subplots()).get_xlabel()
    'cluster'
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
    ax.set_xticks(range(len(clusters)), ["noise" if c.cluster < 0 else str(c.cluster) for c in clusters])
    ax.set_yticks(range(len(rows)), [plain(name, 36) for name in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    add_colour_bar(ax, mapped, label="difference (standard deviations)", extend="both")
    return ax
