"""A plot of layers: which clusters split into which, as users of clustree know it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from gitcluster._support.names import count_of
from gitcluster.fitted.layers import Layer, find_layers
from gitcluster.plots._colours import colours_of, readable_on, unborn_on
from gitcluster.plots._labels import name_places
from gitcluster.plots._style import check_model, mark_level, take_axes

LARGEST = 900.0
"""Area of a node that holds all samples, in square points."""


def plot_layers(model: Any, X: Any = None, *, n_clusters: Iterable[int] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the layers of a model, coarse above fine: every cluster, its number of samples, and what it splits into.

    Clusters of the model have their colours, and so have their parts; coarser ones that hold several are grey.
    ``model``, fitted with the default variant, and ``ax`` are as in all plots, see :mod:`gitcluster.plots`; ``X`` is
    ignored.

    Parameters
    ----------
    n_clusters : iterable of int, default=None
        Numbers of clusters of the layers; by default those of ``model.layers()``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_layers(GIT().fit(X), n_clusters=[2, 4, 6], ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    layers = find_layers(found, n_clusters)
    ax = take_axes(ax, width=8.4, ratio=0.16 * (len(layers) + 1), aside=1.6, title="Layers: what splits into what")
    places = arrange(layers)
    _draw_splits(ax, layers, places)
    for level, (layer, x) in enumerate(zip(layers, places, strict=True)):
        colour = [_colour_of(ax, found.labels, layer, c) for c in range(layer.n_clusters)]
        area = LARGEST * layer.sizes / max(1, layer.sizes.sum()) + 40
        ax.scatter(x, np.full(len(x), -level), s=area, c=colour, edgecolors=ax.get_facecolor(), zorder=3)
        told = count_of(layer.n_clusters, "cluster")
        mark_level(ax, -level, told if np.isnan(layer.score) else f"{told}\nscore {layer.score:.2f}", linewidth=0.6)
        order = np.argsort(-layer.sizes, kind="stable")
        texts = [f"{layer.names[c]}\n{layer.sizes[c]:,}" for c in order]
        below = np.column_stack([x[order], np.full(len(x), -level - 0.3)])
        name_places(ax, below, texts, size=7.5)
    ax.set(xticks=[], yticks=[], ylim=(0.45 - len(layers), 0.35))
    ax.margins(x=0.08)
    ax.set_xlabel("area: samples; grey: several of the chosen clusters", fontsize="small")
    ax.spines[["left", "bottom"]].set_visible(False)
    return ax


def arrange(layers: list[Layer]) -> list[NDArray[np.float64]]:
    """Places of the clusters of every layer from left to right: parts below what they are parts of, none crossing.

    A cluster has room by the most parts that it, or what is below it, is split into.
    """
    room = [np.ones(layer.n_clusters) for layer in layers]
    for level in range(len(layers) - 1, 0, -1):
        above = np.bincount(layers[level].parents, room[level], minlength=len(room[level - 1]))
        room[level - 1] = np.maximum(above, 1.0)
    starts: list[NDArray[np.float64]] = []
    for level, layer in enumerate(layers):
        start, free = np.empty(layer.n_clusters), np.zeros(1) if level == 0 else starts[-1].copy()
        for c, parent in enumerate(layer.parents if level else np.zeros(layer.n_clusters, int)):
            start[c] = free[parent]
            free[parent] += room[level][c]
        starts.append(start)
    return [start + width / 2 for start, width in zip(starts, room, strict=True)]


def _draw_splits(ax: Axes, layers: list[Layer], places: list[NDArray[np.float64]]) -> None:
    """Lines from every cluster to its parts, the wider the more samples go there."""
    for level, layer in enumerate(layers[1:], 1):
        share = layer.sizes / max(1, layer.sizes.sum())
        for c, parent in enumerate(layer.parents):
            x, y = (places[level - 1][parent], places[level][c]), (1 - level, -level)
            ax.plot(x, y, color=unborn_on(ax), linewidth=1 + 9 * share[c], solid_capstyle="round", zorder=1)


def _colour_of(ax: Axes, labels: NDArray[Any], layer: Layer, cluster: int) -> Any:
    """The colour of the model's cluster that a cluster lies in; grey where it holds several."""
    inside = np.unique(labels[layer.labels == cluster])
    inside = inside[inside >= 0]
    return colours_of(inside[0]) if len(inside) == 1 else readable_on(ax, np.array(unborn_on(ax)))
