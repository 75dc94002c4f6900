"""Markdown tables of the accuracy experiments, from stored lines alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.reporting.published import COMPETITORS, PUBLISHED, Row
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store

GROUPS = {
    "small": ("iris", "wine", "hepatitis", "cancer"),
    "shapes": ("toy_circles", "toy_moons", "toy_impossible", "toy_s-set", "toy_smile", "toy_chainlink"),
    "large": ("olivetti", "frogs", "codon", "mnist", "fmnist"),
    "sizes": ("frogs", "codon"),
}
READINGS = ("GIT literal", "GIT algorithm 2")
"""Other readings of the paper's text."""
ARBITRARY = {(name, "spectral") for name in ("wine", "hepatitis", "cancer", "olivetti", "toy_s-set")}
"""Where the published kernel underflows, so that any result is as good as another."""
SEEDED = ("SpectACl", "spectral", "k-means++")
"""Methods that draw at random."""
SEEDS = 10
SIZES_METHODS = ("GIT proportions", "k-means-constrained", "GIT", "k-means++")
COVERED = 0.8
"""The paper leaves out results that cover less."""
CLOSE = 0.005


class Measure(NamedTuple):
    """A row of a set: how to read it from a stored line and from a published row, and which results may be the best."""

    title: str
    here: Callable[[Line], float | None]
    published: Callable[[Row], float | None] = lambda _: None
    is_score: bool = True
    least_cover: float = 0.0
    seeds: str = ""
    """The counting whose F1 of every seed a line may have."""


def _scores(counting: str) -> list[Measure]:
    def measure(place: int, title: str) -> Measure:
        here = Measure(title, lambda line: line[counting][place], seeds=counting if title == "F1" else "")
        if counting == "optimal":
            return here
        return here._replace(published=lambda row: row.scores[place], least_cover=COVERED)

    return [measure(place, title) for place, title in enumerate(("F1", "ARI", "NMI"))]


COVER = Measure("cover", lambda line: line["cover"], lambda row: row.scores[3], is_score=False)
SECONDS = Measure("seconds", lambda line: line["seconds"], lambda row: row.seconds, is_score=False)
CPU = Measure("seconds of CPU", lambda line: line.get("cpu"), is_score=False)
TIMES = {"large": (SECONDS, CPU), "sizes": (SECONDS, CPU)}
"""Groups whose seconds are told; small sets and shapes take fractions of one, and the paper has none there."""
OPTIMAL_F1 = Measure("F1, optimal matching, noise wrong", lambda line: line["optimal"][0], seeds="optimal")


def stored(folder: Path = FOLDER) -> Store:
    """The stored results."""
    return Store(folder / "accuracy.jsonl", ("set", "method", "setting"))


def both_tables(store: Store, group: str) -> str:
    """The tables of a group by the published protocol and by the untuned one, and what failed."""
    if group == "sizes":
        return sizes_table(store)
    parts = [published_table(store, group), untuned_table(store, group), failures(store, group)]
    return "\n\n".join(part for part in parts if part)


def published_table(store: Store, group: str) -> str:
    """Published parameters and counting, in brackets the published figure; GIT's default beside them."""
    columns = {
        "GIT, published": ("", ""),
        "`authors`": ("published", "GIT authors"),
        "`paper`": ("published", "GIT paper"),
        "default": ("untuned", "GIT"),
        "default, proportions": ("untuned", "GIT proportions"),
    } | {name: ("published", name) for name in COMPETITORS}
    return _table(store, group, columns, [*_scores("published"), COVER, OPTIMAL_F1, *TIMES.get(group, ())])


def untuned_table(store: Store, group: str) -> str:
    """The same scaled data and fixed rules for all; optimal matching, noise wrong, raw ARI and NMI."""
    columns = {
        "GIT": ("untuned", "GIT"),
        "GIT, proportions": ("untuned", "GIT proportions"),
        "`paper`, k=8": ("untuned", "GIT paper"),
        "`authors`, k=8": ("untuned", "GIT authors"),
    } | {name: ("untuned", name) for name in COMPETITORS}
    return _table(store, group, columns, [*_scores("optimal"), COVER, *TIMES.get(group, ())])


def sizes_table(store: Store) -> str:
    """Methods told the class sizes, beside the same told the number."""
    columns = {name: ("sizes", name) for name in SIZES_METHODS}
    return _table(store, "sizes", columns, [*_scores("optimal"), *TIMES["sizes"]])


def _table(store: Store, group: str, columns: dict[str, tuple[str, str]], measures: Sequence[Measure]) -> str:
    sets = [name for name in GROUPS[group] if any(line["set"] == name for line in store.lines.values())]
    shown = {title: place for title, place in columns.items() if place == ("", "") or _any(store, sets, place)}
    rows = []
    for name in sets:
        lines = {title: _line(store, name, place) for title, place in shown.items()}
        for measure in measures:
            row = [name.removeprefix("toy_"), measure.title, *_cells(name, lines, measure)]
            if any(row[2:]):
                rows.append(row)
        if any(line and line.get("samples", line["of"]) < line["of"] for line in lines.values()):
            rows.append([name, "samples", *(_samples(line) for line in lines.values())])
    return markdown(["set", "", *shown], rows)


def _any(store: Store, sets: Iterable[str], place: tuple[str, str]) -> bool:
    return any(_line(store, name, place) for name in sets)


def _line(store: Store, name: str, place: tuple[str, str]) -> Line | None:
    setting, method = place
    return store.lines.get((name, method, setting))


def _cells(name: str, lines: dict[str, Line | None], measure: Measure) -> list[str]:
    """The figures of a row, in brackets the published one; the best in bold."""
    ended = {title: line for title, line in lines.items() if line and "error" not in line}
    may_win = [line for line in ended.values() if measure.is_score and line["cover"] >= measure.least_cover]
    best = max((measure.here(line) for line in may_win), default=None)
    cells = []
    for title, line in lines.items():
        if title == "GIT, published":
            cells.append(_figure(measure.published(PUBLISHED[name]["GIT"]), measure))
            continue
        cell = "failed" if line else ""
        if title in ended:
            cell = _figure(measure.here(ended[title]), measure)
            if ended[title] in may_win and cell == _figure(best, measure):
                cell = f"**{cell}**"
            cell += _spread(ended[title], measure)
        beside = _beside(PUBLISHED[name].get(title), measure) if line and line["setting"] == "published" else ""
        cells.append(cell + beside)
    return cells


def _spread(line: Line, measure: Measure) -> str:
    """Standard deviation of F1 over seeds."""
    seeds = line.get(f"seeds {measure.seeds}", [])
    return f" ± {np.std(seeds):.3f}".replace("0.", ".", 1) if seeds else ""


def _beside(row: Row | None, measure: Measure) -> str:
    if row is None or measure.published(row) is None:
        return ""
    printed = f", printed {_figure(row.printed, measure)}" if measure.title == "F1" and row.printed else ""
    return f" ({_figure(measure.published(row), measure)}{printed})"


def _figure(value: float | None, measure: Measure) -> str:
    if value is None:
        return ""
    if measure.title.startswith("seconds"):
        return f"{value:.3f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"
    return f"{value:.3f}".replace("0.", ".", 1)


def _samples(line: Line | None) -> str:
    return "" if line is None or "error" in line else f"{line['samples']:,}"


def failures(store: Store, group: str) -> str:
    """What failed or was stopped, as a list."""
    notes = [
        f"- {line['set'].removeprefix('toy_')}, {line['method']}, {line['setting']} parameters: "
        + (line.get("error") or f"{line['samples']:,} samples; {line['stopped']}")
        for line in store.lines.values()
        if line["set"] in GROUPS[group] and line["setting"] != "sizes" and ("error" in line or "stopped" in line)
    ]
    return "\n".join(notes)


def compared(store: Store) -> Iterator[tuple[Line, float]]:
    """Lines by the published protocol, each with the published F1; those that are arbitrary are left out."""
    for line in store.lines.values():
        row = PUBLISHED[line["set"]].get(line["method"].removesuffix(" authors"))
        arbitrary = (line["set"], line["method"]) in ARBITRARY
        if line["setting"] == "published" and row and row.scores[0] and "error" not in line and not arbitrary:
            yield line, row.scores[0]


def gaps_table(store: Store) -> str:
    """Rows whose F1 by the published protocol is not within .005 of the published one; of seeds the mean counts."""
    rows = []
    for line, published in compared(store):
        gap = line["published"][0] - published
        if abs(gap) > CLOSE:
            size = "" if line["samples"] == line["of"] else f" ({line['samples']:,} samples)"
            figures = [f"{published:.3f}", f"{line['published'][0]:.3f}", f"{gap:+.3f}", _range(line)]
            rows.append([line["set"].removeprefix("toy_"), line["method"] + size, *figures])
    header = ["set", "method", "published F1", "here", "difference", "seeds, from to"]
    return markdown(header, sorted(rows, key=_git_first))


def _range(line: Line) -> str:
    seeds = line.get("seeds published")
    return f"{len(seeds)}: {min(seeds):.3f} to {max(seeds):.3f}" if seeds else ""


def _git_first(row: Sequence[Any]) -> tuple[bool, str]:
    return not row[1].startswith("GIT"), row[1]


def close_rows(store: Store) -> str:
    """How many rows were compared, and how many agree."""
    lines = list(compared(store))
    close = sum(abs(line["published"][0] - published) <= CLOSE for line, published in lines)
    within = sum(
        min(line["seeds published"]) - CLOSE <= published <= max(line["seeds published"]) + CLOSE
        for line, published in lines
        if "seeds published" in line and abs(line["published"][0] - published) > CLOSE
    )
    return (
        f"{close} of {len(lines)} rows are within {CLOSE} of the published F1; of the others, {within} have the "
        f"published figure between their seeds. {len(ARBITRARY)} rows of spectral clustering are not counted: the "
        "published kernel underflows there, and what comes out is arbitrary."
    )


def seed_counts(store: Store) -> str:
    """Of how many seeds the figures of methods that draw are means."""
    fewer: dict[tuple[str, int, str], list[str]] = {}
    for (name, method, setting), line in sorted(store.lines.items()):
        number = len(line.get("seeds published", [0]))
        if method in SEEDED and number < SEEDS and "error" not in line:
            fewer.setdefault((method, number, setting), []).append(name.removeprefix("toy_"))
    parts = [
        f"{method}, {setting}, on {', '.join(names)}: {number}" for (method, number, setting), names in fewer.items()
    ]
    methods = " and ".join([", ".join(SEEDED[:-1]), SEEDED[-1]])
    return f"Figures of {methods} are means of {SEEDS} seeds, with their standard deviation. " + (
        f"Fewer seeds: {'; '.join(sorted(parts))}." if parts else ""
    )


def readings_table(store: Store) -> str:
    """F1 as published of the readings of the paper's text, with the published k."""
    columns = {"`paper`": "GIT paper", "`paper-literal`": READINGS[0], "`paper-algorithm2`": READINGS[1]}
    rows = []
    for name in [name for group in ("small", "shapes", "large") for name in GROUPS[group]]:
        lines = [_line(store, name, ("published", method)) for method in columns.values()]
        if all(lines):
            cells = [f"{line['published'][0]:.3f}" for line in lines if line]
            published = PUBLISHED[name]["GIT"]
            rows.append([f"{name.removeprefix('toy_')} (k={published.options['n_neighbors']})", *cells])
            rows[-1].append(f"{published.scores[0]:.3f}")
    return markdown(["F1", *columns, "published"], rows)


def git_table(store: Store) -> str:
    """GIT alone: the published figures, the two published variants by the published protocol, the default untuned."""
    columns = {
        "`authors`, published k and counting": ("published", "GIT authors", "published"),
        "`paper`, published k": ("published", "GIT paper", "optimal"),
        "`paper`, k=8": ("untuned", "GIT paper", "optimal"),
        "default, number": ("untuned", "GIT", "optimal"),
        "default, proportions": ("untuned", "GIT proportions", "optimal"),
    }
    rows = []
    for name in [name for group in ("small", "shapes", "large") for name in GROUPS[group]]:
        row = PUBLISHED[name]["GIT"]
        cells = [f"{_triple(row.scores)} (k={row.options['n_neighbors']})"]
        for setting, method, counting in columns.values():
            line = _line(store, name, (setting, method))
            cells.append(_triple(line[counting]) if line and "error" not in line else "")
        rows.append([name.removeprefix("toy_"), *cells])
    return markdown(["F1 / ARI / NMI", "published", *columns], rows)


def _triple(scores: Sequence[float | None]) -> str:
    return " / ".join(f"{score:.3f}".replace("0.", ".", 1) for score in scores[:3] if score is not None)
