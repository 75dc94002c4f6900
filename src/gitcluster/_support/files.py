"""Files that are either whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def write_aside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of ``path`` when all is written; where anything fails, none does.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with write_aside(Path(folder) / "hello") as file:
    ...         count = file.write(b"hello")
    ...     (Path(folder) / "hello").read_text()
    'hello'
    """
    target = Path(path)
    aside = target.with_name(f"{target.name}.{uuid4().hex[:8]}.part")
    try:
        with aside.open("xb") as file:
            yield file
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
