"""Moving samples between clusters at the least cost."""

import heapq

import numpy as np

from gitcluster.kernels import kernel

NEVER = 2**62
"""A cost above all others."""


@kernel
def move_samples(labels, costs, rank, wanted):
    """Change labels until every cluster has as many samples as ``wanted``, at the least sum of ``costs`` (n, c).

    Costs are whole numbers: sums of rounded ones could go round in a circle for ever. Labels are the cheapest to begin
    with. One sample after another leaves a cluster that has too many, along the cheapest way to one that has too few:
    where it passes through other clusters, each of them gives away one sample and takes in another. So labels are the
    cheapest for their sizes all the time. Samples of equal cost move by ``rank``.
    """
    n, c = costs.shape
    waiting = [[[(np.int64(NEVER), np.int64(-1), np.int64(-1))] for _ in range(c)] for _ in range(c)]
    sizes = np.zeros(c, np.int64)
    for x in range(n):
        sizes[labels[x]] += 1
        for b in range(c):
            if b != labels[x]:
                heapq.heappush(waiting[labels[x]][b], (costs[x, b] - costs[x, labels[x]], rank[x], np.int64(x)))
    before = np.empty(c, np.int64)
    while True:
        length = np.where(sizes > wanted, np.int64(0), np.int64(NEVER))
        if not (sizes > wanted).any():
            return
        before[:] = -1
        shorter = True
        while shorter:
            shorter = False
            for a in range(c):
                for b in range(c):
                    if a != b and length[a] < NEVER:
                        heap = waiting[a][b]
                        while heap[0][2] >= 0 and labels[heap[0][2]] != a:
                            heapq.heappop(heap)
                        if heap[0][2] >= 0 and length[a] + heap[0][0] < length[b]:
                            length[b], before[b] = length[a] + heap[0][0], a
                            shorter = True
        end = np.int64(-1)
        for b in range(c):
            if sizes[b] < wanted[b] and (end < 0 or length[b] < length[end]):
                end = b
        sizes[end] += 1
        while before[end] >= 0:
            start = before[end]
            x = waiting[start][end][0][2]
            labels[x] = end
            for b in range(c):
                if b != end:
                    heapq.heappush(waiting[end][b], (costs[x, b] - costs[x, end], rank[x], x))
            end = start
        sizes[end] -= 1
