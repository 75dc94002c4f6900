"""One file from the web by way of pooch: its checksum is checked, and its size and the time it takes are limited."""

import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from threading import Event, Thread
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


class Received:
    """An answer of a server as it arrives: a file to read from that keeps to the limits of time and size."""

    def __init__(self, answer: Any, url: str, end: float) -> None:
        self.answer, self.url, self.end, self.done = answer, url, end, 0
        length = answer.headers["Content-Length"] or ""
        self.total = int(length) if length.isdecimal() else None
        if self.total is not None and self.total > LARGEST:
            answer.close()
            raise DatasetError(f"{url}: {self.total:,} bytes are announced, the limit of a file is {LARGEST:,}")

    def read1(self, size: int = 1 << 16) -> bytes:
        """What has arrived, at most ``size`` bytes; nothing at the end."""
        chunk: bytes = self.answer.read1(size)
        self.done += len(chunk)
        if self.done > LARGEST:
            raise DatasetError(f"{self.url}: more than {LARGEST:,} bytes arrived, the limit of a file")
        if time.monotonic() > self.end:
            raise DatasetError(f"{self.url}: timed out, {self.done:,} bytes arrived in {LONGEST:g} seconds")
        return chunk


def within(seconds: float, work: Callable[[], Any], what: str) -> Any:
    """What ``work`` returns or raises, or an error after so many seconds.

    It runs in a thread of its own: neither looking up a name nor waiting for the head of an answer can be limited in
    all. A thread that is given up ends by itself, since what it reads is limited too.
    """
    outcome: list[Any] = []
    failure: list[BaseException] = []
    given_up = Event()

    def run() -> None:
        try:
            found = work()
            if given_up.is_set() and hasattr(found, "close"):
                found.close()
            outcome.append(found)
        except BaseException as error:
            failure.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        given_up.set()
        raise DatasetError(f"{what}: timed out after {seconds:g} seconds")
    return outcome[0]


def open_url(request: Request) -> Any:
    """The answer to a request; a server that says nothing is not waited for."""
    return urlopen(request, timeout=TIMEOUT)


def _receive(url: str, target: Path, name: str, progress: OnProgress | None) -> None:
    """Write what a server sends, in pieces as they come, so that a slow one is noticed."""
    end = time.monotonic() + LONGEST
    request = Request(url, headers={"User-Agent": "gitcluster"})
    opened = within(LONGEST, lambda: open_url(request), url)
    with opened as answer, target.open("wb") as file:
        received = Received(answer, url, end)
        while chunk := received.read1():
            file.write(chunk)
            if progress is not None:
                progress(name, received.done, received.total)
    done, total = received.done, received.total
    if total is not None and done != total:
        raise OSError(f"{done} of {total} bytes arrived")
