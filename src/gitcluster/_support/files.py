"""Files that are either whole or not there: what is written stands beside its target until it is complete.

``abandon`` removes what is half-written and lets nothing new begin; call it once, just before the process ends.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO
from uuid import uuid4

_lock = Lock()
_unfinished: set[Path] = set()

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""The disk, a file or a quota is full."""
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EROFS)
"""A file system that cannot be asked to write at once."""


@contextmanager
def write_aside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces ``path`` when the block ends well, and is removed when it does not.

    It replaces ``path`` only when all of it is on the disk. A link stays a link, and a file that is replaced keeps its
    permissions. A device, a pipe or an open file (``/dev/stdout``, ``/dev/fd/3``) is written to directly.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with write_aside(Path(folder) / "hello") as file:
    ...         count = file.write(b"hello")
    ...     (Path(folder) / "hello").read_text()
    'hello'
    """
    with _full_disk_named(path):
        if is_stream(path):
            with _open_stream(path) as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        aside = target.with_name(f".{_shorten(target.name)}-{uuid4().hex[:8]}")
        with _lock:
            file = aside.open("xb")
            _unfinished.add(aside)
        try:
            with file:
                yield file
                file.flush()
                _check_written(file)
            if target.exists():
                shutil.copymode(target, aside)
            with _lock:
                aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)
            _unfinished.discard(aside)


@contextmanager
def _full_disk_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """An error that names the file where there is no room for it."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.errno not in FULL or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _check_written(file: BinaryIO) -> None:
    """Raise where the file system has taken less than it was given, or cannot keep it."""
    size = os.fstat(file.fileno()).st_size
    if size < file.tell():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


def _shorten(name: str) -> str:
    """The beginning of a name, so that with an addition it is not longer than names may be.

    Examples
    --------
    >>> _shorten("labels.csv"), len(_shorten("ä" * 100).encode())
    ('labels.csv', 40)
    """
    return os.fsdecode(os.fsencode(name)[:40].decode("utf-8", "ignore").encode())  # no half of a letter


def open_number(path: str | os.PathLike[str]) -> int | None:
    """The number of an open file of this process that a path names, as ``/dev/stdout`` and ``/dev/fd/3`` do.

    Examples
    --------
    >>> open_number("/dev/fd/63"), open_number("labels.csv")
    (63, None)
    """
    named = os.path.abspath(os.fspath(path))
    known = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    if named in known:
        return known[named]
    found = re.fullmatch(rf"(?:/dev|/proc/(?:self|{os.getpid()}))/fd/(\d+)", named)
    return int(found[1]) if found else None


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device, a pipe or an open file: nothing that can be replaced."""
    return open_number(path) is not None or (os.path.exists(path) and not os.path.isfile(path))


def _open_stream(path: str | os.PathLike[str]) -> BinaryIO:
    number = open_number(path)
    return open(path, "wb") if number is None else os.fdopen(os.dup(number), "wb")


def abandon() -> None:
    """Remove what is half-written. The lock is kept, so that no thread begins or completes another file."""
    _lock.acquire()
    for aside in list(_unfinished):
        with suppress(OSError):  # on Windows an open file cannot be removed
            aside.unlink(missing_ok=True)
