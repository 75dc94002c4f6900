"""Experiments resume, select tasks and store every result at once; a fit in a process may fail or take too long."""

import json
import os
import time

import pytest

from benchmarks.runner import Store, read_lines, run_experiment, run_in_process

RUN = []


def tasks(options):
    for name in ("a", "b"):
        for k in (1, 2):
            yield {"set": name, "k": k}, lambda name=name, k=k: RUN.append((name, k)) or {"f1": k / 2}


def run(*arguments):
    RUN.clear()
    run_experiment("test", "About.", arguments, fields=("set", "k"), tasks=tasks, tables=[lambda: "a table"])
    return list(RUN)


def test_stored_tasks_are_not_run_again(results, capsys):
    assert run("--only", "set=a") == [("a", 1), ("a", 2)]
    assert run() == [("b", 1), ("b", 2)]
    assert capsys.readouterr().out == "a table\n" * 2
    assert run("--only", "set=a", "k=2", "--again") == [("a", 2)]
    lines = read_lines(results / "test.jsonl")
    assert [(line["set"], line["k"]) for line in lines] == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert lines[0]["command"] == "python -m benchmarks test --only set=a"
    assert {"date", "machine", "versions"} <= set(lines[0])
    assert sorted(results.iterdir()) == [results / "test.jsonl"]


def test_a_selection_that_matches_nothing_is_refused(results, capsys):
    with pytest.raises(SystemExit):
        run("--only", "set=c")
    assert "--only" in capsys.readouterr().err


def test_an_interrupted_line_is_not_read(results):
    run()
    path = results / "test.jsonl"
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text[:3]) + text[3][:20])
    assert run() == [("b", 2)]
    assert len(Store("test", ("set", "k"), results).lines) == 4


def test_quick_and_table_store_nothing(results, capsys):
    assert len(run("--quick")) == 4
    assert run("--table") == []
    assert list(results.iterdir()) == []
    assert capsys.readouterr().out == "a table\n"


@pytest.mark.parametrize(
    ("work", "argument", "answer"),
    [
        (json.loads, '{"f1": 1}', {"f1": 1}),
        (json.loads, "", {"error": "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"}),
        (os._exit, 1, {"error": "the process ended, most likely for want of memory"}),
        (bytes, 10**11, {"error": "MemoryError:"}),
    ],
)
def test_a_process_answers(work, argument, answer):
    assert run_in_process(work, argument, seconds=60, gigabytes=8) == answer


def test_a_process_ends_after_its_time():
    assert run_in_process(time.sleep, 1000, seconds=0.5) == {"error": "> 0.5 s"}
