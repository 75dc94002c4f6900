"""Run every test on Dask's synchronous scheduler, except those that use a cluster.

The folder is not named ``distributed`` like the package: tests would hide Dask's package of that name.
"""

import pytest

from gitcluster._support.optional import is_installed

collect_ignore_glob = [] if is_installed("dask") and is_installed("distributed") else ["*.py"]


@pytest.fixture(autouse=True)
def _synchronous():
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="session")
def processes():
    """Return the client of two processes of one thread each, which restart when they are killed."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "host": "127.0.0.1", "dashboard_address": ":0"}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(processes):
    """Use the cluster as the scheduler of one test."""
    import dask

    processes.cluster.scale(2)
    processes.wait_for_workers(2, timeout=120)
    with processes.as_current(), dask.config.set(scheduler=None):
        yield processes
