"""A messy table from file to report, as a new user would: ``python -m benchmarks customers [--rows N]``.

Customers with ids, texts, dates, yes/no, money and gaps are written as a gz-compressed CSV in Latin-1. The command line
fits, labels, profiles, explains two of them by id and writes a report; every number that it tells is worked out again
with pandas from the file. What is printed is the transcript; one line goes to ``results/customers.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import gitcluster
from benchmarks.running import FOLDER, describe_run, record
from gitcluster.metrics import adjusted_rand_score

RESULTS = FOLDER / "customers.jsonl"
NUMBERS = ["age", "visits", "spent"]
DATES = ["since", "last order"]
DAY = pd.Timedelta("1D")


def main(arguments: Sequence[str]) -> None:
    """Go through all commands and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks customers", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, metavar="N")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        checks = Checks(Path(folder))
        frame, group = make_customers(options.rows)
        frame.to_csv(Path(folder) / "customers.csv.gz", sep=";", decimal=",", index=False, encoding="latin-1")
        start = perf_counter()
        line = run_commands(checks, group)
    line |= {"rows": options.rows, "seconds": round(perf_counter() - start, 1)}
    record(RESULTS, line | {"checked": checks.count, "wrong": checks.wrong} | describe_run("customers", arguments))
    sys.exit(1 if checks.wrong else 0)


def make_customers(n_rows: int) -> tuple[pd.DataFrame, Any]:
    """Four groups of customers, and what else a shop keeps of them."""
    rng = np.random.default_rng(19)
    group = rng.choice(4, n_rows, p=[0.4, 0.3, 0.2, 0.1])
    plans = np.array(["Basis", "Familie", "Größe L", "Gold"])
    start = np.array(["2016-01-01", "2019-01-01", "2013-01-01", "2021-06-01"], dtype="datetime64[D]")[group]
    frame = pd.DataFrame(
        {
            "age": (np.array([28, 45, 63, 38])[group] + 4 * rng.normal(size=n_rows)).round(),
            "visits": rng.poisson(np.array([30, 9, 3, 16])[group]),
            "spent": np.exp(np.array([5.0, 6.5, 6.0, 8.0])[group] + 0.3 * rng.normal(size=n_rows)).round(2),
            "plan": np.where(rng.random(n_rows) < 0.85, plans[group], rng.choice(plans, n_rows)),
            "newsletter": rng.choice(["ja", "nein"], n_rows),
            "since": start + rng.integers(0, 300, n_rows).astype("timedelta64[D]"),
            "last order": np.datetime64("2024-01-01") + rng.integers(0, 365, n_rows).astype("timedelta64[D]"),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.02)
    frame.insert(0, "customer", [f"K{i:06d}" for i in rng.permutation(n_rows)])
    frame["note"] = [f"Notiz {i} für Müller" for i in rng.integers(0, 10 * n_rows, n_rows)]
    for name in DATES:
        frame[name] = frame[name].dt.strftime("%d.%m.%Y")
    frame["visits"] = frame["visits"].astype("Int64")
    frame["age"] = frame["age"].astype("Int64")
    return frame, group


class Checks:
    """Runs commands in a folder and counts what was compared."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count, self.wrong = folder, 0, 0

    def run(self, *words: str) -> str:
        """What a command prints; the transcript shows it too."""
        print("$ gitcluster", *words)
        own = os.environ | {"PYTHONPATH": str(Path(gitcluster.__file__).parents[1])}  # of this checkout, anywhere
        command = [sys.executable, "-m", "gitcluster", *words]
        done = subprocess.run(command, cwd=self.folder, env=own, capture_output=True, text=True, check=True)
        print(done.stderr + (done.stdout if "--json" not in words else f"({len(done.stdout):,} characters)\n"))
        return done.stdout

    def same(self, what: str, told: Any, expected: Any, tolerance: float = 1e-6) -> None:
        """Compare a number or a text."""
        self.count += 1
        if isinstance(expected, float):
            there = told is not None and not pd.isna(told)
            fits = pd.isna(expected) != there and (not there or np.isclose(told, expected, rtol=tolerance, atol=1e-9))
        else:
            fits = told == expected
        if not fits:
            self.wrong += 1
            print(f"WRONG {what}: {told!r}, pandas says {expected!r}", file=sys.stderr)


def run_commands(checks: Checks, group: Any) -> dict[str, Any]:
    """All commands, each compared."""
    source = ("customers.csv.gz", "--id", "customer")
    checks.run("fit", *source, "--with-data", "-o", "labelled.csv", "--save", "model.npz")
    texts = {"dtype": str, "keep_default_na": False}
    before = pd.read_csv(checks.folder / "customers.csv.gz", sep=";", encoding="latin-1", **texts)
    after = pd.read_csv(checks.folder / "labelled.csv", sep=None, engine="python", **texts)
    for name in before:
        checks.same(f"column {name}", after[name].tolist(), before[name].tolist())
    labels = after["cluster"].astype(int)
    table = as_numbers(before)
    check_profile(checks, json.loads(checks.run("profile", "model.npz", source[0], "--json")), table, labels)
    check_pair(checks, before, labels)
    checks.run("profile", "model.npz", source[0])
    checks.run("report", "model.npz", source[0], "-o", "report.html")
    page = (checks.folder / "report.html").read_text()
    for cluster, size in labels.value_counts().items():
        row = f"</i>{cluster}</td><td>{size:,}</td><td>{size / len(labels):.1%}</td>"
        checks.same(f"size of {cluster} in the report", row in page, True)
    ari = round(float(adjusted_rand_score(group, labels.to_numpy())), 4)
    return {"clusters": int(labels.nunique()), "ari": ari}


def as_numbers(texts: pd.DataFrame) -> pd.DataFrame:
    """Return the columns as they are compared: numbers, and days since 1970."""
    table = texts.copy()
    for name in NUMBERS:
        table[name] = pd.to_numeric(table[name].str.replace(",", "."))
    for name in DATES:
        table[name] = (pd.to_datetime(table[name], format="%d.%m.%Y") - pd.Timestamp(0)) / DAY
    return table


def check_profile(checks: Checks, told: dict[str, Any], table: pd.DataFrame, labels: Any) -> None:
    """Every mean, share and effect, against all other rows and the nearest cluster."""
    for row in told["columns"]:
        inside, near = labels == row["cluster"], labels == row["nearest"]
        values, what = table[row["column"]], f"{row['column']} in {row['cluster']}"
        if row["value"] is None:
            parts = [float(values[rows].mean()) for rows in (inside, ~inside, near)]
            effects = [(parts[0] - other) / values.std(ddof=0) for other in parts[1:]]
        else:
            known = values != ""
            parts = [float((values[rows & known] == row["value"]).mean()) for rows in (inside, ~inside, near)]
            arcs = [2 * np.arcsin(np.sqrt(share)) for share in parts]
            effects = [arcs[0] - other for other in arcs[1:]]
        for name, expected in zip(("inside", "elsewhere", "in_nearest"), parts, strict=True):
            checks.same(f"{name} of {what}", row[name], expected)
        for name, expected in zip(("effect", "effect_nearest"), effects, strict=True):
            checks.same(f"{name} of {what}", row[name], float(expected), 1e-5)
    for rule in told["rules"]:
        meets, inside = meets_rule(rule["rule"], table), labels == rule["cluster"]
        checks.same(f"coverage of {rule['rule']}", rule["coverage"], float(meets[inside].mean()))
        checks.same(f"precision of {rule['rule']}", rule["precision"], float(inside[meets].mean()))


def meets_rule(rule: str, table: pd.DataFrame) -> Any:
    """Which rows meet a rule, as a reader of its words would find out."""
    meets = pd.Series(True, table.index)
    for words in rule.split(" and "):
        if " is " in words:
            name, _, value = words.partition(" is ")
            known, other = table[name] != "", value.removeprefix("not ")
            meets &= known & ((table[name] != other) if value.startswith("not ") else (table[name] == other))
            continue
        low, name, high = re.fullmatch(r"(?:(\S+) < )?(.*?)(?: (?:<= )?((?:> )?\S+))?", words).groups()  # type: ignore[union-attr]
        values = table[name]
        if high is not None and high.startswith("> "):
            low, high = high[2:], None
        meets &= (values > _limit(low, -np.inf)) & (values <= _limit(high, np.inf))
    return meets


def _limit(words: str | None, otherwise: float) -> float:
    """A limit of a rule: a number, or a day as days since 1970."""
    if words is None:
        return otherwise
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", words):
        return float((pd.Timestamp(words) - pd.Timestamp(0)) / DAY)
    return float(words.replace(",", ""))


def check_pair(checks: Checks, before: pd.DataFrame, labels: Any) -> None:
    """Two customers of different clusters: their values as they are in the file."""
    complete = (before != "").all(axis=1)
    first = int(np.flatnonzero(complete)[0])
    second = int(np.flatnonzero(complete & (labels != labels[first]))[0])
    ids = [before["customer"][row] for row in (first, second)]
    checks.run("explain", "model.npz", *ids)
    told = json.loads(checks.run("explain", "model.npz", *ids, "--json"))
    for difference in told["differences"]:
        name = difference["column"]
        for side, row in (("first", first), ("second", second)):
            cell = before[name][row]
            if name in NUMBERS:
                cell = f"{float(cell.replace(',', '.')):,.6g}"
            elif name in DATES:
                cell = pd.to_datetime(cell, format="%d.%m.%Y").strftime("%Y-%m-%d")
            checks.same(f"{name} of {ids}", difference[side], cell)
