"""Public sets: the labels that were kept are those that were scored."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import public
from benchmarks.running import read_lines


def test_labels_are_kept_by_method(tmp_path, monkeypatch):
    monkeypatch.setattr(public, "LABELS", tmp_path)
    assert public.read_labels("one") == {}
    public.keep_labels("one", "a", np.array([0, 1, -1]))
    public.keep_labels("one", "b", np.array([2, 2, 0]))
    public.keep_labels("one", "a", np.array([1, 1, 0]))
    found = public.read_labels("one")
    assert {name: labels.tolist() for name, labels in found.items()} == {"a": [1, 1, 0], "b": [2, 2, 0]}


@pytest.mark.parametrize("name", ["fcps_target", "real_zoo", "wut_x2"])
def test_kept_labels_have_the_scores_of_the_results(name, load_data):
    y = load_data(f"bench/{name}")[1]
    lines = {line["method"]: line for line in read_lines(public.RESULTS) if line["set"] == name}
    kept = public.read_labels(name)
    assert set(kept) == set(lines) == set(public.NAMES)
    for method, labels in kept.items():
        assert adjusted_rand_score(y[y > 0], labels[y > 0]) == pytest.approx(lines[method]["ari"], abs=1e-4)
