"""The cells of one column as numbers or texts: the only code that decides what a cell is.

Data frames of every library and files on the command line are read by :func:`read_values`. Learning a column chooses
its :class:`Format`: numbers, dates, truth values, texts or categories, the decimal mark, the order of day and month,
the time zone. The model keeps the format and reads new rows by it, so that a cell means the same in every batch. A cell
that does not fit the format is missing, and is counted in ``unread``.

Numbers may be written as people do: ``67.614,86``, ``$67,614.86``, ``0.5%``, ``1 234``, ``(12.50)``. Units are ignored.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
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
_MONEY = r"(?:[$€£¥₹%]|USD|EUR|GBP|CHF|JPY)"
_UNIT = re.compile(rf"^([-+(]?)\s*{_MONEY}\s*|\s*{_MONEY}(\)?)$")
_GROUPED = {
    ".": re.compile(r"[-+]?\d{1,3}(?:([,'\u2019\u00a0\u202f\u2009 ])\d{3})(?:\1\d{3})*(?:\.\d+)?", re.ASCII),
    ",": re.compile(r"[-+]?\d{1,3}(?:([.'\u2019\u00a0\u202f\u2009 ])\d{3})(?:\1\d{3})*(?:,\d+)?", re.ASCII),
}
_TIME = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)? ?(Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME, re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME, re.ASCII)


class Format(NamedTuple):
    """How the cells of a column are written; learned by the fit, applied unchanged to new rows."""

    nature: str
    """"numbers", "dates", "truths", "texts" or "categories"."""
    decimal: str = "."
    """Decimal mark of numbers that are texts."""
    date_order: str = "ymd"
    """Order of year, month and day in dates that are texts: "ymd", "dmy" or "mdy"."""
    utc_offset: float | None = None
    """Hours ahead of UTC that times are converted to; None keeps them as they are written."""


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
    distinct_integers: int = 0
    """Number of different integers, which float64 does not distinguish beyond 2**53; 0 for other columns."""
    one_mark: bool = False
    """Whether only one decimal mark fits the texts best."""

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
        return self.distinct_integers or len(np.unique(self.numbers[self.known]))

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

    The format is ``fmt``, that of a fit, or learned: texts stay texts if they are to be read ``as_written``, and
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
    if fmt is None and (is_category or as_written):
        fmt = Format("categories" if is_category else "texts")
    kind = cells.dtype.kind if isinstance(cells, np.ndarray) else "O"
    if fmt is None and kind == "b":
        fmt = Format("truths")
    if fmt is not None and fmt.nature in ("texts", "categories", "truths"):
        cells = cells if kind == "O" else cells.tolist()
        return Values(fmt, texts=_texts(cells), order=order)
    nature = None if fmt is None else fmt.nature
    if kind in "fiub" and nature != "dates":
        integers = len(np.unique(cells)) if kind in "iu" and cells.dtype.itemsize == 8 else 0
        return Values(fmt or Format("numbers"), cells.astype(np.float64), distinct_integers=integers)
    if kind == "M" and nature != "numbers":
        days = (cells - np.datetime64(0, "s")) / np.timedelta64(1, "s") / DAY
        return Values(fmt or Format("dates", utc_offset=0.0), days)
    if kind == "m" and nature != "dates":
        return Values(fmt or Format("numbers"), cells / np.timedelta64(1, "s") / DAY)
    cells = cells if kind == "O" else cells.tolist()
    if fmt is not None:
        return _read_cells(cells, fmt)
    fmt, one_mark = _learn_format([cell for cell in cells if not is_missing(cell)], decimal, name)
    if fmt.nature in ("texts", "truths"):
        return Values(fmt, texts=_texts(cells))
    return _read_cells(cells, fmt)._replace(one_mark=one_mark)


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


def is_missing(cell: Any) -> bool:
    """Return whether a cell is missing: None, NaN, NaT, NA, or a text that means so, such as " " or "n/a"."""
    if isinstance(cell, str):
        return cell.strip() in MISSING
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return isinstance(cell, (float, np.floating)) and cell != cell


def _learn_format(cells: list[Any], prefer: str, name: str) -> tuple[Format, bool]:
    """Return the format that suits cells, none of them missing, and whether only one decimal mark fits them best."""
    kinds = {type(cell) for cell in cells}

    def all_are(*types: type) -> bool:
        return bool(kinds) and all(issubclass(kind, types) for kind in kinds)

    nested = next((kind for kind in kinds if issubclass(kind, NESTED)), None)
    if nested is not None:
        raise TypeError(
            f"The column {name!r} holds values of type {nested.__name__}. Convert them to numbers or texts, or ignore "
            "the column."
        )
    if all_are(bool, np.bool_):
        return Format("truths"), False
    if all_are(date):
        return Format("dates", utc_offset=0.0 if any(getattr(cell, "tzinfo", None) for cell in cells) else None), False
    if all_are(timedelta, np.timedelta64):
        return Format("numbers"), False

    counts = Counter(key for key in map(_key, cells) if not _is_placeholder(key))
    texts = [key for key in counts if isinstance(key, str)]

    def share(fmt: Format) -> float:
        """Return the share of the cells that can be read in a format."""
        return sum(n for cell, n in counts.items() if _parse_cell(cell, fmt) is not None) / max(1, counts.total())

    if not any(CODE.fullmatch(text) for text in texts):  # a number has no zeros in front
        formats = [Format("numbers", mark) for mark in (prefer, "," if prefer == "." else ".")]
        shares = [share(fmt) for fmt in formats]
        if max(shares) >= READABLE:
            return formats[int(np.argmax(shares))], shares[0] != shares[1]
    formats = _date_formats(texts)
    shares = [share(fmt) for fmt in formats]
    return formats[int(np.argmax(shares))] if max(shares, default=0.0) >= READABLE else Format("texts"), False


def _date_formats(texts: list[str]) -> list[Format]:
    """Return the formats that dates may have, the most likely first; none if no text is a date.

    A first number above 12 is a day. If the numbers leave it open, points mean that the day comes first (1.2.2024), and
    other marks that the month does. Times of one zone stay as they are written; those of several are converted to UTC.
    """
    matches = [match for text in texts if (match := _YEAR_FIRST.fullmatch(text) or _YEAR_LAST.fullmatch(text))]
    if not matches:
        return []
    zones = {match[9] for match in matches}
    offset = None if zones == {None} else _zone_hours(*zones) if len(zones) == 1 else 0.0
    year_last = [match for match in matches if len(match[1]) < 4]
    points = 2 * sum(match[2] == "." for match in year_last) > len(year_last)
    orders = ("ymd", "dmy", "mdy") if points else ("ymd", "mdy", "dmy")
    return [Format("dates", date_order=order, utc_offset=offset) for order in orders]


def _key(cell: Any) -> Any:
    """Return a cell as a key of a dict: texts without blanks around them; True is not 1."""
    if isinstance(cell, str):
        return cell.strip()
    return float(cell) if isinstance(cell, (bool, np.bool_)) else cell


def _is_placeholder(cell: Any) -> bool:
    return isinstance(cell, str) and cell.lower() in PLACEHOLDERS


def _read_cells(cells: list[Any], fmt: Format) -> Values:
    """Return cells as numbers or days by a format that is known."""
    numbers, unread = np.full(len(cells), np.nan), Counter[str]()
    known: dict[Any, float | None] = {}
    for i, cell in enumerate(cells):
        if is_missing(cell):
            continue
        key = _key(cell)
        try:
            number = known[key]
        except TypeError:  # not hashable
            number = None
        except KeyError:
            number = known[key] = _parse_cell(key, fmt)
        if number is not None:
            numbers[i] = number
        elif not _is_placeholder(key):
            unread[str(cell)[:60]] += 1
    return Values(fmt, numbers, unread=unread)


def _parse_cell(cell: Any, fmt: Format) -> float | None:
    """Return a cell as a number, or as days since 1970, in a format; None if it does not fit."""
    return parse_date(cell, fmt) if fmt.nature == "dates" else parse_number(cell, fmt.decimal)


def parse_number(cell: Any, decimal: str = ".") -> float | None:
    """Return a number as people write it; None if the cell is not one.

    Examples
    --------
    >>> parse_number("1'234.5 CHF"), parse_number("-€ 1.234,50", ","), parse_number("12,34"), parse_number("2_5")
    (1234.5, -1234.5, None, None)
    """
    if isinstance(cell, (timedelta, np.timedelta64)):
        seconds = cell.total_seconds() if isinstance(cell, timedelta) else float(cell / np.timedelta64(1, "s"))
        return seconds / DAY
    if not isinstance(cell, str):
        try:
            return float(cell) if isinstance(cell, (Real, Decimal)) else None
        except (OverflowError, ValueError):
            return None
    if decimal == "." and PLAIN.fullmatch(cell):
        return float(cell)
    text = cell.strip("\u00a0\u202f\u2009 ").replace("\u2212", "-")
    for _ in range(2):  # a sign of money and one of per cent, or one on either side
        text = _UNIT.sub(lambda unit: (unit[1] or "") + (unit[2] or ""), text).strip()
    sign = 1.0
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip(), -1.0
    if _GROUPED[decimal].fullmatch(text):
        text = re.sub(r"[^\d+\-" + re.escape(decimal) + "]", "", text)
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".", 1)
    return sign * float(text) if PLAIN.fullmatch(text) else None


def parse_date(cell: Any, fmt: Format) -> float | None:
    """Return the days since 1970 of a date or time; None if the cell is not one.

    A year that comes first is read in every format, because it cannot be mistaken.

    Examples
    --------
    >>> parse_date("31/12/1970", Format("dates", date_order="dmy")), parse_date("1970-01-02", Format("dates"))
    (364.0, 1.0)
    """
    if isinstance(cell, date):  # times with a zone are converted to UTC
        moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
        moment = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
        return (moment - EPOCH).total_seconds() / DAY
    if not isinstance(cell, str):
        return None
    if match := _YEAR_FIRST.fullmatch(cell):
        year, _, month, day = match.groups()[:4]
    elif fmt.date_order != "ymd" and (match := _YEAR_LAST.fullmatch(cell)):
        day, _, month, year = match.groups()[:4]
        if fmt.date_order == "mdy":
            day, month = month, day
    else:
        return None
    hour, minute, second = (int(part or 0) for part in match.groups()[4:7])
    try:
        moment = datetime(int(year), int(month), int(day), hour, minute, second)
    except ValueError:  # the 31st of February
        return None
    ahead = 0.0 if fmt.utc_offset is None or not match[9] else _zone_hours(match[9]) - fmt.utc_offset
    return (moment - EPOCH).total_seconds() / DAY + (float(f"0.{match[8] or 0}") - ahead * 3600) / DAY


def _zone_hours(zone: str) -> float:
    """Return the hours that a zone, +02:00 or Z, is ahead of UTC."""
    return 0.0 if zone == "Z" else float(f"{zone[0]}1") * (int(zone[1:3]) + int(zone[-2:]) / 60)


def _texts(cells: Iterable[Any]) -> NDArray[Any]:
    """Return cells as texts, None if they are missing."""
    return as_objects(None if is_missing(cell) else cell_text(cell) for cell in cells)


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
