"""What sets clusters apart, as a picture: columns by clusters, coloured by the difference."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.contrasts import Contrast, compare_clusters
from gitcluster.fitted.traits import SMALL
from gitcluster.plots._labels import plain
from gitcluster.plots._style import check_axes, take_axes

FULL = 2.0
"""Standard deviations of the strongest colours."""
MOST_COLUMNS = 15
MOST_CLUSTERS = 20


def plot_profile(model: Any, X: Any = None, *, ax: Axes | None = None, columns: int = MOST_COLUMNS) -> Axes:
    """Draw the differences of clusters from all other rows, column by column, with their means or shares.

    ``model`` may also be what ``model.profile`` returned; ``ax`` is as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    X : data frame or array-like of shape (n_samples, n_columns), default=None
        A table with the fitted rows, with the columns to tell of; by default the fitted features.
    columns : int, default=15
        How many columns are shown: those with the largest differences.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_profile(GIT(4).fit(X), X, ax=Figure().subplots()).get_xlabel()
    'cluster'
    """
    check_axes(ax)
    told = getattr(model, "clusters", None) or compare_clusters(clustering_of(model), X, rules=False)
    clusters = told[:MOST_CLUSTERS]
    cells = {
        (contrast.title, place): contrast for place, cluster in enumerate(clusters) for contrast in cluster.contrasts
    }
    titles = _strongest(cells, columns)
    ax = take_axes(
        ax, width=2.6 + 0.75 * max(4, len(clusters)), ratio=0.12 + 0.42 * len(titles) / (0.75 * max(4, len(clusters))),
        aside=2.0, title="What sets clusters apart", xlabel="cluster",
    )  # fmt: skip
    effects = np.array(
        [[_effect(cells.get((title, place))) for place in range(len(clusters))] for title in titles]
    ).reshape(len(titles), len(clusters))
    drawn = ax.imshow(effects, cmap="RdBu", norm=Normalize(-FULL, FULL), aspect="auto")
    for row, title in enumerate(titles):
        for place in range(len(clusters)):
            contrast = cells.get((title, place))
            if contrast is not None and not np.isnan(contrast.inside):
                colour = "white" if abs(contrast.effect) > 0.6 * FULL else "#1d2733"
                ax.text(place, row, contrast.show(contrast.inside), ha="center", va="center", fontsize=8, color=colour)
    ax.set_xticks(range(len(clusters)), ["noise" if c.cluster < 0 else str(c.cluster) for c in clusters])
    ax.set_yticks(range(len(titles)), [plain(title) for title in titles])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(drawn, ax=ax, label="difference (standard deviations)", fraction=0.045, pad=0.02,
                             extend="both")  # fmt: skip
    bar.outline.set_visible(False)
    return ax


def _strongest(cells: dict[tuple[str, int], Contrast], most: int) -> list[str]:
    """Titles of the rows of the picture, the largest difference first."""
    best: dict[str, float] = {}
    for (title, _), contrast in cells.items():
        best[title] = max(best.get(title, 0.0), abs(contrast.effect))
    ordered = sorted(best, key=lambda title: -best[title])[:most]
    return [title for place, title in enumerate(ordered) if place < 2 or best[title] >= SMALL]


def _effect(contrast: Contrast | None) -> float:
    return 0.0 if contrast is None else contrast.effect
