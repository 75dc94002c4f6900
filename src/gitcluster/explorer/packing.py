"""Arrays as base64 inside JSON, in as few bytes as hold them."""

from base64 import b64encode
from typing import Any

import numpy as np

TYPES = ("u1", "u2", "i4")
"""Of whole numbers, the first that holds them all; else float64."""


def pack(values: Any) -> dict[str, str]:
    """A typed array: whole numbers in as few bytes as hold them, floats as they are."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fits = [t for t in TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max]
        array = array.astype(fits[0] if fits else "f8")
    kind = array.dtype.str[1:]
    return {"type": kind, "data": b64encode(array.astype(f"<{kind}").tobytes()).decode("ascii")}
