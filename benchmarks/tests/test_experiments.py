"""Every experiment runs on small stand-in sets, and its results have what the tables need."""

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.experiments import (
    accuracy,
    digests,
    dimension_reduction,
    stability,
)
from benchmarks.scoring import unpack_labels


class OPTIONS:
    """Options of a quick run."""

    quick = True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("experiment", "selected"),
    [
        ("robustness", ["curve=moons", "method=GIT authors,GIT,Quickshift++"]),
        ("pictures", ["method=GIT authors,GIT"]),
        ("null_agreement", []),
        ("kinds", []),
        ("public", ["part=designs,generators,structureless", "method=GIT,GIT nothing,k-means"]),
        ("sensitivity", ["set=mnist", "k=30"]),
        ("stability", ["part=check"]),
        ("validity", []),
        ("speed", ["method=search k"]),
    ],
)
def test_a_quick_run_stores_nothing(experiment, selected, data, results, capsys):
    main([experiment, "--quick", *(["--only", *selected] if selected else [])])
    assert capsys.readouterr().err.strip()
    assert list(results.iterdir()) == []


def test_accuracy_keeps_scores_seeds_and_failures(data):
    tasks = {(t["set"], t["method"], t["setting"]): t for t, _ in accuracy.tasks(OPTIONS)}
    line = accuracy.fit_part(100, tasks["iris", "k-means++", "published"])
    assert len(line["seeds published"]) == accuracy.SEEDS
    assert line["published"][0] == pytest.approx(np.mean(line["seeds published"]), abs=1e-3)
    line = accuracy.fit_part(160, tasks["toy_moons", "GIT", "untuned"])
    assert len(unpack_labels(line["labels"])) == 160
    line = accuracy.run(tasks["wine", "Quickshift++", "published"])
    assert line["error"].startswith("ValueError")
    assert line["of"] == 6


def test_competitors_on_embeddings_are_seeded(data):
    for method in ("k-means", "SpectACl"):
        line = dimension_reduction.fit_embedding(200, "mnist", "pca5", method, None)
        assert line["n"] == 200
        assert line["published"][0] == pytest.approx(np.mean(line["seeds published"]), abs=1e-3)
        assert len(line["seeds published"]) == 10


def test_digests_compare_labels_exactly_and_floats_nearly():
    arrays = digests.compute(["twelve samples"])
    assert arrays["twelve samples / authors / error"] == "ValueError"
    labels, floats = "twelve samples / number / labels", "twelve samples / number / intensities"
    assert digests.differences(arrays, dict(arrays)) == []
    assert digests.differences(arrays, arrays | {floats: arrays[floats] + 1e-9}) == []
    changed = arrays | {labels: 1 - arrays[labels], floats: arrays[floats] + 1e-3}
    assert len(digests.differences(arrays, changed)) == 2
    assert "twelve samples / Dask / labels" in arrays


def test_the_confidence_is_fitted_on_the_first_half():
    assert np.array(stability.fit_confidence()) == pytest.approx(np.array(stability.CONFIDENCE), abs=0.4)
