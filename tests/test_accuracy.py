"""The paper's experiments on small stand-in sets: they run, resume, keep failures, and draw from stored lines alone."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.experiments import accuracy, robustness
from benchmarks.methods.contenders import COMPETITORS, CONTENDERS
from benchmarks.reporting import accuracy_tables
from benchmarks.reporting.published import CURVE_METHODS, CURVE_OPTIONS, CURVES, PUBLISHED
from benchmarks.running import Store, Worker

ROOT = Path(__file__).parents[1]
KEY = ("set", "method", "setting")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with stand-ins of four sets; one is too small for DPA."""
    folder = tmp_path_factory.mktemp("data")
    blobs, classes = make_blobs([20, 50, 90], 2, random_state=0)
    tiny, halves = make_blobs([3, 3], 3, random_state=0)
    for name, (X, y) in {
        "iris": (blobs, classes),
        "wine": (tiny, halves),
        "frogs": (blobs, classes),
        "toy_moons": make_moons(160, noise=0.05, random_state=0),
        "toy_impossible": make_blobs([40] * 7, 2, random_state=1),
    }.items():
        np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


def run(data, *arguments):
    environment = os.environ | {"GITCLUSTER_DATA": str(data), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    """Results of every group of the accuracy experiment."""
    folder = tmp_path_factory.mktemp("results")
    done = run(data, "accuracy", "--quick", "--results", folder)
    return SimpleNamespace(folder=folder, path=folder / "accuracy.jsonl", printed=done.stdout, said=done.stderr)


def test_every_installed_method_has_a_line_in_both_settings(stored):
    lines = Store(stored.path, KEY).lines
    installed = {name for name in COMPETITORS if CONTENDERS[name].is_installed}
    for setting in ("published", "untuned"):
        assert installed <= {method for name, method, how in lines if (name, how) == ("iris", setting)}
    assert {"GIT proportions", "GIT"} <= {method for name, method, how in lines if how == "sizes"}
    assert ("frogs", "GIT proportions", "untuned") in lines
    assert ("iris", "GIT proportions", "untuned") not in lines
    line = lines["iris", "GIT", "untuned"]
    assert line["samples"] == 150
    assert line["of"] == 160
    assert {"command", "date", "machine", "versions"} <= set(line)
    assert "mnist: no such set" in stored.said


def test_a_failing_method_is_kept_as_an_error(stored):
    line = Store(stored.path, KEY).lines["wine", "DPA", "untuned"]
    assert line["error"].startswith("ValueError")
    assert "optimal" not in line
    assert "failed" in stored.printed
    assert f"- wine, DPA, untuned parameters: {line['error']}" in stored.printed


def test_an_interrupted_run_goes_on_where_it_was(data, stored, tmp_path):
    whole = stored.path.read_text()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / "accuracy.jsonl"
    path.write_text("".join(lines[:-2]) + lines[-2][:40])
    run(data, "accuracy", "--quick", "--results", tmp_path)
    assert path.read_text().startswith("".join(lines[:-2]))
    assert set(Store(path, KEY).lines) == set(Store(stored.path, KEY).lines)
    assert len(path.read_text().splitlines()) == len(lines) + 1  # the torn line stays, and is not read


def test_tables_come_from_stored_lines_alone(stored, tmp_path):
    again = run(tmp_path, "accuracy", "--quick", "--results", stored.folder, "--table")
    assert again.stdout == stored.printed
    assert "| iris | F1 | .877 |" in stored.printed
    assert "authors' variant" in stored.printed


def test_shapes_are_drawn(data, stored, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("toy_moons", "toy_impossible"):
        with np.load(data / f"{name}.npz") as whole:
            part = np.sort(np.random.default_rng(0).permutation(len(whole["X"]))[: accuracy.QUICK_SAMPLES])
            np.savez(tmp_path / f"{name}.npz", X=whole["X"][part], y=whole["y"][part])
    run(tmp_path, "accuracy", "--results", stored.folder, "--figure", tmp_path)
    assert (tmp_path / "shapes_published.png").stat().st_size > 5000
    assert (tmp_path / "shapes_untuned.png").stat().st_size > 5000


def test_curves_run_resume_and_are_drawn(data, tmp_path):
    arguments = ("robustness", "--quick", "--results", tmp_path)
    run(data, *arguments, "--curves", "moons")
    before = (tmp_path / "robustness.jsonl").read_text()
    done = run(data, *arguments)
    lines = robustness.stored(tmp_path).lines
    assert (tmp_path / "robustness.jsonl").read_text().startswith(before)
    assert {curve for curve, *_ in lines} == set(robustness.DRAWN)
    assert lines["moons", 0.02, "GIT", "untuned"]["optimal"] == [pytest.approx(1, abs=0.02)]
    assert "| impossible | 0.1 |" in done.stdout
    pytest.importorskip("matplotlib")
    run(data, *arguments, "--figure", tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 5000


@pytest.mark.parametrize("option", ["--sets", "--methods"])
def test_unknown_names_are_refused(option, capsys):
    with pytest.raises(SystemExit):
        accuracy.main([option, "irises"])
    assert "irises: none of" in capsys.readouterr().err


def test_uniform_noise_is_scored_only_as_published():
    X = np.concatenate([np.zeros((50, 2)), np.ones((50, 2)) * 9, np.full((20, 2), 4.0)])
    X += np.random.default_rng(0).normal(0, 0.1, X.shape)
    y = np.repeat([0, 1, -1], [50, 50, 20])
    task = {"method": "k-means++", "setting": "untuned", "curve": "impossible"}
    scores = robustness.fit_and_score(task, X, y)
    assert scores["optimal"] > 0.8
    assert scores["published"] < scores["optimal"]


def test_the_largest_size_that_ends_counts(monkeypatch):
    monkeypatch.setattr(accuracy, "load_set", lambda name: (None, np.zeros(60_000)))
    worker = SimpleNamespace(run=lambda task: {"seconds": (task["samples"] / 1000) ** 2})
    options = SimpleNamespace(quick=False, whole=False, limit=900)
    line = accuracy.climb(worker, {"set": "mnist"}, options)
    assert line["samples"] == 30_000
    assert line["of"] == 60_000
    assert line["stopped"] == "60,000 samples would take about 3,600 s"
    worker = SimpleNamespace(run=lambda task: {"error": "no"} if task["samples"] > 3000 else {"seconds": 1.0})
    assert accuracy.climb(worker, {"set": "mnist"}, options)["stopped"] == "10,000 samples: no"


@pytest.mark.parametrize(
    ("work", "task", "answer"),
    [
        (json.loads, '{"f1": 1}', {"f1": 1}),
        (json.loads, "", {"error": "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"}),
        (os._exit, 1, {"error": "the process was ended, most likely for want of memory"}),
        (bytes, 10**11, {"error": "MemoryError:"}),
    ],
)
def test_worker_answers(work, task, answer):
    with Worker(work, seconds=60, gigabytes=8) as worker:
        assert worker.run(task) == answer


def test_worker_is_ended_and_begins_anew():
    with Worker(time.sleep, seconds=0.5, gigabytes=8) as worker:
        assert worker.run(1000) == {"error": "> 0.5 s"}
        worker.seconds = 60
        assert worker.run(0) is None


def test_gaps_name_the_rows_that_differ(tmp_path):
    store = Store(tmp_path / "accuracy.jsonl", KEY)
    for method, f1 in (("GIT authors", 0.8768), ("DPA", 0.80)):
        scores = {"published": [f1, 0, 0], "samples": 150, "of": 150}
        store.add({"set": "iris", "method": method, "setting": "published"} | scores)
    assert accuracy_tables.gaps_table(store).splitlines()[2:] == ["| iris | DPA | 0.831 | 0.800 | -0.031 |"]
    assert accuracy_tables.close_rows(store).startswith("1 of 2 rows")


def test_every_published_parameter_is_taken():
    X, y = make_blobs([30, 30, 30], 2, random_state=0)
    for curve, options in CURVE_OPTIONS.items():
        assert set(options) == set(CURVE_METHODS)
        assert all(len(scores) == len(CURVE_METHODS) for scores in CURVES.get(curve, {}).values())
    names = {name: set() for name in COMPETITORS}
    for rows in PUBLISHED.values():
        for method, row in rows.items():
            if method != "GIT" and CONTENDERS[method].is_installed and tuple(row.options) not in names[method]:
                names[method].add(tuple(row.options))
                assert len(CONTENDERS[method].fit(X, np.bincount(y), **row.options)) == len(X)
