"""The paper's tables on small stand-in sets: they run, resume, keep failures, and draw from stored lines alone."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from benchmarks.experiments import accuracy
from benchmarks.experiments.accuracy import CHOSEN
from benchmarks.methods import tell
from benchmarks.reporting import accuracy_tables
from benchmarks.reporting.published import COMPETITORS, CURVE_METHODS, CURVE_OPTIONS, CURVES, PUBLISHED
from benchmarks.running import Store
from benchmarks.tests.conftest import run_apart

KEY = ("set", "method", "setting")


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    """Results of every group of the accuracy experiment."""
    folder = tmp_path_factory.mktemp("results")
    done = run_apart(data, "accuracy", "--quick", "--results", folder)
    return SimpleNamespace(folder=folder, path=folder / "accuracy.jsonl", printed=done.stdout, said=done.stderr)


def test_every_installed_method_has_a_line_in_both_settings(stored):
    lines = Store(stored.path, KEY).lines
    installed = {name for name in COMPETITORS if CHOSEN[name].is_installed}
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
    run_apart(data, "accuracy", "--quick", "--results", tmp_path)
    assert path.read_text().startswith("".join(lines[:-2]))
    assert set(Store(path, KEY).lines) == set(Store(stored.path, KEY).lines)
    assert len(path.read_text().splitlines()) == len(lines) + 1  # the torn line stays, and is not read


def test_tables_come_from_stored_lines_alone(stored, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    accuracy.main(["--quick", "--results", str(stored.folder), "--table"])
    assert capsys.readouterr().out == stored.printed
    assert "| iris | F1 | .877 |" in stored.printed
    assert "| `authors` |" in stored.printed


def test_shapes_are_drawn(data, stored, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    for name in ("toy_moons", "toy_impossible"):
        with np.load(data / f"{name}.npz") as whole:
            part = np.sort(np.random.default_rng(0).permutation(len(whole["X"]))[: accuracy.QUICK_SAMPLES])
            np.savez(tmp_path / f"{name}.npz", X=whole["X"][part], y=whole["y"][part])
    monkeypatch.setenv("GITCLUSTER_DATA", str(tmp_path))
    from benchmarks.reporting.figures import draw_shapes, save

    for setting in ("published", "untuned"):
        save(draw_shapes(accuracy_tables.stored(stored.folder), setting), tmp_path / "shapes.png", "digest")
        picture = (tmp_path / "shapes.png").read_bytes()
        assert len(picture) > 5000
        assert b"results\0digest" in picture


@pytest.mark.parametrize("option", ["--sets", "--methods"])
def test_unknown_names_are_refused(option, capsys):
    with pytest.raises(SystemExit):
        accuracy.main([option, "irises"])
    assert "irises: none of" in capsys.readouterr().err


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


def test_gaps_name_the_rows_that_differ(tmp_path):
    store = Store(tmp_path / "accuracy.jsonl", KEY)
    for method, f1 in (("GIT authors", 0.8768), ("DPA", 0.80)):
        scores = {"published": [f1, 0, 0], "samples": 150, "of": 150}
        store.add({"set": "iris", "method": method, "setting": "published"} | scores)
    assert accuracy_tables.gaps_table(store).splitlines()[2:] == ["| iris | DPA | 0.831 | 0.800 | -0.031 |  |"]
    assert accuracy_tables.close_rows(store).startswith("1 of 2 rows")


def test_rows_that_are_arbitrary_do_not_count_and_seeds_are_averaged(tmp_path):
    store = Store(tmp_path / "accuracy.jsonl", KEY)
    scores = {"samples": 150, "of": 150}
    for name, method, f1 in (("wine", "spectral", [0.393]), ("iris", "SpectACl", [0.77, 0.79])):
        found = [{"published": [one, 0, 0], "optimal": [one, 0, 0]} for one in f1]
        store.add({"set": name, "method": method, "setting": "published"} | accuracy.average(found) | scores)
    assert accuracy_tables.close_rows(store).startswith("1 of 1 rows")
    store.add({"set": "frogs", "method": "SpectACl", "setting": "published"} | accuracy.average(found) | scores)
    assert accuracy_tables.gaps_table(store).endswith("| 0.601 | 0.780 | +0.179 | 2: 0.770 to 0.790 |")


def test_the_page_says_of_how_many_seeds_a_figure_is(tmp_path):
    store = Store(tmp_path / "accuracy.jsonl", KEY)
    for name, method, seeds in (("iris", "spectral", 10), ("codon", "spectral", 3), ("mnist", "SpectACl", 1)):
        drawn = {"seeds published": [0.5] * seeds} if seeds > 1 else {}
        store.add({"set": name, "method": method, "setting": "published", "published": [0.5]} | drawn)
    store.add({"set": "iris", "method": "GIT", "setting": "published", "published": [0.5]})
    said = accuracy_tables.seed_counts(store)
    assert said.endswith("Fewer seeds: SpectACl, published, on mnist: 1; spectral, published, on codon: 3.")


def test_every_published_parameter_is_taken():
    X, y = make_blobs([30, 30, 30], 2, random_state=0)
    for curve, options in CURVE_OPTIONS.items():
        assert set(options) == set(CURVE_METHODS)
        assert all(len(scores) == len(CURVE_METHODS) for scores in CURVES.get(curve, {}).values())
    names = {name: set() for name in COMPETITORS}
    for rows in PUBLISHED.values():
        for method, row in rows.items():
            if method != "GIT" and CHOSEN[method].is_installed and tuple(row.options) not in names[method]:
                names[method].add(tuple(row.options))
                known = tell(CHOSEN[method], np.bincount(y))
                assert len(CHOSEN[method].fit(X, known, **row.options)) == len(X)
