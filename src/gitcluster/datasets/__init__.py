"""The paper's data sets: ``X, y = load_iris()``, or ``load("iris")`` by name.

Every set is a pair of samples and labels.
"""

from gitcluster.datasets.loading import (
    DatasetError,
    load,
    load_cancer,
    load_codon,
    load_fmnist,
    load_frogs,
    load_hepatitis,
    load_iris,
    load_mnist,
    load_olivetti,
    load_wine,
    names,
)
from gitcluster.datasets.shapes import make_noisy_moons, make_scaled_circles, make_smile

__all__ = [
    "DatasetError", "load", "load_cancer", "load_codon", "load_fmnist", "load_frogs", "load_hepatitis", "load_iris",
    "load_mnist", "load_olivetti", "load_wine", "make_noisy_moons", "make_scaled_circles", "make_smile", "names",
]  # fmt: skip
