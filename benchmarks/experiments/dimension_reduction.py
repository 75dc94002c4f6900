"""Dimension reduction before clustering: ``python -m benchmarks dimension_reduction [--sets a,b] [--methods a,b]``.

Every method gets the same embedding of MNIST and FMNIST as it is, see ``embeddings``. GIT with its defaults divides the
coordinates by their standard deviations, as it does for any user; ``GIT unscaled`` takes them as they are, like the
peers. Nothing is tuned but ``GIT authors``, which has the published k (tuned on labels) and equal shares. The number of
classes is told to all but HDBSCAN, whose noise counts as wrong in F1 and as one more cluster in ARI and NMI.

Every run has a process of its own and ``--timeout`` seconds; spectral clustering is then tried on fewer images. One
line a run goes to ``results/dimension_reduction.jsonl``, and what is there is not run again. Embeddings are kept in
``--cache``. ``--quick`` takes 3,000 images and prints the table without storing anything, ``--table`` prints the stored
results, ``--figure FILE`` draws them (needs matplotlib).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralClustering

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, Store, describe_run, read_lines, show_progress
from benchmarks.scoring import count_clusters, score_labels
from benchmarks.suite.embeddings import NAMES, SETS, Embedding, can_run, default_cache, load_embedding
from gitcluster import GIT
from gitcluster.metrics import cover_rate

ROOT = Path(__file__).parents[2]
RESULTS = FOLDER / "dimension_reduction.jsonl"
KEYS = ("set", "embedding", "method")
SCORES = ("f1", "ari", "nmi")
QUICK_SAMPLES = 3000
QUICK_EPOCHS = 3
SMALLER = (20_000, 6_000)
"""Images for spectral clustering where all are too many."""
PUBLISHED: dict[tuple[str, str], tuple[int, float, float, float]] = {
    ("mnist", "raw"): (40, 0.5859, 0.4157, 0.5332),
    ("mnist", "pca5"): (70, 0.4784, 0.3233, 0.4270),
    ("mnist", "pca10"): (70, 0.6915, 0.5174, 0.5942),
    ("mnist", "pca20"): (80, 0.7715, 0.5876, 0.6460),
    ("mnist", "pca30"): (90, 0.5999, 0.3933, 0.4891),
    ("mnist", "ae5"): (40, 0.8784, 0.7731, 0.8119),
    ("mnist", "ae10"): (40, 0.8615, 0.7734, 0.8117),
    ("mnist", "ae20"): (40, 0.8805, 0.7617, 0.7883),
    ("mnist", "ae30"): (40, 0.8429, 0.7179, 0.7619),
    ("fmnist", "raw"): (80, 0.5611, 0.3198, 0.5068),
    ("fmnist", "pca5"): (100, 0.5925, 0.4050, 0.5404),
    ("fmnist", "pca10"): (40, 0.6868, 0.5256, 0.6257),
    ("fmnist", "pca20"): (30, 0.6432, 0.4688, 0.5709),
    ("fmnist", "pca30"): (50, 0.5375, 0.3915, 0.5217),
    ("fmnist", "ae5"): (60, 0.6474, 0.4883, 0.6135),
    ("fmnist", "ae10"): (50, 0.6070, 0.4604, 0.5868),
    ("fmnist", "ae20"): (90, 0.5771, 0.4058, 0.5764),
    ("fmnist", "ae30"): (60, 0.6505, 0.4806, 0.6133),
}
"""GIT as published: k, F1, ARI, NMI."""


def git(**options: Any) -> Callable[..., NDArray[np.int64]]:
    """GIT told the number of classes."""

    def fit(X: NDArray[Any], classes: int, _: int | None) -> NDArray[np.int64]:
        return GIT(classes, n_jobs=-1, **options).fit_predict(X)

    return fit


def git_authors(X: NDArray[Any], classes: int, k: int | None) -> NDArray[np.int64]:
    """The code behind the published figures, with the published k."""
    model = GIT(classes, n_neighbors=k or "auto", variant="authors", neighbors="exact", n_jobs=-1)
    return model.fit_predict(X.astype(np.float64))


def k_means(X: NDArray[Any], classes: int, _: int | None) -> NDArray[np.int64]:
    """The best of ten starts."""
    return KMeans(classes, n_init=10, random_state=0).fit_predict(X)


def hdbscan(X: NDArray[Any], _: int, __: int | None) -> NDArray[np.int64]:
    """Clusters of at least 100 samples (30 where few are quick), in one process, whose seconds are counted."""
    import hdbscan

    size = 100 if len(X) > QUICK_SAMPLES else 30
    return hdbscan.HDBSCAN(min_cluster_size=size, core_dist_n_jobs=1).fit_predict(X)


def spectral(X: NDArray[Any], classes: int, _: int | None) -> NDArray[np.int64]:
    """The graph of 10 nearest neighbours; many samples need multigrid to find the eigenvectors in reasonable time."""
    solver = "amg" if len(X) > QUICK_SAMPLES else "arpack"
    model = SpectralClustering(
        classes, eigen_solver=solver, affinity="nearest_neighbors", n_neighbors=10, random_state=0, n_jobs=-1
    )
    return model.fit_predict(X)


METHODS: dict[str, Callable[..., NDArray[np.int64]]] = {
    "GIT": git(),
    "GIT equal": git(proportions="equal"),
    "GIT unscaled": git(scale=None),
    "GIT authors": git_authors,
    "k-means": k_means,
    "HDBSCAN": hdbscan,
    "spectral": spectral,
}
COLOURS = {
    "GIT": "tab:blue", "GIT equal": "deepskyblue", "GIT unscaled": "navy", "GIT authors": "tab:orange",
    "k-means": "tab:gray", "HDBSCAN": "tab:green", "spectral": "tab:purple",
}  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks dimension_reduction", description=__doc__)
    listed = {"type": lambda text: text.split(","), "metavar": "A,B"}
    parser.add_argument("--sets", default=list(SETS), **listed)
    parser.add_argument("--embeddings", default=list(NAMES), **listed)
    parser.add_argument("--methods", default=list(METHODS), **listed)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="FOLDER")
    parser.add_argument("--timeout", type=int, default=1800, metavar="SECONDS")
    parser.add_argument("--here", nargs=4, metavar=("METHOD", "SET", "EMBEDDING", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="3,000 images, nothing is stored")
    parser.add_argument("--table", action="store_true", help="print the stored results alone")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the stored results")
    options = parser.parse_args(arguments)
    options.arguments = arguments
    if options.here:
        method, dataset, name, size = options.here
        embedding = load_embedding(dataset, name, cache=options.cache)
        print(json.dumps(run_here(method, embedding, published_k(dataset, name), int(size))))
        return
    if options.quick:
        print(table(run_quick(options)))
        return
    if options.figure:
        draw(options.figure)
        return
    if not options.table:
        run_missing(options)
    print(table())


def published_k(dataset: str, name: str) -> int | None:
    """The k of the published run, None where there is none."""
    return PUBLISHED[dataset, name][0] if (dataset, name) in PUBLISHED else None


def plan(options: argparse.Namespace) -> list[tuple[str, str, str]]:
    """What was asked for, embedding by embedding; the authors' variant only where a figure was published."""
    names, methods = can_run(options.embeddings), can_run(options.methods)
    return [
        (dataset, name, method)
        for name in names
        for dataset in options.sets
        for method in methods
        if method != "GIT authors" or (dataset, name) in PUBLISHED
    ]


def run_missing(options: argparse.Namespace) -> None:
    """Run and store what is not stored."""
    store = Store(RESULTS, KEYS)
    jobs = [job for job in plan(options) if job not in store.lines]
    for (dataset, name, method), say in show_progress(jobs, "dimension reduction"):
        embedding = load_embedding(dataset, name, cache=options.cache)
        sizes = [len(embedding.y), *(SMALLER if method == "spectral" else ())]
        for size in sizes:
            line = run_apart([method, dataset, name, str(size)], options.cache, options.timeout)
            if "error" not in line:
                break
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
            line = run_here(method, embedding, published_k(dataset, name), len(embedding.y))
            lines.append({"set": dataset, "embedding": name, "method": method} | line)
    return lines


def run_apart(job: Sequence[str], cache: Path, timeout: int) -> Line:
    """One run in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks", "dimension_reduction"]
    command += ["--cache", str(cache.resolve()), "--here", *job]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"n": int(job[-1]), "error": f"> {timeout} s"}
    except subprocess.CalledProcessError as error:
        return {"n": int(job[-1]), "error": (error.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def run_here(method: str, embedding: Embedding, k: int | None, size: int) -> Line:
    """Scores and seconds of one method, on ``size`` samples drawn at random where that is not all of them."""
    X, y = embedding.points, embedding.y
    if size < len(y):
        rows = np.sort(np.random.default_rng(0).choice(len(y), size, replace=False))
        X, y = np.ascontiguousarray(X[rows]), y[rows]
    classes = len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method.startswith("GIT"):  # compiles
            METHODS[method](X[:1000], classes, min(k or 8, len(X) // 2))
        start, cpu = perf_counter(), process_time()
        labels = np.asarray(METHODS[method](X, classes, k))
        seconds = {"seconds": round(perf_counter() - start, 2), "cpu": round(process_time() - cpu, 2)}
    scores = {name: round(value, 4) for name, value in score_labels(y, labels).items()}
    cover = {"cover": round(cover_rate(labels), 4), "clusters": count_clusters(labels)}
    return {"n": len(y)} | scores | cover | seconds


def table(lines: Sequence[Line] | None = None) -> str:
    """Markdown: F1 / ARI / NMI of every embedding and method, the best of a row in bold; of stored or given lines."""
    lines = read_lines(RESULTS) if lines is None else lines
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    most = max((line["n"] for line in lines), default=0)
    methods = [m for m in METHODS if any(key[2] == m for key in found)]
    rows = []
    for dataset in SETS:
        for name in NAMES:
            row = {m: found[dataset, name, m] for m in methods if (dataset, name, m) in found}
            if row:
                best = [max((line.get(s, 0.0) for line in row.values()), default=0.0) for s in SCORES]
                published = [_scores(PUBLISHED[dataset, name][1:])] if (dataset, name) in PUBLISHED else [""]
                rows.append([dataset, name, *(_cell(row.get(m), best, most) for m in methods), *published])
    return markdown(["set", "F1 / ARI / NMI", *methods, "GIT published"], rows)


def _cell(line: Line | None, best: Sequence[float], most: int) -> str:
    if line is None or "error" in line:
        return "" if line is None else line["error"]
    notes = [f"{line['cover']:.0%} covered"] if line["cover"] < 1 else []
    notes += [f"{line['clusters']} clusters"] if line["method"] == "HDBSCAN" else []
    notes += [f"n = {line['n']:,}"] if line["n"] < most else []
    text = " / ".join(
        f"**{_short(line[s])}**" if line[s] >= high else _short(line[s]) for s, high in zip(SCORES, best, strict=True)
    )
    return text + (f" ({', '.join(notes)})" if notes else "")


def _scores(values: Sequence[float]) -> str:
    return " / ".join(map(_short, values))


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def time_table() -> str:
    """Markdown: CPU seconds of every embedding and of every method on it; wall seconds tell of the machine's load."""
    lines = read_lines(RESULTS)
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    methods = [m for m in METHODS if any(key[2] == m for key in found)]
    rows = []
    for dataset in SETS:
        for name in NAMES:
            row = {m: found[dataset, name, m] for m in methods if (dataset, name, m) in found}
            if row:
                of = next(iter(row.values()))["of embedding"]
                epochs = f" ({of['epochs']} epochs)" if "epochs" in of else ""
                cells = [_seconds(row.get(m)) for m in methods]
                rows.append([dataset, name, f"{of.get('cpu', of['seconds']):.0f}{epochs}", *cells])
    return markdown(["set", "CPU seconds", "embedding", *methods], rows)


def _seconds(line: Line | None) -> str:
    if line is None:
        return ""
    return f"{line['cpu']:.1f}" if "cpu" in line else line["error"]


def draw(path: Path) -> None:
    """F1 over the embeddings, a line a method, broken between the kinds of embedding."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = {tuple(line[key] for key in KEYS): line for line in read_lines(RESULTS) if "error" not in line}
    figure, panels = pyplot.subplots(1, 2, figsize=(14, 5), sharey=True, layout="constrained")
    kinds = [[name for name in NAMES if name.startswith(kind)] for kind in ("raw", "pca", "ae", "umap")]
    for dataset, panel in zip(SETS, panels, strict=True):
        for method in METHODS:
            for kind in kinds:
                points = [(NAMES.index(name), found[dataset, name, method]["f1"]) for name in kind
                          if (dataset, name, method) in found]  # fmt: skip
                own = method.startswith("GIT")
                panel.plot(*np.array(points).reshape(-1, 2).T, color=COLOURS[method], marker="o" if own else "s",
                           markersize=6 if own else 4.5, linewidth=2.2 if own else 1.1,
                           label=method if kind is kinds[1] else None, zorder=4 if method == "GIT" else 3)  # fmt: skip
        published = [(NAMES.index(name), row[1]) for (of, name), row in PUBLISHED.items() if of == dataset]
        panel.plot(*zip(*published, strict=True), "k_", markersize=16, label="GIT published, k tuned on labels")
        panel.set_xticks(range(len(NAMES)), NAMES, fontsize=9)
        panel.set_title(dataset.upper())
        panel.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("F1, optimal matching")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, dpi=110)
