"""Stage 5: cut the noisy edges of the topo-graph against the prior, merge the rest.

Algorithm 3: edges by weight, strongest first. The first edge always merges, because the paper's best score starts at
9999. Every later edge merges the clusters at its ends if the distance W1 between the shares of the clusters and the
prior does not grow. Otherwise it is cut. No merge leaves fewer clusters than the prior has. If more are left at the
end, the smallest joins the cluster it is most strongly connected to (Eq. 8-9), again and again. A merge of sizes a and
b changes the area that is W1 only between min(a, b) and a + b, and no more than sqrt(2 n) different sizes exist at a
time, so an edge costs that at most.

In: topo-graph and prior. Out: :class:`EdgeCut`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.validation import check_choice
from gitcluster.intensity import rounding_step
from gitcluster.kernels import linkage as kernels
from gitcluster.kernels import structures
from gitcluster.prior.proportions import equal_shares, proportion_distance, resolve_proportions
from gitcluster.topo_graph import TopoGraph

TOLERANCE = 1e-12
"""Scores that differ by less are equal."""
LEFTOVERS = ("connected", "cut")


class EdgeCut(NamedTuple):
    """Final cluster of every local cluster, and how it came about."""

    labels: Array
    """(m,) final cluster of every local cluster: 0 is the largest, ties go to the higher peak."""
    sizes: Array
    """(c,) samples in every final cluster."""
    kept: Array
    """(e,) whether the edge lies inside a final cluster; the others are cut."""
    merged: Array
    """(t,) edges along which the linkage or the sweep merged, in order, without what the sweep left over."""
    scores: NDArray[np.float64]
    """W1 to the prior before the first and after every merge (default variant: before and after all of them); empty
    where there was no prior."""


def cut_edges(
    graph: TopoGraph,
    *,
    n_clusters: int | None = None,
    proportions: ArrayLike | None = None,
    leftover: str = "connected",
) -> EdgeCut:
    """Merge local clusters into final clusters in the proportions of the prior.

    The strongest edge always merges, even if the distance W1 to the prior grows. Later merges never increase W1.

    Parameters
    ----------
    graph : TopoGraph
    n_clusters : int, default=None
        Number of final clusters; a prior of equal shares when no proportions are given.
    proportions : array-like of shape (n_clusters,), default=None
        Expected shares of the clusters, in any scale and order.
    leftover : {"connected", "cut"}, default="connected"
        What becomes of clusters beyond those asked for: the smallest joins what it is connected to until the
        number is right; or, as in the authors' published code, the small ones follow the strongest cut edges, and
        those without any stay.

    Examples
    --------
    >>> import numpy as np
    >>> graph = TopoGraph(
    ...     sizes=np.array([5, 4, 1]), peaks=np.array([0, 1, 2]), edges=np.array([[0, 1], [1, 2]]),
    ...     log_weights=np.log([0.1, 0.3]), pairs=np.array([2, 1]),
    ... )
    >>> cut_edges(graph, n_clusters=2).labels
    array([0, 1, 1])
    """
    check_choice("leftover", leftover, LEFTOVERS)
    n_samples = int(graph.sizes.sum())
    number, prior = resolve_proportions(n_clusters, proportions, n_samples=n_samples)
    if number is None:
        raise ValueError("n_clusters or proportions must be given, got neither.")
    prior = (equal_shares(number) if prior is None else prior)[::-1]
    root, sizes = np.arange(len(graph.sizes)), graph.sizes.astype(np.int64)
    strength = np.rint(graph.log_weights / rounding_step(np.float64))
    order = np.argsort(-strength, kind="stable")
    outcome, merged, changes = kernels.sweep_edges(
        order[graph.real[order]], graph.edges, sizes, root,
        prior * n_samples, np.cumsum(prior), TOLERANCE,
    )  # fmt: skip
    if leftover == "connected":
        kernels.join_smallest(
            graph.edges, graph.log_sums, graph.pairs, sizes, root, len(prior), rounding_step(np.float64)
        )
    else:
        _follow_cut_edges(graph, outcome, root, len(prior))
    labels, sizes = label_by_size(root, graph.sizes)
    start = proportion_distance(graph.sizes / graph.sizes.sum(), prior)
    scores = start + np.cumsum(np.concatenate(([0.0], changes)))
    return EdgeCut(labels, sizes, graph.inside(labels), merged, np.maximum(scores, 0.0))


def cut_by_width(graph: TopoGraph, prior: NDArray[np.float64]) -> EdgeCut:
    """The sweep against a prior, edges as strong as the boundary is wide."""
    return cut_edges(graph._replace(log_weights=graph.log_widths), proportions=prior)


def describe_cut(graph: TopoGraph, labels: Array, merged: Array, prior: Array | None) -> EdgeCut:
    """A cut that was made elsewhere: its sizes, kept and cut edges, and distances to the prior before and after."""
    sizes = np.bincount(labels, graph.sizes).astype(np.int64)
    shares = [graph.sizes / graph.sizes.sum(), sizes / sizes.sum()]
    scores = [] if prior is None else [proportion_distance(share, prior) for share in shares]
    return EdgeCut(labels, sizes, graph.inside(labels), merged, np.array(scores))


def share_distance(graph: TopoGraph, labels: Array, prior: NDArray[np.float64]) -> float:
    """W1 between the shares of clusters of local clusters and a prior."""
    sizes = np.bincount(labels, graph.sizes)
    return proportion_distance(sizes / sizes.sum(), prior)


def label_by_size(root: Array, sizes: Array) -> tuple[Array, Array]:
    """Labels 0, 1, ... of union-find roots, largest cluster first, ties to the lower number."""
    top = root.copy()
    structures.find_all(top)
    _, first, group = np.unique(top, return_index=True, return_inverse=True)
    totals = np.bincount(group, weights=sizes).astype(np.int64)
    order = np.lexsort((first, -totals))
    return inverse_order(order)[group], totals[order]


def _follow_cut_edges(graph: TopoGraph, outcome: Array, root: Array, n_clusters: int) -> None:
    """Join clusters beyond the largest along summed weights of cut edges, strongest first."""
    labels, sizes = label_by_size(root, graph.sizes)
    sums: dict[tuple[int, int], float] = {}
    for e in np.flatnonzero(outcome < 0):
        i, j = labels[graph.edges[e]].tolist()
        for to, small in ((i, j), (j, i)):
            if small >= n_clusters and to != small:
                sums[to, small] = float(np.logaddexp(sums.get((to, small), -np.inf), graph.log_weights[e]))
    joined = np.arange(len(sizes))
    for to, small in sorted(sums, key=lambda way: (-sums[way], way)):
        target = structures.find(joined, to)
        if joined[small] == small and target != small:
            joined[small] = target
    first = np.array([np.flatnonzero(labels == c)[0] for c in range(len(sizes))])
    root[:] = first[[structures.find(joined, label) for label in labels]]
