"""A disk that fills up under every writer: exit code 1, the old file as it was, and nothing left beside it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from .conftest import COMMAND, leftovers

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit of the size of files")

LABELS = ["csv", "tsv", "parquet", "arrow", "xlsx", "npy", "npz"]
COMMANDS = {
    **{f"fit {form}": ("fit", "t.npy", "-c", "2", "-o", f"out.{form}") for form in LABELS},
    **{f"predict {form}": ("predict", "model.npz", "t.npy", "-o", f"out.{form}") for form in ("csv", "parquet")},
    **{f"cut {form}": ("cut", "model.npz", "-c", "3", "-o", f"out.{form}") for form in ("tsv", "xlsx")},
    "save": ("fit", "t.npy", "-c", "2", "--save", "out.npz"),
    "report": ("report", "model.npz", "t.npy", "-o", "out.html"),
    "explore": ("explore", "model.npz", "t.npy", "-o", "out.htm"),
    **{f"plot {form}": ("plot", "model.npz", "t.npy", "-o", f"out.{form}") for form in ("png", "svg", "pdf", "jpg")},
}
ROOM = 600
"""Bytes that a file may have; every one of the files is longer."""

SCRIPT = """
import resource, sys
from gitcluster.cli import run
for line in sys.stdin.read().splitlines():
    resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, resource.RLIM_INFINITY))
    code = run(line.split("|"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("EXIT", code, flush=True)
"""


def run_limited(commands, room):
    script = SCRIPT.format(room=room)
    fed = "\n".join("|".join(command) for command in commands)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], input=fed, capture_output=True, text=True, check=False, env=environment
    )
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("EXIT")]
    return codes, done.stderr


@pytest.mark.parametrize("room", [0, ROOM])
def test_a_full_disk_under_every_command(folder, run, room):
    np.save("t.npy", np.random.default_rng(0).normal(size=(400, 2)))
    assert run("fit", "t.npy", "-c", "2", "--save", "model.npz", "-q")[0] == 0
    outputs = {command[-1] for command in COMMANDS.values()}
    for name in outputs:
        (folder / name).write_bytes(b"old " + name.encode())
    codes, errors = run_limited(COMMANDS.values(), room)
    assert dict(zip(COMMANDS, codes, strict=True)) == dict.fromkeys(COMMANDS, 1), errors
    told = errors.splitlines()
    assert len(told) == len(COMMANDS), errors
    for command, words in zip(COMMANDS.values(), told, strict=True):
        elsewhere = command[-1].endswith("xlsx") and "No usable temporary directory" in words
        assert words == f"Error: {command[-1]}: File too large" or elsewhere
    for name in outputs:
        assert (folder / name).read_bytes() == b"old " + name.encode()
    assert leftovers(folder) == sorted({"t.npy", "model.npz", *outputs})


def test_a_full_disk_under_every_function(folder):
    script = f"""
import os, resource
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
resource.setrlimit(resource.RLIMIT_FSIZE, ({ROOM}, resource.RLIM_INFINITY))
for write in writers:
    try:
        write()
    except OSError as error:
        print(error.filename)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["a.npz", "b.graphml", "d.html"], done.stderr
    assert "Traceback" not in done.stderr
    assert leftovers(folder) == ["a.npz", "b.graphml", "d.html"]
    assert all(path.read_text() == "old" for path in folder.iterdir())


def test_a_disk_that_fills_up_when_the_last_bytes_are_kept(folder, monkeypatch):
    from gitcluster._support import files

    (folder / "labels.csv").write_text("old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with (
        pytest.raises(OSError, match=r"No space left on device: 'labels.csv'"),
        files.write_aside("labels.csv") as file,
    ):
        file.write(b"new")
    assert leftovers(folder) == ["labels.csv"]
    assert (folder / "labels.csv").read_text() == "old"


def test_a_summary_on_a_full_disk(csv, folder):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [COMMAND, "fit", csv, "--id", "customer", "-c", "3", "-o", "labels.csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: No space left on device\n"
