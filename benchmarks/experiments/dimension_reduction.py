"""Dimension reduction before clustering: ``python -m benchmarks dimension_reduction [--sets a,b] [--methods a,b]``.

Every method gets the same embedding of MNIST and FMNIST as it is, see ``embeddings``. GIT with its defaults divides
the coordinates by their standard deviations, as it does for any user; ``GIT unscaled`` takes them as they are, like
the peers. Nothing is tuned but ``GIT authors``, which has the published k (tuned on labels) and equal shares, and the
methods called "published", which have the parameters of the published runs. The number of classes is told to all but
Quickshift++ and HDBSCAN, whose noise counts as wrong in F1 and as one more cluster in ARI and NMI. Figures of k-means
and SpectACl are means of ten seeds; those of the paper's competitors are also counted as published.

Every run has a process of its own, ``--timeout`` seconds and ``--memory`` gigabytes; spectral clustering and SpectACl
are then tried on fewer images, and the line says what stopped them. ``--images`` begins with that many. One line a run
goes to ``results/dimension_reduction.jsonl``, and what is there is not run again. Embeddings are kept in ``--cache``.
``--quick`` takes 3,000 images and prints the table without storing anything, ``--table`` prints the stored results.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.methods import METHODS, keep_installed
from benchmarks.methods.spectacl import SpectACl
from benchmarks.reporting.published import EMBEDDED, EMBEDDED_PEERS, PUBLISHED
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Line, Store, describe_run, read_lines, show_progress
from benchmarks.scoring import count_clusters, cover_rate, published_scores, score_labels
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, Embedding, can_run, default_cache, load_embedding

ROOT = Path(__file__).parents[2]
RESULTS = FOLDER / "dimension_reduction.jsonl"
NEIGHBORS = FOLDER / "sensitivity.jsonl"
"""The authors' variant over k, counted as published."""
KEYS = ("set", "embedding", "method")
SCORES = ("f1", "ari", "nmi")
QUICK_SAMPLES = 3000
QUICK_EPOCHS = 3
SMALLER = {"spectral": (20_000, 6_000), "SpectACl": (20_000,), "SpectACl published": (20_000,)}
"""Images for methods that take too long or too much memory with all of them."""
SEEDS = range(10)
PEERS = ("k-means", "Quickshift++", "SpectACl")
"""The competitors that the paper has here."""
CHOSEN = {
    "GIT": METHODS["GIT"].given(n_jobs=-1),
    "GIT equal": METHODS["GIT"].given(n_jobs=-1, proportions="equal"),
    "GIT unscaled": METHODS["GIT"].given(n_jobs=-1, scale=None),
    "GIT authors": METHODS["GIT authors"],
    "k-means": METHODS["k-means"],
    "Quickshift++": METHODS["Quickshift++"],
    "Quickshift++ published": METHODS["Quickshift++"],
    "SpectACl": METHODS["SpectACl"],
    "SpectACl published": METHODS["SpectACl"],
    "HDBSCAN": METHODS["hdbscan"].given(min_cluster_size=100, core_dist_n_jobs=1, tree=False),
    "spectral": METHODS["spectral"].given(solver="amg", n_jobs=-1),
}
"""The methods by the names that the result file has for them; of HDBSCAN all seconds are counted in one process, and
only multigrid finds the eigenvectors of many images in reasonable time."""
FEW = {"HDBSCAN": {"min_cluster_size": 30}, "spectral": {"solver": "arpack"}}
"""Options that suit no more images than a quick run has."""


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks dimension_reduction", description=__doc__)
    parser.add_argument("--sets", default=list(SETS), **NAMES)
    parser.add_argument("--embeddings", default=list(EMBEDDINGS), **NAMES)
    parser.add_argument("--methods", default=list(CHOSEN), **NAMES)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="FOLDER")
    parser.add_argument("--timeout", type=int, default=1800, metavar="SECONDS")
    parser.add_argument("--memory", type=float, default=14, help="gigabytes a run may take", metavar="GB")
    parser.add_argument("--images", type=int, help="at most so many of the images")
    parser.add_argument("--here", nargs=4, metavar=("METHOD", "SET", "EMBEDDING", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--quick", action="store_true", help="3,000 images, nothing is stored")
    parser.add_argument("--table", action="store_true", help="print the stored results alone")
    options = parser.parse_args(arguments)
    options.arguments = arguments
    if options.here:
        resource.setrlimit(resource.RLIMIT_AS, (int(options.memory * 1e9), resource.RLIM_INFINITY))
        method, dataset, name, size = options.here
        embedding = load_embedding(dataset, name, cache=options.cache)
        print(json.dumps(run_here(method, embedding, published_options(method, dataset, name), int(size))))
        return
    if options.quick:
        print(table(run_quick(options)))
    else:
        if not options.table:
            run_missing(options)
        print(table())


def published_options(method: str, dataset: str, name: str) -> dict[str, Any]:
    """Parameters of the published run for those that have them, nothing for the others."""
    if method == "GIT authors":
        return {"n_neighbors": EMBEDDED[dataset, name][0]}
    if method.endswith(" published"):
        return EMBEDDED_PEERS[dataset, name][method.removesuffix(" published")].options
    return {}


def was_published(method: str, place: tuple[str, str]) -> bool:
    """Whether a method belongs here: where nothing was published, published parameters are none."""
    if method == "GIT authors":
        return place in EMBEDDED
    return place in EMBEDDED_PEERS or not method.startswith(PEERS[1:])


def plan(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """What was asked for, embedding by embedding; the paper's methods only where a figure was published."""
    names, methods = can_run(options.embeddings), keep_installed(CHOSEN, options.methods)
    return [
        (dataset, name, method)
        for name in names
        for dataset in options.sets
        for method in methods
        if was_published(method, (dataset, name))
    ]


def run_missing(options: argparse.Namespace) -> None:
    """Run and store what is not stored."""
    store = Store(RESULTS, KEYS)
    jobs = [job for job in plan(options) if options.again or job not in store.lines]
    for (dataset, name, method), say in show_progress(jobs, "dimension reduction"):
        embedding = load_embedding(dataset, name, cache=options.cache)
        line = run_sizes([method, dataset, name], len(embedding.y), options)
        details = {"seconds": round(embedding.seconds, 1), "d": embedding.points.shape[1]} | embedding.details
        about = describe_run("dimension_reduction", options.arguments)
        line = {"set": dataset, "embedding": name, "method": method} | line | {"of embedding": details} | about
        store.add(line)
        say(f"{dataset} {name} {method}: {line.get('error') or 'F1 {f1:.3f} {seconds:.1f} s'.format(**line)}")


def run_quick(options: argparse.Namespace) -> list[Line]:
    """Everything in this process on few images, in a folder that is removed."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for (dataset, name, method), say in show_progress(plan(options), "dimension reduction"):
            say(f"{dataset} {name} {method}")
            embedding = load_embedding(
                dataset, name, cache=Path(folder), n_samples=QUICK_SAMPLES, max_epochs=QUICK_EPOCHS
            )
            line = run_here(method, embedding, published_options(method, dataset, name), len(embedding.y))
            lines.append({"set": dataset, "embedding": name, "method": method} | line)
    return lines


def run_sizes(job: Sequence[str], n_samples: int, options: argparse.Namespace) -> Line:
    """One run on all images or on the largest part of them that ends, with what stopped a larger one."""
    first = min(options.images or n_samples, n_samples)
    stopped: Line = {}
    for size in [first, *(size for size in SMALLER.get(job[0], ()) if size < first)]:
        line = run_apart([*job, str(size)], options.cache, options.timeout, options.memory) | stopped
        if "error" not in line:
            break
        stopped = {"stopped": f"{size:,} images: {line['error']}"}
    return line


def run_apart(job: Sequence[str], cache: Path, timeout: int, gigabytes: float = 14) -> Line:
    """One run in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "dimension_reduction", "--memory", str(gigabytes)]
    command += ["--cache", str(cache.resolve()), "--here", *job]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"n": int(job[-1]), "error": f"> {timeout} s"}
    except subprocess.CalledProcessError as error:
        return {"n": int(job[-1]), "error": (error.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def run_here(method: str, embedding: Embedding, options: dict[str, Any], size: int) -> Line:
    """Scores and seconds of one method, on ``size`` samples drawn at random where that is not all of them."""
    X, y = embedding.points, embedding.y
    if size < len(y):
        rows = some_rows(len(y), size)
        X, y = np.ascontiguousarray(X[rows]), y[rows]
    if len(X) <= QUICK_SAMPLES:
        options = options | FEW.get(method, {})
    classes = len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method.startswith(("GIT", "Quickshift++")):  # compiles
            CHOSEN[method].fit(X[:1000], classes)
        start, cpu = perf_counter(), process_time()
        drawn = draw(method, X, classes, options)
        labels = next(drawn)
        seconds = {"seconds": round(perf_counter() - start, 2), "cpu": round(process_time() - cpu, 2)}
        found = score_all(y, chain([labels], drawn), method.startswith(PEERS))
    cover = {"cover": round(cover_rate(labels), 4), "clusters": count_clusters(labels)}
    return {"n": len(y)} | found | cover | seconds


def some_rows(n_samples: int, size: int) -> NDArray[np.int64]:
    """Rows drawn at random, in order."""
    return np.sort(np.random.default_rng(0).choice(n_samples, size, replace=False))


def draw(method: str, X: NDArray[Any], classes: int, options: dict[str, Any]) -> Iterator[NDArray[Any]]:
    """Labels of every seed, or of the one clustering where nothing is drawn."""
    if method.startswith("SpectACl"):
        model = SpectACl(classes, random_state=SEEDS[0], **options).fit(X)
        yield model.labels_
        for seed in SEEDS[1:]:
            yield model.cluster_embedding(seed)
    else:
        yield CHOSEN[method].fit(X, classes, **options)
    if method == "k-means":
        for seed in SEEDS[1:]:
            yield CHOSEN[method].fit(X, classes, random_state=seed)


def score_all(y: NDArray[np.int64], drawn: Iterable[NDArray[Any]], as_published: bool) -> Line:
    """Means over the draws, all F1 where there is more than one, and what the published counting gives."""
    both = [(score_labels(y, labels), published_scores(y, labels) if as_published else ()) for labels in drawn]
    line: Line = {name: round(float(np.mean([scores[name] for scores, _ in both])), 4) for name in SCORES}
    if as_published:
        line["as published"] = [round(float(mean), 4) for mean in np.mean([other[:3] for _, other in both], axis=0)]
    if len(both) > 1:
        line["seeds"] = [round(scores["f1"], 4) for scores, _ in both]
        if as_published:
            line["seeds as published"] = [round(other[0], 4) for _, other in both]
    return line


def table(lines: Sequence[Line] | None = None) -> str:
    """Markdown: F1 / ARI / NMI of every embedding and untuned method, the best of a row in bold."""
    lines = read_lines(RESULTS) if lines is None else lines
    most = max((line["n"] for line in lines), default=0)
    found = group_lines(lines)
    methods = [m for m in CHOSEN if not is_tuned(m) and any(m in row for row in found.values())]
    rows = []
    for place, row in found.items():
        best = [max((row[m].get(s, 0.0) for m in methods if m in row), default=0.0) for s in SCORES]
        rows.append([*place, *(_cell(row.get(m), best, most) for m in methods)])
    return markdown(["set", "F1 / ARI / NMI", *methods], rows)


def is_tuned(method: str) -> bool:
    """Whether a method has parameters that were chosen on labels."""
    return method == "GIT authors" or method.endswith(" published")


def published_table() -> str:
    """Markdown: F1 with the published parameters, counted as published, in brackets the published figure."""
    rows = []
    for place, scores in f1_as_published().items():
        cells = []
        for here, published, note in scores.values():
            best = here == np.max([score for score, *_ in scores.values()])  # NaN where one was not run
            text = "" if np.isnan(here) else f"**{_short(here)}**" if best else _short(here)
            cells.append(f"{text}{note if text else ''} ({_short(published)})")
        rows.append([*place, *cells])
    return markdown(["set", "F1", "GIT authors", *PEERS], rows)


def f1_as_published() -> dict[tuple[str, str], dict[str, tuple[float, float, str]]]:
    """F1 here, published F1 and a note, by embedding and method; NaN where it was not run."""
    found = group_lines(read_lines(RESULTS))
    tuned = {
        (line["set"], line["embedding"], line["k"]): line
        for line in read_lines(NEIGHBORS)
        if line["variant"] == "authors"
    }
    scores: dict[tuple[str, str], dict[str, tuple[float, float, str]]] = {}
    for place, peers in EMBEDDED_PEERS.items():
        git = tuned.get((*place, EMBEDDED[place][0]), {}).get("f1 as published", np.nan)
        scores[place] = {"GIT authors": (git, EMBEDDED[place][1], "")}
        for method in PEERS:
            name = method if method == "k-means" else f"{method} published"
            line = found.get(place, {}).get(name, {})
            seeds = line.get("seeds as published", [])
            notes = [f" ± {np.std(seeds):.3f}".replace("0.", ".", 1)] if seeds else []
            notes += [f", n = {line['n']:,}"] if line.get("n", 60_000) < 60_000 else []
            scores[place][method] = (
                line.get("as published", [np.nan])[0],
                peers[method].scores[0] or 0.0,
                "".join(notes),
            )
    return scores


def claims_table() -> str:
    """Markdown: how far GIT is ahead of the best competitor, the best of each over the widths, as the paper claims."""
    claimed = {("mnist", "pca"): 12.5, ("fmnist", "pca"): 17.1, ("mnist", "ae"): 9.5, ("fmnist", "ae"): 10.4}
    figures, found = f1_as_published(), group_lines(read_lines(RESULTS))
    rows = []
    for (dataset, kind), claim in claimed.items():
        places = [place for place in figures if place[0] == dataset and place[1].startswith(kind)]
        cells = [f"{claim:.1f}"]
        for source in (1, 0):
            cells.append(
                _lead(
                    [
                        [scores[m][source] for m in ("GIT authors", *PEERS)]
                        for scores in map(figures.get, places)
                        if scores
                    ]
                )
            )
        untuned = [[found.get(place, {}).get(m, {}).get("f1", np.nan) for m in ("GIT", *PEERS)] for place in places]
        rows.append([f"{kind.upper()} + {dataset.upper()}", *cells, _lead(untuned)])
    header = ["points of F1", "claimed", "published figures", "here, published parameters", "here, untuned"]
    return markdown(header, rows)


def _lead(rows: Sequence[Sequence[float]]) -> str:
    """Best of the first method minus best of the others, and in how many rows the first is ahead."""
    scores = np.array([row for row in rows if not np.isnan(row).any()]).reshape(-1, len(PEERS) + 1)
    if not len(scores):
        return ""
    lead = 100 * (scores[:, 0].max() - scores[:, 1:].max())
    return f"{lead:+.1f} (ahead on {(scores[:, 0] > scores[:, 1:].max(axis=1)).sum()} of {len(scores)})"


def improvement_table() -> str:
    """Markdown: on how many embeddings a method is better than on raw images, as published and here."""
    raw = {line["set"]: {} for line in read_lines(RESULTS)}
    for line in read_lines(FOLDER / "accuracy.jsonl"):
        if line["setting"] == "published" and "published" in line:
            raw.setdefault(line["set"], {})[line["method"]] = line["published"][0]
    rows = []
    for method in ("GIT authors", *PEERS):
        name = "k-means++" if method == "k-means" else method
        cells = []
        for source in (1, 0):
            pairs = [
                (
                    scores[method][source],
                    PUBLISHED[of][name.removesuffix(" authors")].scores[0] if source else raw[of][name],
                )
                for (of, _), scores in f1_as_published().items()
            ]
            pairs = [pair for pair in pairs if not np.isnan(pair[0])]
            cells.append(f"{sum(reduced > whole for reduced, whole in pairs)} of {len(pairs)}")
        rows.append([method, *cells])
    return markdown(["better than on raw images", "published figures", "here"], rows)


def group_lines(lines: Sequence[Line]) -> dict[tuple[str, str], dict[str, Line]]:
    """The lines by set and embedding, then by method; the last of each counts."""
    found: dict[tuple[str, str], dict[str, Line]] = {(dataset, name): {} for dataset in SETS for name in EMBEDDINGS}
    for line in lines:
        found[line["set"], line["embedding"]][line["method"]] = line
    return {place: row for place, row in found.items() if row}


def _cell(line: Line | None, best: Sequence[float], most: int) -> str:
    if line is None or "error" in line:
        return "" if line is None else line["error"]
    notes = [f"{line['cover']:.0%} covered"] if line["cover"] < 1 else []
    notes += [f"{line['clusters']} clusters"] if line["method"] in ("HDBSCAN", "Quickshift++") else []
    notes += [f"n = {line['n']:,}"] if line["n"] < most else []
    text = " / ".join(
        f"**{_short(line[s])}**" if line[s] >= high else _short(line[s]) for s, high in zip(SCORES, best, strict=True)
    )
    if "seeds" in line:
        text = text.replace(" /", f" ± {np.std(line['seeds']):.3f} /".replace("0.", ".", 1), 1)
    return text + (f" ({', '.join(notes)})" if notes else "")


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def time_table() -> str:
    """Markdown: CPU seconds of every embedding and of every method on it; wall seconds tell of the machine's load."""
    found = group_lines(read_lines(RESULTS))
    methods = [m for m in CHOSEN if any(m in row for row in found.values())]
    rows = []
    for place, row in found.items():
        of = row[next(m for m in methods if m in row)]["of embedding"]
        epochs = f" ({of['epochs']} epochs)" if "epochs" in of else ""
        cells = [_seconds(row.get(m)) for m in methods]
        rows.append([*place, f"{of.get('cpu', of['seconds']):.0f}{epochs}", *cells])
    return markdown(["set", "CPU seconds", "embedding", *methods], rows)


def _seconds(line: Line | None) -> str:
    if line is None:
        return ""
    return f"{line['cpu']:.1f}" if "cpu" in line else line["error"]
