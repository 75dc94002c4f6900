"""How much the result depends on k: ``python -m benchmarks sensitivity [--sets a,b] [--embeddings a,b]``.

F1 over k = 30, 40, ..., 100 of the code behind the published figures (``variant="authors"``, equal shares) and of the
default variant with the same k, told nothing but the number of classes; and of the default as it is, which chooses k
itself. Beside them the published F1. The published principal components can be computed again; the published
autoencoder embeddings are not to be had, so that ours differ from them whatever is run on them.

Neighbours are searched once an embedding and order of rows, exactly. Results, ``--cache``, ``--quick``, ``--table`` and
``--figure`` are as in ``dimension_reduction``, in ``results/sensitivity.jsonl``.
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

from benchmarks.experiments.dimension_reduction import QUICK_EPOCHS, QUICK_SAMPLES
from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Key, Line, Store, describe_run, read_lines, show_progress
from benchmarks.scoring import score_labels
from benchmarks.suite.embeddings import NAMES, SETS, Embedding, can_run, default_cache, load_embedding
from gitcluster import GIT, find_neighbors
from gitcluster.metrics import published_scores

RESULTS = FOLDER / "sensitivity.jsonl"
KEYS = ("set", "embedding", "variant", "k")
VARIANTS = ("authors", "adaptive")
SIZES = PUBLISHED_SIZES = tuple(range(30, 101, 10))
PLACES = tuple(name for name in NAMES if not name.startswith("umap"))
KINDS = (("raw", "pca"), "ae")
"""What the two rows of a set are drawn of."""
# fmt: off
PUBLISHED: dict[tuple[str, str], tuple[float, ...]] = {
    ("mnist", "raw"): (.5708, .5859, .5873, .5232, .5163, .5848, .4625, .4690),
    ("mnist", "pca5"): (.3842, .4684, .4111, .4738, .4784, .4513, .3949, .4777),
    ("mnist", "pca10"): (.6101, .6326, .6077, .7284, .6915, .7032, .6858, .6481),
    ("mnist", "pca20"): (.8202, .6226, .7694, .7472, .6581, .7715, .7418, .6347),
    ("mnist", "pca30"): (.7350, .6150, .5034, .5230, .5429, .5370, .5999, .5208),
    ("mnist", "ae5"): (.7566, .8784, .8668, .8550, .8519, .8387, .8351, .8510),
    ("mnist", "ae10"): (.8910, .8615, .8130, .8557, .8094, .7608, .8332, .8284),
    ("mnist", "ae20"): (.8828, .8805, .8308, .8034, .8227, .8170, .8266, .8035),
    ("mnist", "ae30"): (.8811, .8429, .8632, .7537, .7987, .7908, .7916, .7865),
    ("fmnist", "raw"): (.4243, .5293, .5077, .5077, .5170, .5611, .5562, .5519),
    ("fmnist", "pca5"): (.4964, .5502, .4560, .4613, .4420, .4971, .5525, .5925),
    ("fmnist", "pca10"): (.5722, .6868, .5628, .6160, .6105, .5262, .5577, .5413),
    ("fmnist", "pca20"): (.6432, .5975, .5520, .4643, .5320, .5208, .4699, .5950),
    ("fmnist", "pca30"): (.4848, .4783, .5375, .5309, .5342, .4104, .4406, .4266),
    ("fmnist", "ae5"): (.4148, .6024, .4907, .6474, .6204, .6163, .5913, .6036),
    ("fmnist", "ae10"): (.5547, .5044, .6070, .5647, .5033, .5280, .5682, .5789),
    ("fmnist", "ae20"): (.5689, .4964, .5008, .4843, .5350, .5458, .5771, .5726),
    ("fmnist", "ae30"): (.5357, .5426, .5801, .6505, .6179, .4375, .4842, .4844),
}
# fmt: on
SOURCES = {"published": "published", "authors": "`authors`", "adaptive": "default, k given"}


class SearchOnce:
    """A search for GIT's parameter ``neighbors`` that remembers the last samples: smaller k are prefixes."""

    def __init__(self, most: int) -> None:
        self.most, self.points, self.found = most, np.empty((0, 0)), None

    def __sklearn_clone__(self) -> SearchOnce:
        return self  # a fit is not to forget what the one before has found

    def fit(self, points: NDArray[Any]) -> SearchOnce:
        """Search, unless these are the samples of the last time."""
        if not np.array_equal(points, self.points):
            most = min(self.most, len(points) - 1)
            self.points, self.found = (
                points.copy(),
                find_neighbors(points, n_neighbors=most, search="exact", n_jobs=-1),
            )
        return self

    def kneighbors(self, points: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Distances and indices, the sample itself first."""
        own = np.arange(len(points))[:, None]
        distances, indices = self.found.distances[:, : n - 1], self.found.indices[:, : n - 1]
        return np.hstack([np.zeros_like(own, distances.dtype), distances]), np.hstack([own, indices])


def main(arguments: Sequence[str]) -> None:
    """Run what is not stored yet, then print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sensitivity", description=__doc__)
    listed = {"type": lambda text: text.split(","), "metavar": "A,B"}
    parser.add_argument("--sets", default=list(SETS), **listed)
    parser.add_argument("--embeddings", default=list(PLACES), **listed)
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="3,000 images, nothing is stored")
    parser.add_argument("--table", action="store_true", help="print the stored results alone")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the stored results")
    options = parser.parse_args(arguments)
    if options.figure:
        draw(options.figure)
    elif options.quick:
        with tempfile.TemporaryDirectory() as folder:
            quick = {"cache": Path(folder), "n_samples": QUICK_SAMPLES, "max_epochs": QUICK_EPOCHS}
            print(full_table([line for lines in run(options, set(), **quick) for line in lines]))
    else:
        if not options.table:
            store, about = Store(RESULTS, KEYS), describe_run("sensitivity", arguments)
            for lines in run(options, set(store.lines), cache=options.cache):
                for line in lines:
                    store.add(line | about)
        print(table())


def run(options: argparse.Namespace, stored: set[Key], **source: Any) -> Iterator[Iterator[Line]]:
    """The lines of every embedding that has any missing."""
    wanted = [("authors", k) for k in SIZES] + [("adaptive", k) for k in (None, *SIZES)]
    jobs = [
        (dataset, name, [way for way in wanted if (dataset, name, *way) not in stored])
        for name in can_run(options.embeddings)
        for dataset in options.sets
    ]
    for (dataset, name, ways), say in show_progress([job for job in jobs if job[2]], "sensitivity"):
        say(f"{dataset} {name}")
        embedding = load_embedding(dataset, name, **source)
        yield ({"set": dataset, "embedding": name} | line for line in run_embedding(embedding, ways))


def run_embedding(embedding: Embedding, ways: Sequence[tuple[str, int | None]]) -> Iterator[Line]:
    """One line a variant and k; the authors' variant gets doubles, as published, and its scores are also counted so."""
    y, classes = embedding.y, len(np.unique(embedding.y))
    search = SearchOnce(2 * SIZES[-1])
    for variant, k in ways:
        X = embedding.points.astype(np.float64) if variant == "authors" else embedding.points
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GIT(classes, n_neighbors=k or "auto", variant=variant, neighbors=search, n_jobs=-1).fit(X)
        seconds = perf_counter() - start
        scores = {name: round(value, 4) for name, value in score_labels(y, model.labels_).items()}
        yield (
            {"variant": variant, "k": k, "n": len(y)}
            | scores
            | {
                "f1 as published": round(published_scores(y, model.labels_).f1, 4),
                "clusters": model.n_clusters_,
                "seconds": round(seconds, 2),
            }
        )


def read_curves(lines: Sequence[Line]) -> dict[tuple[str, str], dict[str, list[float]]]:
    """F1 over ``SIZES`` of every embedding and source, NaN where it was not run; ``"auto"`` is one value."""
    curves: dict[tuple[str, str], dict[str, list[float]]] = {}
    found = {tuple(line[key] for key in KEYS): line for line in lines}
    for place in dict.fromkeys(key[:2] for key in sorted(found, key=lambda key: (*map(_rank, key[:2]),))):
        published = dict(zip(PUBLISHED_SIZES, PUBLISHED[place], strict=True))
        curve = {"published": [published[k] for k in SIZES]}
        for variant, score in (("authors", "f1 as published"), ("adaptive", "f1")):
            curve[variant] = [found.get((*place, variant, k), {}).get(score, np.nan) for k in SIZES]
        curve["auto"] = [found.get((*place, "adaptive", None), {}).get("f1", np.nan)]
        curves[place] = curve
    return curves


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


def draw(path: Path) -> None:
    """F1 over k: two rows a set, principal components above autoencoders of as many numbers, raw images before them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    curves = read_curves(read_lines(RESULTS))
    whole = {place for place, curve in curves.items() if not np.isnan([*curve["authors"], *curve["adaptive"]]).any()}
    if not whole:
        raise SystemExit("No embedding has been run with all k: python -m benchmarks sensitivity")
    sets = [dataset for dataset in SETS if any(place[0] == dataset for place in whole)]
    rows = [(dataset, [name for name in PLACES if name.startswith(kinds)]) for dataset in sets for kinds in KINDS]
    width = max(len(names) for _, names in rows)
    figure, panels = pyplot.subplots(len(rows), width, figsize=(12, 2.1 * len(rows)), sharex=True, sharey=True,
                                     squeeze=False, layout="constrained")  # fmt: skip
    for (dataset, names), row in zip(rows, panels, strict=True):
        for name, panel in zip([""] * (width - len(names)) + names, row, strict=True):
            if (dataset, name) in whole:
                drawn = draw_curve(panel, curves[dataset, name])
                panel.set_title(f"{dataset.upper()} {name}", fontsize=10)
                last = panel.get_subplotspec().is_last_row()
                panel.tick_params(labelbottom=last or name == "raw", labelleft=name in ("raw", "ae5"))
                panel.grid(alpha=0.3)
            else:
                panel.set_axis_off()
    panels[1, 0].legend(handles=drawn, loc="center", frameon=False, fontsize=9)
    figure.supxlabel("k")
    figure.supylabel("F1")
    figure.savefig(path, dpi=100)


def draw_curve(panel: Any, curve: dict[str, list[float]]) -> list[Any]:
    """The curves of one embedding; the lines drawn."""
    return [
        *panel.plot(SIZES, curve["published"], "o--", color="0.55", markersize=4, label="published"),
        *panel.plot(SIZES, curve["authors"], "s-", color="tab:orange", markersize=4, label='variant="authors"'),
        *panel.plot(SIZES, curve["adaptive"], "o-", color="tab:blue", markersize=4, label="default, k given"),
        panel.axhline(curve["auto"][0], color="tab:blue", linewidth=1, linestyle=":", label="default, no k"),
    ]
