"""The tables in the documentation are those of the stored results."""

import subprocess
import sys
from pathlib import Path

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


def test_examples_run():
    page = (ROOT / "docs" / "using.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) >= 7
    exec("\n".join(blocks), {})
