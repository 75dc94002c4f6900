"""The order of the runs of the speed experiment, and what is stored; nothing is timed."""

import json

import pytest

from benchmarks.experiments import speed, stages
from benchmarks.running import append


@pytest.fixture
def runs(monkeypatch, tmp_path):
    """Every run that was asked for; those of 100 features take long, the search of 300 fails."""
    asked = []

    def run_apart(method, shape, timeout, **environment):
        asked.append((method, tuple(shape)))
        if (method, shape[1]) == ("search k", 300):
            return {"error": "> 1 s"}
        return {"seconds": 90.0 if shape[1] == 100 else 1.0, "cpu": 1.0}

    monkeypatch.setattr(speed, "run_apart", run_apart)
    monkeypatch.setattr(speed, "RESULTS", tmp_path / "speed.jsonl")
    return asked


def test_methods_take_turns_and_what_is_slow_is_not_repeated(runs):
    speed.main(["--sweep", "paper d", "--repeat", "2"])
    methods = list(speed.OF_PAPER)
    by_width = {d: [method for method, shape in runs if shape[1] == d] for d in (10, 100, 300, 1000)}
    assert by_width[10] == methods * 2
    assert by_width[100] == methods
    assert by_width[300] == [*methods, *methods[:2]]
    assert by_width[1000] == methods[:2] * 2
    lines = [*map(json.loads, speed.RESULTS.read_text().splitlines())]
    assert len(lines) == len(runs)
    assert all(line["command"] == "python -m benchmarks speed --sweep paper d --repeat 2" for line in lines)
    assert {"date", "machine", "versions", "cores"} <= set(lines[0])
    assert "| d | GIT paper k | 10: 1.00, 30: 1.00" in speed.paper_table()


def test_quick_runs_few_samples_and_stores_nothing(runs):
    speed.main(["--sweep", "paper n", "--quick"])
    assert {shape for _, shape in runs} == {(speed.QUICK_SAMPLES, 10, 50, 2)}
    assert not speed.RESULTS.exists()


def test_runs_without_a_command_count_where_there_is_no_other_and_bear_a_star(monkeypatch, tmp_path):
    monkeypatch.setattr(speed, "RESULTS", tmp_path / "speed.jsonl")
    run = {"shape": (50_000, 2, 20), "method": "GIT k", "peak MB": 100}
    alone = {"shape": (50_000, 4, 20), "method": "GIT k", "peak MB": 100, "seconds": 3.0}
    first = {"method": "GIT", "shape": (3000, 10, 20), "cache": "no"}
    for line in (
        run | {"seconds": 1.0},
        run | {"seconds": 2.0, "command": "now"},
        run | {"seconds": 2.5, "command": "now"},
        run | {"error": "> 1 s", "command": "now"},
        alone,
        first | {"first small fit": 20.0},
        first | {"first small fit": 21.0, "cache": "yes"},
        first | {"first small fit": 22.0, "command": "now"},
    ):
        append(speed.RESULTS, line)
    assert speed.read_best()["GIT k", (50_000, 2, 20)]["seconds"] == 2.0
    assert "| d | GIT k | 2: 2.0, 4: 3.0* |" in speed.sweep_table()
    assert "| GIT | 22.0 | 21.0* |" in speed.compile_table()
    monkeypatch.setattr(speed, "CASES", {"tested": (50_000, 2, 20), "alone": (50_000, 4, 20)})
    assert "| GIT k | 2.0 (0.1) | 3.0 (0.1)* |" in speed.table()


def test_every_stage_of_every_size_is_stored_once(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(stages, "RESULTS", tmp_path / "stages.jsonl")
    for sizes in ("600,300", "600"):
        stages.main(["--samples", sizes, "--features", "2", "--neighbors", "8", "--repeat", "1"])
    lines = [*map(json.loads, stages.RESULTS.read_text().splitlines())]
    assert [line["samples"] for line in lines] == [300, 600]
    assert all(stages.STAGES.keys() <= line["cpu"].keys() and "command" in line for line in lines)
    table = capsys.readouterr().out
    assert "| n = 300 | n = 600 | exponent of n |" in table
    assert all(f"| {told[0]} | {told[1]} |" in table for told in stages.STAGES.values())
