"""The cells of one column as numbers or texts: the only code that decides what a cell is.

Data frames of every library and files on the command line are read by :func:`read_values`. Learning a column chooses
its :class:`Format`: numbers, dates, truth values, texts or categories, the decimal mark, the order of day and month.
The model keeps the format and reads new rows by it, so that a cell means the same in every batch. A cell that does not
fit the format is missing, and is counted in ``unread``.

Numbers may be written as people do: ``67.614,86``, ``$67,614.86``, ``0.5%``, ``1 234``, ``(12.50)``. Units are ignored.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

MISSING = ("", "#N/A", "#NA", "N/A", "NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "n/a", "None", "<NA>")
"""Texts that mean a missing value in every column."""
PLACEHOLDERS = ("-", "--", "\u2013", "\u2014", ".", "..", "...", "?", "unknown", "missing", "none", "tbd", "#n/a")
"""Texts, in lower case, that mean a missing value in a column of numbers or dates. In others they are categories."""
READABLE = 0.95
"""Share of the cells that must be numbers (or dates) for a column to be one of numbers; the rest are missing. Typing
errors and remarks are rarer than that."""
NESTED = (bytes, bytearray, complex, np.complexfloating, dict, list, tuple, set, np.ndarray)
"""Types of cells that are neither numbers nor texts."""
DAY = 86_400.0
EPOCH = datetime(1970, 1, 1)

PLAIN = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
CODE = re.compile(r"[-+]?0\d+", re.ASCII)
_UNIT = r"(?:[$€£¥₹%]|USD|EUR|GBP|CHF|JPY)?"
_AMOUNT = re.compile(rf"([-+]?)\s?{_UNIT}\s?(.*?)\s?{_UNIT}\Z", re.DOTALL)
_TYPESET = str.maketrans({"\u2212": "-", "\u202f": " ", "\u2009": " "})
"""Minus signs and narrow spaces of printed tables."""
_GROUPED = {
    mark: re.compile(rf"[-+]?\d{{1,3}}(?:([{comma}'\u2019\u00a0 ])\d{{3}})(?:\1\d{{3}})*(?:[{mark}]\d+)?", re.ASCII)
    for mark, comma in (".,", ",.")
}
"""Numbers with separators of thousands, by their decimal marks."""
_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(\D.*)?", re.ASCII)


class Format(NamedTuple):
    """How the cells of a column are written; learned by the fit, applied unchanged to new rows."""

    nature: str
    """"numbers", "dates", "truths", "texts" or "categories"."""
    decimal: str = "."
    """Decimal mark of numbers that are texts."""
    date_order: str = "ymd"
    """Order of year, month and day in dates that are texts: "ymd", "dmy" or "mdy"."""


class Values(NamedTuple):
    """The cells of a column: numbers (dates are days since 1970), or texts."""

    format: Format
    numbers: NDArray[np.float64] | None = None
    """NaN if a cell is missing."""
    texts: Any = None
    """Array of texts, unless there are numbers; None if a cell is missing."""
    order: tuple[str, ...] = ()
    """Ordered categories in their order."""
    unread: Counter[str] = Counter()  # noqa: RUF012 - never changed
    """Cells that do not fit the format and count as missing, with how often they occur."""

    @property
    def nature(self) -> str:
        """Return the nature of the format."""
        return self.format.nature

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return which cells are not missing."""
        return np.array([x is not None for x in self.texts], bool) if self.numbers is None else ~np.isnan(self.numbers)

    @property
    def distinct(self) -> int:
        """Return the number of different values."""
        if self.numbers is None:
            return len(set(self.texts.tolist()) - {None})
        return len(np.unique(self.numbers[self.known]))

    def as_texts(self) -> NDArray[Any]:
        """Return the cells as texts."""
        if self.numbers is None:
            return np.asarray(self.texts)
        write = date_text if self.nature == "dates" else number_text
        return as_objects(None if np.isnan(x) else write(x) for x in self.numbers.tolist())


def read_values(
    column: Any, fmt: Format | None = None, *, as_written: bool = False, decimal: str = ".", name: str = ""
) -> Values:
    """Return the cells of a column of any data frame, or of an array.

    The format is ``fmt``, that of a fit, or learned; texts stay texts if they are to be read ``as_written``, and
    ``decimal`` is the mark to prefer if both fit. ``name`` is for errors.

    Examples
    --------
    >>> read_values(np.array(["$1,200.50", "", "n/a", "-"], dtype=object)).numbers
    array([1200.5,    nan,    nan,    nan])
    >>> read_values(np.array(["7.289,05", "7.289"], dtype=object)).numbers
    array([7289.05, 7289.  ])
    >>> read_values(np.array(["2024-01-01", "soon"], dtype=object)).nature
    'texts'
    """
    cells, order, is_category = _cells_of(column, name)
    kind = cells.dtype.kind if isinstance(cells, np.ndarray) else "O"
    if fmt is None and (is_category or as_written or kind == "b"):
        fmt = Format("categories" if is_category else "texts" if as_written else "truths")
    nature = "" if fmt is None else fmt.nature
    if nature not in ("texts", "categories", "truths"):
        if kind in "fiub" and nature != "dates":
            return Values(fmt or Format("numbers"), cells.astype(np.float64))
        if kind == "M" and nature != "numbers":
            return Values(fmt or Format("dates"), (cells - np.datetime64(0, "s")) / np.timedelta64(1, "s") / DAY)
        if kind == "m" and nature != "dates":
            return Values(fmt or Format("numbers"), cells / np.timedelta64(1, "s") / DAY)
    cells = cells.tolist() if isinstance(cells, np.ndarray) else cells
    if nature in ("", "numbers", "dates"):
        _refuse_nested(cells, name)
        stripped = [None if is_missing(cell) else cell.strip() if isinstance(cell, str) else cell for cell in cells]
        counts = Counter(cell for cell in stripped if cell is not None)
        fmt = _learn_format(counts, decimal) if fmt is None else fmt
        if fmt.nature in ("numbers", "dates"):
            parsed: dict[Any, float | None] = {cell: _parse_cell(cell, fmt) for cell in counts}
            lost = (cell for cell in counts if parsed[cell] is None and not _is_placeholder(cell))
            unread = Counter({str(cell)[:60]: counts[cell] for cell in lost})
            return Values(fmt, np.array([parsed.get(cell) for cell in stripped], np.float64), unread=unread)
    assert fmt is not None
    return Values(fmt, texts=as_objects(None if is_missing(c) else cell_text(c) for c in cells), order=order)


def _cells_of(column: Any, name: str) -> tuple[Any, tuple[str, ...], bool]:
    """Return the cells of a column, ordered categories, and whether the column was declared to hold categories.

    The cells are an array of numbers, truth values or times, or a list of objects. Texts never become an array of
    strings, which would take the length of the longest for each.
    """
    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        array = np.asarray(column)
        return (array if array.dtype.kind in "fiubmM" else array.tolist()), (), False
    kind = series.dtype
    if kind in (nw.Categorical, nw.Enum):
        native: Any = getattr(series.to_native(), "dtype", None)
        order = tuple(map(cell_text, native.categories)) if getattr(native, "ordered", False) else ()
        return series.to_list(), order, True
    if kind in (nw.Struct, nw.List, nw.Array):
        raise TypeError(f"The column {name!r} holds nested values ({kind}). Split it into plain columns, or ignore it.")
    if kind == nw.Boolean or kind.is_numeric() or kind.is_temporal():
        array = series.to_numpy()
        if array.dtype.kind in "fiubmM":
            return array, (), False
    return series.to_list(), (), False


def _refuse_nested(cells: list[Any], name: str) -> None:
    """Raise TypeError if cells are neither numbers nor texts."""
    nested = next((kind for kind in {type(cell) for cell in cells} if issubclass(kind, NESTED)), None)
    if nested is not None:
        raise TypeError(
            f"The column {name!r} holds values of type {nested.__name__}. Convert them to numbers or texts, or ignore "
            "the column."
        )


def is_missing(cell: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NaT, NA, or a text that means so, such as " " or "n/a"."""
    if isinstance(cell, str):
        return cell.strip() in MISSING
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return isinstance(cell, (float, np.floating)) and cell != cell


def _learn_format(counts: "Counter[Any]", decimal: str) -> Format:
    """Return the format that suits cells, none of them missing, by how often they occur.

    ``decimal`` is the mark to prefer if both fit, as in 1.234. Dates with a first number above 12 have the day first.
    If the numbers leave it open, points mean that the day comes first (1.2.2024), and other marks that the month does.
    """
    if counts and all(isinstance(cell, (bool, np.bool_)) for cell in counts):
        return Format("truths")
    used = {cell: count for cell, count in counts.items() if not _is_placeholder(cell)}
    texts = [cell for cell in used if isinstance(cell, str)]
    pointed = 2 * sum("." in text for text in texts) > len(texts)
    formats = [
        Format("dates", date_order=order) for order in (("ymd", "dmy", "mdy") if pointed else ("ymd", "mdy", "dmy"))
    ]
    if not any(CODE.fullmatch(text) for text in texts):  # a number has no zeros in front
        formats = [*(Format("numbers", mark) for mark in sorted(".,", key=decimal.__ne__)), *formats]
    fits = [sum(count for cell, count in used.items() if _parse_cell(cell, fmt) is not None) for fmt in formats]
    best = int(np.argmax(fits))
    return formats[best] if used and fits[best] >= READABLE * sum(used.values()) else Format("texts")


def _is_placeholder(cell: Any) -> bool:
    return isinstance(cell, str) and cell.lower() in PLACEHOLDERS


def _parse_cell(cell: Any, fmt: Format) -> float | None:
    """Return a cell as a number, or as days since 1970, in a format; None if it does not fit."""
    return parse_date(cell, fmt.date_order) if fmt.nature == "dates" else parse_number(cell, fmt.decimal)


def parse_number(cell: Any, decimal: str = ".") -> float | None:
    """Return a number as people write it; None if the cell is not one.

    Examples
    --------
    >>> parse_number("1'234.5 €"), parse_number("-€ 1.234,50", ","), parse_number("(CHF 12.50)"), parse_number("2_5")
    (1234.5, -1234.5, -12.5, None)
    """
    if not isinstance(cell, str):
        try:
            return float(cell)
        except (OverflowError, TypeError, ValueError):
            return None
    if decimal == "." and PLAIN.fullmatch(cell):
        return float(cell)
    text = cell.translate(_TYPESET)
    if text.startswith("(") and text.endswith(")"):  # accountants write negative amounts in brackets
        text = f"-{text[1:-1]}"
    text = _AMOUNT.sub(r"\1\2", text, count=1)
    if _GROUPED[decimal].fullmatch(text):
        text = re.sub(rf"[^\d+\-{decimal}]", "", text)
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".", 1)
    return float(text) if PLAIN.fullmatch(text) else None


def parse_date(cell: Any, order: str = "ymd") -> float | None:
    """Return the days since 1970 of a date or time; None if the cell is not one.

    A year that comes first is read in every order, because it cannot be mistaken. Times with a zone become UTC.

    Examples
    --------
    >>> parse_date("31/12/1970", "dmy"), parse_date("1970-01-02T12:00"), parse_date("31/12/1970", "mdy")
    (364.0, 1.5, None)
    """
    try:
        if isinstance(cell, str) and (match := _DATE.fullmatch(cell)):
            first, _, second, third, time = match.groups()
            if len(first) == 4:
                year, month, day = first, second, third
            else:
                year, month, day = (third, second, first) if order == "dmy" else (third, first, second)
            if len(year) < 4 or (len(first) < 4 and order == "ymd"):
                return None
            cell = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time or ''}")
        if not isinstance(cell, date):
            return None
        moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
        moment = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):  # the 31st of February
        return None
    return (moment - EPOCH).total_seconds() / DAY


def as_objects(cells: Iterable[Any]) -> NDArray[Any]:
    """Return an array of objects, whatever they are."""
    listed = list(cells)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def cell_text(cell: Any) -> str:
    """Return a cell as a text; integers of any size keep all digits, and 2.0 is 2."""
    if isinstance(cell, (int, np.integer)) and not isinstance(cell, bool):
        return str(int(cell))
    return number_text(float(cell)) if isinstance(cell, (float, np.floating)) else str(cell)


def number_text(number: float) -> str:
    """Return a number in as few digits as needed, whole ones without a decimal point."""
    return str(int(number)) if number == np.floor(number) and abs(number) < 1e16 else repr(float(number))


def date_text(days: float) -> str:
    """Return days since 1970 as a date, such as "2024-01-01" or "2024-01-01 12:00"."""
    try:
        moment = EPOCH + timedelta(days=days)
    except OverflowError:
        return f"day {days:,.0f}"
    return moment.strftime("%Y-%m-%d" if days == np.floor(days) else "%Y-%m-%d %H:%M")
