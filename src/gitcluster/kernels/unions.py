"""Union-find on arrays or lists of roots: plain functions for Python, compiled ones for other kernels."""

from typing import Any

from numpy.typing import NDArray

from gitcluster._support.arrays import follow_to_end
from gitcluster.kernels import kernel


def find(root: Any, i: int) -> int:
    """Return the root of item ``i`` and shorten the path to it."""
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


def union(root: Any, i: int, j: int) -> int:
    """Join two roots and return the new one: the lower number, which is the higher peak."""
    high, low = (i, j) if i < j else (j, i)
    root[low] = high
    return high


compiled_find, compiled_union = kernel(find), kernel(union)


@kernel
def union_edges(root, edges, chosen):
    for c in range(len(chosen)):
        i = compiled_find(root, edges[chosen[c], 0])
        j = compiled_find(root, edges[chosen[c], 1])
        if i < j:
            root[j] = i
        else:
            root[i] = j


def find_all(root: NDArray[Any]) -> None:
    """Let every item name the one that stands for it."""
    root[:] = follow_to_end(root)
