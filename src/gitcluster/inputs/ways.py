"""The shortest ways between local clusters that no boundary pair connects."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gitcluster._support.arrays import Array
from gitcluster.neighbors import SklearnIndex, TreeIndex, round_distances

Way = tuple[float, int, int]
"""The distance between two samples, and the two."""


class Ways(ABC):
    """Short ways between some samples."""

    @abstractmethod
    def leave(self, component: Array) -> list[Way]:
        """For every component but the largest, the shortest way from one of its samples to one of another component."""


class MatrixWays(Ways):
    """Ways in a matrix of distances."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def leave(self, component: Array) -> list[Way]:
        """The shortest way out of every component but the largest."""
        return [
            self._between(np.flatnonzero(component == number), np.flatnonzero(component != number))
            for number in np.flatnonzero(np.arange(component.max() + 1) != np.bincount(component).argmax())
        ]

    def _between(self, rows: Array, others: Array) -> Way:
        block = self.matrix[np.ix_(rows, others)].astype(np.float64)
        round_distances(block)
        ends = np.argwhere(block == block.min())
        pairs = np.sort(np.stack([rows[ends[:, 0]], others[ends[:, 1]]], axis=1), axis=1)
        i, j = min(map(tuple, pairs.tolist()))
        return float(block.min()), i, j


class PointWays(Ways):
    """Ways between samples in features."""

    def __init__(self, points: Any, metric: str) -> None:
        self.points = points
        self.index = (TreeIndex if TreeIndex.supports(points, metric) else SklearnIndex)(points, metric=metric)

    def leave(self, component: Array) -> list[Way]:
        """The shortest way out of every component but the largest; near samples are asked for first."""
        waiting = np.flatnonzero(component != np.bincount(component).argmax())
        best: dict[int, Way] = {}
        for n_asked in (min(n, self.points.shape[0]) for n in (8, 32)):
            distances, found = self.index.candidates(waiting, n_asked)
            round_distances(distances)
            outside = component[found] != component[waiting][:, None]
            nearest = np.where(outside, distances, np.inf).min(axis=1)
            for row in np.flatnonzero(outside.any(axis=1)):
                i, j = int(waiting[row]), int(found[row][outside[row] & (distances[row] == nearest[row])].min())
                way = (float(nearest[row]), min(i, j), max(i, j))
                best[component[i]] = min(best.get(component[i], way), way)
            # a sample that was shown nobody outside, though all that are nearer than the best way, need not be asked
            reach = np.array([best.get(component[i], (np.inf,))[0] for i in waiting])
            waiting = waiting[~outside.any(axis=1) & (distances[:, -1] < reach)]
            if not len(waiting):
                break
        for number in np.unique(component[waiting]):  # large components
            inside = component == number
            d, i, j = self.index.nearest_pair(np.flatnonzero(inside), np.flatnonzero(~inside))
            best[number] = (d, min(i, j), max(i, j))
        return list(best.values())
