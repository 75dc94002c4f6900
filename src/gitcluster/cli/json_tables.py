"""JSON: one record per line, read line by line, or an array of records, read at once."""

import json
import sys
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import pandas as pd

from gitcluster.cli.binary_tables import ROWS, BinaryTable
from gitcluster.cli.text_tables import TableError

PEEKED = 4096


def is_json(stream: Any) -> bool:
    """Whether a stream begins as JSON does: with an array of records, or with a record."""
    head = stream.peek(PEEKED)[:PEEKED].removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1] == b"{" or (head[:1] == b"[" and head[1:].lstrip()[:1] in (b"{", b"]", b""))


def open_json(stream: Any, name: str, head: bytes) -> BinaryTable:
    """A table of records; columns are the keys of the first records, what a record lacks is missing."""
    if not head:
        raise TableError(f"{name} is empty: it holds no record.")
    begins = stream.peek(PEEKED)[:PEEKED].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    records = _array(stream, name) if begins == b"[" else _lines(stream, name)
    first = list(islice(records, ROWS))
    if not first:
        raise TableError(f"{name} holds no record.")
    names = list(dict.fromkeys(key for _, record in first for key in record))
    if len(first) == 1 and all(isinstance(cell, (dict, list)) for cell in first[0][1].values()):
        raise TableError(
            f"{name} holds one object of columns. Write one record per row: with pandas, "
            "frame.to_json(path, orient='records')."
        )
    lines: list[int] = []

    def parts(columns: list[str], exact: bool = False) -> Iterator[pd.DataFrame]:
        waiting = chain(first, records)
        while some := list(islice(waiting, ROWS)):
            lines[:] = [line for line, _ in some]
            for line, record in some:
                new = record.keys() - set(names)
                if new:
                    raise TableError(
                        f"{name}, line {line}: the key {min(new)!r} is not in the first {len(first):,} records. Add it "
                        "to the first one."
                    )
            yield pd.DataFrame({c: pd.Series([_cell(r.get(c)) for _, r in some], dtype=object) for c in columns})

    return BinaryTable(names, None, parts, lambda row: lines[row])


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else value


def _whole(digits: str) -> int | str:
    """A whole number, or its digits if it is too large for a float: it may be an id."""
    return int(digits) if len(digits) <= sys.float_info.max_10_exp else digits


def _array(stream: Any, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        records = json.loads(stream.read().decode("utf-8-sig"), parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise TableError(f"{name} is not a whole JSON file: {error}") from None
    for i, record in enumerate(records):
        yield i, _checked(record, name, f"record {i}, counted from 0")


def _lines(stream: Any, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"), parse_int=_whole)
        except (ValueError, RecursionError) as error:
            raise TableError(f"{name}, line {number}: not a JSON record: {error}. Write one record per line.") from None
        yield number, _checked(record, name, f"line {number}")


def _checked(record: Any, name: str, place: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise TableError(f'{name}, {place}: {str(record)[:40]!r} is not a record with names. Write {{"name": value}}.')
    return {str(key): value for key, value in record.items()}
