"""Samples in features, dense or sparse."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from gitcluster._support.arrays import Array, reorder_rows, starts_of
from gitcluster.inputs.base import Input, Validate, as_floats, check_distances_are_usable
from gitcluster.inputs.matching import DenseMatcher, SparseMatcher
from gitcluster.inputs.ordering import all_features, order_scaling, order_sparse
from gitcluster.inputs.representations import (
    FeatureKinds,
    Representation,
    name_of,
    named_way,
    represent,
    represent_table,
)
from gitcluster.inputs.scaling import LARGEST, Scaling, apply_scaling, fit_scaling, scale_checked
from gitcluster.inputs.ways import PointWays, Ways
from gitcluster.kernels import run_chunks
from gitcluster.kernels.search import expand_queries
from gitcluster.neighbors import (
    Neighbors,
    RecomputeRows,
    choose_query_index,
    empty_neighbors,
    measure_neighbors,
    search_points,
)
from gitcluster.neighbors.duplicates import canonical_order, group_duplicates, hash_positions, ranked_rows, row_bytes

MOST_STUDIED = 5000
"""Samples by which ways to look at features are judged and clusterings are compared, where there are more."""


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
    def can_wait(self) -> bool:
        return not issparse(self.values)  # sums of sparse features are rounded

    @property
    def n_samples(self) -> int:
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1]) if self.given_features is None else self.given_features

    def scaled(self, scale: ArrayLike | str | None) -> "Points":
        return self.under(self.represented("std" if isinstance(scale, str) and scale == "auto" else scale, None)[0])

    def represented(
        self, scale: Any, rows: Array | None, *, order: Array | None = None, n_jobs: int | None = None
    ) -> list[Representation]:
        if isinstance(scale, tuple) and scale and isinstance(scale[0], Representation):
            return list(scale)
        if self.metric != "euclidean" and (scale is None or isinstance(scale, str)):
            return [Representation("given", None)]
        if isinstance(scale, str) and scale in ("auto", "components"):
            ways = represent(self._take(rows, order), self._base(n_jobs), self.kinds, n_jobs=n_jobs)
            return ways if scale == "auto" else [named_way(ways, scale)]
        if self.kinds is not None and (scale is None or scale == "std"):
            rows = self.some_rows(MOST_STUDIED, order=order, n_jobs=n_jobs)
            some = self._take(rows, order)
            return [represent_table(some, self._base(n_jobs), self.kinds, divide=scale is not None)]
        if isinstance(scale, str) and scale == "std":
            return [Representation("std", self._base(n_jobs))]
        scaling = fit_scaling(self.values, scale)
        if self.metric == "euclidean":  # others, such as haversine, may depend on the order of the features
            scaling = scaling.put_in_order(self._feature_order(n_jobs))
        return [Representation(name_of(scale), scaling)]

    def _base(self, n_jobs: int | None) -> Scaling:
        """Return the standard deviations of the features, which are in their own order; learnt once."""
        if "base" not in vars(self):
            base = fit_scaling(self.values, "std", n_jobs=n_jobs)
            if issparse(self.values):
                base = base.put_in_order(order_sparse(self.values))
            else:
                base = order_scaling(self.values, base, n_jobs=n_jobs)
            vars(self)["base"] = base
        return vars(self)["base"]  # type: ignore[no-any-return]

    def _feature_order(self, n_jobs: int | None) -> Array:
        """Return the features in an order that does not depend on how they were given; those that vary come first."""
        if issparse(self.values):
            return order_sparse(self.values)
        return all_features(self._base(n_jobs), self.values.shape[1])

    def _take(self, rows: Array | None, order: Array | None) -> Any:
        """Some of the samples in an order, or all of them."""
        if order is not None:
            rows = order if rows is None else order[rows]
        return self.values if rows is None else self.values[rows]

    def under(self, way: Representation, *, order: Array | None = None, n_jobs: int | None = None) -> "Points":
        found = replace(self, order=self.order if order is None else None)
        if self.metric != "euclidean" and way.scaling is None:
            return replace(found, values=apply_scaling(self.values, None, rows=order))
        blurred = way.scaling is not None and (len(way.scaling.powers) or way.scaling.rotation.size)
        given = self._take(None, order) if self.named and blurred and not issparse(self.values) else None
        values = scale_checked(self.values, way.scaling, rows=order, n_jobs=n_jobs)
        return replace(found, values=values, scaling=way.scaling, kinds=None, given=given)

    def made_again(self, way: Representation, *, order: Array | None = None) -> RecomputeRows | None:
        if issparse(self.values):
            return None
        return lambda rows: apply_scaling(self.values, way.scaling, rows=rows if order is None else order[rows])

    def some_rows(self, most: int, *, order: Array | None = None, n_jobs: int | None = None) -> Array | None:
        if self.n_samples <= most:
            return None
        if issparse(self.values):
            values = self.values[:, order_sparse(self.values)]
            values.sort_indices()
            hashes = np.array([crc32(row) for row in ranked_rows(values)])
        else:
            low, high, features = self.values.min(axis=0), self.values.max(axis=0), self._base(n_jobs).features
            hashes = hash_positions(self.values, low, high, features, n_jobs=n_jobs)
        hashes = hashes if order is None else hashes[order]
        return np.sort(np.lexsort((np.arange(self.n_samples), hashes))[:most])

    def own_order(self, *, always: bool, n_jobs: int | None = None) -> Array | None:
        """Return an order of the samples that depends neither on their order nor on that of the features.

        Published figures are for dense samples as they come, which ``always=False`` leaves as they are.
        """
        if not always and not issparse(self.values):
            return None
        return canonical_order(self.values, None if self.scaling is not None else self._feature_order(n_jobs))

    def first_equal(self, order: Array) -> Array:
        values = self.values[order] if issparse(self.values) else self.values[order] + 0.0  # -0.0 and 0.0 are equal
        first, group = group_duplicates(values)
        equal = np.empty_like(order)
        equal[order] = order[first[group]]
        return equal

    def unscaled_neighbors(self, near: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
        return measure_neighbors(self.values, near, n_jobs=n_jobs) if self.metric == "euclidean" else near

    def neighbors(
        self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None, again: RecomputeRows | None = None
    ) -> Neighbors:
        found = search_points(self.values, n_neighbors, self.metric, search=search, n_jobs=n_jobs, recompute=again)
        check_distances_are_usable(found.distances)
        return found

    def check_new(self, X: Any, validate: Validate) -> Any:
        samples = as_floats(X, validate, ensure_min_samples=1)
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
        k, (first, starts, members) = min(n_neighbors, self.n_samples), self._distinct
        found = np.zeros((new.shape[0], 1), np.int64), np.zeros((new.shape[0], 1), new.dtype)  # no feature varies
        if new.shape[1]:
            found = self._index.query(new, min(k, len(first)), n_jobs=n_jobs)
        if len(first) < self.n_samples:
            rows, found = found, empty_neighbors(new.shape[0], k, found[1].dtype)
            run_chunks(expand_queries, new.shape[0], n_jobs, *rows, starts, members, *found)
        return Neighbors(self._order[found[0]], found[1])

    @cached_property
    def _order(self) -> Array:
        """The order in which samples are searched, so that which of equally near ones is found does not depend on how
        they were given."""
        order = canonical_order(self.values) if self.order is None else self.order
        return _as_short(order)

    @cached_property
    def _distinct(self) -> tuple[Array, Array, Array]:
        """Return the first sample of every distinct row, and the samples row by row with the start of each row.

        All are indices into ``_order``. Only distinct rows are searched: cells full of copies of one sample rule
        nothing out, so that the search among them takes the square of their number.
        """
        if self.values.shape[1] == 0:
            group = np.zeros(self.n_samples, np.int64)  # no feature varies
            return np.zeros(1, np.int64), starts_of(np.bincount(group)), np.arange(self.n_samples)
        first, group = group_duplicates(self.values[self._order])
        return first, starts_of(np.bincount(group)), np.argsort(group, kind="stable")

    @cached_property
    def _index(self) -> Any:
        return choose_query_index(self.values[self._order[self._distinct[0]]], self.metric)

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

    def put_in_order(self, order: Array) -> "Points":
        if issparse(self.values):
            return self.repeat(order)
        for part in (self.values, self.given):
            if part is not None:
                reorder_rows(part, order)
        return self

    def kept(self, members: Array, order: Array | None) -> "Points":
        return self if order is None else replace(self, order=_as_short(order))

    def ways_between(self, peaks: Array) -> Ways | None:
        return PointWays(self.values[peaks], self.metric) if self.values.shape[1] else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}


def tidy_rows(X: Any) -> Any:
    """A CSR array with sorted rows that holds no zeros; a copy."""
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    X.sort_indices()
    if X.nnz < 2**31:  # some metrics know no other
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _as_short(order: Array) -> Array:
    """Indices in as few bytes as hold them."""
    return order.astype(np.int32 if len(order) < 2**31 else np.int64)
