"""Rules for tables on many tables that are drawn: ``python -m benchmarks drawn [--draws N] [--version NAME]``.

Groups in numbers and categories, with 0, 1, 3 and 10 numbers added that have nothing to do with them; and groups in
answers on a scale, given as numbers, as values in an order, and as categories. Every fit is told the number of groups,
or nothing. ``--version`` names the lines in ``results/drawn.jsonl``: with the ``src`` folder of an earlier one first in
PYTHONPATH, its answers are stored beside those of this one.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Store, describe_run
from benchmarks.suite.drawn_tables import add_numbers, draw_answers, draw_groups
from gitcluster import GIT

RESULTS = FOLDER / "drawn.jsonl"
FIELDS = ("version", "design", "seed")
ADDED = (0, 1, 3, 10)
DESIGNS = (*(f"{count} added" for count in ADDED), "answers as numbers", "answers in order", "answers as categories")


def main(arguments: Sequence[str]) -> None:
    """Fit what is not stored, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks drawn", description=__doc__)
    parser.add_argument("--draws", type=int, default=40, metavar="N")
    parser.add_argument("--version", default="now", choices=("before", "now"))
    options = parser.parse_args(arguments)
    stored = Store(RESULTS, FIELDS)
    for seed in range(options.draws):
        for design, frame, group, asked in _tables(seed):
            if (options.version, design, seed) in stored.lines:
                continue
            line = {"version": options.version, "design": design, "seed": seed, "rows": len(frame)}
            for name, number in (("told", len(np.unique(group))), ("nothing", None)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = GIT(number, columns=asked).fit_predict(frame)
                line[name] = round(float(adjusted_rand_score(group, labels)), 4)
            stored.add(line | describe_run("drawn", arguments))
            print(*list(line.values())[:6], file=sys.stderr)
    print(table())


def _tables(seed: int) -> Iterator[tuple[str, pd.DataFrame, Any, dict[str, Any] | None]]:
    frame, group = draw_groups(seed)
    for count in ADDED:
        yield f"{count} added", add_numbers(frame, seed, count), group, None
    frame, group = draw_answers(seed)
    answers = [name for name in frame if name.startswith("answer")]
    words = frame.assign(**{name: frame[name].map("level {}".format) for name in answers})
    yield "answers as numbers", frame, group, None
    yield "answers in order", words, group, {name: sorted(set(words[name])) for name in answers}
    yield "answers as categories", words, group, None


def table() -> str:
    """Mean scores of both versions, and what added numbers cost at most and how often more than a tenth."""
    lines = pd.DataFrame(list(Store(RESULTS, FIELDS).lines.values()))
    runs = lines.groupby("seed").size()
    lines, rows = lines[lines["seed"].isin(runs[runs == 2 * len(DESIGNS)].index)], []
    for design in DESIGNS:
        row = [design]
        for version in ("before", "now"):
            for known in ("told", "nothing"):
                scores = lines[lines["version"] == version].pivot(index="seed", columns="design", values=known)
                loss = scores["0 added"] - scores[design]
                cost = f" ({loss.max():.2f}, {(loss > 0.1).mean():.0%})" if design in DESIGNS[1:4] else ""
                row.append(f"{scores[design].mean():.3f}{cost}")
        rows.append(row)
    return markdown(
        [
            f"{lines['seed'].nunique()} tables",
            *(f"{v}, {k}" for v in ("before", "now") for k in ("told", "nothing told")),
        ],
        rows,
    )
