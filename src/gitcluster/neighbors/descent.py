"""Neighbour descent, for samples that an exact search cannot handle in reasonable time.

A neighbour of a neighbour is likely a neighbour (Dong, Moses and Li 2011). Samples are halved across the axis along
which they vary the most until every block is small. Every block is compared with those nearest to it, as in the search
by bounds. Then, in rounds, every sample is compared with the neighbours of its neighbours and of the samples whose
neighbour it is. In the first round it also has a scout: a sample of the block with the nearest mean, from which halving
may have separated it. If the estimated recall is too low, blocks are compared with more others.

The result does not depend on threads or the order of rows. Samples are processed in the order of a hash of their
values. A round reads the links of the round before and writes only the lists of its own samples. A list holds the first
of all compared samples by (squared distance in single precision, position), in whatever order they were compared.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.kernels import bounds as kernels
from gitcluster.kernels import limit_threads, run_chunks, run_threads
from gitcluster.neighbors.bounds import (
    AXES_SAMPLE,
    MAX_AXES,
    SPARE,
    Axes,
    Margins,
    ProjectingIndex,
    Projections,
    compare_pairs,
    empty_lists,
    find_axes,
    find_margins,
    find_unit,
    nearest_mean,
    project,
)
from gitcluster.neighbors.duplicates import hash_samples
from gitcluster.neighbors.index import (
    Neighbors,
    empty_neighbors,
    measure_pairs,
    round_distances,
    search_all_pairs,
)

GOOD_RECALL = 0.99
"""With a lower recall, blocks are compared with more others, and in the end the user is warned."""
MAX_BLOCKS = 8192
"""With more, the matrix of compared blocks and the search for near blocks would cost too much."""
LEADING_AXES = 96
"""Axes along which samples are compared before all features are; the result does not depend on it."""
RECALL_ROWS = 256
"""Samples whose true neighbours are searched to estimate the recall."""
SPLIT_AXES = 32
"""Leading axes that determine the blocks."""


class Blocks(NamedTuple):
    """Samples by blocks of near ones."""

    members: Array
    """(n,) samples, block by block."""
    starts: Array
    """(b + 1,) start of every block in ``members``."""
    means: NDArray[np.float32]
    """(b, m) means along the first axes."""
    scouts: Array
    """(n,) for every position, a position in the block with the nearest mean."""


class DescentIndex(ProjectingIndex):
    """Approximate search by neighbour descent, for many samples of many features."""

    BLOCK_SIZE = 128
    """Samples of a block, at most, up to MAX_BLOCKS blocks."""
    NEAR_BLOCKS = 32
    """Blocks with which every block is compared at first."""
    EFFORTS = 4
    """Times that blocks are compared at most, each time with twice as many others."""
    LINKS = 32
    """Nearest samples to which a sample is linked."""
    BACK_LINKS = 16
    """Samples to which it is linked back, at most."""
    ROUNDS = 8
    """Rounds of descent per effort, at most."""
    MIN_CHANGES = 1e-3
    """Share of the lists that a round has to change for another one to follow."""

    def __init__(self, points: Array, k: int, *, n_jobs: int | None = None) -> None:
        super().__init__(points, k, n_jobs=n_jobs)
        self.seconds = descent_seconds(len(points), points.shape[1], k)

    def search(self) -> Neighbors:
        """Return k near others of every sample, and the estimated share of the k nearest among them."""
        points, k, n_samples = self.points, self.k, len(self.points)
        with limit_threads(1):
            blocks, axes, unit = self._gather_blocks()
            axes = axes._replace(directions=np.ascontiguousarray(axes.directions[:, :LEADING_AXES]))
            rotated = points.shape[1] > LEADING_AXES
            positions = np.random.default_rng(0).choice(n_samples, min(RECALL_ROWS, n_samples), replace=False)
            # The distances of the k-th neighbours of some samples, to estimate the recall.
            rows = blocks.members[positions]
            truth, filled = empty_neighbors(len(rows), k, np.float64), np.zeros(len(rows), np.int64)
            search_all_pairs(points[rows], points, np.arange(n_samples), *truth, filled, rows)
            projections = project(points, axes, rotated, blocks=blocks[:2], unit=unit, n_jobs=self.n_jobs)
            lists, recall = self._descend(blocks, projections, find_margins(axes, rotated), positions, truth[1][:, -1])
            del projections
            names, _ = self._name_members(blocks.members, lists)
            del lists
            neighbors = empty_neighbors(n_samples, k, points.dtype)
            self._keep_nearest(names, np.full(n_samples, np.inf), neighbors, order=blocks.members)
        return Neighbors(*neighbors, recall)

    def _gather_blocks(self) -> tuple[Blocks, Axes, float]:
        """Return samples by blocks, the principal axes, and the unit that scales coordinates."""
        points, n_jobs, (n_samples, n_features) = self.points, self.n_jobs, self.points.shape
        order = np.argsort(hash_samples(points), kind="stable")
        chosen = np.random.default_rng(0).choice(n_samples, min(AXES_SAMPLE, n_samples), replace=False)
        axes = find_axes(points[order[chosen]], min(MAX_AXES, n_features))
        unit, directions = find_unit(points, axes.centre), axes.directions[:, :SPLIT_AXES]
        rotated = np.empty((n_samples, directions.shape[1]), np.float32)

        def rotate(start: int) -> None:
            rows = slice(start, start + AXES_SAMPLE)
            rotated[rows] = ((points[order[rows]] - axes.centre) * unit) @ directions

        run_threads(rotate, range(0, n_samples, AXES_SAMPLE), n_jobs)
        positions, starts = split_by_axes(rotated, max(self.BLOCK_SIZE, n_samples // MAX_BLOCKS), n_jobs)
        rotated = rotated[positions]
        means = (np.add.reduceat(rotated, starts[:-1]) / np.diff(starts)[:, None]).astype(np.float32)
        return Blocks(order[positions], starts, means, starts[nearest_mean(rotated, means, n_jobs)]), axes, unit

    def _descend(
        self, blocks: Blocks, projections: Projections, margins: Margins, positions: Array, truth: Array
    ) -> tuple[tuple[Array, Array], float]:
        """Return lists of k and a few more near others, positions and squared distances, and their recall.

        ``truth`` are the distances of the k-th neighbours of the samples at some ``positions``.
        """
        n_samples, n_blocks = len(blocks.members), len(blocks.means)
        lists = empty_lists(n_samples, min(self.k + SPARE, n_samples - 1))
        compared = np.zeros((n_blocks, n_blocks), np.bool_)
        # The near blocks hold at least four times as many samples as a list.
        recall, n_near = 0.0, max(self.NEAR_BLOCKS, 4 * lists[0].shape[1] * n_blocks // n_samples)
        for effort in range(self.EFFORTS):
            compare_pairs(projections, margins, lists, near_block_pairs(blocks.means, n_near, compared), self.n_jobs)
            self._follow_links(projections, margins, lists, compared, blocks.scouts if effort == 0 else None)
            recall = self._estimate_recall(blocks.members, positions, lists[0][positions], truth)
            if recall >= GOOD_RECALL or n_near >= n_blocks:
                break
            n_near *= 2
        return lists, recall

    def _follow_links(
        self,
        projections: Projections,
        margins: Margins,
        lists: tuple[Array, Array],
        compared: NDArray[np.bool_],
        scouts: Array | None,
    ) -> None:
        """Update the lists by the neighbours of neighbours until few of them change."""
        near, squared = lists
        n_samples, n_near = near.shape
        width = min(self.LINKS, n_near)
        block = np.repeat(np.arange(len(compared), dtype=np.int32), np.diff(projections.starts))
        links = np.empty((n_samples, width + self.BACK_LINKS + 1), near.dtype)
        counts, no_scouts = np.empty((2, n_samples), np.int32), np.empty(0, np.int64)
        for r in range(self.ROUNDS):
            kernels.draw_links(near, width, no_scouts if r or scouts is None else scouts, links, *counts)
            changes = run_chunks(
                kernels.follow_links, n_samples, self.n_jobs,
                links, *counts, block, compared, tuple(projections), tuple(margins), near, squared,
            )  # fmt: skip
            if sum(changes) < self.MIN_CHANGES * near.size:
                break

    def _estimate_recall(self, members: Array, positions: Array, near: Array, truth: Array) -> float:
        """Return the share of true neighbours among the k nearest in the lists of some samples, ``near``.

        Samples as near as the true k-th neighbour count as right: if several are tied, any of them will do.
        """
        distances = measure_pairs(self.points, members[positions], members[np.maximum(near, ~near)], None)
        round_distances(distances)
        return float((np.sort(distances, axis=1)[:, : self.k] <= truth[:, None]).mean())


def descent_seconds(n_samples: int, n_features: int, k: int) -> float:
    """Return the CPU seconds of neighbour descent if the first effort is enough."""
    return n_samples * (6e-5 + 1.5e-6 * k + 1e-7 * n_features)


def split_by_axes(rotated: NDArray[np.float32], most: int, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Halve samples across the axis of largest variance until no part has more than ``most``.

    Return the samples part by part and the start of every part.
    """
    n_samples = len(rotated)
    n_parts = 1 << max(0, int(np.ceil(np.log2(n_samples / most))))
    starts, members = n_samples * np.arange(n_parts + 1) // n_parts, np.arange(n_samples)
    width = n_parts
    while width > 1:

        def halve(first: int, width: int = width) -> None:
            start, stop = starts[first], starts[first + width]
            some = members[start:stop]
            along = rotated[some] @ _longest_axis(rotated[some[:: 1 + len(some) // AXES_SAMPLE]])
            members[start:stop] = some[np.argpartition(along, starts[first + width // 2] - start)]

        run_threads(halve, range(0, n_parts, width), n_jobs)
        width //= 2
    return members, starts


def _longest_axis(sample: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return about the axis of largest variance, by eight steps of power iteration from the widest coordinate."""
    rows = sample - sample.mean(axis=0)
    covariance = rows.T @ rows
    axis: NDArray[np.float32] = covariance[:, covariance.diagonal().argmax()]
    for _ in range(8):
        axis = covariance @ (axis / (np.abs(axis).max() or np.float32(1)))
    return axis


def near_block_pairs(means: Array, n_near: int, compared: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the pairs of every block and its ``n_near`` nearest blocks, near ones first.

    Pairs that are marked in ``compared`` are left out; the others are marked.
    """
    n_blocks = len(means)
    squares, pairs = (means**2).sum(axis=1), []
    for block in range(n_blocks):
        gaps = squares - 2 * (means @ means[block])
        near = np.argpartition(gaps, n_near)[: n_near + 1] if n_near < n_blocks - 1 else np.arange(n_blocks)
        near = np.append(near, block)
        near = near[~compared[block, near]]
        pairs.append(np.minimum(near, block) * n_blocks + np.maximum(near, block))
    first, second = np.divmod(np.unique(np.concatenate(pairs)), n_blocks)
    compared[first, second] = compared[second, first] = True
    gaps = ((means[first] - means[second]) ** 2).sum(axis=1)
    order = np.argsort(gaps, kind="stable")
    return zip(first[order].tolist(), second[order].tolist(), strict=True)
