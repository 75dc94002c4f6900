"""Ready for release: one version, a changelog, documented names, a light import, no trace of a machine."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import pytest

import gitcluster
from scripts.check_archives import MACHINE_PATH, machine_paths, tracked_files
from scripts.oldest_versions import oldest_versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def tracked():
    """Contents of the files that git tracks, by path."""
    if not (ROOT / ".git").exists():
        pytest.skip("a source archive has no list of tracked files")
    return {name: (ROOT / name).read_bytes() for name in tracked_files() if (ROOT / name).exists()}


def test_version_is_written_in_one_place(tracked):
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/gitcluster/__init__.py"
    assigned = re.compile(rb"(?i)version\w*\W*[:=]\W*" + re.escape(gitcluster.__version__).encode() + rb"\b")
    written = {name: data for name, data in tracked.items() if not name.endswith(".jsonl")}  # results say what was run
    assert [name for name, data in written.items() if assigned.search(data)] == ["src/gitcluster/__init__.py"]


def test_changelog_begins_with_this_version_or_what_is_to_come():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0].split()[0] == gitcluster.__version__


@pytest.mark.parametrize("module", ["gitcluster", "gitcluster.metrics", "gitcluster.datasets"])
def test_public_names_are_documented(module):
    names = import_module(module).__all__
    assert [name for name in names if not getdoc(getattr(import_module(module), name))] == []


def test_no_place_of_a_machine_is_named(tracked):
    assert machine_paths(tracked) == []


def test_places_of_a_machine_are_recognised():
    for folder in ("home", "root", "tmp", "work", "Users"):
        assert MACHINE_PATH.search(f'open("/{folder}/somebody/file")'.encode())
    assert not MACHINE_PATH.search(b"https://example.org/home/page and a/tmp/b")


def test_import_is_light():
    command = [sys.executable, ROOT / "scripts" / "check_import.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_oldest_versions_are_the_lower_bounds():
    assert oldest_versions(["a>=1.2", "b_c[x,y]>=3,<4", "d", "e-f >= 5; python_version > '3'"]) == [
        "a==1.2",
        "b_c==3",
        "e-f==5",
    ]
    required = PROJECT["project"]["dependencies"]
    assert len(oldest_versions(required)) == len(required)


def test_every_supported_python_is_named_and_tested(tracked):
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    classifiers = PROJECT["project"]["classifiers"]
    named = [line.rpartition(" ")[2] for line in classifiers if re.search(r"Python :: 3\.\d+$", line)]
    assert named[0] == oldest
    assert f"python: {named}".replace("'", '"') in tracked[".github/workflows/ci.yml"].decode()
