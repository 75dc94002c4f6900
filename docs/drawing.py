"""The pictures of the documentation, drawn with the public stages by every build.

One sample set for all of them, two moons of 150 and 100 samples. Colours are safe for colour-blind readers,
backgrounds clear and lines grey, so that a picture suits light and dark pages alike.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from scipy.cluster.hierarchy import dendrogram
from sklearn.datasets import make_moons

from gitcluster import (
    GIT,
    bridge_components,
    build_topo_graph,
    cut_edges,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    scale_features,
)

HUES = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
GREY = "#7D7D7D"
CROWDED = LinearSegmentedColormap.from_list("crowded", ["#56B4E9", "#CC79A7", "#D55E00"])
STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": GREY,
    "axes.titlesize": 12,
    "font.size": 11,
    "savefig.transparent": True,
    "svg.hashsalt": "gitcluster",
    "xtick.color": GREY,
    "ytick.color": GREY,
}
K = 8


def draw_all(folder: Path) -> None:
    """Write every picture into ``folder``."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            draw().savefig(folder / f"{name}.svg", metadata={"Date": None})


def moons() -> Any:
    """The samples of all pictures."""
    return make_moons((150, 100), noise=0.09, random_state=1)[0]


def stages() -> tuple[Any, Any, Any, Any]:
    """Samples, their neighbours, local clusters and topo-graph, as the paper defines them."""
    X = moons()
    points = scale_features(X)
    near = find_neighbors(points, n_neighbors=K)
    local = find_local_clusters(near, estimate_intensity(near))
    return X, near, local, bridge_components(build_topo_graph(near, local), points)


def panels(*titles: str, height: float = 3.2) -> tuple[Figure, list[Any]]:
    """A figure with a panel for every title, one beside the other."""
    width = {1: 6.4, 2: 9.2}.get(len(titles), 11.0)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(1, len(titles))))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, loc="left")
    return figure, axes


def show_samples(ax: Any, X: Any, colours: Any = GREY, *, size: Any = 16, alpha: float = 1.0) -> None:
    """Samples without axes, both features to one scale."""
    ax.scatter(*X.T, s=size, c=colours, alpha=alpha, linewidths=0, zorder=2)
    ax.set_aspect("equal")
    ax.set_axis_off()


def show_lines(ax: Any, X: Any, pairs: Any, colours: Any = GREY, **options: Any) -> None:
    """Lines between pairs of samples."""
    ax.add_collection(LineCollection(X[pairs], colors=colours, capstyle="round", **options))


def hues_of(labels: Any) -> list[str]:
    """A colour for every label."""
    return [HUES[label % len(HUES)] for label in labels]


def draw_neighbors() -> Figure:
    """The neighbours of all samples, and those of one."""
    X, (near, *_), _, _ = stages()
    figure, (ax,) = panels(f"Every sample and its {K} nearest neighbours")
    show_lines(ax, X, [(i, j) for i, row in enumerate(near) for j in row], linewidths=0.5, alpha=0.6)
    show_samples(ax, X)
    chosen = int(np.argmin(np.abs(X - [0.2, 0.9]).sum(axis=1)))
    show_lines(ax, X, [(chosen, j) for j in near[chosen]], HUES[3], linewidths=1.6, zorder=3)
    ax.scatter(*X[near[chosen]].T, s=30, c=HUES[1], linewidths=0, zorder=4)
    ax.scatter(*X[chosen], s=60, c=HUES[3], linewidths=0, zorder=5)
    return figure


def draw_intensity() -> Figure:
    """Samples in the colour and size of their intensity."""
    X, near, _, _ = stages()
    height = estimate_intensity(near, kernel="relative")
    figure, (ax,) = panels("How crowded the neighbourhood is")
    show_samples(ax, X, CROWDED((height - height.min()) / np.ptp(height)), size=8 + 60 * np.exp(height - height.max()))
    return figure


def draw_local_clusters() -> Figure:
    """The way uphill from every sample, and the peaks."""
    X, _, local, _ = stages()
    figure, (ax,) = panels(f"Every sample climbs to one of {len(local.peaks)} peaks")
    colours = hues_of(local.labels)
    show_lines(ax, X, list(enumerate(local.parent)), colours, linewidths=1.1)
    show_samples(ax, X, colours)
    ax.scatter(*X[local.peaks].T, s=130, c=hues_of(range(len(local.peaks))), edgecolors="white", zorder=4)
    return figure


def show_graph(ax: Any, X: Any, graph: Any, colours: Any, kept: Any = None) -> None:
    """Local clusters as nodes at their peaks, as large as they are, and edges as strong as their weights."""
    places = X[graph.peaks]
    widths = 1 + 5 * np.sqrt(graph.weights / graph.weights.max())
    kept = np.ones(len(graph.edges), bool) if kept is None else kept
    show_lines(ax, places, graph.edges[kept], linewidths=widths[kept], zorder=3)
    cut = graph.edges[~kept]
    ax.add_collection(LineCollection(places[cut], colors=HUES[3], linestyles=(0, (2, 2)), linewidths=1.6, zorder=3))
    ax.scatter(*places.T, s=40 + 7 * graph.sizes, c=colours, edgecolors="white", linewidths=1.2, zorder=4)


def draw_topo_graph() -> Figure:
    """Samples behind the graph of their local clusters."""
    X, _, local, graph = stages()
    figure, (ax,) = panels("Local clusters, connected where they touch")
    show_samples(ax, X, hues_of(local.labels), size=10, alpha=0.5)
    show_graph(ax, X, graph, hues_of(range(len(graph.sizes))))
    return figure


def draw_edge_cutting() -> Figure:
    """Kept and cut edges, and the distance to the prior after every merge."""
    X, _, local, graph = stages()
    cut = cut_edges(graph, proportions=[150, 100])
    figure, (left, right) = panels("Kept edges, and cut ones (dashed)", "Distance to the prior, merge by merge")
    show_samples(left, X, hues_of(cut.labels[local.labels]), size=10, alpha=0.5)
    show_graph(left, X, graph, hues_of(cut.labels), cut.kept)
    right.plot(cut.scores, marker="o", color=HUES[0])
    right.set(xlabel="merges", ylabel="W1", ylim=(0, None))
    return figure


def draw_hierarchy() -> Figure:
    """The tree of merges, and what two clusters look like."""
    X = moons()
    model = GIT(2, n_neighbors=K).fit(X)
    figure, (left, right) = panels("The merges of local clusters", "Cut into two")
    heights = model.hierarchy_[:, 2]
    dendrogram(model.hierarchy_, ax=left, no_labels=True, color_threshold=0, above_threshold_color=GREY)
    left.axhline((heights[-1] + heights[-2]) / 2, color=HUES[3], linestyle=(0, (4, 3)))
    left.set_ylabel("strength, falling")
    left.set_yticks([])
    left.spines["bottom"].set_visible(False)
    show_samples(right, X, hues_of(model.labels_))
    return figure


def draw_selection() -> Figure:
    """Agreement of the neighbourhood sizes, and the score of every number of clusters."""
    model = GIT().fit(moons())
    sizes, numbers = model.selection_, model.n_clusters_scores_
    figure, (left, right) = panels("Numbers of neighbours: best agreement", "Numbers of clusters: score")
    tried, chosen = np.unique(sizes["n_neighbors"]), sizes["n_neighbors"][sizes["chosen"]][0]
    best = [sizes["agreement"][sizes["n_neighbors"] == k].max() for k in tried]
    places = np.arange(len(tried))
    left.bar(places, best, color=np.where(tried == chosen, HUES[3], HUES[5]))
    left.set_xticks(places, tried)
    left.set(xlabel="neighbours", ylim=(0, 1))
    few = numbers["n_clusters"] <= 12
    best = numbers["score"][few] == numbers["score"].max()
    right.bar(numbers["n_clusters"][few], numbers["score"][few], color=np.where(best, HUES[3], HUES[5]))
    right.set_xticks(numbers["n_clusters"][few])
    right.set_xlabel("clusters")
    return figure


def draw_overview() -> Figure:
    """From samples to clusters in three panels."""
    X, _, local, graph = stages()
    cut = cut_edges(graph, proportions=[150, 100])
    figure, axes = panels("1  samples climb to peaks", "2  peaks form a graph", "3  weak edges are cut", height=2.3)
    show_lines(axes[0], X, list(enumerate(local.parent)), hues_of(local.labels), linewidths=1)
    show_samples(axes[0], X, hues_of(local.labels))
    show_samples(axes[1], X, hues_of(local.labels), size=8, alpha=0.45)
    show_graph(axes[1], X, graph, hues_of(range(len(graph.sizes))))
    show_samples(axes[2], X, hues_of(cut.labels[local.labels]))
    show_graph(axes[2], X, graph, hues_of(cut.labels), cut.kept)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "overview": draw_overview,
    "neighbors": draw_neighbors,
    "intensity": draw_intensity,
    "local_clusters": draw_local_clusters,
    "topo_graph": draw_topo_graph,
    "edge_cutting": draw_edge_cutting,
    "hierarchy": draw_hierarchy,
    "selection": draw_selection,
}
