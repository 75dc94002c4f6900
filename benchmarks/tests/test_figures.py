"""Figures show what the model and the stored results hold."""

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")

from benchmarks.reporting import figures  # noqa: E402
from benchmarks.reporting.method_figures import plot_ascent, plot_growth, plot_motivation, plot_pipeline  # noqa: E402
from benchmarks.reporting.report import PICTURES  # noqa: E402
from gitcluster import GIT  # noqa: E402
from gitcluster.cli.demo import PRIOR, make_example  # noqa: E402


@pytest.fixture(autouse=True)
def _no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_every_picture_has_a_drawing_and_its_digest(tmp_path):
    assert set(figures.DRAWINGS) == set(PICTURES)
    for name in ("dimension_reduction", "sensitivity", "speed", "speed_paper"):
        figure = figures.DRAWINGS[name]()
        assert sum(len(panel.lines) for panel in figure.axes) > 5
    figures.save(figure, tmp_path / "picture.png", "digest")
    assert b"results\0digest" in (tmp_path / "picture.png").read_bytes()


def test_figures_of_the_method_show_the_model():
    X = make_example()
    model = GIT(proportions=PRIOR).fit(X)
    assert plot_pipeline(model, X).axes[5].get_title() == "(f) 4 clusters"
    panel = plot_growth(model, X, thresholds=[0.4]).axes[1]
    np.testing.assert_array_equal(panel.collections[1].get_offsets(), X[model.intensity_ >= 0.4])
    contours = plot_ascent(GIT(4, n_neighbors=20).fit(X[::4]), X[::4]).collections[-1]
    assert len(contours.get_paths()) == 9


def test_the_boundary_pair_in_one_dimension_lies_on_both_sides_of_a_valley():
    line = np.random.default_rng(0).normal([0, 2, 6], 0.5, size=(80, 3)).reshape(-1, 1)
    model = GIT(2, n_neighbors=40).fit(line)
    curve = plot_motivation(model, line).axes[0]
    (pair,) = (drawn.get_xdata() for drawn in curve.lines if len(drawn.get_xdata()) == 2)
    first, second = (model.local_labels_[np.abs(line[:, 0] - x).argmin()] for x in pair)
    assert first != second
