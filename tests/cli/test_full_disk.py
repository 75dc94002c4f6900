"""A disk that fills up under every writer: exit code 1, the old file as it was, and nothing left beside it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from gitcluster._support.files import atomic_write

from .conftest import IDS, leftovers, run_shell

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit of the size of files")

LABELS = ["csv", "tsv", "parquet", "arrow", "xlsx", "npy", "npz"]
COMMANDS = [
    *(("fit", "t.npy", "-c", "2", "-o", f"out.{form}") for form in LABELS),
    *(("predict", "model.npz", "t.npy", "-o", f"out.{form}") for form in ("csv", "parquet")),
    ("cut", "model.npz", "-c", "3", "-o", "out.tsv"),
    ("fit", "t.npy", "-c", "2", "--save", "out.npz"),
    ("report", "model.npz", "t.npy", "-o", "out.html"),
    ("explore", "model.npz", "t.npy", "-o", "out.htm"),
    *(("plot", "model.npz", "t.npy", "-o", f"out.{form}") for form in ("png", "svg", "pdf", "jpg")),
]
SCRIPT = """
import resource, sys
from gitcluster.cli.commands import app
from gitcluster.cli.terminal import run
for line in sys.stdin.read().splitlines():
    resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
    code = run(app, line.split("|"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("EXIT", code, flush=True)
"""


@pytest.mark.parametrize("limit", [0, 600])
def test_a_full_disk_under_every_command(folder, run, limit):
    np.save("t.npy", np.random.default_rng(0).normal(size=(400, 2)))
    assert run("fit", "t.npy", "-c", "2", "--save", "model.npz", "-q")[0] == 0
    outputs = {command[-1] for command in COMMANDS}
    for name in outputs:
        (folder / name).write_bytes(b"old " + name.encode())
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(limit=limit)], input="\n".join(map("|".join, COMMANDS)),
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert [line for line in done.stdout.splitlines() if line.startswith("EXIT")] == ["EXIT 1"] * len(COMMANDS)
    for command, words in zip(COMMANDS, done.stderr.splitlines(), strict=True):
        elsewhere = command[-1].endswith("xlsx") and "No usable temporary directory" in words
        assert words == f"Error: {command[-1]}: File too large" or elsewhere
    for name in outputs:
        assert (folder / name).read_bytes() == b"old " + name.encode()
    assert leftovers(folder) == sorted({"t.npy", "model.npz", *outputs})


def test_a_full_disk_under_every_function(folder):
    script = """
import resource
import numpy as np
from gitcluster import GIT
from gitcluster.explorer import write_explorer
from gitcluster.fitted.exports import to_graphml
X = np.random.default_rng(0).normal(size=(3000, 2))
model = GIT(2).fit(X)
writers = [lambda: model.save("a.npz"), lambda: to_graphml(model, "b.graphml"),
           lambda: write_explorer(model, X, "d.html")]
for name in ("a.npz", "b.graphml", "d.html"):
    open(name, "w").write("old")
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
for write in writers:
    try:
        write()
    except OSError as error:
        print(error.filename)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["a.npz", "b.graphml", "d.html"], done.stderr
    assert leftovers(folder) == ["a.npz", "b.graphml", "d.html"]
    assert all(path.read_text() == "old" for path in folder.iterdir())


def test_standard_output_on_a_full_disk(csv, folder):
    for options in ("-o labels.csv > /dev/full", "-o /dev/full --output-format csv"):
        done = run_shell(f"$G fit {csv} --id customer -c 3 {options}")
        assert done.returncode == 1
        assert "No space left on device" in done.stderr


def test_a_disk_that_fills_up_when_the_last_bytes_are_written(folder, monkeypatch):
    (folder / "labels.csv").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match=r"labels.csv"), atomic_write("labels.csv") as file:
        file.write(b"new")
    assert leftovers(folder) == ["labels.csv"]
    assert (folder / "labels.csv").read_text() == "old"


def test_an_abandoned_file_is_gone_and_stays_unwritten(folder):
    code = (
        "from gitcluster._support.files import abandon, atomic_write\n"
        "with atomic_write('labels.csv') as file:\n"
        "    file.write(b'half')\n"
        "    abandon()\n"
        "    import os; os._exit(0 if os.listdir() == [] else 1)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_links_and_permissions_survive(csv, folder, run):
    (folder / "real.csv").write_text("old")
    (folder / "real.csv").chmod(0o600)
    (folder / "link.csv").symlink_to("real.csv")
    assert run("fit", csv, *IDS, "-c", "3", "-q", "-o", "link.csv")[0] == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("customer,cluster\n")
    assert (folder / "real.csv").stat().st_mode & 0o777 == 0o600
