"""Reproduce the paper's tables of accuracy: ``python -m benchmarks accuracy [--only group=small,shapes,large]``.

Setting "published": every method with its published parameters for the set, on the data as they are, counted as
published. Setting "untuned": GIT's default with the number of classes or the proportions, counted likewise.

Methods with a random start run with ten seeds on sets of up to 8,000 samples. The line has their means and every F1. A
fit has a process with limits of time and memory. Spectral clustering exceeds them on images and gets a part of them.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import METHODS, compile_search, keep_installed
from benchmarks.reporting.published import COMPETITORS, PUBLISHED, TOP_THREE, Row
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Key, Line, Store, Task, run_in_process, time_call
from benchmarks.scoring import pack_labels, score_published
from benchmarks.suite.datasets import load_set

FIELDS = ("set", "method", "setting")
GROUPS = {
    "small": ("iris", "wine", "hepatitis", "cancer"),
    "shapes": ("toy_circles", "toy_moons", "toy_impossible", "toy_s-set", "toy_smile", "toy_chainlink"),
    "large": ("olivetti", "frogs", "codon", "mnist", "fmnist"),
}
ALL_SETS = (*GROUPS["small"], *GROUPS["shapes"], *GROUPS["large"])
ARBITRARY = {(name, "spectral") for name in ("wine", "hepatitis", "cancer", "olivetti", "toy_s-set")}
"""Rows in which the published kernel underflows, so that the result is arbitrary."""
SEEDED = ("SpectACl", "spectral", "k-means++")
"""Methods with a random start."""
SEEDS = 10
COVERED = 0.8
"""The paper leaves out results that cover a smaller share of the samples."""
CLOSE = 0.005
CHOSEN = {name: METHODS[name] for name in ("DPA", "FSFDP", "Quickshift++", "SpectACl", "spectral")} | {
    "GIT authors": METHODS["GIT authors"],
    "GIT paper": METHODS["GIT paper"],
    "GIT": METHODS["GIT"].using(n_jobs=-1),
    "GIT proportions": METHODS["GIT proportions"].using(n_jobs=-1),
    "HDBSCAN": METHODS["hdbscan"],
    "k-means++": METHODS["k-means"],
}
"""The methods by their names in the paper and in the result file."""
PART = 10_000
"""Images for spectral clustering, which takes hours with all of them."""
SECONDS, GIGABYTES = 900, 14
"""Limits of a fit."""
QUICK_SAMPLES = 150
SEEDED_SAMPLES = 8_000
PICTURED = 5_000
"""Drawn sets up to this size keep their labels, for the pictures."""


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield set, method, setting and options of every fit; ``--quick`` uses 150 samples of each set."""
    methods = keep_installed(CHOSEN)
    for group, sets in GROUPS.items():
        for name in sets:
            for setting, method, parameters in plan(name):
                if method in methods:
                    task = {"group": group, "set": name, "method": method, "setting": setting, "options": parameters}
                    yield task, partial(run, task, QUICK_SAMPLES if options.quick else None)


def plan(name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield setting, method and options of every fit to a set."""
    rows = PUBLISHED[name]
    for variant in ("GIT authors", "GIT paper"):
        yield "published", variant, rows["GIT"].options
    yield "untuned", "GIT", {}
    if "proportions" in rows["GIT"].options:
        yield "untuned", "GIT proportions", {"proportions": rows["GIT"].options["proportions"]}
    for method in COMPETITORS:
        if method in rows:
            yield "published", method, rows[method].options


def run(task: Line, most: int | None = None) -> Line:
    """Return the result on the whole set, or on a part of it."""
    total = len(load_set(task["set"])[1])
    part = PART if task["method"] == "spectral" and task["set"] in ("mnist", "fmnist") else total
    size = min(part, most or total)
    return {"of": total} | run_in_process(fit_part, size, task, seconds=SECONDS, gigabytes=GIGABYTES)


def fit_part(samples: int, task: Line) -> Line:
    """Fit a part of a set, after a small fit that compiles, and return scores and seconds."""
    X, y = load_set(task["set"])
    if samples < len(X):
        part = np.sort(np.random.default_rng(0).permutation(len(X))[:samples])
        X, y = X[part], y[part]
    few = slice(None, None, max(1, len(X) // 1000))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with suppress(Exception):
            fit(task, np.ascontiguousarray(X[few]), y[few])
        if task["method"].startswith("GIT"):
            compile_search(X)
        labels, wall, cpu = time_call(lambda: fit(task, X, y))
        scores = score_published(y, labels)
        if task["method"] in SEEDED and len(X) <= SEEDED_SAMPLES:
            others = [score_published(y, fit(task, X, y, random_state=seed)) for seed in range(1, SEEDS)]
            scores = average([scores, *others])
    drawn = {"labels": pack_labels(labels)} if task["set"].startswith("toy_") and len(X) <= PICTURED else {}
    return scores | {"samples": len(X), "seconds": round(wall, 4), "cpu": round(cpu, 4)} | drawn


def average(results: Sequence[Line]) -> Line:
    """Return means over seeds, and the F1 of each; the clusters are those of the first."""
    scores = np.array([result["published"] for result in results])
    return results[0] | {"published": scores.mean(axis=0).round(4).tolist(), "seeds published": scores[:, 0].tolist()}


def fit(task: Line, X: NDArray[Any], y: NDArray[np.int64], **seed: int) -> NDArray[np.int64]:
    """Return the labels of the task's method; "classes" as proportions are the true sizes."""
    sizes, options = np.unique(y, return_counts=True)[1], task["options"]
    if isinstance(options.get("proportions"), str) and options["proportions"] == "classes":
        options = options | {"proportions": sizes}
    with redirect_stdout(StringIO()):  # spectral clustering prints how often it tries
        return CHOSEN[task["method"]].fit(X, sizes, **(options | seed))


def stored() -> dict[Key, Line]:
    """Return the stored results by set, method and setting."""
    return Store("accuracy", FIELDS).lines


def published_table(group: str) -> str:
    """Return the results with published parameters and counting, and the default beside them.

    A cell has F1 / ARI / NMI, in brackets the published figures if they differ in the third digit, and the share of
    covered samples if it is below 1. Bold is the best result that covers at least .8 of the samples. Large sets have a
    row of seconds.
    """
    columns = {
        "`authors`": ("GIT authors", "published"),
        "`paper`": ("GIT paper", "published"),
        "default": ("GIT", "untuned"),
        "default, proportions": ("GIT proportions", "untuned"),
    } | {name: (name, "published") for name in COMPETITORS}
    columns = {title: key for title, key in columns.items() if any((name, *key) in stored() for name in GROUPS[group])}
    rows = []
    for name in GROUPS[group]:
        lines = {title: stored().get((name, *key)) for title, key in columns.items()}
        published = {title: PUBLISHED[name].get("GIT" if title == "`authors`" else title) for title in columns}
        ended = [line for line in lines.values() if line and "error" not in line]
        best = [max(short(x["published"][i]) for x in ended if x["cover"] >= COVERED) for i in range(3)]
        cells = [_published_cell(line, published[title], best) for title, line in lines.items()]
        rows.append([name.removeprefix("toy_"), *cells])
        if group == "large":
            rows.append([f"{name}, seconds", *(_seconds(line, published[title]) for title, line in lines.items())])
    return markdown(["F1 / ARI / NMI", *columns], rows)


def _published_cell(line: Line | None, row: Row | None, best: Sequence[str]) -> str:
    """Return scores with the spread of F1 over seeds, published scores that differ, and the covered share."""
    if line is None:
        return ""
    published = [None] * 3 if row is None or line["setting"] != "published" else row.scores[:3]
    if "error" in line:
        return f"failed ({_triple(published)})"
    scores = [short(score) for score in line["published"]]
    differs = any(p is not None and short(p) != s for p, s in zip(published, scores, strict=True))
    if line["cover"] >= COVERED:
        scores = [f"**{score}**" if score == high else score for score, high in zip(scores, best, strict=True)]
    seeds = line.get("seeds published", [])
    scores[0] += f" ± {short(np.std(seeds))}" if seeds else ""
    notes = [_triple(published)] if differs else []
    notes += [f"printed {short(row.printed[0])}"] if row and row.printed and differs_from_print(row, 0) else []
    notes += [f"{line['cover']:.0%} covered"] if line["cover"] < 1 else []
    return " / ".join(scores) + (f" ({', '.join(notes)})" if notes else "")


def _seconds(line: Line | None, row: Row | None) -> str:
    """Return the seconds, in brackets those published, and the number of samples of a partial run."""
    if line is None or "error" in line:
        return ""
    published = f" ({_digits(row.seconds)})" if row and row.seconds and line["setting"] == "published" else ""
    samples = f", n = {line['samples']:,}" if line.get("samples", line["of"]) < line["of"] else ""
    return f"{_digits(line['seconds'])}{published}{samples}"


def _digits(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:,.0f}"


def differs_from_print(row: Row, i: int) -> bool:
    """Return whether a printed score is not the rounded score of the notebooks."""
    score = row.scores[i]
    return bool(row.printed) and (score is None or abs(row.printed[i] - score) > 0.00505)  # notebooks: four digits


def top_three_table() -> str:
    """Return the best methods on the shapes of Table 5: as printed, by the notebooks, and here with `authors` as GIT.

    Methods whose F1 is equal in four digits share a rank; results that cover less than .8 of the samples do not count.
    """
    rows = []
    for name, printed in TOP_THREE.items():
        lines = {method: stored().get((name, method, "published"), {}) for method in ("GIT authors", *COMPETITORS)}
        here = {m.removesuffix(" authors"): (x["published"][0], x["cover"]) for m, x in lines.items() if "cover" in x}
        notebooks = {method: (row.scores[0] or 0.0, row.scores[3] or 0.0) for method, row in PUBLISHED[name].items()}
        cells = ["; ".join(", ".join(methods) for methods in printed)]
        for scores in (notebooks, here):
            enough = {method: f1 for method, (f1, cover) in scores.items() if cover >= COVERED}
            best = sorted(set(enough.values()), reverse=True)[:3]
            cells.append("; ".join(", ".join(m for m in enough if enough[m] == f1) + f" {short(f1)}" for f1 in best))
        rows.append([name.removeprefix("toy_"), *cells])
    return markdown(["first; second; third", "printed", "notebooks", "here"], rows)


def reproduced() -> str:
    """Return on how many sets the two variants of the paper come close to the published F1, with published options."""
    close: dict[str, list[str]] = {}
    for variant in ("GIT authors", "GIT paper"):
        pairs = {
            name: (stored()[name, variant, "published"]["published"][0], PUBLISHED[name]["GIT"]) for name in ALL_SETS
        }
        close[variant] = [name for name, (here, row) in pairs.items() if abs(here - (row.scores[0] or 0)) <= CLOSE]
    gaps = {name: (row.scores[0] or 0) - here for name, (here, row) in pairs.items()}
    worst = sorted(gaps, key=lambda name: -gaps[name])[:3]
    far = ", ".join(f"{_name(s)} {short(pairs[s][0])} for {short(pairs[s][1].scores[0] or 0)}" for s in worst)
    rest = ", ".join(_name(name) for name in ALL_SETS if name not in close["GIT authors"])
    authors, paper = (f"{len(names)} of {len(ALL_SETS)}" for names in close.values())
    return (
        f'**The authors\' code** (`variant="authors"`) is reproduced on {authors} '
        f"sets: F1 is within {CLOSE} of the notebooks, except on {rest}. **The method as printed** "
        f'(`variant="paper"`, same k and proportions) comes that close on {paper}: '
        f"{', '.join(map(_name, close['GIT paper']))}. It is farthest behind on {far}."
    )


def _name(name: str) -> str:
    return name.removeprefix("toy_")


def _triple(scores: Sequence[float | None]) -> str:
    return " / ".join(short(score) for score in scores[:3] if score is not None)


def compared() -> Iterator[tuple[Line, float]]:
    """Yield the lines with published parameters and the published F1, without arbitrary ones."""
    for line in stored().values():
        row = PUBLISHED[line["set"]].get(line["method"].removesuffix(" authors"))
        arbitrary = (line["set"], line["method"]) in ARBITRARY
        if line["setting"] == "published" and row and row.scores[0] and "error" not in line and not arbitrary:
            yield line, row.scores[0]


def is_close(line: Line, published: float, *, seeds: bool) -> bool:
    """Return whether the F1 is within .005 of the published one, or with ``seeds``, that one between the seeds."""
    figures = line.get("seeds published", []) if seeds else [line["published"][0]]
    return bool(figures) and min(figures) - CLOSE <= published <= max(figures) + CLOSE


def gaps_table() -> str:
    """Return the rows whose F1 as published, or the range of its seeds, is not within .005 of the published one."""
    rows = []
    for line, published in compared():
        if not is_close(line, published, seeds=False) and not is_close(line, published, seeds=True):
            here, seeds = line["published"][0], line.get("seeds published", [])
            spread = f"{len(seeds)}: {min(seeds):.3f} to {max(seeds):.3f}" if seeds else ""
            figures = [f"{published:.3f}", f"{here:.3f}", f"{here - published:+.3f}", spread]
            rows.append([line["set"].removeprefix("toy_"), line["method"], *figures])
    header = ["set", "method", "published F1", "here", "difference", "seeds, from to"]
    return markdown(header, sorted(rows, key=lambda row: (not row[1].startswith("GIT"), row[1])))


def close_rows() -> str:
    """Return how many rows were compared, and how many agree."""
    lines = list(compared())
    close = [line for line in lines if is_close(*line, seeds=False)]
    within = [line for line in lines if line not in close and is_close(*line, seeds=True)]
    return (
        f"{len(close)} of {len(lines)} rows are within {CLOSE} of the published F1. For {len(within)} others, the "
        f"published figure lies between their seeds. {len(ARBITRARY)} rows of spectral clustering are not counted: the "
        "published kernel underflows, so their result is arbitrary."
    )


def seed_counts() -> str:
    """Return how many seeds the figures of methods with a random start are means of."""
    fewer: dict[tuple[str, int], list[str]] = {}
    for (name, method, _), line in sorted(stored().items()):
        number = len(line.get("seeds published", [0]))
        if method in SEEDED and number < SEEDS and "error" not in line:
            fewer.setdefault((method, number), []).append(name.removeprefix("toy_"))
    parts = [f"{method} on {', '.join(names)}: {number}" for (method, number), names in fewer.items()]
    return (
        f"Figures of {', '.join(SEEDED[:-1])} and {SEEDED[-1]} are means of {SEEDS} seeds, with their standard "
        f"deviation. Fewer seeds: {'; '.join(sorted(parts))}."
    )


TABLES = {f"{group}_published": partial(published_table, group) for group in GROUPS} | {
    "accuracy_gaps": gaps_table,
    "accuracy_close": close_rows,
    "accuracy_seeds": seed_counts,
    "top_three": top_three_table,
    "reproduced": reproduced,
}
