"""CSV and its relatives, read block by block: encoding, separator, decimal comma, ragged rows; errors say where."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import IO, Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

BLOCK = 1 << 23
"""Bytes that are read at once."""
SAMPLE = 1 << 16
"""Characters by which the style of a table is found out."""
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "space": " "}
"""By name, in the order in which they are tried: a comma may also be a decimal comma, a blank part of a name."""

MISSING = ["", "#N/A", "#NA", "N/A", "NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "n/a", "None", "<NA>"]
BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class TableError(ValueError):
    """A table that cannot be used as it is; the message says where and what to do."""


class TextStyle(NamedTuple):
    """How a text table is written; what is None is found out."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()


class Block(NamedTuple):
    """Some rows of a table: where they begin, and how much of the table is read with them."""

    frame: pd.DataFrame
    start: int
    done: float
    places: Any = None

    def place(self, row: int) -> str:
        """Where a row of the block is, in words."""
        return f"row {self.start + row}, counted from 0," if self.places is None else f"line {self.places(row)}"


class TextTable:
    """A text table that is open for reading; ``names`` and ``rows`` (estimated) are known before it is read."""

    def __init__(self, stream: IO[bytes], name: str, size: int | None, style: TextStyle) -> None:
        self.stream, self.name, self.size, self.style = stream, name, size, style
        self.read = self.lines = 0
        first = stream.read(BLOCK)
        self.encoding = style.encoding or next((e for bom, e in BOMS.items() if first.startswith(bom)), "utf-8")
        try:
            self.decoder = codecs.getincrementaldecoder(self.encoding)()
        except LookupError:
            raise TableError(f"--encoding {self.encoding} is not known. Try utf-8, latin-1, cp1252, utf-16.") from None
        self.text = self._decode(first)
        sample = self.text[:SAMPLE].splitlines(keepends=True)
        sample = sample[:-1] if len(sample) > 1 and len(self.text) > SAMPLE else sample
        self.separator = style.separator or sniff_separator(sample)
        self.decimal = style.decimal or sniff_decimal(sample, self.separator)
        self.names = self._take_header()
        widths = [len(line.encode()) for line in sample[self.lines :] if line.strip()]
        self.rows = None
        if size is not None and widths:
            self.rows = max(1, round((size - len(sample[0])) / (sum(widths) / len(widths))))

    def _decode(self, raw: bytes) -> str:
        pending = len(self.decoder.getstate()[0])
        try:
            text = self.decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            offset = self.read - pending + error.start
            byte = error.object[error.start]
            raise TableError(
                f"{self.name} is not {self.encoding.upper()}: byte 0x{byte:02x} at offset {offset:,}. Tell how it is "
                "encoded: --encoding latin-1 (Western Europe), cp1252 (Windows), utf-16, ..."
            ) from None
        self.read += len(raw)
        return text

    def _check_text(self, text: str) -> None:
        if "\0" in text:
            line = self.lines + text[: text.index("\0")].count("\n") + 1
            raise TableError(
                f"{self.name} is not a text table: a NUL byte is in line {line:,}. If it is UTF-16, use "
                "--encoding utf-16."
            )

    def _cells(self, text: str) -> Any:
        """A reader of the rows of a text as lists of cells; its ``line_num`` counts the lines."""
        lines = _tidy(text, self.separator).splitlines(keepends=True)
        return csv.reader(lines, delimiter=self.separator, skipinitialspace=self.separator == " ")

    def _take_header(self) -> list[str]:
        """The names of the columns; the lines up to them are taken from the text."""
        stripped = self.text.lstrip("\r\n")
        self._check_text(stripped.partition("\n")[0])
        self.lines = self.text[: len(self.text) - len(stripped)].count("\n")
        self.text = stripped
        reader = self._cells(stripped[: 1 << 20])
        cells = [cell.strip() for cell in next(reader, [])]
        if not cells:
            raise TableError(f"{self.name} is empty: it has neither a header nor rows.")
        if not self.style.header:
            return [f"x{i + 1}" for i in range(len(cells))]
        if all(_is_number(cell, self.decimal) for cell in cells):
            raise TableError(
                f"{self.name} seems to have no header: line {self.lines + 1} holds only numbers. Use --no-header "
                "(the columns are then x1, x2, ...), or add a line of names."
            )
        self.text = "".join(stripped.splitlines(keepends=True)[reader.line_num :])
        self.lines += reader.line_num
        names = [cell or f"x{i + 1}" for i, cell in enumerate(cells)]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            raise TableError(f"{self.name} has columns of the same name: {', '.join(twice)}. Rename one of each.")
        return names

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Rows with ``columns`` as they are and ``keep`` as texts."""
        start, text, raw = 0, self.text, b"more"
        while raw:
            done = self.read / self.size if self.size else 0.0
            raw = self.stream.read(BLOCK)
            following = self._decode(raw)
            cut = _end_of_rows(text) if raw else len(text)
            rows, text = text[:cut] if raw else text + following, text[cut:] + following
            self._check_text(rows)
            if rows.strip():
                frame = self._parse(rows, columns, keep)
                yield Block(frame, start, done, lambda i, rows=rows, line=self.lines: self._line(rows, line, i))
                start += len(frame)
            self.lines += rows.count("\n")

    def _parse(self, rows: str, columns: list[str], keep: list[str]) -> pd.DataFrame:
        convert = arrow_csv.ConvertOptions(
            include_columns=[*columns, *keep], column_types={name: pa.string() for name in keep},
            null_values=[*MISSING, *self.style.missing], strings_can_be_null=True, decimal_point=self.decimal,
        )  # fmt: skip
        parse = arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values='"' in rows)
        read = arrow_csv.ReadOptions(column_names=self.names)
        data = pa.BufferReader(_tidy(rows, self.separator).encode())
        try:
            table = arrow_csv.read_csv(data, read_options=read, parse_options=parse, convert_options=convert)
        except pa.ArrowInvalid as error:
            self._raise_ragged(rows)
            raise TableError(f"{self.name} cannot be read: {error}") from None
        return table.to_pandas()

    def _raise_ragged(self, rows: str) -> None:
        reader = self._cells(rows)
        for cells in reader:
            if cells and len(cells) != len(self.names):
                raise TableError(
                    f"{self.name}, line {self.lines + reader.line_num:,}: {len(cells)} fields where {len(self.names)} "
                    f"are expected: {self.separator.join(cells)[:60]!r}. Repair the line, or use --separator if "
                    f"{self.separator!r} does not separate the fields."
                )

    def _line(self, rows: str, line: int, row: int) -> int:
        reader = self._cells(rows)
        filled = (reader.line_num for cells in reader if cells)
        return line + next(islice(filled, row, None), row + 1)


def sniff_separator(lines: list[str]) -> str:
    """The first of the usual separators that splits nearly all lines into the number of fields of the first.

    Examples
    --------
    >>> sniff_separator(["1,5;2,5", "0,1;7,25"])
    ';'
    """
    sample = [line for line in lines[:50] if line.strip()]
    for separator in SEPARATORS.values():
        counts = [len(row) for row in csv.reader((_tidy(line, separator) for line in sample), delimiter=separator)]
        if counts and counts[0] > 1 and counts.count(counts[0]) > 0.8 * len(counts):
            return separator
    return ","


def sniff_decimal(lines: list[str], separator: str) -> str:
    """A comma where numbers have one and none has a point."""
    if separator == ",":
        return "."
    cells = [cell.strip() for row in csv.reader(lines[1:50], delimiter=separator) for cell in row]
    with_comma = any(re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell) for cell in cells)
    with_point = any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", cell) for cell in cells)
    return "," if with_comma and not with_point else "."


def _tidy(text: str, separator: str) -> str:
    """Runs of blanks as one where blanks separate."""
    return re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text)) if separator == " " else text


def _end_of_rows(text: str) -> int:
    """Where the last whole row ends: after a newline that is not between quotes."""
    end = text.rfind("\n") + 1
    for _ in range(1000):
        if end == 0 or text.count('"', 0, end) % 2 == 0:
            return end
        end = text.rfind("\n", 0, end - 1) + 1
    return text.rfind("\n") + 1


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True
