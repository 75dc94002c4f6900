"""Comparisons of clusterings, and numbers and names of clusters that last."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

from gitcluster import GIT, compare
from gitcluster.comparison import match_clusters
from gitcluster.hierarchy import is_same_partition
from gitcluster.plots import plot_clusters

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])


def customers(sizes=(120, 90, 60, 40), *, centres=CENTRES, seed=0, first=0):
    """Return a table of customers in well separated groups."""
    X, y = make_blobs(list(sizes), centers=centres, random_state=seed, shuffle=False)
    return pd.DataFrame(X, [f"c{first + i:04}" for i in range(len(X))], ["spend", "visits"]), y


TABLE, GROUPS = customers()


@pytest.fixture(scope="module")
def model():
    model = GIT().fit(TABLE)
    model.cluster_names_ = {0: "regular", 3: "rare"}
    return model


def kinds(comparison):
    return [event.kind for event in comparison.events]


# -- numbers and names -------------------------------------------------------------------------------------------------


def test_without_changes_the_comparison_is_empty(model):
    shuffled = TABLE.sample(frac=1, random_state=0)
    for after in (model, GIT().fit(shuffled), GIT().fit(shuffled, previous=model), TABLE, shuffled):
        comparison = compare(model, after)
        assert not comparison.events
        assert comparison.n_changed == 0
        assert comparison.n_common == len(TABLE)
        assert comparison.agreement == 1


@given(
    seed=st.integers(0, 2**16),
    n_clusters=st.integers(1, 9),
    share=st.floats(0.3, 1.0),
    has_ids=st.booleans(),
)
def test_previous_changes_numbers_but_no_cluster(model, seed, n_clusters, share, has_ids):
    random = np.random.default_rng(seed)
    some = TABLE[random.random(len(TABLE)) < share] + random.normal(0, 0.5, 2)
    some = some if has_ids else some.reset_index(drop=True)
    plain, continued = GIT(n_clusters).fit(some), GIT(n_clusters).fit(some, previous=model)
    assert is_same_partition(plain.labels_, continued.labels_)
    ids = continued.cluster_ids_.tolist()
    assert len(set(ids)) == len(ids) == plain.n_clusters_
    assert set(continued.labels_) == set(ids)
    assert (continued.predict(some) == continued.labels_).all()
    assert (continued.cut(plain.n_clusters_) == continued.labels_).all()
    sizes = [(continued.labels_ == number).sum() for number in ids]
    np.testing.assert_allclose(continued.proportions_, np.array(sizes) / len(some))
    order = np.random.default_rng(seed).permutation(len(some))
    again = GIT(n_clusters, n_jobs=1).fit(some.iloc[order], previous=model)
    assert (again.labels_ == continued.labels_[order]).all()


def test_numbers_last_and_are_never_used_again(model):
    without = TABLE[GROUPS != 2]
    april = GIT().fit(without, previous=model)
    assert set(april.cluster_ids_) == {0, 1, 3}
    assert april.cluster_names_ == {0: "regular", 3: "rare"}
    back = pd.concat([without, customers((50,), centres=CENTRES[[2]] + 30, first=5000)[0]])
    may = GIT().fit(back, previous=april)
    assert set(may.cluster_ids_) == {0, 1, 3, 4}
    assert may.clustering_.next_id == 5
    assert kinds(compare(april, may)) == ["born"]
    assert kinds(compare(model, may)) == ["born", "died"]


def test_a_split_keeps_the_number_on_the_larger_part_and_a_merge_that_of_the_larger_cluster(model):
    apart, joined = TABLE.copy(), TABLE.copy()
    apart.iloc[:50] += [-30.0, -30.0]
    joined[GROUPS == 1] += CENTRES[0] - CENTRES[1]
    split, merged = GIT().fit(apart, previous=model), GIT().fit(joined, previous=model)
    assert set(split.labels_[:50]) == {4}
    assert set(split.labels_[50:120]) == {0}
    assert set(merged.labels_[GROUPS < 2]) == {0}
    assert set(merged.cluster_ids_) == {0, 2, 3}
    assert kinds(compare(model, split)) == ["split"]
    assert kinds(compare(model, merged)) == ["merged"]


def test_a_cluster_that_moves_keeps_its_number_if_the_rows_are_known(model):
    moved = TABLE.copy()
    moved[GROUPS == 1] += [0.0, 20.0]
    after = GIT().fit(moved, previous=model)
    assert set(after.labels_[GROUPS == 1]) == {1}
    (event,) = compare(model, after).events
    assert event.kind == "moved"
    assert [difference.column for difference in event.differences] == ["visits"]


@pytest.mark.parametrize(
    ("common", "match"),
    [
        ([[30, 30, 0], [0, 0, 0]], [0, -1]),  # equal parts: the lower number
        ([[10, 0], [10, 0], [0, 0]], [0]),
        ([[3, 0], [3, 0], [4, 0]], [0]),  # all of the first, although less than half of the cluster
        ([[3, 10, 0], [3, 10, 0], [9, 0, 0]], [-1, 0]),  # a third of each is nobody's continuation
    ],
)
def test_the_rule_of_matching(common, match):
    assert match_clusters(np.array(common)).tolist() == match


def test_names_are_checked_saved_and_shown(model, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    assert loaded.cluster_names_ == model.cluster_names_
    assert "regular" in loaded.summary()
    assert "regular" in str(loaded.explain("c0000"))
    assert "regular" in str(loaded.profile())
    legend = plot_clusters(loaded, ax=Figure().subplots(), legend=True).get_legend()
    assert "regular:  120" in [text.get_text() for text in legend.get_texts()]
    for names, error in (
        ({9: "x"}, ValueError),
        ({0: "x", 1: "x"}, ValueError),
        ({0: 7}, TypeError),
        ({0: "2"}, ValueError),
        ({0: "noise"}, ValueError),
        (["x"], TypeError),
    ):
        with pytest.raises(error, match="cluster_names_"):
            loaded.cluster_names_ = names
    loaded.cluster_names_ = {**model.cluster_names_, 1: " gold "}
    assert loaded.cluster_names_ == {0: "regular", 1: "gold", 3: "rare"}
    loaded.cluster_names_ = {}
    assert loaded.cluster_names_ == {}
    assert (loaded.labels_ == model.labels_).all()


def test_numbers_with_gaps_work_in_all_results(model, tmp_path):
    after = GIT(noise=0.05).fit(TABLE[GROUPS != 0], previous=model)
    ids = after.cluster_ids_.tolist()
    assert ids == [1, 2, 3]
    assert set(after.labels_) == {-1, 1, 2, 3}
    assert after.predict_proba(TABLE[:5]).shape == (5, 3)
    assert set(after.to_pandas().samples.cluster) == {-1, *ids}
    assert [profile.cluster for profile in after.profile()] == [1, 2, 3, -1]
    assert after.stability(n_draws=4).to_frame().index.to_list() == ids
    after.save(tmp_path / "model.npz")
    assert (GIT.load(tmp_path / "model.npz").labels_ == after.labels_).all()


@pytest.mark.parametrize(
    ("previous", "error"),
    [("march.npz", TypeError), (GIT(), Exception), (GIT(metric="cosine").fit(TABLE + 20), ValueError),
     (GIT().fit(TABLE.rename(columns={"visits": "calls"}).set_axis([f"x{i}" for i in range(310)])), ValueError)],
)  # fmt: skip
def test_previous_must_be_a_model_of_similar_data(previous, error):
    after = GIT().fit(TABLE)
    labels = after.labels_
    with pytest.raises(error, match=r"previous|not fitted|model"):
        after.fit(TABLE[:200].reset_index(drop=True), previous=previous)
    assert (after.labels_ == labels).all()


# -- comparisons -------------------------------------------------------------------------------------------------------


@given(
    before=st.lists(st.integers(-1, 4), min_size=1, max_size=60),
    seed=st.integers(0, 2**16),
)
def test_every_row_is_counted_once(before, seed):
    random = np.random.default_rng(seed)
    before = pd.Series(before, [f"r{i}" for i in range(len(before))])
    before.iloc[0] = 0
    after = before[random.random(len(before)) < 0.8]
    after = pd.concat([after.sample(frac=1, random_state=seed), pd.Series([1, 2], ["new 1", before.index[0] + "?"])])
    comparison = compare(before, after)
    n_common = len(after) - 2
    assert comparison.n_common == n_common
    assert comparison.flow.sum() == len(before) + 2
    assert comparison.flow[-1].sum() == 2
    assert comparison.flow[:, -1].sum() == len(before) - n_common
    rows = comparison.rows_frame()
    assert (rows.before == "").sum() == 2
    assert (rows.after == "").sum() == len(before) - n_common
    frame = comparison.to_frame()
    assert frame.rows_before.sum() == (before >= 0).sum()
    assert frame.rows_after.sum() == (after >= 0).sum()
    assert not comparison.events or str(comparison).count("\n") >= len(comparison.events)
    used = comparison.match[comparison.match >= 0]
    assert len(np.unique(used)) == len(used)


def test_frames_labels_and_models_agree(model):
    after = GIT(3).fit(TABLE.iloc[20:])
    frames = [pd.DataFrame({"customer": TABLE.index, "cluster": model.labels_}),
              pd.DataFrame({"customer": TABLE.index[20:], "cluster": after.labels_})]  # fmt: skip
    series = [pd.Series(frame.cluster.to_numpy(), frame.customer) for frame in frames]
    flows = [compare(*frames, id="customer").flow, compare(*series).flow, compare(model, after).flow]
    assert all((flow == flows[0]).all() for flow in flows)
    assert (compare(["a", "a", "b"], ["x", "y", "y"]).flow[:2, :2] == [[1, 1], [0, 1]]).all()


def test_new_rows_are_compared_with_a_model(model):
    same, _ = customers(seed=3, first=9000)
    assert not compare(model, same).events
    far = pd.concat([same, customers((40,), centres=np.array([[60.0, 60.0]]), first=9500)[0]])
    comparison = compare(model, far)
    assert kinds(comparison) == ["outliers"]
    assert comparison.outliers[1] > 0.1 > comparison.outliers[0]
    fewer, _ = customers((120, 90, 60, 400), seed=4, first=9000)
    assert "grew" in kinds(compare(model, fewer))
    between = pd.DataFrame(np.random.default_rng(0).uniform(0, 9, (300, 2)), columns=["spend", "visits"])
    assert {"outliers", "boundary"} & set(kinds(compare(model, between)))


def test_models_without_ids_are_compared_by_position_or_prediction(model):
    arrays = [GIT(4).fit(TABLE.to_numpy()), GIT(3).fit(TABLE.to_numpy())]
    assert kinds(compare(*arrays)) == ["merged"]
    others = customers(seed=7)[0].to_numpy()
    later = GIT(4).fit(others)
    assert not compare(arrays[0], later, others).events
    with pytest.raises(ValueError, match="X"):
        compare(arrays[0], GIT(4).fit(others[:200]))


@pytest.mark.parametrize(
    ("before", "after", "error", "words"),
    [
        (pd.DataFrame({"customer": ["a", "a"], "cluster": [0, 1]}), [0, 1], ValueError, "unique"),
        (pd.Series([0, 1], ["a", "b"]), pd.Series([0, 1], ["c", "d"]), ValueError, "common"),
        ([0, 1], [0, 1, 2], ValueError, "ids"),
        ([-1, -1], [0, 1], ValueError, "noise"),
        (TABLE, [0, 1], TypeError, "before"),
        ([0, 1], TABLE, TypeError, "after"),
        ("march.npz", [0, 1], TypeError, "path"),
        (pd.DataFrame({"cluster": [0]}), pd.DataFrame({"cluster": [0]}), ValueError, "id"),
    ],
)
def test_bad_input_is_named(before, after, error, words):
    with pytest.raises(error, match=words):
        compare(before, after, id="customer" if isinstance(before, pd.DataFrame) and "cluster" in before else None)


def test_models_of_different_metrics_or_columns_are_named(model):
    with pytest.raises(ValueError, match="metric"):
        compare(model, GIT(metric="cosine").fit(TABLE + 20))
    with pytest.raises(ValueError, match="feature names"):
        compare(model, TABLE.rename(columns={"visits": "calls"}))


def test_the_picture_has_a_bar_for_every_cluster(model):
    after = GIT().fit(TABLE[GROUPS != 2].iloc[10:], previous=model)
    ax = compare(model, after).plot(ax=Figure().subplots())
    texts = [text.get_text() for text in ax.texts]
    assert {"regular (120)", "regular (110)", "lost (70)", "2 (60)"} <= set(texts)


def test_tables_are_aligned_by_their_ids(model):
    later = GIT().fit(TABLE.sample(frac=1, random_state=1))
    assert not compare(model, later, TABLE.sample(frac=1, random_state=2)).events
    with pytest.raises(ValueError, match="missing"):
        compare(model, later, TABLE.iloc[5:])
    labels = pd.Series(model.labels_)  # a default index is an id beside other integers
    assert compare(labels, labels.sample(frac=1, random_state=0)).n_changed == 0
    frame = TABLE.reset_index(names="customer")
    assert compare(model, frame, id="customer").n_common == len(TABLE)
    with pytest.raises(ValueError, match="id must be"):
        compare(model, frame, id="nonsense")


def test_notes_of_a_file_survive_a_new_name(model, tmp_path):
    model.save(tmp_path / "model.npz", notes={"id": "customer"})
    loaded = GIT.load(tmp_path / "model.npz")
    loaded.cluster_names_ = {1: "gold"}
    loaded.save(tmp_path / "named.npz")
    assert GIT.load(tmp_path / "named.npz").notes_ == {"id": "customer"}
    assert not hasattr(loaded.fit(TABLE), "notes_")
