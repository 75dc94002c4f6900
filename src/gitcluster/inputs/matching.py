"""Which fitted samples new ones are equal to."""

from typing import Any

import numpy as np

from gitcluster._support.arrays import Array
from gitcluster.neighbors.duplicates import hash_samples, row_bytes


class DenseMatcher:
    """Finds equal rows by their hashes, sorted."""

    def __init__(self, fitted: Array, keys: tuple[Array, ...]) -> None:
        hashes = hash_samples(fitted)
        self.fitted, self.order = fitted, np.lexsort((*keys, hashes))
        self.hashes = hashes[self.order]

    def __call__(self, new: Array) -> Array:
        """The fitted row that every new one equals, or -1."""
        match = np.full(len(new), -1)
        if new.dtype != self.fitted.dtype:
            return match
        place = np.searchsorted(self.hashes, hash_samples(new))
        found = self.order[np.minimum(place, len(self.order) - 1)]
        same = (self.fitted[found] == new).all(axis=1)
        match[same] = found[same]
        return match


class SparseMatcher:
    """Finds equal rows of CSR arrays by what is stored in them."""

    def __init__(self, fitted: Any, keys: tuple[Array, ...]) -> None:
        rows = row_bytes(fitted)
        self.place = {rows[x]: x for x in np.lexsort(keys)[::-1].tolist()}

    def __call__(self, new: Any) -> Array:
        """The fitted row that every new one equals, or -1."""
        return np.array([self.place.get(row, -1) for row in row_bytes(new)], np.int64)
