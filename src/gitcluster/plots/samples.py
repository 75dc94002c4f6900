"""Plots of the samples: intensity, local clusters, final clusters, and explanations of single samples."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from gitcluster._support.names import count_of
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.explanation import PairExplanation, SampleExplanation
from gitcluster.fitted.layout import SampleLayout, layout_samples, usual_values
from gitcluster.plots._drawing import (
    DASHED,
    FAINT,
    INTENSITY_MAP,
    MAX_ENTRIES,
    NOISE,
    add_colour_bar,
    add_legend,
    axes_area,
    background_on,
    colours_of,
    draw_names,
    draw_points,
    find_cells,
    ink_on,
    line_entry,
    local_colours,
    marker_entry,
    plain,
    take_map,
)
from gitcluster.plots.graph import coarsen, describe_nodes
from gitcluster.preprocessing.sources import Distances

MAX_ARROWS = 1500
"""More samples have one mean arrow per cell of a grid."""
FLOW_GRID = 26
"""Columns and rows of the grid for mean arrows."""
LABEL_ROWS, LABEL_RADIUS, MAX_SPOTS = 5_000, 0.04, 30
"""For the positions of numbers: samples that are compared, radius relative to the plot, candidates per cluster."""
MAX_PAIRS = 200
"""Boundary pairs that are drawn, the nearest first."""
CROSSING = "#B2182B"


def plot_intensity(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the samples, coloured by their log intensity.

    ``model``, ``X``, ``ax``, ``embedding`` and ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_intensity(GIT(4).fit(X), X, ax=Figure().subplots()).get_title()
    'Intensity'
    """
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title="Intensity")
    draw_intensity(ax, clustering, layout, legend=legend)
    return ax


def draw_intensity(ax: Axes, clustering: Clustering, layout: SampleLayout, *, legend: bool) -> None:
    """Draw samples coloured by their log intensity, the highest on top."""
    values = usual_values(clustering.log_intensity)
    low, high = np.quantile(values, 0.05), values.max()
    mapped = ScalarMappable(Normalize(low, high if high > low else low + 1.0), INTENSITY_MAP)
    order = np.argsort(values, kind="stable")
    draw_points(ax, layout.xy[order], mapped.to_rgba(values[order])[:, :3], floor=0.8)
    if legend:
        add_colour_bar(ax, mapped, label="log intensity")


def plot_local_clusters(
    model: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    arrows: bool = True,
    max_nodes: int | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the local clusters, their peaks, and the direction in which the samples climb.

    Connected local clusters have different colours; others may share one. ``model``, ``X``, ``ax``, ``embedding`` and
    ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    arrows : bool, default=True
        Whether to draw the gradient flow: an arrow from every sample to the next one uphill. More than 1,500 samples
        have the mean direction in every cell of a grid.
    max_nodes : int, default=None
        Maximum number of colours and peaks. If there are more local clusters, those that merge first are drawn as one.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> ax = plot_local_clusters(GIT(4).fit(X), X, ax=Figure().subplots())
    """
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    drawn = coarsen(clustering, max_nodes)
    ax = take_map(ax, layout, title=describe_nodes(clustering, drawn), width=8.4, aside=2.0)
    draw_local_clusters(ax, drawn, layout, arrows=arrows)
    if legend:
        entries = [marker_entry("peak", FAINT, "^", 8), marker_entry("sample, in the colour\nof its peak", FAINT)]
        if arrows:
            entries.append(marker_entry("uphill", ink_on(ax), "$\\rightarrow$", 11))
        add_legend(ax, entries)
    return ax


def draw_local_clusters(ax: Axes, clustering: Clustering, layout: SampleLayout, *, arrows: bool) -> None:
    """Draw samples in the colours of their local clusters, arrows uphill, and peaks."""
    xy, colours = layout.xy, local_colours(clustering.topo_graph)
    pale = 1 - 0.6 * (1 - colours) if arrows else colours
    draw_points(ax, xy, pale[clustering.local_labels], floor=0.6)
    if arrows:
        start, step = xy, xy[clustering.parents] - xy
        tints: Any = 0.7 * colours[clustering.local_labels]
        if len(xy) > MAX_ARROWS:
            start, step = _mean_flow(xy, step)
            tints = np.broadcast_to(to_rgb(ink_on(ax)), (len(step), 3))
        moving = np.abs(step).max(axis=1) > 0
        ax.quiver(
            *start[moving].T, *step[moving].T, angles="xy", scale_units="xy", scale=1.0, units="dots",
            width=0.6 * ax.figure.dpi / 72, headwidth=5, headlength=6, headaxislength=5, minlength=0.3,
            color=tints[moving], alpha=0.8, zorder=3,
        )  # fmt: skip
    peaks = xy[clustering.peaks]
    area = float(np.clip(0.02 * axes_area(ax) / len(peaks), 3, 50))
    edges = {"edgecolors": ink_on(ax), "linewidths": 0.12 * np.sqrt(area)} if area > 6 else {"linewidths": 0}
    ax.scatter(
        peaks[:, 0], peaks[:, 1], s=area, c=colours if area > 6 else 0.6 * colours, marker="^", zorder=4, **edges
    )  # fmt: skip


def _mean_flow(xy: NDArray[np.float64], step: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return one arrow per cell of a grid: the mean direction of its samples, as long as the cell if all agree."""
    cell, low, span = find_cells(xy, FLOW_GRID)
    cells, which = np.unique(cell[:, 1] * FLOW_GRID + cell[:, 0], return_inverse=True)
    scaled = step / span
    scaled = scaled / np.maximum(np.linalg.norm(scaled, axis=1, keepdims=True), 1e-300)
    mean = np.column_stack([np.bincount(which, scaled[:, axis]) / np.bincount(which) for axis in range(2)])
    middle = low + (np.column_stack([cells % FLOW_GRID, cells // FLOW_GRID]) + 0.5) / FLOW_GRID * span
    length = 0.9 / FLOW_GRID * span
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

    If a peak lies among samples of other clusters, the number stands where its own prevail. A cluster that prevails
    nowhere has no number. The legend lists the clusters and their sizes. ``model``, ``X``, ``ax``, ``embedding`` and
    ``legend`` are as in all plots, see :mod:`gitcluster.plots`.

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
    clustering = clustering_of(model)
    layout = layout_samples(clustering, X, embedding=embedding)
    shown = np.asarray(clustering.labels if labels is None else labels)
    n_samples = len(clustering.labels)
    if shown.shape != (n_samples,) or shown.dtype.kind not in "iu" or shown.min() < -1 or shown.max() < 0:
        raise ValueError(
            f"labels must be {n_samples} integers from -1 (noise) on, got {shown.dtype} of shape {shown.shape}."
        )
    n_clusters = int(shown.max()) + 1
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title=count_of(n_clusters, "cluster"))
    draw_clusters(ax, clustering, layout, shown.astype(np.int64))
    if legend:
        counts = np.bincount(shown + 1, minlength=n_clusters + 1)
        n_shown = n_clusters if n_clusters <= MAX_ENTRIES else MAX_ENTRIES - 1
        entries = [marker_entry(f"{c}:  {counts[c + 1]:,}", colours_of(c)) for c in range(n_shown)]
        if n_clusters > n_shown:
            entries.append(line_entry(f"and {n_clusters - n_shown} more", NOISE, linestyle=""))
        if counts[0]:
            entries.append(marker_entry(f"noise:  {counts[0]:,}", NOISE))
        add_legend(ax, entries, title="cluster:  samples")
    return ax


def draw_clusters(ax: Axes, clustering: Clustering, layout: SampleLayout, labels: NDArray[np.int64]) -> None:
    """Draw samples in the colours of their clusters, in random order so that none hides another, noise below."""
    order = np.random.default_rng(0).permutation(len(labels))
    order = order[np.argsort(labels[order] >= 0, kind="stable")]
    draw_points(ax, layout.xy[order], colours_of(labels[order]))
    if labels.max() > 0:
        spots = _label_spots(layout.xy, labels, clustering.log_intensity)
        beside = 12 if len(labels) <= 100 else 0  # a text must not cover one of few samples
        draw_names(
            ax, list(spots.values()), list(map(str, spots)), size=10, weight="bold", beside=beside,
            colours=[colours_of(c) for c in spots],
        )  # fmt: skip


def _label_spots(
    xy: NDArray[np.float64], labels: NDArray[np.int64], log_intensity: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]]:
    """Return candidate positions for the number of every cluster, the highest peak first.

    Around each candidate, most samples within a small radius belong to the cluster.
    """
    order = np.argsort(-log_intensity, kind="stable")
    order = order[:: -(-len(order) // LABEL_ROWS)]
    xy, labels = xy[order], labels[order]
    _, low, span = find_cells(xy, 1)
    points = (xy - low) / span
    n_around = cKDTree(points).query_ball_point(points, LABEL_RADIUS, return_length=True)
    spots = {}
    for c in np.unique(labels[labels >= 0]).tolist():
        members = np.flatnonzero(labels == c)
        n_own = cKDTree(points[members]).query_ball_point(points[members], LABEL_RADIUS, return_length=True)
        members = members[2 * n_own > n_around[members]]
        if len(members):
            spots[c] = xy[members[:: -(-len(members) // MAX_SPOTS)]]
    return spots


def plot_explanation(
    explanation: Any,
    X: Any = None,
    *,
    ax: Axes | None = None,
    embedding: ArrayLike | None = None,
    legend: bool | None = None,
) -> Axes:
    """Draw the explanation of one sample or two among all samples.

    The samples climb to their peaks along thin lines. For a pair, the strongest path leads from peak to peak, with cut
    edges dashed, and the boundary pairs of its weakest edge are drawn. ``X``, ``ax``, ``embedding`` and ``legend`` are
    as in all plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    explanation : SampleExplanation or PairExplanation
        The result of ``model.explain``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> plot_explanation(GIT(4).fit(X).explain(0, 99), X, ax=Figure().subplots()).get_title()
    'Samples 0 and 99: two clusters'
    """
    if isinstance(explanation, PairExplanation):
        samples, clusters = list(explanation.samples), list(explanation.clusters)
        first, second = map(plain, explanation.names)
        answer = "one cluster" if explanation.same_cluster else "two clusters"
        title = f"Samples {first} and {second}: {answer}"
    elif isinstance(explanation, SampleExplanation):
        samples, clusters = [explanation.sample], [explanation.home]
        answer = "noise" if explanation.cluster < 0 else f"cluster {explanation.cluster}"
        title = f"Sample {plain(explanation.name)}: {answer}"
    else:
        raise TypeError(f"explanation must be the result of model.explain, got {type(explanation).__name__}.")
    clustering = explanation.clustering
    layout = layout_samples(clustering, X, embedding=embedding)
    legend = ax is None if legend is None else legend
    ax = take_map(ax, layout, title=title, width=8.0)
    ink, xy = ink_on(ax), layout.xy
    labels = clustering.edge_cut.labels[clustering.local_labels]
    involved = np.isin(labels, clusters)
    order = np.argsort(involved, kind="stable")
    ground = np.array(to_rgb(ax.get_facecolor()))
    pale = ground + 0.45 * (colours_of(labels) - ground)
    draw_points(ax, xy[order], np.where(involved[:, None], pale, background_on(ax))[order], zorder=0)
    entries = [line_entry("climb to the peak", ink, linewidth=0.9, marker="^", markersize=6)]
    if isinstance(explanation, PairExplanation):
        entries += _draw_path(ax, explanation, xy)
    halo = [withStroke(linewidth=3, foreground=ax.get_facecolor())]
    for sample, side in zip(samples, (1, -1), strict=False):
        climb = xy[clustering.climb(sample)]
        ax.plot(climb[:, 0], climb[:, 1], color=ink, linewidth=0.9, zorder=4)
        ax.scatter(climb[-1:, 0], climb[-1:, 1], s=46, marker="^", color=ink, zorder=5)
        ax.annotate(
            plain(clustering.name_of(sample)), xy[sample], xytext=(0, 13 * side), textcoords="offset points",
            ha="center", va="center", weight="bold", color=ink, path_effects=halo, zorder=7,
        )  # fmt: skip
    ax.scatter(xy[samples, 0], xy[samples, 1], s=60, color=ax.get_facecolor(), edgecolors=ink, linewidths=1.6, zorder=6)
    if legend:
        add_legend(ax, entries)
    return ax


def _draw_path(ax: Axes, explanation: PairExplanation, xy: Any) -> list[Line2D]:
    """Draw the path from peak to peak and the boundary pairs of its weakest edge; return entries for the legend."""
    if not len(explanation.edges):
        return []
    ink = ink_on(ax)
    peaks: Any = xy[explanation.clustering.peaks[explanation.path]]
    steps: Any = np.stack([peaks[:-1], peaks[1:]], axis=1)
    entries = []
    colour: Any = tuple(0.75 * colours_of(explanation.clusters[0]))
    styles: Any = (("strongest path", ~explanation.cut, colour, "solid"), ("cut", explanation.cut, ink, DASHED))
    for label, chosen, tint, style in styles:
        if chosen.any():
            lines = LineCollection(steps[chosen], colors=tint, linewidths=2.4, linestyles=style, zorder=3, label=label)
            ax.add_collection(lines, autolim=False)
            entries.append(line_entry(label, tint, linewidth=2.4, linestyle=style))
    ax.scatter(peaks[1:-1, 0], peaks[1:-1, 1], s=14, color=ax.get_facecolor(), edgecolors=ink, linewidths=0.8, zorder=4)
    known = not isinstance(explanation.clustering.source, Distances) or explanation.X is not None
    pairs: Any = explanation.boundary_pairs[:MAX_PAIRS] if known else ()
    if len(pairs):
        ax.add_collection(LineCollection(xy[pairs], colors=CROSSING, linewidths=0.8, zorder=3.5), autolim=False)
        entries.append(line_entry("boundary pairs of\nthe weakest edge", CROSSING, linewidth=0.8))
    return entries
