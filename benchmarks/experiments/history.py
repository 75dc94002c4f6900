"""Follow a year of monthly customer tables with planted events: ``python -m benchmarks history``.

Customers stay, leave and join, and their values vary from month to month. Planted are a birth, a split, a merge, a
drift and the end of a group. Every month is fitted with ``previous`` and compared with the month before. An event is
found if it has the right kind and groups in its month. Every other event is a false alarm.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task
from gitcluster import GIT, compare
from gitcluster.datasets import make_customers

EVENTS = {3: ("born", "students"), 5: ("split", "regular"), 7: ("merged", "gold"), 9: ("moved", "senior"),
          11: ("died", "families")}  # fmt: skip
FIELDS = ("seed", "setting")
SETTINGS = {
    "customers known": 1.0,
    "customers unknown": 1.0,
    "wide groups": 1.6,
    "shuffled rows": 1.0,
    "one thread": 1.0,
}
"""Settings, with the spread within groups."""


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield ten years in every setting; ``--quick`` yields one year."""
    for setting in list(SETTINGS)[: 1 if options.quick else None]:
        for seed in range(1 if options.quick else 10):
            yield {"seed": seed, "setting": setting}, partial(follow_year, seed, setting)


def follow_year(seed: int, setting: str) -> Line:
    """Return the events that were found in one year, false alarms, and the share of rows with the right number."""
    model, numbers = None, dict[str, int]()
    found: list[str] = []
    alarms: list[str] = []
    right, digest = [], hashlib.sha256()
    for month, (table, group) in enumerate(make_customers(spread=SETTINGS[setting], random_state=seed), 1):
        if setting == "shuffled rows":
            order = np.random.default_rng(month).permutation(len(table))
            table, group = table.iloc[order], group[order]
        known = setting != "customers unknown"
        X = table if known else table.reset_index(drop=True)
        previous, model = model, GIT(n_jobs=1 if setting == "one thread" else 2).fit(X, previous=model)
        labels = pd.Series(model.labels_, table.index)
        digest.update(labels.sort_index().to_numpy().tobytes())
        own = {name: int(labels[group == name].mode()[0]) for name in np.unique(group)}
        expected = EVENTS.get(month)
        if previous is not None:
            names = {str(number): name for name, number in own.items()} | {str(n): name for name, n in numbers.items()}
            for event in compare(previous, model, None if known else X).events:
                groups = [names.get(title, "?") for title in (*event.before, *event.after)]
                is_right = expected is not None and event.kind == expected[0] and expected[1] in groups
                (found if is_right else alarms).append(f"{month} {event.kind} {'/'.join(dict.fromkeys(groups))}")
        for name in own:  # the number that a user would assign: a group keeps the one it has
            numbers.setdefault(name, own[name])
        right.append(np.mean([labels[group == name].eq(numbers[name]).mean() for name in own]))
    return {"found": sorted(set(found)), "alarms": alarms, "right": float(np.mean(right)), "digest": digest.hexdigest()}


def history_table() -> str:
    """Return the events that were found, false alarms and right numbers over all years."""
    lines = list(Store("history", FIELDS).lines.values())
    rows = []
    for setting in SETTINGS:
        years = [line for line in lines if line["setting"] == setting]
        found = [
            f"{sum(any(one.startswith(f'{month} {kind}') for one in line['found']) for line in years)} of {len(years)}"
            for month, (kind, _) in EVENTS.items()
        ]
        right = np.mean([line["right"] for line in years]) if years else 0.0
        rows.append([setting, *found, str(sum(len(line["alarms"]) for line in years)), f"{right:.1%}"])
    kinds = [kind for kind, _ in EVENTS.values()]
    return markdown(["setting", *kinds, f"false alarms in {len(years) * 11} comparisons", "right number"], rows)


TABLES = {"history": history_table}
