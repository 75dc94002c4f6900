"""Prepare the samples of a fit once: apply weights, merge duplicates, sort, learn the scale of the features.

:func:`prepare` returns :class:`Samples`, whose ``rows`` is the only permutation of a fit. All stages work on samples in
that order, and ``copies`` restores the given order at the end. The order is lexicographic, so that the result of a fit
depends on the order of neither rows nor columns.
"""

from dataclasses import replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, inverse_order, short_indices
from gitcluster._support.validation import check_sample_weight
from gitcluster.constraints import Constraints
from gitcluster.kernels import limit_threads
from gitcluster.neighbors.duplicates import (
    canonical_order,
    group_duplicates,
    hash_positions,
    hash_samples,
    ranked_rows,
)
from gitcluster.preprocessing.dependence import are_dependent, is_multimodal
from gitcluster.preprocessing.representations import (
    Representation,
    find_kinds,
    represent,
    represent_table,
    representation_name,
)
from gitcluster.preprocessing.rounding import number_copies, rounding_steps, spread_rounded
from gitcluster.preprocessing.scaling import Scaling, all_features, fit_scaling, mix, order_scaling, order_sparse
from gitcluster.preprocessing.sources import Points, Source

MAX_STUDIED = 5000
"""Size of the subsample that compares representations. Costs grow with the number of representations, which a larger
sample would multiply, and an adjusted Rand index of 5,000 samples has a standard error of about .01."""
SCALES = ("auto", "std", "components")
"""Names of scalings."""
MIN_EQUAL = 0.05
"""Share of rows that equal another one from which on rounded values get noise."""
MIN_VARIANCE = 1e-9
"""Variance of a direction, beside the largest one, from which on it counts."""
MAX_REPEATS = 10
"""Integer weights are repeated rows up to this many rows per sample. A copy is a neighbour like any other sample, while
a weighted sample is one neighbour whatever its weight, so that repeated rows follow the definition of a weight."""


class Samples(NamedTuple):
    """The samples of a fit in the order in which all stages use them."""

    source: Source
    """The data as they were given."""
    rows: Array | None = None
    """(n,) given sample behind every sample; None if these are all given samples in the given order."""
    copies: Array | None = None
    """(n_given,) a sample that every given one is, -1 if its weight is 0; None if ``rows`` is None."""
    weights: NDArray[np.float64] | None = None
    """(n,) weights, unless they are applied by repeating rows."""
    constraints: Constraints | None = None
    features: Array | None = None
    """All features in canonical order."""
    base: Scaling | None = None
    """Standard deviations of dense samples."""
    is_sorted: bool = False
    """Whether ``rows`` is the canonical order."""

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return self.source.n_samples if self.rows is None else len(self.rows)

    def take(self, some: Array) -> "Samples":
        """Return some of the samples, without constraints."""
        rows = some if self.rows is None else self.rows[some]
        weights = None if self.weights is None else self.weights[some]
        return self._replace(rows=rows, copies=None, weights=weights, constraints=None)

    def values(self, some: Array | None = None) -> Any:
        """Return the given features of some of the samples, or of all."""
        assert isinstance(self.source, Points)
        rows = self.rows if some is None else some if self.rows is None else self.rows[some]
        return self.source.values if rows is None else self.source.values[rows]


def prepare(
    source: Source,
    *,
    sample_weight: ArrayLike | None = None,
    constraints: Constraints | None = None,
    sort: bool = True,
    n_jobs: int | None = None,
) -> Samples:
    """Return the samples as all stages use them.

    Integer weights repeat rows, fractions enter the formulas of the stages. Dense samples are sorted, but not for the
    published variants.
    """
    rows, copies, weights = apply_weights(source, check_sample_weight(sample_weight, source.n_samples), constraints)
    if constraints is not None and rows is not None:
        constraints = constraints.take(rows)
    samples = Samples(source, rows, copies, weights, constraints)
    if not isinstance(source, Points):
        return samples

    values = samples.values()
    if issparse(values):
        samples = samples._replace(features=order_sparse(values))
    else:
        base = order_scaling(values, fit_scaling(values, "std", n_jobs=n_jobs), n_jobs=n_jobs)
        samples = samples._replace(base=base, features=all_features(base, values.shape[1]))
        if not sort:
            return samples
    order = canonical_order(values, samples.features)
    if constraints is not None:  # equal samples may belong to different groups
        rank = inverse_order(order)[_first_equal(values, order)]
        order = np.lexsort((constraints.rank_groups(rank), rank))
        constraints = constraints.take(order)
    position = inverse_order(order)
    return samples._replace(
        rows=short_indices(order if rows is None else rows[order]),
        copies=short_indices(position if copies is None else np.where(copies < 0, -1, position[copies])),
        weights=None if weights is None else weights[order],
        constraints=constraints,
        is_sorted=True,
    )


def subsample(samples: Samples, size: int, *, n_jobs: int | None = None) -> Array | None:
    """Return ``size`` of the samples, ascending, chosen by a hash of their values; None if there are no more.

    The choice depends on neither the order of the samples nor their units. Every copy of a row has its own hash.
    """
    source, rows = samples.source, samples.rows
    if samples.n_samples <= size or not isinstance(source, Points):
        return None
    order = np.arange(samples.n_samples) if samples.is_sorted else canonical_order(samples.values(), samples.features)
    rows = order if rows is None else rows[order]
    if issparse(source.values):
        values = source.values[rows][:, samples.features]
        values.sort_indices()
        hashes = np.array([crc32(row) for row in ranked_rows(values)], np.uint64) << np.uint64(32)
        keys = hash_copies(hashes, hashes[1:] == hashes[:-1])
        return np.sort(order[smallest_keys(keys, size)])
    assert samples.base is not None
    left_out = samples.copies is not None and (samples.copies < 0).any()
    used = samples.values() if left_out else source.values
    bounds = used.min(axis=0), used.max(axis=0)
    keys = sample_keys(source.values, rows, bounds, samples.base.features, n_jobs=n_jobs)
    chosen = smallest_keys(keys, size)
    if are_merged(keys[chosen]):
        chosen = smallest_keys(sample_keys(source.values, rows, None, samples.base.features), size)
    return np.sort(order[chosen])


def sample_keys(
    values: Array, rows: Array, bounds: tuple[Array, Array] | None, features: Array, *, n_jobs: int | None = None
) -> NDArray[np.uint64]:
    """Return one hash per row in ``rows``, which are in canonical order. Equal rows have different hashes.

    ``bounds`` are the lowest and the highest value of every feature, for :func:`hash_positions`. With None, the values
    are hashed as they are.
    """
    if bounds is None:
        hashes = hash_samples(values[:, features] + 0.0)  # -0.0 and 0.0 are equal
    else:
        hashes = hash_positions(values, *bounds, features, n_jobs=n_jobs)
    hashes = hashes[rows]
    equal = hashes[1:] == hashes[:-1]
    for feature in features.tolist():  # equal positions need not be equal values
        candidates = np.flatnonzero(equal)
        equal[candidates] = values[rows[candidates + 1], feature] == values[rows[candidates], feature]
    return hash_copies(hashes, equal)


def hash_copies(hashes: NDArray[np.uint64], equal: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return another hash for every copy of a row except the first; rows are in canonical order.

    ``equal`` states for every row, from the second on, whether it equals the one before. If copies shared a hash, a
    subsample would contain all of them or none: the data would seem to have holes.
    """
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = ~equal
    copies = number_copies(is_first)
    return np.where(copies > 0, mix(hashes + mix(copies)), hashes)


def smallest_keys(keys: NDArray[np.uint64], size: int) -> Array:
    """Return the positions of the smallest hashes, ascending; of equal hashes the first."""
    return np.sort(np.argsort(keys, kind="stable")[:size])


def are_merged(keys: NDArray[np.uint64]) -> bool:
    """Return whether most hashes of a subsample occur more than once.

    Equal hashes belong to different rows in one grid cell of :func:`hash_positions`. If a single value is a hundred
    million times larger than the others, nearly all rows share a cell, and the hash cannot choose between them.
    """
    _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return bool((counts[group] > 1).mean() > 0.5)


def find_steps(samples: Samples) -> NDArray[np.float64] | None:
    """Return the steps of rounded features, see :func:`rounding_steps`; None if hardly any rows are equal.

    Piles of equal rows are what noise repairs. Without them, values may be rounded as much as they are.
    """
    assert isinstance(samples.source, Points)
    group = group_duplicates(samples.values() + 0.0)[1]  # -0.0 and 0.0 are equal
    if (np.bincount(group)[group] > 1).mean() < MIN_EQUAL:
        return None
    kinds = samples.source.kinds
    steps = rounding_steps(samples.values(), None if kinds is None else kinds.discrete)
    return steps if steps.any() else None


def are_mostly_discrete(samples: Samples) -> bool:
    """Return whether more than half of the columns are categories, or yes/no columns of an array."""
    source = samples.source
    assert isinstance(source, Points)
    if source.kinds is None:
        values = samples.values()
        two = (values == values.min(axis=0)) | (values == values.max(axis=0))
        return bool(two.all(axis=0).mean() > 0.5)
    discrete = dict(zip(source.kinds.column.tolist(), source.kinds.discrete.tolist(), strict=True))
    return sum(discrete.values()) > len(discrete) / 2


def are_independent(samples: Samples) -> bool:
    """Return whether no column of a table with categories depends on another one, nor has several modes.

    Clusters make columns depend on one another. Only a number with several modes has clusters of its own.
    """
    source = samples.source
    if not isinstance(source, Points) or source.kinds is None or not source.kinds.discrete.any():
        return False
    values, kinds = samples.values(), source.kinds
    columns = [np.flatnonzero(kinds.column == column) for column in np.unique(kinds.column)]
    discrete = [bool(kinds.discrete[own[0]]) for own in columns]
    if are_dependent([values[:, own] for own in columns], discrete).any():
        return False
    numbers = [values[:, own[0]] for own, is_discrete in zip(columns, discrete, strict=True) if not is_discrete]
    return not any(is_multimodal(number) for number in numbers)


def add_noise(samples: Samples, steps: NDArray[np.float64], draw: int) -> Samples:
    """Return the samples with uniform noise of half a step in their rounded features."""
    assert isinstance(samples.source, Points)
    assert samples.features is not None
    values = spread_rounded(samples.values(), steps, samples.features, draw)
    return samples._replace(source=replace(samples.source, values=values), rows=None, copies=None, is_sorted=False)


def without_clusters(samples: Samples) -> Samples:
    """Return as many samples without clusters: random directions from the centre, and shuffled categories.

    Numbers have the same covariances and the same distances from the centre, in standard deviations of each direction.
    So they may be correlated or have heavy tails. The seed is fixed, and rows and columns are in canonical order.
    """
    source, features = samples.source, samples.features
    assert isinstance(source, Points)
    assert features is not None
    values, rng = samples.values()[:, features].astype(np.float64), np.random.default_rng(0)
    kinds = find_kinds(values)[0] if source.kinds is None else source.kinds.take(features)
    numbers = values[:, ~kinds.discrete]
    tiny = np.finfo(np.float64).tiny
    largest = np.maximum(np.abs(numbers).max(axis=0, initial=0), tiny)  # variances could overflow
    mean, spread = (numbers / largest).mean(axis=0), (numbers / largest).std(axis=0)
    numbers = (numbers / largest - mean) / np.where(spread > 0, spread, 1.0)
    with limit_threads(1):  # the result does not depend on the number of threads
        variances, axes = np.linalg.eigh(numbers.T @ numbers / len(numbers))
        used = variances > MIN_VARIANCE * variances.max(initial=0)
        deviations, axes = np.sqrt(variances[used]), axes[:, used]
        # Rotated to the axes and back, so that the signs of the axes do not matter.
        directions = rng.normal(size=numbers.shape) @ axes
        radii = np.linalg.norm(numbers @ axes / deviations, axis=1)
        radii /= np.maximum(np.linalg.norm(directions, axis=1), tiny)
        numbers = (radii[:, None] * directions * deviations) @ axes.T
    values[:, ~kinds.discrete] = (mean + spread * numbers) * largest
    for column in np.unique(kinds.column[kinds.discrete]):
        own = kinds.column == column
        values[:, own] = values[np.ix_(rng.permutation(len(values)), own)]
    return prepare(replace(source, values=values[:, inverse_order(features)]))


def find_representations(
    samples: Samples, scale: Any, studied: Samples | None = None, *, n_jobs: int | None = None
) -> list[Representation]:
    """Return the representations of the features that ``scale`` requests.

    Weights, power transforms and principal components are learned from the ``studied`` samples, by default from all.
    """
    source, named = samples.source, isinstance(scale, str)
    if named and scale not in SCALES:
        raise ValueError(f"scale must be one of {SCALES}, None or one weight per feature, got {scale!r}.")
    if isinstance(scale, tuple) and scale and isinstance(scale[0], Representation):
        return list(scale)
    if not isinstance(source, Points) or (source.metric != "euclidean" and (scale is None or named)):
        return [Representation("given", None)]
    features = samples.features
    assert features is not None
    if named and (scale != "std" or source.kinds is None):
        base = samples.base or fit_scaling(samples.values(), "std").put_in_order(features)
        if scale == "std":
            return [Representation("std", base)]
        choices = represent((studied or samples).values(), base, source.kinds, n_jobs=n_jobs)
        if scale == "auto":
            return choices
        chosen = next(some for some in choices if some.name == scale)
        if chosen.scaling is None:
            raise ValueError(f"scale={scale!r} is not possible here: {chosen.reason}. Use scale='std'.")
        return [chosen]
    if source.kinds is not None and (scale is None or named):
        some = subsample(samples, MAX_STUDIED, n_jobs=n_jobs)
        assert samples.base is not None
        return [represent_table(samples.values(some), samples.base, source.kinds, divide=scale is not None)]
    scaling = fit_scaling(source.values, scale)
    if source.metric == "euclidean":  # other metrics, such as haversine, may depend on the order of the features
        scaling = scaling.put_in_order(features)
    return [Representation(representation_name(scale), scaling)]


def apply_weights(
    source: Source, weights: NDArray[np.float64] | None, constraints: Constraints | None
) -> tuple[Array | None, Array | None, NDArray[np.float64] | None]:
    """Return the rows to use, the first of them that every given sample is (-1 for none), and the remaining weights.

    Integers repeat rows, unless they would take much memory, or a sample of weight 0 has links. Otherwise, equal
    samples of one group are one row of their total weight.
    """
    if weights is None:
        return None, None, None
    n_samples = source.n_samples
    groups = np.full(n_samples, -1) if constraints is None else constraints.groups
    is_small = weights.sum() <= max(MAX_REPEATS * n_samples, 10_000)
    if source.repeatable and is_small and (weights == np.floor(weights)).all() and (groups[weights == 0] < 0).all():
        if weights.sum() < 2:
            raise ValueError("sample_weight must sum to 2 or more if it holds integers.")
        rows, copies = np.repeat(np.arange(n_samples), weights.astype(np.int64)), np.full(n_samples, -1)
        copies[rows[::-1]] = np.arange(len(rows))[::-1]
        return rows, copies, None
    equal = _first_equal(source.values, np.arange(n_samples)) if isinstance(source, Points) else np.arange(n_samples)
    _, first, copies = np.unique(np.stack([equal, groups]), axis=1, return_index=True, return_inverse=True)
    if len(first) == n_samples or len(first) < 2:
        return None, None, weights
    copies = copies.ravel()
    by_weight = np.lexsort((weights, copies))  # sums do not depend on the order of the samples
    totals = np.add.reduceat(weights[by_weight], np.searchsorted(copies[by_weight], np.arange(len(first))))
    return first, copies, totals


def _first_equal(values: Any, order: Array) -> Array:
    """Return the first sample, in an order, that every sample is equal to."""
    ordered = values[order] if issparse(values) else values[order] + 0.0  # -0.0 and 0.0 are equal
    first, group = group_duplicates(ordered)
    equal = np.empty_like(order)
    equal[order] = order[first[group]]
    return equal
