"""The page about the command line: its commands run as written, and print what it says."""

import os
import re
import subprocess
from pathlib import Path

from gitcluster.cli.commands import app

from .conftest import COMMAND, leftovers

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()


def blocks(kind):
    return [block.split("```")[0] for block in PAGE.split(f"```{kind}\n")[1:]]


def test_the_worked_example(folder):
    lines = [line for block in blocks("sh") for line in block.splitlines() if not line.startswith("pip ")]
    environment = {**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input="\n".join(lines),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = {" ".join(line.split()) for line in done.stdout.splitlines()}
    for line in "".join(blocks("text")).splitlines():
        assert " ".join(line.split()) in shown
    assert leftovers(folder) == sorted(set(re.findall(r"[a-z]+\.(?:csv|npz|parquet|html|pdf|png)", "".join(lines))))
    assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    report = (folder / "report.html").read_text()
    for words in (
        "1,000 rows, 2 columns, 4 clusters",
        "How the clusters differ",
        '<svg class="plot"',
        "@media print",
    ):
        assert words in report
    assert len((folder / "labels.csv").read_text().splitlines()) == 1001


def test_every_command_is_there():
    used = set(re.findall(r"^(?:.*\| )?gitcluster (\w+)", "\n".join(blocks("sh")), flags=re.M))
    assert used == set(app.commands) - {"completion"}
    assert {row.split()[0].strip("`") for row in re.findall(r"^\| (`\w+)", PAGE, flags=re.M)} >= set(app.commands)
