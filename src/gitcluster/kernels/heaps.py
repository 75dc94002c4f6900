"""Heaps of numbers in arrays: the number whose key is the lowest on top, of equal keys that with the lower tie."""

from gitcluster.kernels import kernel


@kernel
def sift_down(heap, size, place, keys, ties):
    """Let a number sink to where none below it comes first."""
    number = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        a = heap[child]
        if child + 1 < size:
            b = heap[child + 1]
            if keys[b] < keys[a] or (keys[b] == keys[a] and ties[b] < ties[a]):
                a = b
                child += 1
        if not (keys[a] < keys[number] or (keys[a] == keys[number] and ties[a] < ties[number])):
            break
        heap[place] = a
        place = child
    heap[place] = number


@kernel
def build_heap(heap, size, keys, ties):
    """Put the first numbers in the order of a heap."""
    for place in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, place, keys, ties)
