"""The study of the number of clusters: its first design is the default."""

import pytest
from sklearn.datasets import make_blobs

from benchmarks.experiments import numbers
from benchmarks.running import append
from benchmarks.suite.datasets import Dataset
from gitcluster import GIT


@pytest.mark.parametrize("spread", [0.5, 2.0, 4.0])
def test_the_default_design_chooses_what_the_estimator_does(spread):
    X, y = make_blobs(200, 3, centers=5, cluster_std=spread, random_state=2)
    found = numbers.gather(Dataset("blobs", X, y, "blobs", clear=True))
    assert numbers.choose(found, numbers.DESIGNS["default"]) == GIT().fit(X).n_clusters_


def test_a_table_of_all_designs(monkeypatch, tmp_path):
    monkeypatch.setattr(numbers, "RESULTS", tmp_path / "numbers.jsonl")
    for seed in (0, 1):
        line = {"kind": "without structure"} | numbers.compare_designs(numbers.make_null("Gaussian", 150, 5, seed))
        append(numbers.RESULTS, line)
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in numbers.table().splitlines()]
    assert rows[0] == ["design", "without structure (2)", "mean of kinds"]
    assert rows[2] == ["default", "1.000 (100%)", "1.000"]
    assert [row[0] for row in rows[2:]] == list(numbers.DESIGNS)
