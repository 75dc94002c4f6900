"""Work in a process that may fail, run out of memory or take too long."""

import json
import os
import time

import pytest

from benchmarks.running import Store, Worker, read_lines


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


def test_a_line_takes_the_place_of_the_one_before(tmp_path):
    for value in (1, 2):
        store = Store(tmp_path / "results.jsonl", ("set",))
        store.add({"set": "iris", "f1": value})
        store.add({"set": f"other {value}", "f1": 0})
    assert [(line["set"], line["f1"]) for line in read_lines(store.path)] == [
        ("other 1", 0),
        ("iris", 2),
        ("other 2", 0),
    ]
    assert list(tmp_path.iterdir()) == [store.path]
