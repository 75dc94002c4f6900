"""Plots of the samples: their intensity, the local clusters they climb to, the final clusters."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_rgb
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import uniform_filter
from sklearn.utils import check_array

from gitcluster._support.names import count_of
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import Places, place_samples, usual_values
from gitcluster.fitted.prediction import predict_samples
from gitcluster.plots._coarse import coarsen, told_nodes
from gitcluster.plots._colours import FAINT, INTENSITY_MAP, colours_of, ink_on, local_colours
from gitcluster.plots._labels import name_places
from gitcluster.plots._points import axes_area, draw_points, find_cells, take_map
from gitcluster.plots._style import (
    add_colour_bar,
    add_legend,
    check_model,
    label_clusters,
    line_entry,
    marker_entry,
)
from gitcluster.preprocessing.sources import Points

MOST_ARROWS = 1500
"""Samples up to which each has its arrow; beyond, there is one for every cell of a grid."""
GRID = 26
"""Columns and rows of that grid."""
LEVELS = 9
"""Lines of equal intensity."""
CONTOUR_GRID = 160
"""Places in each direction at which the intensity is found for them."""
AREAS = 30
"""Columns and rows of the grid in which clusters have their own areas."""
MOST_PLACES = 30
"""Places at which the number of a cluster may stand."""


def plot_intensity(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    contours: bool = False,
    legend: bool | None = None,
) -> Axes:
    """Draw the samples in the colours of their log intensity.

    ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    contours : bool, default=False
        Whether to draw lines of equal intensity behind the samples, which must have two features.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_intensity(GIT(4).fit(X), X, ax=Figure().subplots()).get_title()
    'Intensity'
    """
    found = check_model(model, ax=ax)
    places = place_samples(found, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, places, title="Intensity")
    draw_intensity(ax, found, places, legend=legend)
    if contours:
        _draw_contours(ax, found, places, scaled=X is None)
    return ax


def draw_intensity(ax: Axes, found: Clustering, places: Places, *, legend: bool) -> None:
    """Samples in the colours of their log intensity, the highest on top."""
    values = usual_values(found.log_intensity)
    low, high = np.quantile(values, 0.05), values.max()
    mapped = ScalarMappable(Normalize(low, high if high > low else low + 1.0), INTENSITY_MAP)
    order = np.argsort(values, kind="stable")
    draw_points(ax, places.xy[order], mapped.to_rgba(values[order])[:, :3], floor=0.8)
    if legend:
        add_colour_bar(ax, mapped, label="log intensity")


def plot_local_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    arrows: bool = True,
    contours: bool = False,
    max_nodes: int | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the local clusters, their peaks, and the way the samples climb.

    Connected local clusters have different colours; those far apart may share one. ``model``, ``X``, ``ax``,
    ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    arrows : bool, default=True
        Whether to draw the gradient flow: an arrow from every sample to the next one uphill, or, where there are more
        than 1,500 samples, the mean direction in every cell of a grid.
    contours : bool, default=False
        Whether to draw lines of equal intensity behind the samples, which must have two features.
    max_nodes : int, default=None
        How many colours and peaks there are at most: where there are more local clusters, those that merge first are
        drawn as one. By default each has its own.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_local_clusters(GIT(4).fit(X), X, ax=Figure().subplots())
    """
    found = check_model(model, ax=ax)
    places = place_samples(found, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    drawn = coarsen(found, max_nodes)
    ax = take_map(ax, places, title=told_nodes(found, drawn), width=8.4, aside=2.0)
    draw_local_clusters(ax, drawn, places, arrows=arrows)
    if contours:
        _draw_contours(ax, found, places, scaled=X is None)
    if legend:
        entries = [marker_entry("peak", FAINT, "^", 8), marker_entry("sample, in the colour\nof its peak", FAINT)]
        arrow = [marker_entry("the way uphill", ink_on(ax), "$\\rightarrow$", 11)]
        line = [line_entry("equal intensity", FAINT, linewidth=0.7)]
        add_legend(ax, entries + arrow * arrows + line * contours)
    return ax


def _draw_contours(ax: Axes, found: Clustering, places: Places, *, scaled: bool) -> None:
    """Lines of equal intensity, from the intensity of new samples on a grid; ``scaled`` places are scaled already."""
    if not places.as_given or not isinstance(found.fitted.source, Points):
        raise ValueError("contours=True draws samples of two features. Use contours=False for others.")
    low, high = places.xy.min(axis=0), places.xy.max(axis=0)
    sides = np.linspace(low - (high - low) / 4, high + (high - low) / 4, CONTOUR_GRID).T
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    samples = grid.reshape(-1, 2)
    samples = samples if scaled else found.fitted.source.check_new(samples, check_array)
    height = predict_samples(found.fitted, samples).log_intensity.reshape(grid.shape[:2])
    limits = ax.get_xlim(), ax.get_ylim()
    lowest, highest = np.quantile(usual_values(found.log_intensity), (0.05, 1))
    levels = np.linspace(lowest, highest, LEVELS + 1)[:-1]
    if lowest < highest:
        ax.contour(*sides, height, levels=levels, colors=FAINT, linewidths=0.7, linestyles="solid", zorder=0)
        ax.set_xlim(*limits[0], auto=True)
        ax.set_ylim(*limits[1], auto=True)


def draw_local_clusters(ax: Axes, found: Clustering, places: Places, *, arrows: bool) -> None:
    """Samples in the colours of their local clusters, arrows uphill, and peaks."""
    xy, colours = places.xy, local_colours(found.topo_graph)
    pale = 1 - 0.6 * (1 - colours) if arrows else colours
    draw_points(ax, xy, pale[found.local_labels], floor=0.6)
    if arrows:
        _draw_flow(ax, found, xy)
    peaks = xy[found.peaks]
    area = float(np.clip(0.02 * axes_area(ax) / len(peaks), 3, 50))
    edges = {"edgecolors": ink_on(ax), "linewidths": 0.12 * np.sqrt(area)} if area > 6 else {"linewidths": 0}
    ax.scatter(
        peaks[:, 0], peaks[:, 1], s=area, c=colours if area > 6 else 0.6 * colours, marker="^", zorder=4, **edges
    )  # fmt: skip


def _draw_flow(ax: Axes, found: Clustering, xy: NDArray[np.float64]) -> None:
    """Arrows uphill."""
    start, way = xy, xy[found.parents] - xy
    colours: Any = 0.7 * local_colours(found.topo_graph)[found.local_labels]
    if len(xy) > MOST_ARROWS:
        start, way = _mean_flow(xy, way)
        colours = np.broadcast_to(to_rgb(ink_on(ax)), (len(way), 3))
    moving = np.abs(way).max(axis=1) > 0
    start, way = start[moving], way[moving]
    ax.quiver(
        *start.T, *way.T, angles="xy", scale_units="xy", scale=1.0, units="dots", width=0.6 * ax.figure.dpi / 72,
        headwidth=5, headlength=6, headaxislength=5, minlength=0.3, color=colours[moving], alpha=0.8, zorder=3,
    )  # fmt: skip


def _mean_flow(xy: NDArray[np.float64], way: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the samples in a cell of a grid go on average: one arrow per cell, as long as the cell where they agree."""
    cell, low, span = find_cells(xy, GRID)
    cells, place = np.unique(cell[:, 1] * GRID + cell[:, 0], return_inverse=True)
    scaled = way / span
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-300)
    counts = np.bincount(place)
    mean = np.column_stack([np.bincount(place, scaled[:, axis]) / counts for axis in range(2)])
    middle = np.column_stack([cells % GRID, cells // GRID]) + 0.5
    middle = low + middle / GRID * span
    length = 0.9 / GRID * span
    return middle - mean * length / 2, mean * length


def plot_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the final clusters, each with its number at its highest peak; noise is grey.

    Where a peak is drawn among samples of other clusters, the number stands where its own prevail, and a cluster
    without such a place has none. The legend lists the clusters and their sizes. ``model``, ``X``, ``ax``,
    ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    labels : array-like of shape (n_samples,), default=None
        Other labels than ``labels_``, such as ``model.cut(n_clusters=5)``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_clusters(GIT(4).fit(X), X, ax=Figure().subplots()).get_title()
    '4 clusters'
    """
    found = check_model(model, ax=ax)
    places = place_samples(found, X, embedding=embedding)
    shown = found.labels if labels is None else _check_labels(labels, len(found.labels))
    n_clusters = int(shown.max()) + 1
    legend = ax is None if legend is None else legend
    ax = take_map(ax, places, title=count_of(n_clusters, "cluster"))
    draw_clusters(ax, found, places, shown)
    if legend:
        label_clusters(ax, shown, n_clusters=n_clusters)
    return ax


def _check_labels(labels: ArrayLike, n_samples: int) -> NDArray[np.int64]:
    found = np.asarray(labels)
    if found.shape != (n_samples,) or found.dtype.kind not in "iu" or found.min() < -1 or found.max() < 0:
        raise ValueError(
            f"labels must be {n_samples} integers, one per fitted sample, from 0 on and -1 for noise, got an array of "
            f"type {found.dtype} and shape {found.shape}."
        )
    return found.astype(np.int64)


def draw_clusters(
    ax: Axes, found: Clustering, places: Places, labels: NDArray[np.int64], *, numbers: bool = True
) -> None:
    """Samples in the colours of their clusters, mixed so that none hides another, noise below."""
    order = np.random.default_rng(0).permutation(len(labels))
    order = order[np.argsort(labels[order] >= 0, kind="stable")]
    draw_points(ax, places.xy[order], colours_of(labels[order]))
    n_clusters = int(labels.max()) + 1
    if numbers and n_clusters > 1:
        areas = own_places(places.xy, labels, found.log_intensity)
        beside = 12 if len(labels) <= 100 else 0  # a text must not hide one sample of few
        name_places(
            ax, list(areas.values()), list(map(str, areas)), size=10, weight="bold", beside=beside,
            colours=colours_of(list(areas)),
        )  # fmt: skip


def own_places(
    xy: NDArray[np.float64], labels: NDArray[np.int64], log_intensity: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    """Places at which most samples around are of one cluster, the best first; of clusters that have such places.

    The first is the highest peak of the cluster, if most samples around it are its own.
    """
    cells, *_ = find_cells(xy, AREAS)
    cell = cells[:, 1] * AREAS + cells[:, 0]
    n_clusters, inside = int(labels.max()) + 1, labels >= 0
    own = np.bincount(labels[inside] * AREAS**2 + cell[inside], minlength=n_clusters * AREAS**2)
    own = own.reshape(n_clusters, AREAS, AREAS).astype(np.float64)
    around = uniform_filter(np.bincount(cell, minlength=AREAS**2).reshape(AREAS, AREAS) * 9.0, 3, mode="constant")
    around_own = uniform_filter(own * 9.0, (0, 3, 3), mode="constant")
    lead = np.where(own > 0, 2 * around_own - around, -1).reshape(n_clusters, -1)
    found = {}
    for c in range(n_clusters):
        members = np.flatnonzero(labels == c)
        members = members[np.argsort(-log_intensity[members], kind="stable")]
        leads = lead[c, cell[members]]
        good = members[leads > 0.5]
        ranked = good[np.argsort(-lead[c, cell[good]], kind="stable")]
        _, first = np.unique(cell[ranked], return_index=True)
        ranked = ranked[np.sort(first)][:MOST_PLACES]
        if len(ranked):
            found[c] = xy[np.concatenate([members[:1], ranked]) if leads[0] > 0.5 else ranked]
    return found
