"""Stability: what half-samples of the data say about the clusters of a fit, and the summary that states it."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.resampling import compare_draws

BLOBS = make_blobs([80, 60, 40], centers=[[0, 0], [12, 0], [0, 12]], random_state=0)[0]
NOISE = np.random.default_rng(5).normal(size=(120, 3))


@pytest.fixture(scope="module")
def stable():
    model = GIT().fit(BLOBS)
    return model, model.stability(BLOBS, n_draws=8)


def test_clear_groups_are_stable(stable):
    model, result = stable
    assert result.number_counts() == {3: 8}
    assert result.sizes.tolist() == [80, 60, 40]
    assert result.clusters.min() > 0.97
    assert result.dissolved.max() == 0
    assert result.samples.min() > 0.9
    ends = model.edge_cut_.labels[model.topo_graph_.edges]
    assert (result.edges[ends[:, 0] != ends[:, 1]] == 1).all()
    assert (result.edges[ends[:, 0] == ends[:, 1]] == 0).all()
    assert result.to_frame().loc[2, "rows"] == 40
    assert "No cluster is unstable" in str(result)


def test_groups_that_are_not_there_are_unstable_and_no_better_than_chance():
    model = GIT(n_clusters=4).fit(NOISE)
    result = model.stability(NOISE, n_draws=8)
    assert result.clusters.min() < 0.75
    assert result.agreement.mean() < result.null_agreement.mean() + 0.3
    assert "Unstable: cluster" in model.summary()


def test_one_cluster_has_numbers_only():
    model = GIT().fit(NOISE)
    result = model.stability(NOISE, n_draws=4)
    assert model.n_clusters_ == 1
    assert np.isnan(result.clusters).all()
    assert np.isnan(result.samples).all()
    assert "cluster    rows" not in str(result)
    assert model.summary().startswith("No convincing groups in 120 rows and 3 features.")


def test_a_seed_determines_the_result_for_any_threads_and_row_order():
    order = np.random.default_rng(0).permutation(len(NOISE))
    first, again, other = (
        GIT(3, n_jobs=n_jobs).fit(X).stability(n_draws=4, random_state=seed)
        for n_jobs, X, seed in ((1, NOISE, 0), (2, NOISE[order], 0), (1, NOISE, 1))
    )
    assert np.array_equal(first.agreement, again.agreement)
    assert np.array_equal(first.samples[order], again.samples)
    assert not np.array_equal(first.samples, other.samples)


def test_draws_like_the_fit_are_stable_and_others_are_not(stable):
    model, _ = stable
    training = model.clustering_.fitted
    labels = training.clusters[training.local_labels]
    rows = np.arange(len(labels))
    same = compare_draws(model.clustering_, [(rows, labels, 3), (rows, (labels + 1) % 3, 3)])
    assert same.clusters.tolist() == [1, 1, 1]
    merged = compare_draws(model.clustering_, [(rows, np.minimum(labels, 1), 2)])
    assert merged.clusters == pytest.approx([1, 0.6, 0.4])
    assert merged.dissolved.tolist() == [0, 0, 1]
    part = compare_draws(model.clustering_, [(rows[labels != 2], labels[labels != 2], 2)])
    assert part.clusters[:2].tolist() == [1, 1]
    assert np.isnan(part.clusters[2])
    assert "No half-sample contains cluster 2." in part.sentences()


def make_case(name):
    frame = pd.DataFrame(
        {"x": BLOBS[:, 0], "y": BLOBS[:, 1], "colour": np.repeat(["red", "blue", "green"], [80, 60, 40])}
    )
    distances = pairwise_distances(BLOBS)
    sparse = csr_array(np.repeat(np.eye(3), [80, 60, 40], axis=0) + 0.1 * np.random.default_rng(0).random((180, 3)))
    return {
        "frame": (GIT(), frame, {}, None),
        "weights": (GIT(), BLOBS, {"sample_weight": np.linspace(0.5, 2.5, 180)}, None),
        "repeated rows": (GIT(), BLOBS, {"sample_weight": np.arange(180) % 3}, None),
        "distances": (GIT(metric="precomputed"), distances, {}, distances),
        "graph": (GIT(metric="precomputed_graph"), kneighbors_graph(BLOBS, 20, mode="distance"), {}, None),
        "sparse": (GIT(3, metric="cosine"), sparse, {}, None),
        "paper": (GIT(3, variant="paper"), BLOBS, {}, None),
        "proportions": (GIT(proportions=[4, 3, 2]), BLOBS, {}, None),
        "noise": (GIT(noise=0.1, n_neighbors=10), BLOBS, {}, None),
        "scale": (GIT(scale=[1.0, 2.0]), BLOBS, {}, None),
    }[name]


@pytest.mark.parametrize(
    "name",
    ["frame", "weights", "repeated rows", "distances", "graph", "sparse", "paper", "proportions", "noise", "scale"],
)
def test_every_input_is_supported(name):
    model, X, weights, given = make_case(name)
    result = model.fit(X, **weights).stability(given, n_draws=3)
    assert result.clusters.min() > 0.7
    assert result.samples.shape == (180,)
    assert np.isfinite(result.samples).all()
    assert len(result.null_agreement) == (0 if name in ("distances", "graph", "sparse") else 4)


@pytest.mark.parametrize(
    ("model", "X", "options", "message"),
    [
        (GIT(2), BLOBS[:30], {}, "at least 40 rows"),
        (GIT(1), BLOBS, {}, "two or more clusters"),
        (GIT(), np.ones((60, 2)), {}, "equal rows"),
        (GIT(metric="precomputed"), pairwise_distances(BLOBS), {}, "X must be given"),
        (GIT(), BLOBS, {"X": BLOBS[:50]}, "X must be"),
        (GIT(), BLOBS, {"n_draws": 1}, "n_draws"),
        (GIT(40), BLOBS, {}, "fewer clusters"),
        (GIT(scale="components"), np.random.default_rng(0).normal(size=(99, 6)), {}, "X must be given"),
    ],
)
@pytest.mark.filterwarnings("ignore:Found")
def test_bad_input_is_refused(model, X, options, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X).stability(**options)


def test_the_result_is_saved_and_ends_with_the_next_fit(stable, tmp_path):
    model, result = stable
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    assert loaded.summary() == model.summary()
    assert np.array_equal(loaded.clustering_.stability.samples, result.samples)
    assert loaded.fit(BLOBS).clustering_.stability is None


def test_summary_states_groups_number_stability_and_the_next_step(stable):
    model, _ = stable
    before = GIT().fit(BLOBS).summary()
    assert before.startswith("3 groups in 180 rows and 2 features: 80, 60 and 40 rows.")
    assert "model.stability(X)" in before
    assert "Of 8 half-samples, 8 have 3 groups." in model.summary()
    assert "was requested" in GIT(3).fit(BLOBS).summary()
    bundle = model._repr_mimebundle_()
    assert model.summary() in bundle["text/plain"]
    assert "3 groups" in bundle["text/html"]


def test_verbose_counts_the_fits(capsys):
    texts = []
    GIT(verbose=texts.append).fit(BLOBS).stability(n_draws=2)
    assert texts[-1] == "stability: 10 of 10 fits"
    GIT(verbose=True).fit(BLOBS).stability(n_draws=2)
    assert "10 of 10 fits" in capsys.readouterr().err
