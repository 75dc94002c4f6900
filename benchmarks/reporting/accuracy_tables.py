"""Markdown tables of the accuracy experiments, from stored lines alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reporting.published import COMPETITORS, PUBLISHED, Row
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store

GROUPS = {
    "small": ("iris", "wine", "hepatitis", "cancer"),
    "shapes": ("toy_circles", "toy_moons", "toy_impossible", "toy_s-set", "toy_smile", "toy_chainlink"),
    "large": ("olivetti", "frogs", "codon", "mnist", "fmnist"),
    "sizes": ("frogs", "codon"),
}
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


def _scores(counting: str) -> list[Measure]:
    def measure(place: int, title: str) -> Measure:
        here = Measure(title, lambda line: line[counting][place])
        if counting == "optimal":
            return here
        return here._replace(published=lambda row: row.scores[place], least_cover=COVERED)

    return [measure(place, title) for place, title in enumerate(("F1", "ARI", "NMI"))]


COVER = Measure("cover", lambda line: line["cover"], lambda row: row.scores[3], is_score=False)
SECONDS = Measure("seconds", lambda line: line["seconds"], lambda row: row.seconds, is_score=False)
CPU = Measure("seconds of CPU", lambda line: line.get("cpu"), is_score=False)
OPTIMAL_F1 = Measure("F1, optimal matching, noise wrong", lambda line: line["optimal"][0])


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
        "authors' variant": ("published", "GIT authors"),
        "paper's text": ("published", "GIT paper"),
        "default": ("untuned", "GIT"),
        "default, proportions": ("untuned", "GIT proportions"),
    } | {name: ("published", name) for name in COMPETITORS}
    return _table(store, group, columns, [*_scores("published"), COVER, OPTIMAL_F1, SECONDS, CPU])


def untuned_table(store: Store, group: str) -> str:
    """The same scaled data and fixed rules for all; optimal matching, noise wrong, raw ARI and NMI."""
    columns = {
        "GIT": ("untuned", "GIT"),
        "GIT, proportions": ("untuned", "GIT proportions"),
        "paper's text, k=8": ("untuned", "GIT paper"),
        "authors' variant, k=8": ("untuned", "GIT authors"),
    } | {name: ("untuned", name) for name in COMPETITORS}
    return _table(store, group, columns, [*_scores("optimal"), COVER, SECONDS, CPU])


def sizes_table(store: Store) -> str:
    """Methods told the class sizes, beside the same told the number."""
    columns = {name: ("sizes", name) for name in SIZES_METHODS}
    return _table(store, "sizes", columns, [*_scores("optimal"), SECONDS, CPU])


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
        beside = _beside(PUBLISHED[name].get(title), measure) if line and line["setting"] == "published" else ""
        cells.append(cell + beside)
    return cells


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


def gaps_table(store: Store) -> str:
    """Rows whose F1 by the published protocol is not within .005 of the published one."""
    rows = []
    for line in store.lines.values():
        row = PUBLISHED[line["set"]].get(line["method"].removesuffix(" authors"))
        if line["setting"] != "published" or line["method"] == "GIT paper" or row is None or "error" in line:
            continue
        gap = line["published"][0] - (row.scores[0] or 0)
        if abs(gap) > CLOSE:
            size = "" if line["samples"] == line["of"] else f" ({line['samples']:,} samples)"
            figures = [f"{row.scores[0]:.3f}", f"{line['published'][0]:.3f}", f"{gap:+.3f}"]
            rows.append([line["set"].removeprefix("toy_"), line["method"] + size, *figures])
    return markdown(["set", "method", "published F1", "here", "difference"], sorted(rows, key=_git_first))


def _git_first(row: Sequence[Any]) -> tuple[bool, str]:
    return not row[1].startswith("GIT"), row[1]


def close_rows(store: Store) -> str:
    """How many rows were compared, and how many agree."""
    gaps = gaps_table(store).count("\n") - 1
    compared = [
        line
        for line in store.lines.values()
        if line["setting"] == "published"
        and line["method"] != "GIT paper"
        and "error" not in line
        and line["method"].removesuffix(" authors") in PUBLISHED[line["set"]]
    ]
    return f"{len(compared) - gaps} of {len(compared)} rows are within {CLOSE} of the published F1."


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
