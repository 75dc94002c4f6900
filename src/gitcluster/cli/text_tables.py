"""CSV and its relatives, read block by block: encoding, separator, decimal comma, ragged rows; errors say where."""

import codecs
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from gitcluster.cli.text_rows import Grammar, QuoteError, count_newlines, end_of_lines, split_lines

BLOCK = 1 << 23
"""Bytes that are read at once."""
SAMPLE = 1 << 16
"""Characters by which the style of a table is found out."""
SEPARATORS = {"tab": "\t", "semicolon": ";", "bar": "|", "comma": ",", "space": " "}
"""By name, in the order in which they are tried: a comma may also be a decimal comma, a blank part of a name."""

MISSING = ["", "#N/A", "#NA", "N/A", "NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "n/a", "None", "<NA>"]
BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins as that of UTF-16 does
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WIDE = 1000
"""Columns above which their types are not found out one by one, which takes long, unless they are not numbers."""
QUOTE = '"'
NO_QUOTE = "none"
LONGEST_HEADER = 1 << 28
"""Characters without an end of the first row after which a file is no table."""


class TableError(ValueError):
    """A table that cannot be used as it is; the message says where and what to do."""


class TextStyle(NamedTuple):
    """How a text table is written; what is None is found out."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()
    quote: str | None = None
    """A character, or "none". None is the usual quote, and rows that it seems to swallow are an error."""


class Block(NamedTuple):
    """Some rows of a table: where they begin, and how much of the table is read with them."""

    frame: pd.DataFrame
    start: int
    done: float
    places: Any = None
    lines: int = 0
    """Lines of text that were read for it, 0 in other formats."""
    empty: int = 0
    """Lines among them that are empty and were skipped."""

    def place(self, row: int) -> str:
        """Where a row of the block is, in words."""
        return f"row {self.start + row}, counted from 0," if self.places is None else f"line {self.places(row)}"


class TextTable:
    """A text table that is open for reading; ``names`` and ``rows`` (estimated) are known before it is read."""

    def __init__(self, stream: IO[bytes], name: str, size: int | None, style: TextStyle) -> None:
        self.stream, self.name, self.size, self.style = stream, name, size, style
        self.read = self.lines = 0
        self.texts: set[str] = set()
        first = stream.read(BLOCK)
        self.encoding = style.encoding or find_encoding(first, name)
        try:
            self.decoder = codecs.getincrementaldecoder(self.encoding)()
        except LookupError:
            raise TableError(f"--encoding {self.encoding} is not known. Try utf-8, latin-1, cp1252, utf-16.") from None
        self.text = self._decode(first).removeprefix("\ufeff")
        style = self.style = self._take_notes(style)
        sample = split_lines(self.text[:SAMPLE])
        sample = sample[:-1] if len(sample) > 1 and len(self.text) > SAMPLE else sample
        quote = None if style.quote == NO_QUOTE else style.quote or QUOTE
        self.separator = style.separator or sniff_separator(sample, quote)
        self.decimal = style.decimal or sniff_decimal(sample, self.separator, quote)
        self.grammar = Grammar(self.separator, quote)
        self.names = self._take_header()
        widths = [len(line.encode()) for line in sample[1:] if line.strip()]
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

    def _take_notes(self, style: TextStyle) -> TextStyle:
        """Leave out what stands above the header: a line such as ``sep=;`` and lines that begin with #.

        The last of these is the header where the next line has as many numbers as it has names.
        """
        told = re.match(r"\s*\"?sep=(.|\\t)\"?[ \t]*(\r\n|\r|\n)", self.text)
        if told:
            self._skip(told.end())
            style = style if style.separator else style._replace(separator=told[1].replace("\\t", "\t"))
        noted = re.match(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*[ \t]*#[^\r\n]*(?:\r\n|\r|\n)", self.text)
        if noted is None:
            return style
        last = split_lines(noted[0])[-1]
        rest = split_lines(self.text[noted.end() : noted.end() + SAMPLE])[:1]
        quote = None if style.quote == NO_QUOTE else style.quote or QUOTE
        separator = style.separator or sniff_separator([last, *rest], quote)
        names, cells = (line.strip("\r\n #").split(separator) for line in (last, rest[0] if rest else ""))
        is_header = len(names) == len(cells) > 1 and all(_is_number(cell.strip(), ".") for cell in cells)
        self._skip(noted.end() - (len(last) if is_header else 0))
        if is_header:
            self.text = self.text.lstrip(" \t").removeprefix("#").lstrip(" ")
        return style

    def _skip(self, end: int) -> None:
        self.lines += count_newlines(self.text[:end])
        self.text = self.text[end:]

    def _check_text(self, text: str) -> None:
        if "\0" in text:
            line = self.lines + count_newlines(text[: text.index("\0")]) + 1
            raise TableError(
                f"{self.name} is not a text table: a NUL byte is in line {line:,}. If it is UTF-16, use "
                "--encoding utf-16."
            )

    def _take_header(self) -> list[str]:
        """The names of the columns; the lines up to them are taken from the text."""
        text = self.text.lstrip("\r\n")
        while not text and (raw := self.stream.read(BLOCK)):
            self.text += self._decode(raw)
            text = self.text.lstrip("\r\n")
        self.lines += count_newlines(self.text[: len(self.text) - len(text)])
        row, self.text = self._first_row(text)
        cells = [cell.strip() for cell in self.grammar.split(_tidy(row, self.separator))]
        if not row:
            raise TableError(f"{self.name} is empty: it has neither a header nor rows.")
        if not self.style.header:
            self.text = row + self.text
            return [f"x{i + 1}" for i in range(len(cells))]
        if all(_is_number(cell, self.decimal) for cell in cells):
            raise TableError(
                f"{self.name} seems to have no header: line {self.lines + 1} holds only numbers. Use --no-header "
                "(the columns are then x1, x2, ...), or add a line of names."
            )
        self._check_swallowed(row, range(0), len(split_lines(row)[0].split(self.separator)))
        self.lines += count_newlines(row)
        return [cell or f"x{i + 1}" for i, cell in enumerate(cells)]

    def _first_row(self, text: str) -> tuple[str, str]:
        """The first row, which may be longer than a block, and what is read after it."""
        raw = b"more"
        while True:
            whole = end_of_lines(text) if raw else len(text)
            self._check_text(split_lines(text[:whole])[0] if whole else text)
            try:
                row = next(self.grammar.rows(text[:whole]), None)
            except QuoteError as error:
                if not error.unclosed or not raw:
                    raise self._quote_error(text, error) from None
                row = None
            if row is not None or not raw:
                return text[: row.end if row else 0], text[row.end if row else 0 :]
            if len(text) > LONGEST_HEADER:
                raise TableError(f"{self.name} is not a text table: its first row does not end.")
            raw = self.stream.read(max(BLOCK, len(text)))
            text += self._decode(raw)

    def blocks(self, columns: list[str], keep: list[str]) -> Iterator[Block]:
        """Rows with ``columns`` as they are and ``keep`` as texts; every line is accounted for."""
        places = {name: i for i, name in enumerate(self.names)}
        numbers = [places[name] for name in columns]
        start, above = 0, self.lines
        for rows, done in self._whole_rows(numbers):
            counted = self.grammar.count(rows)
            if counted.rows:
                frame = self._parse(rows, columns, keep)
                if len(frame) != counted.rows:
                    raise TableError(
                        f"{self.name}: from line {self.lines + 1:,} on there are {counted.rows:,} rows in "
                        f"{counted.lines:,} lines, but {len(frame):,} were read. Use --quote or --separator."
                    )
            else:
                frame = pd.DataFrame(columns=list(dict.fromkeys([*columns, *keep])), dtype=object)
            place = RowLines(self.grammar, rows, self.lines)
            yield Block(frame, start, done, place, counted.lines + above, counted.empty)
            start, above = start + counted.rows, 0
            self.lines += count_newlines(rows)

    def _whole_rows(self, numbers: list[int]) -> Iterator[tuple[str, float]]:
        """Texts of whole rows, about a block each, and the share of the table that is read with them."""
        text, raw = self.text, b"more"
        self.text = ""
        while raw:
            rows, text = self._cut(text, numbers, last=False)
            if rows:
                yield rows, self.read / self.size if self.size else 0.0
            elif len(text) > BLOCK:
                self._check_swallowed(text, numbers, len(self.names))
            raw = self.stream.read(max(BLOCK, len(text)))  # more at once where a row is longer than a block
            text += self._decode(raw)
        rows, _ = self._cut(text, numbers, last=True)
        if rows:
            yield rows, 1.0

    def _cut(self, text: str, numbers: list[int], *, last: bool) -> tuple[str, str]:
        """The rows that are whole, and the rest; an error where a quote cannot be right."""
        end = len(text) if last else end_of_lines(text)
        body = _tidy(text[:end], self.separator)
        self._check_text(body)
        if not self.grammar.is_simple(body):
            whole = 0
            try:
                for start, end_of_row in self.grammar.rows(body):
                    self._check_swallowed(body[start:end_of_row], numbers, len(self.names), (body, start))
                    whole = end_of_row
            except QuoteError as error:
                if last or not error.unclosed:
                    raise self._quote_error(body, error) from None
                return body[:whole], body[whole:] + text[end:]
        return body, text[end:]

    def _check_swallowed(self, row: str, numbers: Sequence[int], width: int, inside: tuple[str, int] = ("", 0)) -> None:
        """Raise where a row of several lines is rather several rows of which the first has a stray quote."""
        if self.style.quote is not None or ("\n" not in row.rstrip("\r\n") and "\r" not in row.rstrip("\r\n")):
            return
        lines = split_lines(row)
        whole = [self._is_row(line, numbers, width) for line in lines]
        if width > 1 and (all(whole) or any(whole[1:-1])):
            text, start = inside
            line = self.lines + count_newlines(text[:start]) + 1
            raise TableError(
                f"{self.name}, line {line:,}: a quote begins a field that ends {len(lines) - 1:,} "
                f"line{'s' if len(lines) > 2 else ''} below, and the lines between look like rows: "
                f"{_shorten(lines[0])}. Correct the line, or use --quote none if quotes are part of the values, or "
                f"--quote '{QUOTE}' if the field does have several lines."
            )

    def _is_row(self, line: str, numbers: Sequence[int], width: int) -> bool:
        """Whether a line would be a row of its own if quotes had no meaning."""
        cells = [cell.strip(" \t\r\n" + QUOTE) for cell in line.split(self.separator)]
        missing = {*MISSING, *self.style.missing}
        return len(cells) == width and all(cells[i] in missing or _is_number(cells[i], self.decimal) for i in numbers)

    def _quote_error(self, text: str, error: QuoteError) -> TableError:
        line = self.lines + count_newlines(text[: error.place]) + 1
        shown = _shorten(split_lines(text[error.start :])[count_newlines(text[error.start : error.place])])
        return TableError(
            f"{self.name}, line {line:,}: {error}: {shown}. Correct the line, or use --quote none if quotes are part "
            "of the values."
        )

    def _parse(self, rows: str, columns: list[str], keep: list[str]) -> pd.DataFrame:
        types = {name: pa.string() for name in (*keep, *self.texts)}
        wide = {name: pa.float64() for name in columns} if len(columns) > WIDE else {}
        convert = arrow_csv.ConvertOptions(
            include_columns=list(dict.fromkeys([*columns, *keep])), column_types=wide | types,
            null_values=[*MISSING, *self.style.missing], strings_can_be_null=False, decimal_point=self.decimal,
        )  # fmt: skip
        quote = self.grammar.quote or False
        parse = arrow_csv.ParseOptions(
            delimiter=self.separator, quote_char=quote, newlines_in_values=not self.grammar.is_simple(rows)
        )
        raw = rows.encode()
        read = arrow_csv.ReadOptions(column_names=self.names, block_size=len(raw) + 1)  # no row is longer than that
        options = {"read_options": read, "parse_options": parse, "convert_options": convert}
        try:
            try:
                table = arrow_csv.read_csv(pa.BufferReader(raw), **options)
            except pa.ArrowInvalid:
                if not wide:
                    raise
                convert.column_types = types
                table = arrow_csv.read_csv(pa.BufferReader(raw), **options)
        except pa.ArrowInvalid as error:
            self._raise_ragged(rows)
            raise TableError(f"{self.name}, from line {self.lines + 1:,} on, cannot be read: {error}") from None
        special = {field.name for field in table.schema if not _is_plain(field.type)} - types.keys()
        if special:  # dates and times stay as they are written
            self.texts |= special
            return self._parse(rows, columns, keep)
        return table.to_pandas()

    def _raise_ragged(self, rows: str) -> None:
        for start, end in self.grammar.rows(rows):
            cells = self.grammar.split(rows[start:end])
            if cells != [""] and len(cells) != len(self.names):
                line = self.lines + count_newlines(rows[:start]) + 1
                raise TableError(
                    f"{self.name}, line {line:,}: {len(cells)} fields where {len(self.names)} "
                    f"are expected: {self.separator.join(cells)[:60]!r}. Repair the line, or use --separator if "
                    f"{self.separator!r} does not separate the fields."
                )


class RowLines(NamedTuple):
    """The lines at which the rows of a text begin; nothing is counted before it is asked for."""

    grammar: Grammar
    text: str
    above: int

    def __call__(self, row: int) -> int:
        """The line of a row."""
        filled = (start for start, end in self.grammar.rows(self.text) if self.text[start:end].strip("\r\n"))
        start = next(islice(filled, row, None), 0)
        return self.above + count_newlines(self.text[:start]) + 1


def find_encoding(first: bytes, name: str) -> str:
    """The encoding of a text table by its first bytes; one that had to be guessed is told."""
    marked = next((encoding for bom, encoding in BOMS.items() if first.startswith(bom)), None)
    if marked is not None:
        return marked
    head = first[:SAMPLE]
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = head[offset::2].count(0)
        if len(head) > 8 and zeros > 0.6 * len(head[offset::2]) and head[1 - offset :: 2].count(0) < 0.05 * len(head):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError as error:
        try:
            first.decode("cp1252")
            guess, words = "cp1252", "Windows Western Europe"
        except UnicodeDecodeError:
            guess, words = "latin-1", "Western Europe"
        if 0 in head:
            return "utf-8"  # it is no text, which is told where it is decoded
        warnings.warn(
            f"{name} is not UTF-8 (byte 0x{first[error.start]:02x} at offset {error.start:,}); it was read as {guess} "
            f"({words}). If letters are wrong, use --encoding.",
            stacklevel=2,
        )
        return guess
    return "utf-8"


def sniff_separator(lines: list[str], quote: str | None = QUOTE) -> str:
    """The first of the usual separators that splits nearly all lines into the number of fields of the first.

    Examples
    --------
    >>> sniff_separator(["1,5;2,5", "0,1;7,25"])
    ';'
    """
    sample = [line for line in lines[:50] if line.strip()]
    for separator in SEPARATORS.values():
        counts = [len(row) for row in _sample_rows(sample, separator, quote)]
        if counts and counts[0] > 1 and counts.count(counts[0]) > 0.8 * len(counts):
            return separator
    return ","


def sniff_decimal(lines: list[str], separator: str, quote: str | None = QUOTE) -> str:
    """A comma where numbers have one and none has a point."""
    if separator == ",":
        return "."
    cells = [cell.strip() for row in _sample_rows(lines[1:50], separator, quote) for cell in row]
    with_comma = any(re.fullmatch(r"[-+]?\d+(\.\d{3})*,\d+([eE][-+]?\d+)?", cell) for cell in cells)
    grouped = any(re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+,\d+", cell) for cell in cells)
    cells = [cell for cell in cells if not grouped or not re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+", cell)]
    with_point = any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", cell) for cell in cells)
    return "," if with_comma and not with_point else "."


def _sample_rows(lines: list[str], separator: str, quote: str | None) -> list[list[str]]:
    """The cells of some lines, as well as they can be told where quotes are wrong."""
    grammar = Grammar(separator, quote)
    text = _tidy("".join(line if line[-1] in "\r\n" else line + "\n" for line in lines), separator)
    try:
        return [grammar.split(text[start:end]) for start, end in grammar.rows(text)]
    except QuoteError:
        return [_tidy(line, separator).split(separator) for line in lines]


def _tidy(text: str, separator: str) -> str:
    """Runs of blanks as one where blanks separate."""
    return re.sub(r"(?m)^ +| +$", "", re.sub(r"[ \t]+", " ", text)) if separator == " " else text


def _is_plain(kind: Any) -> bool:
    """Whether a column that pyarrow found needs no second look: numbers, truth values, nothing, or texts."""
    types = pa.types
    return any(
        test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_null, types.is_string)
    )


def _shorten(line: str) -> str:
    line = line.rstrip("\r\n")
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _is_number(cell: str, decimal: str) -> bool:
    try:
        float(cell.replace(decimal, "."))
    except ValueError:
        return False
    return True
