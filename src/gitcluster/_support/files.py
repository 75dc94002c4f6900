"""Files that are either whole or not there: what is written stands beside its target until it is complete.

``abandon`` removes what is half-written and lets nothing new begin; call it once, just before the process ends.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO
from uuid import uuid4

_lock = Lock()
_unfinished: set[Path] = set()


@contextmanager
def write_aside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces ``path`` when the block ends well, and is removed when it does not.

    A link stays a link, and a file that is replaced keeps its permissions. A device or a pipe is written to directly.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with write_aside(Path(folder) / "hello") as file:
    ...         count = file.write(b"hello")
    ...     (Path(folder) / "hello").read_text()
    'hello'
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    aside = target.with_name(f".{target.name[:40]}-{uuid4().hex[:8]}")  # a long name must not become too long
    with _lock:
        file = aside.open("xb")
        _unfinished.add(aside)
    try:
        with file:
            yield file
        if target.exists():
            shutil.copymode(target, aside)
        with _lock:
            aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
        _unfinished.discard(aside)


def abandon() -> None:
    """Remove what is half-written. The lock is kept, so that no thread begins or completes another file."""
    _lock.acquire()
    for aside in list(_unfinished):
        with suppress(OSError):  # on Windows an open file cannot be removed
            aside.unlink(missing_ok=True)
