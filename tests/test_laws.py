"""Properties that hold for any data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.variants import VARIANTS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

seeds = st.integers(0, 10_000)
variants = st.sampled_from(sorted(VARIANTS))


def blobs(seed, n_samples=120):
    return make_blobs(n_samples, 3, centers=4, cluster_std=2.0, random_state=seed)[0]


def model(variant="adaptive", **options):
    return GIT(**{"n_clusters": 3, "variant": variant, **options})


@given(seeds, variants, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_row_order_does_not_matter(seed, variant, step):
    X = blobs(seed)
    if step and variant == "adaptive":  # the published variants break ties by row
        X = np.round(X / step) * step
    order = np.random.default_rng(seed).permutation(len(X))
    there, back = model(variant).fit(X), model(variant).fit(X[order])
    np.testing.assert_array_equal(back.labels_, there.labels_[order])
    np.testing.assert_array_equal(back.local_labels_, there.local_labels_[order])
    np.testing.assert_array_equal(X[order][back.peaks_], X[there.peaks_])


def tied_samples(kind, rng):
    """Return samples with many equal distances; columns of one kind may have the same values in other rows."""
    n_samples = int(rng.integers(40, 160))
    if kind == "categories":
        letters = np.array(list("abcdef"))
        return pd.DataFrame({f"column {j}": letters[rng.integers(0, 2 + j % 3, n_samples)] for j in range(5)})
    if kind == "mixed":
        frame = pd.DataFrame(rng.integers(0, 9, (n_samples, 3)), columns=list("abc")).astype(float)
        return frame.assign(d=np.array(["x", "y"])[rng.integers(0, 2, n_samples)])
    columns = {
        "yes/no": [rng.integers(0, 2, n_samples) for _ in range(6)],
        "yes/no, as many": [rng.permutation(n_samples) % 3 == 0 for _ in range(6)],
        "lattice": [rng.integers(0, 6, n_samples) for _ in range(3)],
        "lattice, same values": [rng.permutation(n_samples) % 6 for _ in range(4)],
        "sparse": [rng.integers(0, 3, n_samples) * (rng.random(n_samples) < 0.3) for _ in range(9)],
    }
    X = np.column_stack(columns[kind]).astype(float)
    return csr_array(X) if kind == "sparse" else X


@pytest.mark.parametrize(
    "kind", ["categories", "mixed", "yes/no", "yes/no, as many", "lattice", "lattice, same values", "sparse"]
)
@given(seeds, st.sampled_from([{}, {"scale": "std"}, {"scale": None}, {"n_clusters": "auto"}, {"variant": "paper"}]))
def test_column_order_does_not_matter_even_with_ties(kind, seed, options):
    rng = np.random.default_rng(seed)
    X = tied_samples(kind, rng)
    order = rng.permutation(X.shape[1])
    other = X.iloc[:, order] if isinstance(X, pd.DataFrame) else X[:, order]
    there, back = model(**options).fit(X), model(**options).fit(other)
    np.testing.assert_array_equal(back.labels_, there.labels_)
    np.testing.assert_array_equal(back.log_intensity_, there.log_intensity_)
    np.testing.assert_array_equal(back.predict(other), there.labels_)


@given(
    seeds,
    st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
    st.floats(-100, 100),
    st.sampled_from(["adaptive", "paper"]),
    st.booleans(),
)
def test_units_and_origin_do_not_matter(seed, units, shift, variant, ties):
    std = model(variant, scale="std")
    X, other = blobs(seed), blobs(seed) * units + shift
    if ties:  # far from the origin, rounding may break ties differently
        X = np.random.default_rng(seed).integers(0, 6, size=(150, 3)).astype(float)
        other = X * units
    np.testing.assert_array_equal(std.fit_predict(other), std.fit_predict(X))


@given(seeds, st.sampled_from([0.1, 0.3, 2.54, 7.0]), st.booleans())
def test_one_factor_for_all_features_never_matters(seed, factor, ties):
    X = np.random.default_rng(seed).integers(0, 6, size=(150, 2)).astype(float) if ties else blobs(seed)
    np.testing.assert_array_equal(model().fit_predict(X * factor), model().fit_predict(X))


@given(seeds, st.integers(2, 12), st.sampled_from(["adaptive", "paper"]), st.sampled_from([5, "auto"]))
def test_duplicates_share_a_label(seed, copies, variant, n_neighbors):
    X = np.repeat(blobs(seed, 30), copies, axis=0)
    labels = model(variant, n_neighbors=n_neighbors).fit_predict(X).reshape(-1, copies)
    assert (labels == labels[:, :1]).all()


@settings(max_examples=6)
@given(seeds, variants)
def test_threads_do_not_matter(seed, variant):
    X = blobs(seed, 9000)
    one = model(variant).fit(X)
    for n_jobs in (2, -1):
        many = model(variant, n_jobs=n_jobs).fit(X)
        np.testing.assert_array_equal(many.labels_, one.labels_)
        np.testing.assert_array_equal(many.log_intensity_, one.log_intensity_)
        np.testing.assert_array_equal(many.topo_graph_.log_weights, one.topo_graph_.log_weights)


@given(seeds)
def test_single_precision_is_close(seed):
    X, y = make_moons(400, noise=0.06, random_state=seed)
    for variant in ("adaptive", "paper"):
        double = GIT(2, n_neighbors=15, variant=variant).fit(X)
        single = GIT(2, n_neighbors=15, variant=variant).fit(X.astype(np.float32))
        np.testing.assert_allclose(single.log_intensity_, double.log_intensity_, atol=1e-3)
    assert adjusted_rand_score(y, GIT(2).fit_predict(X.astype(np.float32))) > 0.9


def test_a_second_fit_forgets_the_first():
    fresh = model().fit(blobs(1))
    reused = model().fit(make_blobs(50, 7, random_state=0)[0]).fit(blobs(1))
    assert vars(fresh).keys() == vars(reused).keys()
    np.testing.assert_array_equal(reused.labels_, fresh.labels_)
    assert reused.n_features_in_ == 3


@given(seeds, st.integers(1, 8), st.integers(2, 10) | st.just("auto"), st.sampled_from(["adaptive", "paper"]))
def test_a_fit_has_the_requested_number_of_clusters(seed, n_clusters, n_neighbors, variant):
    X = blobs(seed)
    fitted = model(variant, n_clusters=n_clusters, n_neighbors=n_neighbors).fit(X)
    assert fitted.n_clusters_ == min(n_clusters, len(fitted.peaks_))
    sizes = np.bincount(fitted.labels_)
    assert (sizes == fitted.edge_cut_.sizes).all()
    assert (np.diff(sizes) <= 0).all()
    np.testing.assert_allclose(fitted.proportions_, sizes / len(X))


@given(seeds)
def test_a_cut_equals_a_fit_with_that_prior(seed):
    X = blobs(seed)
    fitted = model("paper").fit(X)
    other = model("paper", n_clusters="auto", proportions=[3, 2, 1, 1]).fit_predict(X)
    np.testing.assert_array_equal(fitted.cut(proportions=[3, 2, 1, 1]), other)
    np.testing.assert_array_equal(fitted.cut(n_clusters=5), model("paper", n_clusters=5).fit_predict(X))
