"""The data of the explorer: complete, exact, and never HTML."""

import base64
import json
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances

import gitcluster.explorer
from gitcluster import GIT
from gitcluster.explorer import write_explorer

ROOT = Path(__file__).parents[1]
PAGE = Path(gitcluster.explorer.__file__).with_name("page.html")
NASTY = "</script><script>document.body.remove()</script><!--<img src=x onerror=alert(1)>"
X, y = make_blobs([120, 90, 60, 30], 2, cluster_std=1.3, random_state=4)
model = GIT(4).fit(X)


def unpack(packed):
    """Return the payload with arrays in place of base64."""
    if isinstance(packed, list):
        return [unpack(item) for item in packed]
    if not isinstance(packed, dict):
        return packed
    if "data" in packed:
        return np.frombuffer(base64.b64decode(packed["data"]), "<" + packed["type"])
    return {key: unpack(value) for key, value in packed.items()}


@pytest.fixture
def payload_of(tmp_path):
    """Return the payload of the page that ``write_explorer`` writes."""

    def write(fitted, samples=None, **options):
        text = write_explorer(fitted, samples, tmp_path / "page.html", **options).read_text(encoding="utf-8")
        return unpack(json.loads(text.split('id="payload">')[1].split("</script>")[0]))

    return write


def columns_of(payload):
    """Return the values of all columns as the page reads them; -1 for a missing category."""
    columns = {}
    for column in payload["columns"]:
        values, missing = column["values"].astype(float), column.get("missing")
        if "categories" in column:
            values = np.where(values == missing, -1, values)
        elif "decimals" in column:
            values = np.where(values == missing, np.nan, values / 10.0 ** column["decimals"])
        columns[column["name"]] = values
    return columns


def test_the_page_is_built_from_the_sources():
    sources = ROOT / "explorer"
    names = [f"src/{path.name}" for path in (sources / "src").iterdir()]
    digest = sha256()
    for name in sorted(["build.mjs", "package-lock.json", "package.json", "tsconfig.json", *names]):
        digest.update(name.encode() + b"\0" + (sources / name).read_bytes() + b"\0")
    assert f'name="explorer-stamp" content="{digest.hexdigest()}"' in PAGE.read_text(), "run scripts/build-explorer"


def test_the_payload_holds_the_model_and_no_html(payload_of, tmp_path):
    options = {"names": [NASTY, *map(str, range(1, 300))], "title": NASTY, "columns": {NASTY: [NASTY] * 300}}
    payload = payload_of(model, X, **options)
    graph, samples = payload["graph"], payload["samples"]
    assert payload["title"] == payload["names"][0] == NASTY
    np.testing.assert_array_equal(graph["edges"].reshape(-1, 2), model.topo_graph_.edges)
    np.testing.assert_allclose(graph["log_weights"], model.topo_graph_.log_weights, rtol=1e-6)
    np.testing.assert_array_equal(samples["parent"], model.parents_)
    np.testing.assert_array_equal(samples["local"], model.local_labels_)
    (view,) = payload["views"]
    units = np.ptp(X, axis=0) / np.ptp(view["xy"].reshape(-1, 2), axis=0)
    np.testing.assert_allclose(
        view["xy"].reshape(-1, 2) * units - X, np.tile(view["xy"][:2] * units - X[0], (300, 1)), atol=1e-5
    )
    page = (tmp_path / "page.html").read_bytes()
    assert page.count(b"<script") == PAGE.read_bytes().count(b"<script")
    model.save(tmp_path / "model.npz")
    assert write_explorer(GIT.load(tmp_path / "model.npz"), X, tmp_path / "again.html", **options).read_bytes() == page


@pytest.mark.parametrize("variant", ["adaptive", "paper", "authors"])
def test_cuts_are_those_of_the_model(payload_of, variant):
    moons, _ = make_moons(400, noise=0.12, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for fitted, samples in (
            (GIT(3, variant=variant, noise=0.05).fit(X), X),
            (GIT(proportions=[3, 2, 1], variant=variant).fit(moons), moons),
        ):
            payload = payload_of(fitted, samples)
            graph, n_local = payload["graph"], len(fitted.peaks_)
            cuts = payload["cuts"].reshape(-1, n_local).astype(int)
            assert len(cuts) == min(n_local, 20)
            for n_clusters, cut in enumerate(cuts, 1):
                labels = np.where(fitted.labels_ < 0, -1, cut[fitted.local_labels_])
                np.testing.assert_array_equal(labels, fitted.cut(n_clusters=n_clusters))
                if graph["nested"]:  # clusters are the ranges of leaves between the splits
                    ranges = np.cumsum(graph["splits"] <= n_clusters)
                    assert len(set(zip(ranges, cut[graph["leaves"]], strict=True))) == n_clusters
            assert graph["nested"] == (variant == "adaptive")
            assert sorted(graph["leaves"]) == list(range(n_local))


def test_columns_are_exact_and_marked_as_used(payload_of):
    stamp = pd.Timestamp("2024-05-31 10:31:07")
    table = pd.DataFrame(
        {
            "whole": np.arange(300) * 100_000,
            "real": np.where(y == 0, np.nan, 67614.86),
            "long": X[:, 0],
            "id": np.where(y == 0, np.nan, 12_345_678_901 + np.arange(300)),
            "huge": 2.0**60 + 2.0**20 * np.arange(300),
            "nullable": pd.array(np.where(y == 3, None, 2), dtype="Int64"),
            "time": stamp + pd.to_timedelta(np.arange(300) * 61, unit="s"),
            "word": np.array(["b", "a", "c", None])[y],
            "flag": y == 1,
            "size": pd.Categorical(np.array(["S", "M", "L", "M"])[y], ["S", "M", "L"], ordered=True),
        }
    )
    payload = payload_of(model, X, columns=table)
    columns, kinds = columns_of(payload), {column["name"]: column for column in payload["columns"]}
    for name in ("whole", "real", "id", "huge", "nullable"):
        np.testing.assert_array_equal(columns[name], table[name].astype(float))
    np.testing.assert_allclose(columns["long"], table["long"], rtol=1e-6)
    np.testing.assert_array_equal(columns["time"], (table["time"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    np.testing.assert_array_equal(columns["word"], np.where(y == 3, -1, y))
    assert [kinds[name]["categories"] for name in ("word", "flag", "size")] == [
        ["b", "a", "c"], ["False", "True"], ["S", "M", "L"],
    ]  # fmt: skip


def test_a_table_is_shown_with_its_index_and_the_scores(payload_of):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.column_stack([X, X @ rng.normal(size=(2, 4)) + rng.normal(size=(300, 4))]))
    frame = frame.rename(columns=str).assign(comment=[f"said {i} things" for i in range(300)], city=list("abcd" * 75))
    frame.index = [f"row {i}" for i in range(300)]
    fitted = GIT(columns={"city": "categorical"}).fit(frame)
    payload = payload_of(fitted, frame, columns={"class": pd.Series(y, index=frame.index)})
    assert [column["name"] for column in payload["columns"]] == ["class", *frame.columns]
    used = {column["name"] for column in payload["columns"] if column["used"]}
    assert used == {column.name for column in fitted.columns_.used}
    assert "comment" not in used
    assert payload["names"][17] == "row 17"
    assert payload["scores"]["recommended"][0] == fitted.n_clusters_
    restored = columns_of(payload_of(fitted))  # without the table, from the features in the model
    np.testing.assert_allclose(restored["1"], frame["1"], rtol=1e-4, atol=1e-4)
    assert set(restored) == used


def test_rows_are_identified_by_a_unique_index(payload_of):
    frame = pd.DataFrame(X, index=np.arange(300) * 2)
    fitted = GIT(4).fit(frame)
    fitted.cluster_names_ = {2: NASTY}
    payload = payload_of(fitted, frame)
    assert (payload["row_labels"], payload["names"][3]) == ("names", "6")
    assert (payload["cluster_ids"], payload["cluster_names"], payload["next_id"]) == ([0, 1, 2, 3], {"2": NASTY}, 4)
    assert payload_of(fitted, frame, names=["?"] * 300)["row_labels"] == frame.index.astype(str).tolist()
    assert payload_of(GIT(4).fit(frame.set_axis([*range(299), 5])))["row_labels"] is None
    assert payload_of(model, X)["row_labels"] is None


def test_stability_is_part_of_the_payload(payload_of):
    fitted = GIT(6).fit(X)
    expected = fitted.stability(X, n_draws=4)
    payload = payload_of(fitted, X, max_samples=150)
    stability, rows = payload["stability"], payload["samples"]["row"]
    np.testing.assert_allclose(stability["clusters"], expected.clusters, atol=1e-4)
    np.testing.assert_allclose(stability["samples"], 100 * expected.samples[rows], atol=0.51)
    np.testing.assert_allclose(
        stability["edges"], np.where(np.isnan(expected.edges), 255, 100 * expected.edges), atol=0.51
    )
    assert payload["summary"] == fitted.summary().split(" Next: ")[0]
    noise = np.random.default_rng(0).normal(size=(120, 5))
    one = GIT().fit(noise)
    one.stability(noise, n_draws=2)
    payload = payload_of(one)
    assert (one.n_clusters_, payload["stability"]) == (1, None)
    assert "have no groups" in payload["summary"]


def test_large_pages_show_a_subset(payload_of):
    payload = payload_of(model, X, max_samples=150)
    samples, rows = payload["samples"], payload["samples"]["row"]
    assert len(rows) == len(set(rows)) == 150
    assert set(model.peaks_) <= set(rows)
    assert np.abs(np.bincount(samples["local"]) - model.topo_graph_.sizes / 2).max() <= 2
    for row, parent, n_steps in zip(rows, rows[samples["parent"]], samples["steps"], strict=True):
        climb = model.clustering_.climb(row)
        assert n_steps == len(climb) - 1
        assert parent == next((step for step in climb[1:] if step in set(rows)), row)
    far = np.concatenate([X, [[1e7, 0.0]]])
    (view,) = payload_of(GIT(2).fit(far), far, max_samples=150)["views"]
    assert view["outside"] == 1
    assert view["density"]["counts"].sum() == 301  # the tiles at the edge count samples beyond it
    many, _ = make_blobs(21_000, 60, random_state=0)
    fitted = GIT(3, n_neighbors=10).fit(many)
    payload = payload_of(fitted, many)
    assert payload["columns"][0]["values"].dtype == np.float32
    assert 0 < payload["columns_left_out"] == 60 - len(payload["columns"])


def test_every_input_has_a_view(payload_of):
    high, _ = make_blobs(80, 6, random_state=0)
    fitted, sparse = GIT(3).fit(high), csr_array(np.maximum(high, 0))
    names = [view["name"] for view in payload_of(fitted, high, embedding=high[:, :2])["views"]]
    assert names == ["Embedding", "PCA", "Graph layout"]
    assert payload_of(GIT(3).fit(sparse), sparse)["views"][0]["name"] == "PCA"
    distances = GIT(3, metric="precomputed").fit(pairwise_distances(high))
    assert payload_of(distances, pairwise_distances(high))["views"][0]["axes"][0] == "MDS 1"
    assert payload_of(GIT(2).fit(high[:, :1]))["views"][0]["axes"][1] == "log intensity"
    weighted = GIT(3).fit(X, sample_weight=np.where(y == 0, 2, 1))
    assert len(payload_of(weighted, embedding=X)["views"]) == 1
    payload_of(GIT(1).fit(np.zeros((80, 4))), np.zeros((80, 4)))


@pytest.mark.parametrize(
    ("error", "parameter", "options"),
    [
        (ValueError, "X", {"X": X[:50]}),
        (ValueError, "embedding", {"embedding": X[:9]}),
        (ValueError, "embedding", {"embedding": np.full((300, 2), np.nan)}),
        (ValueError, "names", {"names": ["a"]}),
        (ValueError, "names", {"names": X}),
        (ValueError, "names", {"names": 3}),
        (ValueError, "names", {"names": "a" * 300}),
        (ValueError, "columns", {"columns": {"a": [1]}}),
        (TypeError, "columns", {"columns": [1, 2]}),
        (ValueError, "max_samples", {"max_samples": 3}),
        (ValueError, "max_samples", {"max_samples": 0}),
        (NotFittedError, "fit", {"model": GIT()}),
        (ValueError, "X", {"model": GIT(3, metric="precomputed").fit(pairwise_distances(X))}),
    ],
)
def test_errors_name_the_parameter_and_leave_no_file(tmp_path, error, parameter, options):
    with pytest.raises(error, match=parameter):
        write_explorer(**{"model": model, "path": tmp_path / "page.html"} | options)
    assert not list(tmp_path.iterdir())
