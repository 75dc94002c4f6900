"""Tables whose rows have another order than those of the fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from gitcluster import GIT, compare

X, _ = make_blobs([80, 60, 40], centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b"], index=[f"r{i}" for i in range(180)])
SHUFFLED = FRAME.sample(frac=1, random_state=0)


def test_rows_are_recognised_by_the_index(tmp_path):
    model = GIT(3).fit(FRAME)
    assert str(model.profile(SHUFFLED)) == str(model.profile(FRAME))
    pages = [model.explore(rows, tmp_path / "page.html").read_text() for rows in (FRAME, SHUFFLED)]
    assert pages[0] == pages[1]
    results = [model.stability(rows, n_draws=3) for rows in (FRAME, SHUFFLED)]
    np.testing.assert_array_equal(results[0].agreement, results[1].agreement)
    assert str(model.profile(FRAME.reset_index(drop=True))) == str(model.profile(FRAME))
    with pytest.raises(ValueError, match="'r0'"):
        model.profile(FRAME.rename({"r0": "new"}))


def test_shuffled_row_numbers_are_refused():
    model = GIT(3).fit(FRAME.reset_index(drop=True))
    with pytest.raises(ValueError, match="order of the fit"):
        model.profile(FRAME.reset_index(drop=True).sample(frac=1, random_state=0))


def test_labels_are_compared_by_their_ids():
    labels = pd.DataFrame({"id": FRAME.index, "cluster": GIT(3).fit_predict(FRAME)})
    assert compare(labels, labels.sample(frac=1, random_state=0).reset_index(drop=True)).n_changed == 0
