"""The cells of one column of a data frame as numbers or texts, whatever they are kept as.

Truth values, texts that all read as numbers, dates (as objects, or as texts in one of the usual styles) and categories
are told apart here; a cell is missing where it is None, NaN, NaT, NA or a blank text. No package of data frames is
imported: whatever ``numpy.asarray`` takes will do.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0
EPOCH = date(1970, 1, 1).toordinal()
_TIME = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)? ?(Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)


class Values(NamedTuple):
    """The cells of a column: numbers (dates are days since 1970), or texts."""

    nature: str
    """"numbers", "truths", "dates", "texts" or "categories"."""
    numbers: NDArray[np.float64] | None = None
    """NaN where a cell is missing."""
    texts: NDArray[Any] | None = None
    """None where a cell is missing."""
    order: tuple[str, ...] = ()
    """Categories in their order, where they have one."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which cells are there."""
        if self.numbers is not None:
            return ~np.isnan(self.numbers)
        assert self.texts is not None
        return np.array([text is not None for text in self.texts], dtype=bool)

    def as_texts(self) -> NDArray[Any]:
        """The cells as texts."""
        if self.texts is not None:
            return self.texts
        assert self.numbers is not None
        write = date_text if self.nature == "dates" else number_text
        return as_objects(None if np.isnan(x) else write(x) for x in self.numbers.tolist())


def is_missing(value: Any) -> bool:
    """None, NaN, a blank text, or what pandas has for them, which does not compare.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(" "), is_missing(0)
    (True, True, False)
    """
    if isinstance(value, str):
        return not value.strip()
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def read_values(column: Any, *, as_written: bool = False) -> Values:
    """The cells of a column of any data frame, or of an array; texts ``as_written`` are neither numbers nor dates.

    Examples
    --------
    >>> read_values(np.array(["1.5", "", "2"], dtype=object)).numbers
    array([1.5, nan, 2. ])
    >>> read_values(np.array(["2024-01-01", "1.2.2024"], dtype=object)).nature
    'texts'
    """
    array = np.asarray(column)
    if is_category(column):
        order = ordered_categories(column)
        return Values("categories", texts=_texts(array), order=order)
    if array.dtype.kind in "fiu":
        return Values("numbers", array.astype(np.float64))
    if array.dtype.kind == "b":
        return Values("truths", texts=_texts(array))
    if array.dtype.kind == "M":
        return Values("dates", (array - np.datetime64(0, "s")) / np.timedelta64(1, "s") / DAY)
    if array.dtype.kind == "m":
        return Values("numbers", array / np.timedelta64(1, "s") / DAY)
    if as_written:
        return Values("texts", texts=_texts(array.astype(object)))
    return _read_objects(array.astype(object))


def _read_objects(cells: NDArray[Any]) -> Values:
    missing = np.array([is_missing(cell) for cell in cells.tolist()], dtype=bool)
    given = cells[~missing].tolist()
    kinds = {type(cell) for cell in given}
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return Values("truths", texts=_texts(cells))
    if all(issubclass(kind, date) for kind in kinds) and kinds:
        return Values("dates", _spread(map(days_of, given), missing))
    numbers = _as_numbers(given)
    if numbers is not None:
        return Values("numbers", _spread(numbers, missing))
    texts = as_objects(None if gap else str(cell) for cell, gap in zip(cells.tolist(), missing.tolist(), strict=True))
    days = parse_dates(texts[~missing].tolist())
    return Values("texts", texts=texts) if days is None else Values("dates", _spread(days, missing))


def _as_numbers(cells: list[Any]) -> list[float] | None:
    try:
        return [float(cell) for cell in cells if _may_be_number(cell)] if all(map(_may_be_number, cells)) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _may_be_number(cell: Any) -> bool:
    return isinstance(cell, (str, Real)) or type(cell).__name__ == "Decimal"


def _spread(given: Iterable[float], missing: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = np.full(len(missing), np.nan)
    numbers[~missing] = list(given)
    return numbers


def _texts(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells as texts; whole numbers have no point."""
    return as_objects(None if is_missing(cell) else cell_text(cell) for cell in cells.tolist())


def as_objects(cells: Iterable[Any]) -> NDArray[Any]:
    """An array of objects, whatever they are."""
    listed = list(cells)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def cell_text(cell: Any) -> str:
    """A cell as a text.

    Examples
    --------
    >>> cell_text(2.0), cell_text(True), cell_text("a")
    ('2', 'True', 'a')
    """
    return number_text(float(cell)) if isinstance(cell, Real) and not isinstance(cell, bool) else str(cell)


def number_text(number: float) -> str:
    """A number in as few digits as tell it from all others, whole ones without a point."""
    return str(int(number)) if number == np.floor(number) and abs(number) < 1e16 else repr(float(number))


def is_category(column: Any) -> bool:
    """Whether a column of pandas or polars was declared to hold categories."""
    return type(getattr(column, "dtype", None)).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def ordered_categories(column: Any) -> tuple[str, ...]:
    """Categories in the order that pandas was told; empty where they have none."""
    kind = column.dtype
    return tuple(map(cell_text, kind.categories)) if getattr(kind, "ordered", False) else ()


def days_of(moment: date) -> float:
    """Days since 1970 of a date or a time."""
    if not isinstance(moment, datetime):
        return float(moment.toordinal() - EPOCH)
    plain = moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return (plain - datetime(1970, 1, 1)).total_seconds() / DAY


def date_text(days: float) -> str:
    """Days since 1970 as a date.

    Examples
    --------
    >>> date_text(19723.0), date_text(19723.5)
    ('2024-01-01', '2024-01-01 12:00')
    """
    try:
        moment = datetime(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return f"day {days:,.0f}"
    return moment.strftime("%Y-%m-%d" if days == np.floor(days) else "%Y-%m-%d %H:%M")


def parse_dates(texts: list[str]) -> list[float] | None:
    """Days since 1970 of texts that are all dates in one style, else None.

    A year comes first (2024-12-31) or last. Where it is last, points mean that the day is first (31.12.2024); with a
    slash or a dash the month is first, unless one of the first numbers is above 12. Times are as they are written,
    unless they are of several zones (12:00+01:00, 12:00+02:00): then all are those of UTC.

    Examples
    --------
    >>> parse_dates(["31/12/1970", "1/1/1970"]), parse_dates(["12/31/1970"]), parse_dates(["soon"])
    ([364.0, 0.0], [364.0], None)
    """
    if not texts:
        return None
    for style in (YEAR_FIRST, YEAR_LAST):
        if style.fullmatch(texts[0].strip()) is None:
            continue
        distinct = dict.fromkeys(texts)
        found = [style.fullmatch(text.strip()) for text in distinct]
        if any(match is None for match in found):
            return None
        try:
            days = _days(style, [match for match in found if match is not None])
        except ValueError:  # the 31st of February
            return None
        known = dict(zip(distinct, days, strict=True))
        return [known[text] for text in texts]
    return None


def _days(style: re.Pattern[str], found: list[re.Match[str]]) -> list[float]:
    if style is YEAR_FIRST:
        parts = [(match[1], match[3], match[4]) for match in found]
    elif any(match[2] == "." or int(match[1]) > 12 for match in found):
        parts = [(match[4], match[3], match[1]) for match in found]
    else:
        parts = [(match[4], match[1], match[3]) for match in found]
    times = [[int(part or 0) for part in match.groups()[4:7]] for match in found]
    moments = [
        datetime(int(year), int(month), int(day), hour, minute, second)
        for (year, month, day), (hour, minute, second) in zip(parts, times, strict=True)
    ]
    ahead = [_ahead(match[9]) for match in found]
    one_zone = len(set(ahead)) == 1
    return [
        days_of(moment) + (float(f"0.{match[8] or 0}") - (0 if one_zone else hours * 3600)) / DAY
        for moment, match, hours in zip(moments, found, ahead, strict=True)
    ]


def _ahead(zone: str | None) -> float:
    """Hours that a zone, +02:00 or Z, is ahead of UTC."""
    if zone is None or zone == "Z":
        return 0.0
    return float(f"{zone[0]}1") * (int(zone[1:3]) + int(zone[-2:]) / 60)
