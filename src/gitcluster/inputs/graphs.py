"""Stage 1 for those who bring their own neighbours: a sparse graph of distances, or indices and distances of any index.

Rows may have different numbers of neighbours, or none. A place that stays empty holds the sample itself at an infinite
distance, which every later stage passes over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import Array, starts_of
from gitcluster._support.validation import check_integer, check_unmasked
from gitcluster.inputs.base import Input, Validate
from gitcluster.kernels import run_chunks
from gitcluster.kernels import search as kernels
from gitcluster.neighbors import Neighbors, RecomputeRows, empty_neighbors
from gitcluster.neighbors.duplicates import row_bytes

WHAT = "metric='precomputed_graph' takes a sparse matrix of distances or a tuple (indices, distances)"


@dataclass(frozen=True, eq=False)
class NeighborGraph(Input):
    """A sparse graph of distances between near samples."""

    graph: Any
    """CSR array of shape (n_samples, n_samples)."""
    metric: ClassVar[str] = "precomputed_graph"
    symmetric: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False

    @property
    def n_samples(self) -> int:
        return int(self.graph.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.graph.shape[1])

    def scaled(self, scale: Any) -> "NeighborGraph":
        return self

    def neighbors(
        self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None, again: RecomputeRows | None = None
    ) -> Neighbors:
        return graph_neighbors(self.graph, n_neighbors=n_neighbors, n_jobs=n_jobs)

    def check_new(self, X: Any, validate: Validate) -> Any:
        return check_graph(X, n_fitted=self.n_samples)

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        k = min(n_neighbors, self.n_samples)
        return graph_neighbors(new, n_neighbors=k, same=False, n_jobs=n_jobs)

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """A function that knows no sample: a new one may have the neighbours of a fitted one."""
        return self._match

    def _match(self, new: Any) -> Array:
        return np.full(new.shape[0], -1)

    def is_same(self, new: Any, members: Array) -> bool:
        return new.shape == self.graph.shape and row_bytes(new) == row_bytes(self.graph)

    def rows(self, members: Array, X: Any = None) -> Any:
        return self.graph[members]

    def repeat(self, rows: Array) -> "NeighborGraph":
        raise NotImplementedError("samples of a graph are not repeated")


def graph_neighbors(
    graph: Any, *, n_neighbors: int | None = None, same: bool = True, n_jobs: int | None = None
) -> Neighbors:
    """Neighbours from a graph of distances; the ``n_neighbors`` nearest where a row has more.

    Parameters
    ----------
    graph : CSR array of shape (n_samples, n_samples)
        As :func:`check_graph` returns it.
    n_neighbors : int, default=None
        All by default.
    same : bool, default=True
        Whether rows and columns are the same samples, which do not count as their own neighbours.
    n_jobs : int, default=None

    Examples
    --------
    >>> chain = check_graph((np.array([[1], [0], [1]]), np.array([[1.0], [1.0], [2.0]])))
    >>> graph_neighbors(chain).indices.ravel()
    array([1, 0, 1], dtype=int32)
    """
    n_samples = graph.shape[0]
    longest = max(1, int(np.diff(graph.indptr).max()))
    k = longest if n_neighbors is None else min(longest, check_integer("n_neighbors", n_neighbors, low=1))
    indices, distances = empty_neighbors(n_samples, k, graph.dtype)
    run_chunks(
        kernels.nearest_in_graph, n_samples, n_jobs,
        graph.indptr, graph.indices, graph.data, same, indices, distances,
    )  # fmt: skip
    return Neighbors(indices, distances)


def check_graph(graph: Any, *, n_fitted: int | None = None) -> Any:
    """A CSR array of distances from what a user may bring, or an error that says what is wrong with it.

    ``n_fitted`` is given for new samples: their neighbours are among this many fitted ones.
    """
    if issparse(graph):
        try:
            found = csr_array(graph)
            found.check_format(full_check=True)
        except (ValueError, IndexError) as error:
            raise ValueError(f"The sparse graph is not a valid matrix: {error}") from None
    elif isinstance(graph, (tuple, list)) and len(graph) == 2:
        found = _from_arrays(*graph, n_fitted=n_fitted)
    else:
        raise ValueError(f"{WHAT}, got {type(graph).__name__}. Use metric='precomputed' for a dense matrix.")
    if found.dtype.kind not in "fiub":
        raise ValueError(
            f"A graph must hold numbers as distances, got {found.dtype}: complex or other data not supported."
        )
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    n_samples, n_columns = found.shape
    if n_columns != (n_fitted or n_samples):
        where = "square" if n_fitted is None else f"of {n_fitted} columns, one per fitted sample"
        raise ValueError(f"A graph of distances must be {where}, got shape {found.shape}.")
    if n_fitted is None and n_samples < 2:
        raise ValueError(f"Found a graph with {n_samples} sample(s) while a minimum of 2 is required.")
    if np.isnan(found.data).any() or (found.data < 0).any():
        raise ValueError("A graph must hold distances >= 0, got negative or missing ones. Pass distances, not weights.")
    return _without_repeats(found)


def _from_arrays(indices: Any, distances: Any, *, n_fitted: int | None) -> Any:
    check_unmasked("X", indices, distances)
    try:
        indices, distances = np.asarray(indices), np.asarray(distances)
        if distances.dtype.kind in "iub":
            distances = distances.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{WHAT}, got rows of different lengths. Fill them up with index -1.") from None
    if (
        indices.ndim != 2
        or indices.shape != distances.shape
        or indices.dtype.kind not in "iu"
        or distances.dtype.kind not in "fiub"
    ):
        raise ValueError(
            f"{WHAT} of one shape (n_samples, k), integers and numbers, got shapes {indices.shape} of type "
            f"{indices.dtype} and {distances.shape}."
        )
    n_samples = len(indices)
    n_columns = n_fitted or n_samples
    there = (indices != -1) & ~np.isposinf(distances)
    found = indices[there]
    if len(found) and (found.min() < 0 or found.max() >= n_columns):
        raise ValueError(
            f"indices must be from 0 to {n_columns - 1}, or -1 for none, got {found.min()} to {found.max()}."
        )
    starts = starts_of(there.sum(axis=1))
    return csr_array((distances[there], found, starts), shape=(n_samples, n_columns))


def _without_repeats(graph: Any) -> Any:
    """Infinite distances dropped; of several between two samples, the shortest stays."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    order = np.lexsort((graph.data, graph.indices, rows))
    rows, columns, data = rows[order], graph.indices[order], graph.data[order]
    fresh = np.ones(len(rows), np.bool_)
    fresh[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    fresh &= np.isfinite(data)
    starts = starts_of(np.bincount(rows[fresh], minlength=graph.shape[0]))
    return csr_array((data[fresh] + 0.0, columns[fresh], starts), shape=graph.shape)
