"""What the page of a fitted model is given: everything, whole, and nothing that a browser could take for HTML."""

import base64
import json
import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

import gitcluster.explorer
from gitcluster import GIT
from gitcluster.explorer import as_json, write_explorer
from gitcluster.explorer import columns as packing_columns
from gitcluster.preprocessing.values import read_values

ROOT = Path(__file__).parents[1]
PAGE = Path(gitcluster.explorer.__file__).with_name("page.html")
NASTY = "</script><script>document.body.remove()</script><!--<img src=x onerror=alert(1)>"
X, y = make_blobs([120, 90, 60, 30], 2, cluster_std=1.3, random_state=4)
model = GIT(4).fit(X)


def payload_of(path):
    text = Path(path).read_text(encoding="utf-8")
    return json.loads(text.split('id="payload">')[1].split("</script>")[0])


def unpack(packed):
    return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["type"])


def values_of(column):
    """The values of a packed column as the page reads them; -1 for a missing category."""
    values = unpack(column["values"]).astype(float)
    if "categories" in column:
        return np.where(values == column["missing"], -1, values)
    if "decimals" not in column:
        return values
    return np.where(values == column["missing"], np.nan, values / 10.0 ** column["decimals"])


def columns_of(path):
    return {column["name"]: column for column in payload_of(path)["columns"]}


def test_the_page_is_built_from_the_sources():
    sources = ROOT / "explorer"
    names = [f"src/{path.name}" for path in (sources / "src").iterdir()]
    digest = sha256()
    for name in sorted(["build.mjs", "package-lock.json", "package.json", "tsconfig.json", *names]):
        digest.update(name.encode() + b"\0" + (sources / name).read_bytes() + b"\0")
    assert f'name="explorer-stamp" content="{digest.hexdigest()}"' in PAGE.read_text(), "run scripts/build-explorer"


def test_the_page_has_one_place_for_the_data():
    assert PAGE.read_text().count(gitcluster.explorer.PLACEHOLDER) == 1


def test_everything_is_in_the_payload(tmp_path):
    path = write_explorer(model, X, tmp_path / "page.html", names=map(str, range(300)), title="Four")
    payload = payload_of(path)
    graph, samples = payload["graph"], payload["samples"]
    assert payload["title"] == "Four"
    assert payload["names"][7] == "7"
    np.testing.assert_array_equal(unpack(graph["log_weights"]), model.topo_graph_.log_weights)
    np.testing.assert_array_equal(unpack(graph["edges"]).reshape(-1, 2), model.topo_graph_.edges)
    np.testing.assert_array_equal(unpack(graph["merges"]), model.clustering_.hierarchy.edges)
    np.testing.assert_array_equal(unpack(samples["parent"]), model.parents_)
    np.testing.assert_array_equal(unpack(samples["local"]), model.local_labels_)
    (view,) = payload["views"]
    axes = [[axis[key] for axis in view["axes"]] for key in ("centre", "unit")]
    np.testing.assert_allclose(unpack(view["place"]).reshape(-1, 2) * axes[1] + axes[0], X, atol=1e-5)
    assert "density" not in view
    model.save(tmp_path / "model.npz")
    loaded = write_explorer(
        GIT.load(tmp_path / "model.npz"), X, tmp_path / "again.html", names=map(str, range(300)), title="Four"
    )
    assert loaded.read_bytes() == path.read_bytes()


def test_no_name_ends_the_script(tmp_path):
    path = write_explorer(
        model, X, tmp_path / "page.html", names=[NASTY] * 300, title=NASTY, columns={NASTY: [NASTY] * 300}
    )
    assert payload_of(path)["names"][0] == NASTY
    assert path.read_text().count("<script") == PAGE.read_text().count("<script")
    assert "<" not in as_json({NASTY: NASTY})


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = write_explorer(model, path=tmp_path / "page.html")
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_explorer(model, X, path, title="another")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert path.read_bytes() == before


def test_columns_are_numbers_or_categories(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {
            "whole": np.arange(300) * 100_000,
            "real": np.where(y == 0, np.nan, 67614.86),
            "long": X[:, 0],
            "word": np.array(["b", "a", "c", None])[y],
            "flag": y == 1,
            "nullable": pandas.array(np.where(y == 3, None, 2), dtype="Int64"),
            "day": pandas.Timestamp("1970-01-01") + pandas.to_timedelta(y, unit="D"),
            "size": pandas.Categorical(np.array(["S", "M", "L", "M"])[y], ["S", "M", "L"], ordered=True),
        }
    )
    columns = columns_of(write_explorer(model, X, tmp_path / "p.html", columns=table))
    for name in ("whole", "real", "long"):
        np.testing.assert_array_equal(values_of(columns[name]), table[name])
    assert columns["real"]["decimals"] == 2
    assert columns["word"]["categories"] == ["b", "a", "c"]
    np.testing.assert_array_equal(values_of(columns["word"]), np.where(y == 3, -1, y))
    assert columns["flag"]["categories"] == ["False", "True"]
    np.testing.assert_array_equal(values_of(columns["nullable"]), np.where(y == 3, np.nan, 2.0))
    assert columns["day"]["kind"] == "date"
    np.testing.assert_array_equal(values_of(columns["day"]), y)
    assert columns["size"]["categories"] == ["S", "M", "L"]


def test_a_table_is_shown_with_all_its_columns_and_its_index(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    others = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 38)) + rng.normal(size=(300, 38))  # they go together
    frame = pandas.DataFrame(np.column_stack([X, others]), columns=[f"column {i}" for i in range(40)])
    frame["comment"] = [f"said {i} things" for i in range(300)]
    frame.index = [f"row {i}" for i in range(300)]
    fitted = GIT(4).fit(frame)
    payload = payload_of(fitted.explore(frame, tmp_path / "p.html", columns={"class": y}))
    assert [column["name"] for column in payload["columns"]] == ["class", *frame.columns]
    used = {column.name for column in fitted.columns_.used}
    assert {column["name"] for column in payload["columns"] if column["used"]} == used
    assert "comment" not in used
    assert payload["names"][17] == "row 17"
    assert [view["name"] for view in payload["views"]] == ["PCA", "Discriminant", "Graph layout"]
    kept = columns_of(fitted.explore(path=tmp_path / "p.html"))  # without the table, what the model keeps
    np.testing.assert_allclose(values_of(kept["column 1"]), frame["column 1"], rtol=1e-4, atol=1e-4)
    assert "comment" not in kept


def test_columns_that_have_no_room_are_counted(tmp_path, monkeypatch):
    wide = np.column_stack([np.random.default_rng(0).normal(size=(300, 5)), X])
    monkeypatch.setattr(packing_columns, "MOST_CHARACTERS", 3 * 3200)
    payload = payload_of(write_explorer(GIT(4, scale=[0.01] * 5 + [1, 1]).fit(wide), wide, tmp_path / "p.html"))
    assert payload["columns_left_out"] == 4
    assert {"feature 5", "feature 6"} < {column["name"] for column in payload["columns"]}


def test_dates_and_whole_numbers_keep_their_digits_on_large_pages():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {
            "x": X[:, 0],
            "time": pandas.Timestamp("2024-05-31 10:31:07") + pandas.to_timedelta(np.arange(300) * 61, unit="s"),
            "id": 12_345_678_901 + np.arange(300),
            "maybe": np.where(y == 0, np.nan, 12_345_678_901 + np.arange(300)),
            "huge": 2.0**60 + 2.0**20 * np.arange(300),
        }
    )
    columns = {name: packing_columns.pack_values(name, read_values(table[name]), short=True) for name in table}
    assert columns["x"]["values"]["type"] == "f4"
    days = (table["time"] - pandas.Timestamp("1970-01-01")) / pandas.Timedelta(days=1)
    np.testing.assert_array_equal(values_of(columns["time"]), days)
    for name in ("id", "maybe", "huge"):
        np.testing.assert_array_equal(values_of(columns[name]), table[name])
    assert columns["id"]["decimals"] == columns["maybe"]["decimals"] == 0


def test_many_samples_are_sampled_by_local_cluster(tmp_path):
    payload = payload_of(write_explorer(model, X, tmp_path / "p.html", max_samples=150))
    rows, local = unpack(payload["samples"]["row"]), unpack(payload["samples"]["local"])
    assert len(rows) == len(set(rows)) == 150
    np.testing.assert_array_equal(local, model.local_labels_[rows])
    assert set(model.peaks_) <= set(rows)
    shown = np.bincount(local, minlength=len(model.peaks_))
    assert np.abs(shown - model.topo_graph_.sizes / 2).max() <= 2
    np.testing.assert_array_equal(rows[unpack(payload["graph"]["peaks"])], model.peaks_)
    parents, steps = rows[unpack(payload["samples"]["parent"])], unpack(payload["samples"]["steps"])
    for row, parent, n_steps in zip(rows, parents, steps, strict=True):
        climb = [row]
        while model.parents_[climb[-1]] != climb[-1]:
            climb.append(model.parents_[climb[-1]])
        assert n_steps == len(climb) - 1
        assert parent == next((step for step in climb[1:] if step in set(rows)), row)


def test_tiles_count_all_samples(tmp_path):
    (view,) = payload_of(write_explorer(model, X, tmp_path / "p.html", max_samples=150))["views"]
    density = view["density"]
    counts, locals_ = unpack(density["counts"]), unpack(density["locals"])
    centre, unit = ([axis[key] for axis in view["axes"]] for key in ("centre", "unit"))
    tiles = np.clip(((X - centre) / unit + 1) / 2 * density["side"], 0, density["side"] - 1).astype(int)
    assert counts.sum() == 300
    column, row = tiles[0]
    there = (tiles == [column, row]).all(axis=1)
    assert counts[row * density["side"] + column] == there.sum()
    assert locals_[row * density["side"] + column] in model.local_labels_[there]
    far = np.concatenate([X, [[1e7, 0.0]]])  # the tile at the edge counts what is beyond it
    (view,) = payload_of(write_explorer(GIT(2).fit(far), far, tmp_path / "p.html", max_samples=150))["views"]
    assert unpack(view["density"]["counts"]).sum() == 301


def test_scores_of_numbers_of_clusters_are_there_where_one_was_chosen(tmp_path):
    fitted = GIT().fit(X)
    scores = payload_of(write_explorer(fitted, X, tmp_path / "p.html"))["scores"]
    assert scores["recommended"][0] == fitted.n_clusters_
    assert len(scores["score"]) == len(scores["n_clusters"]) == len(fitted.n_clusters_scores_["score"])
    assert payload_of(write_explorer(model, X, tmp_path / "p.html"))["scores"] is None


def test_samples_have_places(tmp_path):
    high, _ = make_blobs(80, 6, random_state=0)
    distances = pairwise_distances(high)
    path = tmp_path / "p.html"
    views = payload_of(write_explorer(GIT(3).fit(high), high, path))["views"]
    assert views[0]["axes"][0]["name"].startswith("PCA 1 (")
    given = payload_of(write_explorer(GIT(3).fit(high), high, path, embedding=high[:, :2]))["views"]
    assert [view["name"] for view in given] == ["Embedding", "PCA", "Discriminant", "Graph layout"]
    write_explorer(GIT(3).fit(csr_array(np.maximum(high, 0))), csr_array(np.maximum(high, 0)), path)
    write_explorer(GIT(3, metric="precomputed").fit(distances), path=path, embedding=high[:, :2])
    line = payload_of(write_explorer(GIT(2).fit(high[:, :1]), path=path))["views"][0]
    assert line["axes"][1]["name"] == "log intensity"
    for varying in (0, 1):  # features that are always the same count for nothing
        flat = np.zeros((80, 4))
        flat[:, :varying] = high[:, :varying]
        write_explorer(GIT(1 + varying).fit(flat), flat, path)
    far = np.concatenate([X, [[1e7, 0.0]]])
    axes = payload_of(write_explorer(GIT(2).fit(far), far, path))["views"][0]["axes"]
    assert max(axis["unit"] for axis in axes) < 100  # one far sample does not make a dot of the others


def test_errors_name_what_is_wrong(tmp_path):
    path = tmp_path / "p.html"
    distances = GIT(3, metric="precomputed").fit(pairwise_distances(X))
    weighted = GIT(3).fit(X, sample_weight=np.where(y == 0, 2, 1))
    for wrong, options, words in [
        (distances, {}, "X or embedding must be given"),
        (distances, {"embedding": X[:9]}, r"embedding must have shape \(300, 2\)"),
        (distances, {"embedding": np.full((300, 2), np.nan)}, "must be finite"),
        (weighted, {}, "X must be given"),
        (model, {"X": X[:50]}, "X must have"),
        (model, {"names": ["a"]}, r"names must have shape \(300,\), one per sample, got \(1,\)"),
        (model, {"names": X}, r"names must have shape \(300,\), one per sample, got \(300, 2\)"),
        (model, {"columns": {"a": [1]}}, r"columns\['a'\] must have shape \(300,\)"),
        (model, {"max_samples": 3}, "max_samples=3 is less than"),
        (model, {"max_samples": 0}, "max_samples must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            write_explorer(wrong, path=path, **options)
    with pytest.raises(TypeError, match="columns must be a dict or a DataFrame"):
        write_explorer(model, path=path, columns=[1, 2])
    for wrong in (3, "a" * 300):
        with pytest.raises(TypeError, match="names must be a sequence, one name per sample"):
            write_explorer(model, path=path, names=wrong)
    with pytest.raises(NotFittedError):
        write_explorer(GIT(), path=path)
    assert not path.exists()
    write_explorer(weighted, X, path)
