"""Labels do not change if a worker dies in any stage. Slow: a busy machine takes long to replace a worker."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from .compare import assert_same, chunked, fit, on_one_machine
from .faults import Deadly

pytestmark = pytest.mark.slow

X = make_blobs(400, 3, centers=4, cluster_std=1.5, random_state=0)[0]
OPTIONS = {"n_clusters": 4, "n_neighbors": 6, "noise": 0.05}


@pytest.fixture
def deadly(client, tmp_path):
    """Return a function that makes the first calls of a function of the package kill their workers."""

    def arm(function, deaths=1):
        client.register_plugin(Deadly(function, tmp_path, deaths))
        return lambda: len(list(tmp_path.iterdir()))

    yield arm
    client.wait_for_workers(2, timeout=120)  # restarted workers install the plugin
    client.unregister_worker_plugin("deadly")


@pytest.mark.parametrize(
    "function",
    [
        "partition.number_range",
        "search.search_cell",
        "search.answer_queries",
        "stages.climb",
        "stages.sum_boundaries",
        "results.send_back",
    ],
)
def test_a_worker_dies(deadly, function):
    count = deadly(function)
    model = fit(X, cell_size=60, **OPTIONS)
    assert_same(model, on_one_machine(X, **OPTIONS))
    assert count() == 1


def test_all_workers_die_one_after_the_other(deadly):
    count = deadly("results.collect_cell", deaths=2)
    model = fit(X, cell_size=150, **OPTIONS)
    assert_same(model, on_one_machine(X, **OPTIONS))
    assert count() == 2


def test_a_worker_dies_when_new_samples_are_labelled(deadly):
    model = fit(X, cell_size=150, **OPTIONS)
    count = deadly("results.label_new")
    np.testing.assert_array_equal(model.predict(chunked(X)).compute(), model.labels_.compute())
    assert count() == 1
