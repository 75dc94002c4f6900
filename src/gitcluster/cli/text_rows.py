"""Where the rows and fields of a text table begin and end, and which quotes cannot be right.

A field may stand between quotes; then separators and ends of lines are part of it, and two quotes are one. Only a
quote at the beginning of a field opens it, and after the one that closes it the field must end. Everything else is an
error that names its line: a stray quote would otherwise make one field of many rows, and these rows would be lost.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

NEWLINE = re.compile("\r\n|\r|\n")


class QuoteError(ValueError):
    """A quote that is never closed, or closed in the middle of a field."""

    def __init__(self, start: int, place: int, reason: str, *, unclosed: bool) -> None:
        super().__init__(reason)
        self.start, self.place, self.unclosed = start, place, unclosed


class Row(NamedTuple):
    """Where a row of a text begins, and where the next one does."""

    start: int
    end: int


class RowCount(NamedTuple):
    """Lines of a text: all, those that are empty, and those that go on with the row of the line before."""

    lines: int
    empty: int
    inside: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.lines - self.empty - self.inside


class Grammar:
    """Rows and fields for a separator and a quote; without a quote every line is a row.

    Examples
    --------
    >>> Grammar(",", "'").split("1,'two, ''three''',4")
    ['1', "two, 'three'", '4']
    """

    def __init__(self, separator: str, quote: str | None) -> None:
        self.separator, self.quote = separator, quote
        s, q = re.escape(separator), re.escape(quote or "")
        blanks = f"(?:(?!{s})[ \t])*+"
        plain = f"[^{s}\r\n]*+"
        field, inline = plain, ""
        if quote:
            quoted = f"{q}(?:[^{q}]++|{q}{q})*+{q}{blanks}(?=[{s}\r\n]|\\Z)"
            inline = f"{q}(?:[^{q}\r\n]++|{q}{q})*+{q}{blanks}(?=[{s}\r\n]|\\Z)"
            field = f"(?:{quoted}|(?!{q}){plain})"
        self._field = re.compile(field)
        self._row = re.compile(f"{field}(?:{s}{field})*+(?:\r\n|\r|\n|\\Z)")
        self._inline = re.compile(f"(?<![^{s}\r\n]){inline}") if quote else None
        self._opening = re.compile(f"(?<![^{s}\r\n]){q}")

    def is_simple(self, text: str) -> bool:
        """Whether every line is a row: each quote that opens a field is closed in its line."""
        if self._inline is None or self.quote not in text:  # type: ignore[operator]
            return True
        return self._opening.search(self._inline.sub("", text)) is None

    def rows(self, text: str) -> Iterator[Row]:
        """Rows in order, empty ones too; :class:`QuoteError` at the first that cannot be one."""
        start = 0
        while start < len(text):
            found = self._row.match(text, start)
            if found is None:
                raise self._error(text, start)
            yield Row(start, found.end())
            start = found.end()

    def _error(self, text: str, start: int) -> QuoteError:
        place = start
        while found := self._field.match(text, place):
            place = found.end() + 1
        assert self.quote is not None
        closing = place + 1
        while (closing := text.find(self.quote, closing)) >= 0:
            if not text.startswith(self.quote, closing + 1):
                return QuoteError(start, closing, "a quote ends in the middle of a field", unclosed=False)
            closing += 2
        return QuoteError(start, place, "a quote begins a field and is never closed", unclosed=True)

    def split(self, row: str) -> list[str]:
        """The fields of a row."""
        row = NEWLINE.sub("", row) if not self.quote or self.quote not in row else row.rstrip("\r\n")
        if not self.quote or self.quote not in row:
            return row.split(self.separator)
        fields, place = [], 0
        while place <= len(row):
            found = self._field.match(row, place)
            if found is None:
                raise self._error(row, place)
            cell = found[0]
            if cell.startswith(self.quote):
                cell = cell.rstrip(" \t")[1:-1].replace(self.quote * 2, self.quote)
            fields.append(cell)
            place = found.end() + 1
        return fields

    def count(self, text: str) -> RowCount:
        """Lines of whole rows, by what they are."""
        if self.is_simple(text):
            lines = count_lines(text)
            return RowCount(lines, count_empty(text), 0)
        rows = [text[row.start : row.end] for row in self.rows(text)]
        empty = sum(1 for row in rows if not row.strip("\r\n"))
        return RowCount(count_lines(text), empty, sum(count_lines(row) - 1 for row in rows))


def count_newlines(text: str) -> int:
    r"""Ends of lines; ``\r\n`` is one.

    Examples
    --------
    >>> count_newlines("a\nb\r\nc\rd")
    3
    """
    return text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)


def count_lines(text: str) -> int:
    """Lines, the last one with or without its end."""
    return count_newlines(text) + bool(text and text[-1] not in "\r\n")


def count_empty(text: str) -> int:
    r"""Lines without any character.

    Examples
    --------
    >>> count_empty("\na\n\n\nb\n")
    3
    """
    plain = NEWLINE.sub("\n", text) if "\r" in text else text
    return sum(1 for _ in re.finditer("\n(?=\n)", plain)) + plain.startswith("\n")


def end_of_lines(text: str) -> int:
    r"""Where the last whole line ends; a ``\r`` at the very end may be half of an end of line."""
    return max(text.rfind("\n"), text.rfind("\r", 0, max(0, len(text) - 1))) + 1


def split_lines(text: str) -> list[str]:
    r"""Lines with their ends: at ``\n``, ``\r\n`` and ``\r`` only, not at the other marks of ``str.splitlines``."""
    return [line for line in re.findall("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text) if line]
