"""Compiled loops, and the threads they run in.

A kernel takes arrays and returns arrays, and releases the interpreter lock. Kernels that work sample by sample take
``start, stop`` first; :func:`run_chunks` spreads such a kernel over threads. Every chunk writes only its own rows, so
the result does not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

from joblib import effective_n_jobs
from numba import njit
from threadpoolctl import ThreadpoolController

__all__ = ["kernel", "limit_threads", "run_chunks", "run_threads", "unordered_kernel"]

MIN_CHUNK_SIZE = 4096


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function on its first call and cache the machine code in a file."""
    try:
        return njit(cache=True, nogil=True, error_model="numpy", **options)(function)  # type: ignore[no-any-return]
    except RuntimeError:
        # Neither the package's folder nor the user's cache folder is writable: compile in every process.
        return njit(nogil=True, error_model="numpy", **options)(function)  # type: ignore[no-any-return]


def unordered_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function whose sums may be reordered, for values that are only compared with a margin."""
    # Not `fastmath=True`: that would also assume that no value is infinite or NaN.
    return kernel(function, fastmath={"reassoc", "contract", "nsz"})


def run_chunks(
    function: Callable[..., Any],
    n_samples: int,
    n_jobs: int | None,
    *arguments: Any,
    min_chunk_size: int = MIN_CHUNK_SIZE,
) -> list[Any]:
    """Call ``function(start, stop, *arguments)`` over all samples in ``n_jobs`` threads and return the results."""
    n_threads = min(effective_n_jobs(n_jobs), max(1, n_samples // min_chunk_size))
    n_chunks = min(8 * n_threads, n_samples // min_chunk_size) if n_threads > 1 else 1
    bounds = [n_samples * i // n_chunks for i in range(n_chunks + 1)]
    return run_threads(lambda chunk: function(*chunk, *arguments), list(pairwise(bounds)), n_threads)


@cache
def _controller() -> ThreadpoolController:
    """Return the controller of BLAS and OpenMP threads; creating it takes some milliseconds."""
    return ThreadpoolController()


def limit_threads(n_threads: int) -> Any:
    """Return a context in which BLAS and OpenMP use at most ``n_threads`` threads."""
    return _controller().limit(limits=n_threads)


def run_threads(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """Call ``function`` on every item in ``n_jobs`` threads and return the results in order."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
