"""The cache of compiled code, used as users do: by one process after another, by two at once, by two versions.

``scripts/check-container`` runs an installation that can write nowhere.
"""

import os
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest

import gitcluster

PACKAGE = Path(gitcluster.__file__).parent
DATA = """
import sys, warnings
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise_distances
from gitcluster import GIT
warnings.simplefilter("ignore")
X, _ = make_moons(250, noise=0.09, random_state=0)
"""
FITS = {
    "default": "GIT(2).fit(X)",
    "paper": "GIT(2, variant='paper').fit(X)",
    "authors": "GIT(2, variant='authors').fit(X)",
    "weights": "GIT(2).fit(X, sample_weight=np.linspace(1, 2, 250))",
    "links": "GIT(2).fit(X, must_link=[(0, 1)], cannot_link=[(2, 3)])",
    "cosine": "GIT(2, metric='cosine').fit(X + 3)",
    "precomputed": "GIT(2, metric='precomputed').fit(pairwise_distances(X))",
    "approximate": "GIT(2, search='approximate').fit(np.random.default_rng(0).normal(size=(3000, 20)))",
    "dask": """
import dask, dask.array
from gitcluster.distributed import DaskGIT
with dask.config.set(scheduler="synchronous"):
    DaskGIT(2).fit(dask.array.from_array(X, chunks=(100, 2))).labels_.compute()
""",
}
ORDER = list(FITS)


def start(names, cache, source=None):
    """Fit by name, one after the other, in a new process."""
    code = DATA + "".join(f"{FITS[name].strip()}\n" for name in names)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)


def finish(process, names):
    errors = process.communicate()[1]
    assert process.returncode == 0, f"{names}: exit code {process.returncode}\n{errors}"


def run(names, cache, source=None):
    finish(start(names, cache, source), names)


@pytest.mark.parametrize("order", [ORDER, ORDER[::-1], ["paper", "default"]], ids=["forward", "backward", "paper"])
def test_code_that_one_process_cached_runs_in_the_next(tmp_path, order):
    pytest.importorskip("dask")
    run(order, tmp_path)
    # numba unpickles an index before it compares versions, so a class that it names may never move.
    assert not [file.name for file in tmp_path.rglob("*.nbi") if b"gitcluster" in file.read_bytes()]
    for name in order:
        run([name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("pair", list(permutations(ORDER, 2)), ids="-".join)
def test_every_pair_leaves_a_cache_that_works(tmp_path, pair):
    pytest.importorskip("dask")
    run(pair, tmp_path)
    for name in pair:
        run([name], tmp_path)


def test_two_processes_fill_one_cache(tmp_path):
    both = [["paper", "default"], ["default", "paper"]]
    for process, names in [(start(names, tmp_path), names) for names in both]:
        finish(process, names)
    run(["default", "paper", "weights"], tmp_path)


def install(target):
    """Copy the package as an installer does: every file is new."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        PACKAGE, target / "gitcluster", copy_function=shutil.copy, ignore=shutil.ignore_patterns("__pycache__")
    )


def test_another_version_does_not_run_cached_code(tmp_path):
    """Also if only a function that other kernels call has changed, in another file."""
    cache, source = tmp_path / "cache", tmp_path / "site"
    install(source)
    run(["default"], cache, source)
    install(source)
    structures = source / "gitcluster" / "kernels" / "structures.py"
    broken = structures.read_text().replace("root[low] = high", "raise ValueError('the new version')")
    assert broken != structures.read_text()
    structures.write_text(broken)
    process = start(["paper"], cache, source)
    assert "the new version" in process.communicate()[1]
    install(source)
    run(["default", "paper"], cache, source)
