"""The dependence on the number of neighbours, on a stand-in for the images."""

import json
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from benchmarks.experiments import dimension_reduction, sensitivity
from benchmarks.running import read_lines
from benchmarks.scoring import published_scores
from benchmarks.suite import embeddings
from gitcluster import GIT

CLASSES = 4


def run(*options, names="pca5"):
    sensitivity.main(["--sets", "mnist", "--embeddings", names, *options])


def test_quick_sensitivity_stores_nothing(images, capsys):
    run("--quick")
    rows = [row for row in capsys.readouterr().out.splitlines() if row.startswith("| mnist | pca5 |")]
    assert [row.split(" | ")[2] for row in rows] == ["published", "`authors`", "default, k given"]
    assert rows[2].count("1.000") == 2
    assert sorted(path.name for path in images.iterdir()) == ["mnist.npz"]


def test_sensitivity_resumes_agrees_with_plain_fits_and_is_drawn(images):
    cache = ("--cache", str(images / "cache"))
    run(*cache)
    whole = sensitivity.RESULTS.read_text()
    lines = [json.loads(line) for line in whole.splitlines()]
    assert [(line["variant"], line["k"]) for line in lines] == [
        (variant, k) for variant in ("authors", "adaptive") for k in (30, 40)
    ]
    sensitivity.RESULTS.write_text("".join(whole.splitlines(keepends=True)[:3]))
    run(*cache)
    again = [json.loads(line) for line in sensitivity.RESULTS.read_text().splitlines()]
    assert [{**line, "seconds": 0} for line in again] == [{**line, "seconds": 0} for line in lines]
    embedding = embeddings.load_embedding("mnist", "pca5", cache=images / "cache")
    for line in lines:
        model = GIT(CLASSES, n_neighbors=line["k"], variant=line["variant"], search="exact").fit(embedding.points)
        assert line["f1 as published"] == round(published_scores(embedding.y, model.labels_).f1, 4)
    pytest.importorskip("matplotlib")
    from benchmarks.reporting.figures import draw_sensitivity

    assert len(draw_sensitivity().axes[1].lines) == 5


def test_the_default_that_chooses_k_is_that_of_dimension_reduction(images):
    options = ["--sets", "mnist", "--embeddings", "pca5", "--cache", str(images / "cache")]
    sensitivity.main(options)
    assert np.isnan(sensitivity.read_curves(read_lines(sensitivity.RESULTS))["mnist", "pca5"]["auto"]).all()
    dimension_reduction.main([*options, "--methods", "GIT"])
    assert sensitivity.read_curves(read_lines(sensitivity.RESULTS))["mnist", "pca5"]["auto"] == [1.0]


def test_one_search_serves_every_k():
    X = make_blobs(300, 3, centers=6, cluster_std=2.0, random_state=0)[0]
    once = sensitivity.SearchOnce(40)
    fit = partial(GIT, 4, scale=None)
    for k in (20, 5):
        ours = fit(n_neighbors=k, search=once).fit(X)
        found = once.found
        np.testing.assert_array_equal(ours.labels_, fit(n_neighbors=k, search="exact").fit(X).labels_)
        assert ours.neighbors_recall_ == 1
    fit(n_neighbors=7, search=once).fit(X)
    assert once.found is found
    fit(n_neighbors=7, search=once).fit(2 * X)
    assert once.found is not found
