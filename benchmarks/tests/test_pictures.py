"""What the pictures of results are drawn from."""

import numpy as np
import pytest

from benchmarks.experiments import pictures
from benchmarks.running import Store
from benchmarks.scoring import pack_labels, unpack_labels


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "RESULTS", tmp_path / "pictures.jsonl")
    return tmp_path / "pictures.jsonl"


def test_a_picture_keeps_labels_and_is_not_run_again(store, capsys):
    arguments = ["--pictures", "noisy circles", "--methods", "Quickshift++"]
    pictures.main(arguments)
    (line,) = pictures.stored().lines.values()
    X, _ = pictures.SCENES["noisy circles"].make()
    assert len(unpack_labels(line["labels"])) == len(X)
    assert 0 < line["f1"] < 0.5
    capsys.readouterr()
    pictures.main(arguments)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert f" {line['f1']:.3f} |" in printed.out


@pytest.mark.parametrize("method", ["k-means", "SpectACl published"])
def test_images_are_clustered_all_but_for_methods_that_take_too_long(method, tmp_path, monkeypatch):
    y = np.repeat(np.arange(3), 100)
    points = np.random.default_rng(0).normal(0.1 * y[:, None], 0.01, (300, 5))
    embedding = pictures.dimension_reduction.Embedding(points, y, 0.0, {})
    monkeypatch.setattr(pictures, "load_embedding", lambda *_, **__: embedding)
    monkeypatch.setattr(pictures, "DRAWN_IMAGES", 150)
    line = pictures.run_images("mnist", method, tmp_path)
    assert line["n"] == (300 if method == "k-means" else 150)
    assert len(unpack_labels(line["labels"])) == 150
    assert line["f1"] > 0.3


def test_images_are_drawn_by_class_and_by_cluster(store):
    pytest.importorskip("matplotlib")
    from benchmarks.reporting.figures import draw_images

    lines, labels = Store(store, ("picture", "method")), np.arange(50) % 10
    for dataset in ("mnist", "fmnist"):
        places = pack_labels(np.random.default_rng(0).integers(pictures.STEPS, size=100))
        lines.add({"picture": dataset, "method": "UMAP", "points": places, "classes": pack_labels(labels)})
        for method in pictures.EMBEDDED_METHODS:
            lines.add({"picture": dataset, "method": method, "f1": 1.0, "labels": pack_labels(labels)})
    figure = draw_images(lines)
    assert len(figure.axes) == 2 * (len(pictures.EMBEDDED_METHODS) + 1)
    assert figure.axes[1].get_title() == "GIT, published k\n1.000"
