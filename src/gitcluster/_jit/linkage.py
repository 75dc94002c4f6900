"""Stage 5: average linkage, and what can be read off its merges."""

import heapq
from math import log

import numpy as np

from gitcluster._jit import Dict, float64, int64, kernel
from gitcluster._jit.sums import add_log
from gitcluster._jit.unions import find, union


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
def append_edges(small, large, head, tail, following):
    """Give the edges of one cluster to another."""
    if head[large] < 0:
        head[large], tail[large] = head[small], tail[small]
    elif head[small] >= 0:
        following[tail[large]] = head[small]
        tail[large] = tail[small]


@kernel
def split_pairs(pairs):
    """Two arrays from a list of pairs, which would be slow to hand over as it is."""
    first, second = np.empty(len(pairs), np.int64), np.empty(len(pairs))
    for t in range(len(pairs)):
        first[t], second[t] = pairs[t]
    return first, second


@kernel
def connect_clusters(edges, log_sums, root):
    """Summed similarity of every two clusters that edges connect, and the strongest edge behind it, by i m + j."""
    m = np.int64(len(root))
    sums = Dict.empty(int64, float64)
    behind = Dict.empty(int64, int64)
    for e in range(len(edges)):
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i != j:
            add_connection(min(i, j) * m + max(i, j), log_sums[e], e, sums, behind, log_sums)
    return sums, behind


@kernel
def add_connection(pair, value, edge, sums, behind, log_sums):
    """Add a similarity to what connects a pair of clusters."""
    if pair not in sums:
        sums[pair], behind[pair] = value, edge
        return
    sums[pair] = add_log(sums[pair], value)
    strongest = behind[pair]
    if (log_sums[edge], -edge) > (log_sums[strongest], -strongest):
        behind[pair] = edge


@kernel
def link_average(edges, log_sums, sizes, root, apart, rival, step):
    """Average linkage: merge the two clusters of the strongest connection now, until none is left that may merge.

    ``root`` tells which local clusters are together already; pairs in ``apart`` never come together, nor do two
    clusters with a ``rival`` of their own (-1 for none). A merge can only weaken the connections of the two clusters,
    because an average is not above the larger of its parts. So the strength that a heap entry was given is an upper
    bound, checked when the entry comes up.
    Returns per merge the strongest edge between the two clusters, and the log strength of their connection.
    """
    m = np.int64(len(sizes))
    size, degree, name = np.zeros(m, np.int64), np.zeros(m, np.int64), np.arange(m)
    for i in range(m):
        top = find(root, i)
        size[top] += sizes[i]
        name[top] = min(name[top], i)
    head, tail, following = link_edges(edges, root)
    foe_head, foe_tail, foe_following = link_edges(apart, root)
    foes, single = find_foes(apart, root), tops_of(rival, root)
    sums, behind = connect_clusters(edges, log_sums, root)
    free = len(apart) == 0 and rival.max() < 0
    heap = [(0.0, m, m, m, m) for _ in range(0)]
    for e in range(len(edges)):
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        degree[i] += 1
        degree[j] += 1
        if i != j:
            strength = np.rint((sums[min(i, j) * m + max(i, j)] - log(size[i]) - log(size[j])) / step)
            heap.append((-strength, min(name[i], name[j]), max(name[i], name[j]), i, j))
    heapq.heapify(heap)
    merged = [(np.int64(0), 0.0) for _ in range(0)]
    while len(heap) > 0:
        weakness, _, _, i, j = heapq.heappop(heap)
        i, j = find(root, i), find(root, j)
        if i == j or not (free or may_join(i, j, foes, single)):
            continue
        pair = min(i, j) * m + max(i, j)
        now = -np.rint((sums[pair] - log(size[i]) - log(size[j])) / step)
        if now > weakness:
            heapq.heappush(heap, (now, min(name[i], name[j]), max(name[i], name[j]), i, j))
            continue
        merged.append((behind[pair], -now * step))
        small, large = (i, j) if degree[i] < degree[j] else (j, i)
        move_connections(small, large, root, edges, head, following, sums, behind, log_sums)
        if not free:
            move_foes(small, large, root, apart, foe_head, foe_following, foes)
            append_edges(small, large, foe_head, foe_tail, foe_following)
            single[large] = max(single[large], single[small])
        root[small] = large
        name[large] = min(name[i], name[j])
        size[large] += size[small]
        degree[large] += degree[small]
        append_edges(small, large, head, tail, following)
    return split_pairs(merged)


@kernel
def move_connections(small, large, root, edges, head, following, sums, behind, log_sums):
    """Add what connects ``small`` to others to what connects ``large`` to them."""
    m = np.int64(len(root))
    half = head[small]
    while half >= 0:
        other = find(root, edges[half // 2, 1 - half % 2])
        half = following[half]
        old = min(small, other) * m + max(small, other)
        if other == small or old not in sums:
            continue
        value, edge = sums[old], behind[old]
        del sums[old]
        del behind[old]
        if other != large:
            add_connection(min(large, other) * m + max(large, other), value, edge, sums, behind, log_sums)


@kernel
def tops_of(rival, root):
    """The rival of every cluster, at its root."""
    single = np.full(len(root), -1, np.int64)
    for i in range(len(root)):
        top = find(root, i)
        single[top] = max(single[top], rival[i])
    return single


@kernel
def find_foes(apart, root):
    """Pairs of clusters that must be apart, by i m + j."""
    m = np.int64(len(root))
    foes = Dict.empty(int64, int64)
    for p in range(len(apart)):
        i, j = find(root, apart[p, 0]), find(root, apart[p, 1])
        foes[min(i, j) * m + max(i, j)] = 1
    return foes


@kernel
def move_foes(small, large, root, apart, head, following, foes):
    """What must be apart from ``small`` must be apart from ``large``."""
    m = np.int64(len(root))
    half = head[small]
    while half >= 0:
        other = find(root, apart[half // 2, 1 - half % 2])
        half = following[half]
        foes[min(large, other) * m + max(large, other)] = 1


@kernel
def may_join(i, j, foes, single):
    """Whether a merge leaves apart what must be apart."""
    if single[i] >= 0 and single[j] >= 0:
        return False
    return min(i, j) * np.int64(len(single)) + max(i, j) not in foes


@kernel
def link_in_order(order, edges, root, apart, rival):
    """Merge along edges in an order, where it is allowed; the edges that merged."""
    foe_head, foe_tail, foe_following = link_edges(apart, root)
    foes, single = find_foes(apart, root), tops_of(rival, root)
    merged = [np.int64(0) for _ in range(0)]
    for e in order:
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i != j and may_join(i, j, foes, single):
            move_foes(i, j, root, apart, foe_head, foe_following, foes)
            append_edges(i, j, foe_head, foe_tail, foe_following)
            single[j] = max(single[i], single[j])
            root[i] = j
            merged.append(e)
    return np.array(merged, np.int64)


@kernel
def find_joinable(order, root, apart, rival):
    """The first two of the clusters in ``order`` that may be joined, earlier ones first; -1 where there are none."""
    foes, single = find_foes(apart, root), tops_of(rival, root)
    for n in range(len(order)):
        for earlier in range(n):
            if may_join(order[earlier], order[n], foes, single):
                return order[earlier], order[n]
    return -1, -1


@kernel
def rank_splits(smaller, n_samples, crumb):
    """Merges in the order in which to undo them: the last that leaves no crumb first."""
    waiting = len(smaller) - 1 - np.argsort(-smaller[::-1], kind="mergesort")  # by size; of equals, the last merge
    ready = [np.int64(0) for _ in range(0)]
    ranked = np.empty(len(smaller), np.int64)
    taken = 0
    for rank in range(len(smaller)):
        least = n_samples / (crumb * (rank + 2))
        while taken < len(waiting) and (smaller[waiting[taken]] >= least or len(ready) == 0):
            heapq.heappush(ready, -waiting[taken])
            taken += 1
        ranked[rank] = -heapq.heappop(ready)
    return ranked


@kernel
def smaller_sides(merges, edges, sizes, root):
    """Samples on the smaller side of every merge, from what ``root`` has together on; ``root`` is changed."""
    size = np.zeros(len(sizes), np.int64)
    for i in range(len(sizes)):
        size[find(root, i)] += sizes[i]
    smaller = np.empty(len(merges), np.int64)
    for t in range(len(merges)):
        i, j = find(root, edges[merges[t], 0]), find(root, edges[merges[t], 1])
        smaller[t] = min(size[i], size[j])
        size[union(root, i, j)] = size[i] + size[j]
    return smaller


@kernel
def number_merges(merges, edges, linkage):
    """Fill the two clusters and the number of leaves of every merge into a linkage of scipy's format."""
    m = len(merges) + 1
    root, size, node = np.arange(m), np.ones(m, np.int64), np.arange(m)
    for t in range(len(merges)):
        i, j = find(root, edges[merges[t], 0]), find(root, edges[merges[t], 1])
        total = size[i] + size[j]
        linkage[t, 0], linkage[t, 1] = min(node[i], node[j]), max(node[i], node[j])
        linkage[t, 3] = total
        both = union(root, i, j)
        size[both], node[both] = total, m + t


@kernel
def cut_repeatedly(merges, edges, undone, n_local, labels):
    """Labels of local clusters with the first 1, 2, ... of ``undone`` undone, one row each, in order of first sight."""
    root, kept = np.arange(n_local), np.ones(len(merges), np.bool_)
    for t in range(len(labels)):
        kept[undone[t]] = False
    for t in range(len(merges)):
        if kept[t]:
            union(root, find(root, edges[merges[t], 0]), find(root, edges[merges[t], 1]))
    seen = np.empty(n_local, np.int64)
    for t in range(len(labels) - 1, -1, -1):
        seen[:] = -1
        count = 0
        for i in range(n_local):
            top = find(root, i)
            if seen[top] < 0:
                seen[top] = count
                count += 1
            labels[t, i] = seen[top]
        union(root, find(root, edges[merges[undone[t]], 0]), find(root, edges[merges[undone[t]], 1]))
