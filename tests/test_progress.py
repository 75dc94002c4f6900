"""The stage that a fit has reached, printed or passed to scikit-learn's callbacks."""

import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from gitcluster import GIT

X = make_blobs([150, 100, 50], 3, cluster_std=1.2, random_state=1)[0]


def test_verbose_prints_the_stages(capsys):
    GIT(3, verbose=True).fit(X)
    printed = capsys.readouterr().err
    assert "search" in printed
    assert printed.rstrip().endswith("done")
    GIT(3).fit(X)
    assert capsys.readouterr().err == ""


def test_callbacks_see_every_stage():
    pytest.importorskip("sklearn.callback")

    class Recorder:
        def __init__(self):
            self.begun, self.ended, self.state = [], [], []

        def setup(self, estimator, context):
            self.state.append("setup")

        def teardown(self, estimator, context):
            self.state.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            self.ended.append(context.task_name)

    for variant in ("adaptive", "paper", "authors"):
        recorder = Recorder()
        GIT(3, variant=variant).set_callbacks(recorder).fit(X)
        assert recorder.begun[0] == "fit"
        assert {"search", "merge"} < set(recorder.begun)
        assert sorted(recorder.begun) == sorted(recorder.ended)
        assert recorder.state == ["setup", "teardown"]
    recorder = Recorder()
    with pytest.raises(ValueError, match="n_neighbors"):
        GIT(3, n_neighbors=1000).set_callbacks(recorder).fit(X)
    assert clone(GIT(3).set_callbacks(recorder)).n_clusters == 3
