"""One file from a server that answers well, badly, by halves, slowly, without end or not at all."""

import hashlib

import pytest

from gitcluster.datasets import DatasetError, download

from .web_server import serve

CONTENT = bytes(range(256)) * 2000
PATH = "file.zip"


@pytest.fixture(autouse=True)
def _published(site):
    site.files[PATH] = CONTENT


def fetch(site, folder, **options):
    return download.download(site.url(PATH), folder / PATH, **options)


def assert_whole(folder):
    assert (folder / PATH).read_bytes() == CONTENT
    assert len(list(folder.iterdir())) == 1


def test_a_file_arrives_whole_and_tells_how_far_it_is(site, tmp_path, capfd):
    seen = []
    assert fetch(site, tmp_path, progress=lambda *report: seen.append(report)) == tmp_path / PATH
    assert_whole(tmp_path)
    assert seen[-1] == (PATH, len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("plan", [{"status": 503}, {"status": 429}, {"cut": 700}, {"silent": True}], ids=str)
def test_a_bad_answer_is_asked_for_again(site, tmp_path, plan, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    site.plans[PATH] = [plan]
    fetch(site, tmp_path)
    assert_whole(tmp_path)
    assert len(site.requests) == 2


def test_a_checksum_is_checked(site, tmp_path):
    fetch(site, tmp_path, checksum="sha256:" + hashlib.sha256(CONTENT).hexdigest())
    assert_whole(tmp_path)
    (tmp_path / PATH).unlink()
    with pytest.raises(DatasetError, match=rf"http://.*{PATH}: .*expected md5:0{{32}} but got"):
        fetch(site, tmp_path, checksum="md5:" + 32 * "0")
    assert not list(tmp_path.iterdir())


def test_a_size_need_not_be_told(site, tmp_path):
    site.plans[PATH] = [{"chunked": True}]
    seen = []
    fetch(site, tmp_path, progress=lambda *report: seen.append(report))
    assert_whole(tmp_path)
    assert seen[-1] == (PATH, len(CONTENT), None)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"slow": True}, r"timed out, \d+ bytes arrived in 0.5 seconds"),
        ({"endless": True}, "more than 1,000,000 bytes arrived"),
        ({"silent": True}, "timed out"),
        ({"slow_head": True}, "timed out after 0.5 seconds"),
        ({"announced": 10**12}, "1,000,000,000,000 bytes are announced, the limit of a file is 1,000,000"),
        ({"cut": 10}, f"10 of {len(CONTENT)} bytes arrived"),
    ],
    ids=str,
)
def test_a_server_that_never_sends_all_is_given_up(site, tmp_path, plan, message, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    monkeypatch.setattr(download, "LONGEST", 0.5)
    monkeypatch.setattr(download, "LARGEST", 1_000_000)
    site.plans[PATH] = [plan] * 20
    with pytest.raises(DatasetError, match=f"http://.*{PATH}: .*{message}"):
        fetch(site, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (403, 1), (500, 3)])
def test_asking_again_where_it_helps(site, tmp_path, status, asked):
    site.plans[PATH] = [{"status": status}] * 20
    with pytest.raises(DatasetError, match=rf"http://.*{PATH}: HTTP Error {status}"):
        fetch(site, tmp_path)
    assert len(site.requests) == asked
    assert not list(tmp_path.iterdir())


def test_no_server(tmp_path):
    with serve() as gone:
        pass
    with pytest.raises(DatasetError, match=rf"{gone.address}/{PATH}: .*refused"):
        fetch(gone, tmp_path)
