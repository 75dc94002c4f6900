"""Plots of what was chosen and why: the representation of the features, the number of clusters."""

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gitcluster._support.validation import check_choice
from gitcluster.plots._colours import FAINT, HUES, ink_on, unborn_on
from gitcluster.plots._style import add_legend, check_model, marker_entry, take_axes

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


def plot_representations(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how the features were looked at: the best score of every representation, the chosen one in colour.

    The score is how well its best candidate agrees with the others (mean adjusted Rand index) plus a little for how
    even its clusters are; with a prior, minus the share of samples that would have to move. A representation that was
    not tried has its reason in place of a bar.
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
