"""Single cells beside Leiden: ``python -m benchmarks cells``, with scanpy, igraph and leidenalg.

Cells that come with scanpy: 700 of human blood with the types that their publication gives them, and 640 of a simulated
development of blood. Leiden runs at the resolutions .5 and 1.0 on the graph that comes with the cells, where there is
one, and on one of scanpy's 15 neighbours, both with scanpy's two implementations and five seeds each; the mean of the
seeds counts. GIT has no seed. Every run is a line of ``results/cells.jsonl``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, describe_run, read_lines, record
from gitcluster.integrations.scanpy import git

RESULTS = FOLDER / "cells.jsonl"
FLAVOURS: dict[str, dict[str, Any]] = {"igraph": {"n_iterations": 2, "directed": False}, "leidenalg": {}}
SEEDS = range(5)


def main(arguments: Sequence[str]) -> None:
    """Run all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cells", description=__doc__)
    parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name, cells, truth in load_cells():
        for line in (*run_git(cells, truth), *run_leiden(cells, truth)):
            record(RESULTS, {"set": name, "types": len(set(truth))} | line | describe_run("cells", arguments))


def load_cells() -> Iterator[tuple[str, Any, Any]]:
    """Names, cells and the labels that were published with them."""
    import scanpy

    blood = scanpy.datasets.pbmc68k_reduced()
    yield "pbmc68k_reduced", blood, blood.obs["bulk_labels"].to_numpy()
    simulated = scanpy.datasets.krumsiek11()
    simulated.obs_names_make_unique()
    scanpy.pp.pca(simulated, n_comps=10)
    yield "krumsiek11", simulated, simulated.obs["cell_type"].to_numpy()


def run_git(cells: Any, truth: Any) -> Iterator[Line]:
    """GIT by components and by the graph, told nothing or the number of types."""
    for told in ("auto", len(set(truth))):
        git(cells, told)
        yield score("GIT, components", told, truth, cells.obs["git"])
        if "distances" in cells.obsp:
            git(cells, told, neighbors_key="neighbors")
            yield score("GIT, the graph that comes with them", told, truth, cells.obs["git"])


def run_leiden(cells: Any, truth: Any) -> Iterator[Line]:
    """Leiden on both graphs."""
    import scanpy

    graphs = {"the graph that comes with them": None, "15 neighbours": 15}
    for graph, n_neighbors in graphs.items():
        if n_neighbors is not None:
            scanpy.pp.neighbors(cells, n_neighbors=n_neighbors)
        elif "distances" not in cells.obsp:
            continue
        for flavour, options in FLAVOURS.items():
            for resolution in (0.5, 1.0):
                for seed in SEEDS:
                    scanpy.tl.leiden(
                        cells, resolution, random_state=seed, flavor=flavour, key_added="leiden", **options
                    )
                    method = f"Leiden ({flavour}), {graph}"
                    yield score(method, resolution, truth, cells.obs["leiden"]) | {"seed": seed}


def score(method: str, told: Any, truth: Any, labels: Any) -> Line:
    """One run."""
    ari = round(float(adjusted_rand_score(truth, labels.astype(str))), 4)
    return {"method": method, "told": told, "clusters": int(labels.nunique()), "ari": ari}


def table() -> str:
    """Markdown: adjusted Rand index with the published types, means of the seeds."""
    lines, rows = read_lines(RESULTS), []
    for name in dict.fromkeys(line["set"] for line in lines):
        of_set = [line for line in lines if line["set"] == name]
        for method, told in dict.fromkeys((line["method"], str(line["told"])) for line in of_set):
            some = [line for line in of_set if (line["method"], str(line["told"])) == (method, told)]
            aris, counts = [line["ari"] for line in some], [line["clusters"] for line in some]
            what = "nothing" if told == "auto" else f"resolution {told}" if "." in told else f"{told} clusters"
            spread = f" ({min(aris):.3f} to {max(aris):.3f})" if len(set(aris)) > 1 else ""
            numbers = f"{min(counts)}" if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"
            rows.append([name, method, what, numbers, f"{np.mean(aris):.3f}{spread}"])
    return markdown(["cells", "method", "told", "clusters", "ARI (range over seeds)"], rows)
