"""Markdown tables drawn from result files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.running import Line
from benchmarks.suite import KINDS
from benchmarks.suite.datasets import kind_of

Results = dict[tuple[str, str], Line]
Groups = dict[str, list[str]]


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def untuned_table(results: Results, *, methods: list[str] | None = None, families: list[str] | None = None) -> str:
    """Return mean ARI by family, by kind of data and over kinds, wins, and how often the number of clusters is right.

    Only sets that every shown method has run are averaged. Sets of one cluster enter only the
    last row, and that row has a figure only for methods that choose the number.
    """
    results = {k: v for k, v in results.items() if families is None or v["family"] in families}
    names = methods or _methods(results)
    sets = _common_sets(results, names)
    kinds = _by_kind(results, sets)

    def row(title: str, chosen: Sequence[str], figure: Callable[[str], str]) -> list[str]:
        return [f"{title} ({len(chosen)})", *(figure(name) for name in names)]

    rows = []
    for kind, chosen in kinds.items():
        groups: Groups = {}
        for s in chosen:
            groups.setdefault(results[s, names[0]]["family"], []).append(s)
        for title, some in [*groups.items(), (f"**{kind}**", chosen)]:
            rows.append(row(title, some, lambda name, some=some: f"{_mean(results, name, some):.3f}"))
    rows.append(row("**mean of kinds**", sets, lambda name: f"{_weighed(results, name, kinds):.3f}"))
    best = {s: max(results[s, name]["ari"] for name in names) for s in sets}
    rows.append(row("wins", sets, lambda name: str(sum(results[s, name]["ari"] >= best[s] - 1e-9 for s in sets))))
    clear = sorted({line["set"] for line in results.values() if line["clear"]})
    rows.append(row("number right on clear sets", clear, lambda name: _share(results, name)))
    return markdown(["sets", *names], rows)


def untuned_summary(results: Results) -> str:
    """Return one row per method: what it is told, mean ARI of every kind of data, the mean of these, right numbers."""
    names = _methods(results)
    sets = _common_sets(results, names)
    kinds = _by_kind(results, sets)
    rows = []
    for name in names:
        known, mean = results[sets[0], name]["known"], _weighed(results, name, kinds)
        figures = [f"{value:.3f}" for value in (*(_mean(results, name, some) for some in kinds.values()), mean)]
        rows.append((known, -mean, [name, known, *figures, _share(results, name)]))
    heads = [f"{kind} {len(chosen)}" for kind, chosen in kinds.items()]
    order = {"proportions": 0, "number": 1, "nothing": 2}
    return markdown(
        ["method", "told", *heads, "mean of kinds", "right number on clear sets"],
        [row for _, _, row in sorted(rows, key=lambda r: (order[r[0]], r[1]))],
    )


def _methods(results: Results) -> list[str]:
    """Return the methods of the results, GIT last."""
    return sorted(dict.fromkeys(method for _, method in results), key=lambda name: name.startswith("GIT"))


def _by_kind(results: Results, sets: Sequence[str]) -> Groups:
    """Return the sets of every kind of data."""
    family = {s: line["family"] for (s, _), line in results.items()}
    groups = {kind: [s for s in sets if kind_of(s, family[s]) == kind] for kind in KINDS}
    return {kind: chosen for kind, chosen in groups.items() if chosen}


def _mean(results: Results, name: str, sets: Sequence[str]) -> float:
    return float(np.mean([results[s, name]["ari"] for s in sets]))


def _weighed(results: Results, name: str, kinds: Groups) -> float:
    return float(np.mean([_mean(results, name, sets) for sets in kinds.values()]))


def _common_sets(results: Results, names: Sequence[str]) -> list[str]:
    """Return the sets of more than one cluster that all methods have run."""
    candidates = dict.fromkeys(s for (s, _), line in results.items() if line["classes"] > 1)
    return [s for s in candidates if all((s, name) in results for name in names)]


def _share(results: Results, name: str) -> str:
    """Return the share of clear sets on which a method found the right number of clusters."""
    lines = [v for v in results.values() if v["method"] == name and v["clear"]]
    if not lines or lines[0]["known"] != "nothing":
        return ""
    return f"{np.mean([line['clusters'] == line['classes'] for line in lines]):.0%}"
