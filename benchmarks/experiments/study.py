"""Why the default merges and chooses as it does: each choice against its alternatives, ``python -m benchmarks study``.

Every design changes one choice of the default, over all sets with a known number of clusters: the generated ones, and
the half of the public ones that constants are looked at on. A choice is trusted when designs chosen without a family
of sets, or without a kind of data, do as well on what was left out as the default: ``--table`` prints the mean adjusted
Rand index of every design by kinds, and of the design that is best on all the rest, family by family and kind by kind.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments.public import half_of, public_sets
from benchmarks.reporting.tables import markdown, mean_of_kinds, plain_kind
from benchmarks.running import FOLDER, Line, append, describe_run, read_lines
from benchmarks.suite.datasets import Dataset, generated_datasets, toy_datasets
from gitcluster._support.arrays import inverse_order
from gitcluster.edge_cutting import cut_by_width
from gitcluster.inputs import check_input
from gitcluster.inputs.preparing import prepare_samples
from gitcluster.pipeline import Views, look_at, study_samples
from gitcluster.prior.proportions import equal_shares
from gitcluster.recipes import RECIPES, Recipe
from gitcluster.selection import compare
from gitcluster.selection.agreement import mean_agreement
from gitcluster.selection.candidates import Candidate, able_views, evenness, gather_candidates

RESULTS = FOLDER / "study.jsonl"
DEFAULT = RECIPES["adaptive"]
MERGES = ("linkage", "even linkage", "spectral")


class Design(NamedTuple):
    """The choices of the default, or others."""

    recipe: Recipe = DEFAULT
    ways: tuple[str, ...] = ()
    """Representations, all of them where none is named."""
    sizes: slice = slice(None)
    """Which of the numbers of neighbours."""
    merges: tuple[str, ...] = MERGES
    mute: str = ""
    """A merge whose candidates may be chosen, and do not count in the agreement."""
    saying: float = 0.2
    thin: float = 0.0
    """What a candidate loses that cuts where samples are as dense as anywhere."""


DESIGNS = {
    "default": Design(),
    "features divided by standard deviations": Design(ways=("std",)),
    "features as given": Design(ways=("given",)),
    "features bent by a power": Design(ways=("power",)),
    "one k = log2 n / 2": Design(sizes=slice(0, 1)),
    "one k = 2 log2 n": Design(sizes=slice(-1, None)),
    "3 of the 5 k": Design(sizes=slice(None, None, 2)),
    "no linkage with crumbs of a twentieth": Design(merges=MERGES[1:]),
    "no linkage with crumbs of a fifth": Design(merges=MERGES[::2]),
    "no spectral cut": Design(merges=MERGES[:2]),
    "spectral cuts do not vote": Design(mute="spectral"),
    "the paper's sweep, equal shares, as well": Design(merges=(*MERGES, "sweep")),
    "the paper's sweep, equal shares, alone": Design(merges=("sweep",)),
    "evenness does not count": Design(saying=0.0),
    "evenness counts twice": Design(saying=0.4),
    "cuts in thin places preferred": Design(thin=0.5),
    "kernel exp(-d)": Design(DEFAULT._replace(kernel="exponential")),
    "kernel exp(-d^2 / number of features)": Design(DEFAULT._replace(kernel="gaussian")),
    "climb among k / 3": Design(DEFAULT._replace(climb=1 / 3)),
    "climb among k": Design(DEFAULT._replace(climb=1.0)),
    "boundary pairs among k": Design(DEFAULT._replace(boundary_reach=1.0)),
    "boundary pairs among 3 k": Design(DEFAULT._replace(boundary_reach=3.0)),
    "similarity exp(-d)": Design(DEFAULT._replace(similarity="distance")),
}


class Found(NamedTuple):
    """All candidates for one set, with one recipe."""

    agreement: NDArray[np.float64]
    """(m, m) adjusted Rand index of every two."""
    evenness: NDArray[np.float64]
    density: NDArray[np.float64]
    """How dense samples are where a candidate cuts, 1 where they are as dense as anywhere."""
    truth: NDArray[np.int64]
    labels: NDArray[np.int64]
    """(m, n) clusters of the samples that are scored."""
    merge: NDArray[np.str_]
    way: NDArray[np.str_]
    size: NDArray[np.int64]


def main(arguments: Sequence[str]) -> None:
    """Run the designs over the sets, or print the table of what is stored."""
    run_designs("study", __doc__, arguments, sets=sets, compare=compare_designs, store=RESULTS)
    print(table())


def run_designs(
    name: str,
    description: str | None,
    arguments: Sequence[str],
    *,
    sets: Callable[[int], Iterator[tuple[str, Dataset]]],
    compare: Callable[[Dataset], Line],
    store: Path,
) -> None:
    """Append a line for every set that a file has none of; nothing with ``--table``."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=description)
    parser.add_argument("--table", action="store_true", help="print the table of stored results")
    parser.add_argument("--max-samples", type=int, default=1000, metavar="N", help="leave out larger generated sets")
    options = parser.parse_args(arguments)
    if options.table:
        return
    warnings.simplefilter("ignore")
    done = {line["set"] for line in read_lines(store)}
    for kind, data in sets(options.max_samples):
        if data.name not in done:
            line = {"set": data.name, "family": data.family, "kind": kind} | compare(data)
            append(store, line | describe_run(name, arguments))
            print(data.name, file=sys.stderr)


def sets(max_samples: int) -> Iterator[tuple[str, Dataset]]:
    """Sets with their kind. Drawn sets, of which there are many, are small; of public ones only those are here that
    constants are looked at on."""
    for make in (generated_datasets, toy_datasets):
        for data in make(2 * max_samples):
            fits = data.kind != "drawn" or len(data.X) <= max_samples
            if fits and len(np.unique(data.y[data.y >= 0])) > 1:
                yield f"generated {data.kind}", data
    yield from ((data.family, data) for data in public_sets(5 * max_samples) if half_of(data.name) == 0)


def compare_designs(data: Dataset) -> Line:
    """Adjusted Rand index of every design on one set."""
    found = {recipe: gather(data, recipe) for recipe in dict.fromkeys(design.recipe for design in DESIGNS.values())}

    @cache
    def score(recipe: Recipe, i: int | None) -> float:
        return 0.0 if i is None else round(float(adjusted_rand_score(found[recipe].truth, found[recipe].labels[i])), 4)

    return {name: score(design.recipe, choose(found[design.recipe], design)) for name, design in DESIGNS.items()}


def gather(data: Dataset, recipe: Recipe) -> Found:
    """All candidates for the true number of clusters."""
    ready = prepare_samples(
        check_input(np.asarray(data.X, np.float64), "euclidean"), sample_weight=None, constraints=None, sort=True
    )
    look = partial(look_at, recipe=recipe, search="exact")
    seen, _ = study_samples(ready, look, ready.data.represented("auto", None))
    y = data.y if ready.order is None else data.y[ready.order]
    scored, views = y >= 0, seen.views
    number = len(np.unique(y[scored]))
    candidates = gather_candidates(views, number, None)
    for i in able_views(views, number):
        cut = cut_by_width(views[i].topo_graph, equal_shares(number))
        candidates.append(Candidate(i, "sweep", cut.labels, cut.merged))
    labels = [c.labels[seen.evidence.rows(c.view)] for c in candidates]
    return Found(
        compare(candidates, seen.evidence),
        np.array([evenness(views[c.view], c.labels, number) for c in candidates]),
        np.array(
            [
                density_at_cuts(seen, c.view, some) if recipe == DEFAULT else 0.0
                for c, some in zip(candidates, labels, strict=True)
            ]
        ),
        y[scored],
        np.array(labels)[:, scored],
        np.array([c.merge for c in candidates]),
        np.array([views[c.view].representation for c in candidates]),
        np.array([views[c.view].n_neighbors for c in candidates]),
    )


def density_at_cuts(seen: Views, view: int, labels: NDArray[Any]) -> float:
    """Mean rank of the intensity at the lower ends of links between clusters, beside that of all links."""
    near, _, log_intensity = seen.evidence.samples[view]
    rank = inverse_order(np.argsort(log_intensity, kind="stable"))
    lower = np.minimum(rank[near.indices], rank[:, None])
    cut = labels[near.indices] != labels[:, None]
    return float(lower[cut].mean() / max(lower.mean(), 1.0)) if cut.any() else 0.0


def choose(found: Found, design: Design) -> int | None:
    """The candidate that a design chooses; None where it has none."""
    sizes = np.unique(found.size)[design.sizes]
    able = np.isin(found.merge, design.merges) & np.isin(found.size, sizes)
    if design.ways and (able & np.isin(found.way, design.ways)).any():
        able &= np.isin(found.way, design.ways)
    if not able.any():
        return None
    agreement = found.agreement[np.ix_(able, able)]
    votes = found.merge[able] != design.mute
    mean = (agreement[:, votes].sum(axis=1) - votes) / np.maximum(votes.sum() - votes, 1)
    mean = mean if design.mute else mean_agreement(agreement)
    score = mean + design.saying * found.evenness[able] - design.thin * found.density[able]
    return int(np.flatnonzero(able)[score.round(9).argmax()])


def table() -> str:
    """Markdown: means by kinds for every design, then for what is best on all but the sets that it is scored on."""
    lines = read_lines(RESULTS)
    kinds = list(dict.fromkeys(line["kind"] for line in lines))
    rows = [[name, *_means(lines, dict.fromkeys([line["set"] for line in lines], name))] for name in DESIGNS]
    groups = {"family of sets": lambda line: line["family"], "kind of data": lambda line: plain_kind(line["kind"])}
    for what, group in groups.items():
        best = {value: _best([line for line in lines if group(line) != value]) for value in {group(x) for x in lines}}
        chosen = {line["set"]: best[group(line)] for line in lines}
        rows.append([f"best on the rest, scored on the {what} left out", *_means(lines, chosen)])
    heads = [f"{kind} ({sum(line['kind'] == kind for line in lines)})" for kind in kinds]
    return markdown(["design", *heads, "mean of kinds"], rows)


def _means(lines: list[Line], chosen: dict[str, str]) -> list[str]:
    """Means over the sets of every kind, where a design is chosen for every set, and the mean of kinds."""
    scores = defaultdict(list)
    for line in lines:
        scores[line["kind"]].append(line[chosen[line["set"]]])
    means = {kind: float(np.mean(values)) for kind, values in scores.items()}
    return [f"{mean:.3f}" for mean in (*means.values(), mean_of_kinds(means))]


def _best(lines: list[Line]) -> str:
    """The design with the highest mean over kinds."""
    return max(DESIGNS, key=lambda name: float(_means(lines, dict.fromkeys([x["set"] for x in lines], name))[-1]))
