"""The graph on disk: the same fit continues from it, any other refuses it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster.distributed import CheckpointError, DaskGIT

from .compare import assert_same, chunked, fit, on_one_machine

X = make_blobs(120, 2, centers=3, cluster_std=1.5, random_state=0)[0]
OPTIONS = {"n_clusters": 3, "n_neighbors": 5, "noise": 0.1}
EXPECTED = on_one_machine(X, **OPTIONS)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint") / "graph"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dask.config.config", {"scheduler": "synchronous"})
        fit(X, checkpoint=folder, cell_size=50, **OPTIONS)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """Return a copy of the folder with the graph of X."""
    return Path(shutil.copytree(written, tmp_path / "graph"))


@pytest.mark.parametrize("chunks", [3, (0, 100, 20)], ids=str)
def test_the_same_fit_continues(folder, chunks):
    model = fit(X, chunks=chunks, checkpoint=folder, **OPTIONS)
    assert_same(model, EXPECTED)
    assert "search" not in model.seconds_
    np.testing.assert_array_equal(model.predict(X).compute(), EXPECTED.labels_)
    other = DaskGIT(4, n_neighbors=5, checkpoint=str(folder)).fit(chunked(X))  # needs no other graph
    assert_same(other, on_one_machine(X, n_clusters=4, n_neighbors=5))
    assert "search" not in other.seconds_


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X[:-1], {}),
        (X + 1.0, {}),
        (X[::-1], {}),
        (np.column_stack([X[:, 0], np.roll(X[:, 1], 1)]), {}),
        (X.astype(np.float32), {}),
        (X, {"n_neighbors": 6}),
        (X, {"scale": [1.0, 2.0]}),
        (X, {"variant": "paper", "n_neighbors": 10}),
    ],
    ids=["rows", "values", "order", "pairs", "precision", "k", "weights", "variant"],
)
def test_other_data_or_parameters_are_refused(folder, data, options):
    with pytest.raises(CheckpointError, match="other data or parameters"):
        fit(data, **{"checkpoint": folder, **OPTIONS, **options})


def test_an_unfinished_graph_is_not_used(folder):
    (folder / "graph.json").unlink()
    model = fit(X, checkpoint=folder, cell_size=50, **OPTIONS)
    assert "search" in model.seconds_
    assert (folder / "graph.json").exists()
    assert_same(model, EXPECTED)


def test_damaged_and_missing_files_are_named(folder):
    rng = np.random.default_rng(0)
    for path in sorted(folder.iterdir()) * 6:
        content = path.read_bytes()
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= int(rng.integers(1, 256))
        for damaged in (bytes(changed), content[:-100], b"[]", None):
            if damaged is None and path.name == "graph.json":
                continue
            path.unlink() if damaged is None else path.write_bytes(damaged)
            with pytest.raises(CheckpointError, match=path.name):
                fit(X, checkpoint=folder, **OPTIONS)
        path.write_bytes(content)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="write"):
        fit(X, checkpoint=tmp_path / "file" / "graph", **OPTIONS)


LOST = """
import os, sys
import numpy as np
from distributed import Client, LocalCluster
from gitcluster.distributed import DaskGIT

def die_after_the_search(stage):
    if stage == "exchange":
        os._exit(3)

if __name__ == "__main__":
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster):
        model = DaskGIT(3, n_neighbors=5, cell_size=50, checkpoint=sys.argv[2], verbose=die_after_the_search)
        model.fit(np.load(sys.argv[1]))
"""


def test_a_fit_continues_after_its_client_is_lost(tmp_path, client):
    (tmp_path / "lost.py").write_text(LOST)
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, tmp_path / "lost.py", tmp_path / "X.npy", tmp_path / "graph"]
    ended = subprocess.run(command, env={**os.environ, "PYTHONWARNINGS": "ignore"}, timeout=300, check=False)
    assert ended.returncode == 3
    assert json.loads((tmp_path / "graph" / "graph.json").read_text())
    model = fit(X, checkpoint=tmp_path / "graph", **OPTIONS)
    assert "search" not in model.seconds_
    assert_same(model, EXPECTED)
