"""One file from the web by way of pooch: its checksum is checked, and its size and the time it takes are limited."""

import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from gitcluster._support.optional import require
from gitcluster.datasets.store import DatasetError

OnProgress = Callable[[str, int, int | None], None]
"""Called with the name of a file, the bytes that are here, and how many there will be (None: not known)."""

TIMEOUT = 30.0
"""Seconds without an answer after which a connection is given up."""
LONGEST = 1800.0
"""Seconds after which a file is given up, however steadily it arrives."""
LARGEST = 200_000_000
"""Bytes after which a file is given up; the largest that is published has 27 million."""
ATTEMPTS = 3
PAUSE = 1.0
"""Seconds before the second attempt, and twice as many before the third."""


def download(url: str, path: Path, checksum: str | None = None, progress: OnProgress | None = None) -> Path:
    """Bring a file to ``path``, whole and with the right checksum, or raise :class:`DatasetError`."""
    pooch = require("pooch", extra="datasets", purpose="Downloading a data set")
    pooch.get_logger().setLevel("WARNING")  # progress tells what happens to those who ask

    def receive(url: str, target: str, _: Any) -> None:
        _receive(url, Path(target), path.name, progress)

    failure: Exception | None = None
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE * attempt)
        try:
            return Path(pooch.retrieve(url, checksum, path.name, path.parent, downloader=receive))
        except HTTPError as error:
            error.close()
            failure = error
            if error.code < 500 and error.code not in (408, 429):  # asking again would not help
                break
        except (OSError, HTTPException) as error:
            failure = error
        except ValueError as error:  # pooch found another checksum
            raise DatasetError(f"{url}: {error}") from error
    raise DatasetError(f"{url}: {failure}") from failure


def _receive(url: str, target: Path, name: str, progress: OnProgress | None) -> None:
    """Write what a server sends, in pieces as they come, so that a slow one is noticed."""
    end = time.monotonic() + LONGEST
    request = Request(url, headers={"User-Agent": "gitcluster"})
    with urlopen(request, timeout=TIMEOUT) as answer, target.open("wb") as file:
        length = answer.headers["Content-Length"] or ""
        total = int(length) if length.isdecimal() else None
        done = 0
        while chunk := answer.read1(1 << 16):
            file.write(chunk)
            done += len(chunk)
            if done > LARGEST:
                raise DatasetError(f"{url}: more than {LARGEST:,} bytes arrived, the limit of a file")
            if time.monotonic() > end:
                raise DatasetError(f"{url}: timed out, {done:,} bytes arrived in {LONGEST:g} seconds")
            if progress is not None:
                progress(name, done, total)
    if total is not None and done != total:
        raise OSError(f"{done} of {total} bytes arrived")
