"""Memory that nobody uses any more, given back."""

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Ask the C library to give freed memory back to the system, where it can.

    Threads have heaps of their own. The library of GNU systems keeps what was freed in them, arrays of up to 32 MB, for
    the next one that asks in the same thread; but the next stage asks in others.
    """
    if (trim := _find_trim()) is not None:
        trim(0)


@cache
def _find_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # Windows, macOS, other C libraries
        return None
