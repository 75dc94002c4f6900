"""Embeddings are computed once, and what is not installed is left out."""

import numpy as np

from benchmarks.suite import embeddings


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
