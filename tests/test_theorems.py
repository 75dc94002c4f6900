"""The two theorems of the paper's appendix, for every variant, and what each variant makes of them."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import make_circles

from gitcluster import GIT, estimate_intensity, find_neighbors, scale_features
from gitcluster.variants import KERNELS, VARIANTS

X = make_circles(600, noise=0.15, factor=0.4, random_state=2020)[0]


def intensity(X, kernel, k=12):
    return estimate_intensity(find_neighbors(scale_features(X), n_neighbors=k), kernel=kernel, n_features=X.shape[1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_theorem_1_the_intensity_has_no_unit(variant):
    kernel = VARIANTS[variant].kernel
    for factor in (1000.0, 0.001, np.array([1000.0, 0.01])):
        np.testing.assert_allclose(intensity(X * factor, kernel), intensity(X, kernel), atol=1e-9)


@pytest.mark.parametrize(("variant", "holds"), [("adaptive", True), ("paper", True), ("authors", False)])
def test_theorem_1_for_labels(variant, holds):
    """One factor for all features; the authors' code measures the similarity of boundary pairs in raw units."""
    labels = [GIT(2, variant=variant, n_neighbors=12).fit_predict(s * X) for s in (1.0, 1000.0)]
    assert np.array_equal(*labels) == holds


@pytest.mark.parametrize("k", [1, 5, 30])
def test_theorem_2_the_slope_of_the_intensity_is_at_most_1(k):
    """The t-th neighbour distance changes by no more than the way between two samples: no condition is needed."""
    height = np.exp(intensity(X, "exponential", k))
    slope = pdist(height[:, None], "cityblock") / pdist(scale_features(X))
    assert 0.1 < slope.max() <= 1


def test_theorem_2_for_the_kernel_of_the_authors():
    """exp(-d^2 / D) is steepest at d = sqrt(D / 2)."""
    assert KERNELS["gaussian"].power == 2
    height = np.exp(intensity(X, "gaussian"))
    slope = pdist(height[:, None], "cityblock") / pdist(scale_features(X))
    assert slope.max() <= np.sqrt(2 / (X.shape[1] * np.e))
