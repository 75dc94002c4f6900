"""Ready for release: one version, a changelog, documented names, declared packages, no trace of a machine."""

import ast
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
EXTRAS = PROJECT["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"benchmarks", "browser", "coverage", "dev", "docs", "integrations"}
DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn", "umap": "umap-learn"}
"""Names on the package index, where they are not those of the import."""


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


def parse_folder(folder):
    """Path and syntax tree of every Python file below a folder."""
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted((ROOT / folder).rglob("*.py"))]


def third_party_imports(folder):
    """Packages imported anywhere in a folder, also inside functions, and the files that import them."""
    ours = {
        "gitcluster",
        *(path.name for path in ROOT.iterdir()),
        *(path.stem for path in (ROOT / folder).glob("*.py")),
    }
    found = {}
    for path, tree in parse_folder(folder):
        nodes = list(ast.walk(tree))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0]
        for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names - ours:
            found.setdefault(DISTRIBUTIONS.get(name, name).replace("_", "-"), []).append(path.name)
    return found


def declared_packages(*extras):
    """Packages that gitcluster with these extras asks for by name, those of extras within extras too."""
    lines = [line for extra in extras for line in EXTRAS[extra]]
    within = [re.match(r"gitcluster\[(.*)\]", line) for line in lines]
    inner = {extra for found in within if found for extra in found[1].split(",")}
    names = {re.match(r"[\w.-]+", line)[0] for line in [*PROJECT["project"]["dependencies"], *lines]}
    return names | (declared_packages(*inner) if inner else set())


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "docs", "examples", "scripts"])
def test_every_imported_package_is_declared(folder):
    extras = set(EXTRAS) - FOR_DEVELOPERS if folder == "src" else EXTRAS
    declared = declared_packages(*extras)
    assert {name: files for name, files in third_party_imports(folder).items() if name not in declared} == {}


def test_extras_that_errors_name_have_the_package():
    calls = [node for _, tree in parse_folder("src") for node in ast.walk(tree) if isinstance(node, ast.Call)]
    asked = []
    for call in calls:
        named = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
        if getattr(call.func, "id", "") == "require" and isinstance(call.args[0], ast.Constant):
            asked.append((call.args[0].value, named["extra"]))
    assert len(asked) > 5
    assert [(name, extra) for name, extra in asked if name not in declared_packages(extra)] == []


def test_a_first_change_needs_neither_torch_nor_a_browser_nor_root():
    assert not {"torch", "playwright"} & declared_packages("dev")
    assert not re.search(r"apt-get|sudo|npm", (ROOT / "scripts" / "check").read_text())


@pytest.mark.parametrize("tool", ["mypy", "ruff"])
def test_tools_have_one_version_written_in_one_place(tool, tracked):
    pinned = re.compile(rf"\b{tool}\W{{0,3}}==".encode())
    assert [name for name, data in tracked.items() if pinned.search(data) and name.endswith((".toml", ".yaml"))] == [
        "pyproject.toml"
    ]
    assert [line for line in EXTRAS["dev"] if re.fullmatch(rf"{tool}==[\d.]+", line)]
    assert f"entry: .venv/bin/{tool}".encode() in tracked[".pre-commit-config.yaml"]


def test_oldest_versions_are_the_lower_bounds():
    assert oldest_versions(["a>=1.2", "b_c[x,y]>=3,<4", "d", "e-f >= 5; python_version > '3'", "pinned==6"]) == [
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
