"""Stage 5: cut the noisy edges of the topo-graph against the prior of class proportions, merge the rest.

Algorithm 3: edges by weight, strongest first. The first edge always merges, because the paper's best score starts at
9999. Every later edge merges the clusters at its ends if the distance W1 between the shares of the clusters and the
prior does not grow. Otherwise it is cut. No merge leaves fewer clusters than the prior has. If more are left at the
end, the smallest joins the cluster it is most strongly connected to (Eq. 8-9), again and again. A merge of sizes a and
b changes the area that is W1 only between min(a, b) and a + b, and no more than sqrt(2 n) different sizes exist at a
time, so an edge costs that at most.

The prior: a clustering with shares p is the distribution with mass p_i at position p_i; so is the prior q. Their
distance is the Wasserstein-1 distance on the line, the area between the two cumulative distributions. (Eq. 11 of the
paper sets the ground cost to 1, which makes the distance constant; |p_i - q_j| distinguishes priors.)
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wasserstein_distance

from gitcluster._support.arrays import Array, follow_to_end, inverse_order
from gitcluster._support.validation import check_choice, check_n_clusters, check_proportions
from gitcluster.intensity import rounding_step
from gitcluster.kernels import linkage as kernels
from gitcluster.kernels import structures
from gitcluster.topo_graph import TopoGraph

TOLERANCE = 1e-12
"""Scores that differ by less are equal."""
LEFTOVERS = ("connected", "cut")


class EdgeCut(NamedTuple):
    """Final cluster of every local cluster, with the merges behind it."""

    labels: Array
    """(m,) final cluster of every local cluster: 0 is the largest, ties go to the higher peak."""
    sizes: Array
    """(c,) samples in every final cluster."""
    kept: Array
    """(e,) whether the edge lies inside a final cluster; the others are cut."""
    merged: Array
    """(t,) edges along which the linkage or the sweep merged, in order, without what the sweep left over."""
    scores: NDArray[np.float64]
    """W1 to the prior before the first and after every merge (adaptive variant: before and after all of them); empty
    without a prior."""


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
        Treatment of clusters beyond the requested number. "connected": the smallest joins the cluster it is most
        strongly connected to, until the number is right. "cut": as in the authors' published code, small clusters
        follow the strongest cut edges, and those without any stay.

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
    """Return the sweep against a prior, with edges as strong as the boundary is wide."""
    return cut_edges(graph._replace(log_weights=graph.log_widths), proportions=prior)


def describe_cut(graph: TopoGraph, labels: Array, merged: Array, prior: Array | None) -> EdgeCut:
    """Return a cut of other origin with its sizes, kept and cut edges, and distances to the prior before and after."""
    sizes = np.bincount(labels, graph.sizes).astype(np.int64)
    shares = [graph.sizes / graph.sizes.sum(), sizes / sizes.sum()]
    scores = [] if prior is None else [proportion_distance(share, prior) for share in shares]
    return EdgeCut(labels, sizes, graph.inside(labels), merged, np.array(scores))


def share_distance(graph: TopoGraph, labels: Array, prior: NDArray[np.float64]) -> float:
    """Return W1 between the shares of clusters and a prior."""
    sizes = np.bincount(labels, graph.sizes)
    return proportion_distance(sizes / sizes.sum(), prior)


def label_by_size(root: Array, sizes: Array) -> tuple[Array, Array]:
    """Return labels 0, 1, ... of union-find roots, largest cluster first, ties to the lower number."""
    _, first, group = np.unique(follow_to_end(root), return_index=True, return_inverse=True)
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
    for to, small in sorted(sums, key=lambda pair: (-sums[pair], pair)):
        target = structures.find(joined, to)
        if joined[small] == small and target != small:
            joined[small] = target
    first = np.array([np.flatnonzero(labels == c)[0] for c in range(len(sizes))])
    root[:] = first[[structures.find(joined, label) for label in labels]]


def resolve_proportions(
    n_clusters: int | str | None, proportions: ArrayLike | str | None, *, n_samples: int
) -> tuple[int | None, NDArray[np.float64] | None]:
    """Return the number and the prior that ``n_clusters`` and ``proportions`` specify, None if unspecified.

    The prior is shares that sum to 1, largest first. ``n_clusters="auto"`` or None leaves the number open;
    ``proportions="equal"`` is a prior of equal shares.

    Examples
    --------
    >>> resolve_proportions("auto", [1, 2, 1], n_samples=100)
    (3, array([0.5 , 0.25, 0.25]))
    >>> resolve_proportions(4, "equal", n_samples=100)
    (4, array([0.25, 0.25, 0.25, 0.25]))
    >>> resolve_proportions(4, None, n_samples=100)
    (4, None)
    """
    number = None
    if n_clusters is not None and not (isinstance(n_clusters, str) and n_clusters == "auto"):
        number = check_n_clusters(n_clusters, n_samples)
    if proportions is None:
        return number, None
    if isinstance(proportions, str) and proportions == "equal":
        if number is None:
            raise ValueError("proportions='equal' needs the number of clusters. Set n_clusters to an integer.")
        return number, equal_shares(number)
    shares = check_proportions(proportions)
    if number is not None and number != len(shares):
        raise ValueError(
            f"n_clusters={n_clusters} and proportions disagree: proportions has {len(shares)} entries. "
            "Set one of them, or make them agree."
        )
    if len(shares) > n_samples:
        raise ValueError(
            f"proportions has {len(shares)} clusters, more than n_samples = {n_samples}. Use fewer clusters."
        )
    return len(shares), np.sort(shares)[::-1]


def equal_shares(n_clusters: int) -> NDArray[np.float64]:
    """Return the prior of ``n_clusters`` equal shares."""
    return np.full(n_clusters, 1.0 / n_clusters)


def proportion_distance(predicted: Any, prior: Any) -> float:
    """Return W1 between two lists of shares, each summing to 1; their order does not matter.

    Examples
    --------
    >>> proportion_distance([0.5, 0.5], [0.5, 0.5])
    0.0
    >>> proportion_distance([1.0], [0.5, 0.5])
    0.5
    """
    return float(wasserstein_distance(predicted, prior, predicted, prior))
