"""Profiles are checked against pandas: means, shares, effects, and how far rules hold."""

from functools import partial
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.fitted.contrasts import nearest_clusters, profile_clusters
from gitcluster.fitted.profiles import Profile
from gitcluster.fitted.rules import learn_rules, round_limit
from gitcluster.fitted.traits import Trait, read_traits
from gitcluster.plots import plot_profile
from gitcluster.preprocessing.representations import represent


def make_customers(n_rows=400, seed=0):
    """Three groups by age and income; cities lean towards groups, the rest says nothing."""
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
    used = {column.name for column in model.columns_.used}
    others = frame.drop(columns=[*used, "always"])  # a table without any used column is described as it is
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


def test_rules_hold_as_far_as_they_say(fitted):
    model, frame = fitted
    for row in model.profile(frame).rules_frame().itertuples():
        text = row.rule.replace(",", "")
        names = {"age", "income", "visits"}
        if any(word in text for word in (" is ", "since")):
            continue
        assert any(name in text for name in names)
        meets = frame.eval(text).to_numpy()
        inside = model.labels_ == row.cluster
        assert row.coverage == pytest.approx((meets & inside).sum() / inside.sum())
        assert row.precision == pytest.approx((meets & inside).sum() / meets.sum())
        assert row.coverage > 0.5


def test_the_columns_that_made_the_groups_come_first(fitted):
    model, frame = fitted
    for found in model.profile(frame):
        assert {contrast.column for contrast in found.strongest(2)} <= {"age", "income", "city"}


@given(st.integers(0, 10**6), st.integers(5, 60), st.integers(1, 4))
def test_any_labels_can_be_told_of(seed, n_rows, n_clusters):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.choice([0.0, 1.5, np.nan, 1e12], n_rows),
            "text": rng.choice(np.array(["a", "b", None, "<u>"], dtype=object), n_rows),
            "same": 1,
        }
    )
    labels = rng.integers(-1, n_clusters, n_rows)
    found = Profile(profile_clusters(read_traits(frame), labels, nearest={0: 1, 1: 0}), n_rows)
    assert sum(cluster.rows for cluster in found) == n_rows
    assert "nan" not in str(found)
    assert "<u>" not in found._repr_html_()
    assert len(found.to_frame()) == sum(len(cluster.contrasts) for cluster in found)
    for cluster in found:
        for rule in cluster.rules.rules:
            assert 0 <= rule.coverage <= 1
            assert 0 <= rule.precision <= 1


@given(st.integers(0, 10**6), st.floats(0.1, 0.9))
def test_round_limits_move_hardly_a_row(seed, share):
    values = np.random.default_rng(seed).lognormal(8, 1, 500)
    limit = float(np.quantile(values, share))
    rounded = round_limit(limit, Trait("x", "number", values))
    assert ((values > limit) != (values > rounded)).mean() <= 0.002
    assert len(f"{rounded:.15g}") <= len(repr(limit))


def test_a_category_can_be_a_rule():
    pets = np.array(["cat", "dog", "cow", "dog"] * 25, dtype=object)
    found = learn_rules([Trait("pet", "category", pets)], pets == "cow")
    assert [str(rule) for rule in found.rules] == ["pet is cow"]
    assert (found.coverage, found.precision) == (1.0, 1.0)
    other = learn_rules([Trait("pet", "category", pets)], pets != "dog")
    assert "pet is not dog" in [str(rule) for rule in other.rules]


def test_arrays_sparse_rows_and_what_the_model_keeps():
    X = np.random.default_rng(0).normal(size=(120, 2)) + 6 * np.repeat([[0, 0], [1, 0], [0, 1]], 40, axis=0)
    model = GIT(3).fit(X)
    for table in (X, csr_array(X), None):
        np.testing.assert_allclose(
            model.profile(table, rules=False).to_frame()["inside"], model.profile(X).to_frame()["inside"], rtol=1e-9
        )
    assert model.profile()[0].contrasts[0].column.startswith("feature ")
    graph = GIT(3, metric="precomputed_graph").fit(kneighbors_graph(X, 15, mode="distance"))
    assert graph.profile(X)[0].rows == 40
    with pytest.raises(ValueError, match="X must be given"):
        graph.profile()
    with pytest.raises(ValueError, match="X has 3 rows, the model was fitted on 120"):
        model.profile(X[:3])


def test_the_nearest_cluster_is_a_neighbour():
    X = np.concatenate([np.random.default_rng(0).normal(5 * i, 1, size=(80, 1)) for i in range(4)])
    model = GIT(4).fit(X)
    order = [int(model.labels_[80 * i + 40]) for i in range(4)]
    for cluster, near in nearest_clusters(model.clustering_).items():
        assert abs(order.index(cluster) - order.index(near)) == 1


def test_noise_is_told_of_last():
    X = np.random.default_rng(0).normal(size=(200, 2))
    found = GIT(2, noise=0.1).fit(X).profile(X)
    assert [cluster.cluster for cluster in found] == [0, 1, -1]
    assert found[-1].name == "Noise"
    assert found[-1].nearest is None


def test_a_picture_of_it(fitted):
    model, frame = fitted
    found = model.profile(frame)
    ax = found.plot(ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0", "1", "2"]
    assert {"age", "income"} <= {label.get_text() for label in ax.get_yticklabels()}
    other = plot_profile(model, frame, ax=Figure().subplots())
    assert [text.get_text() for text in other.texts] == [text.get_text() for text in ax.texts]
    with pytest.raises(TypeError, match="ax must be"):
        found.plot(ax=3)


def test_explanations_name_columns_and_labels(fitted):
    model, frame = fitted
    i, j = "C0000", frame.index[int((model.labels_ != model.labels_[0]).argmax())]
    found = model.explain(i, j)
    assert found.names == (i, j)
    numbers = frame[["age", "income"]]
    sizes = (numbers.loc[i] - numbers.loc[j]).abs() / numbers.std(ddof=0)
    for name in ("age", "income"):
        (size,) = [difference.size for difference in found.differences if difference.column == name]
        assert size == pytest.approx(sizes[name], rel=0.01)
    assert f"{frame.loc[i, 'income']:,.6g} vs {frame.loc[j, 'income']:,.6g}" in str(found)
    assert found.crossing
    assert [d.column for d in model.explain(i, j, X=frame).differences] == [d.column for d in found.differences]
    assert str(model.explain(0)).startswith("Sample C0000 is in cluster")
    assert str(model.explain(0)) == str(model.explain("C0000"))
    for explanation in (found, model.explain(i)):
        assert "C0000" in explanation._repr_html_()
    with pytest.raises(ValueError, match=r"label of the fitted rows, got 'C9'\. The first labels are 'C0000'"):
        model.explain("C9")


def test_reasons_come_from_used_columns_only(fitted):
    model, frame = fitted
    unused = {column.name for column in model.columns_ if not column.used}
    assert unused >= {"active", "since"}
    apart = frame.index[int((model.labels_ != model.labels_[0]).argmax())]
    for X in (frame, None):
        texts = [str(model.profile(X)), model.profile(X)._repr_html_()]
        texts += [str(model.explain("C0000", apart, X=X)), str(model.explain("C0003", X=X))]
        for text in texts:
            before, note, names = text.partition("Columns not used for clustering: ")
            listed, _, after = names.partition(".")
            assert note
            assert unused == set(listed.split(", "))
            assert not any(name in before.split("</style>")[-1] + after for name in unused)
        assert not unused & set(model.profile(X).to_frame()["column"])
        assert not unused & {difference.column for difference in model.explain("C0000", apart, X=X).crossing}
        drawn = model.profile(X).plot(ax=Figure().subplots())
        assert not unused & {label.get_text() for label in drawn.get_yticklabels()}
    everything = GIT(3, columns={"active": "categorical"}).fit(frame[["age", "income", "city", "active"]])
    assert "not used" not in str(everything.explain(0)) + str(everything.profile())


def test_a_table_without_used_columns_is_described_and_says_so(fitted):
    model, frame = fitted
    found = model.profile(frame[["visits", "since"]])
    assert {contrast.column for contrast in found[0].contrasts} == {"visits", "since"}
    assert "No column of this table was used for clustering." in str(found)


def test_columns_are_of_the_kinds_that_the_fit_took_them_for():
    frame, group = make_customers()
    frame = frame[["age", "income", "city"]].assign(zip=np.array([1000, 2000, 3000])[group], number=np.arange(400) + 7)
    kinds = {"zip": "categorical", "number": "numeric"}
    model = GIT(3, columns=kinds).fit(frame)
    for X in (frame, None):
        found = {contrast.column: contrast.kind for contrast in model.profile(X)[0].contrasts}
        assert found["zip"] == "category"
        assert found["number"] == "number"
    plain = pd.DataFrame({"x": frame["age"], "id": np.arange(400)})  # numbers are clustered by, whatever their names
    assert {contrast.column for contrast in GIT(2).fit(plain).profile(plain)[0].contrasts} == {"x", "id"}
    array = GIT(2).fit(plain.to_numpy())
    assert len(array.profile(plain.to_numpy())[0].contrasts) == 2


def test_labels_that_are_whole_numbers():
    frame, _ = make_customers(100)
    numbers = frame[["age", "visits"]].set_index(np.arange(1000, 1100))
    model = GIT(2).fit(numbers)
    assert str(model.explain(1003)).startswith("Sample 1003 is in")
    assert model.explain(1003).sample == 3
    with pytest.raises(ValueError, match="got 3"):
        model.explain(3)
    plain = GIT(2).fit(numbers.to_numpy())
    assert plain.explain(1003, X=numbers).sample == 3
    twice = GIT(2).fit(numbers.set_index(np.zeros(100, int)))
    assert twice.explain(3).sample == 3


def test_a_saved_model_knows_labels_and_columns(fitted, tmp_path):
    model, frame = fitted
    model.save(tmp_path / "model.npz")
    loaded = GIT.load(tmp_path / "model.npz")
    assert str(loaded.explain("C0001", "C0002")) == str(model.explain("C0001", "C0002"))
    assert str(loaded.columns_) == str(model.columns_)
    assert str(loaded.profile(frame)) == str(model.profile(frame))


@pytest.mark.parametrize("extra", [{}, {"city": ["Rome", "Oslo"]}])
def test_columns_are_named_whatever_the_features_were_looked_at_as(extra, tmp_path):
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=(300, 2)) + 8 * np.repeat([[0, 0], [0, 1], [1, 0]], 100, axis=0)
    wide = hidden @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(300, 12))
    frame = pd.DataFrame({f"x{i}": np.exp(column / 9) for i, column in enumerate(wide.T)})
    frame = frame.assign(**{name: np.array(values)[(hidden[:, 0] > 4).astype(int)] for name, values in extra.items()})
    for way in ("power", "components"):
        with mock.patch("gitcluster.preprocessing.sources.represent", partial(one_way, way)):
            model = GIT(3).fit(frame)
        assert model.representation_ == way
        model.save(tmp_path / "model.npz")
        for some in (model, GIT.load(tmp_path / "model.npz")):
            columns = [d.column for d in some.explain(0, 299).differences]
            assert columns == [d.column for d in some.explain(0, 299, X=frame).differences]
            assert columns
        told, given = model.profile(), model.profile(frame)
        for one, other in zip(told, given, strict=True):
            assert {(c.title, round(c.inside, 6)) for c in one.contrasts} == {
                (c.title, round(c.inside, 6)) for c in other.contrasts
            }


def one_way(name, *given, **options):
    """Representations without all but one."""
    return [
        way if way.name == name else way._replace(scaling=None, reason="not tried")
        for way in represent(*given, **options)
    ]


def test_missing_values_are_counted_and_never_shown_as_measured():
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
        assert first.incomplete > 0.5
        assert "x 70 (" in str(first)
        mean = next(contrast.inside for contrast in first.contrasts if contrast.column == "x")
        assert mean == pytest.approx(frame["x"][model.labels_ == model.labels_[0]].mean(), abs=1e-3)
    assert "Missing: x 70" in profile._repr_html_()
