"""scikit-learn's own checks of an estimator, all of them, none excused."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gitcluster import GIT


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [  # each value of each parameter once
        GIT(),
        GIT(2, n_neighbors=5, metric="manhattan", noise=0.1, n_jobs=2),
        GIT(2, variant="paper", scale=None, noise="auto", search="exact"),
        GIT(3, variant="authors", proportions="equal"),
        GIT(2, metric="cosine", min_cluster_size=2, max_cluster_size=10_000),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
