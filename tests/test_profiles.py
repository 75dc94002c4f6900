"""Profiles, checked against pandas, and the columns that profiles and explanations name."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.plots import plot_profile


def make_customers(n_rows=400, seed=0):
    """Return three groups by age, income and, mostly, city; the other columns are independent of them."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n_rows)
    city = np.array(["Rome", "Oslo", "Bern"])
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:04d}" for i in range(n_rows)],
            "age": np.array([30, 60, 45])[group] + 3 * rng.normal(size=n_rows),
            "income": np.array([2000, 5000, 9000])[group] + 300 * rng.normal(size=n_rows),
            "visits": rng.poisson(3, n_rows),
            "city": np.where(rng.random(n_rows) < 0.8, city[group], city[rng.integers(0, 3, n_rows)]),
            "active": rng.random(n_rows) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D"),
            "always": "x",
        }
    ).set_index("customer")
    frame.loc[frame.index[3], "city"] = None
    frame.loc[frame.index[5], "income"] = np.nan
    return frame, group


@pytest.fixture(scope="module")
def fitted():
    frame, _ = make_customers()
    return GIT(3).fit(frame), frame


def test_numbers_are_those_of_pandas(fitted):
    model, frame = fitted
    others = frame.drop(columns=[*(column.name for column in model.columns_.used), "always"])
    table = pd.concat([model.profile(frame).to_frame(), model.profile(others).to_frame()])
    numbers = frame.assign(since=(frame["since"] - pd.Timestamp(0)) / pd.Timedelta(days=1))
    assert set(table["column"]) == {"age", "income", "visits", "city", "active", "since"}
    for row in table.itertuples():
        inside, near = model.labels_ == row.cluster, model.labels_ == row.nearest
        if row.kind == "category":
            is_value = (frame[row.column].astype("string") == row.value)[frame[row.column].notna()].astype(float)
            inside, near = inside[frame[row.column].notna()], near[frame[row.column].notna()]
            arcs = 2 * np.arcsin(np.sqrt([is_value[inside].mean(), is_value[~inside].mean()]))
            wanted = (is_value[inside].mean(), is_value[~inside].mean(), arcs[0] - arcs[1], is_value[near].mean())
        else:
            values = numbers[row.column]
            here, there = values[inside].mean(), values[~inside].mean()
            wanted = (here, there, (here - there) / values.std(ddof=0), values[near].mean())
        np.testing.assert_allclose((row.inside, row.elsewhere, row.effect, row.in_nearest), wanted, rtol=1e-9)
    for cluster in model.profile(frame):
        assert {contrast.column for contrast in cluster.strongest(2)} <= {"age", "income", "city"}


def test_coverage_and_precision_of_rules(fitted):
    model, frame = fitted
    rules = model.profile(frame).rules_frame()
    rules = rules[~rules["rule"].str.contains(" is ")]
    assert len(rules) > 1
    for rule in rules.itertuples():
        matches, inside = frame.eval(rule.rule.replace(",", "")).to_numpy(), model.labels_ == rule.cluster
        assert rule.coverage == pytest.approx((matches & inside).sum() / inside.sum())
        assert rule.precision == pytest.approx((matches & inside).sum() / matches.sum())
        assert rule.coverage > 0.5


@given(st.integers(0, 10**6))
def test_any_table_has_a_profile(seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(c, 1, (20, 2)) for c in (0, 9, 18)])
    model = GIT(3, noise=0.1).fit(X)
    frame = pd.DataFrame(
        {
            "number": rng.choice([0.0, 1.5, np.nan, 1e12], 60),
            "text": rng.choice(np.array(["a", "b", None, "<u>"], dtype=object), 60),
            "empty there": np.where(model.labels_ == 0, np.nan, rng.normal(size=60)),
            "same": 1,
        }
    )
    profile = model.profile(frame)
    assert [cluster.cluster for cluster in profile] == [0, 1, 2, -1]
    assert sum(cluster.rows for cluster in profile) == 60
    for text in (str(profile), profile._repr_html_()):
        assert "nan" not in text
        assert "<u>" not in text.replace(str(profile), "")
    assert all(0 <= x <= 1 for cluster in profile for rule in cluster.rules for x in (rule.coverage, rule.precision))


def test_arrays_sparse_rows_and_stored_features():
    X = np.random.default_rng(0).normal(size=(120, 2)) + 6 * np.repeat([[0, 0], [1, 0], [0, 1]], 40, axis=0)
    model = GIT(3).fit(X)
    expected = model.profile(X).to_frame()
    assert set(expected["column"]) == {"feature 0", "feature 1"}
    for table in (csr_array(X), X.astype(object), None):
        np.testing.assert_allclose(model.profile(table, rules=False).to_frame()["inside"], expected["inside"])
    graph = GIT(3, metric="precomputed_graph").fit(kneighbors_graph(X, 15, mode="distance"))
    assert graph.profile(X)[0].rows == 40
    for call in (graph.profile, lambda: model.profile(X[:3])):
        with pytest.raises(ValueError, match="X must"):
            call()


def test_the_plot_of_a_profile(fitted):
    model, frame = fitted
    axes = [plot_profile(*of, ax=Figure().subplots()) for of in ((model.profile(frame),), (model, frame))]
    for ax in axes:
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2"]
        assert {"age", "income"} <= {label.get_text() for label in ax.get_yticklabels()}
    assert [text.get_text() for text in axes[0].texts] == [text.get_text() for text in axes[1].texts]


def test_explanations_name_columns_and_labels(fitted):
    model, frame = fitted
    i, j = "C0000", frame.index[int((model.labels_ != model.labels_[0]).argmax())]
    explanation = model.explain(i, j)
    numbers = frame[["age", "income"]]
    expected = (numbers.loc[i] - numbers.loc[j]).abs() / numbers.std(ddof=0)
    sizes = {difference.column: difference.size for difference in explanation.differences}
    assert [sizes[name] for name in numbers] == pytest.approx(expected.tolist(), rel=0.01)
    shown = (f"{frame.loc[row, 'income']:.6g}" for row in (i, j))
    assert " vs ".join(shown) in str(explanation).replace(",", "")
    assert [d.column for d in model.explain(i, j, X=frame).differences] == list(sizes)
    assert str(model.explain(0)) == str(model.explain("C0000"))
    for text in (str(explanation), str(model.explain(0))):
        assert "C0000" in text
    with pytest.raises(ValueError, match="i must be a label"):
        model.explain("C9")


def test_only_used_columns_are_compared(fitted):
    model, frame = fitted
    unused = {column.name for column in model.columns_ if not column.used}
    assert unused >= {"active", "since"}
    other = frame.index[int((model.labels_ != model.labels_[0]).argmax())]
    for X in (frame, None):
        profile, pair = model.profile(X), model.explain("C0000", other, X=X)
        for text in (str(profile), profile._repr_html_(), str(pair), str(model.explain("C0003", X=X))):
            before, _, names = text.partition("Columns not used for clustering: ")
            listed, _, after = names.partition(".")
            assert unused == set(listed.replace(" and ", ", ").split(", "))
            assert not any(name in before.split("</style>")[-1] + after for name in unused)
        assert not unused & set(profile.to_frame()["column"])


def test_columns_have_the_kinds_of_the_fit():
    frame, group = make_customers()
    frame = frame[["age", "income", "city"]].assign(zip=np.array([1000, 2000, 3000])[group], number=np.arange(400) + 7)
    model = GIT(3, columns={"zip": "categorical", "number": "numeric"}).fit(frame)
    for X in (frame, None):
        kinds = {contrast.column: contrast.kind for contrast in model.profile(X)[0].contrasts}
        assert (kinds["zip"], kinds["number"]) == ("category", "number")
    plain = pd.DataFrame({"x": frame["age"], "id": np.arange(400)})  # a frame of numbers has features only
    for table in (plain, plain.to_numpy()):
        assert len(GIT(2).fit(table).profile(table)[0].contrasts) == 2


def test_integer_labels_of_rows():
    frame, _ = make_customers(100)
    numbers = frame[["age", "visits"]].set_index(np.arange(1000, 1100))
    model = GIT(2).fit(numbers)
    assert model.explain(1003).sample == 3
    with pytest.raises(ValueError, match="i must be a label"):
        model.explain(3)
    assert GIT(2).fit(numbers.to_numpy()).explain(1003, X=numbers).sample == 3
    assert GIT(2).fit(numbers.set_index(np.zeros(100, int))).explain(3).sample == 3


@pytest.mark.parametrize(("scale", "representation"), [("auto", "power"), ("components", "components")])
def test_stored_features_are_restored_for_every_representation(scale, representation):
    skewed = np.exp(make_blobs(300, 4, centers=3, random_state=3)[0])
    frame = pd.DataFrame(skewed, columns=list("abcd"))
    model = GIT(3, scale=scale).fit(frame)
    assert model.representation_ == representation
    columns = [difference.column for difference in model.explain(0, 299).differences]
    assert columns == [difference.column for difference in model.explain(0, 299, X=frame).differences]
    stored, given = (
        {(c.title, round(c.inside, 6)) for cluster in model.profile(X) for c in cluster.contrasts}
        for X in (None, frame)
    )
    assert stored == given


def test_missing_values_are_counted_and_not_shown_as_measured():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    frame = pd.DataFrame({"x": rng.normal(size=200) + 8 * group, "y": rng.normal(size=200) + 8 * group})
    frame["kind"] = np.where(rng.random(200) < 0.9, np.array(["a", "b"])[group], "c")
    frame.loc[:69, "x"] = np.nan
    model = GIT(2).fit(frame)
    for table in (frame, None):
        profile = model.profile(table)
        first = profile[model.labels_[0]]
        assert dict(first.missing)["x"] == 70
        assert "Missing: x 70 (" in str(first)
        mean = next(contrast.inside for contrast in first.contrasts if contrast.column == "x")
        assert mean == pytest.approx(frame["x"][model.labels_ == model.labels_[0]].mean(), abs=1e-3)
    assert "Missing: x 70" in profile._repr_html_()
