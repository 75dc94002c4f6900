"""DaskGIT equals GIT, to the last bit."""

import numpy as np
import pytest
from conftest import nasty_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from .compare import assert_same, check, fit, on_one_machine

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BLOBS = make_blobs(120, 2, centers=4, cluster_std=1.2, random_state=0)[0]
RNG = np.random.default_rng(0)
SETS = nasty_sets() | {
    "integers": RNG.integers(0, 5, (120, 2)).astype(float),
    "few different samples": np.repeat(RNG.normal(size=(6, 2)), [60, 1, 30, 5, 20, 1], axis=0)[RNG.permutation(117)],
    "two values": np.repeat([[0.0], [1.0]], [30, 50], axis=0),
    "80 features, rounded": np.round(RNG.normal(size=(70, 80)) / 3),
    "signed zeros": np.where(RNG.random((60, 2)) < 0.5, -0.0, 0.0) + RNG.integers(0, 3, (60, 2)),
    "two equal samples": np.ones((2, 2)),
}


@pytest.mark.parametrize("name", SETS)
def test_nasty_sets_have_equal_results(name):
    X = SETS[name]
    check(X, n_clusters=2, cell_size=max(1, len(X) // 4))


@pytest.mark.parametrize("name", ["integers", "few different samples", "far groups", "80 features, rounded"])
def test_results_are_equal_in_single_precision_and_small_cells(name):
    X = SETS[name].astype(np.float32)
    check(X, cell_size=12, n_neighbors=5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_clusters": 60},
        {"proportions": [5, 2, 1]},
        {"n_clusters": 4, "proportions": "equal"},
        {"n_neighbors": 3},
        {"n_neighbors": 119, "n_clusters": 2},
        {"n_neighbors": 6, "scale": None},
        {"n_clusters": 2, "n_neighbors": 5, "scale": [3.0, 0.0]},
    ],
    ids=str,
)
def test_results_are_equal_for_every_option(options):
    check(BLOBS, cell_size=40, **options)


@settings(max_examples=15)
@given(st.data())
def test_results_are_equal_for_any_data_cells_and_chunks(data):
    seed = data.draw(st.integers(0, 10_000), "seed")
    n_samples = data.draw(st.integers(3, 60), "samples")
    n_features = data.draw(st.integers(1, 4), "features")
    step = data.draw(st.sampled_from([1e-9, 0.3, 1.0, 3.0]), "rounding")
    rng = np.random.default_rng(seed)
    X = make_blobs(n_samples, n_features, centers=3, cluster_std=2.0, random_state=seed)[0]
    X = (np.round(X / step) * step)[rng.permutation(n_samples)]
    inner = data.draw(st.lists(st.integers(0, n_samples), max_size=4), "borders of chunks")
    check(
        X.astype(data.draw(st.sampled_from([np.float32, np.float64]), "precision")),
        chunks=tuple(np.diff([0, *sorted(inner), n_samples]).tolist()),
        cell_size=data.draw(st.integers(max(1, n_samples // 6), n_samples), "cell size"),
        n_clusters=data.draw(st.sampled_from([2, 3, "auto"]), "clusters"),
        n_neighbors=data.draw(st.sampled_from([1, 2, "auto"]), "neighbours"),
    )


def test_a_second_fit_forgets_the_first():
    model = fit(BLOBS, cell_size=50, n_neighbors=5)
    assert hasattr(model, "n_clusters_scores_")
    model.set_params(n_clusters=3).fit(BLOBS[:50])
    assert_same(model, on_one_machine(BLOBS[:50], n_clusters=3, n_neighbors=5))


@pytest.mark.parametrize("options", [{}, {"proportions": [3, 2, 1]}, {"scale": "std", "n_clusters": 1500}], ids=str)
def test_a_subsample_decides_on_the_representation(options):
    blobs = make_blobs(5200, 2, centers=4, cluster_std=1.2, random_state=0)[0]
    X = np.column_stack([blobs * [1, 100], np.exp(blobs[:, 0] / 4), np.arange(5200) % 2]).round(2)
    check(X, cell_size=2000, **options)


@pytest.mark.parametrize("kind", ["integers", "one large value"])
def test_a_subsample_of_equal_rows_is_that_of_one_machine(kind):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 15, (5600, 2)).astype(float)
    if kind == "one large value":
        X = np.vstack([make_blobs(5600, 2, centers=3, random_state=2)[0], [[1e9, 1e9]]])
    check(X[rng.permutation(len(X))], chunks=7, cell_size=2000, n_neighbors=10)
