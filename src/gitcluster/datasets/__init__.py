"""The paper's data sets: ``X, y = load_iris()``, or ``load("iris")`` by name.

Real sets come from the folder named by ``GITCLUSTER_DATA``, the cache, scikit-learn or the web, in this order, and are
checked; drawn sets come from that folder or are generated in their likeness. Nothing here knows of GIT.
"""

from gitcluster.datasets.catalog import Info, describe, names
from gitcluster.datasets.constructions import make_noisy_impossible, make_noisy_moons, make_scaled_circles
from gitcluster.datasets.loaders import (
    load_cancer,
    load_chainlink,
    load_circles,
    load_codon,
    load_fmnist,
    load_frogs,
    load_hepatitis,
    load_impossible,
    load_iris,
    load_mnist,
    load_moons,
    load_olivetti,
    load_s_set,
    load_smile,
    load_wine,
)
from gitcluster.datasets.loading import load
from gitcluster.datasets.shapes import make_chainlink, make_impossible, make_s_set, make_smile
from gitcluster.datasets.store import DatasetError

__all__ = [
    "DatasetError",
    "Info",
    "describe",
    "load",
    "load_cancer",
    "load_chainlink",
    "load_circles",
    "load_codon",
    "load_fmnist",
    "load_frogs",
    "load_hepatitis",
    "load_impossible",
    "load_iris",
    "load_mnist",
    "load_moons",
    "load_olivetti",
    "load_s_set",
    "load_smile",
    "load_wine",
    "make_chainlink",
    "make_impossible",
    "make_noisy_impossible",
    "make_noisy_moons",
    "make_s_set",
    "make_scaled_circles",
    "make_smile",
    "names",
]
