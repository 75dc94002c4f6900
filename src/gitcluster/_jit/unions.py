"""Union-find on arrays of roots."""

from gitcluster._jit import inner_kernel, kernel


@inner_kernel
def find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@inner_kernel
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
