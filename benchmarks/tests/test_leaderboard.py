"""The protocol of the public benchmark suite, methods that choose the number, and other people's generators."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from benchmarks.__main__ import main
from benchmarks.experiments import public, suite
from benchmarks.methods import METHODS, Method
from benchmarks.runner import Store, read_lines
from benchmarks.suite.datasets import Dataset
from benchmarks.suite.generators import GENERATORS, drawn_sets


@pytest.fixture
def checkout(tmp_path):
    """Return a folder like the suite: four groups in two pairs, with noise, and a label vector for both numbers."""
    centers = [[0, 0], [0, 8], [60, 0], [60, 8]]
    X, y = make_blobs([50, 50, 50, 50], centers=centers, random_state=0)
    X, four = np.vstack([X, [[30, 4], [31, 4]]]), np.append(y + 1, [0, 0])
    folder = tmp_path / "checkout" / "pairs"
    folder.mkdir(parents=True)
    np.savetxt(folder / "four.data.gz", X)
    np.savetxt(folder / "four.labels0.gz", four, fmt="%d")
    np.savetxt(folder / "four.labels1.gz", (four + 1) // 2, fmt="%d")
    np.savetxt(folder / "large.data.gz", np.zeros((300, 2)))
    np.savetxt(folder / "large.labels0.gz", np.ones(300), fmt="%d")
    return tmp_path / "checkout"


def test_the_suite_is_run_by_its_protocol(checkout, results, tmp_path):
    arguments = ["suite", "--data", str(checkout), "--max-samples", "250", "--labels", str(tmp_path / "labels")]
    main([*arguments, "--only", "method=GIT,k-means"])
    lines = read_lines(results / "suite.jsonl")
    assert {(line["set"], line["vectors"]) for line in lines} == {("pairs/four", 2)}
    assert [line["nca"] for line in lines] == [1.0] * 4
    assert all(line["exact"] for line in lines)
    for number in (2, 4):
        file = tmp_path / "labels" / "GIT-raw" / "pairs" / f"four.result{number}.gz"
        name, *labels = gzip.decompress(file.read_bytes()).decode().split()
        assert name == "GIT-raw"
        assert sorted(set(map(int, labels))) == list(range(1, number + 1))
        assert len(labels) == 202


def test_the_best_label_vector_counts_and_noise_is_not_scored(checkout, monkeypatch):
    (data,) = suite.read_sets(checkout, 250)
    answers = {2: data.vectors[1], 4: np.arange(202) % 4}
    monkeypatch.setitem(METHODS, "k-means", Method(lambda X, known: answers[known]))
    assert suite.run_method(data, "raw", "k-means")["nca"] == 1.0
    answers[2] = np.arange(202) % 2
    assert suite.run_method(data, "raw", "k-means")["nca"] < 0.2


def test_the_score_is_that_of_the_suite():
    compare = pytest.importorskip("genieclust.compare_partitions")
    rng = np.random.default_rng(0)
    for classes in (2, 3, 5):
        true, labels = (np.append(np.arange(classes), rng.integers(0, classes, 60)) for _ in range(2))
        expected = compare.normalized_clustering_accuracy(true, labels)
        assert suite.normalized_accuracy(true, labels) == pytest.approx(expected)


def test_noise_is_a_cluster_and_covered_samples_are_scored_beside_it(monkeypatch):
    X = np.arange(40.0).reshape(-1, 1)
    answer = np.repeat([0, -1, 1, -2], 10)
    monkeypatch.setitem(public.CHOSEN, "HDBSCAN", Method(lambda X, known: answer[: len(X)], "nothing"))
    line = public.run_method(Dataset("s", X, np.repeat([0, 0, 1, 1], 10), "drawn", False), "HDBSCAN")
    assert (line["covered"], line["cover"], line["clusters"]) == (1.0, 0.5, 2)
    assert 0 < line["ari"] < 1


def test_a_method_that_fails_has_its_error_and_no_score(monkeypatch):
    monkeypatch.setitem(public.CHOSEN, "EVoC", Method(lambda X, known: np.linalg.inv(X), "nothing"))
    data = Dataset("s", np.zeros((4, 2)), np.array([0, 0, 1, 1]), "drawn", False)
    assert public.run_method(data, "EVoC")["ari"] is None
    assert "LinAlgError" in public.run_subsamples(data, "EVoC")["error"]


def test_equal_answers_on_subsamples_agree(monkeypatch):
    monkeypatch.setitem(public.CHOSEN, "k-means", Method(lambda X, known: (X[:, 0] > 0).astype(int)))
    monkeypatch.setitem(public.CHOSEN, "Ward", Method(lambda X, known: np.arange(len(X)) % 2))
    X = np.random.default_rng(0).normal(size=(200, 2))
    data = Dataset("s", X, (X[:, 0] > 0).astype(int), "drawn", False)
    assert public.run_subsamples(data, "k-means")["agreement"] > 0.9
    assert public.run_subsamples(data, "Ward")["agreement"] < 0.2


def test_peers_that_are_ahead_are_named(results):
    store = Store("public", public.FIELDS, results)
    line = {"part": "generators", "kind": "densired", "set": "densired-0", "clusters": 2, "classes": 2}
    for name, score in (("GIT", 0.5), ("Ward", 0.6), ("k-means", 0.7), ("spectral", 0.4), ("GIT nothing", 0.6)):
        store.add(line | {"method": name, "ari": score})
    assert "| number | densired (1) | .500 | k-means .700; Ward .600 |" in public.peer_wins()
    assert "densired 1" in public.table()


@pytest.mark.parametrize("package", GENERATORS)
def test_draws_are_the_same_in_every_run(package):
    pytest.importorskip(package)
    first, again = ([data for _, data in drawn_sets(2) if data.family == package] for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.y, other.y)
        assert len(one.sizes) >= 2
