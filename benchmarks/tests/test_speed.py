"""The order of the runs of the speed experiment, and what is stored; nothing is timed."""

import json

import pytest

from benchmarks.experiments import speed, stages


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
