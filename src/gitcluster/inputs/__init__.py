"""What is clustered: samples, a matrix of their distances, or a graph of their neighbours.

Three types with one interface. Each finds the neighbours of its samples (stage 1), the nearest of them to new samples,
which of them new samples are equal to, and the shortest ways between local clusters that nothing else connects.
:func:`check_input` makes one of them from what a user brings; nothing is checked again after that.
"""

import difflib
from typing import Any

from scipy.sparse import issparse
from sklearn.utils import check_array

from gitcluster.inputs.base import Input, Validate, as_floats
from gitcluster.inputs.distances import Distances, check_matrix
from gitcluster.inputs.graphs import NeighborGraph, check_graph
from gitcluster.inputs.points import MOST_STUDIED, Points, tidy_rows

__all__ = [
    "MOST_STUDIED", "Distances", "Input", "NeighborGraph", "Points", "as_floats", "as_input", "check_input",
    "is_pairwise", "takes_sparse",
]  # fmt: skip


def check_input(X: Any, metric: str, *, validate: Validate = check_array) -> Points | Distances | NeighborGraph:
    """Samples, distances or a graph of them, checked; the only check of a fit.

    Parameters
    ----------
    X : array-like, sparse matrix, or (indices, distances)
    metric : str
        "precomputed" for a matrix of distances, "precomputed_graph" for a graph, else any metric between samples.
    validate : callable, default=check_array
        What checks an array.
    """
    if metric == NeighborGraph.metric:
        return NeighborGraph(check_graph(X))
    check_metric(metric)
    samples = as_floats(X, validate, ensure_min_samples=2)
    if is_pairwise(metric):
        check_matrix(samples)
    return as_input(tidy_rows(samples) if issparse(samples) else samples, metric)


def check_metric(metric: Any) -> None:
    """Raise ValueError for a metric that is unknown or needs parameters."""
    if metric in ("euclidean", "cosine", Distances.metric) or callable(metric):
        return
    if metric in ("mahalanobis", "pyfunc", "seuclidean"):
        raise ValueError(f"metric={metric!r} needs parameters. Compute the distances and use metric='precomputed'.")
    from sklearn.neighbors import VALID_METRICS  # takes long to load

    known = {name for names in VALID_METRICS.values() for name in names if isinstance(name, str)}
    if not isinstance(metric, str) or metric not in known:
        near = difflib.get_close_matches(str(metric), known, 1)
        remedy = f"Did you mean {near[0]!r}?" if near else "Use 'precomputed' with a matrix of distances."
        raise ValueError(f"metric must be one of sklearn.neighbors.VALID_METRICS, got {metric!r}. {remedy}")


def as_input(samples: Any, metric: str) -> Points | Distances:
    """Samples, or distances between them, that need no check."""
    if is_pairwise(metric):
        return Distances(samples, len(samples))
    return Points(samples, metric, None, int(samples.shape[1]))


def is_pairwise(metric: Any) -> bool:
    """Whether X is a matrix of distances between samples."""
    return bool(metric == Distances.metric)


def takes_sparse(metric: Any) -> bool:
    """Whether X may be a sparse matrix."""
    return metric not in (Distances.metric, "haversine")
