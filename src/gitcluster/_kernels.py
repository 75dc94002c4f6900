"""Compiled loops: arrays in, arrays out. The stages tell what they are for.

A kernel that takes ``start, stop`` first works on those rows alone and may run in several threads.
"""

import heapq
from math import exp, expm1, inf, ldexp, log, sqrt

import numpy as np

from gitcluster._jit import Dict, float64, int64, kernel

NO_INTENSITY = -1e4
"""Log intensity of a sample without neighbours."""

# union-find


@kernel
def find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@kernel
def union(root, i, j):
    """The lower number, which is the higher peak, stands for both."""
    high, low = min(i, j), max(i, j)
    root[low] = high
    return high


@kernel
def union_edges(root, edges, chosen):
    for e in chosen:
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i != j:
            union(root, i, j)


@kernel
def find_all(root):
    for i in range(len(root)):
        root[i] = find(root, i)


# sums of floats that neither order nor partition can change: whole numbers in three bins of 26 bits, the highest bin of
# all that was added and the two below it. A row of ``sums`` is the number of the highest bin, then the three bins.

BITS = 26
BIN = 2.0**BITS
LOG_BIN = BITS * log(2.0)
NOTHING = -(1 << 40)
"""The bin of a sum of nothing."""


@kernel
def raise_bin(total, number):
    """Make room for values of a higher bin; what falls out at the bottom would not show in the result."""
    by = number - total[0]
    if by > 0:
        total[0] = number
        total[3] = total[3 - by] if by < 3 else 0
        total[2] = total[1] if by == 1 else 0
        total[1] = 0


@kernel
def add_mantissa(total, number, mantissa):
    """Add ``mantissa``, from 1 to below 2^26, times 2^(26 number)."""
    raise_bin(total, number)
    place = 1 + total[0] - number
    while place < 4 and mantissa > 0.0:
        whole = np.floor(mantissa)
        total[place] += np.int64(whole)
        mantissa = (mantissa - whole) * BIN
        place += 1


@kernel
def add_value(total, value):
    """Add a value above 0."""
    number = np.int64(np.floor(np.log2(value) / BITS))
    mantissa = ldexp(value, -BITS * number)
    if mantissa >= BIN or mantissa < 1.0:  # the logarithm was rounded
        number += 1 if mantissa >= BIN else -1
        mantissa = ldexp(value, -BITS * number)
    add_mantissa(total, number, mantissa)


@kernel
def add_exp(total, value):
    """Add exp(value), which may be beyond the range of floats."""
    number = np.int64(np.floor(value / LOG_BIN))
    add_mantissa(total, number, min(max(exp(value - number * LOG_BIN), 1.0), BIN - 1e-8))


@kernel
def add_total(total, other):
    """Add what was summed elsewhere."""
    raise_bin(total, other[0])
    for place in range(1, 4):
        to = place + total[0] - other[0]
        if to < 4:
            total[to] += other[place]


@kernel
def leading_part(total):
    """The sum as a multiple of the unit of its highest bin."""
    return total[1] + (total[2] + total[3] / BIN) / BIN


@kernel
def merge_totals(place, totals, merged):
    """Add row r of ``totals`` to row ``place[r]`` of ``merged``."""
    for r in range(len(place)):
        add_total(merged[place[r]], totals[r])


@kernel
def mean_totals(totals, counts, means):
    """Means; 0 of nothing."""
    for r in range(len(totals)):
        means[r] = 0.0
        if totals[r, 0] != NOTHING:
            means[r] = ldexp(leading_part(totals[r]) / counts[r], BITS * totals[r, 0])


@kernel
def log_totals(totals, logs):
    for r in range(len(totals)):
        logs[r] = log(leading_part(totals[r])) + totals[r, 0] * LOG_BIN


@kernel
def empty_totals(n):
    totals = np.zeros((n, 4), np.int64)
    totals[:, 0] = NOTHING
    return totals


@kernel
def sum_moments(values, low, span, sums):
    """Add up v and v^2, v = (value / 2 - low) / span from 0 to 1 as a multiple of 2^-52: v is a 2^26 + b, and the sums
    are of a, b, a^2, a b and b^2, the last three in halves of 32 bits."""
    for i in range(len(values)):
        v = np.int64(np.rint((values[i] * 1.0 / 2 - low) / span * 2.0**52))
        a, b = v >> 26, v & ((1 << 26) - 1)
        sums[0] += a
        sums[1] += b
        for place, square in ((2, a * a), (4, a * b), (6, b * b)):
            sums[place] += square >> 32
            sums[place + 1] += square & ((1 << 32) - 1)


# intensity and local clusters


@kernel
def log_mean_kernel(start, stop, distances, k, power, scale, log_intensity):
    for x in range(start, stop):
        nearest = (distances[x, 0] * 1.0) ** power / scale[x]
        if nearest == inf:
            log_intensity[x] = NO_INTENSITY
            continue
        total = 0.0
        for c in range(k):
            total += exp(nearest - (distances[x, c] * 1.0) ** power / scale[x])
        log_intensity[x] = log(total / k) - nearest


@kernel
def log_weighted_kernel(start, stop, indices, distances, k, power, scale, weights, log_intensity):
    """The mean over a neighbourhood of weight k, as if every sample were there as often as its weight says."""
    for x in range(start, stop):
        nearest = 0.0 if weights[x] > 1.0 else (distances[x, 0] * 1.0) ** power / scale[x]
        if nearest == inf:
            log_intensity[x] = NO_INTENSITY
            continue
        taken = min(max(weights[x] - 1.0, 0.0), 1.0 * k)
        total = taken * exp(nearest)
        for c in range(distances.shape[1]):
            if taken >= k or distances[x, c] == inf:
                break
            weight = min(weights[indices[x, c]], k - taken)
            total += weight * exp(nearest - (distances[x, c] * 1.0) ** power / scale[x])
            taken += weight
        log_intensity[x] = log(total / taken) - nearest if total > 0.0 else NO_INTENSITY


@kernel
def find_components(indices, k, n_nodes):
    """Root of every node in the graph of neighbours, and the number of components; the nearest neighbours first,
    so that a graph in one piece is known to be one early. Nodes without a row of neighbours stand last."""
    n_samples = len(indices)
    root = np.arange(n_nodes)
    count = n_nodes
    for first in range(0, k, 4):
        for x in range(n_samples):
            for c in range(first, min(first + 4, k)):
                i, j = find(root, x), find(root, indices[x, c])
                if i != j:
                    root[max(i, j)] = min(i, j)
                    count -= 1
        if count == 1:
            break
    find_all(root)
    return root, count


@kernel
def sum_components(root, distances, k, totals, counts):
    """Neighbour distances, divided by k, and their number in the component of every sample, at its root."""
    for x in range(distances.shape[0]):
        total = 0.0
        for c in range(k):
            if distances[x, c] < inf:
                counts[root[x]] += 1
                total += distances[x, c] / k
        if total > 0.0:
            add_value(totals[root[x]], total)


@kernel
def log_slope(rise, distance):
    """log((f(p) - f(x)) / (f(x) d)), rise = log f(p) - log f(x)."""
    if distance == 0.0:
        return inf
    if rise <= 0.0:
        return -inf
    return rise + log(-expm1(-rise)) - log(distance)


@kernel
def steepest_parent(start, stop, indices, distances, k, log_intensity, rank, strict, step, parent):
    for x in range(start, stop):
        best, best_slope = x, -inf
        for c in range(k):
            p = indices[x, c]
            if rank[p] >= rank[x] or (strict and log_intensity[p] <= log_intensity[x]):
                continue
            slope = log_slope(log_intensity[p] - log_intensity[x], distances[x, c])
            if slope != inf and slope != -inf:
                slope = np.rint(slope / step) * step
            if best == x or slope > best_slope:
                best, best_slope = p, slope
        parent[x] = best


@kernel
def follow_parents(order, parent, labels):
    """Number the peaks in falling intensity and give every sample the number of its peak."""
    count = 0
    for x in order:
        if parent[x] == x:
            labels[x] = count
            count += 1
        else:
            labels[x] = labels[parent[x]]
    return count


@kernel
def part_groups(groups, labels, parent):
    """Make peaks of the samples of groups that share a local cluster with another group; whether there were any."""
    n_labels = labels.max() + 1
    seen = np.full(n_labels, -1, np.int64)
    mixed = np.zeros(n_labels, np.bool_)
    for x in range(len(groups)):
        if groups[x] >= 0:
            if seen[labels[x]] >= 0 and seen[labels[x]] != groups[x]:
                mixed[labels[x]] = True
            seen[labels[x]] = groups[x]
    for x in range(len(groups)):
        if groups[x] >= 0 and mixed[labels[x]]:
            parent[x] = x
    return mixed.any()


# topo-graph


@kernel
def mark_mutual_pairs(start, stop, indices, distances, k, labels, symmetric, boundary):
    """Neighbours of each other in different local clusters, at the one with the lower number.

    A search may round d(x, y) and d(y, x) differently; a given graph need not be ``symmetric`` at all.
    """
    for x in range(start, stop):
        for c in range(k):
            y = indices[x, c]
            low, high = (distances[x, c] * 0.999999, distances[x, c] * 1.000001) if symmetric else (-1.0, inf)
            if labels[x] >= labels[y] or low > distances[y, k - 1]:
                continue
            b, after = 0, k  # the first neighbour of y that is not nearer than low
            while b < after:
                middle = (b + after) // 2
                if distances[y, middle] < low:
                    b = middle + 1
                else:
                    after = middle
            while b < k and distances[y, b] <= high:
                if indices[y, b] == x:
                    boundary[x, c] = True
                    break
                b += 1


@kernel
def mark_uphill_pairs(start, stop, indices, k, log_intensity, parent, labels, boundary):
    """Neighbours of higher intensity but the nearest of them, in another local cluster than the sample."""
    for x in range(start, stop):
        if parent[x] == x:
            continue
        seen = False
        for c in range(k):
            y = indices[x, c]
            if log_intensity[y] > log_intensity[x]:
                boundary[x, c] = seen and labels[x] != labels[y]
                seen = True


@kernel
def add_log(total, value):
    """log(exp(total) + exp(value))."""
    high, low = max(total, value), min(total, value)
    if high == -inf:
        return high
    return high + log(1.0 + exp(low - high))


@kernel
def sum_pairs(start, stop, members, starts, indices, distances, boundary, labels, level, rate, log_weight):
    """Boundary pairs by pair of local clusters: arrays of (i, j), pairs, and their summed similarity.

    ``start, stop`` are local clusters i. The log similarity of a pair is the lower of its two levels minus its distance
    times ``rate``, plus the log weights of the two samples.
    """
    n_labels = len(starts) - 1
    pairs = np.zeros(n_labels, np.int64)
    totals = empty_totals(n_labels)
    touched = np.empty(n_labels, np.int64)
    ends = [(np.int64(0), np.int64(0)) for _ in range(0)]
    sums = [(np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    for i in range(start, stop):
        n_touched = 0
        for s in range(starts[i], starts[i + 1]):
            x = members[s]
            for c in range(boundary.shape[1]):
                if not boundary[x, c]:
                    continue
                y = indices[x, c]
                j = labels[y]
                value = min(level[x], level[y]) - rate * distances[x, c] + log_weight[x] + log_weight[y]
                if pairs[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                add_exp(totals[j], value)
                pairs[j] += 1
        for j in np.sort(touched[:n_touched]):
            total = totals[j]
            ends.append((i, j))
            sums.append((pairs[j], total[0], total[1], total[2], total[3]))
            pairs[j] = 0
            total[0], total[1], total[2], total[3] = NOTHING, 0, 0, 0
    both, counts, summed = np.empty((len(ends), 2), np.int64), np.empty(len(ends), np.int64), empty_totals(len(ends))
    for r in range(len(ends)):
        both[r, 0], both[r, 1] = ends[r]
        counts[r], summed[r, 0], summed[r, 1], summed[r, 2], summed[r, 3] = sums[r]
    return both, counts, summed


# edge cutting


@kernel
def split_pairs(pairs):
    """Two arrays from a list of pairs, which would be slow to hand over as it is."""
    first, second = np.empty(len(pairs), np.int64), np.empty(len(pairs))
    for t in range(len(pairs)):
        first[t], second[t] = pairs[t]
    return first, second


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

    Outcome of an edge: 1 merged, -1 cut, 0 passed over or not reached.
    """
    n_samples, n_clusters = sizes.sum(), len(sizes)
    distinct = np.empty(int(sqrt(2.0 * n_samples)) + 3, np.int64)
    counts = np.empty_like(distinct)
    n_distinct = 0
    for size in sizes:
        n_distinct = change_count(distinct, counts, n_distinct, size, 1)
    outcome = np.zeros(len(edges), np.int8)
    merged = [(np.int64(0), 0.0) for _ in range(0)]
    for e in order:
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i == j:
            continue
        if n_clusters <= len(prior):
            break
        low, high = min(sizes[i], sizes[j]), max(sizes[i], sizes[j])
        change = score_change(low, high, distinct, counts, n_distinct, n_samples, prior, prior_mass)
        if len(merged) > 0 and change > tolerance * n_samples:
            outcome[e] = -1
            continue
        outcome[e] = 1
        merged.append((e, change / n_samples))
        n_distinct = change_count(distinct, counts, n_distinct, low, -1)
        n_distinct = change_count(distinct, counts, n_distinct, high, -1)
        n_distinct = change_count(distinct, counts, n_distinct, low + high, 1)
        sizes[union(root, i, j)] = low + high
        n_clusters -= 1
    merges, changes = split_pairs(merged)
    return outcome, merges, changes


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
        low = i + best - high
        if head[high] < 0:
            head[high], tail[high] = head[low], tail[low]
        elif head[low] >= 0:
            following[tail[high]] = head[low]
            tail[high] = tail[low]
        sizes[high] = sizes[i] + sizes[best]
        heapq.heappush(heap, (sizes[high], -high))
        count -= 1
    return count


# hierarchy


@kernel
def link_average(edges, log_sums, sizes, step):
    """Average linkage: merge the two clusters of the strongest connection now, until none is left.

    A merge can only weaken the connections of the two clusters, because an average is not above the larger of its
    parts. So the strength that a heap entry was given is an upper bound, checked when the entry comes up.
    Returns per merge the strongest edge between the two clusters, and the log strength of their connection.
    """
    m = np.int64(len(sizes))
    size = sizes.astype(np.int64)
    root, name = np.arange(m), np.arange(m)
    degree = np.zeros(m, np.int64)
    head, tail, following = link_edges(edges, root)
    sums = Dict.empty(int64, float64)
    behind = Dict.empty(int64, int64)
    heap = [(0.0, m, m, m, m) for _ in range(0)]
    for e in range(len(edges)):
        i, j = edges[e]
        degree[i] += 1
        degree[j] += 1
        sums[i * m + j] = log_sums[e]
        behind[i * m + j] = e
        heap.append((-np.rint((log_sums[e] - log(size[i]) - log(size[j])) / step), i, j, i, j))
    heapq.heapify(heap)
    merged = [(np.int64(0), 0.0) for _ in range(0)]
    while len(heap) > 0:
        weakness, _, _, i, j = heapq.heappop(heap)
        i, j = find(root, i), find(root, j)
        if i == j:
            continue
        pair = min(i, j) * m + max(i, j)
        now = -np.rint((sums[pair] - log(size[i]) - log(size[j])) / step)
        if now > weakness:
            heapq.heappush(heap, (now, min(name[i], name[j]), max(name[i], name[j]), i, j))
            continue
        merged.append((behind[pair], -now * step))
        small, large = (i, j) if degree[i] < degree[j] else (j, i)
        move_connections(small, large, root, edges, head, following, sums, behind, log_sums, m)
        root[small] = large
        name[large] = min(name[i], name[j])
        size[large] += size[small]
        degree[large] += degree[small]
        following[tail[large]] = head[small]
        tail[large] = tail[small]
    return split_pairs(merged)


@kernel
def move_connections(small, large, root, edges, head, following, sums, behind, log_sums, m):
    """Add what connects ``small`` to others to what connects ``large`` to them."""
    half = head[small]
    while half >= 0:
        other = find(root, edges[half // 2, 1 - half % 2])
        half = following[half]
        if other == small:
            continue
        old = min(small, other) * m + max(small, other)
        if old not in sums:
            continue
        value, edge = sums[old], behind[old]
        del sums[old]
        del behind[old]
        if other == large:
            continue
        new = min(large, other) * m + max(large, other)
        if new in sums:
            sums[new] = add_log(sums[new], value)
            behind[new] = stronger_edge(behind[new], edge, log_sums)
        else:
            sums[new] = value
            behind[new] = edge


@kernel
def stronger_edge(edge, other, log_sums):
    return other if (log_sums[other], -other) > (log_sums[edge], -edge) else edge


@kernel
def may_join(i, j, root, apart):
    """Whether a merge leaves apart what must be apart."""
    for p in range(len(apart)):
        a, b = find(root, apart[p, 0]), find(root, apart[p, 1])
        if (a == i and b == j) or (a == j and b == i):
            return False
    return True


@kernel
def link_constrained(edges, log_sums, sizes, root, apart, step):
    """Average linkage among what ``root`` has together already, of merges that are allowed, until none is left.

    Returns the strongest edge behind every merge, and the samples on its smaller side.
    """
    m = np.int64(len(sizes))
    size = np.zeros(m, np.int64)
    for i in range(m):
        size[find(root, i)] += sizes[i]
    head, tail, following = link_edges(edges, root)
    degree = np.zeros(m, np.int64)
    sums = Dict.empty(int64, float64)
    behind = Dict.empty(int64, int64)
    for e in range(len(edges)):
        i, j = find(root, edges[e, 0]), find(root, edges[e, 1])
        if i != j:
            degree[i] += 1
            degree[j] += 1
            pair = min(i, j) * m + max(i, j)
            sums[pair] = add_log(sums[pair], log_sums[e]) if pair in sums else log_sums[e]
            behind[pair] = stronger_edge(behind[pair], e, log_sums) if pair in behind else e
    heap = [(0.0, m) for _ in range(0)]
    for pair in sums:
        heap.append((-np.rint((sums[pair] - log(size[pair // m]) - log(size[pair % m])) / step), pair))
    heapq.heapify(heap)
    merged = [(m, m) for _ in range(0)]
    while len(heap) > 0:
        weakness, pair = heapq.heappop(heap)
        i, j = pair // m, pair % m
        if root[i] != i or root[j] != j or pair not in sums:
            continue
        now = -np.rint((sums[pair] - log(size[i]) - log(size[j])) / step)
        if now > weakness:
            heapq.heappush(heap, (now, pair))
            continue
        if not may_join(i, j, root, apart):
            continue
        merged.append((behind[pair], min(size[i], size[j])))
        small, large = (i, j) if degree[i] < degree[j] else (j, i)
        half = head[small]
        root[small] = large
        size[large] += size[small]
        degree[large] += degree[small]
        while half >= 0:
            other = find(root, edges[half // 2, 1 - half % 2])
            half = following[half]
            old = min(small, other) * m + max(small, other)
            if other == large or old not in sums:
                continue
            value, edge = sums[old], behind[old]
            del sums[old]
            new = min(large, other) * m + max(large, other)
            sums[new] = add_log(sums[new], value) if new in sums else value
            behind[new] = stronger_edge(behind[new], edge, log_sums) if new in behind else edge
            heapq.heappush(heap, (-np.rint((sums[new] - log(size[large]) - log(size[other])) / step), new))
        if head[large] < 0:
            head[large], tail[large] = head[small], tail[small]
        elif head[small] >= 0:
            following[tail[large]] = head[small]
            tail[large] = tail[small]
    return split_pairs(merged)


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
def smaller_sides(merges, edges, sizes):
    """Samples on the smaller side of every merge."""
    root, size = np.arange(len(sizes)), sizes.astype(np.int64)
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


# selection

CROSSING = 2.0**30
"""Shares of crossing links are counted in whole numbers, this many of them."""


@kernel
def measure_crossing(start, stop, indices, k, labels, log_intensity, peaks, crossing):
    """Per sample, links to other clusters, each with its intensity relative to the lower of the two peaks, squared."""
    for x in range(start, stop):
        total = 0.0
        for c in range(k):
            y = indices[x, c]
            if labels[y] != labels[x]:
                level = min(log_intensity[x], log_intensity[y])
                total += exp(2.0 * (level - min(peaks[labels[x]], peaks[labels[y]])))
        crossing[x] = np.int64(np.rint(total / k * CROSSING))


@kernel
def adjusted_rand(a, b, counts, n_a, n_b):
    """Adjusted Rand index where ``counts`` samples have each pair of labels; labels are below n_a and n_b."""
    table = np.zeros((n_a, n_b))
    for x in range(len(counts)):
        table[a[x], b[x]] += counts[x]
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    both = (table * (table - 1.0)).sum()
    in_a, in_b = (rows * (rows - 1.0)).sum(), (columns * (columns - 1.0)).sum()
    n_samples = rows.sum()
    expected = in_a * in_b / (n_samples * (n_samples - 1.0))
    most = (in_a + in_b) / 2.0
    return 1.0 if most == expected else (both - expected) / (most - expected)


# outliers


@kernel
def mean_reach(start, stop, distances, k, reach):
    """Mean distance to the neighbours that are there, infinite where there are none."""
    for x in range(start, stop):
        total, count = 0.0, 0
        for c in range(k):
            if distances[x, c] < inf:
                total += distances[x, c]
                count += 1
        reach[x] = total / count if count > 0 else inf


@kernel
def outlier_scores(start, stop, indices, distances, k, own, reach, scores):
    """1 - 1 / r, r how much wider the ``own`` neighbourhood is than the ``reach`` of the neighbours."""
    for x in range(start, stop):
        total, count = 0.0, 0
        for c in range(k):
            if distances[x, c] < inf and reach[indices[x, c]] < inf:
                total += reach[indices[x, c]]
                count += 1
        share = 1.0 if own[x] == 0.0 else 0.0
        if count > 0 and own[x] > 0.0:
            share = total / count / own[x]
        scores[x] = 1.0 - min(share, 1.0)


# cells of the space on many machines


@kernel
def follow_locally(order, parent, n_own, top):
    """The peak of every sample of a cell, or the sample of its halo at which the way uphill leaves the cell."""
    for x in order:
        if x >= n_own or parent[x] == x:
            top[x] = x
        else:
            top[x] = top[parent[x]]


@kernel
def mark_near_pairs(indices, distances, k, labels, ids, last_distance, last_id, boundary):
    """The pairs of :func:`mark_mutual_pairs` where distances are symmetric: a sample is among the neighbours of
    another if it is not behind the last of them."""
    for x in range(indices.shape[0]):
        for c in range(k):
            y = indices[x, c]
            if labels[x] < labels[y]:
                boundary[x, c] = (distances[x, c], ids[x]) <= (last_distance[y], last_id[y])
