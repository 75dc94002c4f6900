"""scikit-learn's own checks of an estimator, all of them, none excused."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gitcluster import GIT
from gitcluster.recipes import VARIANTS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        *(GIT(2, variant=variant) for variant in VARIANTS),
        GIT(),
        GIT(2, n_neighbors=5, metric="manhattan", n_jobs=2),
        GIT(3, proportions="equal"),
        GIT(2, noise=0.1),
        GIT(noise="auto", scale=None),
        GIT(2, min_cluster_size=2, max_cluster_size=10_000),
        GIT(2, neighbors="exact"),
        GIT(2, metric="cosine"),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
