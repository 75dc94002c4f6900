"""Edits by hand: replayed on the same data, on other data, and from damaged files."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from gitcluster import GIT
from gitcluster.edits import EditsFileError, read_edits

X, GROUPS = make_blobs([70, 60, 50, 40], centers=[[0, 0], [7, 0], [0, 7], [7, 7]], random_state=0, shuffle=False)
TABLE = pd.DataFrame(X, [f"c{i:03}" for i in range(len(X))], ["spend", "visits"])


def edits_of(labels, edits, *, rows=tuple(TABLE.index), n_clusters=None):
    return {"format": "gitcluster-edits", "version": 1, "n_samples": len(TABLE), "n_clusters": n_clusters,
            "rows": list(rows), "labels": np.asarray(labels).tolist(), "edits": edits}  # fmt: skip


def random_script(random, labels, n_edits):
    """Return random edits as the explorer records them, and the labels and names after them."""
    labels, names, edits, next_id = np.array(labels), {}, [], int(labels.max()) + 1
    for _ in range(n_edits):
        clusters = np.unique(labels[labels >= 0]).tolist()
        kind = random.choice(["merge", "split", "move", "rename"])
        if kind == "merge" and len(clusters) > 1:
            a, b = (int(c) for c in random.choice(clusters, 2, replace=False))
            into = min((a, b), key=lambda c: (-(labels == c).sum(), c))
            edits.append({"kind": "merge", "clusters": [a, b], "into": into})
            names.pop(a + b - into, None)
            labels[np.isin(labels, [a, b])] = into
        elif kind == "split":
            cluster = int(random.choice(clusters))
            rows = np.flatnonzero(labels == cluster)
            part = rows[random.random(len(rows)) < random.choice([0.1, 0.4])]
            if 0 < len(part) < len(rows):
                edits.append({"kind": "split", "cluster": cluster, "rows": part.tolist(), "into": next_id})
                labels[part], next_id = next_id, next_id + 1
        elif kind == "move":
            rows = np.flatnonzero(random.random(len(labels)) < 0.05)
            into = int(random.choice([*clusters, next_id]))
            if len(rows):
                edits.append({"kind": "move", "rows": rows.tolist(), "into": into})
                labels[rows], next_id = into, next_id + (into == next_id)
        elif kind == "rename":
            cluster = int(random.choice(clusters))
            edits.append({"kind": "rename", "cluster": cluster, "name": f"group {len(edits)}"})
            names[cluster] = f"group {len(edits) - 1}"
    return edits, labels, {number: name for number, name in names.items() if number in labels}


@given(seed=st.integers(0, 2**20), n_clusters=st.integers(1, 6), noise=st.sampled_from([None, 0.04]),
       n_equal=st.integers(0, 30), n_edits=st.integers(1, 6))  # fmt: skip
def test_edits_replayed_on_the_same_data_give_the_edited_labels(seed, n_clusters, noise, n_equal, n_edits):
    table = TABLE.copy()
    table.iloc[:n_equal] = table.iloc[0].to_numpy()  # equal rows may get different clusters
    plain = GIT(n_clusters, noise=noise).fit(table)
    edits, labels, names = random_script(np.random.default_rng(seed), plain.labels_, n_edits)
    content = edits_of(plain.labels_, edits)
    edited = GIT(n_clusters, noise=noise).fit(table, edits=content)
    np.testing.assert_array_equal(edited.labels_, labels)
    assert edited.cluster_names_ == names
    assert len(edited.clustering_.edits) == len(edits)
    assert (edited.predict(table) == labels).all()
    order = np.random.default_rng(seed).permutation(len(table))
    again = GIT(n_clusters, noise=noise, n_jobs=2).fit(table.iloc[order], edits=content)
    assert (again.labels_ == labels[order]).all()


def test_edits_survive_files_models_and_the_page(tmp_path):
    plain = GIT().fit(TABLE)
    edits, labels, names = random_script(np.random.default_rng(1), plain.labels_, 8)
    (tmp_path / "edits.json").write_text(json.dumps(edits_of(plain.labels_, edits)))
    model = GIT().fit(TABLE, edits=tmp_path / "edits.json")
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    assert (loaded.labels_ == labels).all()
    assert loaded.cluster_names_ == names
    assert loaded.clustering_.edits
    assert "edited by hand" in loaded.summary()
    for number in (2, 3, 8):  # another cut splits or joins the edited clusters
        assert len(set(loaded.cut(number))) == number
    later = GIT().fit(TABLE, edits=str(tmp_path / "edits.json"), previous=loaded)
    assert (later.labels_ == labels).all()
    assert loaded.explore(TABLE, tmp_path / "explorer.html").exists()


def test_a_second_file_edits_the_result_of_the_first():
    plain = GIT().fit(TABLE)
    first, labels, _ = random_script(np.random.default_rng(2), plain.labels_, 3)
    second, last, _ = random_script(np.random.default_rng(3), labels, 3)
    model = GIT().fit(TABLE, edits=[edits_of(plain.labels_, first), edits_of(labels, second)])
    assert (model.labels_ == last).all()


def test_edits_of_another_cut_start_from_it():
    labels = GIT().fit(TABLE).cut(6)
    merge = [{"kind": "merge", "clusters": [0, 5], "into": 0}]
    model = GIT().fit(TABLE, edits=edits_of(labels, merge, n_clusters=6))
    assert (model.labels_ == np.where(labels == 5, 0, labels)).all()


def test_edits_are_replayed_on_other_rows():
    """A merge, a split and a name hold next month, although half of the rows are others."""
    plain = GIT().fit(TABLE)
    own = {group: int(plain.labels_[group == GROUPS][0]) for group in range(4)}
    left = np.flatnonzero((GROUPS == 0) & (TABLE.spend < 0).to_numpy())
    edits = [
        {"kind": "merge", "clusters": [own[2], own[3]], "into": own[2]},
        {"kind": "split", "cluster": own[0], "rows": left.tolist(), "into": 4},
        {"kind": "rename", "cluster": 4, "name": "careful"},
    ]
    later, groups = make_blobs(
        [70, 60, 50, 40], centers=[[0, 0], [7, 0], [0, 7], [7, 7]], random_state=9, shuffle=False
    )
    names = [f"c{i:03}" if i % 2 else f"n{i:03}" for i in range(len(later))]
    later[1::2] = X[1::2]
    table = pd.DataFrame(later, names, ["spend", "visits"])
    model = GIT().fit(table, edits=edits_of(plain.labels_, edits))
    labels = pd.Series(model.labels_, names)
    assert labels[groups >= 2].nunique() == 1
    assert model.n_clusters_ == 4
    careful = next(number for number, name in model.cluster_names_.items() if name == "careful")
    listed = [TABLE.index[row] for row in left if TABLE.index[row] in labels.index]
    assert set(labels[listed]) == {careful}
    assert (labels[(groups == 0) & (table.spend > 1).to_numpy()] == careful).mean() < 0.2


def test_edits_that_cannot_be_kept_are_skipped_and_named():
    plain = GIT().fit(TABLE)
    gone = np.flatnonzero(GROUPS == 3)
    cluster, other = int(plain.labels_[gone[0]]), int(plain.labels_[0])
    edits = [
        {"kind": "rename", "cluster": cluster, "name": "gone"},
        {"kind": "move", "rows": gone[:3].tolist(), "into": other},
        {"kind": "merge", "clusters": [cluster, other], "into": other},
        {"kind": "rename", "cluster": other, "name": "still there"},
    ]
    with pytest.warns(UserWarning, match="skipped") as caught:
        model = GIT().fit(TABLE[GROUPS != 3], edits=edits_of(plain.labels_, edits))
    assert len([one for one in caught if "An edit was skipped" in str(one.message)]) == 3
    assert list(model.cluster_names_.values()) == ["still there"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GIT().fit(TABLE, edits=edits_of(plain.labels_, edits))


def test_rows_without_ids_are_positions():
    plain = GIT().fit(X)
    content = edits_of(plain.labels_, [{"kind": "merge", "clusters": [0, 1], "into": 0}], rows=range(len(X)))
    model = GIT().fit(X, edits=content)
    assert (model.labels_ == np.where(plain.labels_ == 1, 0, plain.labels_)).all()
    with pytest.raises(EditsFileError, match="id"):
        GIT().fit(X[:-1], edits=content)
    with pytest.raises(EditsFileError, match="another table"):
        GIT().fit(X, edits=edits_of(plain.labels_, []))
    with pytest.raises(EditsFileError, match="another table"):
        GIT().fit(TABLE.set_axis([f"x{i}" for i in range(len(X))]), edits=edits_of(plain.labels_, []))


LABELS = [0] * len(TABLE)


@pytest.mark.parametrize(
    "content",
    [
        [],
        edits_of(LABELS, []) | {"version": 2},
        edits_of(LABELS[:-1], []),
        edits_of(LABELS, [], rows=["a"] * len(TABLE)),
        edits_of(LABELS, [{"kind": "paint"}]),
        edits_of(LABELS, [{"kind": "merge", "clusters": [0, 9], "into": 0}]),
        edits_of(LABELS, [{"kind": "move", "rows": [999], "into": 0}]),
        edits_of(LABELS, [{"kind": "rename", "cluster": 0, "name": 7}]),
        edits_of(LABELS, [{"kind": "split", "cluster": 0, "into": 1}]),
        edits_of(LABELS, [{"kind": "split", "cluster": 0, "rows": [1], "into": 0}]),
        edits_of([0, 1] * (len(TABLE) // 2), [{"kind": "merge", "clusters": [0, 1], "into": 2}]),
        edits_of(LABELS, [{"kind": "rename", "cluster": 0, "name": "7"}]),
        edits_of(LABELS, [], n_clusters="x"),
    ],
)
def test_damaged_files_are_named_and_nothing_changes(content, tmp_path):
    path = tmp_path / "edits.json"
    path.write_text(json.dumps(content))
    model = GIT().fit(TABLE)
    labels = model.labels_
    with pytest.raises(EditsFileError, match="edits"):
        model.fit(TABLE, edits=path)
    assert (model.labels_ == labels).all()
    path.write_text(json.dumps(content)[:-5])
    with pytest.raises(EditsFileError, match="edits"):
        read_edits(path)
    with pytest.raises(FileNotFoundError):
        model.fit(TABLE, edits=tmp_path / "missing.json")


def test_edits_take_precedence_over_constraints_and_need_a_hierarchy():
    plain = GIT().fit(TABLE)
    merge = edits_of(plain.labels_, [{"kind": "merge", "clusters": [0, 1], "into": 0}])
    rows = [int(np.flatnonzero(plain.labels_ == c)[0]) for c in (0, 1)]
    edited = GIT(4, max_cluster_size=100).fit(TABLE, edits=merge, cannot_link=[rows])
    assert (edited.labels_ == np.where(plain.labels_ == 1, 0, plain.labels_)).all()
    with pytest.raises(ValueError, match="variant"):
        GIT(4, variant="paper").fit(TABLE, edits=merge)


def test_numbers_of_edits_hold_beside_those_of_an_earlier_model():
    """The smaller part of a split keeps the number that the page gave it, also when rows of the larger part leave."""
    plain = GIT().fit(TABLE)
    plain.cluster_names_ = {0: "A", 1: "B", 2: "C"}
    rows = np.flatnonzero(plain.labels_ == 1)
    edits = [
        {"kind": "split", "cluster": 1, "rows": rows[:27].tolist(), "into": 4},
        {"kind": "rename", "cluster": 4, "name": "part of B"},
        {"kind": "rename", "cluster": 2, "name": ""},
    ]
    content = edits_of(plain.labels_, edits)
    names = {0: "A", 1: "B", 4: "part of B"}
    fewer = TABLE.drop(index=TABLE.index[rows[-20:]])
    first = GIT().fit(TABLE, edits=content, previous=plain)
    assert first.cluster_names_ == names
    assert set(first.labels_[rows[:27]]) == {4}
    for previous in (plain, first):
        later = GIT().fit(fewer, edits=content, previous=previous)
        assert later.cluster_names_ == names
        assert (later.labels_ == pd.Series(first.labels_, TABLE.index)[fewer.index]).all()
