"""A table, its reader, and the command in this process and as installed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gitcluster.cli.commands import app
from gitcluster.cli.tables import load_table
from gitcluster.cli.terminal import run as run_command

COMMAND = Path(sys.executable).parent / "gitcluster"
IDS = ("--id", "customer")
DEFAULTS = app.commands["fit"].make_context("fit", ["table.csv"], app.make_context("gitcluster", ["fit"])).params
"""The options of a command without any."""
READERS = {
    "csv": pd.read_csv, "tsv": lambda path: pd.read_csv(path, sep="\t"), "parquet": pd.read_parquet,
    "arrow": pd.read_feather, "xlsx": pd.read_excel, "npy": lambda path: pd.DataFrame({"cluster": np.load(path)}),
}  # fmt: skip
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /dev, /proc and limits of file sizes")


@pytest.fixture(scope="session")
def customers():
    """Three groups of customers: ids with leading zeros, three numeric columns."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], [100, 60, 40])
    centres = np.array([[30, 2000, 1], [60, 5000, 4], [45, 9000, 12]])
    values = centres[group] + rng.normal(size=(200, 3)) * [3, 300, 0.7]
    table = pd.DataFrame(values.round(3), columns=["age", "income", "visits_2025"])
    table.insert(0, "customer", [f"{i:04d}" for i in range(200)])
    return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def csv(folder, customers):
    """The customers as a CSV file in the folder."""
    customers.to_csv("customers.csv", index=False)
    return "customers.csv"


@pytest.fixture
def model(csv, run):
    """A saved model of the customers."""
    assert run("fit", csv, *IDS, "-c", "3", "--save", "model.npz", "-q")[0] == 0
    return "model.npz"


@pytest.fixture
def run(capfd):
    """``run(*arguments)`` -> exit code, output, errors of a command in this process."""

    def run_here(*arguments):
        capfd.readouterr()
        code = run_command(app, [str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run_here


def run_shell(script, **environment):
    """Lines of bash, in which ``$G`` is the command."""
    environment = {**os.environ, "G": str(COMMAND), "PATH": f"{COMMAND.parent}:{os.environ['PATH']}", **environment}
    arguments = ["bash", "-euo", "pipefail", "-c", script]
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)


def read(path, **options):
    """Return a table as the commands read it."""
    return load_table(str(path), DEFAULTS | options)


def leftovers(folder):
    """Names in a folder, hidden ones too."""
    return sorted(path.name for path in Path(folder).iterdir())
