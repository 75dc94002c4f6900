"""Compilation and threads, the only place that knows numba; the compiled loops are the modules beside this one.

A kernel is one compiled loop without the interpreter lock: arrays in, arrays out. Kernels that work sample by sample
take ``start, stop`` first; :func:`run_chunks` spreads such a kernel over threads. Every chunk writes its own rows only,
so that the result does not depend on the number of threads.
"""

import gc
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any

from joblib import effective_n_jobs
from numba.core.caching import FunctionCache
from numba.core.registry import CPUDispatcher
from threadpoolctl import ThreadpoolController

__all__ = [
    "allocating_kernel",
    "inner_kernel",
    "keep_quiet",
    "kernel",
    "limit_threads",
    "rough_kernel",
    "run_chunks",
    "run_threads",
]

SMALLEST_CHUNK = 4096
OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
ANY_ORDER = {"reassoc", "contract", "nsz"}
"""What a compiler may do with sums whose order does not matter."""


class Cache(FunctionCache):  # type: ignore[misc]
    """Compiled code in files. What cannot be read is compiled anew, what cannot be written is not kept."""

    def __init__(self, function: Callable[..., Any], allocates: bool) -> None:
        super().__init__(function)
        self.allocates = allocates

    def _index_key(self, *arguments: Any) -> Any:
        """What code is found by: that which was compiled to count references needs numba's runtime."""
        return *super()._index_key(*arguments), self.allocates

    def load_overload(self, *arguments: Any) -> Any:
        """Compiled code that was kept; None where there is none that can be used, and it is compiled next.

        Numba would load its compiler and its runtime first, which takes longer than a small fit; code that allocates
        nothing needs neither.
        """
        found = None
        try:
            found = super().load_overload(*arguments) if self.allocates else self._load_alone(*arguments)
        except Exception:  # numba unpickles the files: what is damaged can raise anything
            with suppress(Exception):
                self.flush()
        if found is None:
            announce_once()
        return found

    def _load_alone(self, *arguments: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(*arguments)

    def save_overload(self, *arguments: Any) -> None:
        """Keep compiled code."""
        try:
            super().save_overload(*arguments)
        except Exception as error:
            tell_once(str(error))


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled loop. Keeping its code is a bonus: it works where nothing can be written."""

    lost = ""
    """Why its code cannot be kept."""

    def enable_caching(self) -> None:
        """Keep compiled code in files, if there is a place for them."""
        try:
            self._cache = Cache(self.py_func, self.targetoptions.get("_nrt", True))
        except RuntimeError as error:
            self.lost = str(error)

    def __call__(self, *arguments: Any) -> Any:
        """Run it. A signal that comes while numba wraps the result, an interrupt for one, stays what it is."""
        try:
            return super().__call__(*arguments)
        except SystemError as error:  # "returned a result with an exception set"
            cause: BaseException | None = error
            while isinstance(cause, SystemError):
                cause = cause.__cause__
            raise (cause or error) from None

    def compile(self, *arguments: Any) -> Any:
        """Compile for some types of arguments; numba makes so many small objects that collecting garbage takes long."""
        if self.lost:
            announce_once()
            tell_once(self.lost)
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(*arguments)
        finally:
            if collects:
                gc.enable()


_said: set[str] = set()
"""What is said once per process."""


def announce_once() -> None:
    """Say, once per process, that code is being compiled, where somebody would wait in silence."""
    if "compiling" not in _said:
        _said.add("compiling")
        if is_watched():
            print("gitcluster compiles its loops for this machine, once; this takes some seconds.", file=sys.stderr)


def keep_quiet() -> None:
    """Something else tells that work is done, as a bar does: do not say that code is being compiled."""
    _said.add("compiling")


def is_watched() -> bool:
    """Whether somebody sees the error stream, in a terminal or in a notebook."""
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


def tell_once(reason: str) -> None:
    """Say, once per process, that compiled code is not kept."""
    if "not kept" not in _said:
        _said.add("not kept")
        warnings.warn(
            f"Compiled code cannot be kept ({reason.splitlines()[0]}), so every process compiles for some seconds. "
            "Use the environment variable NUMBA_CACHE_DIR to name a folder that can be written to.",
            UserWarning,
            stacklevel=2,
        )


class InnerKernel(Kernel):
    """A part of compiled loops, with which it is kept. It is not compiled for being called from Python, which takes a
    fifth of the time."""

    def enable_caching(self) -> None:
        """Nothing of its own is kept."""

    def __call__(self, *arguments: Any) -> Any:
        """The same, not compiled."""
        return self.py_func(*arguments)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop when it is first called, without the interpreter lock.

    It makes no arrays or lists: no references to them are counted, so that less code is compiled, and it is faster.
    """
    return _make(Kernel, function, _nrt=False)


def allocating_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that makes arrays or lists."""
    return _make(Kernel, function)


def inner_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part of other kernels, which alone call it; whether it may make arrays is up to them."""
    return _make(InnerKernel, function, no_cpython_wrapper=True)


def rough_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """An inner kernel whose sums may be taken in any order, which is faster: for what is compared with a margin."""
    return _make(InnerKernel, function, no_cpython_wrapper=True, fastmath=ANY_ORDER)


def _make(kind: type[Kernel], function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    made = kind(function, {}, OPTIONS | options)
    made.enable_caching()
    return made  # type: ignore[no-any-return]


def run_chunks(
    function: Callable[..., Any], n_samples: int, n_jobs: int | None, *arguments: Any, smallest: int = SMALLEST_CHUNK
) -> list[Any]:
    """Call ``function(start, stop, *arguments)`` over all samples, in ``n_jobs`` threads; what the chunks return."""
    n_threads = min(effective_n_jobs(n_jobs), max(1, n_samples // smallest))
    n_chunks = min(8 * n_threads, n_samples // smallest) if n_threads > 1 else 1
    bounds = [n_samples * i // n_chunks for i in range(n_chunks + 1)]
    return run_threads(lambda chunk: function(*chunk, *arguments), list(pairwise(bounds)), n_threads)


@cache
def _controller() -> ThreadpoolController:
    """The libraries that have threads of their own; to look for them takes some milliseconds."""
    return ThreadpoolController()


def limit_threads(n_threads: int) -> Any:
    """A context in which libraries of linear algebra use so many threads at most."""
    return _controller().limit(limits=n_threads)


def run_threads(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """``function`` of every item, in ``n_jobs`` threads."""
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads <= 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, items))
