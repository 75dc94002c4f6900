"""Stage 5: average linkage, and what can be read off its merges."""

from math import log

import numpy as np

from gitcluster._jit import inner_kernel, kernel
from gitcluster._jit.heaps import build_heap, sift_down, sift_up
from gitcluster._jit.sums import add_log
from gitcluster._jit.tables import find_slot, free_slot, make_table
from gitcluster._jit.unions import find, union


@inner_kernel
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


@inner_kernel
def append_edges(small, large, head, tail, following):
    """Give the edges of one cluster to another."""
    if head[large] < 0:
        head[large], tail[large] = head[small], tail[small]
    elif head[small] >= 0:
        following[tail[large]] = head[small]
        tail[large] = tail[small]


@inner_kernel
def key_of(i, j, m):
    """One number for a pair of clusters, in whatever order."""
    return i * m + j if i < j else j * m + i


@inner_kernel
def add_connection(pair, record, table, held, sums, behind, log_sums):
    """Add a record, a summed similarity and the strongest edge behind it, to that of a pair of clusters."""
    slot = find_slot(table, pair)
    if table[slot] != pair:
        table[slot], held[slot] = pair, record
        return
    known = held[slot]
    sums[known] = add_log(sums[known], sums[record])
    edge, strongest = behind[record], behind[known]
    if log_sums[edge] > log_sums[strongest] or (log_sums[edge] == log_sums[strongest] and edge < strongest):
        behind[known] = edge


@inner_kernel
def rank_pair(place, i, j, strength, step, size, name, keys, ties):
    """Where a connection comes up: the strongest first, of equals that of the clusters with the lowest names."""
    keys[place] = -np.rint((strength - log(size[i]) - log(size[j])) / step)
    ties[place] = key_of(name[i], name[j], len(name))


@kernel
def link_average(edges, log_sums, sizes, root, apart, rival, step):
    """Average linkage: merge the two clusters of the strongest connection now, until none is left that may merge.

    ``root`` tells which local clusters are together already; pairs in ``apart`` never come together, nor do two
    clusters with a ``rival`` of their own (-1 for none). A merge can only weaken the connections of the two clusters,
    because an average is not above the larger of its parts. So the strength that an edge has in the heap is an upper
    bound, checked when it comes up.
    Returns per merge the strongest edge between the two clusters, and the log strength of their connection.
    """
    m, n_edges = len(sizes), len(edges)
    size, degree, name = np.zeros(m, np.int64), np.zeros(m, np.int64), np.arange(m)
    for i in range(m):
        whole = find(root, i)
        size[whole] += sizes[i]
        if i < name[whole]:
            name[whole] = i
    head, tail, following = link_edges(edges, root)
    foe_head, foe_tail, foe_following = link_edges(apart, root)
    foes, single = find_foes(apart, root), tops_of(rival, root)
    table = make_table(n_edges)
    held, sums, behind = np.empty_like(table), np.empty(n_edges), np.arange(n_edges)
    heap, keys, ties = np.empty(n_edges, np.int64), np.empty(n_edges), np.empty(n_edges, np.int64)
    waiting = top = np.int64(0)
    for e in range(n_edges):
        sums[e] = log_sums[e]
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        degree[i] += 1
        degree[j] += 1
        if i != j:
            add_connection(key_of(i, j, m), e, table, held, sums, behind, log_sums)
            heap[waiting] = e
            waiting += 1
    for place in range(waiting):
        e = heap[place]
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        rank_pair(e, i, j, sums[held[find_slot(table, key_of(i, j, m))]], step, size, name, keys, ties)
    build_heap(heap, waiting, keys, ties)
    merges, heights, n_merges = np.empty(m, np.int64), np.empty(m), 0
    while waiting > 0:
        e = heap[0]
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        joins = i != j and may_join(i, j, foes, single)
        weakness = keys[e]
        if joins:
            record = held[find_slot(table, key_of(i, j, m))]
            rank_pair(e, i, j, sums[record], step, size, name, keys, ties)
        if joins and keys[e] > weakness:
            sift_down(heap, waiting, top, keys, ties)
            continue
        waiting -= 1
        heap[0] = heap[waiting]
        sift_down(heap, waiting, top, keys, ties)
        if not joins:
            continue
        merges[n_merges], heights[n_merges] = behind[record], -keys[e] * step
        n_merges += 1
        small, large = (i, j) if degree[i] < degree[j] else (j, i)
        move_connections(small, large, root, edges, head, following, table, held, sums, behind, log_sums)
        move_foes(small, large, root, apart, foe_head, foe_following, foes)
        append_edges(small, large, foe_head, foe_tail, foe_following)
        append_edges(small, large, head, tail, following)
        if single[small] > single[large]:
            single[large] = single[small]
        if name[small] < name[large]:
            name[large] = name[small]
        root[small] = large
        size[large] += size[small]
        degree[large] += degree[small]
    return merges[:n_merges], heights[:n_merges]


@inner_kernel
def move_connections(small, large, root, edges, head, following, table, held, sums, behind, log_sums):
    """Add what connects ``small`` to others to what connects ``large`` to them."""
    half = head[small]
    while half >= 0:
        other = find(root, edges[half // 2, 1 - half % 2])
        half = following[half]
        if other == small:
            continue
        old = key_of(small, other, len(root))
        slot = find_slot(table, old)
        if table[slot] == old:
            record = held[slot]
            free_slot(table, slot, held)
            if other != large:
                add_connection(key_of(large, other, len(root)), record, table, held, sums, behind, log_sums)


@inner_kernel
def tops_of(rival, root):
    """The rival of every cluster, at its root."""
    single = np.full(len(root), -1, np.int64)
    for i in range(len(root)):
        top = find(root, i)
        if rival[i] > single[top]:
            single[top] = rival[i]
    return single


@inner_kernel
def find_foes(apart, root):
    """A table of the pairs of clusters that must be apart."""
    foes = make_table(len(apart))
    for p in range(len(apart)):
        pair = key_of(find(root, apart[p, 0]), find(root, apart[p, 1]), len(root))
        foes[find_slot(foes, pair)] = pair
    return foes


@inner_kernel
def move_foes(small, large, root, apart, head, following, foes):
    """What must be apart from ``small`` must be apart from ``large``."""
    half = head[small]
    while half >= 0:
        other = find(root, apart[half // 2, 1 - half % 2])
        half = following[half]
        old, pair = key_of(small, other, len(root)), key_of(large, other, len(root))
        slot = find_slot(foes, old)
        if foes[slot] == old:
            free_slot(foes, slot, foes)  # nothing is held for it
            foes[find_slot(foes, pair)] = pair


@inner_kernel
def may_join(i, j, foes, single):
    """Whether a merge leaves apart what must be apart."""
    if single[i] >= 0 and single[j] >= 0:
        return False
    pair = key_of(i, j, len(single))
    return foes[find_slot(foes, pair)] != pair


@kernel
def link_in_order(order, edges, root, apart, rival):
    """Merge along edges in an order, where it is allowed; the edges that merged."""
    foe_head, foe_tail, foe_following = link_edges(apart, root)
    foes, single = find_foes(apart, root), tops_of(rival, root)
    merged, n_merged = np.empty(len(root), np.int64), 0
    for e in order:
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i != j and may_join(i, j, foes, single):
            move_foes(i, j, root, apart, foe_head, foe_following, foes)
            append_edges(i, j, foe_head, foe_tail, foe_following)
            if single[i] > single[j]:
                single[j] = single[i]
            root[i] = j
            merged[n_merged] = e
            n_merged += 1
    return merged[:n_merged]


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
def rank_splits(smaller, by_size, n_samples, crumb):
    """Merges in the order in which to undo them: the last that leaves no crumb first.

    ``by_size`` are the merges by their ``smaller`` sides, the largest first, of equals the last merge.
    """
    n_merges = len(smaller)
    ready, keys = np.empty(n_merges, np.int64), -1.0 * np.arange(n_merges)
    ranked = np.empty(n_merges, np.int64)
    taken = n_ready = top = np.int64(0)
    for rank in range(n_merges):
        least = n_samples / (crumb * (rank + 2))
        while taken < n_merges and (smaller[by_size[taken]] >= least or n_ready == 0):
            ready[n_ready] = by_size[taken]
            n_ready += 1
            taken += 1
            sift_up(ready, n_ready - 1, keys, by_size)
        ranked[rank] = ready[0]
        n_ready -= 1
        ready[0] = ready[n_ready]
        sift_down(ready, n_ready, top, keys, by_size)
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


@inner_kernel
def hang_tree(ends, n_nodes):
    """The edges of a tree as (edge, node, node nearer to the first one), every node after the one it hangs on."""
    above, way = np.full(n_nodes, -1, np.int64), np.empty((len(ends), 3), np.int64)
    above[0] = 0
    hung = 0
    while hung < len(ends):
        for e in range(len(ends)):
            for side in range(2):
                node, to = ends[e, side], ends[e, 1 - side]
                if above[node] < 0 and above[to] >= 0:
                    above[node] = to
                    way[hung, 0], way[hung, 1], way[hung, 2] = e, node, to
                    hung += 1
    return way


@inner_kernel
def count_misplaced(way, sizes, is_cut, wanted, held, parts):
    """Samples that would have to move for the parts of a tree with some edges cut to have the sizes ``wanted``."""
    held[:] = sizes
    count = 0
    for t in range(len(way) - 1, -1, -1):
        if is_cut[way[t, 0]]:
            parts[count] = held[way[t, 1]]
            count += 1
        else:
            held[way[t, 2]] += held[way[t, 1]]
    parts[count] = held[0]
    parts.sort()
    return np.abs(parts - wanted).sum() / 2


@kernel
def fit_cuts(ends, sizes, wanted, tolerance):
    """Which edges of a tree of parts to cut, so that the sizes are near to those ``wanted``, which ascend.

    The first edges are cut to begin with; then a cut moves from one edge to another, the best move first, as long as
    sizes come nearer.
    """
    way = hang_tree(ends, len(sizes))
    is_cut = np.arange(len(ends)) < len(wanted) - 1
    held, parts = np.empty(len(sizes)), np.zeros(len(wanted))  # there may be fewer parts than wanted
    misplaced = count_misplaced(way, sizes, is_cut, wanted, held, parts)
    while True:
        least, closed, opened = misplaced - tolerance, -1, -1
        for i in range(len(ends)):
            for j in range(len(ends)):
                if is_cut[i] and not is_cut[j]:
                    is_cut[i], is_cut[j] = False, True
                    count = count_misplaced(way, sizes, is_cut, wanted, held, parts)
                    is_cut[i], is_cut[j] = True, False
                    if count < least:
                        least, closed, opened = count, i, j
        if closed < 0:
            return is_cut
        is_cut[closed], is_cut[opened] = False, True
        misplaced = least
