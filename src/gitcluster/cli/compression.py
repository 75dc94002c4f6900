"""Compressed tables, unpacked while they are read: gz, bz2, xz, zst, and a zip that holds one text table."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from gitcluster.cli.binary_tables import damage_named
from gitcluster.cli.text_tables import TableError

COMPRESSED = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}
"""First bytes of compressed files."""
TEXTS = (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson", "")
"""Names of text tables in a zip."""


class Unpacked(io.RawIOBase):
    """Bytes of a compressed stream; what a library raises for a damaged one names the file."""

    def __init__(self, stream: Any, name: str, kind: str) -> None:
        self.stream, self.name, self.kind = stream, name, kind

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        try:
            part = self.stream.read(len(buffer))
        except MemoryError:
            raise
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise TableError(f"{self.name} is not a whole {self.kind} file: {reason}. Pack or copy it again.") from None
        buffer[: len(part)] = part
        return len(part)


def unpack(stream: Any, kind: str, name: str) -> io.BufferedReader:
    """The bytes in a compressed stream."""
    openers: dict[str, Any] = {
        "gz": gzip.open,
        "bz2": bz2.open,
        "xz": lzma.open,
        "zst": lambda packed: pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd"),
    }
    return io.BufferedReader(Unpacked(openers[kind](stream), name, kind), 1 << 16)


def open_zip(file: IO[bytes], name: str, key: str | None) -> io.BufferedReader | None:
    """The text table in a zip; None where it holds arrays instead."""
    with damage_named(name, "zip file"):
        archive = zipfile.ZipFile(file)
    members = [
        member.filename for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]  # fmt: skip
    if not members or any(Path(member).suffix == ".npy" for member in members):
        file.seek(0)
        return None
    texts = [member for member in members if Path(member).suffix.lower() in TEXTS]
    chosen = key or (texts[0] if len(texts) == 1 else None)
    if chosen not in members:
        listed = ", ".join(members[:8])
        raise TableError(f"{name} holds {len(members)} files: {listed}. Tell which is the table: --key {members[0]}")
    if archive.getinfo(chosen).flag_bits & 1:
        raise TableError(f"{name} is protected by a password. Unpack it first.")
    with damage_named(name, "zip file"):  # or packed in a way that Python does not know
        return io.BufferedReader(Unpacked(archive.open(chosen), name, "zip"), 1 << 16)
