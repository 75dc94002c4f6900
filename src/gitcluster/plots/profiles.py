"""What sets clusters apart, as a picture: columns by clusters, coloured by the difference."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.contrasts import compare_clusters
from gitcluster.fitted.profile_page import MOST_COLUMNS, STRONG, heat_rows
from gitcluster.plots._labels import plain
from gitcluster.plots._style import check_axes, take_axes

MOST_CLUSTERS = 20


def plot_profile(model: Any, X: Any = None, *, ax: Axes | None = None, columns: int = MOST_COLUMNS) -> Axes:
    """Draw the differences of clusters from all other rows, column by column, with their means or shares.

    Blue is more and red less than elsewhere. Of a category there is the value that the cluster has most above the
    others, with its share.
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
    rows = heat_rows(clusters, columns)
    ax = take_axes(
        ax, width=2.6 + 0.75 * max(4, len(clusters)), ratio=0.12 + 0.42 * len(rows) / (0.75 * max(4, len(clusters))),
        aside=2.0, title="How the clusters differ", xlabel="cluster",
    )  # fmt: skip
    effects = [[0.0 if cell is None else cell.effect for cell in row] for row in rows.values()]
    drawn = ax.imshow(
        np.reshape(effects, (len(rows), len(clusters))), cmap="RdBu", norm=Normalize(-STRONG, STRONG), aspect="auto"
    )
    for place, row in enumerate(rows.values()):
        for c, cell in enumerate(row):
            if cell is not None and not np.isnan(cell.inside):
                colour = "white" if abs(cell.effect) > 0.6 * STRONG else "#1d2733"
                value = "" if cell.value is None else plain(cell.value, 10) + "\n"
                text = f"{value}{cell.show(cell.inside)}"
                ax.text(c, place, text, ha="center", va="center", fontsize=8 if not value else 7, color=colour)
    ax.set_xticks(range(len(clusters)), ["noise" if c.cluster < 0 else str(c.cluster) for c in clusters])
    ax.set_yticks(range(len(rows)), [plain(name) for name in rows])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(drawn, ax=ax, label="difference (standard deviations)", fraction=0.045, pad=0.02,
                             extend="both")  # fmt: skip
    bar.outline.set_visible(False)
    return ax
