"""Markdown tables drawn from result files alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.running import Line

Results = dict[tuple[str, str], Line]
NOT_GENERATED = ("real", "paper")


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def untuned_table(results: Results, *, methods: list[str] | None = None, families: list[str] | None = None) -> str:
    """Return mean ARI by family and method, wins, and how often the number of clusters is right.

    Only sets that every shown method has run are averaged. Sets of one cluster enter only the
    last row, and that row has a figure only for methods that choose the number.
    """
    results = {k: v for k, v in results.items() if families is None or v["family"] in families}
    names = methods or list(dict.fromkeys(method for _, method in results))
    sets = _common_sets(results, names)
    ari = {name: {s: results[s, name]["ari"] for s in sets} for name in names}
    of_family: dict[str, list[str]] = {}
    for chosen in sets:
        of_family.setdefault(results[chosen, names[0]]["family"], []).append(chosen)

    def row(title: str, chosen: Sequence[str], figure: Callable[[str], str]) -> list[str]:
        return [f"{title} ({len(chosen)})", *(figure(name) for name in names)]

    def mean_row(title: str, chosen: Sequence[str]) -> list[str]:
        return row(title, chosen, lambda name: f"{np.mean([ari[name][s] for s in chosen]):.3f}")

    generated = [s for f, chosen in of_family.items() if f not in NOT_GENERATED for s in chosen]
    stored = [s for f, chosen in of_family.items() if f in NOT_GENERATED for s in chosen]
    rows = [mean_row(family, chosen) for family, chosen in of_family.items()]
    groups = [("**generated and toy**", generated), ("**real and paper**", stored)]
    rows += [mean_row(title, chosen) for title, chosen in [*groups, ("**all**", sets)] if chosen]
    best = {s: max(ari[name][s] for name in names) for s in sets}
    rows.append(row("wins", sets, lambda name: str(sum(ari[name][s] >= best[s] - 1e-9 for s in sets))))
    clear = sorted({line["set"] for line in results.values() if line["clear"]})
    rows.append(row("number right on clear sets", clear, lambda name: _share(results, name)))
    return markdown(["sets", *names], rows)


def untuned_summary(results: Results) -> str:
    """Return one row a method: what it is told, mean ARI over generated and over real sets, right numbers."""
    names = list(dict.fromkeys(method for _, method in results))
    sets = _common_sets(results, names)
    stored = [s for s in sets if results[s, names[0]]["family"] in NOT_GENERATED]
    rows = []
    for name in names:
        means = [
            np.mean([results[s, name]["ari"] for s in chosen])
            for chosen in (sets, [s for s in sets if s not in set(stored)], stored)
        ]
        known = results[sets[0], name]["known"]
        rows.append((known, -means[0], [name, known, *(f"{mean:.3f}" for mean in means), _share(results, name)]))
    others = len(sets) - len(stored)
    header = [
        "method",
        "told",
        f"all {len(sets)}",
        f"generated {others}",
        f"real and paper {len(stored)}",
        "right number",
    ]
    order = {"proportions": 0, "number": 1, "nothing": 2}
    return markdown(header, [row for _, _, row in sorted(rows, key=lambda r: (order[r[0]], r[1]))])


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
