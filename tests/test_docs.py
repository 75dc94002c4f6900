"""The tables in the documentation are those of the stored results, and its examples run."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

import gitcluster
from gitcluster import datasets, explorer, metrics, plots
from tests.pages import DOCS, find_pages, missing_packages, run_page

ROOT = Path(__file__).parents[1]


def test_tables_are_drawn_from_the_results():
    command = [sys.executable, "-m", "benchmarks", "report", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_readme_opens_with_two_commands_that_ci_runs():
    readme = (ROOT / "README.md").read_text()
    commands = [block.split("```")[0].strip() for block in readme.split("```sh\n")[1:3]]
    assert commands[0].endswith("-m gitcluster")
    assert commands[1] == "scripts/check"
    assert "scripts/check" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("page", find_pages(), ids=lambda page: page.stem)
def test_blocks_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    missing = missing_packages(page)
    if missing:
        pytest.skip(f"{page.name} needs what is not installed: pip install {' '.join(missing)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # Toponymy's guest would look for prices on the network
    plt.switch_backend("agg")
    with warnings.catch_warnings():
        if page.parent.name == "inside":
            warnings.simplefilter("ignore")  # of other packages
        assert run_page(page) == page.read_text()
    plt.close("all")


def test_every_page_is_found():
    pages = {page.relative_to(DOCS.parent).as_posix().removeprefix("docs/") for page in find_pages()}
    assert {"index.md", "quickstart.md", "using.md", "parameters.md", "coming_from.md", "datasets.md"} <= pages
    assert len([page for page in pages if page.startswith("algorithm/")]) >= 7


@pytest.mark.parametrize("module", [gitcluster, datasets, explorer, metrics, plots], ids=lambda module: module.__name__)
def test_api_page_has_every_public_name(module):
    words = set(re.findall(r"\w+", (DOCS / "api.md").read_text()))
    assert set(module.__all__) <= words


def test_a_changed_result_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nn = 2\n```\n\n```python\nprint(n + 1)\n```\n\n```output\n4\n```\n")
    assert run_page(page).endswith("```output\n3\n```\n")
