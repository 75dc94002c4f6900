"""The views of a page: places of the samples as they are given, by principal components, by what parts the clusters."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster.explorer.packing import pack
from gitcluster.explorer.window import Window, fit_window
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.places import Places, part_clusters, place_samples, spread_samples
from gitcluster.preprocessing.sources import Points

MOST_LAID_OUT = 2_000
"""Local clusters up to which the topo-graph is laid out as well."""
EMBEDDING = "Embedding"
LAID_OUT = ("laid out by the topo-graph", "")
TILES = 320
"""Tiles along each side of a window."""


class View(NamedTuple):
    """Places of all samples under a name."""

    name: str
    places: Places


def make_views(found: Clustering, X: Any, embedding: ArrayLike | None) -> list[View]:
    """All ways to look at the samples; the page begins with the first one."""
    views = [] if embedding is None else [View(EMBEDDING, place_samples(found, X, embedding=embedding))]
    if not isinstance(found.source, Points):
        return views or [View("Places", place_samples(found, X))]
    if views and X is None and found.source.n_samples != found.n_samples:
        return views
    places = place_samples(found, X)
    if not places.names[0].startswith("PCA"):
        return [*views, View("As given", places)]
    views.append(View("PCA", places))
    parted = part_clusters(found, X)
    if parted is not None:
        views.append(View("Discriminant", parted))
    if len(found.peaks) <= MOST_LAID_OUT:
        views.append(View("Graph layout", Places(spread_samples(found), LAID_OUT, False)))
    return views


def pack_view(view: View, found: Clustering, rows: NDArray[np.int64]) -> dict[str, Any]:
    """The places of some samples, in coordinates near to -1 to 1; and how many there are of all of them, and where."""
    window = fit_window(view.places.xy)
    packed = {
        "name": view.name,
        "one_scale": view.places.one_scale or view.name == EMBEDDING,
        "as_given": view.places.as_given,
        "axes": [
            {"name": name, "centre": centre, "unit": unit}
            for name, centre, unit in zip(view.places.names, window.centre, window.unit, strict=True)
        ],
        "extent": window.extent,
        "outside": window.n_outside,
        "place": pack(window.coordinates[rows].ravel()),
    }
    if len(rows) < found.n_samples:
        packed["density"] = _pack_density(window, np.asarray(found.local_labels))
    return packed


def _pack_density(window: Window, local_labels: NDArray[Any]) -> dict[str, Any]:
    """For every tile, row by row from below: the samples in it, and the local cluster that most of them are in.

    Samples beyond the window count in the tile at its edge that is next to them.
    """
    tile = np.clip((window.coordinates.astype(float) + 1) / 2 * TILES, 0, TILES - 1).astype(np.int64)
    place = tile[:, 1] * TILES + tile[:, 0]
    n_local = int(local_labels.max()) + 1
    pairs, counts = np.unique(place * n_local + local_labels, return_counts=True)
    order = np.argsort(counts, kind="stable")  # of every tile the most frequent comes last, and stays
    most = np.zeros(TILES * TILES, np.int64)
    most[pairs[order] // n_local] = pairs[order] % n_local
    return {"side": TILES, "counts": pack(np.bincount(place, minlength=TILES * TILES)), "locals": pack(most)}
