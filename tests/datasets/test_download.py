"""One file from a server that answers well, badly, by halves or not at all."""

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


def leave_part(site, folder, content):
    """An interrupted download that has got so far."""

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(site, folder, progress=stop)
    site.requests.clear()
    (part,) = folder.iterdir()
    assert part.name.endswith(".part")
    part.write_bytes(content)


def assert_whole(folder):
    assert (folder / PATH).read_bytes() == CONTENT
    assert len(list(folder.iterdir())) == 1


def test_a_file_arrives_whole_and_tells_how_far_it_is(site, tmp_path):
    seen = []
    assert fetch(site, tmp_path, progress=lambda *report: seen.append(report)) is False
    assert_whole(tmp_path)
    assert seen[-1] == (PATH, len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})


def test_an_interrupted_download_is_continued(site, tmp_path):
    leave_part(site, tmp_path, CONTENT[:1000])
    assert fetch(site, tmp_path) is True
    assert_whole(tmp_path)
    assert site.ranges(PATH) == ["bytes=1000-"]


@pytest.mark.parametrize(
    "plan",
    [
        {"whole": True},
        {"shift": 10},
        {"total": 1500},
        {"status": 503},
        {"status": 429},
        {"cut": 700},
        {"silent": True},
        {"status": 416},
    ],
    ids=str,
)
def test_a_part_survives_bad_answers(site, tmp_path, plan, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    leave_part(site, tmp_path, CONTENT[:1000])
    site.plans[PATH] = [plan]
    fetch(site, tmp_path)
    assert_whole(tmp_path)


@pytest.mark.parametrize("extra", [b"", b"more"])
def test_nothing_is_left_to_send(site, tmp_path, extra):
    leave_part(site, tmp_path, CONTENT + extra)
    fetch(site, tmp_path)
    assert_whole(tmp_path)
    assert site.ranges(PATH) == [f"bytes={len(CONTENT) + len(extra)}-"] + [None] * bool(extra)


def test_a_broken_answer_is_taken_up_where_it_broke_off(site, tmp_path):
    site.plans[PATH] = [{"cut": 1000}, {"cut": 500}]
    fetch(site, tmp_path)
    assert_whole(tmp_path)
    assert site.ranges(PATH) == [None, "bytes=1000-", "bytes=1500-"]


def test_a_size_need_not_be_told(site, tmp_path):
    site.plans[PATH] = [{"chunked": True}]
    seen = []
    fetch(site, tmp_path, progress=lambda *report: seen.append(report))
    assert_whole(tmp_path)
    assert seen[-1] == (PATH, len(CONTENT), None)


def test_a_server_that_never_sends_all_is_given_up(site, tmp_path):
    site.plans[PATH] = [{"cut": 10}] * 20
    with pytest.raises(DatasetError, match=f"{PATH}: 40 of {len(CONTENT)} bytes arrived"):
        fetch(site, tmp_path)
    (part,) = tmp_path.iterdir()
    assert part.read_bytes() == CONTENT[:40]


@pytest.mark.parametrize(("status", "asked"), [(404, 1), (403, 1), (500, 4)])
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
