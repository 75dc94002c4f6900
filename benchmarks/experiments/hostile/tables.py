"""Text tables with blank lines, quotes, fields of several lines, odd encodings, and rows that are wrong.

Every row is in what is read, or an error names a line of the table.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from gitcluster.cli.tables import ReadOptions, TableError, read_table

WRONG = {"short": None, "stray": '"stray', "nul": "\0"}


def draw_text(rng: np.random.Generator, letters: str) -> str:
    """A few letters."""
    return "".join(rng.choice(list(letters), int(rng.integers(0, 9))))


def draw_table(rng: np.random.Generator) -> tuple[bytes, str, list[str], bool]:
    """The bytes of a table, its separator, its ids, and whether a row of it is wrong."""
    separator, newline = rng.choice([",", ";", "\t", "|"]), rng.choice(["\n", "\r\n", "\r"])
    lines, ids, bad = [separator.join(["id", "note", "x"])], [], False
    share = rng.choice([0.0, 0.0, 0.02, 0.2])
    for i in range(int(rng.integers(2, rng.choice([10, 100, 3000])))):
        if rng.random() < 0.05:
            lines.append("")
            continue
        quoted = '"' + draw_text(rng, 'ab", ;\n\r\t').replace('"', '""') + '"'
        note: str | None = quoted if rng.random() < 0.3 else "n" + draw_text(rng, 'ab"=\x0c\x1c\x85\u2028 é')
        value = f"{i}.5"
        if rng.random() < share:
            fault, bad = rng.choice(["short", "long", "stray", "nul"]), True
            note = f"n{separator}n" if fault == "long" else WRONG.get(fault, note)
        lines.append(separator.join(field for field in (f"r{i}", note, value) if field is not None))
        ids.append(f"r{i}")
    text = newline.join(lines) + rng.choice(["", newline, 2 * newline])
    return text.encode(rng.choice(["utf-8", "utf-8-sig", "utf-16"])), separator, ids, bad


def read_all(content: bytes, separator: str) -> Any:
    """The table, or the message of the error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        path.write_bytes(content)
        chosen = ReadOptions(columns=("x",), id="id", separator=separator)
        try:
            return read_table(str(path), chosen, check=lambda *_: None, advance=lambda _: None)
        except TableError as error:
            return str(error)


def try_table(seed: int, number: int) -> Counter[str]:
    """Whether every row of a drawn table is accounted for."""
    content, separator, ids, bad = draw_table(np.random.default_rng([seed, number]))
    table = read_all(content, separator)
    if isinstance(table, str):
        named = bool(re.search(r"line [\d,]+", table)) or (not ids and "no rows" in table)
        verdict = "an error names the line" if named and (bad or not ids) else "WRONG ERROR"
        if named and "look like rows" in table:
            verdict = "an error names a quoted field that looks like rows"
    elif bad or table.ids.tolist() != ids or table.dropped:
        verdict = "ROWS LOST"
    else:
        right = (table.data["x"].astype(float) == [float(name[1:]) + 0.5 for name in ids]).all()
        verdict = "every row is read" if right else "OTHER VALUES"
    if verdict[:4].isupper():
        print(f"tables: case {number}, {verdict}", flush=True)
    return Counter([verdict])
