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
        hashes = hash_samples(new)
        place, last = np.searchsorted(self.hashes, hashes), len(self.order) - 1
        waiting = np.flatnonzero(self.hashes[np.minimum(place, last)] == hashes)
        while len(waiting):  # different rows may have one hash: then the next one is looked at
            found = self.order[place[waiting]]
            same = (self.fitted[found] == new[waiting]).all(axis=1)
            match[waiting[same]] = found[same]
            waiting = waiting[~same]
            place[waiting] += 1
            waiting = waiting[place[waiting] <= last]
            waiting = waiting[self.hashes[place[waiting]] == hashes[waiting]]
        return match


class SparseMatcher:
    """Finds equal rows of CSR arrays by what is stored in them."""

    def __init__(self, fitted: Any, keys: tuple[Array, ...]) -> None:
        rows = row_bytes(fitted)
        self.place = {rows[x]: x for x in np.lexsort(keys)[::-1].tolist()}

    def __call__(self, new: Any) -> Array:
        """The fitted row that every new one equals, or -1."""
        return np.array([self.place.get(row, -1) for row in row_bytes(new)], np.int64)
