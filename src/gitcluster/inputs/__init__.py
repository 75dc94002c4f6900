"""What is clustered: samples, a matrix of their distances, or a graph of their neighbours.

Three types with one interface. Each finds the neighbours of its samples (stage 1), the nearest of them to new samples,
which of them new samples are equal to, and the shortest ways between local clusters that nothing else connects.
:func:`check_input` makes one of them from what a user brings; nothing is checked again after that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Self
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array

from gitcluster._support.arrays import Array
from gitcluster.inputs.graphs import check_graph, graph_neighbors
from gitcluster.inputs.matching import DenseMatcher, SparseMatcher
from gitcluster.inputs.representations import (
    FeatureKinds,
    Representation,
    name_of,
    named_way,
    represent,
    represent_table,
)
from gitcluster.inputs.scaling import LARGEST, Scaling, apply_scaling, fit_scaling, scale_checked
from gitcluster.inputs.ways import MatrixWays, PointWays, Ways
from gitcluster.neighbors import Neighbors, find_neighbors, measure_neighbors, nearest_in_matrix
from gitcluster.neighbors.cells import gather_cells, nearest_in_cells
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates, hash_places, ranked_rows, row_bytes
from gitcluster.neighbors.exact import empty_neighbors, fits_cells, quiet_conversion

MOST_STUDIED = 5000
"""Samples by which ways to look at features are judged and clusterings are compared, where there are more."""
SMALLEST = 1e10
"""Where the largest distance is below this many of the smallest floats, ratios of distances lose their digits."""

Validate = Callable[..., Any]
"""scikit-learn's ``check_array``, or ``validate_data`` of an estimator, which keeps the names of features as well."""


class Input(ABC):
    """What is clustered, checked."""

    repeatable: ClassVar[bool] = True
    """Whether a sample can be there several times."""
    symmetric: ClassVar[bool] = True
    """Whether d(x, y) = d(y, x) up to rounding."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Features, or columns, of what was given."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples."""

    @abstractmethod
    def neighbors(self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None) -> Neighbors:
        """Stage 1."""

    @abstractmethod
    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        """The nearest samples to new ones, which :meth:`check_new` has checked."""

    @abstractmethod
    def check_new(self, X: Any, validate: Validate) -> Any:
        """New samples, in the form that the other methods take."""

    @abstractmethod
    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """A function that tells which sample every new one equals, -1 where there is none.

        Of several equal samples it is the one with the lowest keys, the last key first.
        """

    @abstractmethod
    def is_same(self, new: Any, members: Array) -> bool:
        """Whether new samples are exactly these of the samples."""

    @abstractmethod
    def rows(self, members: Array, X: Any = None) -> Any:
        """Some of the samples, as :meth:`nearest` takes them; ``X`` is what was fitted, where it was not kept."""

    @abstractmethod
    def repeat(self, rows: Array) -> Self:
        """Some of the samples, some of them more than once."""

    @abstractmethod
    def scaled(self, scale: Any) -> "Input":
        """As distances are measured."""

    def represented(self, scale: Any, rows: Array | None) -> list[Representation]:
        """The ways in which distances may be measured, from a look at some of the samples, or all."""
        return [Representation("given", None)]

    def under(self, way: Representation) -> "Input":
        """As distances are measured in one of these ways."""
        return self

    def some_rows(self, most: int) -> Array | None:
        """``most`` of the samples, whatever their order and units; None where there are no more, or no such choice."""
        return None

    def own_order(self, *, always: bool) -> Array | None:
        """An order of the samples that does not depend on how they were given; None where there is none."""
        return None

    def first_equal(self, order: Array) -> Array:
        """The first sample, in an order, that every sample is equal to."""
        return np.arange(self.n_samples)

    def unscaled_neighbors(self, near: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
        """The same neighbours, with their distances before anything was scaled."""
        return near

    def as_new(self, given: Any) -> Any:
        """All samples that were given, in the form that new ones have."""
        raise NotImplementedError("samples of this kind are not repeated")

    def kept(self, members: Array, order: Array | None) -> "Input":
        """What is kept after a fit: ``members`` are the samples that were given, each once, ``order`` their own one."""
        return self

    def ways_between(self, peaks: Array) -> Ways | None:
        """Finds short ways between some of the samples; None where there is nothing to measure them by."""
        return None


@dataclass(frozen=True, eq=False)
class Points(Input):
    """Samples in features, dense or sparse."""

    values: Any
    """(n_samples, n_used_features) ndarray or CSR array, whose distances are measured."""
    metric: str = "euclidean"
    scaling: Scaling | None = None
    """How ``values`` were made from the features that were given."""
    given_features: int | None = None
    """Features that were given, where some are not used."""
    order: Array | None = None
    """An order of the samples that does not depend on how they were given, where a fit has found it."""
    kinds: FeatureKinds | None = None
    """What is known of the features, where they are columns of a table, until they are scaled."""
    named: bool = False
    """Whether the features have names, so that people may ask for their values."""
    given: Any = None
    """(n_samples, n_features) what ``values`` were made from, where features have names and it cannot be told."""

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1]) if self.given_features is None else self.given_features

    def scaled(self, scale: ArrayLike | str | None) -> "Points":
        return self.under(self.represented("std" if isinstance(scale, str) and scale == "auto" else scale, None)[0])

    def represented(self, scale: Any, rows: Array | None) -> list[Representation]:
        if isinstance(scale, tuple) and scale and isinstance(scale[0], Representation):
            return list(scale)  # of an earlier fit
        if self.metric != "euclidean" and (scale is None or isinstance(scale, str)):
            return [Representation("given", None)]
        if isinstance(scale, str) and scale in ("auto", "components"):
            base = fit_scaling(self.values, "std")
            some = self.values if rows is None else self.values[rows]
            ways = represent(some, base, self.kinds) if base is not None else []
            return ways if scale == "auto" else [named_way(ways, scale)]
        if self.kinds is not None and (scale is None or scale == "std"):
            rows, base = self.some_rows(MOST_STUDIED), fit_scaling(self.values, "std")
            some = self.values if rows is None else self.values[rows]
            return [represent_table(some, base, self.kinds, divide=scale is not None)] if base is not None else []
        return [Representation(name_of(scale), fit_scaling(self.values, scale))]

    def under(self, way: Representation) -> "Points":
        if self.metric != "euclidean" and way.scaling is None:
            return replace(self, values=apply_scaling(self.values, None))
        blurred = way.scaling is not None and (len(way.scaling.powers) or way.scaling.rotation.size)
        given = self.values if self.named and blurred and not issparse(self.values) else None
        return replace(
            self, values=scale_checked(self.values, way.scaling), scaling=way.scaling, kinds=None, given=given
        )

    def some_rows(self, most: int) -> Array | None:
        if self.n_samples <= most:
            return None
        if issparse(self.values):
            hashes = np.array([crc32(row) for row in ranked_rows(self.values)])
        else:
            hashes = hash_places(self.values, self.values.min(axis=0), self.values.max(axis=0))
        return np.sort(np.lexsort((np.arange(self.n_samples), hashes))[:most])

    def own_order(self, *, always: bool) -> Array | None:
        """An order of the samples that does not depend on how they were given.

        Published figures are for dense samples as they come, which ``always=False`` leaves as they are.
        """
        return canonical_order(self.values) if always or issparse(self.values) else None

    def first_equal(self, order: Array) -> Array:
        values = self.values[order] if issparse(self.values) else self.values[order] + 0.0  # -0.0 and 0.0 are equal
        first, group = group_duplicates(values)
        equal = np.empty_like(order)
        equal[order] = order[first[group]]
        return equal

    def unscaled_neighbors(self, near: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
        return measure_neighbors(self.values, near, n_jobs=n_jobs) if self.metric == "euclidean" else near

    def neighbors(self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None) -> Neighbors:
        found = find_neighbors(self.values, n_neighbors=n_neighbors, metric=self.metric, search=search, n_jobs=n_jobs)
        check_distances_are_usable(found.distances)
        return found

    def check_new(self, X: Any, validate: Validate) -> Any:
        samples = _as_floats(X, validate, ensure_min_samples=1)
        if issparse(self.values):
            samples = tidy_rows(samples)
        elif issparse(samples):
            samples = samples.toarray()
        return self.place(samples.astype(self.values.dtype, copy=False))

    def place(self, samples: Any) -> Any:
        """Samples scaled like the fitted ones."""
        with np.errstate(over="ignore"):
            points = apply_scaling(samples, self.scaling)
        if self.metric == "euclidean" and not issparse(points):
            far = LARGEST[points.dtype.char]  # a new sample may be anywhere, its distances are to be finite
            np.clip(points, -far, far, out=points)
        return points

    def as_new(self, given: Any) -> Any:
        return self.place(given.values)

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        k = min(n_neighbors, self.n_samples)
        found = empty_neighbors(new.shape[0], k, new.dtype)
        found[0][:], found[1][:] = np.arange(k), 0.0 if new.shape[1] == 0 else np.inf
        if new.shape[1] == 0:
            return Neighbors(*found)
        if fits_cells(new, self.metric):
            nearest_in_cells(gather_cells(new, n_jobs=n_jobs), self._cells, found, n_jobs=n_jobs)
        else:
            with quiet_conversion():
                distances, indices = self._index.set_params(n_jobs=n_jobs).kneighbors(new, k)
            found = indices, np.maximum(np.nan_to_num(distances, nan=np.inf), 0.0)
        return Neighbors(self._order[found[0]], found[1])

    @cached_property
    def _order(self) -> Array:
        """The order in which samples are searched, so that which of equally near ones is found does not depend on how
        they were given."""
        order = canonical_order(self.values) if self.order is None else self.order
        return _as_short(order)

    @cached_property
    def _cells(self) -> Any:
        return gather_cells(self.values[self._order])

    @cached_property
    def _index(self) -> NearestNeighbors:
        with quiet_conversion():
            return NearestNeighbors(metric=self.metric).fit(self.values[self._order])

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """A function that tells which sample every new one equals, -1 where there is none."""
        return SparseMatcher(self.values, keys) if issparse(self.values) else DenseMatcher(self.values, keys)

    def is_same(self, new: Any, members: Array) -> bool:
        if new.dtype != self.values.dtype or new.shape[1] != self.values.shape[1]:
            return False
        if issparse(self.values):
            return row_bytes(new) == row_bytes(self.values[members])
        return bool((self.values[members[0]] == new[0]).all() and np.array_equal(self.values[members], new))

    def rows(self, members: Array, X: Any = None) -> Any:
        return self.values[members]

    def repeat(self, rows: Array) -> "Points":
        given = None if self.given is None else self.given[rows]
        return replace(self, values=self.values[rows], given=given, order=None)

    def kept(self, members: Array, order: Array | None) -> "Points":
        return self if order is None else replace(self, order=_as_short(order))

    def ways_between(self, peaks: Array) -> Ways | None:
        return PointWays(self.values[peaks], self.metric) if self.values.shape[1] else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}


@dataclass(frozen=True, eq=False)
class Distances(Input):
    """A matrix of distances between samples."""

    matrix: Any
    """(n_samples, n_samples), or None after a fit."""
    size: int
    fingerprint: str = ""
    """Checksum of the matrix, by which a model knows what it was fitted to."""
    columns: Array | None = None
    """(n_samples,) columns of the given matrix, where samples are there several times."""
    metric: ClassVar[str] = "precomputed"

    @property
    def n_samples(self) -> int:
        return self.size

    @property
    def n_features(self) -> int:
        return self.size

    def scaled(self, scale: Any) -> "Distances":
        return self

    def neighbors(self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None) -> Neighbors:
        found = find_neighbors(self.matrix, n_neighbors=n_neighbors, metric=self.metric, n_jobs=n_jobs)
        check_distances_are_usable(found.distances)
        return found

    def check_new(self, X: Any, validate: Validate) -> Any:
        samples = _as_floats(X, validate, ensure_min_samples=1)
        check_not_negative(samples)
        return samples if self.columns is None else samples[:, self.columns]

    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        return nearest_in_matrix(new, min(n_neighbors, self.size), same=False, n_jobs=n_jobs)

    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """A function that tells which sample every new one equals: that at distance 0."""
        return self._match

    def _match(self, new: Array) -> Array:
        nearest = new.argmin(axis=1)
        return np.where(new[np.arange(len(nearest)), nearest] == 0, nearest, -1)

    def is_same(self, new: Any, members: Array) -> bool:
        return _checksum(new) == self.fingerprint

    def rows(self, members: Array, X: Any = None) -> Any:
        if X is None:
            raise ValueError("With metric='precomputed' the model keeps no distances: explain(i, j, X=distances).")
        X = np.asarray(X)
        return X[members] if self.columns is None else X[self.columns[members]][:, self.columns]

    def repeat(self, rows: Array) -> "Distances":
        return Distances(self.matrix[rows][:, rows], len(rows), columns=rows)

    def as_new(self, given: Any) -> Any:
        return given.matrix if self.columns is None else given.matrix[:, self.columns]

    def kept(self, members: Array, order: Array | None) -> "Distances":
        return replace(self, matrix=None, fingerprint=_checksum(self.matrix[members]))

    def ways_between(self, peaks: Array) -> Ways:
        return MatrixWays(self.matrix[np.ix_(peaks, peaks)])


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

    def neighbors(self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None) -> Neighbors:
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
    samples = _as_floats(X, validate, ensure_min_samples=2)
    if is_pairwise(metric):
        check_matrix(samples)
    return as_input(tidy_rows(samples) if issparse(samples) else samples, metric)


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


def _as_floats(X: Any, validate: Validate, *, ensure_min_samples: int) -> Any:
    if issparse(X) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a sparse matrix of complex numbers.")
    with np.errstate(invalid="ignore", over="ignore"):  # of sums that look for values that are not finite
        try:
            return validate(
                X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr", ensure_min_samples=ensure_min_samples
            )
        except OverflowError as error:
            raise ValueError(f"X has a value that is too large for a float: {error}") from None


def tidy_rows(X: Any) -> Any:
    """A CSR array with sorted rows that holds no zeros; a copy."""
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    if X.nnz < 2**31:  # some metrics know no other
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def check_matrix(matrix: Any) -> None:
    """Raise where a matrix of distances between samples is not valid."""
    if issparse(matrix):
        raise ValueError("A sparse matrix of distances lacks most of them: use metric='precomputed_graph'.")
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"metric='precomputed' takes a square matrix of distances, got shape {matrix.shape}. "
            "Use another metric for samples by features."
        )
    check_not_negative(matrix)


def check_not_negative(distances: Any) -> None:
    """Raise where a distance is below 0."""
    if (distances < 0).any():
        raise ValueError("metric='precomputed' takes distances, got negative values. Pass distances, not similarities.")


def check_distances_are_usable(distances: Array) -> None:
    """Raise where distances are so small that their ratios have lost their digits."""
    if 0 < distances.max() < SMALLEST * np.finfo(distances.dtype).tiny:
        raise ValueError(
            "The distances between samples are too small for floating point. Multiply X, or use scale='std'."
        )


def _as_short(order: Array) -> Array:
    """Indices in as few bytes as hold them."""
    return order.astype(np.int32 if len(order) < 2**31 else np.int64)


def _checksum(matrix: Array) -> str:
    return sha256(matrix.tobytes()).hexdigest()
