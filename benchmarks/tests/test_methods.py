"""The registry: what a method is told, and that every row does what the experiments rely on."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from benchmarks.experiments import accuracy, dimension_reduction, speed, untuned
from benchmarks.experiments.features.probes import blobs as clear_groups
from benchmarks.methods import METHODS, keep_installed, tell
from benchmarks.running import FOLDER, read_lines
from benchmarks.tests.conftest import blobs
from gitcluster.fitted.cutting import whole_sizes

SIZES = np.array([50, 50, 50])
FEW_SAMPLES = {"EVoC": {"random_state": 0, "base_min_cluster_size": 40, "noise_level": 0.0}}


@pytest.mark.filterwarnings("ignore")  # of peers about clear groups
@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_clear_groups(name):
    method = METHODS[name]
    if not method.is_installed:
        pytest.skip(method.pip_line)
    X, y = clear_groups()
    labels = method.fit(X, tell(method, np.bincount(y)), **FEW_SAMPLES.get(name, {}))
    assert adjusted_rand_score(y, labels) > 0.9


def test_a_method_is_told_no_more_than_it_may_know():
    assert tell(METHODS["HDBSCAN"], SIZES) is None
    assert tell(METHODS["GIT"], SIZES) == 3
    assert tell(METHODS["GIT proportions"], SIZES).tolist() == [1 / 3] * 3
    seen = []
    METHODS["HDBSCAN"]._replace(run=lambda estimator, X, known, **_: seen.append(known)).fit(blobs(), 3)
    assert seen == [None]


@pytest.mark.parametrize("shares", [[1, 1, 1], [0.6, 0.3, 0.1]])
def test_constrained_kmeans_keeps_its_bounds(shares):
    pytest.importorskip("k_means_constrained")
    sizes = np.bincount(METHODS["constrained k-means"].fit(blobs(n=31), shares))
    counts = whole_sizes(np.asarray(shares) / np.sum(shares), 93)
    assert counts.sum() == sizes.sum() == 93
    assert counts.min() <= sizes.min()
    assert sizes.max() <= counts.max()


@pytest.mark.parametrize("experiment", [accuracy, dimension_reduction, speed, untuned])
def test_every_stored_result_has_its_method(experiment):
    lines = read_lines(FOLDER / f"{experiment.__name__.split('.')[-1]}.jsonl")
    assert {line["method"] for line in lines} <= set(experiment.CHOSEN)


def test_methods_without_their_package_are_named(capsys):
    absent = METHODS["GIT"]._replace(package="no-such-package")
    assert list(keep_installed({"GIT": METHODS["GIT"], "absent": absent})) == ["GIT"]
    assert capsys.readouterr().err == "absent is left out: pip install no-such-package\n"
    with pytest.raises(SystemExit, match="irises: none of GIT"):
        keep_installed({"GIT": METHODS["GIT"]}, ["irises"])
