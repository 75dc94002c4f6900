"""The curves of noise and scale on small stand-in sets."""

import numpy as np
import pytest

from benchmarks.experiments import robustness
from benchmarks.tests.conftest import run_apart


def test_curves_run_resume_and_are_drawn(data, tmp_path):
    arguments = ("robustness", "--quick", "--results", tmp_path)
    run_apart(data, *arguments, "--curves", "moons")
    before = (tmp_path / "robustness.jsonl").read_text()
    done = run_apart(data, *arguments)
    lines = robustness.stored(tmp_path).lines
    assert (tmp_path / "robustness.jsonl").read_text().startswith(before)
    assert {curve for curve, *_ in lines} == set(robustness.DRAWN)
    assert lines["moons", 0.02, "GIT", "untuned"]["optimal"] == [pytest.approx(1, abs=0.02)]
    assert "| impossible | 0.1 |" in done.stdout
    pytest.importorskip("matplotlib")
    from benchmarks.reporting.figures import draw_curves

    assert [len(panel.lines) > 3 for panel in draw_curves(robustness.stored(tmp_path)).axes] == [True] * 6


def test_uniform_noise_is_scored_only_as_published():
    X = np.concatenate([np.zeros((50, 2)), np.ones((50, 2)) * 9, np.full((20, 2), 4.0)])
    X += np.random.default_rng(0).normal(0, 0.1, X.shape)
    y = np.repeat([0, 1, -1], [50, 50, 20])
    task = {"method": "k-means++", "setting": "untuned", "curve": "impossible"}
    scores = robustness.fit_and_score(task, X, y)
    assert scores["optimal"] > 0.8
    assert scores["published"] < scores["optimal"]
