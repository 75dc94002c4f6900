"""Sets of other people's generators: 20 draws each, with seeds 0 to 19 and parameters fixed before the first run.

The seed of a draw chooses 2 to 10 clusters in 2 to 10 features, and every set has 1,500 samples. repliclust and
DENSIRED have their defaults, CluGen the values of the example in its documentation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from benchmarks.suite.datasets import Dataset
from benchmarks.suite.shapes import Labelled

N_DRAWS, N_SAMPLES = 20, 1500


def draw_repliclust(number: int, dimension: int, seed: int) -> Labelled:
    """Return ellipsoids of several distributions, sizes and overlaps."""
    import repliclust

    repliclust.set_seed(seed)
    archetype = repliclust.Archetype(n_clusters=number, dim=dimension, n_samples=N_SAMPLES)
    return repliclust.DataGenerator(archetype).synthesize(quiet=True)[:2]


def draw_clugen(number: int, dimension: int, seed: int) -> Labelled:
    """Return clusters along lines."""
    from pyclugen import clugen

    direction = np.random.default_rng(seed).normal(size=dimension)
    gaps = [10.0] * dimension
    drawn = clugen(dimension, number, N_SAMPLES, direction, np.pi / 16, gaps, 10, 1, 2, rng=seed)
    return drawn.points, drawn.clusters


def draw_densired(number: int, dimension: int, seed: int) -> Labelled:
    """Return random walks of balls, ten for each cluster."""
    from densired import densityDataGen

    skeleton = densityDataGen(dim=dimension, clunum=number, core_num=10 * number, seed=seed)
    drawn = skeleton.generate_data(N_SAMPLES, seed=seed)
    return drawn[:, :-1], drawn[:, -1]


GENERATORS: dict[str, Callable[[int, int, int], Labelled]] = {
    "repliclust": draw_repliclust,
    "pyclugen": draw_clugen,
    "densired": draw_densired,
}
"""The generators by their packages."""


def drawn_sets(n_draws: int = N_DRAWS) -> Iterator[tuple[str, Dataset]]:
    """Yield package and version, and the set, for every draw of the installed generators."""
    for package, draw in GENERATORS.items():
        try:
            name = f"{package} {version(package)}"
        except PackageNotFoundError:
            print(f"{package} is left out: pip install {package}", file=sys.stderr)
            continue
        for seed in range(n_draws):
            number, dimension = (int(value) for value in np.random.default_rng(seed).integers(2, 11, 2))
            X, y = draw(number, dimension, seed)
            yield (
                name,
                Dataset(f"{package}-{seed}", np.asarray(X, np.float64), np.asarray(y).astype(np.int64), package, False),
            )
