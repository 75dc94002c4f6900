"""CSV and its relatives, read block by block as texts: encoding, separator, title lines, quotes.

Nothing here decides what a cell is: every cell stays the text that was written. No row is lost in silence. Errors name
the file, the line and the remedy.
"""

import codecs
import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import IO, Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from gitcluster._support.names import count_of
from gitcluster.preprocessing.values import is_missing, parse_number

BLOCK = 1 << 23
"""Bytes that are read at once."""
SAMPLE = 50
"""Lines that show how a table is written."""
LONGEST_LINE = 1 << 28
"""Characters without an end of line after which a file is not a text table."""
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "space": " "}
"""By name, in the order in which they are tried: a comma may be a decimal mark, a blank part of a name."""
QUOTE, NO_QUOTE = '"', "none"
USUAL = 0.8
"""Share of the sampled rows that a guess has to fit."""
BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
ENCODINGS = ["cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"]
"""Encodings that are guessed if a text is not UTF-8, the most frequent first."""
csv.field_size_limit(sys.maxsize)


class TableError(ValueError):
    """A table that cannot be used as it is; the message says where and what to do."""


class TextStyle(NamedTuple):
    """How a text table is written; None is guessed."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()
    """Further texts that mean a missing value."""
    quote: str | None = None
    """A character, or "none". None is the double quote, and a quote that seems to swallow rows is an error."""
    skip_rows: int | None = None
    """Lines above the header."""


class Block(NamedTuple):
    """Some rows of a table, the number of the first, and the share of the table that is read with them."""

    frame: pd.DataFrame
    start: int
    done: float
    places: Any = None
    lines: int = 0
    """Lines of text that were read for it; 0 in other formats."""
    empty: int = 0
    """Number of empty lines among them."""


class Row(NamedTuple):
    """The fields of a row, none if the line is empty, and its lines: from ``start`` up to ``end``."""

    fields: list[str]
    start: int
    end: int


class Layout(NamedTuple):
    """How the lines of a text table are arranged."""

    separator: str
    start: int = 0
    """Lines above the header."""
    titles: tuple[str, ...] = ()
    """Lines above the header that are a title rather than comments."""
    numbers: tuple[int, ...] = ()
    """Positions of the fields that are numbers in nearly all rows."""


class TextTable:
    """A text table that is open for reading; ``names`` and ``rows`` (an estimate) are known before it is read."""

    def __init__(self, stream: IO[bytes], name: str, size: int | None, style: TextStyle) -> None:
        self.stream, self.name, self.size, self.style = stream, name, size, style
        self.text, self.ended, self.read, self.lines = "", False, 0, 0
        self.quote = None if style.quote == NO_QUOTE else style.quote or QUOTE
        first = stream.read(BLOCK)
        self.encoding = style.encoding or find_encoding(first, name)
        try:
            self.decoder = codecs.getincrementaldecoder(self.encoding)()
        except LookupError:
            raise TableError(f"--encoding {self.encoding} is unknown. Try utf-8, latin-1, cp1252, utf-16.") from None
        self._add(first)
        self.text = self.text.removeprefix("\ufeff")
        sample = self._first_lines()
        self.layout = find_layout(sample, style, self.quote)
        if self.layout.titles:
            shown = "; ".join(map(_shorten, self.layout.titles[:3])) + ("; ..." if len(self.layout.titles) > 3 else "")
            warnings.warn(
                f"{name}: skipped {count_of(self.layout.start, 'line')} above the header: {shown}. Use --skip-rows 0 "
                "if the table begins there.",
                stacklevel=2,
            )
        self.names = self._take_header(sample)
        above, below = ("".join(lines) for lines in (sample[: self.lines], sample[self.lines :]))
        self.rows = None
        if size is not None and below.strip():
            per_row = len(below.encode()) / sum(bool(line.strip()) for line in split_lines(below))
            self.rows = max(1, round((size - len(above.encode())) / per_row))

    def _add(self, raw: bytes) -> None:
        """Decode bytes and append them to the text."""
        try:
            self.text += self.decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(self.encoding, errors="ignore")
            raise TableError(
                f"{self.name}, line {self.lines + count_lines(self.text + good + 'x'):,}: byte "
                f"0x{error.object[error.start]:02x} is not {self.encoding.upper()}. Use --encoding: latin-1 (Western "
                "Europe), cp1252 (Windows), utf-16, ..."
            ) from None
        self.read += len(raw)
        self.ended = not raw

    def _first_lines(self) -> list[str]:
        """Return whole lines from the top."""
        least = (self.style.skip_rows or 0) + 2
        while not self.ended and count_lines(self.text) <= least:
            if len(self.text) > LONGEST_LINE:
                raise TableError(f"{self.name} is not a text table: its first line does not end.")
            self._add(self.stream.read(max(BLOCK, len(self.text))))
        lines = list(islice(io.StringIO(self.text, newline=""), max(least, SAMPLE)))
        is_cut = not self.ended and len("".join(lines)) == len(self.text)
        return lines[:-1] if is_cut else lines

    def _take_header(self, lines: list[str]) -> list[str]:
        """Return the names of the columns, and remove the lines up to them from the text."""
        start = self.layout.start
        header = next((row for row in self._rows(lines[start:], start, None) if row.fields), None)
        if header is None:
            raise TableError(f"{self.name} is empty: it has neither a header nor rows.")
        start, end = start + header.start, start + header.end
        self._check_nul("".join(lines[:end]))
        cells = [cell.strip() for cell in header.fields]
        if not self.style.header:
            cells, end = [""] * len(cells), start
        elif all(map(_is_number, cells)):
            raise TableError(
                f"{self.name} seems to have no header: line {start + 1} holds only numbers. Use --no-header to name "
                "the columns x1, x2, ..., or add a line of names."
            )
        cells[0] = cells[0].removeprefix("#").lstrip() or cells[0]
        self.lines, self.text = end, self.text[len("".join(lines[:end])) :]
        return [cell or f"x{i + 1}" for i, cell in enumerate(cells)]

    def _check_nul(self, text: str) -> None:
        if "\0" in text:
            line = self.lines + count_lines(text[: text.index("\0")] + "x")
            raise TableError(
                f"{self.name}, line {line:,}: a NUL byte, so it is not a text table. If it is UTF-16, use --encoding "
                "utf-16."
            )

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Yield the rows of these columns as texts; every line is accounted for."""
        wanted = list(dict.fromkeys([*columns, *keep]))
        start, above, more = 0, self.lines, True
        while more:
            if not self.ended:
                self._add(self.stream.read(max(BLOCK, len(self.text))))  # a row may be longer than a block
            more = not self.ended
            end = end_of_lines(self.text) if more else len(self.text)
            text, self.text = self.text[:end], self.text[end:]
            self._check_nul(text)
            parse = self._parse_quoted if self.quote and self.quote in text else self._parse_plain
            table, lines, empty = parse(text, wanted)
            if lines:
                frame = table.to_pandas(types_mapper={pa.string(): pd.ArrowDtype(pa.string())}.get)
                yield Block(frame, start, self.read / self.size if self.size else 0.0, None, lines + above, empty)
                self.lines, start, above = self.lines + lines, start + len(frame), 0

    def _parse_plain(self, text: str, wanted: list[str]) -> tuple[pa.Table, int, int]:
        """Return the columns of a text without quotes, its lines, and the number of empty ones."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = _single_blanks(text) if self.layout.separator == " " else text
        lines, empty = count_lines(text), text.startswith("\n") + len(re.findall("\n(?=\n)", text))
        if lines == empty:
            return pa.table({name: pa.array([], pa.string()) for name in wanted}), lines, empty
        raw = text.encode()
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(raw),
                arrow_csv.ReadOptions(column_names=self.names, block_size=len(raw) + 1),
                arrow_csv.ParseOptions(delimiter=self.layout.separator, quote_char=False),
                arrow_csv.ConvertOptions(include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string())),
            )
        except pa.ArrowInvalid as error:
            for i, line in enumerate(text.split("\n")):
                if line:
                    self._check_width(line.split(self.layout.separator), i)
            raise TableError(f"{self.name}, from line {self.lines + 1:,} on, cannot be read: {error}") from None
        if len(table) != lines - empty:
            raise TableError(
                f"{self.name}: from line {self.lines + 1:,} on {len(table):,} of {lines - empty:,} rows were read. "
                " Use --quote or --separator."
            )
        return table, lines, empty

    def _parse_quoted(self, text: str, wanted: list[str]) -> tuple[pa.Table, int, int]:
        """Return the columns of a text with quotes, its lines, and the number of empty ones.

        A row that is not complete goes back to the text that waits.
        """
        lines = split_lines(text)
        rows, done, empty = [], 0, 0
        for row in self._rows(lines, self.lines, len(self.names)):
            if row.fields:
                self._check_width(row.fields, row.start)
                rows.append(row.fields)
            done, empty = row.end, empty + (not row.fields)
        self.text = "".join(lines[done:]) + self.text
        places = {name: i for i, name in enumerate(self.names)}
        columns = {name: pa.array([row[places[name]] for row in rows], pa.string()) for name in wanted}
        return pa.table(columns), done, empty

    def _rows(self, lines: list[str], above: int, width: int | None) -> Iterator[Row]:
        """Yield rows, also empty ones, up to one that goes on below the last line; raise for quotes that are wrong."""
        waiting, done = iter(lines), 0
        try:
            for row in split_rows(waiting, self.layout.separator, self.quote):
                self._check_swallowed(lines[row.start : row.end], above + row.start, width)
                yield row
                done = row.end
        except csv.Error:
            if next(waiting, None) is None and not self.ended and width is not None:
                return self._check_swallowed(lines[done:], above + done, width)
            raise TableError(
                f"{self.name}, line {above + done + 1:,}: a quote is never closed, or closed within a field: "
                f"{_shorten(lines[done])}. Correct the line, or use --quote none if quotes are part of the values."
            ) from None

    def _check_swallowed(self, lines: list[str], above: int, width: int | None) -> None:
        """Raise if a row of several lines is rather several rows, the first of which has a stray quote."""
        if self.style.quote is not None or len(lines) < 2:
            return
        width = len(lines[0].split(self.layout.separator)) if width is None else width
        whole = [self._is_row(line, width) for line in lines]
        inside = (any if self.layout.numbers else all)(whole[1:-1]) and len(whole) > 2
        if width > 1 and (all(whole) or inside):
            raise TableError(
                f"{self.name}, line {above + 1:,}: a quote begins a field that ends {count_of(len(lines) - 1, 'line')} "
                f"below, and the lines between look like rows: {_shorten(lines[0])}. Correct the line, or use --quote "
                f"none if quotes are part of the values, or --quote '{QUOTE}' if the field does have several lines."
            )

    def _is_row(self, line: str, width: int) -> bool:
        """Return whether a line would be a row of its own if quotes had no meaning."""
        cells = [cell.strip(" \t\r\n" + QUOTE) for cell in line.split(self.layout.separator, width)]
        return len(cells) == width and all(
            _is_number(cells[i]) or is_missing(cells[i]) or cells[i] in self.style.missing for i in self.layout.numbers
        )

    def _check_width(self, fields: list[str], line: int) -> None:
        if len(fields) != len(self.names):
            raise TableError(
                f"{self.name}, line {self.lines + line + 1:,}: {len(fields)} fields where the header has "
                f"{len(self.names)}: {_shorten(self.layout.separator.join(fields))}. Repair it. Use --separator if it "
                f"is not {self.layout.separator!r}, or --skip-rows if the header is further down."
            )


def find_encoding(first: bytes, name: str) -> str:
    """Return the encoding of a text by its first bytes, with a warning if it is a guess."""
    marked = next((encoding for bom, encoding in BOMS.items() if first.startswith(bom)), None)
    if marked is not None:
        return marked
    head = first[: 1 << 16]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = head[offset::2].count(0)
        if len(head) > 8 and zeros > 0.6 * len(head[offset::2]) and head[1 - offset :: 2].count(0) < 0.05 * len(head):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError as error:
        if 0 in head:
            return "utf-8"  # not a text, which the error says
        from charset_normalizer import from_bytes  # only few tables need it

        odd = b"\n".join(line for line in first.splitlines() if not line.isascii())[: 1 << 16]
        guesses = list(from_bytes(odd, cp_isolation=ENCODINGS))
        guess = guesses[0].encoding if guesses else "latin-1"
        for other in guesses:  # letters of Western Europe rarely tell it from others
            if "cp1252" in other.could_be_from_charset and other.chaos <= guesses[0].chaos:
                guess = "cp1252" if other.coherence >= guesses[0].coherence else guess
        line = count_lines(first[: error.start].decode("latin-1") + "x")
        warnings.warn(
            f"{name} is not UTF-8 (byte 0x{first[error.start]:02x} in line {line:,}); it was read as {guess}. Use "
            "--encoding if letters are wrong.",
            stacklevel=2,
        )
        return guess
    return "utf-8"


def find_layout(lines: list[str], style: TextStyle, quote: str | None = QUOTE) -> Layout:
    """Return the separator and the lines above the header, from the first lines of a table.

    The separator is the first that splits nearly all rows into the number of fields of the first row. If none does, a
    title may stand above the header.

    Examples
    --------
    >>> find_layout(["1,5;2,5", "0,1;7,25"], TextStyle()).separator
    ';'
    >>> find_layout(["Sales of May", "name,sold", "ink,5", "pens,7"], TextStyle()).titles
    ('Sales of May',)
    """
    start = style.skip_rows or 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    separators = [style.separator] if style.separator else list(SEPARATORS.values())
    named = re.fullmatch(r'\s*"?sep=(.|\\t)"?\s*', lines[start]) if start < len(lines) else None
    if named is not None:
        start, separators = start + 1, [style.separator or named[1].replace("\\t", "\t")]
    best, layout = -1, Layout(separators[0], start)
    for separator in separators:
        rows = _sample_rows(lines[start:], separator, quote)
        if not rows or (separator == " " and best > 2):
            continue
        widths = [len(row.fields) for row in rows]
        width, count = Counter(widths).most_common(1)[0]
        titles = _count_titles(rows, width) if style.header and style.skip_rows is None and separator != " " else 0
        if titles:
            rank = 3
        elif widths[0] > 1:  # the first row is the header of a table, or at least of something
            rank = 4 if widths[0] == width and count > USUAL * len(rows) else 2
        else:
            rank = int(width > 1 and separator != " ")
        if rank > best:
            above = tuple(lines[start + row.start].strip() for row in rows[:titles])
            numbers = _number_fields(lines[start + rows[titles].end :], separator, widths[titles])
            best, layout = rank, Layout(separator, start + rows[titles].start, above, numbers)
    return layout


def _sample_rows(lines: list[str], separator: str, quote: str | None) -> list[Row]:
    """Return the rows of the first lines, without empty ones and comments, up to a quote that is wrong.

    A comment is the header if numbers follow below as many names.
    """
    rows: list[Row] = []
    with suppress(csv.Error):
        rows.extend(row for row in split_rows(lines, separator, quote) if row.fields)
    comments = next((i for i, row in enumerate(rows) if not row.fields[0].lstrip().startswith("#")), len(rows))
    if 0 < comments < len(rows):
        above, below = rows[comments - 1].fields, rows[comments].fields
        comments -= len(above) == len(below) > 1 and any(map(_is_number, below))
    return rows[comments:]


def _count_titles(rows: list[Row], width: int) -> int:
    """Return how many rows stand above the header: shorter ones, or ones with a single filled field.

    They are titles only if the table below is beyond doubt: all rows have the same number of fields, the header has no
    number, and a field below it has hardly anything else.
    """
    titles = 0
    for row in rows:
        filled = sum(bool(cell.strip()) for cell in row.fields)
        if len(row.fields) >= width and not (filled <= 1 and width > 2):
            break
        titles += 1
    table = [row.fields for row in rows[titles:]]
    if width < 2 or len(table) < 2 or any(len(fields) != width for fields in table) or any(map(_is_number, table[0])):
        return 0
    shares = [sum(map(_is_number, column)) / len(column) for column in zip(*table[1:], strict=True)]
    return titles if max(shares) > USUAL else 0


def _number_fields(lines: list[str], separator: str, width: int) -> tuple[int, ...]:
    """Return the positions at which nearly all lines have a number; quotes have no meaning here."""
    rows = [[cell.strip(" \r\n" + QUOTE) for cell in line.split(separator, width)] for line in lines]
    rows = [row for row in rows if len(row) == width]
    return tuple(i for i in range(width) if rows and sum(_is_number(row[i]) for row in rows) > USUAL * len(rows))


def split_rows(lines: Iterable[str], separator: str, quote: str | None) -> Iterator[Row]:
    """Yield the rows of lines, also empty ones; ``csv.Error`` for a quote that is wrong."""
    given = map(_single_blanks, lines) if separator == " " else lines
    quotes: Any = {"quoting": csv.QUOTE_NONE} if quote is None else {"quotechar": quote}
    reader, done = csv.reader(given, delimiter=separator, strict=True, **quotes), 0
    for fields in reader:
        yield Row(fields, done, reader.line_num)
        done = reader.line_num


def _is_number(cell: str) -> bool:
    return len(cell) < 100 and any(parse_number(cell.strip(), decimal) is not None for decimal in ".,")


def _single_blanks(text: str) -> str:
    """Return a text with one blank between fields, for tables that are separated by blanks."""
    return re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text))


def _shorten(line: str) -> str:
    line = line.rstrip("\r\n")
    return repr(line if len(line) <= 60 else line[:57] + "...")


def count_lines(text: str) -> int:
    r"""Return the number of lines, the last one with or without its end; ``\r\n`` is one end.

    Examples
    --------
    >>> count_lines("a\nb\r\nc\rd")
    4
    """
    ends = text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)
    return ends + bool(text and text[-1] not in "\r\n")


def end_of_lines(text: str) -> int:
    r"""Return where the last whole line ends; a ``\r`` at the very end may be half of an end."""
    return max(text.rfind("\n"), text.rfind("\r", 0, max(0, len(text) - 1))) + 1


def split_lines(text: str) -> list[str]:
    r"""Return lines with their ends: ``\n``, ``\r\n`` and ``\r`` only, not the other marks of ``str.splitlines``."""
    return io.StringIO(text, newline="").readlines()
