"""Columns as people write them, 60 cells each: for the tests, and for the table in the documentation."""

import numpy as np
import pandas as pd

N_ROWS = 60
RNG = np.random.default_rng(0)
GROUP = np.arange(N_ROWS) % 2
NUMBERS = (1000 + 5000 * GROUP + 300 * RNG.normal(size=N_ROWS)).round(2)
SMALL = (5 + 20 * GROUP + RNG.normal(size=N_ROWS)).round(3)
DAYS = [pd.Timestamp("2024-01-01") + pd.Timedelta(int(day), "D") for day in 200 * GROUP + RNG.integers(0, 90, N_ROWS)]


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def some(cells, *others):
    """Cells, of which every ninth is one of the others."""
    return [others[i // 9 % len(others)] if i % 9 == 4 else cell for i, cell in enumerate(cells)]


COLUMNS = {
    "plain": [f"{x}" for x in NUMBERS],
    "integers": [f"{x:.0f}" for x in NUMBERS],
    "signs": [f"{x - 3000:+.1f}" for x in NUMBERS],
    "unicode minus": [f"{x - 3000:.1f}".replace("-", "\u2212") for x in NUMBERS],
    "scientific": [f"{x:.3e}" for x in NUMBERS],
    "points without digits": [f"{x:.0f}." if x > 3000 else f".{x:.0f}" for x in NUMBERS],
    "blanks around": [f" {x} " for x in NUMBERS],
    "dollars": [f"${x:,.2f}" for x in NUMBERS],
    "euros after": [f"{german(x)} €" for x in NUMBERS],
    "euros before": [f"€ {german(x)}" for x in NUMBERS],
    "currency codes": [f"{x:,.2f} USD" for x in NUMBERS],
    "francs": [f"CHF {x:,.2f}".replace(",", "'") for x in NUMBERS],
    "losses": [f"({x:.2f})" if x < 3000 else f"{x:.2f}" for x in NUMBERS],
    "percent": [f"{x / 100:.1f}%" for x in NUMBERS],
    "percent with a blank": [f"{x / 100:.1f} %" for x in NUMBERS],
    "thousands": [f"{x:,.0f}" for x in NUMBERS],
    "thousands with blanks": [f"{x:,.0f}".replace(",", "\u202f") for x in NUMBERS],
    "decimal comma": [german(x) for x in NUMBERS],
    "decimal comma, small": [f"{x}".replace(".", ",") for x in SMALL],
    "either mark": [f"{1 + x % 8:.3f}" for x in NUMBERS],
    "dashes": some([f"{x}" for x in NUMBERS], "-", "--", "\u2014"),
    "not available": some([f"{x}" for x in NUMBERS], "n/a", "NA", "NULL", "None"),
    "gaps": some([f"{x}" for x in NUMBERS], "", " "),
    "question marks": some([f"{x:.0f}" for x in NUMBERS], "?", "unknown", "TBD"),
    "a note": ["about 25", *(f"{x}" for x in NUMBERS[1:])],
    "many notes": some([f"{x}" for x in NUMBERS], "see above", "ask Ann"),
    "not finite": some([f"{x}" for x in NUMBERS], "inf", "NaN"),
    "hexadecimal": [f"0x{int(x):x}" for x in NUMBERS],
    "underscores": [f"{int(x):_}" for x in NUMBERS],
    "codes": [f"{i % 7:03d}" for i in range(N_ROWS)],
    "codes and numbers": [f"{i % 7}" if i % 7 else "007" for i in range(N_ROWS)],
    "large integers": [f"{2**60 + 7 * i * i}" for i in range(N_ROWS)],
    "running number": [f"{i + 1000}" for i in range(N_ROWS)],
    "phones": [f"+49 89 {i * 7919 % 9000 + 1000}" for i in range(N_ROWS)],
    "versions": [f"{i % 3}.{i % 5}.{i % 2}" for i in range(N_ROWS)],
    "day first": [f"{day:%d/%m/%Y}" for day in DAYS],
    "month first": [f"{day:%m/%d/%Y}" for day in DAYS],
    "with points": [f"{day:%d.%m.%Y}" for day in DAYS],
    "year first": some([f"{day:%Y-%m-%d}" for day in DAYS], "", "-"),
    "times": [f"{day:%Y-%m-%dT%H:%M:%S}" for day in DAYS],
    "one zone": [f"{day:%Y-%m-%d %H:%M}+02:00" for day in DAYS],
    "several zones": [f"{day:%Y-%m-%dT%H:%M}{['Z', '+05:30', '-0800'][i % 3]}" for i, day in enumerate(DAYS)],
    "years": [f"{day.year - 2000 + i % 4}" for i, day in enumerate(DAYS)],
    "truths": [["True", "False"][g] for g in GROUP],
    "lower truths": [["true", "false"][g] for g in GROUP],
    "yes or no": some([["yes", "no"][g] for g in GROUP], ""),
    "zero or one": [str(g) for g in GROUP],
    "one and one point": [["1.0", "1", "2", "3.50"][i % 4] for i in range(N_ROWS)],
    "mixed": [["Rome", "3", "4.5", "n/a", "Oslo"][i % 5] for i in range(N_ROWS)],
    "categories": some([["Köln", "Oslo", "New York"][i % 3] for i in range(N_ROWS)], "", "-"),
    "texts": [f'said "{i}",\nthen; left' for i in range(N_ROWS)],
    "one value": ["DE"] * N_ROWS,
    "no value": [""] * N_ROWS,
}


def beside_numbers(name):
    """Return a frame of texts: a column beside two of plain numbers."""
    return pd.DataFrame({"x": [str(x) for x in SMALL], "y": [f"{x:.0f}" for x in NUMBERS], name: COLUMNS[name]})
