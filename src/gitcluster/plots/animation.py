"""The method in motion: local clusters grow while the threshold falls, then merge into the final clusters."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.names import count_of
from gitcluster._support.validation import check_integer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import place_samples
from gitcluster.hierarchy import merges_down_to
from gitcluster.kernels import unions
from gitcluster.plots._colours import colours_of, local_colours, unborn_on
from gitcluster.plots._points import MOST_MARKERS, draw_points, find_pixels, frame_panel, paint
from gitcluster.plots._style import check_model

LOWEST_SHARE = 0.01
"""Share of the samples in the first frame."""


def animate_growth(
    model: Any,
    X: Any = None,
    path: str | os.PathLike[str] = "growth.gif",
    *,
    embedding: ArrayLike | None = None,
    n_frames: int = 60,
    fps: int = 12,
    dpi: int = 90,
) -> Path:
    """Write a film of how local clusters grow and merge.

    In the first half samples appear from the highest intensity to the lowest, in the colours of their local clusters.
    In the second half these merge in the order in which the method merged them; a merged cluster has the colour of
    its highest peak, which in the end is that of the final cluster. ``model``, ``X`` and ``embedding`` are as in all
    plots, see :mod:`gitcluster.plots`.

    Parameters
    ----------
    path : str or path-like, default="growth.gif"
        A ``.gif``, or an ``.mp4`` where the program ffmpeg is installed.
    n_frames : int, default=60
    fps : int, default=12
        Frames per second.
    dpi : int, default=90
        Dots per inch; the film is 6.4 inches wide.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> from gitcluster import GIT, datasets
    >>> X, _ = datasets.make_smile(200, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate_growth(GIT(4).fit(X), X, f"{folder}/smile.gif", n_frames=4, dpi=40).name
    'smile.gif'
    """
    found = check_model(model)
    n_frames = check_integer("n_frames", n_frames, low=2)
    writer = _find_writer(Path(path), check_integer("fps", fps, low=1))
    places = place_samples(found, X, embedding=embedding)
    fig = Figure(figsize=(6.4, 6.4 * places.ratio), layout="constrained")
    FigureCanvasAgg(fig)
    ax = fig.subplots()
    frame_panel(ax, places)
    order = np.argsort(found.log_intensity, kind="stable")  # high ones on top
    points = places.xy[order]
    artist = draw_points(ax, points, unborn_on(ax))
    pixels = find_pixels(points, n_total=len(points)) if len(points) > MOST_MARKERS else None
    with writer.saving(fig, str(path), check_integer("dpi", dpi, low=10)):
        for colours, title in _frames(found, order, n_frames, unborn_on(ax)):
            ax.set_title(title, fontsize="medium")
            if pixels is None:
                artist.set_facecolors(colours)
            else:
                artist.set_data(paint(pixels, colours))
            writer.grab_frame()
        for _ in range(fps):  # time to see the end
            writer.grab_frame()
    return Path(path)


def _find_writer(path: Path, fps: int) -> AbstractMovieWriter:
    if path.suffix == ".gif":
        return PillowWriter(fps=fps)
    if path.suffix != ".mp4":
        raise ValueError(f"path must end in .gif or .mp4, got {str(path)!r}.")
    if not FFMpegWriter.isAvailable():
        raise RuntimeError(f"{path.name} needs the program ffmpeg, which is not installed. Write a .gif instead.")
    return FFMpegWriter(fps=fps)


def _frames(
    found: Clustering, order: NDArray[Any], n_frames: int, unborn: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.float64], str]]:
    """Colours of the samples in the given order, and a title, for every frame."""
    own = film_colours(found)
    local = found.local_labels[order]
    level = found.log_intensity[order]
    n_growing = n_frames // 2
    for share in np.linspace(LOWEST_SHARE, 1.0, n_growing):
        threshold = np.quantile(level, 1 - share)
        born = level >= threshold
        n_born = int((found.log_intensity[found.peaks] >= threshold).sum())
        yield (
            np.where(born[:, None], own[local], unborn),
            f"growing: intensity from {np.exp(threshold):.3g}, {count_of(n_born, 'local cluster')}",
        )
    merges, root = merge_order(found), np.arange(len(found.peaks))
    done = 0
    # few merges per frame in the end, where clusters are large
    left = np.geomspace(max(len(merges), 1), 0.5, n_frames - n_growing)
    for remaining in left:
        target = len(merges) - int(remaining)
        unions.union_edges(root, found.topo_graph.edges, merges[done:target])
        done = max(done, target)
        top = highest_of_group(root)
        shown = found.edge_cut.labels if done == len(merges) else None
        colours = own[top][local] if shown is None else colours_of(shown[local])
        n_groups = len(np.unique(top)) if shown is None else found.n_clusters
        yield colours, f"merging: {count_of(n_groups, 'cluster')}"


def film_colours(found: Clustering) -> NDArray[np.float64]:
    """(m, 3) colours of local clusters; the one with the highest peak of a final cluster has that cluster's."""
    colours = local_colours(found.topo_graph)
    labels, first = np.unique(found.edge_cut.labels, return_index=True)  # lower numbers are higher peaks
    colours[first] = colours_of(labels)
    return colours


def merge_order(found: Clustering) -> NDArray[Any]:
    """Edges along which the local clusters merge, in order."""
    hierarchy = found.hierarchy
    if hierarchy is None:
        return found.edge_cut.merged
    merges = merges_down_to(hierarchy, found.n_clusters)
    within = found.topo_graph.inside(found.edge_cut.labels)[merges]
    return merges if within.all() else found.edge_cut.merged  # the answer need not come from the hierarchy


def highest_of_group(root: NDArray[Any]) -> NDArray[Any]:
    """(m,) local cluster with the highest peak among those that a union-find holds together."""
    top = root.copy()
    unions.find_all(top)
    _, first, group = np.unique(top, return_index=True, return_inverse=True)
    return np.asarray(first[group])
