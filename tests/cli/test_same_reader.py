"""A table means the same in a file as in Python: the same columns, the same labels, whatever its cells look like."""

import csv

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT

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


def check_same(frame, run, *options, **parameters):
    """Fit a frame of texts in Python, and the same in a file on the command line."""
    frame.to_csv("t.csv", index=False, quoting=csv.QUOTE_MINIMAL)
    model = GIT(2, **parameters).fit(frame)
    code, _, err = run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q", "-o", "l.csv", *options)
    assert code == 0, err
    loaded = GIT.load("m.npz")
    assert str(loaded.columns_) == str(model.columns_)
    assert list(loaded.columns_) == list(model.columns_)
    assert pd.read_csv("l.csv")["cluster"].tolist() == model.labels_.tolist()
    assert run("predict", "m.npz", "t.csv", "-o", "p.csv", "-q")[0] == 0
    assert pd.read_csv("p.csv")["cluster"].tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.filterwarnings("ignore")
def test_a_column_means_the_same(folder, run, name):
    check_same(
        pd.DataFrame({"x": [str(x) for x in SMALL], "y": [f"{x:.0f}" for x in NUMBERS], name: COLUMNS[name]}), run
    )


@pytest.mark.parametrize("others", [[], ["plain"], ["gaps"], ["decimal comma"], ["decimal comma", "plain"]])
@pytest.mark.filterwarnings("ignore")
def test_columns_mean_the_same_beside_others(folder, run, others):
    """A column that allows both decimal marks is read as the others need."""
    check_same(pd.DataFrame({name: COLUMNS[name] for name in ["either mark", "integers", *others]}), run)


@pytest.mark.filterwarnings("ignore")
def test_a_table_means_the_same(folder, run):
    check_same(pd.DataFrame(COLUMNS), run)


@pytest.mark.filterwarnings("ignore")
def test_requested_kinds_mean_the_same(folder, run):
    names = ["plain", "integers", "one and one point", "zero or one"]
    kinds = {"one and one point": "categorical", "integers": "log", "zero or one": "ordinal"}
    options = ("--categorical", "one and one point", "--log", "integers", "--ordinal", "zero or one")
    check_same(pd.DataFrame({name: COLUMNS[name] for name in names}), run, *options, columns=kinds)
