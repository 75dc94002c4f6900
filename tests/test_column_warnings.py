"""A fit on a data frame issues one warning at most, which names columns and says only what was checked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from gitcluster import GIT
from gitcluster.fitted.warnings import MAX_NOTES, ColumnWarning


def warnings_of(call):
    """Return the warnings about columns that a call issues."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [warning for warning in caught if issubclass(warning.category, ColumnWarning)]


def make_people(n_rows, seed=0):
    """Return two groups by age and income."""
    rng = np.random.default_rng(seed)
    group = np.arange(n_rows) % 2
    ages, incomes = 30 + 30 * group + rng.normal(0, 4, n_rows), 30_000 + 40_000 * group + rng.normal(0, 5_000, n_rows)
    return pd.DataFrame({"age": ages.round(), "income": incomes.round()}), group


@pytest.mark.parametrize("n_rows", [100, 750, 1_500, 20_000])
@pytest.mark.parametrize("cells", [[999], [-999, 999], [999] * 2])
def test_far_values_are_named_whatever_the_number_of_rows(n_rows, cells):
    frame, _ = make_people(n_rows)
    assert not warnings_of(lambda: GIT(2).fit(frame))
    frame.loc[: len(cells) - 1, "age"] = cells
    (warning,) = warnings_of(lambda: GIT(2).fit(frame))
    assert f"'age' has {len(cells)} value" in str(warning.message)
    assert "income" not in str(warning.message)


def test_categories_that_count_as_one_are_named():
    frame = make_people(300)[0].assign(town=[f"t{i % 60}" for i in range(300)])
    (warning,) = warnings_of(lambda: GIT(2, columns={"town": "categorical"}).fit(frame))
    assert "'town' has 60 values" in str(warning.message)
    assert "68% of the rows" in str(warning.message)


@pytest.mark.parametrize("draw", ["normal", "exponential", "lognormal"])
def test_extremes_of_usual_distributions_are_not_far(draw):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": getattr(rng, draw)(size=5_000) for i in range(20)})
    assert not warnings_of(lambda: GIT(2, n_neighbors=8).fit(frame))


def test_nearly_constant_columns_are_no_reason_to_warn():
    assert not warnings_of(lambda: GIT(10).fit(load_digits(as_frame=True).data))


@pytest.mark.parametrize("encoded", [True, False])
def test_a_column_rules_only_if_the_others_do_not_show_the_same_clusters(encoded):
    rng = np.random.default_rng(0)
    group, coin = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    words = np.array(["no", "yes"]) if encoded else np.array([0.0, 1.0])
    frame = pd.DataFrame({"x": 6 * group + rng.normal(size=400), "y": rng.normal(size=400), "active": words[coin]})
    options = {"weights": {"active": 100.0}} if encoded else {"scale": [1.0, 1.0, 100.0]}
    model = GIT(2, **options)
    (warning,) = warnings_of(lambda: model.fit(frame))
    assert "'active'" in str(warning.message)
    same = frame.assign(active=words[group])  # all columns show the same groups: no column alone decides
    assert not warnings_of(lambda: model.fit(same))
    np.testing.assert_array_equal(model.labels_ == model.labels_[0], group == group[0])


def test_one_warning_lists_the_notes():
    frame, _ = make_people(400)
    frame.loc[0] = [999, 10_000_000]
    (warning,) = warnings_of(lambda: GIT(2).fit(frame))
    assert [line.split("'")[1] for line in str(warning.message).splitlines()[1:]] == ["age", "income"]
    many = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 30)))
    many.loc[0] = 1e6
    (warning,) = warnings_of(lambda: GIT(2).fit(many))
    assert len(str(warning.message).splitlines()) == MAX_NOTES + 2


def test_warnings_point_at_the_callers_line():
    frame, _ = make_people(100)
    frame.loc[0, "age"] = 999
    for model in (GIT(2), make_pipeline(GIT(2))):
        for call in (model.fit, model.fit_predict):
            (warning,) = warnings_of(lambda call=call: call(frame))
            assert warning.filename == __file__
