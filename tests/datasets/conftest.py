"""An empty cache, no pauses, and a web server on this machine instead of all others."""

import hashlib

import pytest

from gitcluster.datasets import catalog, describe, download, remote

from .web_server import serve


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """An empty cache, no folder of the user, no pauses, and no server but on this machine."""
    original = download.urlopen

    def local(request, **options):
        assert request.host.startswith("127.0.0.1:"), request.full_url
        return original(request, **options)

    monkeypatch.setattr(download, "urlopen", local)
    monkeypatch.setattr(download, "PAUSE", 0)
    monkeypatch.delenv("GITCLUSTER_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home" / "gitcluster"


@pytest.fixture(autouse=True)
def _small_images(request, monkeypatch):
    """A hundredth of the images, but for the test of the stored ones."""
    if "load_data" not in request.fixturenames:
        for name in ("mnist", "fmnist"):
            sizes = tuple(size // 100 for size in describe(name).class_sizes)
            monkeypatch.setitem(catalog._BY_NAME, name, describe(name)._replace(class_sizes=sizes))


@pytest.fixture
def site():
    with serve() as site:
        yield site


@pytest.fixture
def publish(site, monkeypatch):
    """``publish(name, *contents)``: the site has the files of a set; ``checksum="..."`` to name a wrong one."""

    def put(name, *contents, checksum=None, otherwise=None):
        files = []
        for file, content in zip(remote.PUBLICATIONS[name].files, contents, strict=True):
            urls = []
            for i in range(2):
                if content is not None:
                    site.files[f"{i}/{file.name}"] = content
                urls.append(site.url(f"{i}/{file.name}"))
            known = checksum or (file.checksum and content and "sha256:" + hashlib.sha256(content).hexdigest())
            files.append(file._replace(urls=tuple(urls), checksum=known))
        published = remote.PUBLICATIONS[name]._replace(files=tuple(files), otherwise=otherwise)
        monkeypatch.setitem(remote.PUBLICATIONS, name, published)

    return put
