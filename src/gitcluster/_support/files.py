"""Write files so that they are either complete or absent: content is written beside its target until it is complete."""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""Errors of a full disk, a file that is too large, or a full quota."""
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EROFS)
"""Errors of file systems that do not support fsync."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` if the block succeeds, and is removed if it fails.

    The file replaces ``path`` only when it is on the disk completely. A link stays a link, and a replaced file keeps
    its permissions. A device, a pipe or an open file (``/dev/stdout``, ``/dev/fd/3``) is written to directly.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "hello") as file:
    ...         count = file.write(b"hello")
    ...     (Path(folder) / "hello").read_text()
    'hello'
    """
    try:
        if is_stream(path):
            number = open_number(path)
            with open(path, "wb") if number is None else os.fdopen(os.dup(number), "wb") as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        # 40 bytes of the name at most, without a part of a letter: file systems limit the length of names.
        name = os.fsdecode(os.fsencode(target.name)[:40].decode("utf-8", "ignore").encode())
        aside = target.with_name(f".{name}-{uuid4().hex[:8]}")
        try:
            file = aside.open("xb")
        except OSError as error:  # name the requested file, not the temporary one
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        try:
            with file:
                yield file
                _check_written(file)
            if target.exists():
                shutil.copymode(target, aside)
            aside.replace(target)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None or error.errno not in FULL or error.filename is not None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


def _check_written(file: BinaryIO) -> None:
    """Raise an error if the file system has stored less than was written, or cannot store it."""
    file.flush()
    if os.fstat(file.fileno()).st_size < file.tell():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise


def open_number(path: str | os.PathLike[str]) -> int | None:
    """Return the number of an open file of this process that a path such as ``/dev/stdout`` names, or None.

    Examples
    --------
    >>> open_number("/dev/fd/63"), open_number("labels.csv")
    (63, None)
    """
    name = os.path.abspath(os.fspath(path))
    standard = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    if name in standard:
        return standard[name]
    match = re.fullmatch(rf"(?:/dev|/proc/(?:self|{os.getpid()}))/fd/(\d+)", name)
    return int(match[1]) if match else None


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device, a pipe or an open file, which cannot be replaced."""
    return open_number(path) is not None or (os.path.exists(path) and not os.path.isfile(path))
