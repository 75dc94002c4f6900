"""How firmly samples belong to their clusters, as users of silhouettes know it: a bar for every sample, sorted."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gitcluster.fitted.memberships import own_shares
from gitcluster.plots._colours import FAINT, colours_of, ink_on, readable_on
from gitcluster.plots._style import add_legend, check_model, line_entry, marker_entry, take_axes

APART = 0.015
"""Share of all samples that is left free between two clusters."""
TEXT = 15.0
"""Points between the names of two clusters."""
MOST_BARS = 400
"""Bars of a cluster; of more samples, the same share of all is drawn."""


def plot_memberships(model: Any, X: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw how firmly every sample belongs to its cluster: a bar each, cluster by cluster, the firmest on top.

    A membership is 1 well inside of a cluster and falls to a half at the boundary to another one, as
    ``model.probabilities_`` tells. Beside every cluster stands the mean of its samples; noise has no bars. ``model``
    and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is ignored.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_memberships(GIT(4).fit(X), ax=Figure().subplots()).get_xlabel()
    'membership of the samples in their clusters'
    """
    found = check_model(model, ax=ax)
    share, labels = own_shares(found), np.asarray(found.labels)
    inside, gap = labels >= 0, max(1.0, APART * len(labels))
    ax = take_axes(
        ax, title="Membership of samples in their clusters", xlabel="membership of the samples in their clusters",
        ylabel="cluster",
    )  # fmt: skip
    clusters, start, middles, texts = np.unique(labels[inside]).tolist(), 0.0, [], []
    for c in clusters:
        own = np.sort(share[labels == c])[::-1]
        edges = np.linspace(0, len(own), min(len(own), MOST_BARS) + 1)
        bars = own[np.minimum(((edges[:-1] + edges[1:]) / 2).astype(int), len(own) - 1)]
        ax.stairs(bars, start + edges, baseline=0.0, orientation="horizontal", fill=True, color=colours_of(c))
        middles.append(start + len(own) / 2)
        texts.append(f"{own.mean():.2f}")
        start += len(own) + gap
    mean = float(share[inside].mean())
    ax.axvline(mean, color=ink_on(ax), linewidth=1.2, linestyle=(0, (5, 3)))
    ax.set(xlim=(0.45, 1.02), ylim=(start, -gap))
    shown = _with_room(np.array(middles), TEXT * (start + gap) / (ax.get_window_extent().height * 72 / ax.figure.dpi))
    ax.set_yticks([middles[i] for i in shown], [str(clusters[i]) for i in shown])
    for tick, i in zip(ax.get_yticklabels(), shown, strict=True):
        tick.set(color=readable_on(ax, colours_of(clusters[i])), fontweight="bold")
        ax.annotate(
            texts[i], (1.02, middles[i]), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small",
            annotation_clip=False,
        )  # fmt: skip
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    entries = [
        marker_entry("a sample, in the\ncolour of its cluster", FAINT, "s", 8),
        line_entry(f"mean of all: {mean:.2f}", ink_on(ax), linewidth=1.2, linestyle=(0, (5, 3))),
    ]
    add_legend(ax, entries, right=1.09)
    return ax


def _with_room(middles: NDArray[np.float64], least: float) -> list[int]:
    """Which places, that ascend, have names: the first, and of the others those that are far enough from the last."""
    shown = [0]
    for i in range(1, len(middles)):
        if middles[i] - middles[shown[-1]] >= least:
            shown.append(i)
    return shown
