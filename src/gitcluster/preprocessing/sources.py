"""The data of a fit: samples in features, a matrix of distances, or a graph of neighbours.

:func:`check_source` turns the user's X into one of three classes with the same methods; nothing is checked again after
that. Each class searches the neighbours of its samples (stage 1), the nearest of them to new samples, new samples that
equal fitted ones, and the shortest bridges between local clusters that no boundary pair connects.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array

from gitcluster._support.arrays import Array, short_indices, starts_of
from gitcluster._support.validation import check_integer, check_unmasked
from gitcluster.kernels import run_chunks
from gitcluster.kernels import search as kernels
from gitcluster.neighbors import (
    Neighbors,
    choose_query_index,
    empty_neighbors,
    find_neighbors,
    matrix_neighbors,
    measure_pairs,
    round_distances,
)
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates, hash_samples, row_bytes
from gitcluster.preprocessing.representations import FeatureKinds, Representation
from gitcluster.preprocessing.scaling import LARGEST, Scaling, apply_scaling, scale_checked

MIN_DISTANCE_RATIO = 1e10
"""If the largest distance is below this multiple of the smallest normal float, ratios of distances lose digits."""
GRAPH_INPUT = "metric='precomputed_graph' takes a sparse matrix of distances or a tuple (indices, distances)"

Validate = Callable[..., Any]
"""scikit-learn's ``check_array``, or ``validate_data`` of an estimator, which also stores the names of features."""
SearchAmong = Callable[[Array, Array, int], tuple[Array, Array]]
"""Returns the distances of some rows to the k nearest of other rows, and these: ``search(rows, others, k)``."""


def check_source(X: Any, metric: str, *, validate: Validate = check_array) -> "Source":
    """Return samples, distances (``metric="precomputed"``) or a graph of neighbours ("precomputed_graph"), checked."""
    if metric == NeighborGraph.metric:
        return NeighborGraph(check_graph(X))
    _check_metric(metric)
    samples = as_floats(X, validate, ensure_min_samples=2)
    if is_pairwise(metric):
        if issparse(samples):
            raise ValueError("A sparse matrix lacks most distances. Use metric='precomputed_graph'.")
        if samples.shape[0] != samples.shape[1]:
            raise ValueError(f"metric='precomputed' takes a square matrix of distances, got shape {samples.shape}.")
        _check_not_negative(samples)
    return as_source(tidy_rows(samples) if issparse(samples) else samples, metric)


def as_source(samples: Any, metric: str) -> "Points | Distances":
    """Return samples, or distances between them, that need no check."""
    if is_pairwise(metric):
        return Distances(samples, len(samples))
    return Points(samples, metric, given_features=int(samples.shape[1]))


def is_pairwise(metric: Any) -> bool:
    """Return whether X is a matrix of distances between samples."""
    return bool(metric == Distances.metric)


def takes_sparse(metric: Any) -> bool:
    """Return whether X may be a sparse matrix."""
    return metric not in (Distances.metric, "haversine")


def _check_metric(metric: Any) -> None:
    """Raise ValueError for a metric that is unknown or needs parameters."""
    if metric in ("euclidean", "cosine", Distances.metric) or callable(metric):
        return
    if metric in ("mahalanobis", "pyfunc", "seuclidean"):
        raise ValueError(f"metric={metric!r} needs parameters. Compute the distances and use metric='precomputed'.")
    from sklearn.neighbors import VALID_METRICS  # slow to import

    if not isinstance(metric, str) or not any(metric in names for names in VALID_METRICS.values()):
        raise ValueError(
            f"metric must be one of sklearn.neighbors.VALID_METRICS, got {metric!r}. Use 'precomputed' with distances."
        )


def as_floats(X: Any, validate: Validate, *, ensure_min_samples: int = 2, allow_nan: bool = False) -> Any:
    """Return the user's X as a C-ordered array or CSR matrix of floats."""
    check_unmasked("X", X)
    if issparse(X) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a sparse matrix of complex numbers.")
    with np.errstate(invalid="ignore", over="ignore"):  # sums that detect values that are not finite
        try:
            samples = validate(
                X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr",
                ensure_min_samples=ensure_min_samples, ensure_all_finite="allow-nan",
            )  # fmt: skip
        except OverflowError as error:
            raise ValueError(f"X has a value that is too large for a float: {error}") from None
        values = samples.data if issparse(samples) else samples
        # The sum is NaN if any value is, and much faster than a test of every value.
        if not allow_nan and np.isnan(values.sum()) and np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN in {int(np.isnan(values).sum()):,} cells. Pass a data frame, whose missing "
                "numbers are imputed from the nearest rows, or use sklearn.impute.KNNImputer first."
            )
    return samples


def _check_distances(near: Neighbors) -> Neighbors:
    """Return neighbours unless their distances are so small that ratios have lost their digits."""
    distances = near.distances
    if 0 < distances.max() < MIN_DISTANCE_RATIO * np.finfo(distances.dtype).tiny:
        raise ValueError(
            "The distances between samples are too small for floating point. Multiply X, or use scale='std'."
        )
    return near


def _check_not_negative(distances: Any) -> None:
    if (distances < 0).any():
        raise ValueError("metric='precomputed' takes distances, got negative values. Pass distances, not similarities.")


class _Source:
    """The methods that samples, distances and graphs share. Distances and graphs are square and never scaled."""

    symmetric = True
    """Whether d(x, y) = d(y, x) up to rounding."""
    repeatable = True
    """Whether a sample of weight w can be given as w rows."""

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        raise NotImplementedError

    @property
    def n_features(self) -> int:
        """Return the number of given features."""
        return self.n_samples

    def stored(self, members: Array) -> Any:
        """Return the part that a model stores; ``members`` are the given samples, each once."""
        return self

    def as_new(self, source: Any, rows: Array) -> Any:
        """Return some of the given samples in the form of new ones; those of a graph are never left out."""
        raise NotImplementedError

    def search_among(self, samples: Array) -> SearchAmong | None:
        """Return a function that searches among some of the samples; None if all distances are 0 or unknown."""
        return None


@dataclass(frozen=True, eq=False)
class Points(_Source):
    """Samples in features, dense or sparse."""

    values: Any
    """(n_samples, n_used_features) ndarray or CSR array, between whose rows distances are measured."""
    metric: str = "euclidean"
    scaling: Scaling | None = None
    """The transformation from the given features to ``values``."""
    given_features: int | None = None
    """Number of given features, if some are not used."""
    is_sorted: bool = False
    """Whether the samples are in canonical order, which does not depend on the order in which they were given."""
    kinds: FeatureKinds | None = None
    """Kinds of the features, if they are columns of a table, until they are scaled."""
    named: bool = False
    """Whether the features have names, so that explanations show their values."""
    given: Any = None
    """(n_samples, n_features) features before a power transform or rotation, if they have names."""

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Return the number of given features."""
        return int(self.values.shape[1]) if self.given_features is None else self.given_features

    def transform(
        self, representation: Representation, rows: Array | None, *, is_sorted: bool = False, n_jobs: int | None = None
    ) -> "Points":
        """Return the samples of ``rows`` (None for all) in a representation; never the same array."""
        scaling = representation.scaling
        if self.metric != "euclidean" and scaling is None:
            return replace(self, values=apply_scaling(self.values, None, rows=rows), is_sorted=is_sorted)
        irreversible = scaling is not None and (len(scaling.powers) or scaling.rotation.size)
        given = None
        if self.named and irreversible and not issparse(self.values):
            given = self.values if rows is None else self.values[rows]
        values = scale_checked(self.values, scaling, rows=rows, n_jobs=n_jobs)
        return replace(self, values=values, scaling=scaling, kinds=None, given=given, is_sorted=is_sorted)

    def take(self, rows: Array) -> "Points":
        """Return some of the samples, in another order or more than once."""
        given = None if self.given is None else self.given[rows]
        return replace(self, values=self.values[rows], given=given, is_sorted=False)

    def neighbors(self, n_neighbors: int, *, search: str = "auto", n_jobs: int | None = None) -> Neighbors:
        """Search the nearest neighbours."""
        return _check_distances(
            find_neighbors(self.values, n_neighbors=n_neighbors, metric=self.metric, search=search, n_jobs=n_jobs)
        )

    def check_new(self, X: Any, validate: Validate) -> Any:
        """Return new samples, checked and scaled like the fitted ones."""
        samples = as_floats(X, validate, ensure_min_samples=1)
        if issparse(self.values):
            samples = tidy_rows(samples)
        elif issparse(samples):
            samples = samples.toarray()
        return self.scale_new(samples.astype(self.values.dtype, copy=False))

    def scale_new(self, samples: Any) -> Any:
        """Return samples scaled like the fitted ones."""
        with np.errstate(over="ignore"):
            points = apply_scaling(samples, self.scaling)
        if self.metric == "euclidean" and not issparse(points):
            limit = LARGEST[points.dtype.char]  # distances to new samples stay finite
            np.clip(points, -limit, limit, out=points)
        return points

    def as_new(self, source: Any, rows: Array) -> Any:
        """Return some of the given samples in the form of new ones."""
        return self.scale_new(source.values[rows])

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        """Search the nearest fitted samples of new ones."""
        k, (index, starts, members) = min(n_neighbors, self.n_samples), self._index
        indices, distances = np.zeros((new.shape[0], 1), np.int64), np.zeros((new.shape[0], 1), new.dtype)
        if index is not None:
            indices, distances = index.query(new, min(k, len(starts) - 1), n_jobs=n_jobs)
        if len(starts) - 1 < self.n_samples:
            expanded = empty_neighbors(new.shape[0], k, distances.dtype)
            run_chunks(kernels.expand_queries, new.shape[0], n_jobs, indices, distances, starts, members, *expanded)
            indices, distances = expanded
        return Neighbors(self.search_order[indices], distances)

    @cached_property
    def search_order(self) -> Array:
        """The canonical order of the samples, so that links between equally near ones do not depend on their order."""
        return short_indices(np.arange(self.n_samples) if self.is_sorted else canonical_order(self.values))

    @cached_property
    def _index(self) -> tuple[Any, Array, Array]:
        """An index of the distinct rows, and the samples of every row with the start of each, in ``search_order``.

        Only distinct rows are searched: in cells full of copies of one sample no bound excludes anything, so that a
        search among them is quadratic. If no feature varies, there is no index.
        """
        first, group = group_duplicates(self.values[self.search_order])
        rows = self.values[self.search_order[first]]
        index = choose_query_index(rows, self.metric) if rows.shape[1] else None
        return index, starts_of(np.bincount(group)), np.argsort(group, kind="stable")

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """Return a function that finds the sample that equals each new one, or -1.

        Among equal samples it chooses the lowest keys, the last key first.
        """
        if issparse(self.values):
            rows = row_bytes(self.values)
            first = {rows[x]: x for x in np.lexsort(keys)[::-1].tolist()}
            return lambda new: np.array([first.get(row, -1) for row in row_bytes(new)], np.int64)
        hashes = hash_samples(self.values)
        order = np.lexsort((*keys, hashes))
        hashes = hashes[order]

        def match_rows(new: Array) -> Array:
            if new.dtype != self.values.dtype:
                return np.full(len(new), -1)
            own = hash_samples(new)
            position = np.minimum(np.searchsorted(hashes, own), len(hashes) - 1)
            match = np.where(hashes[position] == own, order[position], -1)
            rows = np.flatnonzero(match >= 0)
            # Different rows with the same hash of 64 bits are too rare to try the next row.
            match[rows[(self.values[match[rows]] != new[rows]).any(axis=1)]] = -1
            return match

        return match_rows

    def is_same(self, new: Any, members: Array) -> bool:
        """Return whether new samples are exactly these samples."""
        if new.dtype != self.values.dtype or new.shape[1] != self.values.shape[1]:
            return False
        if issparse(self.values):
            return row_bytes(new) == row_bytes(self.values[members])
        return bool((self.values[members[0]] == new[0]).all() and np.array_equal(self.values[members], new))

    def search_among(self, samples: Array) -> SearchAmong | None:
        """Return a function that searches among some of the samples; None if no feature varies."""
        if not self.values.shape[1]:
            return None
        points = self.values[samples]
        everyone = choose_query_index(points, self.metric)

        def search(rows: Array, others: Array, k: int) -> tuple[Array, Array]:
            is_all = len(others) == len(samples)
            index = everyone if is_all else choose_query_index(points[others], self.metric)
            near, distances = index.query(points[rows], k)
            near, distances = others[near], distances.astype(np.float64)
            if self.metric == "euclidean":  # scikit-learn's own distances have lost digits
                distances = measure_pairs(points, rows, near, None)
            round_distances(distances)
            return distances, near

        return search

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}


@dataclass(frozen=True, eq=False)
class Distances(_Source):
    """A matrix of distances between samples, with the methods of :class:`Points`."""

    matrix: Any
    """(n_samples, n_samples), or None after a fit."""
    size: int
    fingerprint: str = ""
    """Checksum of the matrix; a model recognises the fitted samples by it."""
    columns: Array | None = None
    """(n_samples,) columns of the given matrix, if samples are repeated."""
    metric: ClassVar[str] = "precomputed"

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return self.size

    def transform(self, representation: Representation, rows: Array | None, **options: Any) -> "Distances":
        """Return the distances between the samples of ``rows`` (None for all)."""
        return self if rows is None else replace(self.take(rows), columns=rows)

    def take(self, rows: Array) -> "Distances":
        """Return the distances between some of the samples."""
        return Distances(self.matrix[np.ix_(rows, rows)], len(rows))

    def neighbors(self, n_neighbors: int, *, n_jobs: int | None = None, **options: Any) -> Neighbors:
        """Return the nearest neighbours of every sample."""
        return _check_distances(find_neighbors(self.matrix, n_neighbors=n_neighbors, metric=self.metric, n_jobs=n_jobs))

    def check_new(self, X: Any, validate: Validate) -> Any:
        """Return distances of new samples to the fitted ones, checked."""
        samples = as_floats(X, validate, ensure_min_samples=1)
        _check_not_negative(samples)
        return samples if self.columns is None else samples[:, self.columns]

    def as_new(self, source: Any, rows: Array) -> Any:
        """Return some of the given samples in the form of new ones."""
        return source.matrix[rows] if self.columns is None else source.matrix[rows][:, self.columns]

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        """Return the nearest fitted samples of new ones."""
        return matrix_neighbors(new, min(n_neighbors, self.size), same=False, n_jobs=n_jobs)

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """Return a function that finds the sample at distance 0 of each new one, or -1."""
        return lambda new: np.where(new.min(axis=1) == 0, new.argmin(axis=1), -1)

    def is_same(self, new: Any, members: Array) -> bool:
        """Return whether new samples are exactly the fitted ones."""
        return sha256(new.tobytes()).hexdigest() == self.fingerprint

    def stored(self, members: Array) -> "Distances":
        """Return the part that a model stores, without the matrix; ``members`` are the given samples, each once."""
        return replace(self, matrix=None, fingerprint=sha256(self.matrix[members].tobytes()).hexdigest())

    def search_among(self, samples: Array) -> SearchAmong:
        """Return a function that searches among some of the samples."""
        matrix = self.matrix[np.ix_(samples, samples)].astype(np.float64)
        round_distances(matrix)

        def search(rows: Array, others: Array, k: int) -> tuple[Array, Array]:
            distances = matrix[np.ix_(rows, others)]
            near = np.argsort(distances, axis=1, kind="stable")[:, :k]
            return np.take_along_axis(distances, near, axis=1), others[near]

        return search


@dataclass(frozen=True, eq=False)
class NeighborGraph(_Source):
    """A sparse graph of distances between near samples, with the methods of :class:`Points`.

    Rows may have different numbers of neighbours, or none. An empty position holds the sample itself at an infinite
    distance, which all later stages skip.
    """

    graph: Any
    """CSR array of shape (n_samples, n_samples)."""
    metric: ClassVar[str] = "precomputed_graph"
    symmetric = False
    repeatable = False

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return int(self.graph.shape[0])

    def transform(self, representation: Representation, rows: Array | None, **options: Any) -> "NeighborGraph":
        """Return the graph, whose samples are not reordered."""
        return self

    def take(self, rows: Array) -> "NeighborGraph":
        """Return the edges between some of the samples."""
        return NeighborGraph(self.graph[rows][:, rows])

    def neighbors(self, n_neighbors: int, *, n_jobs: int | None = None, **options: Any) -> Neighbors:
        """Return the nearest neighbours of every sample."""
        return graph_neighbors(self.graph, n_neighbors=n_neighbors, n_jobs=n_jobs)

    def check_new(self, X: Any, validate: Validate) -> Any:
        """Return the graph of new samples and their fitted neighbours, checked."""
        return check_graph(X, n_fitted=self.n_samples)

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        """Return the nearest fitted samples of new ones."""
        return graph_neighbors(new, n_neighbors=min(n_neighbors, self.n_samples), same=False, n_jobs=n_jobs)

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """Return a function that matches no sample: a new one may have the same neighbours as a fitted one."""
        return lambda new: np.full(new.shape[0], -1)

    def is_same(self, new: Any, members: Array) -> bool:
        """Return whether new samples are exactly the fitted ones."""
        return new.shape == self.graph.shape and row_bytes(new) == row_bytes(self.graph)


Source = Points | Distances | NeighborGraph


def tidy_rows(X: Any) -> Any:
    """Return a copy of a CSR array with sorted rows and without stored zeros."""
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    if X.nnz < 2**31:  # some metrics of scikit-learn support no other indices
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def graph_neighbors(graph: Any, *, n_neighbors: int, same: bool = True, n_jobs: int | None = None) -> Neighbors:
    """Return the nearest neighbours in a checked graph; fewer if no row has as many.

    ``same`` says that rows and columns are the same samples, which are not their own neighbours.
    """
    k = min(max(1, int(np.diff(graph.indptr).max())), check_integer("n_neighbors", n_neighbors, low=1))
    neighbors = empty_neighbors(graph.shape[0], k, graph.dtype)
    parts = graph.indptr, graph.indices, graph.data
    run_chunks(kernels.nearest_in_graph, graph.shape[0], n_jobs, *parts, same, *neighbors)
    return Neighbors(*neighbors)


def check_graph(graph: Any, *, n_fitted: int | None = None) -> Any:
    """Return the user's graph as a CSR array of finite distances, one per pair; raise ValueError if it is not one.

    ``n_fitted`` is the number of fitted samples, if the rows are new samples and the columns fitted ones.
    """
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        graph = _graph_of_arrays(*graph, n_fitted=n_fitted)
    elif not issparse(graph):
        raise ValueError(f"{GRAPH_INPUT}, got {type(graph).__name__}. Use metric='precomputed' for a dense matrix.")
    try:
        checked = csr_array(graph)
        checked.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(f"The sparse graph is not a valid matrix: {error}") from None
    if checked.dtype.kind not in "fiub":
        raise ValueError(f"A graph must hold numbers as distances, got {checked.dtype}. Complex data not supported.")
    if checked.dtype not in (np.float32, np.float64):
        checked = checked.astype(np.float64)
    n_samples, n_columns = checked.shape
    if n_columns != (n_fitted or n_samples):
        raise ValueError(f"A graph must have {n_fitted or n_samples} columns, one per sample, got {n_columns}.")
    if n_fitted is None and n_samples < 2:
        raise ValueError(f"Found a graph with {n_samples} sample(s) while a minimum of 2 is required.")
    if np.isnan(checked.data).any() or (checked.data < 0).any():
        raise ValueError("A graph must hold distances >= 0, got negative or missing ones. Pass distances, not weights.")
    # Keep the shortest of several distances between two samples, unless it is infinite.
    rows = np.repeat(np.arange(n_samples), np.diff(checked.indptr))
    order = np.lexsort((checked.data, checked.indices, rows))
    rows, columns, data = rows[order], checked.indices[order], checked.data[order]
    shortest = np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))[: len(rows)] & np.isfinite(data)
    starts = starts_of(np.bincount(rows[shortest], minlength=n_samples))
    return csr_array((data[shortest] + 0.0, columns[shortest], starts), shape=checked.shape)


def _graph_of_arrays(indices: Any, distances: Any, *, n_fitted: int | None) -> Any:
    """Return the CSR array of (n_samples, k) neighbours and distances, without -1 and infinite distances."""
    check_unmasked("X", indices, distances)
    try:
        indices, distances = np.asarray(indices), np.asarray(distances)
    except (TypeError, ValueError):
        raise ValueError(f"{GRAPH_INPUT}, got rows of different lengths. Fill them up with index -1.") from None
    if indices.ndim != 2 or indices.shape != distances.shape or indices.dtype.kind not in "iu":
        raise ValueError(
            f"{GRAPH_INPUT} of one shape (n_samples, k), got shapes {indices.shape} of type {indices.dtype} and "
            f"{distances.shape}."
        )
    present = (indices != -1) & (distances != np.inf)
    shape = len(indices), n_fitted or len(indices)
    return csr_array((distances[present], indices[present], starts_of(present.sum(axis=1))), shape=shape)
