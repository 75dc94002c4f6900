"""An order of the features that does not depend on how they were given.

The order of the samples decides between equal distances, and it compares feature by feature. Sums over features round
in the order of the features. So both are the same for every order of the columns once the features have an order of
their own: by mean and standard deviation, as shares of their ranges. Features with the same values in other rows, such
as yes/no columns with as many ones, are compared by the rows in which these values are.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.inputs.scaling import ROWS_AT_ONCE, Scaling
from gitcluster.kernels import run_threads
from gitcluster.neighbors.duplicates import GRID

SumColumns = Callable[[NDArray[np.int64]], NDArray[np.uint64]]
"""Hashes of features from the ranks that they have so far, see :func:`sum_columns`."""


def rank_features(keys: Any, hash_columns: SumColumns) -> NDArray[np.int64]:
    """Return the features in their own order, by several rows of ``keys``, then by what stands beside their values.

    Features of equal keys have equal ranks. Rows are hashed by the ranks and values of their features, whatever the
    order of these, and features by the hashes and values of their rows. This is repeated while it separates features.
    Features that are left exchange their places if rows do: in a full grid nothing tells width from height.
    """
    ranks = _rank_alike(keys)
    while ranks.max(initial=-1) + 1 < len(ranks):
        finer = _rank_alike([ranks, hash_columns(ranks)])
        if finer.max() == ranks.max():
            break
        ranks = finer
    return np.argsort(ranks, kind="stable")


def _rank_alike(keys: Any) -> NDArray[np.int64]:
    """Return the rank of every column of some keys, the first key first; equal columns have equal ranks."""
    order = np.lexsort(list(keys)[::-1])
    fresh = np.zeros(len(order), np.int64)
    for key in keys:
        fresh[1:] |= key[order][1:] != key[order][:-1]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(fresh)
    return ranks


def order_scaling(X: Array, scaling: Scaling, *, n_jobs: int | None = None) -> Scaling:
    """Return the scaling by standard deviations with the features of dense samples in their own order."""

    def hash_columns(ranks: NDArray[np.int64]) -> NDArray[np.uint64]:
        return sum_columns(X, scaling, ranks, n_jobs=n_jobs)

    return scaling.take(rank_features([scaling.mean, scaling.deviation], hash_columns))


def all_features(scaling: Scaling, n_features: int) -> NDArray[np.int64]:
    """Return the features of a scaling in their order, then those that do not vary."""
    return np.concatenate([scaling.features, np.setdiff1d(np.arange(n_features), scaling.features)])


def sum_columns(
    X: Array, scaling: Scaling, ranks: NDArray[np.int64], *, n_jobs: int | None = None
) -> NDArray[np.uint64]:
    """Return a hash of every feature of a scaling; those of parts of the samples add up to those of all.

    Values are counted in many small shares of the range: the same in all units.
    """

    def add(start: int) -> NDArray[np.uint64]:
        places = X[start : start + ROWS_AT_ONCE, scaling.features].astype(np.float64).T / 2
        places -= scaling.low[:, None]
        places *= (GRID / scaling.span)[:, None]
        values = mix(np.rint(places).astype(np.int64).view(np.uint64))
        rows = mix(values + mix(ranks.view(np.uint64))[:, None]).sum(axis=0)  # sums wrap around, in any order
        return np.asarray(mix(values + rows).sum(axis=1))

    nothing = np.zeros(len(ranks), np.uint64)
    return np.asarray(sum(run_threads(add, range(0, len(X), ROWS_AT_ONCE), n_jobs), start=nothing))


def order_sparse(X: Any) -> NDArray[np.int64]:
    """Return all features of a CSR array in their own order."""
    largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    columns, rows = X.indices, np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    places = np.rint(X.data / largest[columns] * GRID).astype(np.int64)
    values = mix(places.view(np.uint64))

    def add_up(to: Any, hashes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
        total = np.zeros(size, np.uint64)
        np.add.at(total, to, hashes)
        return total

    def hash_columns(ranks: NDArray[np.int64]) -> NDArray[np.uint64]:
        found = add_up(rows, mix(values + mix(ranks.view(np.uint64))[columns]), X.shape[0])
        return add_up(columns, mix(values + found[rows]), X.shape[1])

    sums = add_up(columns, places.view(np.uint64), X.shape[1])
    return rank_features([np.bincount(columns, minlength=X.shape[1]), sums], hash_columns)


def mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return well-mixed bits (the finalizer of SplitMix64): sums of them are equal for equal sets only."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
