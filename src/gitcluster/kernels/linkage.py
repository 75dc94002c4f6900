"""Stage 5: average linkage, and the sizes that come nearest to a prior."""

from math import inf, log

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.heaps import sift_down
from gitcluster.kernels.sums import add_log
from gitcluster.kernels.tables import find_slot, free_slot
from gitcluster.kernels.unions import compiled_find as find


@kernel
def key_of(i, j, m):
    """One number for a pair of clusters, in whatever order."""
    return i * m + j if i < j else j * m + i


@kernel
def add_connection(pair, record, table, held, sums, behind, log_sums):
    """Add a record, a summed similarity and the strongest edge behind it, to that of a pair of clusters."""
    slot = find_slot(table, pair)
    if table[slot] != pair:
        table[slot] = pair
        held[slot] = record
        return
    known = held[slot]
    sums[known] = add_log(sums[known], sums[record])
    edge, strongest = behind[record], behind[known]
    if log_sums[edge] > log_sums[strongest] or (log_sums[edge] == log_sums[strongest] and edge < strongest):
        behind[known] = edge


@kernel
def move_connections(small, large, root, edges, head, following, table, held, sums, behind, log_sums):
    """Add what connects ``small`` to others to what connects ``large`` to them."""
    half = head[small]
    while half >= 0:
        other = find(root, edges[half // 2, 1 - half % 2])
        half = following[half]
        old = key_of(small, other, len(root))
        slot = find_slot(table, old)
        if other != small and table[slot] == old:
            record = held[slot]
            free_slot(table, slot, held)
            if other != large:
                add_connection(key_of(large, other, len(root)), record, table, held, sums, behind, log_sums)


@kernel
def append_edges(small, large, head, tail, following):
    """Give the edges of one cluster to another."""
    if head[large] < 0:
        head[large] = head[small]
        tail[large] = tail[small]
    elif head[small] >= 0:
        following[tail[large]] = head[small]
        tail[large] = tail[small]


@kernel
def link_average(
    n_real, edges, log_sums, root, size, name, rival, step,
    head, tail, following, degree, table, held, sums, behind, heap, keys, ties, merges, heights, smaller,
):  # fmt: skip
    """Average linkage: merge the two clusters of the strongest connection now, until none is left that may merge.

    The first ``n_real`` of the edges have a log sum of similarity; where it is infinite, as that of all further edges
    which have one, the two clusters never come together, nor do two with a ``rival`` of their own (-1 for none). Edges
    without one are bridges, which are crossed in the end, one after the other. ``root`` tells which local clusters are
    together already, ``size`` and ``name``, the lowest number in it, are those of its clusters.
    A merge can only weaken the connections of the two clusters, because an average is not above the larger of its
    parts. So the strength that an edge has in the heap is an upper bound, checked when it comes up; it has none to
    begin with. Fills in, per merge, the strongest edge between the two clusters, the log strength of their connection
    and the size of the smaller one; returns how many there were.
    """
    m = len(root)
    for half in range(2 * len(log_sums)):  # every cluster's edges are a linked list of half-edges 2 e and 2 e + 1
        i = find(root, edges[half // 2, half % 2])
        if head[i] < 0:
            head[i] = half
        else:
            following[tail[i]] = half
        tail[i] = half
        degree[i] += 1
        if half % 2 == 1:
            j = find(root, edges[half // 2, 0])
            if i != j:
                add_connection(key_of(i, j, m), half // 2, table, held, sums, behind, log_sums)
    count, waiting, top = 0, n_real, np.int64(0)
    bridge = len(log_sums)
    while waiting > 0 or bridge < len(edges):
        from_heap = waiting > 0
        e = heap[0] if from_heap else bridge
        i = find(root, edges[e, 0])
        j = find(root, edges[e, 1])
        slot = find_slot(table, key_of(i, j, m))
        known = table[slot] == key_of(i, j, m)
        record = held[slot] if known else e
        joins = i != j and (rival[i] < 0 or rival[j] < 0) and not (known and sums[record] == inf)
        if from_heap:
            bound = keys[e]
            if joins:
                keys[e] = -np.rint((sums[record] - log(size[i]) - log(size[j])) / step)
                ties[e] = key_of(name[i], name[j], m)
            weaker = joins and keys[e] > bound
            if not weaker:
                waiting -= 1
                heap[0] = heap[waiting]
            sift_down(heap, waiting, top, keys, ties)
            if weaker:
                continue
        else:
            bridge += 1
        if not joins:
            continue
        merges[count] = behind[record] if from_heap else e
        heights[count] = -keys[e] * step if from_heap else -inf
        smaller[count] = size[i] if size[i] < size[j] else size[j]
        count += 1
        small, large = (i, j) if degree[i] < degree[j] else (j, i)
        move_connections(small, large, root, edges, head, following, table, held, sums, behind, log_sums)
        append_edges(small, large, head, tail, following)
        root[small] = large
        size[large] += size[small]
        degree[large] += degree[small]
        if rival[small] > rival[large]:
            rival[large] = rival[small]
        if name[small] < name[large]:
            name[large] = name[small]
    return count


@kernel
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


@kernel
def number_subtrees(way):
    """Return a number for every node and the end of its subtree: nodes below it have the numbers up to that end."""
    n_nodes = len(way) + 1
    below, first, last = np.ones(n_nodes, np.int64), np.zeros(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    for t in range(len(way) - 1, -1, -1):
        below[way[t, 2]] += below[way[t, 1]]
    free = first + 1
    for t in range(len(way)):
        node, above = way[t, 1], way[t, 2]
        first[node] = free[above]
        free[above] += below[node]
        free[node] = first[node] + 1
    last[:] = first + below
    return first, last


@kernel
def split_parts(way, sizes, is_cut, held, part, parts, rank):
    """Fill in the parts of a tree with some edges cut.

    ``held`` is the size of what hangs on every node within its part, ``part`` the part of every node, named after its
    first node. ``parts`` are the sizes in ascending order; ``rank`` is the index of a part among them.
    """
    held[:] = sizes
    count = 1
    part[0] = 0
    for t in range(len(way) - 1, -1, -1):
        if not is_cut[way[t, 0]]:
            held[way[t, 2]] += held[way[t, 1]]
    names = np.zeros(len(parts), np.int64)
    for t in range(len(way)):
        node = way[t, 1]
        part[node] = node if is_cut[way[t, 0]] else part[way[t, 2]]
        if is_cut[way[t, 0]]:
            names[count] = node
            count += 1
    order = np.argsort(held[names[:count]])
    parts[: len(parts) - count] = 0.0  # fewer parts than wanted
    for place in range(count):
        parts[len(parts) - count + place] = held[names[order[place]]]
        rank[names[order[place]]] = len(parts) - count + place


@kernel
def sort_few(values, count):
    """Sort the first two or three values in place."""
    for last in (1, 2, 1):
        if last < count and values[last] < values[last - 1]:
            values[last], values[last - 1] = values[last - 1], values[last]


@kernel
def misplaced_after(parts, wanted, before, gone, n_gone, fresh, least):
    """Twice the misplaced samples if the parts of the ranks ``gone`` are replaced by ``fresh`` sizes, both ascending.

    ``before`` are the sums of |parts - wanted| up to every rank. Outside of the ranks that shift, terms do not change.
    They are added one by one all the same if the result may be below ``least``, so that rounding does not depend on
    how it was found.
    """
    first = gone[0]
    while first > 0 and parts[first - 1] > fresh[0]:
        first -= 1
    total, old, g, f, rank = before[first], first, 0, 0, first
    while g < n_gone or f < n_gone:
        if g < n_gone and old == gone[g]:
            old += 1
            g += 1
            continue
        if f < n_gone and (old == len(parts) or fresh[f] <= parts[old]):
            value = fresh[f]
            f += 1
        else:
            value = parts[old]
            old += 1
        total += abs(value - wanted[rank])
        rank += 1
    rest = before[-1] - before[rank]
    if total + rest > least + 1e-9 * (least + before[-1]):  # 1e-9: far above what rounding can change
        return total + rest
    for later in range(rank, len(parts)):
        total += abs(parts[later] - wanted[later])
    return total


@kernel
def fit_cuts(ends, sizes, wanted, tolerance):
    """Which edges of a tree of parts to cut, so that the sizes are near to those ``wanted``, which ascend.

    The first edges are cut to begin with; then a cut moves from one edge to another, the best move first, as long as
    sizes come nearer. A move joins two parts and splits one, so that at most three sizes change.
    """
    way = hang_tree(ends, len(sizes))
    low, high = np.empty(len(ends), np.int64), np.empty(len(ends), np.int64)  # lower and upper node of every edge
    for t in range(len(way)):
        low[way[t, 0]], high[way[t, 0]] = way[t, 1], way[t, 2]
    first, last = number_subtrees(way)
    is_cut = np.arange(len(ends)) < len(wanted) - 1
    held, part, rank = np.empty(len(sizes)), np.empty(len(sizes), np.int64), np.empty(len(sizes), np.int64)
    parts, before = np.empty(len(wanted)), np.zeros(len(wanted) + 1)
    gone, fresh = np.empty(3, np.int64), np.empty(3)
    while True:
        split_parts(way, sizes, is_cut, held, part, parts, rank)
        for place in range(len(parts)):
            before[place + 1] = before[place] + abs(parts[place] - wanted[place])
        least, closed, opened = before[-1] / 2 - tolerance, -1, -1
        for i in range(len(ends)):
            if not is_cut[i]:
                continue
            lower, upper = part[low[i]], part[high[i]]
            both = held[lower] + held[upper]
            for j in range(len(ends)):
                if is_cut[j]:
                    continue
                split, piece, n_gone = part[low[j]], held[low[j]], 2
                gone[0], gone[1] = rank[lower], rank[upper]
                if split == upper and first[low[j]] <= first[high[i]] < last[low[j]]:
                    piece += held[lower]  # the joined part hangs below the new cut
                if split in (lower, upper):
                    fresh[0], fresh[1] = piece, both - piece
                else:
                    n_gone, gone[2] = 3, rank[split]
                    fresh[0], fresh[1], fresh[2] = piece, held[split] - piece, both
                sort_few(gone, n_gone)
                sort_few(fresh, n_gone)
                count = misplaced_after(parts, wanted, before, gone, n_gone, fresh, 2 * least) / 2
                if count < least:
                    least, closed, opened = count, i, j
        if closed < 0:
            return is_cut
        is_cut[closed], is_cut[opened] = False, True
