"""The experiments on embedded images, on a stand-in for the images: few, made here."""

import json
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from benchmarks.experiments import dimension_reduction, sensitivity
from benchmarks.suite import embeddings
from gitcluster import GIT
from gitcluster.metrics import published_scores

CLASSES = 4


@pytest.fixture
def images(tmp_path, monkeypatch):
    """A data folder with 400 'images' of four classes, and result files that do not exist."""
    rng = np.random.default_rng(0)
    y = rng.integers(CLASSES, size=400)
    X = rng.integers(0, 256, size=(CLASSES, 784))[y] + rng.normal(0, 40, size=(400, 784))
    np.savez(tmp_path / "mnist.npz", X=X.clip(0, 255).astype(np.uint8), y=y)
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    for module in (dimension_reduction, sensitivity):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "results" / f"{module.__name__.split('.')[-1]}.jsonl")
    monkeypatch.setattr(sensitivity, "SIZES", (30, 40))
    return tmp_path


def run(module, *options, sets="mnist", names="pca5"):
    module.main(["--sets", sets, "--embeddings", names, *options])


def test_quick_prints_a_table_and_stores_nothing(images, capsys):
    run(dimension_reduction, "--quick", "--methods", "GIT,GIT authors,k-means", names="raw,pca5")
    printed = capsys.readouterr()
    assert printed.out.count("| mnist |") == 2
    assert "**1.000** / **1.000** / **1.000**" in printed.out
    assert "mnist pca5 k-means" in printed.err
    assert "6/6" in printed.err
    assert sorted(path.name for path in images.iterdir()) == ["mnist.npz"]


def test_quick_sensitivity_stores_nothing(images, capsys):
    run(sensitivity, "--quick")
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("| mnist | pca5 |")]
    assert [row.split(" | ")[2] for row in rows] == ["published", "`authors`", "default, k given"]
    assert rows[2].count("1.000") == 2
    assert sorted(path.name for path in images.iterdir()) == ["mnist.npz"]


def test_what_is_stored_is_not_run_again(images, capsys):
    options = ("--cache", str(images / "cache"), "--methods", "GIT,k-means")
    run(dimension_reduction, *options)
    stored = dimension_reduction.RESULTS.read_text()
    lines = [json.loads(line) for line in stored.splitlines()]
    assert [line["method"] for line in lines] == ["GIT", "k-means"]
    assert all(line["f1"] == line["cover"] == 1 and line["n"] == 400 for line in lines)
    assert {"versions", "machine", "date", "seconds", "of embedding"} <= set(lines[0])
    expected = "dimension_reduction --sets mnist --embeddings pca5 --methods GIT,k-means"
    assert lines[0]["command"] == f"python -m benchmarks {expected}"
    capsys.readouterr()
    run(dimension_reduction, *options)
    assert dimension_reduction.RESULTS.read_text() == stored
    assert capsys.readouterr().err == ""
    assert dimension_reduction.time_table().count("| mnist | pca5 |") == 1


def test_a_run_that_fails_or_takes_too_long_is_stored_as_such(images):
    assert dimension_reduction.run_apart(["k-means", "mnist", "pca5", "9"], images, 0)["error"] == "> 0 s"
    assert "KeyError" in dimension_reduction.run_apart(["none", "mnist", "pca5", "9"], images, 60)["error"]


def test_sensitivity_resumes_and_agrees_with_plain_fits(images):
    cache = ("--cache", str(images / "cache"))
    run(sensitivity, *cache)
    whole = sensitivity.RESULTS.read_text()
    lines = [json.loads(line) for line in whole.splitlines()]
    assert [(line["variant"], line["k"]) for line in lines] == [
        ("authors", 30), ("authors", 40), ("adaptive", None), ("adaptive", 30), ("adaptive", 40),
    ]  # fmt: skip
    sensitivity.RESULTS.write_text("".join(whole.splitlines(keepends=True)[:3]))
    run(sensitivity, *cache)
    again = [json.loads(line) for line in sensitivity.RESULTS.read_text().splitlines()]
    assert [{**line, "seconds": 0} for line in again] == [{**line, "seconds": 0} for line in lines]
    embedding = embeddings.load_embedding("mnist", "pca5", cache=images / "cache")
    for line in lines:
        k = line["k"] or "auto"
        model = GIT(CLASSES, n_neighbors=k, variant=line["variant"], neighbors="exact").fit(embedding.points)
        assert line["f1 as published"] == round(published_scores(embedding.y, model.labels_).f1, 4)


def test_one_search_serves_every_k():
    X = make_blobs(300, 3, centers=6, cluster_std=2.0, random_state=0)[0]
    once = sensitivity.SearchOnce(40)
    fit = partial(GIT, 4, scale=None)
    for k in (20, 5):
        ours = fit(n_neighbors=k, neighbors=once).fit(X)
        found = once.found
        np.testing.assert_array_equal(ours.labels_, fit(n_neighbors=k, neighbors="exact").fit(X).labels_)
        assert ours.neighbors_recall_ == 1
    fit(n_neighbors=7, neighbors=once).fit(X)
    assert once.found is found
    fit(n_neighbors=7, neighbors=once).fit(2 * X)
    assert once.found is not found


def test_embeddings_are_stored_once(images, monkeypatch):
    first = embeddings.load_embedding("mnist", "pca10", cache=images / "cache")
    assert first.points.shape == (400, 10)
    assert (first.points.min(), first.points.max()) == (0, 1)
    monkeypatch.setattr(embeddings, "embed", None)
    second = embeddings.load_embedding("mnist", "pca10", cache=images / "cache")
    np.testing.assert_array_equal(first.points, second.points)
    assert [path.name for path in (images / "cache").iterdir()] == ["mnist-pca10.npz"]


def test_what_cannot_run_is_told(monkeypatch, capsys):
    monkeypatch.setattr(embeddings, "find_spec", lambda package: None if package == "torch" else package)
    assert embeddings.can_run(["raw", "ae5", "ae10", "umap2"]) == ["raw", "umap2"]
    assert capsys.readouterr().err == "ae is left out: torch is not installed\n"


def test_tables_of_the_stored_results_name_every_run():
    lines = [*map(json.loads, dimension_reduction.RESULTS.read_text().splitlines())]
    keys = [tuple(line[key] for key in dimension_reduction.KEYS) for line in lines]
    assert len(set(keys)) == len(keys)
    rows = {(line["set"], line["embedding"]) for line in lines}
    assert len(dimension_reduction.table().splitlines()) == len(rows) + 2


def test_figures_are_drawn(images):
    pytest.importorskip("matplotlib")
    cache = ("--cache", str(images / "cache"))
    run(sensitivity, *cache)
    run(dimension_reduction, *cache, "--methods", "k-means")
    sensitivity.draw(images / "k.png")
    dimension_reduction.draw(images / "f1.png")
    assert (images / "k.png").stat().st_size > 1000
    assert (images / "f1.png").stat().st_size > 1000
