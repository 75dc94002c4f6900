"""GIT in plain Python, straight from the paper's text and pseudo-code: slow, obvious, no arrays, no compilation.

Every stage takes plain lists and returns plain lists. Intensities are exact decimals, so that nothing underflows; two
logarithms nearer than ``STEP`` are one value, as in the library. LinkConstraints go to the lower index.
"""

import math
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import pairwise

getcontext().prec = 60
STEP = 2.0**-36
TOLERANCE = 1e-12


def rounded(value):
    return float(round(float(value) / STEP)) * STEP


def scale(X):
    """Section 0: every feature by its standard deviation; features that do not vary are dropped."""
    columns = []
    for column in zip(*X, strict=True):
        exact = [Fraction(v) for v in column]
        if max(exact) - min(exact) <= Fraction(8 * 2.0**-52) * max(abs(v) for v in exact):
            continue
        mean = sum(exact) / len(exact)
        variance = sum((v - mean) ** 2 for v in exact) / len(exact)
        sigma = (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
        centred = [v - mean for v in exact]
        columns.append([float(Decimal(v.numerator) / Decimal(v.denominator) / sigma) for v in centred])
    return [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in X]


def distance(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += (a - b) * (a - b)
    return short(math.sqrt(total))


def short(value):
    """The first 36 bits after the leading one: distances that differ by rounding errors are equal."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(mantissa * 2**37 + 0.5) / 2**37, exponent)


def neighbors(points, k):
    """Stage 1: the k nearest others as (distance, index), ties by index."""
    n = len(points)
    return [sorted((distance(points[i], points[j]), j) for j in range(n) if j != i)[:k] for i in range(n)]


def intensity(near):
    """Stage 2, Eq. 1: mean of exp(-d), as log f."""
    return [rounded((sum((-Decimal(d)).exp() for d, _ in row) / len(row)).ln()) for row in near]


def intensity_authors(near, n_features):
    kernel = [[(-Decimal(d) * Decimal(d) / n_features).exp() for d, _ in row] for row in near]
    return [rounded((sum(row) / len(row)).ln()) for row in kernel]


def local_clusters(near, log_f, strict=False):
    """Stage 3, Algorithm 1: samples appear in falling intensity and join the root of their parent."""
    n = len(near)
    order = sorted(range(n), key=lambda i: (-log_f[i], i))
    rank = {i: r for r, i in enumerate(order)}
    parent, root = {}, {}
    for i in order:
        best = None
        for d, p in near[i]:
            if rank[p] > rank[i] or (strict and log_f[p] <= log_f[i]):
                continue
            rise = (Decimal(log_f[p]) - Decimal(log_f[i])).exp() - 1
            if d == 0:
                slope = math.inf
            elif rise <= 0:
                slope = -math.inf
            else:
                slope = rounded((rise / Decimal(d)).ln())
            if best is None or slope > best[0]:
                best = (slope, p)
        parent[i] = i if best is None else best[1]
        root[i] = i if best is None else root[best[1]]
    peaks = [i for i in order if parent[i] == i]
    number = {p: label for label, p in enumerate(peaks)}
    return [parent[i] for i in range(n)], [number[root[i]] for i in range(n)], peaks


def boundary_pairs(near, labels):
    """Eq. 10: mutual neighbours in different local clusters, each unordered pair once."""
    inside = [{j for _, j in row} for row in near]
    return [
        (i, j, d) for i, row in enumerate(near) for d, j in row if i < j and i in inside[j] and labels[i] != labels[j]
    ]


def boundary_pairs_authors(near, log_f, parent, labels, X):
    pairs = []
    for i, row in enumerate(near):
        higher = [j for _, j in row if log_f[j] > log_f[i]]
        if parent[i] != i:
            pairs += [(i, j, distance(X[i], X[j])) for j in higher[1:] if labels[i] != labels[j]]
    return pairs


def topo_graph(pairs, labels):
    """Stage 4, Eq. 9: {(i, j): (log S, number of pairs)}."""
    sums, counts = {}, {}
    for x, y, d in pairs:
        edge = tuple(sorted((labels[x], labels[y])))
        sums[edge] = sums.get(edge, Decimal(0)) + (-Decimal(d)).exp()
        counts[edge] = counts.get(edge, 0) + 1
    size = {label: labels.count(label) for label in set(labels)}
    return {(i, j): (float((s / size[i] / size[j]).ln()), counts[i, j]) for (i, j), s in sums.items()}


def wasserstein(p, q):
    """W1 of mass p_i at p_i and mass q_j at q_j: the area between the cumulative distributions."""
    places = sorted({*p, *q})
    area = Fraction(0)
    for left, right in pairwise(places):
        gap = sum(v for v in p if v <= left) - sum(v for v in q if v <= left)
        area += abs(gap) * (right - left)
    return float(area)


def cut_edges(edges, sizes, prior, peak_points):
    """Stage 5, Algorithm 3, and the leftovers of section 5. Returns final labels of local clusters and scores."""
    n, c = sum(sizes), len(prior)
    q = [Fraction(v) / sum(Fraction(w) for w in prior) for v in prior]
    clusters = [{i} for i in range(len(sizes))]
    share = lambda group: Fraction(sum(sizes[i] for i in group), n)  # noqa: E731
    scores = [wasserstein([share(g) for g in clusters], q)]
    best = math.inf
    for i, j in sorted(edges, key=lambda e: (-rounded(edges[e][0]), e)):
        a, b = (next(g for g in clusters if end in g) for end in (i, j))
        if a is b:
            continue
        merged = [g for g in clusters if g is not a and g is not b] + [a | b]
        if len(merged) < c:
            break
        score = wasserstein([share(g) for g in merged], q)
        if score <= best + TOLERANCE:
            clusters, best = merged, score
            scores.append(score)
    while len(clusters) > c:
        smallest = min(clusters, key=lambda g: (share(g), -min(g)))
        others = [g for g in clusters if g is not smallest]
        partner = max(others, key=lambda g: (*connection(smallest, g, edges, sizes, peak_points), -min(g)))
        clusters = [g for g in others if g is not partner] + [smallest | partner]
    clusters.sort(key=lambda g: (-share(g), min(g)))
    return [next(label for label, g in enumerate(clusters) if i in g) for i in range(len(sizes))], scores


def connection(a, b, edges, sizes, peak_points):
    """Eq. 8-9 between whole clusters; where no pair of samples connects them, the nearness of their peaks."""
    total = Decimal(0)
    for (i, j), (log_weight, _) in edges.items():
        if (i in a and j in b) or (j in a and i in b):
            total += Decimal(log_weight).exp() * sizes[i] * sizes[j]
    nearness = -min(distance(peak_points[i], peak_points[j]) for i in a for j in b)
    return (rounded((total / sum(sizes[i] for i in b)).ln()) if total else -math.inf), nearness


# the adaptive variant


def intensity_relative(near):
    """Mean of exp(-d / h), h the mean neighbour distance of the connected component."""
    component = list(range(len(near)))
    for i, row in enumerate(near):
        for _, j in row:
            old, new = component[j], component[i]
            component = [new if c == old else c for c in component]
    log_f = []
    for i, row in enumerate(near):
        together = [d for j, other in enumerate(near) if component[j] == component[i] for d, _ in other]
        h = sum(together) / len(together) or 1.0
        log_f.append(float((sum((-Decimal(d) / Decimal(h)).exp() for d, _ in row) / len(row)).ln()))
    return log_f


def topo_graph_relative(pairs, labels, log_f, peaks):
    """S from similarities (min(f(x), f(y)) / min(f(peak i), f(peak j)))^2."""
    sums = {}
    for x, y, _ in pairs:
        i, j = sorted((labels[x], labels[y]))
        relative = min(log_f[x], log_f[y]) - min(log_f[peaks[i]], log_f[peaks[j]])
        sums[i, j] = sums.get((i, j), Decimal(0)) + (2 * Decimal(relative)).exp()
    size = {label: labels.count(label) for label in set(labels)}
    return {(i, j): float((s / size[i] / size[j]).ln()) for (i, j), s in sums.items()}


def average_linkage(edges, sizes):
    """Merges of Eq. 8 as (one cluster, other cluster, log S), always the strongest connection now."""
    clusters = [frozenset([i]) for i in range(len(sizes))]
    merges = []
    while True:
        best = None
        for a in clusters:
            for b in clusters:
                if min(a) < min(b):
                    total = sum(
                        Decimal(w).exp() * sizes[i] * sizes[j]
                        for (i, j), w in edges.items()
                        if (i in a and j in b) or (i in b and j in a)
                    )
                    if total:
                        between = sum(sizes[i] for i in a) * sum(sizes[j] for j in b)
                        key = (rounded((total / between).ln()), -min(a), -min(b))
                        best = max(best, (key, a, b)) if best else (key, a, b)
        if best is None:
            return merges
        key, a, b = best
        merges.append((a, b, key[0]))
        clusters = [c for c in clusters if c not in (a, b)] + [a | b]


def split_order(merges, sizes, crumb=20):
    """Merges in the order to undo them: the last first, but as the c-th split only one with no crumb on a side."""
    n = sum(sizes)
    side = [min(sum(sizes[i] for i in part) for part in (a, b)) for a, b, _ in merges]
    left, order = list(range(len(merges))), []
    while left:
        c = len(order) + 2
        ready = [t for t in left if side[t] * crumb * c >= n]
        if not ready:
            largest = max(side[t] for t in left)
            ready = [max(t for t in left if side[t] == largest)]
        order.append(max(ready))
        left.remove(order[-1])
    return order
