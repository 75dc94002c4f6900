"""Compare methods with nothing tuned, on sets of other people and on our own: ``python -m benchmarks public``.

``--only part=NAME`` selects one of five parts:

- ``public``: the ``.npz`` files in the folder ``bench`` of GITCLUSTER_DATA, and the real sets beside it. Constants were
  chosen on one half of them, by a hash of the name.
- ``generators``: 20 draws of each of three generators of other people, see ``benchmarks.suite.generators``.
- ``designs``: new samples of our own designs, on which no constant was chosen, and scikit-learn's toys and the paper's
  drawn sets, which were seen. Every family has up to three sets of up to 1,000 samples.
- ``structureless``: sets of one cluster, for methods that choose the number. Peers get numeric sets of up to 1,000
  samples. All noise counts as one cluster.
- ``subsamples``: public sets of up to 3,000 samples, without the faces of Olivetti, whose 4,096 features take too long.
  Five subsamples of 80 % are fitted, and the answers are compared on common rows.

Peers get features divided by their standard deviations; "GIT standardized" gets the same, and GIT the features as they
are. Noise is one more cluster of the adjusted Rand index; the index of covered samples and their share are beside it.
Means are over kinds of data, because most public sets are drawn.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, combinations, islice
from pathlib import Path
from zlib import crc32

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import runner
from benchmarks.methods import METHODS, keep_installed
from benchmarks.reporting.tables import markdown, short
from benchmarks.runner import Line, Store, Task, time_call
from benchmarks.scoring import Labels, count_clusters
from benchmarks.suite import datasets
from benchmarks.suite.datasets import Dataset, data_folder, load_set, real_datasets
from benchmarks.suite.generators import GENERATORS, drawn_sets
from benchmarks.suite.kinds import structureless_sets
from gitcluster import scale_features

FIELDS = ("part", "set", "method")
NUMBER = ("GIT", "GIT standardized", "k-means", "Ward", "Gaussian mixture", "spectral", "Genie", "Lumbermark")
NOTHING = (
    "GIT nothing", "GIT standardized nothing", "HDBSCAN", "PLSCAN", "EVoC", "AuToMATo", "Leiden", "k-means silhouette",
    "Gaussian mixture BIC",
)  # fmt: skip
NAMES = (*NUMBER, "GIT proportions", *NOTHING)
CHOSEN = {name: METHODS[name] for name in NAMES} | {"EVoC": METHODS["EVoC"].using(random_state=0)}
IMAGES = ("real_pendigits", "real_satellite", *datasets.IMAGES)
KINDS = ("drawn", "tables", "images")
GIVEN = ("number", "proportions", "nothing")
MOST_NAMED = 3
HELD_OUT = 1
"""Number of the half of the sets on which no constant was chosen."""
MAX_SMALL, MAX_SUBSAMPLED, MAX_VALUES = 1000, 3000, 1_000_000
"""Samples of the largest sets of our own that peers get; samples and values of the largest set that is subsampled."""
N_SUBSAMPLES, SHARE = 5, 0.8
"""Number of subsamples, and their share of the rows."""
DRAW, PER_FAMILY = 1, 3
"""Number of the draw of our own designs (constants were chosen on draw 0), and sets of every family."""
AHEAD = 0.005
"""Smaller differences between means are noise."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--max-samples", type=int, default=10_500, metavar="N", help="leave out larger sets")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set and method; ``--quick`` yields the first set of every part."""
    most = 1 if options.quick else None
    methods = keep_installed(CHOSEN)
    for data in islice(public_sets(options.max_samples), most):
        about = {"part": "public", "set": data.name, "kind": data.family, "half": half_of(data.name)}
        for name in methods:
            yield about | {"method": name}, partial(run_method, data, name)
            if len(data.X) <= MAX_SUBSAMPLED and data.X.size <= MAX_VALUES:
                yield about | {"part": "subsamples", "method": name}, partial(run_subsamples, data, name)
    for release, data in islice(drawn_sets(), most):
        about = {"part": "generators", "set": data.name, "kind": data.family, "generator": release}
        for name in methods:
            yield about | {"method": name}, partial(run_method, data, name)
    count = Counter({"real": PER_FAMILY, "single": PER_FAMILY})
    for data in islice(chain(datasets.generated_datasets(DRAW), datasets.toy_datasets(), real_datasets()), most):
        about = {"part": "designs", "set": data.name, "kind": data.kind, "family": data.family, "clear": data.clear}
        if len(data.X) <= MAX_SMALL and count[data.family] < PER_FAMILY:
            count[data.family] += 1
            for name in methods:
                yield about | {"method": name}, partial(run_method, data, name)
    for some in islice(structureless_sets(), most):
        data = Dataset(some.name, *some.make(), some.kind, False)
        about = {"part": "structureless", "set": data.name, "kind": data.family}
        small = data.family != "with categories" and len(data.X) <= MAX_SMALL
        for name in NOTHING if small else ("GIT nothing",):
            if name in methods:
                yield about | {"method": name}, partial(run_method, data, name)


def public_sets(max_samples: int) -> Iterator[Dataset]:
    """Yield the sets, with their kind as family; the label -1 is not scored."""
    for path in sorted((data_folder() / "bench").glob("*.npz")):
        X, y = load_set(f"bench/{path.stem}")
        kind = "tables" if path.stem.startswith(("real_", "uci_")) else "drawn"
        if len(X) <= max_samples:
            yield Dataset(path.stem, X, np.where(y == 0, -1, y), "images" if path.stem in IMAGES else kind, False)
    for data in real_datasets():
        if data.family == "real" and len(data.X) <= max_samples:
            yield data._replace(family=data.kind)


def half_of(name: str) -> int:
    """Return 0 for sets on which constants were chosen, and 1 for the held-out half."""
    return crc32(name.encode()) % 2


def fit(data: Dataset, name: str) -> Labels:
    """Return the labels of a method for the features that it gets."""
    own = name.startswith("GIT") and "standardized" not in name
    X = data.X if own else scale_features(np.asarray(data.X, np.float64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CHOSEN[name].fit(X, data.sizes)


def run_method(data: Dataset, name: str) -> Line:
    """Return the scores of one method on one set, or its error."""
    line: Line = {"samples": len(data.X), "classes": len(data.sizes), "package": CHOSEN[name].release}
    try:
        labels, _, cpu = time_call(lambda: fit(data, name))
    except Exception as error:  # a method that refuses a set must not end the run
        return line | {"ari": None, "error": f"{type(error).__name__}: {error}"[:200]}
    scored, covered = data.y >= 0, (data.y >= 0) & (labels >= 0)
    line |= {
        "ari": ari(data.y[scored], np.maximum(labels[scored], -1)),
        "covered": ari(data.y[covered], labels[covered]),
    }
    cover = round(float(covered.sum() / scored.sum()), 4)
    return line | {"cover": cover, "clusters": count_clusters(labels), "cpu_seconds": round(cpu, 2)}


def run_subsamples(data: Dataset, name: str) -> Line:
    """Return the mean agreement between the answers for subsamples, on the rows that two of them share."""
    n, answers = len(data.X), []
    for seed in range(N_SUBSAMPLES):
        rows = np.sort(np.random.default_rng(seed).choice(n, round(SHARE * n), replace=False))
        answer = np.full(n, -2)  # -2: not in the subsample
        try:
            answer[rows] = np.maximum(fit(data._replace(X=data.X[rows], y=data.y[rows]), name), -1)
        except Exception as error:
            return {"agreement": None, "error": f"{type(error).__name__}: {error}"[:200]}
        answers.append(answer)
    common = [(a[both], b[both]) for a, b in combinations(answers, 2) for both in [(a > -2) & (b > -2)]]
    return {"agreement": float(np.mean([ari(a, b) for a, b in common])), "package": CHOSEN[name].release}


def ari(true: Labels, labels: Labels) -> float:
    """Return the adjusted Rand index with four digits; 0 without samples."""
    return round(float(adjusted_rand_score(true, labels)), 4) if len(true) else 0.0


@lru_cache(maxsize=1)
def stored(path: Path) -> tuple[Line, ...]:
    """Return the stored results without errors; a table reads them once."""
    return tuple(line for line in Store("public", FIELDS, path).lines.values() if "error" not in line)


def read(part: str, name: str, **fields: object) -> list[Line]:
    """Return the results of a method on a part that have these values."""
    wanted = fields | {"part": part, "method": name}
    return [line for line in stored(runner.FOLDER) if all(line.get(key) == value for key, value in wanted.items())]


def mean(lines: Sequence[Line], field: str = "ari") -> float:
    """Return the mean of a field over results; NaN without results."""
    return float(np.mean([line[field] for line in lines])) if lines else float("nan")


def share_right(lines: Sequence[Line]) -> str:
    """Return the share of results with the right number of clusters."""
    return f"{np.mean([line['clusters'] == line['classes'] for line in lines]):.0%}" if lines else ""


def cell(part: str, name: str, *groups: dict[str, object], field: str = "ari") -> str:
    """Return the mean of a method over the means of groups; a star says that it refuses some of the sets."""
    lines, every = ([read(part, one, **group) for group in groups] for one in (name, "GIT nothing"))
    value = float(np.mean([mean(some, field) for some in lines]))
    return "" if np.isnan(value) else short(value) + "*" * (sum(map(len, lines)) < sum(map(len, every)))


def table() -> str:
    """Return mean adjusted Rand index by kind of public data, by generator and on our own designs, and the agreement.

    The mean over our own designs is one over kinds of data, with equal weights, and so is that of the held-out half.
    """
    heads = [f"{kind} {len(read('public', 'GIT', kind=kind))}" for kind in KINDS] + ["held-out half"]
    heads += [f"{kind} {len(read('generators', 'GIT', kind=kind))}" for kind in GENERATORS]
    heads += [f"own designs {len(read('designs', 'GIT'))}", "subsamples agree"]
    rows = []
    for name in NAMES:
        row = [cell("public", name, {"kind": kind}) for kind in KINDS]
        row.append(cell("public", name, *({"kind": kind, "half": HELD_OUT} for kind in KINDS)))
        row += [cell("generators", name, {"kind": kind}) for kind in GENERATORS]
        row.append(cell("designs", name, *({"kind": kind} for kind in KINDS)))
        row.append(cell("subsamples", name, {}, field="agreement"))
        rows.append([CHOSEN[name].given, name, *row])
    rows.sort(key=lambda row: (-GIVEN.index(row[0]), row[5]), reverse=True)
    return markdown(["given", "method", *heads], rows)


def unaided_table() -> str:
    """Return for methods that choose the number: scores of covered samples, coverage, and how often it is right."""
    common, rows = {line["set"] for line in read("structureless", "HDBSCAN")}, []
    for name in NOTHING:
        row = [cell("public", name, {}, field=field) for field in ("ari", "covered", "cover")]
        one = [line for line in read("structureless", name) if line["set"] in common]
        shares = (read("public", name), read("generators", name), read("designs", name, clear=True), one)
        rows.append([name, *row, *map(share_right, shares)])
    header = ["method", "ARI", "ARI, covered samples", "covered", "right number: public sets", "generators"]
    return markdown([*header, "clear designs", "one cluster"], sorted(rows, key=lambda row: row[1], reverse=True))


def peer_wins() -> str:
    """Return the kinds of public data, generators and families of designs on which a peer is ahead of GIT."""
    groups: dict[tuple[str, str, str], None] = {}
    for part, field in (("public", "kind"), ("generators", "kind"), ("designs", "family")):
        groups |= dict.fromkeys((part, field, line[field]) for line in read(part, "GIT"))
    rows = []
    for git, names in (("GIT", NUMBER), ("GIT nothing", NOTHING)):
        for part, field, value in groups:
            lines = {name: read(part, name, **{field: value}) for name in (git, *names)}
            own, sets = mean(lines[git]), len(lines[git])
            means = {name: mean(lines[name]) for name in names if "GIT" not in name and len(lines[name]) == sets}
            ahead = sorted((name for name in means if means[name] > own + AHEAD), key=lambda name: -means[name])
            if ahead:
                cells = "; ".join(f"{name} {short(means[name])}" for name in ahead[:MOST_NAMED])
                rows.append([CHOSEN[git].given, f"{value} ({sets})", short(own), cells])
    return markdown(["given", "sets", "GIT", "peers ahead, best three"], rows)


def short_table() -> str:
    """Return mean adjusted Rand index by kind of data on the held-out half."""
    rows = []
    for name in (name for name in NAMES if "standardized" not in name):
        cells = [cell("public", name, {"kind": kind, "half": HELD_OUT}) for kind in KINDS]
        rows.append([CHOSEN[name].given, name.removesuffix(" nothing").removesuffix(" proportions"), *cells])
    return markdown(["given", "method", "drawn shapes", "tables", "images"], rows)


def one_cluster() -> str:
    """Return a sentence on the sets without structure, which include large ones and ones with categories."""
    lines = read("structureless", "GIT nothing") or [{"clusters": 0, "samples": 0, "kind": ""}]
    one, rows = sum(line["clusters"] == 1 for line in lines), [line["samples"] for line in lines]
    kinds = ", ".join(dict.fromkeys(line["kind"] for line in lines))
    return f"GIT returns one cluster for {one} of {len(lines)} sets of {min(rows)} to {max(rows):,} rows ({kinds})."


TABLES = {
    "public": table,
    "unaided": unaided_table,
    "peer_wins": peer_wins,
    "public_short": short_table,
    "one_cluster": one_cluster,
}
