"""Work in a process that may fail, run out of memory or take too long."""

import json
import os
import time

import pytest

from benchmarks.running import Worker


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
