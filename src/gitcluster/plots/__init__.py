"""Plots of a fitted model, with matplotlib: ``pip install 'gitcluster[plot]'``.

Every ``plot_x(model, X, ax=ax)`` returns the axes on which it drew. Colours are the same in all plots, and nothing
global in matplotlib is changed. These parameters are the same in all functions:

``model`` : GIT or Clustering
    A fitted model.
``X`` : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
    The fitted samples; by default as the model scaled them. More than two features are drawn along their two
    principal components. Plots that show no samples ignore it.
``ax`` : Axes, default=None
    Axes to draw on; by default those of a new figure.
``embedding`` : array-like of shape (n_samples, 2), default=None
    Coordinates of the samples to use instead.
``legend`` : bool, default=None
    Whether to add a legend or a colour bar; by default in new figures only.

Examples
--------
>>> from matplotlib.figure import Figure
>>> from gitcluster import GIT, datasets
>>> X, _ = datasets.make_smile(200, random_state=0)
>>> model = GIT(4).fit(X)
>>> plot_clusters(model, X, ax=Figure().subplots()).get_title()
'4 clusters'
>>> plot_clusters(model, X, color="intensity", ax=Figure().subplots()).get_title()
'log intensity'
"""

from gitcluster._support.optional import require

require("matplotlib", extra="plot", purpose="gitcluster.plots")

from gitcluster.plots.choices import (  # noqa: E402
    plot_flow,
    plot_hierarchy,
    plot_layers,
    plot_n_clusters,
    plot_profile,
)
from gitcluster.plots.samples import plot_clusters, plot_topo_graph  # noqa: E402

__all__ = [
    "plot_clusters",
    "plot_flow",
    "plot_hierarchy",
    "plot_layers",
    "plot_n_clusters",
    "plot_profile",
    "plot_topo_graph",
]
