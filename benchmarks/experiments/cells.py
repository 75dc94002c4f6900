"""Compare GIT with Leiden on single cells: ``python -m benchmarks cells``, with scanpy, igraph and leidenalg.

The cells come with scanpy: 700 of human blood with published types, and 640 of a simulated development of blood. Leiden
runs at the resolutions .5 and 1.0 on the graph that comes with the cells, if there is one, and on one of scanpy's 15
neighbours, with scanpy's two implementations and five seeds each. The mean of the seeds counts. GIT has no seed.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task

FIELDS = ("set", "method", "given", "seed")
FLAVOURS: dict[str, dict[str, Any]] = {"igraph": {"n_iterations": 2, "directed": False}, "leidenalg": {}}
OWN_GRAPH = "the graph that comes with them"


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every fit of GIT and of Leiden; ``--quick`` yields one seed of the smaller set."""
    import scanpy

    warnings.simplefilter("ignore")
    blood, simulated = scanpy.datasets.pbmc68k_reduced(), scanpy.datasets.krumsiek11()
    simulated.obs_names_make_unique()
    scanpy.pp.pca(simulated, n_comps=10)
    sets = {"pbmc68k_reduced": (blood, blood.obs["bulk_labels"]), "krumsiek11": (simulated, simulated.obs["cell_type"])}
    for name, (cells, types) in list(sets.items())[options.quick :]:
        truth, has_graph = types.to_numpy(), "distances" in cells.obsp
        task = {"set": name, "types": len(set(truth))}
        for given in ("auto", len(set(truth))):
            yield task | {"method": "GIT, components", "given": given}, partial(run_git, cells, truth, given)
            if has_graph:
                run = partial(run_git, cells, truth, given, neighbors_key="neighbors")
                yield task | {"method": f"GIT, {OWN_GRAPH}", "given": given}, run
        for graph in [OWN_GRAPH, "15 neighbours"] if has_graph else ["15 neighbours"]:
            if graph == "15 neighbours":
                scanpy.pp.neighbors(cells, n_neighbors=15)
            seeds = range(1 if options.quick else 5)
            for flavour, resolution, seed in product(FLAVOURS, (0.5, 1.0), seeds):
                leiden = {"method": f"Leiden ({flavour}), {graph}", "given": resolution, "seed": seed}
                yield task | leiden, partial(run_leiden, cells, truth, flavour, resolution, seed)


def run_git(cells: Any, truth: Any, given: Any, **options: Any) -> Line:
    """Return the score of GIT with nothing or the number of types given."""
    from gitcluster.integrations.scanpy import git

    git(cells, given, **options)
    return score(truth, cells.obs["git"])


def run_leiden(cells: Any, truth: Any, flavour: str, resolution: float, seed: int) -> Line:
    """Return the score of Leiden."""
    import scanpy

    scanpy.tl.leiden(cells, resolution, random_state=seed, flavor=flavour, key_added="leiden", **FLAVOURS[flavour])
    return score(truth, cells.obs["leiden"])


def score(truth: Any, labels: Any) -> Line:
    """Return the number of clusters and the adjusted Rand index."""
    return {"clusters": int(labels.nunique()), "ari": round(float(adjusted_rand_score(truth, labels.astype(str))), 4)}


def table() -> str:
    """Return the adjusted Rand index with the published types; both implementations of Leiden and all seeds in one."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in Store("cells", FIELDS).lines.values():
        method, given = re.sub(r" \(\w+\)", "", line["method"]), str(line["given"])
        given = "nothing" if given == "auto" else f"resolution {given}" if "." in given else f"{given} clusters"
        groups.setdefault((line["set"], method, given), []).append(line)
    rows = []
    for key, lines in groups.items():
        aris, counts = [line["ari"] for line in lines], sorted({line["clusters"] for line in lines})
        spread = f" ({min(aris):.3f} to {max(aris):.3f})" if len(set(aris)) > 1 else ""
        numbers = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        rows.append([*key, numbers, f"{np.mean(aris):.3f}{spread}"])
    return markdown(["cells", "method", "given", "clusters", "ARI (range over seeds)"], rows)


TABLES = {"cells": table}
