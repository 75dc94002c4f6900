"""The registry: what a method is given, and that every row does what the experiments rely on."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from benchmarks import methods
from benchmarks.experiments import accuracy, public
from benchmarks.methods import METHODS, Method, keep_installed
from benchmarks.reporting.published import COMPETITORS, PUBLISHED
from benchmarks.runner import FOLDER, read_lines
from benchmarks.tests.conftest import blobs

OPTIONS = {
    "EVoC": {"random_state": 0, "base_min_cluster_size": 40, "noise_level": 0.0},
    "DPA": {"Z": 1.0},
    "FSFDP": {"min_density": 5, "min_delta": 2.0},
    "Quickshift++": {"n_neighbors": 20, "beta": 0.3},
    "SpectACl": {"epsilon": 2.0},
}


@pytest.mark.filterwarnings("ignore")  # of peers about clear groups
@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_clear_groups(name):
    if not METHODS[name].is_installed:
        pytest.skip(f"pip install {METHODS[name].package}")
    X, y = make_blobs([100, 80, 60], 8, cluster_std=0.5, random_state=0)
    labels = METHODS[name].fit(X, np.bincount(y), **OPTIONS.get(name, {}))
    assert adjusted_rand_score(y, labels) > 0.9


@pytest.mark.parametrize(("given", "known"), [("nothing", None), ("number", 2), ("proportions", [0.75, 0.25])])
def test_a_method_only_gets_what_it_is_given(given, known):
    calls = []
    Method(lambda X, known: calls.append(known) or [0], given).fit(blobs(), [30, 10])
    assert calls[0] == known if np.ndim(known) == 0 else calls[0].tolist() == known


def test_hdbscan_of_a_spanning_tree(monkeypatch):
    hdbscan = pytest.importorskip("hdbscan")
    monkeypatch.setattr(methods, "LARGE", 0)
    X = blobs(n=100)
    for options in ({"min_cluster_size": 15}, {"min_cluster_size": 20, "min_samples": 1}):
        expected = hdbscan.HDBSCAN(**options, approx_min_span_tree=False).fit_predict(X)
        assert adjusted_rand_score(expected, METHODS["hdbscan"].fit(X, [1], **options)) == 1


@pytest.mark.parametrize("experiment", [accuracy, public])
def test_every_stored_result_has_its_method(experiment):
    lines = read_lines(FOLDER / f"{experiment.__name__.split('.')[-1]}.jsonl")
    assert {line["method"] for line in lines} <= set(experiment.CHOSEN)


def test_every_published_parameter_is_accepted():
    X, tried = blobs(), set()
    for rows in PUBLISHED.values():
        for method in COMPETITORS:
            chosen = accuracy.CHOSEN[method]
            if method in rows and chosen.is_installed and (method, *rows[method].options) not in tried:
                tried.add((method, *rows[method].options))
                assert len(chosen.fit(X, [30, 30, 30], **rows[method].options)) == len(X)
    assert tried


def test_methods_without_their_package_are_named(capsys):
    absent = METHODS["GIT"]._replace(package="no-such-package")
    assert list(keep_installed({"GIT": METHODS["GIT"], "absent": absent})) == ["GIT"]
    assert capsys.readouterr().err == "absent is left out: pip install no-such-package\n"
