"""Hostile use: every kind is tried and counted, and a process that ends is a result."""

import json
import os

import pytest

from benchmarks.reporting import hostile_tables
from benchmarks.running import Worker

pytest.importorskip("dask")

from benchmarks.experiments import hostile


@pytest.mark.parametrize("kind", hostile.KINDS)
def test_a_few_of_every_kind(kind):
    for number in range(4):
        outcome = hostile.try_one((kind, 1, number))
        assert outcome
        assert not [name for name in outcome if name.isupper()], outcome


def test_runs_are_counted_and_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(hostile, "RESULTS", tmp_path / "results.jsonl")
    hostile.main(["--only", "tables", "--count", "3", "--first", "5"])
    hostile.main(["--only", "tables", "--count", "3", "--minutes", "0"])
    first, second = map(json.loads, hostile.RESULTS.read_text().splitlines())
    assert (first["count"], first["first"], sum(first["outcome"].values())) == (3, 5, 3)
    assert first["command"] == "python -m benchmarks hostile --only tables --count 3 --first 5"
    assert second["count"] == 1


def end_the_process(task):
    os.abort()


def test_a_process_that_ends_is_a_failure(monkeypatch):
    monkeypatch.setattr(hostile, "try_one", end_the_process)
    monkeypatch.setattr(hostile, "Worker", Worker)
    tried, outcome = hostile.try_many("files", range(1), 0, 1.0)
    assert tried == 1
    assert next(iter(outcome)).startswith("FAILED: ")


def test_the_table_has_the_last_run_of_every_kind():
    assert "| tables | 500 |" in hostile_tables.table()
