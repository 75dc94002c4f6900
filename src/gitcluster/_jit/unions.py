"""Union-find on arrays of roots."""

from typing import Any

from numpy.typing import NDArray

from gitcluster._jit import inner_kernel, kernel
from gitcluster._support.arrays import follow_to_end


@inner_kernel
def find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@inner_kernel
def union(root, i, j):
    """The lower number, which is the higher peak, stands for both."""
    high, low = (i, j) if i < j else (j, i)
    root[low] = high
    return high


@kernel
def union_edges(root, edges, chosen):
    for c in range(len(chosen)):
        i = find(root, edges[chosen[c], 0])
        j = find(root, edges[chosen[c], 1])
        if i < j:
            root[j] = i
        else:
            root[i] = j


def find_all(root: NDArray[Any]) -> None:
    """Let every item name the one that stands for it."""
    root[:] = follow_to_end(root)
