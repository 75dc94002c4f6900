"""Ready for release: one version, documented names, declared packages, no trace of a machine."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from inspect import getdoc, isfunction, signature
from pathlib import Path

import pytest

import gitcluster
from scripts.check_archives import MACHINE_PATH, machine_paths, tracked_files

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIRED, EXTRAS = PROJECT["project"]["dependencies"], PROJECT["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"benchmarks", "browser", "coverage", "dev", "docs", "integrations"}
DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn", "umap": "umap-learn"}
"""Names on the package index that differ from the name of the import."""


@pytest.fixture(scope="module")
def tracked():
    """Return the contents of the files that git tracks, by path."""
    if not (ROOT / ".git").exists():
        pytest.skip("a source archive has no list of tracked files")
    return {name: (ROOT / name).read_bytes() for name in tracked_files() if (ROOT / name).exists()}


def test_the_version_is_written_once(tracked):
    assigned = re.compile(rb"(?i)version\w*\W*[:=]\W*" + re.escape(gitcluster.__version__).encode() + rb"\b")
    written = {name: data for name, data in tracked.items() if not name.endswith(".jsonl")}  # results name the version
    assert [name for name, data in written.items() if assigned.search(data)] == ["src/gitcluster/__init__.py"]
    heading = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1]
    assert heading in ("Unreleased", gitcluster.__version__)


@pytest.mark.parametrize("module", ["gitcluster", "gitcluster.metrics", "gitcluster.datasets"])
def test_public_names_are_documented(module):
    names = import_module(module).__all__
    assert [name for name in names if not getdoc(getattr(import_module(module), name))] == []


def test_functions_take_at_most_two_positional_arguments():
    for name in filter(lambda name: isfunction(getattr(gitcluster, name)), gitcluster.__all__):
        parameters = signature(getattr(gitcluster, name)).parameters.values()
        assert sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) <= 2 + (name == "compare"), name


def test_no_path_of_a_machine_is_named(tracked):
    assert machine_paths(tracked) == []
    for folder in ("home", "root", "tmp", "work", "Users"):
        assert MACHINE_PATH.search(f'open("/{folder}/somebody/file")'.encode())
    assert not MACHINE_PATH.search(b"https://example.org/home/page and a/tmp/b")


def test_import_is_light():
    command = [sys.executable, ROOT / "scripts" / "check_import.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def parse_folder(folder):
    """Return the path and the syntax tree of every Python file below a folder."""
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted((ROOT / folder).rglob("*.py"))]


def declared_packages(*extras):
    """Return the packages that gitcluster with some extras requires, including those of extras within extras."""
    lines = [line for extra in extras for line in EXTRAS[extra]]
    matches = filter(None, (re.match(r"gitcluster\[(.*)\]", line) for line in lines))
    inner = {extra for match in matches for extra in match[1].split(",")}
    names = {re.match(r"[\w.-]+", line)[0] for line in [*REQUIRED, *lines]}
    return names | (declared_packages(*inner) if inner else set())


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs", "examples", "scripts"])
def test_every_imported_package_is_declared(folder):
    ours = {
        "gitcluster",
        *(path.name for path in ROOT.iterdir()),
        *(path.stem for path in (ROOT / folder).glob("*.py")),
    }
    imported = {}
    for path, tree in parse_folder(folder):
        nodes = list(ast.walk(tree))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0]
        for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - ours:
            imported.setdefault(DISTRIBUTIONS.get(name, name).replace("_", "-"), []).append(path.name)
    declared = declared_packages(*(set(EXTRAS) - FOR_DEVELOPERS if folder == "src" else EXTRAS))
    assert {name: files for name, files in imported.items() if name not in declared} == {}


def test_extras_that_errors_name_have_the_package():
    calls = [node for _, tree in parse_folder("src") for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = []
    for call in calls:
        if getattr(call.func, "id", "") == "require" and isinstance(call.args[0], ast.Constant):
            extra = next(word.value.value for word in call.keywords if word.arg == "extra")
            named.append((call.args[0].value, extra))
    assert len(named) > 5
    assert [(name, extra) for name, extra in named if name not in declared_packages(extra)] == []


def test_every_supported_python_is_named_and_tested(tracked):
    classifiers = PROJECT["project"]["classifiers"]
    named = [line.rpartition(" ")[2] for line in classifiers if re.search(r"Python :: 3\.\d+$", line)]
    assert named[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f"python: {named}".replace("'", '"') in tracked[".github/workflows/ci.yml"].decode()
