"""Memory of the system: how much is free, and freed memory for other processes."""

import ctypes
from contextlib import suppress
from pathlib import Path


def give_back() -> None:
    """Call malloc_trim of the GNU C library, if there is one.

    Every thread has a heap of its own. The library keeps freed arrays of up to 32 MB in it for later allocations by the
    same thread, but the next stage of a fit allocates in others. Without this, a fit of a million samples peaks higher.
    """
    with suppress(OSError, TypeError, AttributeError):  # Windows, macOS, other C libraries
        ctypes.CDLL(None).malloc_trim(0)


def check_memory(needed: float, remedy: str) -> None:
    """Raise MemoryError if ``needed`` bytes are not available."""
    free = available_memory()
    if needed > free:
        raise MemoryError(f"This needs about {needed / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free. {remedy}")


def available_memory() -> float:
    """Return the bytes that can be allocated without swapping; infinite if unknown (on other systems than Linux)."""
    free = float("inf")
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free = 1024.0 * int(lines["MemAvailable"].split()[0])
        limit, used = (Path("/sys/fs/cgroup", name).read_text() for name in ("memory.max", "memory.current"))
        free = min(free, float(limit) - float(used))  # "max" if there is no limit
    except (OSError, ValueError, KeyError):
        pass
    return free
