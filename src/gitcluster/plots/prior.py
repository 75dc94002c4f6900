"""Plots of clusters against the prior: their proportions, and the distance to it along the sweep."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.cutting import sweep_again
from gitcluster.plots._colours import FAINT, HUES, colours_of, ink_on
from gitcluster.plots._style import add_legend, check_model, line_entry, marker_entry, take_axes
from gitcluster.prior.proportions import equal_shares, proportion_distance, resolve_proportions


def find_prior(found: Clustering, proportions: ArrayLike | str | None) -> NDArray[np.float64] | None:
    """The prior that is given, else the fitted one; the published variants take equal shares. Largest first."""
    if proportions is not None:
        number = found.n_clusters if isinstance(proportions, str) else "auto"
        return resolve_proportions(number, proportions, n_samples=found.n_samples)[1]
    if found.prior is None and found.hierarchy is None:
        return equal_shares(found.n_wanted or found.n_clusters)
    return found.prior


def plot_proportions(
    model: Any, X: Any = None, *, ax: Axes | None = None, proportions: ArrayLike | str | None = None
) -> Axes:
    """Draw the shares of the clusters beside those expected, both from the largest to the smallest.

    ``model`` and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    proportions : array-like of shape (n_expected,) or "equal", default=None
        The shares to compare with; by default the prior of the fit, if it had one.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_proportions(GIT(4).fit(X), ax=Figure().subplots(), proportions="equal")
    """
    found = check_model(model, ax=ax)
    prior = find_prior(found, proportions)
    shares = found.proportions
    total = shares.sum()
    distance = "" if prior is None or total == 0 else f", $W_1$ = {proportion_distance(shares / total, prior):.4f}"
    title = f"Proportions of the clusters{distance}"
    ax = take_axes(ax, title=title, xlabel="cluster", ylabel="share of the samples")
    n_bars = max(len(shares), 0 if prior is None else len(prior))
    ax.bar(np.arange(len(shares)), shares, width=0.72, color=colours_of(np.arange(len(shares))), zorder=2)
    if prior is not None:
        middle = np.arange(len(prior))
        ax.hlines(prior, middle - 0.45, middle + 0.45, color=ink_on(ax), linewidth=2.2, zorder=3)
        add_legend(ax, [marker_entry("found", FAINT, "s", 9), line_entry("expected", ink_on(ax), linewidth=2.2)])
    if n_bars <= 12:
        for c, share in enumerate(shares.tolist()):
            expected = prior[c] if prior is not None and c < len(prior) else 0.0
            ax.annotate(
                f"{share:.1%}", (c, max(share, expected)), xytext=(0, 4), textcoords="offset points", ha="center",
                fontsize="small",
            )  # fmt: skip
    ax.set_xticks(np.arange(0, n_bars, max(1, n_bars // 12)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_xlim(-0.7, n_bars - 0.3)
    ax.margins(y=0.12)
    return ax


def plot_sweep(
    model: Any, X: Any = None, *, ax: Axes | None = None, proportions: ArrayLike | str | None = None
) -> Axes:
    """Draw the distance between the shares of the clusters and the prior as the sweep merges, edge after edge.

    The sweep of the paper goes through the edges from the strongest to the weakest. The first edge always merges, and
    later ones merge if the distance W1 does not grow. Leftover clusters then join the cluster they are connected to.
    ``model`` and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Parameters
    ----------
    proportions : array-like of shape (n_clusters,) or "equal", default=None
        The prior; by default that of the fit, or equal shares where it had none.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_sweep(GIT(4).fit(X), ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    prior = find_prior(found, proportions)
    given = "equal shares" if prior is None else f"{len(prior)} given shares"
    prior = equal_shares(found.n_clusters) if prior is None else prior
    cut = sweep_again(found, prior)
    ax = take_axes(ax, title=f"The sweep against {given}", xlabel="clusters left", ylabel="$W_1$ to the prior")
    left = len(found.peaks) - np.arange(len(cut.scores))
    ax.step(left, cut.scores, where="post", color=HUES[0], linewidth=1.6, zorder=2)
    ax.plot(left[-1], cut.scores[-1], "o", color=HUES[0], markersize=7, zorder=3)
    final = proportion_distance(cut.sizes / cut.sizes.sum(), prior)
    ax.plot(len(cut.sizes), final, "D", color=HUES[3], markersize=7, zorder=3)
    if len(left) > 1:
        ax.set_xscale("log")
    _tick_counts(ax, len(found.peaks), len(cut.sizes))
    ax.invert_xaxis()
    top = float(cut.scores.max()) or 1.0
    ax.set_ylim(-0.04 * top, 1.06 * top)
    entries = [
        line_entry("edges that merge,\nstrongest first", HUES[0]),
        marker_entry(f"end of the sweep:\n{left[-1]:,} clusters", HUES[0]),
        marker_entry(f"leftovers joined:\n{len(cut.sizes):,} clusters", HUES[3], "D"),
    ]
    add_legend(ax, entries)
    return ax


def _tick_counts(ax: Axes, first: int, last: int) -> None:
    """Round numbers between two counts, and both of them."""
    inside = [n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000) if 1.3 * last < n < first / 1.3]
    ticks = [last, *inside, first] if first > last else [last]
    ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
    ax.set_xticks([], minor=True)
