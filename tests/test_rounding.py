"""Rounded values: which features are rounded, and that noise decides without changing what a fit promises."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.preprocessing.rounding import rounding_steps, spread_rounded

RNG = np.random.default_rng(0)


def grades(n_dense=300, n_sparse=160, n_columns=8, seed=0):
    """Return grades from 1 to 10 of a dense class, mostly ones, and a sparse one."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n_dense, n_columns)) < 0.85, 1, rng.integers(2, 5, (n_dense, n_columns)))
    sparse = 6.3 + 1.6 * rng.normal(size=(n_sparse, 1)) + 2.3 * rng.normal(size=(n_sparse, n_columns))
    X = np.clip(np.rint(np.vstack([dense, sparse])), 1, 10)
    return X, np.repeat([0, 1], [n_dense, n_sparse])


X, Y = grades()


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (RNG.integers(1, 11, 300), 1.0),
        (RNG.integers(20, 60, 300) / 10, 0.1),
        (RNG.integers(0, 2, 300), 0.0),
        (RNG.normal(size=300), 0.0),
        (np.where(RNG.random(300) < 0.8, 1.0, RNG.normal(size=300)), 0.0),
        (np.where(RNG.random(300) < 0.05, RNG.uniform(1, 10, 300), RNG.integers(1, 11, 300)), 1.0),
        (np.full(300, 3.0), 0.0),
    ],
    ids=["grades", "one decimal", "yes or no", "measured", "at a limit", "imputed grades", "constant"],
)
def test_rounded_features_are_recognised(values, step):
    assert rounding_steps(np.asarray(values, float)[:, None]) == pytest.approx([step])


def test_noise_stays_within_half_a_step():
    values = np.sort(RNG.integers(0, 5, (500, 1)), axis=0).astype(float)
    steps = rounding_steps(values)
    first, second = (spread_rounded(values, steps, np.array([0]), draw) for draw in (0, 1))
    noise = first - values
    assert np.abs(noise).max() <= 0.5
    assert abs(noise.mean()) < 0.05
    assert noise.var() == pytest.approx(1 / 12, rel=0.1)
    assert abs(np.corrcoef(first[:, 0] - values[:, 0], second[:, 0] - values[:, 0])[0, 1]) < 0.1


@pytest.mark.parametrize("options", [{"n_clusters": 2}, {"proportions": [300, 160]}, {}], ids=str)
def test_a_sparse_class_beside_a_dense_one(options):
    model = GIT(**options).fit(X)
    assert adjusted_rand_score(Y, model.labels_) > 0.8


def test_equal_rows_share_a_label_that_predict_returns():
    model = GIT(2).fit(X)
    assert pd.DataFrame(X).assign(label=model.labels_).groupby(list(range(8))).label.nunique().max() == 1
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.cut(n_clusters=2).tolist() == model.labels_.tolist()


def test_the_noise_depends_on_neither_order_nor_units():
    labels = GIT(2).fit(X).labels_
    rows, columns = RNG.permutation(len(X)), RNG.permutation(X.shape[1])
    np.testing.assert_array_equal(GIT(2).fit(X[rows]).labels_, labels[rows])
    np.testing.assert_array_equal(GIT(2).fit(X[:, columns]).labels_, labels)
    np.testing.assert_array_equal(GIT(2).fit(4 * X).labels_, labels)


def three_groups(rng, n_samples):
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 10.0]])
    return rng.normal(size=(n_samples, 2)) + centres[rng.integers(0, 3, n_samples)]


@pytest.mark.parametrize(
    ("kind", "n_clusters"), [("uniform", 1), ("one group", 1), ("three groups", 3), ("three groups and a limit", 3)]
)
def test_a_subsample_of_equal_rows_has_the_clusters_of_all(kind, n_clusters):
    rng, n_samples = np.random.default_rng(1), 9000
    samples = {
        "uniform": lambda: rng.integers(0, 21, (n_samples, 2)).astype(float),
        "one group": lambda: np.rint(4 * rng.normal(size=(n_samples, 2))),
        "three groups": lambda: np.rint(3 * three_groups(rng, n_samples)),
        # a value so large that the other rows are equal next to it
        "three groups and a limit": lambda: np.vstack([three_groups(rng, n_samples), [[1e9, 1e9]]]),
    }[kind]()
    labels = GIT().fit(samples).labels_
    assert len(set(labels)) == n_clusters
    order = rng.permutation(len(samples))
    np.testing.assert_array_equal(GIT(n_jobs=1).fit(samples[order]).labels_, labels[order])
