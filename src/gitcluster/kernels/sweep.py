"""Stage 5 of the paper: the sweep along the edges."""

import heapq
from math import inf, log, sqrt

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.linkage import append_edges
from gitcluster.kernels.sums import add_log
from gitcluster.kernels.unions import compiled_find as find
from gitcluster.kernels.unions import compiled_union as union


@kernel
def score_change(low, high, distinct, counts, n_distinct, n_samples, prior, prior_mass):
    """Change of n * W1 when clusters of sizes low <= high merge.

    W1 is the area between the two cumulative distributions; theirs differ before and after only from
    ``low`` to ``low + high``. ``distinct`` sizes ascend; ``prior`` are sorted positions n q, ``prior_mass``
    the mass up to each.
    """
    end = low + high
    s, mass = 0, 0.0
    while s < n_distinct and distinct[s] <= low:
        mass += distinct[s] * counts[s]
        s += 1
    q, expected = 0, 0.0
    while q < len(prior) and prior[q] <= low:
        expected = prior_mass[q]
        q += 1
    change, at, gone = 0.0, float(low), float(end if low == high else low)
    while at < end:
        nearest = float(end)
        if s < n_distinct:
            nearest = min(nearest, float(distinct[s]))
        if q < len(prior):
            nearest = min(nearest, prior[q])
        before = abs(mass / n_samples - expected)
        after = abs((mass - gone) / n_samples - expected)
        change += (after - before) * (nearest - at)
        at = nearest
        while s < n_distinct and distinct[s] <= at:
            mass += distinct[s] * counts[s]
            if distinct[s] == high:
                gone = float(end)
            s += 1
        while q < len(prior) and prior[q] <= at:
            expected = prior_mass[q]
            q += 1
    return change


@kernel
def change_count(distinct, counts, n_distinct, size, by):
    """Add ``by`` clusters of a size to the ascending table of sizes; returns the table's new length."""
    place = np.searchsorted(distinct[:n_distinct], size)
    if place < n_distinct and distinct[place] == size:
        counts[place] += by
        if counts[place] > 0:
            return n_distinct
        for s in range(place, n_distinct - 1):
            distinct[s], counts[s] = distinct[s + 1], counts[s + 1]
        return n_distinct - 1
    for s in range(n_distinct, place, -1):
        distinct[s], counts[s] = distinct[s - 1], counts[s - 1]
    distinct[place], counts[place] = size, by
    return n_distinct + 1


@kernel
def sweep_edges(order, edges, sizes, root, prior, prior_mass, tolerance):
    """Algorithm 3. Merges along ``root``; returns what became of every edge and the change at each merge.

    The first merge is accepted whatever it changes, because the paper's best score starts at 9999.

    Outcome of an edge: 1 merged, -1 cut, 0 passed over or not reached.
    """
    n_samples, n_clusters = sizes.sum(), len(sizes)
    distinct = np.empty(int(sqrt(2.0 * n_samples)) + 3, np.int64)
    counts = np.empty_like(distinct)
    n_distinct = 0
    for size in sizes:
        n_distinct = change_count(distinct, counts, n_distinct, size, 1)
    outcome = np.zeros(len(edges), np.int8)
    merges, changes, n_merged = np.empty(len(sizes), np.int64), np.empty(len(sizes)), 0
    for e in order:
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i == j:
            continue
        if n_clusters <= len(prior):
            break
        low, high = min(sizes[i], sizes[j]), max(sizes[i], sizes[j])
        change = score_change(low, high, distinct, counts, n_distinct, n_samples, prior, prior_mass)
        if n_merged > 0 and change > tolerance * n_samples:
            outcome[e] = -1
            continue
        outcome[e] = 1
        merges[n_merged], changes[n_merged] = e, change / n_samples
        n_merged += 1
        n_distinct = change_count(distinct, counts, n_distinct, low, -1)
        n_distinct = change_count(distinct, counts, n_distinct, high, -1)
        n_distinct = change_count(distinct, counts, n_distinct, low + high, 1)
        sizes[union(root, i, j)] = low + high
        n_clusters -= 1
    return outcome, merges[:n_merged], changes[:n_merged]


@kernel
def link_edges(edges, root):
    """Every cluster's edges as a linked list of half-edges 2 e and 2 e + 1."""
    head = np.full(len(root), -1, np.int64)
    tail = np.full(len(root), -1, np.int64)
    following = np.full(2 * len(edges), -1, np.int64)
    for half in range(2 * len(edges)):
        i = find(root, edges[half // 2, half % 2])
        if head[i] < 0:
            head[i] = half
        else:
            following[tail[i]] = half
        tail[i] = half
    return head, tail, following


@kernel
def join_smallest(edges, log_sums, pairs, sizes, root, n_clusters, step):
    """Join the smallest cluster to the one it is most strongly connected to until ``n_clusters`` are left."""
    head, tail, following = link_edges(edges, root)
    real = np.full(len(root), -inf)
    bridge = np.full(len(root), -inf)
    touched = np.empty(len(root), np.int64)
    heap = [(sizes[i], -i) for i in range(len(root)) if root[i] == i]
    heapq.heapify(heap)
    count = len(heap)
    while count > n_clusters and len(heap) > 0:
        size, i = heapq.heappop(heap)
        i = -i
        if root[i] != i or sizes[i] != size:
            continue
        n_touched, half = 0, head[i]
        while half >= 0:
            e, j = half // 2, find(root, edges[half // 2, 1 - half % 2])
            half = following[half]
            if j == i:
                continue
            if real[j] == -inf and bridge[j] == -inf:
                touched[n_touched] = j
                n_touched += 1
            if pairs[e] > 0:
                real[j] = add_log(real[j], log_sums[e])
            else:
                bridge[j] = max(bridge[j], log_sums[e])
        best, best_strength = -1, (-inf, -inf)
        for t in range(n_touched):
            j = touched[t]
            strength = (np.rint((real[j] - log(sizes[j])) / step) * step, bridge[j])
            if best < 0 or strength > best_strength or (strength == best_strength and j < best):
                best, best_strength = j, strength
            real[j], bridge[j] = -inf, -inf
        if best < 0:
            continue  # nothing leads out of this component
        high = union(root, i, best)
        append_edges(i + best - high, high, head, tail, following)
        sizes[high] = sizes[i] + sizes[best]
        heapq.heappush(heap, (sizes[high], -high))
        count -= 1
    return count
