"""A matrix of distances between samples."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster.inputs.base import Input, Validate, as_floats, check_distances_are_usable
from gitcluster.inputs.ways import MatrixWays, Ways
from gitcluster.neighbors import Neighbors, RecomputeRows, find_neighbors, nearest_in_matrix


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

    def neighbors(
        self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None, again: RecomputeRows | None = None
    ) -> Neighbors:
        found = find_neighbors(self.matrix, n_neighbors=n_neighbors, metric=self.metric, n_jobs=n_jobs)
        check_distances_are_usable(found.distances)
        return found

    def check_new(self, X: Any, validate: Validate) -> Any:
        samples = as_floats(X, validate, ensure_min_samples=1)
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


def _checksum(matrix: Array) -> str:
    return sha256(matrix.tobytes()).hexdigest()
