"""Compiled code is kept where that is possible, and works where it is not."""

import importlib.util
import signal
import warnings

import numpy as np
import pytest

from gitcluster import _jit
from gitcluster._jit import Cache, Kernel, run_chunks

SOURCE = """
def double(start, stop, values, out):
    for i in range(start, stop):
        out[i] = 2 * values[i]
"""


@pytest.fixture
def double(tmp_path):
    """A function in a file of its own, whose compiled code is kept beside it."""
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("doubling", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


@pytest.fixture(autouse=True)
def _nothing_told_yet(monkeypatch):
    monkeypatch.setattr(_jit, "_said", set())


def works(kernel):
    values, out = np.arange(10.0), np.empty(10)
    run_chunks(kernel, 10, None, values, out)
    np.testing.assert_array_equal(out, 2 * values)


def kept_files(tmp_path):
    return [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_compiled_code_is_kept_and_found_again(double, tmp_path):
    first, again = _jit.kernel(double), _jit.kernel(double)
    works(first)
    assert len(kept_files(tmp_path)) == 2
    works(again)
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("damage", [b"", b"\x80", b"nonsense" * 100], ids=["empty", "cut off", "other"])
def test_damaged_files_are_compiled_anew(double, tmp_path, damage):
    works(_jit.kernel(double))
    for path in kept_files(tmp_path):
        path.write_bytes(damage)
    works(_jit.kernel(double))


def test_a_full_disk_is_told_once(double, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Cache.__base__, "save_overload", full)
    with pytest.warns(UserWarning, match=r"No space left on device.*NUMBA_CACHE_DIR"):
        works(_jit.kernel(double))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        works(_jit.kernel(double))


def test_somebody_who_waits_is_told_once(double, monkeypatch, capsys):
    monkeypatch.setattr(_jit, "is_watched", lambda: True)
    works(_jit.kernel(double))
    assert "compiles" in capsys.readouterr().err
    works(_jit.kernel(double))  # found, not compiled
    assert capsys.readouterr().err == ""


def test_nobody_is_told_where_something_else_moves(double, monkeypatch, capsys):
    monkeypatch.setattr(_jit, "is_watched", lambda: True)
    _jit.keep_quiet()
    works(_jit.kernel(double))
    assert capsys.readouterr().err == ""


def test_a_file_of_errors_is_not_told(double, capsys):
    works(_jit.kernel(double))
    assert capsys.readouterr().err == ""


def test_parts_of_kernels_can_be_called_uncompiled(double):
    values, out = np.arange(10.0), np.empty(10)
    part = _jit.inner_kernel(double)
    part(0, 10, values, out)
    np.testing.assert_array_equal(out, 2 * values)
    assert not part.signatures


def test_no_place_for_files_is_told_when_something_is_compiled(double, monkeypatch):
    def nowhere(*_):
        raise RuntimeError("cannot cache function 'double': no locator available")

    monkeypatch.setattr(Cache, "__init__", nowhere)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # an import says nothing
        kernel = _jit.kernel(double)
    assert isinstance(kernel, Kernel)
    with pytest.warns(UserWarning, match="no locator available"):
        works(kernel)


class Stop(BaseException):
    """What a signal raises."""


def sum_slowly(n):
    sums = np.zeros(4)
    for i in range(n):
        sums[i % 4] += i
    return sums, 2 * sums


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no timer that sends signals")
def test_a_signal_while_a_kernel_runs_raises_what_it_raises():
    def stop(*_):
        raise Stop

    kernel = Kernel(sum_slowly, {}, dict(_jit.OPTIONS))
    kernel(10)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(5):
            with pytest.raises(Stop):  # noqa: PT012 - a busy machine may be late in calling the kernel
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                kernel(50_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert kernel(10)[0].sum() == 45
