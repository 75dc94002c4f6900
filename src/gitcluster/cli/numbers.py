"""Numbers as people write them: ``67.614,86``, ``$67,614.86``, ``0.5%``, ``1 234``, ``(12.50)``.

Units are left as they are: 0.5% is 0.5. A column has one style, with a decimal point or with a decimal comma; the one
that reads all of its cells is taken, that of the table first.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

CURRENCY = re.compile(r"^([-+(]?)\s*(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)\s*|\s*(?:[$€£¥₹%]|USD|EUR|GBP|CHF|JPY)(\)?)$")
BLANKS = "\u00a0\u202f\u2009 "
GROUPED = {
    ".": re.compile(r"[-+]?\d{1,3}(?:([,'\u2019\u00a0\u202f\u2009 ])\d{3})(?:\1\d{3})*(?:\.\d+)?"),
    ",": re.compile(r"[-+]?\d{1,3}(?:([.'\u2019\u00a0\u202f\u2009 ])\d{3})(?:\1\d{3})*(?:,\d+)?"),
}


TRIED = 200
"""Cells that are tried before a column is given up as one of texts."""


class NumberTexts(NamedTuple):
    """Texts as numbers, NaN where they are missing, and which of them are not numbers."""

    numbers: NDArray[np.float64]
    bad: NDArray[np.bool_]
    decimal: str


def read_numbers(texts: "pd.Series[Any]", given: NDArray[np.bool_], decimal: str, *, fixed: bool) -> NumberTexts:
    """Texts as numbers; ``given`` tells which cells are there, ``fixed`` that no other decimal mark is tried.

    Examples
    --------
    >>> read_numbers(pd.Series(["67.614,86", "1.234"]), np.array([True, True]), ".", fixed=False).numbers
    array([67614.86,  1234.  ])
    >>> read_numbers(pd.Series(["$67,614.86", "0.5%", "(3)"]), np.array([True] * 3), ".", fixed=False).numbers
    array([ 6.761486e+04,  5.000000e-01, -3.000000e+00])
    """
    found = _read(texts, given, decimal)
    if found.bad.any() and not fixed:
        other = _read(texts, given, "," if decimal == "." else ".")
        if not other.bad.any():
            return other
    return found


def _read(texts: "pd.Series[Any]", given: NDArray[np.bool_], decimal: str) -> NumberTexts:
    cells = texts.where(given, None)
    plain = cells if decimal == "." else map_cells(cells, _with_point)
    numbers = np.array(pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))
    bad = given & np.isnan(numbers)
    values, rows = cells.to_numpy(dtype=object), np.flatnonzero(bad)
    known: dict[Any, float | None] = {}
    for place, row in enumerate(rows):
        if place == TRIED and bad[rows[:TRIED]].mean() > 0.5:
            break  # a column of texts
        cell = values[row]
        if cell not in known:
            known[cell] = parse_number(cell, decimal)
        number = known[cell]
        if number is not None:
            numbers[row], bad[row] = number, False
    return NumberTexts(numbers, bad, decimal)


def map_cells(cells: "pd.Series[Any]", change: Callable[[Any], Any]) -> "pd.Series[Any]":
    """Cells changed one by one, as objects: pandas would make dates of objects that are dates, which it can count."""
    return pd.Series([change(cell) for cell in cells], cells.index, dtype=object)


def _with_point(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    return "x" if "." in cell else cell.replace(",", ".", 1)


def parse_number(cell: Any, decimal: str = ".") -> float | None:
    """One number as people write it; None where it is none.

    Examples
    --------
    >>> parse_number("1'234.5 CHF"), parse_number("-€ 1.234,50", ","), parse_number("12,34"), parse_number("n")
    (1234.5, -1234.5, None, None)
    """
    if not isinstance(cell, str):
        return None
    text = cell.strip().strip(BLANKS).replace("\u2212", "-")
    text = CURRENCY.sub(lambda found: (found[1] or "") + (found[2] or ""), text).strip()
    text = CURRENCY.sub(lambda found: (found[1] or "") + (found[2] or ""), text).strip()
    sign = 1.0
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip(), -1.0
    if GROUPED[decimal].fullmatch(text):
        text = re.sub(r"[^\d+\-" + re.escape(decimal) + "]", "", text)
    if decimal == ",":
        text = "x" if "." in text else text.replace(",", ".", 1)
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text):
        return None
    return sign * float(text)
