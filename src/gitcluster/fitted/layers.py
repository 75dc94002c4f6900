"""Layers: the few numbers of clusters that a fit supports, one inside the other, from coarse to fine.

The scores that choose the number of clusters rank the numbers that come next and differ by a half or more, see
``selection.rank_numbers``. These are cuts of one hierarchy, so that every cluster lies in one cluster of the layer
before. Links hold in every layer. Bounds on sizes hold in the layer of the fit only: local clusters that move between
clusters of one layer would not stay in one cluster of the layer before.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_integer
from gitcluster.constraints import UnmetConstraintsError
from gitcluster.fitted.attributes import apply_cut
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.cutting import cut_nested

DISTINCT = 1.5
"""Numbers of clusters nearer than this factor are one answer."""
SUPPORTED = 0.1
"""Confidence that a number needs for a layer of its own."""


class Layer(NamedTuple):
    """One of several nested clusterings."""

    labels: Array
    """(n,) cluster of every sample; 0 is the largest cluster, -1 is noise."""
    parents: Array
    """(c,) the cluster of the layer before in which every cluster lies; -1 in the first layer."""
    names: tuple[str, ...]
    """(c,) the way down to every cluster: "1.0" is the largest part of cluster 1 of the first layer."""
    sizes: NDArray[np.int64]
    """(c,) number of samples in every cluster."""
    score: float
    """Score of this number of clusters, of ``n_clusters_scores_``; NaN where the fit was told a number."""

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.names)


def find_layers(found: Clustering, numbers: Iterable[int] | None = None) -> list[Layer]:
    """Layers from coarse to fine, with these numbers of clusters or with those that the scores rank first.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from gitcluster import git_clusters
    >>> centers = [[0, 0], [0, 3], [20, 0], [20, 3]]
    >>> X = make_blobs(400, centers=centers, cluster_std=0.4, random_state=0)[0]
    >>> [layer.names for layer in find_layers(git_clusters(X), [2, 4])]
    [('0', '1'), ('0.0', '1.0', '0.1', '1.1')]
    """
    if found.hierarchy is None:
        raise ValueError(f"variant={found.variant.name!r} makes no hierarchy, so no layers. Use variant='adaptive'.")
    wanted = ranked_numbers(found) if numbers is None else {check_integer("n_clusters", n, low=1) for n in numbers}
    layers: list[Layer] = []
    before: Array | None = None
    for number in sorted(wanted):
        try:
            cut = cut_nested(found, number)
        except UnmetConstraintsError:
            if numbers is not None:
                raise
            continue  # the scores do not consider links, which may need more clusters
        if layers and cut.max() < layers[-1].n_clusters:
            continue  # there are no more peaks
        layers.append(make_layer(found, cut, before, layers[-1].names if layers else ()))
        before = cut
    return layers


def ranked_numbers(found: Clustering) -> set[int]:
    """The number of the fit, and those that come next by their scores and differ by a half or more."""
    if found.n_clusters_scores is None:
        raise ValueError(
            "The fit was told its number of clusters and has no scores of others. Fit GIT(n_clusters='auto'), or name "
            "the numbers: layers([3, 8])."
        )
    table, own = found.n_clusters_scores, found.n_clusters
    ranked = table["n_clusters"][(table["rank"] > 0) & (table["confidence"] >= SUPPORTED)].tolist()
    others = {n for n in ranked if n > 1 and (n >= DISTINCT * own or DISTINCT * n <= own)}
    return {own, *others}


def make_layer(found: Clustering, cut: Array, before: Array | None, names: tuple[str, ...]) -> Layer:
    """Return one layer from the clusters of local clusters; ``before`` and ``names`` are of the layer above it."""
    labels, n_clusters = apply_cut(found, cut), int(cut.max()) + 1
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
    parents = np.full(n_clusters, -1)
    paths = [str(c) for c in range(n_clusters)]
    if before is not None:
        parents = before[np.unique(cut, return_index=True)[1]]  # that of any of its local clusters: cuts are nested
        place = [int((parents[:c] == parents[c]).sum()) for c in range(n_clusters)]
        paths = [f"{names[parent]}.{nth}" for parent, nth in zip(parents, place, strict=True)]
    return Layer(labels, parents, tuple(paths), sizes, _score_of(found, n_clusters))


def _score_of(found: Clustering, n_clusters: int) -> float:
    table = found.n_clusters_scores
    here = np.empty(0) if table is None else table["score"][table["n_clusters"] == n_clusters]
    return float(here[0]) if len(here) else np.nan
