"""Sets from a server: downloaded, checked and read, or an error that says what was expected, found, and to do."""

import gzip
import hashlib
import zipfile

import numpy as np
import pytest

from gitcluster.datasets import DatasetError, download, formats, load, remote

from . import stand_ins
from .stand_ins import stand_in


@pytest.mark.parametrize("name", list(remote.PUBLICATIONS))
def test_a_set_is_downloaded_read_and_kept(name, publish, site, home):
    contents, X, y = stand_in(name)
    publish(name, *contents)
    loaded = load(name)
    np.testing.assert_allclose(loaded[0], X, rtol=1e-12)
    np.testing.assert_array_equal(loaded[1], y)
    assert loaded[0].dtype == X.dtype
    assert loaded[1].dtype == np.int64
    assert len(site.requests) == len(contents)
    assert [path.name for path in home.iterdir()] == [f"{name}.npz"]
    for array, again in zip(loaded, load(name), strict=True):
        np.testing.assert_array_equal(array, again)
    assert len(site.requests) == len(contents)


def test_real_addresses_are_whole():
    for published in remote.PUBLICATIONS.values():
        for file in published.files:
            assert all(url.startswith(("https://", "http://fashion-mnist.")) for url in file.urls)
            algorithm, checksum = (file.checksum or "md5:" + "0" * 32).split(":")
            assert len(checksum) == 2 * hashlib.new(algorithm).digest_size
            int(checksum, 16)


def test_the_second_address_is_asked(publish, site):
    (content,), X, _ = stand_in("hepatitis")
    publish("hepatitis", content)
    site.files["0/hepatitis.zip"] = content[:500]
    np.testing.assert_allclose(load("hepatitis")[0], X)
    assert site.requests == ["0/hepatitis.zip", "1/hepatitis.zip"]


def test_a_bare_table_is_as_good_as_an_archive(publish, tmp_path):
    (content,), X, _ = stand_in("hepatitis_full")
    (tmp_path / "a.zip").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        publish("hepatitis_full", archive.read("hepatitis.data"))
    np.testing.assert_allclose(load("hepatitis_full")[0], X)


def wrong_files():
    """(set, contents, what the error says)."""
    hepatitis = stand_in("hepatitis")[0][0]
    images, labels = (stand_ins.idx(np.ones(shape, np.uint8)) for shape in ((600, 28, 28), 600))
    page = b"<html>Please log in to this network</html>"
    few = stand_ins.hepatitis(y=np.repeat([0, 1], [30, 70]))[0]
    other = stand_ins.hepatitis(y=np.repeat([0, 1], [50, 105]))[0]
    strange = stand_ins.archive("codon_usage.csv", "Kingdom,DNAtype\nvrl,0\n")
    header = "MFCC," * 22 + "Family,Genus,Species,RecordID\n"
    codons = "Kingdom" + ",codon" * 68 + "\n"
    return [
        ("hepatitis", [page], "expected 20 values per row"),
        ("hepatitis", [hepatitis[:1000]], "expected a zip archive, found a damaged one"),
        ("hepatitis", [hepatitis[:300] + b"?" + hepatitis[301:]], "expected a zip archive, found a damaged one"),
        ("hepatitis", [stand_ins.archive("other.data", "1")], "expected hepatitis.data in the archive, found"),
        ("hepatitis", [stand_ins.archive("hepatitis.data", "")], "found an empty file"),
        ("hepatitis", [few], r"expected X of shape \(154, 19\) .*found \(99, 19\)"),
        ("hepatitis", [other], r"expected labels .*\(32, 122\), found \(49, 105\)"),
        ("hepatitis", [stand_ins.archive("hepatitis.data", (",".join("?" * 20) + "\n") * 155)], "without any value"),
        ("frogs", [page], "expected 22 coefficients"),
        ("frogs", [stand_ins.archive("Frogs_MFCCs.csv", header + "1,2\n")], "list index out of range"),
        ("codon", [strange], "expected Kingdom"),
        ("codon", [stand_ins.archive("codon_usage.csv", codons + "fungi" + ",1" * 68)], "expected the kingdoms"),
        ("codon", [stand_ins.archive("codon_usage.csv", codons + "vrl" + ",1" * 60)], "expected 64 shares of codons"),
        ("codon", [stand_ins.archive("codon_usage.csv", codons + "vrl" + ",a" * 68)], "expected 64 shares of codons"),
        ("mnist", [labels, images], "expected an idx file of bytes in 3 dimensions"),
        ("mnist", [page, labels], "Not a gzipped file"),
        ("mnist", [images[:-100], labels], "Compressed file ended"),
        ("olivetti", [page], "is not the data set 'olivetti'"),
    ]


@pytest.mark.parametrize(("name", "contents", "message"), wrong_files(), ids=lambda v: v if type(v) is str else "")
def test_wrong_files_are_named(name, contents, message, publish, site, home):
    publish(name, *contents)
    with pytest.raises(DatasetError, match=message) as caught:
        load(name)
    assert site.url("") in str(caught.value)
    assert str(home) in str(caught.value)
    assert not home.exists()


def test_a_wrong_checksum_is_named(publish, site, home):
    publish("olivetti", b"another file", checksum="md5:" + 32 * "0")
    with pytest.raises(DatasetError, match=rf"olivettifaces\.mat.*expected md5:{32 * '0'} but got [0-9a-f]{{32}}"):
        load("olivetti")
    assert not home.exists()


def test_an_interrupted_download_leaves_nothing(publish, home):
    contents, X, _ = stand_in("frogs")
    publish("frogs", *contents)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load("frogs", progress=stop)
    assert not home.exists()
    np.testing.assert_allclose(load("frogs")[0], X)


def test_offline_says_what_to_do(publish, home):
    publish("frogs", None)
    with pytest.raises(DatasetError) as caught:
        load("frogs")
    (file,) = remote.PUBLICATIONS["frogs"].files
    for part in (file.urls[0], str(home / "frogs.zip"), "GITCLUSTER_DATA", "frogs.npz", "404"):
        assert part in str(caught.value)
    (content,), X, _ = stand_in("frogs")
    home.mkdir(parents=True)
    (home / "frogs.zip").write_bytes(content)
    np.testing.assert_allclose(load("frogs")[0], X)
    assert sorted(path.name for path in home.iterdir()) == ["frogs.npz", "frogs.zip"]


def test_a_wrong_file_that_the_user_brought_stays(publish, home):
    publish("frogs", None)
    home.mkdir(parents=True)
    (home / "frogs.zip").write_bytes(b"PK")
    with pytest.raises(DatasetError, match=r"frogs\.zip is not the data set 'frogs'"):
        load("frogs")
    assert (home / "frogs.zip").exists()


def test_nothing_is_downloaded_unasked(publish, site, home, tmp_path, monkeypatch):
    publish("frogs", b"")
    with pytest.raises(DatasetError, match=rf"no frogs.npz in {home}, and GITCLUSTER_DATA is not set"):
        load("frogs", download_if_missing=False)
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=rf"no frogs.npz in {tmp_path} \(GITCLUSTER_DATA\) or {home}"):
        load("frogs", download_if_missing=False)
    assert not site.requests


@pytest.mark.parametrize("name", ["mnist", "fmnist"])
def test_openml_helps_where_no_mirror_does(name, publish, monkeypatch):
    otherwise = remote.PUBLICATIONS[name].otherwise
    *_, X, y = stand_ins.digits(name)
    more = np.concatenate([np.round(X * 255), np.zeros((100, 784))])
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return more, np.concatenate([y, np.zeros(100, int)]).astype(str).astype(object)

    monkeypatch.setattr(remote, "fetch_openml", fetch)
    publish(name, None, None, otherwise=otherwise)
    loaded = load(name)
    np.testing.assert_array_equal(loaded[0], X)
    np.testing.assert_array_equal(loaded[1], y)
    assert asked == [{"mnist": 554, "fmnist": 40996}[name]]


def test_both_reasons_are_told(publish, monkeypatch):
    def fetch(**_):
        raise OSError("no way to openml")

    monkeypatch.setattr(remote, "fetch_openml", fetch)
    publish("mnist", None, None, otherwise=remote.PUBLICATIONS["mnist"].otherwise)
    with pytest.raises(DatasetError, match=r"404.*no way to openml.*GITCLUSTER_DATA"):
        load("mnist")


def test_what_is_brought_need_not_be_downloaded(publish, site, home):
    (images, labels), X, _ = stand_in("mnist")
    publish("mnist", images, labels)
    home.mkdir(parents=True)
    (home / "mnist-train-images-idx3-ubyte.gz").write_bytes(images)
    np.testing.assert_array_equal(load("mnist")[0], X)
    assert site.requests == ["0/mnist-train-labels-idx1-ubyte.gz"]


def test_without_pooch_the_line_that_installs_it(publish, monkeypatch):
    publish("frogs", b"")
    monkeypatch.setattr("gitcluster._support.optional.is_installed", lambda package: package != "pooch")
    with pytest.raises(ImportError, match=r"Downloading a data set needs .*pip install 'gitcluster\[datasets\]'"):
        load("frogs")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"slow": True}, "timed out"),
        ({"endless": True}, "more than 1,000,000 bytes arrived"),
        ({"silent": True}, "timed out"),
        ({"slow_head": True}, "timed out"),
        ({"announced": 10**12}, "bytes are announced"),
    ],
    ids=str,
)
def test_openml_is_given_up_as_well(plan, message, publish, site, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    monkeypatch.setattr(download, "LONGEST", 0.5)
    monkeypatch.setattr(download, "LARGEST", 1_000_000)

    def fetch(**_):
        from sklearn.datasets import _openml

        with _openml._open_openml_url(site.url("openml"), None, n_retries=0) as answer:
            return answer.read()

    site.files["openml"] = b"content"
    site.plans["openml"] = [plan] * 20
    monkeypatch.setattr(remote, "fetch_openml", fetch)
    publish("mnist", None, None, otherwise=remote.PUBLICATIONS["mnist"].otherwise)
    with pytest.raises(DatasetError, match=f"OpenML: .*{message}"):
        load("mnist")


def test_a_file_that_unpacks_to_more_than_any_set_has(publish, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST", 1_000_000)
    bomb = stand_ins.archive("hepatitis.data", "1" * 5_000_000)
    publish("hepatitis", bomb)
    with pytest.raises(DatasetError, match="at most 1,000,000 bytes, found more"):
        load("hepatitis")
    publish("mnist", gzip.compress(bytes(5_000_000)), gzip.compress(bytes(100)))
    with pytest.raises(DatasetError, match="at most 1,000,000 bytes, found more"):
        load("mnist")
