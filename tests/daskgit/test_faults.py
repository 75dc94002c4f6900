"""Labels do not change if a worker dies in any stage. Slow: a busy machine takes long to replace a worker."""

import importlib
import os
import signal

import numpy as np
import pytest
from distributed import WorkerPlugin
from sklearn.datasets import make_blobs

from .compare import assert_same, chunked, fit, on_one_machine

pytestmark = pytest.mark.slow

X = make_blobs(400, 3, centers=4, cluster_std=1.5, random_state=0)[0]
OPTIONS = {"n_clusters": 4, "n_neighbors": 6}


class Deadly(WorkerPlugin):
    """Make ``function``, a "module.name" in ``gitcluster.distributed``, kill its worker in its first calls."""

    name = "deadly"

    def __init__(self, function, folder, n_deaths=1):
        self.module, self.function = function.split(".")
        self.folder, self.n_deaths = folder, n_deaths

    def setup(self, worker):
        module = importlib.import_module(f"gitcluster.distributed.{self.module}")
        self.harmless = getattr(module, self.function)
        setattr(module, self.function, self.call)

    def teardown(self, worker):
        setattr(importlib.import_module(f"gitcluster.distributed.{self.module}"), self.function, self.harmless)

    def call(self, *arguments):
        for death in range(self.n_deaths):
            try:
                (self.folder / f"{death}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return self.harmless(*arguments)


@pytest.fixture
def deadly(client, tmp_path):
    """Return a function that makes the first calls of a function of the package kill their workers."""

    def arm(function, n_deaths=1):
        client.register_plugin(Deadly(function, tmp_path, n_deaths))
        return lambda: len(list(tmp_path.iterdir()))

    yield arm
    client.cluster.scale(2)
    client.wait_for_workers(2, timeout=120)  # restarted workers install the plugin
    client.unregister_worker_plugin("deadly")


@pytest.mark.parametrize(
    ("function", "n_deaths"),
    [
        ("partition.build_cell", 1),
        ("search.search_cell", 1),
        ("search.answer_queries", 1),
        ("stages.climb", 2),
        ("stages.sum_boundaries", 1),
    ],
)
def test_workers_die_during_a_fit(deadly, function, n_deaths):
    count = deadly(function, n_deaths)
    assert_same(fit(X, cell_size=60, **OPTIONS), on_one_machine(X, **OPTIONS))
    assert count() == n_deaths


def test_a_worker_dies_during_a_prediction(deadly):
    model = fit(X, cell_size=150, **OPTIONS)
    count = deadly("estimator.label_new")
    np.testing.assert_array_equal(model.predict(chunked(X)).compute(), model.labels_.compute())
    assert count() == 1
