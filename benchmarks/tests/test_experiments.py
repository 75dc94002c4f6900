"""Every experiment runs on small stand-in sets, and its results have what the tables need."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import (
    accuracy,
    digests,
    dimension_reduction,
    gaps,
    kinds,
    null_agreement,
    one_cluster,
    pictures,
    public,
    robustness,
    sensitivity,
    speed,
    tables,
    untuned,
)
from benchmarks.runner import FOLDER, read_lines
from benchmarks.scoring import published_scores, unpack_labels
from benchmarks.suite.embeddings import load_embedding
from benchmarks.suite.mixed_tables import NOISE, add_noise, mixed_tables
from gitcluster import GIT


class OPTIONS:
    """Options of a quick run."""

    quick = True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("experiment", "arguments"),
    [
        (untuned, ["method=GIT,k-means"]),
        (robustness, ["curve=moons", "method=GIT authors,GIT,Quickshift++"]),
        (pictures, ["method=GIT authors,GIT"]),
        (tables, ["method=GIT,one-hot + k-means"]),
        (gaps, ["method=GIT", "share=0.1"]),
        (one_cluster, []),
        (null_agreement, []),
        (kinds, ["part=labelled,structureless"]),
        (sensitivity, ["set=mnist", "k=30"]),
        (speed, ["method=search k"]),
    ],
    ids=lambda value: getattr(value, "__name__", "").rpartition(".")[2],
)
def test_a_quick_run_stores_nothing(experiment, arguments, data, results, capsys):
    experiment.main(["--quick", "--only", *arguments] if arguments else ["--quick"])
    assert capsys.readouterr().err.strip()
    assert list(results.iterdir()) == []


def test_accuracy_keeps_scores_seeds_and_failures(data):
    tasks = {(t["set"], t["method"], t["setting"]): t for t, _ in accuracy.tasks(OPTIONS)}
    line = accuracy.fit_part(tasks["iris", "k-means++", "published"], 100)
    assert len(line["seeds optimal"]) == accuracy.SEEDS
    assert line["published"][0] == pytest.approx(np.mean(line["seeds published"]), abs=1e-3)
    line = accuracy.fit_part(tasks["toy_moons", "GIT", "untuned"], 160)
    assert len(unpack_labels(line["labels"])) == 160
    line = accuracy.climb(tasks["wine", "Quickshift++", "published"])
    assert line["error"].startswith("ValueError")
    assert line["of"] == 6


def test_the_largest_size_that_ends_counts(monkeypatch):
    monkeypatch.setattr(accuracy, "load_set", lambda name: (None, np.zeros(60_000)))
    monkeypatch.setattr(accuracy, "run_in_process", lambda _, __, n, **___: {"seconds": (n / 1000) ** 2})
    line = accuracy.climb({"set": "mnist"})
    assert (line["samples"], line["of"]) == (30_000, 60_000)
    assert line["stopped"] == "60,000 samples would take about 3,600 s"
    monkeypatch.setattr(
        accuracy, "run_in_process", lambda _, __, n, **___: {"error": "no"} if n > 3000 else {"seconds": 1.0}
    )
    assert accuracy.climb({"set": "mnist"})["stopped"] == "10,000 samples: no"


def test_competitors_on_embeddings_are_seeded_and_counted_both_ways(data):
    for method in ("k-means", "SpectACl published"):
        line = dimension_reduction.fit_embedding("mnist", "pca5", method, 200, None)
        assert line["n"] == 200
        assert len(line["seeds"]) == len(line["seeds as published"]) == 10
        assert line["as published"][0] == pytest.approx(np.mean(line["seeds as published"]), abs=1e-3)


def test_fewer_images_are_tried_if_all_are_too_many(data, monkeypatch):
    monkeypatch.setattr(dimension_reduction, "SMALLER", {"SpectACl": (200,)})
    monkeypatch.setattr(
        dimension_reduction, "run_in_process", lambda *a, **_: {"error": "> 9 s"} if a[4] > 200 else {"f1": 1.0}
    )
    line = dimension_reduction.run_sizes("mnist", "pca5", "SpectACl", False)
    assert (line["n"], line["f1"], line["stopped"]) == (200, 1.0, "400 images: > 9 s")
    assert dimension_reduction.run_sizes("mnist", "pca5", "k-means", False)["error"] == "> 9 s"


def test_the_published_counting_is_that_of_the_fit(data):
    embedding = load_embedding("mnist", "pca5")
    for variant, k in (("authors", 30), ("authors", 10), ("adaptive", 30)):
        line = sensitivity.score_fit(embedding, variant, k)
        model = GIT(4, n_neighbors=k, variant=variant, search="exact").fit(embedding.points)
        assert line["f1 as published"] == round(published_scores(embedding.y, model.labels_).f1, 4)


def test_uniform_noise_is_scored_only_as_published():
    X = np.concatenate([np.zeros((50, 2)), np.ones((50, 2)) * 9, np.full((20, 2), 4.0)])
    X += np.random.default_rng(0).normal(0, 0.1, X.shape)
    task = {"method": "k-means++", "setting": "untuned", "curve": "impossible"}
    scores = robustness.fit_and_score(task, X, np.repeat([0, 1, -1], [50, 50, 20]))
    assert scores["published"] < 0.8 < scores["optimal"]


@pytest.mark.parametrize("name", ["fcps_target", "real_zoo"])
def test_stored_labels_have_the_scores_of_the_results(name, load_data):
    y = load_data(f"bench/{name}")[1]
    lines = {line["method"]: line for line in read_lines(FOLDER / "public.jsonl") if line["set"] == name}
    labels = pd.read_csv(FOLDER / "labels" / f"{name}.csv.gz")
    assert set(labels) == set(lines) == set(public.NAMES)
    for method in labels:
        assert adjusted_rand_score(y[y > 0], labels[method][y > 0]) == pytest.approx(lines[method]["ari"], abs=1e-4)


def test_public_labels_are_stored_by_method(tmp_path):
    X, y = make_blobs(60, centers=3, cluster_std=0.2, random_state=0)
    data = public.Dataset("three", X, y, "drawn", False)
    for name in ("GIT", "k-means", "GIT"):
        assert public.run_method(data, name, tmp_path)["ari"] == 1
    head = pd.read_csv(tmp_path / "three.csv.gz").columns.tolist()
    assert head == ["GIT", "k-means"]


def test_noise_is_added_in_turn_and_peers_get_numbers_and_categories():
    (table,) = mixed_tables(["patients"])
    noisy = add_noise(table, "all", 10)
    assert noisy.iloc[:, : table.frame.shape[1]].equals(table.frame)
    assert noisy[f"extra {len(NOISE) - 1}"].is_monotonic_increasing
    numbers, words, indicators = tables.split_columns(noisy)
    assert (numbers.shape[1], words.shape[1]) == (3 + 2, 5 + 6)  # without the identifiers
    assert np.isfinite(numbers).all()
    assert indicators.shape[1] > words.shape[1]


def test_digests_compare_labels_exactly_and_floats_nearly():
    arrays = digests.compute(["twelve samples"])
    assert arrays["twelve samples / authors / error"] == "ValueError"
    labels, floats = "twelve samples / number / labels", "twelve samples / number / intensities"
    assert digests.differences(arrays, dict(arrays)) == []
    assert digests.differences(arrays, arrays | {floats: arrays[floats] + 1e-9}) == []
    changed = arrays | {labels: 1 - arrays[labels], floats: arrays[floats] + 1e-3}
    assert len(digests.differences(arrays, changed)) == 2
    assert "twelve samples / Dask / labels" in arrays
