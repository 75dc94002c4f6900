"""Measure how far clustering methods agree without structure: ``python -m benchmarks null_agreement``.

``gitcluster.selection.NULL_AGREEMENTS`` comes from this table: the agreement between families of methods, at the number
of clusters on which they agree best, that 98 % of sets without structure do not exceed, by intrinsic dimension.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from itertools import islice, product

import numpy as np
from numpy.random import default_rng

from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task
from benchmarks.suite.kinds import ONE_CLUSTER, one_cluster
from gitcluster import GIT, scale_features
from gitcluster.neighbors import find_neighbors
from gitcluster.selection import NULL_AGREEMENTS, intrinsic_dimension

FIELDS = ("set",)
FAMILIES = [family for family in ONE_CLUSTER if family != "with categories"]


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every set; ``--quick`` yields the first two."""
    sets = product(FAMILIES, (100, 300, 1000), (3, 4, 5, 6, 8, 10, 15, 20, 30), range(4))
    for family, n, d, seed in islice(sets, 2 if options.quick else None):
        yield {"set": f"{family}-{n}-{d}-{seed}"}, partial(measure_agreement, family, n, d, seed)


def measure_agreement(family: str, n: int, d: int, seed: int) -> Line:
    """Return the intrinsic dimension of a set, and the best agreement between families of methods on it."""
    X, _ = one_cluster(default_rng((FAMILIES.index(family), n, d, seed)), family=family, n=n, d=d)
    scores = GIT().fit(X).n_clusters_scores_["families"]
    near = find_neighbors(scale_features(X), n_neighbors=min(40, n - 1))
    best = float(np.nanmax(scores)) if np.isfinite(scores).any() else None
    return {"dimension": round(intrinsic_dimension(near), 2), "agreement": best}


def table() -> str:
    """Return quantiles of the agreement by intrinsic dimension, and the constants of the library."""
    lines = [line for line in Store("null_agreement", FIELDS).lines.values() if line["agreement"] is not None]
    dimensions, agreements = (np.array([line[name] for line in lines]) for name in ("dimension", "agreement"))
    rows = []
    for dimension, level in NULL_AGREEMENTS:
        near = agreements[np.abs(np.log(dimensions / dimension)) < 0.2]
        quantiles = [f"{value:.2f}" for value in np.quantile(near, [0.5, 0.9, 0.98])] if len(near) else [""] * 3
        rows.append([f"{dimension:.0f}", str(len(near)), *quantiles, f"{level:.2f}"])
    return markdown(["intrinsic dimension", "sets", "median", "90 %", "98 %", "used"], rows)


TABLES = {"null_agreement": table}
