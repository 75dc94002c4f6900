"""The study: its first design is the default, and what is best on the rest knows nothing of what it is scored on."""

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.experiments import study
from benchmarks.suite.datasets import Dataset
from gitcluster import GIT


def test_the_default_design_is_what_the_estimator_does():
    X, y = make_blobs(150, 3, centers=4, cluster_std=2.5, random_state=1)
    found = study.gather(Dataset("blobs", X, y, "blobs", clear=True), study.DEFAULT)
    chosen = study.choose(found, study.DESIGNS["default"])
    model = GIT(4).fit(X)
    assert found.merge[chosen] == model.selection_["merge"][model.selection_["chosen"]][0]
    np.testing.assert_array_equal(np.sort(np.bincount(found.labels[chosen])), np.sort(np.bincount(model.labels_)))


def test_what_is_left_out_does_not_choose(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "RESULTS", tmp_path / "study.jsonl")
    monkeypatch.setattr(study, "DESIGNS", {"default": study.Design(), "other": study.Design()})
    for name, kind, default, other in (
        ("a", "drawn", 0.5, 0.9),
        ("b", "tables", 0.6, 0.1),
        ("c", "generated tables", 0.6, 0.3),
    ):
        line = {"set": name, "family": name, "kind": kind, "default": default, "other": other}
        study.append(study.RESULTS, line)
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in study.table().splitlines()[2:]]
    assert rows[0] == ["default", "0.500", "0.600", "0.600", "0.550"]
    assert rows[1] == ["other", "0.900", "0.100", "0.300", "0.550"]
    assert rows[-1][1:] == ["0.500", "0.100", "0.300", "0.350"]  # each kind by the design that is best on the other one
