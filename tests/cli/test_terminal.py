"""The installed command at a real terminal: progress, Ctrl-C and signals in every phase, pipes that break.

A named pipe that the test does not feed, or a large fit, keeps the command in a phase.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from .conftest import COMMAND, IDS, leftovers, run_shell

PATIENCE = 120
CTRL_C = b"\x03"


class Terminal:
    """A command at a pseudo-terminal of its own; ``wait_for`` reads what it shows, ``type`` presses keys."""

    def __init__(self, *arguments):
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            for number in (signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)  # a job in the background would ignore them
            os.execv(COMMAND, [str(COMMAND), *arguments])
        self.shown = ""

    def wait_for(self, pattern):
        """Read until the pattern has been shown."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, f"{pattern!r} was not shown, but: {self.shown!r}"
            assert self._read(), f"The command ended without {pattern!r}: {self.shown!r}"

    def _read(self):
        if not select.select([self.screen], [], [], 1.0)[0]:
            return True
        try:
            data = os.read(self.screen, 65536)
        except OSError:  # the terminal closes when the command ends
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode(errors="replace"))
        return bool(data)

    def type(self, keys):
        os.write(self.screen, keys)

    def exit_code(self):
        """Wait for the end."""
        deadline = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < deadline, self.shown
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.screen)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_an_interrupted_command_leaves_the_old_file(model, folder, number):
    os.mkfifo("pipe.csv")
    (folder / "labels.csv").write_text("old")
    terminal = Terminal("predict", "model.npz", "pipe.csv", "-o", "labels.csv")
    with open("pipe.csv", "wb") as feed:
        feed.write(b"age,income,visits_2025\n1,2,3\n")
        feed.flush()
        terminal.wait_for(r"Reading pipe.csv")
        terminal.type(CTRL_C) if number == signal.SIGINT else os.kill(terminal.pid, number)
        assert terminal.exit_code() == 128 + number
    assert leftovers(folder) == ["customers.csv", "labels.csv", "model.npz", "pipe.csv"]
    assert (folder / "labels.csv").read_text() == "old"


def test_a_fit_is_shown_with_its_stage_and_interrupted(folder):
    np.save("large.npy", np.random.default_rng(0).normal(size=(200_000, 8)))
    terminal = Terminal("fit", "large.npy", "-c", "3", "-o", "labels.csv")
    terminal.wait_for(r"Clustering 200,000 rows: [a-z ]+")
    terminal.type(CTRL_C)
    assert terminal.exit_code() == 130
    assert leftovers(folder) == ["large.npy"]


def test_a_summary_in_a_terminal_and_no_labels(csv):
    terminal = Terminal("fit", csv, *IDS, "-c", "3")
    assert terminal.exit_code() == 0
    assert "3 groups in 200 rows and 3 columns" in terminal.shown
    assert "To keep the labels: gitcluster fit customers.csv ... -o labels.csv" in terminal.shown
    assert "0000,0" not in terminal.shown


def test_no_progress_without_a_terminal_and_an_ignored_hangup(folder):
    os.mkfifo("pipe.csv")
    command = subprocess.Popen(
        [COMMAND, "fit", "pipe.csv", "-c", "1", "-o", "labels.csv", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # as nohup does
    )
    with open("pipe.csv", "wb") as feed:
        time.sleep(0.5)
        command.send_signal(signal.SIGHUP)
        feed.write(b"a,b\n1,2\n1,3\n9,9\n")
    assert command.communicate(timeout=PATIENCE) == (b"", b"")
    assert command.returncode == 0


def test_a_broken_pipe_is_quiet(csv):
    reader, writer = os.pipe()
    os.close(reader)
    command = subprocess.Popen([COMMAND, "fit", csv, *IDS, "-c", "3"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert command.communicate(timeout=PATIENCE)[1] == b""
    assert command.returncode == 1


def test_the_module_alone_is_the_demonstration_and_needs_no_extra():
    blocked = ["click", "rich", "pyarrow", "openpyxl", "matplotlib"]  # scikit-learn 1.6 imports pandas on its own
    code = (
        f"import runpy, sys; [sys.modules.__setitem__(name, None) for name in {blocked}]; "
        "sys.argv = ['gitcluster']; runpy.run_module('gitcluster', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "C      150  15.0%     15.0%" in done.stdout
    assert run_shell("$G --version").stdout.startswith("gitcluster, version")
