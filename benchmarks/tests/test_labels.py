"""Labels in the format of the public suite."""

import gzip

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.experiments import labels, public


def test_a_checkout_of_the_suite_gets_a_file_for_every_number(tmp_path):
    X, y = make_blobs(120, centers=3, random_state=0)
    (tmp_path / "data" / "wut").mkdir(parents=True)
    for name, values in (("data", X), ("labels0", y + 1), ("labels1", np.minimum(y, 1) + 1), ("labels2", y * 0)):
        with gzip.open(tmp_path / "data" / "wut" / f"x.{name}.gz", "wt") as file:
            np.savetxt(file, values, fmt="%.9g")
    labels.main([str(tmp_path / "results"), "--data", str(tmp_path / "data")])
    files = sorted(path.name for path in (tmp_path / "results" / "GIT" / "wut").iterdir())
    assert files == ["x.result2.gz", "x.result3.gz"]
    with gzip.open(tmp_path / "results" / "GIT" / "wut" / "x.result3.gz", "rt") as file:
        head, *rows = file.read().splitlines()
    assert head == '"GIT"'
    assert sorted(set(rows)) == ["1", "2", "3"]
    assert len(rows) == 120
    assert "arXiv" in (tmp_path / "results" / "GIT" / "README.txt").read_text()


def test_stored_labels_are_written_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(public, "LABELS", tmp_path)
    monkeypatch.setattr(labels, "LABELS", tmp_path)
    public.keep_labels("sipu_flame", "GIT", np.array([0, 0, 1]))
    public.keep_labels("real_zoo", "GIT", np.array([0, 1, 1]))
    labels.main([str(tmp_path / "out")])
    assert [path.name for path in (tmp_path / "out" / "GIT").rglob("*.gz")] == ["flame.result2.gz"]
