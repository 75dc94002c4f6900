"""The paper's figures of the method show what the model holds."""

import numpy as np
import pytest

plt = pytest.importorskip("matplotlib.pyplot")

from benchmarks.reporting.method_figures import plot_growth, plot_motivation, plot_pipeline  # noqa: E402
from gitcluster import GIT  # noqa: E402
from gitcluster.cli.demo import PRIOR, make_example  # noqa: E402


@pytest.fixture(scope="module")
def example():
    X = make_example()
    return GIT(proportions=PRIOR).fit(X), X


@pytest.fixture(autouse=True)
def _no_windows():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_the_pipeline_has_six_panels(example):
    titles = [ax.get_title() for ax in plot_pipeline(*example).axes]
    assert len(titles) == 6
    assert titles[2].endswith("in 20 groups")
    assert titles[5] == "(f) 4 clusters"


def test_growth_shows_the_samples_above_the_threshold(example):
    model, X = example
    fig = plot_growth(model, X, thresholds=[0.55, 0.4, 0.0])
    for ax, level in zip(fig.axes[1:], (0.55, 0.4, 0.0), strict=True):
        everyone, born = ax.collections
        assert len(everyone.get_offsets()) == len(X)
        np.testing.assert_array_equal(born.get_offsets(), X[np.exp(model.log_intensity_) >= level])


def test_the_boundary_pair_in_one_dimension_lies_on_both_sides_of_a_valley():
    line = np.random.default_rng(0).normal([0, 2, 6], 0.5, size=(80, 3)).reshape(-1, 1)
    model = GIT(2, n_neighbors=40).fit(line)
    curve, *graphs = plot_motivation(model, line).axes
    (pair,) = (drawn for drawn in curve.lines if len(drawn.get_xdata()) == 2)
    rows = [int(np.argmin(np.abs(line[:, 0] - x))) for x in pair.get_xdata()]
    assert model.local_labels_[rows[0]] != model.local_labels_[rows[1]]
    for ax in graphs:
        assert len(ax.collections[-1].get_offsets()) == len(model.peaks_)
