"""Stage 5: the sweep of the paper, average linkage, and cuts of a tree by size."""

import heapq
from math import inf, log, sqrt

import numpy as np

from gitcluster.kernels import kernel
from gitcluster.kernels.structures import compiled_find as find
from gitcluster.kernels.structures import compiled_union as union
from gitcluster.kernels.structures import find_slot, free_slot, sift_down
from gitcluster.kernels.sums import add_log


@kernel
def append_edges(small, large, head, tail, following):
    """Append the linked list of half-edges of one cluster to that of another."""
    if head[large] < 0:
        head[large] = head[small]
        tail[large] = tail[small]
    elif head[small] >= 0:
        following[tail[large]] = head[small]
        tail[large] = tail[small]


# The sweep of the paper (Algorithm 3)


@kernel
def score_change(low, high, distinct, counts, n_distinct, n_samples, prior, prior_mass):
    """Return the change of n * W1 when clusters of sizes low <= high merge.

    W1 is the area between the cumulative distributions of the cluster sizes and of the prior. A merge changes the first
    only between ``low`` and ``low + high``. ``distinct`` sizes ascend; ``prior`` are sorted positions n q, and
    ``prior_mass`` is the mass up to each.
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
    """Add ``by`` clusters of a size to the ascending table of sizes and return the table's new length."""
    position = np.searchsorted(distinct[:n_distinct], size)
    if position < n_distinct and distinct[position] == size:
        counts[position] += by
        if counts[position] > 0:
            return n_distinct
        for s in range(position, n_distinct - 1):
            distinct[s], counts[s] = distinct[s + 1], counts[s + 1]
        return n_distinct - 1
    for s in range(n_distinct, position, -1):
        distinct[s], counts[s] = distinct[s - 1], counts[s - 1]
    distinct[position], counts[position] = size, by
    return n_distinct + 1


@kernel
def sweep_edges(order, edges, sizes, root, prior, prior_mass, tolerance):
    """Run Algorithm 3 on ``root``; return the outcome of every edge, the merging edges and the change at each.

    The first merge is accepted whatever it changes, because the paper's best score starts at 9999.

    Outcome of an edge: 1 merged, -1 cut, 0 passed over or not reached.
    """
    n_samples, n_clusters = sizes.sum(), len(sizes)
    # Different sizes sum to at most n_samples, so there are fewer than sqrt(2 n) of them.
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
def list_half_edges(edges, root):
    """Return every cluster's edges as a linked list of half-edges 2 e and 2 e + 1: heads, tails and next ones."""
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
    """Join the smallest cluster to the one it is most strongly connected to until ``n_clusters`` are left.

    Strengths are rounded to multiples of ``step``, so that rounding errors do not break ties. Bridges count only if
    there is no real edge. The heap may hold clusters that have grown or merged since; these are skipped.
    """
    head, tail, following = list_half_edges(edges, root)
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
            continue  # the component has no edge to another
        high = union(root, i, best)
        append_edges(i + best - high, high, head, tail, following)
        sizes[high] = sizes[i] + sizes[best]
        heapq.heappush(heap, (sizes[high], -high))
        count -= 1


# Average linkage


@kernel
def key_of(i, j, m):
    """Return one number for a pair of clusters, in either order."""
    return i * m + j if i < j else j * m + i


@kernel
def add_connection(pair, record, table, held, sums, behind, log_sums):
    """Add a record, a summed similarity and its strongest edge, to that of a pair of clusters."""
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
    """Add the connections of ``small`` to those of ``large``."""
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
def link_average(n_real, edges, log_sums, root, size, name, rival, step, table):
    """Merge the two clusters with the strongest connection, again and again, until none is left that may merge.

    The strength of a connection is the summed similarity divided by the two sizes. Edges are in three groups. The first
    ``n_real`` have a log sum of similarity. Those up to ``len(log_sums)`` have an infinite one, which forbids a merge.
    The rest are bridges, crossed at the end in their order. Two clusters that both have a ``rival`` (-1 for none) never
    merge either. ``root`` holds the merges before the call; ``size`` and ``name`` are the sizes and lowest numbers of
    its clusters. ``table`` is an empty hash table for as many connections as there are log sums.

    An average is not above the larger of its parts, so a merge can only weaken connections. The key that an edge has in
    the heap is therefore an upper bound (infinite at first), which is updated when the edge comes to the top.

    Return, per merge, the strongest edge between the two clusters, the log strength of the connection and the size of
    the smaller cluster.
    """
    m, n_records = len(root), len(log_sums)
    head, tail, following = list_half_edges(edges[:n_records], root)
    # Record e starts as edge e; `held` is the record of every slot, `behind` the strongest edge of every record.
    held, sums, behind, degree = np.empty_like(table), log_sums.copy(), np.arange(n_records), np.zeros(m, np.int64)
    for e in range(n_records):
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        degree[i] += 1
        degree[j] += 1
        if i != j:
            add_connection(key_of(i, j, m), e, table, held, sums, behind, log_sums)
    heap, keys, ties = np.arange(n_real), np.full(n_real, -inf), np.zeros(n_real, np.int64)
    merges, heights, smaller = np.empty(m, np.int64), np.empty(m), np.empty(m, np.int64)
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
    return merges[:count], heights[:count], smaller[:count]


# Cuts of a tree by size


@kernel
def hang_tree(ends, n_nodes):
    """Return the edges of a tree rooted at node 0 as rows (edge, node, its parent), parents before their children."""
    above, tree = np.full(n_nodes, -1, np.int64), np.empty((len(ends), 3), np.int64)
    above[0] = 0
    hung = 0
    while hung < len(ends):
        for e in range(len(ends)):
            for side in range(2):
                node, to = ends[e, side], ends[e, 1 - side]
                if above[node] < 0 and above[to] >= 0:
                    above[node] = to
                    tree[hung, 0], tree[hung, 1], tree[hung, 2] = e, node, to
                    hung += 1
    return tree


@kernel
def split_parts(tree, sizes, is_cut, held, top):
    """Return the sizes of the parts of a tree with some edges cut, in ascending order.

    Write the size of the subtree of every node within its part to ``held``, and the top node of that part to ``top``.
    """
    held[:] = sizes
    n_parts = 1
    for t in range(len(tree) - 1, -1, -1):
        edge, node, above = tree[t]
        if is_cut[edge]:
            n_parts += 1
        else:
            held[above] += held[node]
    parts, count, top[0] = np.empty(n_parts), 1, 0
    parts[0] = held[0]
    for t in range(len(tree)):
        edge, node, above = tree[t]
        top[node] = top[above]
        if is_cut[edge]:
            top[node] = node
            parts[count] = held[node]
            count += 1
    parts.sort()
    return parts


@kernel
def misplaced_after(parts, wanted, before, low, high, least):
    """Return twice the misplaced samples if a part is split into ``low`` and ``high``, or a number above ``least``.

    ``before`` are the sums of |parts - wanted| up to every rank. All terms are added in the order of ranks, so that
    equal sizes give equal sums.
    """
    gone = np.searchsorted(parts, low + high)  # sizes are integers, so that their sum is exact
    first = gone
    while first > 0 and parts[first - 1] > low:
        first -= 1
    total, rank, is_placed = before[first] + abs(low - wanted[first]), first + 1, False
    for old in range(first, len(parts)):
        if total > least:
            break
        if not is_placed and parts[old] >= high:
            is_placed = True
            total += abs(high - wanted[rank])
            rank += 1
        if old != gone:
            total += abs(parts[old] - wanted[rank])
            rank += 1
    return total


@kernel
def fit_cuts(ends, sizes, wanted, tolerance):
    """Return which edges of a tree to cut, so that the sizes of the parts are near those ``wanted``, which ascend.

    Local search: the first edges are cut initially. Then the best move of a cut to another edge is made, as long as it
    reduces the misplaced samples.
    """
    is_cut = np.arange(len(ends)) < len(wanted) - 1
    if is_cut.all():
        return is_cut
    tree = hang_tree(ends, len(sizes))
    node_of = np.empty(len(ends), np.int64)  # the lower node of every edge
    for t in range(len(tree)):
        node_of[tree[t, 0]] = tree[t, 1]
    held, top, before = np.empty(len(sizes)), np.empty(len(sizes), np.int64), np.zeros(len(wanted))
    least, parts = 0.0, split_parts(tree, sizes, is_cut, held, top)
    for rank in range(len(parts)):
        least += abs(parts[rank] - wanted[rank]) / 2
    while True:
        least, closed, opened = least - tolerance, -1, -1
        for i in range(len(ends)):
            if not is_cut[i]:
                continue
            is_cut[i] = False
            parts = split_parts(tree, sizes, is_cut, held, top)
            for rank in range(len(parts)):
                before[rank + 1] = before[rank] + abs(parts[rank] - wanted[rank])
            for j in range(len(ends)):
                if is_cut[j] or j == i:
                    continue
                piece = held[node_of[j]]
                rest = held[top[node_of[j]]] - piece
                count = misplaced_after(parts, wanted, before, min(piece, rest), max(piece, rest), 2 * least) / 2
                if count < least:
                    least, closed, opened = count, i, j
            is_cut[i] = True
        if closed < 0:
            return is_cut
        is_cut[closed], is_cut[opened] = False, True
