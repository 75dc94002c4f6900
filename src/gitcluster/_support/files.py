"""Write files so that they are either complete or absent: content is written beside its target until it is complete."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

NOT_STORED = (errno.EIO, errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""Errors of a disk that is broken or full, of a file that is too large, and of a full quota. Some show only when a file
is synced. Other errors of fsync mean that the file system does not support it."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file that replaces ``path`` if the block succeeds, and is removed if it fails.

    The file replaces ``path`` only when it is on the disk completely. A link stays a link, and a replaced file keeps
    its permissions. Devices and pipes are written to directly.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "hello") as file:
    ...         count = file.write(b"hello")
    ...     (Path(folder) / "hello").read_text()
    'hello'
    """
    target = Path(os.path.realpath(path))
    # 40 bytes of the name at most, without a part of a letter: file systems limit the length of names.
    name = os.fsdecode(os.fsencode(target.name)[:40].decode("utf-8", "ignore").encode())
    aside = target.with_name(f".{name}-{uuid4().hex[:8]}")
    try:
        if is_stream(path):
            with open(path, "ab") as file:
                yield file
            return
        with aside.open("xb") as file:
            yield file
            file.flush()
            _sync(file)
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except OSError as error:  # name the requested file, not the temporary one
        if error.filename == os.fspath(aside) or (error.filename is None and error.errno in NOT_STORED):
            raise OSError(error.errno, os.strerror(error.errno or 0), os.fspath(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)


def _sync(file: BinaryIO) -> None:
    """Raise OSError if the disk cannot store a file."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno in NOT_STORED:
            raise


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device or a pipe, which cannot be replaced."""
    return os.fspath(path).startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path))
