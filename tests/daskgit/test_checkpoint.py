"""The graph on disk: the same fit continues from it, any other refuses it."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_blobs

from gitcluster.distributed import CheckpointError, DaskGIT, checkpoint, estimator

from .compare import assert_same, chunked, fit, on_one_machine

X = make_blobs(120, 2, centers=3, cluster_std=1.5, random_state=0)[0]
OPTIONS = {"n_neighbors": 5, "cell_size": 50, "noise": 0.1}
EXPECTED = on_one_machine(X, n_clusters=3, n_neighbors=5, noise=0.1)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint") / "graph"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dask.config.config", {"scheduler": "synchronous"})
        fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """Return a copy of the folder with the graph of X."""
    return Path(shutil.copytree(written, tmp_path / "graph"))


@pytest.fixture
def no_search(monkeypatch):
    """Fail if anything is searched."""
    for name in ("search_exactly", "make_cells"):
        monkeypatch.setattr(estimator, name, lambda *_, **__: pytest.fail("searched again"))


@pytest.mark.parametrize("chunks", [3, 1, (0, 100, 20)], ids=str)
def test_the_same_fit_goes_on(folder, no_search, chunks):
    model = fit(X, chunks=chunks, n_clusters=3, checkpoint=folder, **OPTIONS)
    assert_same(model, EXPECTED)
    assert "search" not in model.seconds_
    np.testing.assert_array_equal(model.predict(X).compute(), EXPECTED.labels_)


def test_another_number_needs_no_other_graph(folder, no_search):
    model = DaskGIT(n_clusters=4, n_neighbors=5, checkpoint=str(folder)).fit(chunked(X))
    assert_same(model, on_one_machine(X, n_clusters=4, n_neighbors=5))


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X[:-1], {}),
        (X + 1.0, {}),
        (X[::-1], {}),
        (np.column_stack([X[:, 0], np.roll(X[:, 1], 1)]), {}),
        (X.astype(np.float32), {}),
        (X, {"n_neighbors": 6}),
        (X, {"n_neighbors": "auto"}),
        (X, {"scale": None}),
        (X, {"scale": [1.0, 2.0]}),
        (X, {"variant": "paper", "n_neighbors": 10}),
    ],
    ids=["rows", "values", "order", "pairs", "precision", "k", "auto", "scale", "weights", "variant"],
)
def test_other_data_or_parameters_are_refused(folder, no_search, data, options):
    with pytest.raises(CheckpointError, match="other data or parameters"):
        fit(data, **{"n_clusters": 3, "checkpoint": folder, **OPTIONS, **options})


def test_half_a_graph_is_none(folder):
    (folder / "graph.json").unlink()
    model = fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)
    assert "search" in model.seconds_
    assert (folder / "graph.json").exists()
    assert_same(model, EXPECTED)


def test_a_damaged_manifest(folder):
    for text in ('{"format": 1', '{"format": 99}', "[]", '{"format": 3}'):
        (folder / "graph.json").write_text(text)
        with pytest.raises(CheckpointError, match="graph"):
            fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)


def test_a_damaged_or_missing_file(folder):
    path = folder / "cell-000001.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match=path.name):
        fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)
    path.unlink()
    with pytest.raises(CheckpointError, match=path.name):
        fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)


def test_any_changed_byte_is_named(folder):
    rng = np.random.default_rng(0)
    files = sorted(folder.iterdir())
    for i in range(30):
        path = files[i % len(files)]
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        with pytest.raises(CheckpointError):
            fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)
        path.write_bytes(whole)
    assert_same(fit(X, n_clusters=3, checkpoint=folder, **OPTIONS), EXPECTED)


def put(values, position, value):
    changed = np.array(values)
    changed.reshape(-1)[position] = value
    return changed


FORGED = {
    ("cell", "id"): [lambda v: put(v, 0, -1), lambda v: put(v, 0, 10**6), lambda v: v[::-1], lambda v: v * 1.0],
    ("cell", "row"): [lambda v: put(v, 0, -1), lambda v: put(v, 0, v[1])],
    ("cell", "group"): [lambda v: put(v, 0, 10**6), lambda v: put(v, 0, -1)],
    ("cell", "point"): [lambda v: put(v, 0, np.nan), lambda v: v[:, :1]],
    ("cell", "neighbor"): [lambda v: put(v, 0, -1), lambda v: put(v, 0, 10**6), lambda v: v[:, :1]],
    ("cell", "distance"): [lambda v: put(v, 0, np.nan), lambda v: put(v, 0, -1.0), lambda v: v[:, ::-1] + 1.0],
    ("halo", "id"): [lambda v: put(v, 0, -1), lambda v: v[1:], lambda v: v[::-1], lambda v: put(v, -1, 10**6)],
}


def forge_file(folder, part, name, change):
    """Change values in a file, and the checksums accordingly."""
    path = folder / f"{part}-000001.parquet"
    table = pq.read_table(path)
    column = table[name].combine_chunks()
    wide = pa.types.is_fixed_size_list(column.type)
    values = np.asarray(column.flatten()).reshape(len(column), -1) if wide else np.asarray(column)
    changed = change(values)
    made = pa.FixedSizeListArray.from_arrays(pa.array(changed.ravel()), changed.shape[1]) if wide else pa.array(changed)
    pq.write_table(pa.table({key: made if key == name else table[key] for key in table.column_names}), path)
    manifest = json.loads((folder / "graph.json").read_text())
    manifest["files"][1][("cell", "halo").index(part)] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["checksum"] = checkpoint.manifest_checksum(manifest)
    (folder / "graph.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(("part", "name"), FORGED, ids=" ".join)
def test_forged_values_with_right_checksums_are_refused(written, tmp_path, part, name):
    for i, change in enumerate(FORGED[part, name]):
        folder = Path(shutil.copytree(written, tmp_path / str(i)))
        forge_file(folder, part, name, change)
        with pytest.raises(CheckpointError):
            fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)


@pytest.mark.parametrize("name", ["centres", "around", "files"])
def test_forged_manifests_are_refused(folder, name):
    whole = json.loads((folder / "graph.json").read_text())
    less = whole[name][:-1] if isinstance(whole[name], list) else -1
    for wrong in (None, "x", [], [[99]], less):
        manifest = whole | {name: wrong}
        (folder / "graph.json").write_text(json.dumps(manifest | {"checksum": checkpoint.manifest_checksum(manifest)}))
        with pytest.raises(CheckpointError):
            fit(X, n_clusters=3, checkpoint=folder, **OPTIONS)


def test_a_folder_that_cannot_be_written_to(tmp_path, no_search):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="write"):
        fit(X, n_clusters=3, checkpoint=tmp_path / "file" / "graph", **OPTIONS)


LOST = """
import os, sys
import numpy as np
from distributed import Client, LocalCluster
from gitcluster.distributed import DaskGIT, estimator

def die(*arguments):
    os._exit(3)

if __name__ == "__main__":
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster, Client(cluster):
        estimator.link_cells = die
        DaskGIT(3, n_neighbors=5, cell_size=50, noise=0.1, checkpoint=sys.argv[2]).fit(np.load(sys.argv[1]))
"""


def test_a_lost_client(tmp_path, client, no_search):
    (tmp_path / "lost.py").write_text(LOST)
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, tmp_path / "lost.py", tmp_path / "X.npy", tmp_path / "graph"]
    ended = subprocess.run(command, env={**os.environ, "PYTHONWARNINGS": "ignore"}, timeout=300, check=False)
    assert ended.returncode == 3
    assert json.loads((tmp_path / "graph" / "graph.json").read_text())["n_neighbors"] == 10
    model = fit(X, n_clusters=3, checkpoint=tmp_path / "graph", **OPTIONS)
    assert_same(model, EXPECTED)
