"""An empty cache, no folder of npz files, and a server on this machine in place of all others."""

import pytest

from gitcluster.datasets import loading

from .web_server import serve


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """Return the folder of scikit-learn's data, which does not exist yet."""
    monkeypatch.delenv("GITCLUSTER_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def site(monkeypatch):
    """Return a site in place of UCI. OpenML and figshare cannot be reached."""

    def fail(**_):
        raise OSError("no network in tests")

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(loading, "fetch_openml", fail)
    monkeypatch.setattr(loading, "fetch_olivetti_faces", fail)
    with serve() as (site, address):
        monkeypatch.setattr(loading, "UCI", address)
        yield site
