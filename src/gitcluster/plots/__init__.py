"""Pictures of a fitted model, with matplotlib: ``pip install 'gitcluster[plot]'``.

Every ``plot_x(model, X, ax=ax)`` returns the axes it drew on, the figures of several panels return the figure. Colours
are the same in all of them, and nothing global is touched.
"""

from gitcluster._support.optional import require

require("matplotlib", extra="plot", purpose="gitcluster.plots")

from gitcluster.plots.animation import animate_growth  # noqa: E402
from gitcluster.plots.choices import plot_decision, plot_hierarchy, plot_n_clusters, plot_selection  # noqa: E402
from gitcluster.plots.explanations import plot_explanation  # noqa: E402
from gitcluster.plots.graph import plot_topo_graph  # noqa: E402
from gitcluster.plots.prior import plot_proportions, plot_sweep  # noqa: E402
from gitcluster.plots.samples import plot_clusters, plot_intensity, plot_local_clusters  # noqa: E402
from gitcluster.plots.stages import plot_growth, plot_motivation, plot_pipeline  # noqa: E402

__all__ = [
    "animate_growth",
    "plot_clusters",
    "plot_decision",
    "plot_explanation",
    "plot_growth",
    "plot_hierarchy",
    "plot_intensity",
    "plot_local_clusters",
    "plot_motivation",
    "plot_n_clusters",
    "plot_pipeline",
    "plot_proportions",
    "plot_selection",
    "plot_sweep",
    "plot_topo_graph",
]
