"""How much the result depends on k: ``python -m benchmarks sensitivity [--sets a,b] [--embeddings a,b]``.

F1 over k = 30, 40, ..., 100 of the code behind the published figures (``variant="authors"``, equal shares) and of the
default variant with the same k, told nothing but the number of classes. Beside them the published F1, and that of the
default as it is, which chooses k itself. The published principal components can be computed again; the published
autoencoder embeddings are not to be had, so that ours differ from them whatever is run on them.

Neighbours are searched once an embedding and order of rows, exactly. Results, ``--cache``, ``--quick`` and ``--table``
are as in ``dimension_reduction``, in ``results/sensitivity.jsonl``; k-means, the baseline, and the default that chooses
k are taken from there.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import dimension_reduction
from benchmarks.experiments.dimension_reduction import QUICK_EPOCHS, QUICK_SAMPLES
from benchmarks.methods import METHODS
from benchmarks.reporting.published import BY_NEIGHBORS, EMBEDDED_PEERS, PUBLISHED, PUBLISHED_SIZES
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, NAMES, Key, Line, Store, describe_run, read_lines, show_progress
from benchmarks.scoring import count_clusters, published_scores, score_labels
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, Embedding, can_run, default_cache, load_embedding
from gitcluster import find_neighbors

RESULTS = FOLDER / "sensitivity.jsonl"
KEYS = ("set", "embedding", "variant", "k")
SIZES = PUBLISHED_SIZES
PLACES = tuple(name for name in EMBEDDINGS if not name.startswith("umap"))
SOURCES = {"published": "published", "authors": "`authors`", "adaptive": "default, k given"}


class SearchOnce:
    """A search for GIT's parameter ``search`` that remembers the last samples: smaller k are prefixes."""

    def __init__(self, most: int) -> None:
        self.most, self.points, self.found = most, np.empty((0, 0)), None

    def __sklearn_clone__(self) -> SearchOnce:
        return self  # a fit is not to forget what the one before has found

    def fit(self, points: NDArray[Any]) -> SearchOnce:
        """Search, unless these are the samples of the last time."""
        if not np.array_equal(points, self.points):
            most = min(self.most, len(points) - 1)
            self.points = points.copy()
            self.found = find_neighbors(points, n_neighbors=most, search="exact", n_jobs=-1)
        return self

    def kneighbors(self, points: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Distances and indices, the sample itself first."""
        own = np.arange(len(points))[:, None]
        distances, indices = self.found.distances[:, : n - 1], self.found.indices[:, : n - 1]
        return np.hstack([np.zeros_like(own, distances.dtype), distances]), np.hstack([own, indices])


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sensitivity", description=__doc__)
    parser.add_argument("--sets", default=list(SETS), **NAMES)
    parser.add_argument("--embeddings", default=list(PLACES), **NAMES)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="FOLDER")
    parser.add_argument("--variants", default=["authors", "adaptive"], **NAMES)
    parser.add_argument("--again", action="store_true", help="run also what is stored already")
    parser.add_argument("--quick", action="store_true", help="3,000 images, nothing is stored")
    parser.add_argument("--table", action="store_true", help="print the stored results alone")
    options = parser.parse_args(arguments)
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            quick = {"cache": Path(folder), "n_samples": QUICK_SAMPLES, "max_epochs": QUICK_EPOCHS}
            print(full_table([line for lines in run(options, set(), **quick) for line in lines]))
    else:
        if not options.table:
            store, about = Store(RESULTS, KEYS), describe_run("sensitivity", arguments)
            for lines in run(options, set() if options.again else set(store.lines), cache=options.cache):
                for line in lines:
                    store.add(line | about)
        print(table())


def run(options: argparse.Namespace, stored: set[Key], **source: Any) -> Iterator[Iterator[Line]]:
    """The lines of every embedding that has any missing."""
    wanted = [("authors", k) for k in SIZES] + [("adaptive", k) for k in SIZES]
    jobs = [
        (dataset, name, [way for way in wanted if way[0] in options.variants and (dataset, name, *way) not in stored])
        for name in can_run(options.embeddings)
        for dataset in options.sets
    ]
    for (dataset, name, ways), say in show_progress([job for job in jobs if job[2]], "sensitivity"):
        say(f"{dataset} {name}")
        embedding = load_embedding(dataset, name, **source)
        yield ({"set": dataset, "embedding": name} | line for line in run_embedding(embedding, ways))


def run_embedding(embedding: Embedding, ways: Sequence[tuple[str, int]]) -> Iterator[Line]:
    """One line a variant and k; the authors' variant gets doubles, as published, and its scores are also counted so."""
    y, classes = embedding.y, len(np.unique(embedding.y))
    search = SearchOnce(2 * SIZES[-1])
    for variant, k in ways:
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"variant": variant, "n_neighbors": k, "search": search, "n_jobs": -1}
            labels = METHODS["GIT"].fit(embedding.points, classes, **options)
        seconds = round(perf_counter() - start, 2)
        scores = {name: round(value, 4) for name, value in score_labels(y, labels).items()}
        scores["f1 as published"] = round(published_scores(y, labels).f1, 4)
        found = {"clusters": count_clusters(labels), "seconds": seconds}
        yield {"variant": variant, "k": k, "n": len(y)} | scores | found


def read_curves(lines: Sequence[Line]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """F1 over ``SIZES`` of every embedding and source, NaN where it was not run; ``"auto"`` is one value."""
    curves: dict[tuple[str, str], dict[str, list[float]]] = {}
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    without = dimension_reduction.group_lines(read_lines(dimension_reduction.RESULTS))
    for place in dict.fromkeys(key[:2] for key in sorted(found, key=lambda key: (*map(_rank, key[:2]),))):
        published = dict(zip(PUBLISHED_SIZES, BY_NEIGHBORS[place], strict=True))
        curve = {"published": [published[k] for k in SIZES]}
        for variant, score in (("authors", "f1 as published"), ("adaptive", "f1")):
            curve[variant] = [found.get((*place, variant, k), {}).get(score, np.nan) for k in SIZES]
        curve["auto"] = [without.get(place, {}).get("GIT", {}).get("f1", np.nan)]
        curve["k-means"] = baseline(*place)
        curves[place] = curve
    return curves


def baseline(dataset: str, name: str) -> list[float]:
    """F1 of k-means: by optimal matching, as published, and the published figure; seeds are averaged."""
    line = dimension_reduction.group_lines(read_lines(dimension_reduction.RESULTS)).get((dataset, name), {})
    here, raw = line.get("k-means", {}), PUBLISHED[dataset]["k-means++"]
    published = (EMBEDDED_PEERS.get((dataset, name)) or {"k-means": raw})["k-means"].scores[0] or np.nan
    return [here.get("f1", np.nan), here.get("as published", [np.nan])[0], published]


def claim() -> str:
    """In how many cases GIT is ahead of k-means, which the paper says of "the vast majority"."""
    curves = read_curves(read_lines(RESULTS)).values()
    rows = []
    for source, which, title in (
        ("published", 2, "published figures"),
        ("authors", 1, "here, `authors`, counted as published"),
        ("adaptive", 0, "here, default with that k"),
    ):
        gains = np.concatenate([np.array(curve[source]) - curve["k-means"][which] for curve in curves])
        gains = gains[~np.isnan(gains)]
        rows.append([title, f"{(gains > 0).sum()} of {len(gains)}", f"{gains.min():+.3f}", f"{np.median(gains):+.3f}"])
    return markdown(["", "GIT ahead of k-means++", "worst", "median"], rows)


def _rank(name: str) -> int:
    return (*SETS, *PLACES).index(name)


def table() -> str:
    """Markdown: mean, and spread from the worst to the best k, of every embedding; the default without k."""
    rows = []
    for (dataset, name), curve in read_curves(read_lines(RESULTS)).items():
        cells = [_mean_and_spread(curve[source]) for source in SOURCES]
        if all(cells):
            rows.append([dataset, name, *cells, f"{curve['auto'][0]:.3f}"])
    return markdown(["set", "mean F1 (worst to best k)", *SOURCES.values(), "default, no k"], rows)


def _mean_and_spread(values: Sequence[float]) -> str:
    if np.isnan(values).any():
        return ""
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def full_table(lines: Sequence[Line] | None = None) -> str:
    """Markdown: F1 of every k; by default of what is stored."""
    rows = []
    for (dataset, name), curve in read_curves(read_lines(RESULTS) if lines is None else lines).items():
        for source, title in SOURCES.items():
            rows.append([dataset, name, title, *("" if np.isnan(f1) else f"{f1:.3f}" for f1 in curve[source])])
    return markdown(["set", "F1", "", *(f"k = {k}" for k in SIZES)], rows)
