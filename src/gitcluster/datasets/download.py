"""One file from the web: streamed to ``NAME.part``, continued where it broke off, renamed when it is whole."""

import os
import re
import time
from collections.abc import Callable
from email.message import Message
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from zlib import crc32

from gitcluster.datasets.store import DatasetError

Progress = Callable[[str, int, int | None], None]
"""Called with the name of a file, the bytes that are here, and how many there will be (None: not known)."""

TIMEOUT = 30.0
"""Seconds without an answer until a connection is given up."""
ATTEMPTS = 4
PAUSE = 1.0
"""Seconds before the second attempt; twice as long before every further one."""
CHUNK = 1 << 16


def download(url: str, path: Path, *, progress: Progress | None = None) -> bool:
    """Bring a file to ``path``; what arrives is kept beside it in a file ``.part`` until it is whole.

    Returns
    -------
    bool
        Whether an older part was continued, which a file that has changed since then would spoil.
    """
    part = path.with_name(f"{path.name}.{crc32(url.encode()):08x}.part")  # other addresses may have other bytes
    resumed = part.exists()
    failure: Exception | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            _receive(url, part, path.name, progress)
        except HTTPError as error:
            error.close()
            failure = error
            if error.code < 500 and error.code not in (408, 416, 429):  # asking again would not help
                break
        except (OSError, HTTPException) as error:
            failure = error
        else:
            os.replace(part, path)
            return resumed
    raise DatasetError(f"{url}: {failure or 'no answer'}") from failure


def _receive(url: str, part: Path, name: str, progress: Progress | None) -> None:
    """Ask for what is missing of a part, and append it."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "gitcluster"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code == 416 and have:
            if _range(error.headers)[1] == have:  # nothing is missing
                error.close()
                return
            part.unlink()
        raise
    with answer:
        start, total = _range(answer.headers)
        if answer.status != 206:  # the whole file, whatever was asked for
            start, total = 0, _integer(answer.headers["Content-Length"])
        if start not in (0, have):
            part.unlink(missing_ok=True)
            raise OSError(f"the server sent the bytes from {start}, not from {have}")
        with part.open("ab" if start else "wb") as file:
            done = start
            while chunk := answer.read(CHUNK):
                file.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(name, done, total)
    if total is not None and done != total:
        raise OSError(f"{done} of {total} bytes arrived")


def _range(headers: Message) -> tuple[int | None, int | None]:
    """First byte and total size in ``Content-Range: bytes 100-199/200`` or ``bytes */200``."""
    found = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", headers.get("Content-Range", "").strip())
    return (_integer(found[1]), _integer(found[2])) if found else (None, None)


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
