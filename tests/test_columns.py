"""Data frames: the kinds of columns, how cells are read, gaps, and columns that are not used."""

import datetime
import decimal
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT

N = 60
RNG = np.random.default_rng(0)
KINDS = {
    "numbers": (RNG.normal(size=N), "numeric"),
    "numbers with gaps": (np.where(np.arange(N) % 7, RNG.normal(size=N), np.nan), "numeric"),
    "whole numbers": (RNG.integers(0, 50, N), "numeric"),
    "numbers as texts": ([str(x) for x in RNG.normal(size=N)], "numeric"),
    "nullable": (pd.array([None, *range(N - 1)], dtype="Int64") * 2, "numeric"),
    "durations": (pd.to_timedelta(RNG.integers(1, 99, N), "h"), "numeric"),
    "0 and 1": (RNG.integers(0, 2, N), "binary"),
    "booleans": (RNG.random(N) < 0.5, "binary"),
    "yes and no": (RNG.choice(["yes", "no"], N), "binary"),
    "booleans with gaps": (pd.array([None, *([True, False] * N)[: N - 1]], dtype="boolean"), "binary"),
    "texts": (RNG.choice(["a", "b", "c"], N), "categorical"),
    "declared": (pd.Categorical(RNG.choice([1, 2, 3], N)), "categorical"),
    "many values": ([f"v{i % 25}" for i in range(N)], "categorical"),
    "zip": (["01234", "5678", "7999"] * (N // 3), "categorical"),
    "dates": (pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 99, N), "D"), "date"),
    "dates as texts": ([f"2024-0{i % 9 + 1}-11" for i in range(N)], "date"),
    "days first": ([f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(N)], "date"),
    "moments": ([f"2024-05-{i % 28 + 1:02d}T08:30:00Z" for i in range(N)], "date"),
    "objects": ([datetime.date(2024, 1, i % 28 + 1) for i in range(N)], "date"),
    "names": ([f"name {i}" for i in range(N)], "identifier"),
    "counted": (np.arange(N) + 1000, "identifier"),
    "shuffled": (RNG.permutation(N), "identifier"),
    "minutes": (pd.date_range("2024-01-01", periods=N, freq="min")[RNG.permutation(N)], "identifier"),
    "customer_id": (RNG.permutation(10 * N)[:N], "identifier"),
    "remarks": ([f"remark {i % 40}" for i in range(N)], "text"),
    "always": (["x"] * N, "constant"),
    "nothing": ([None] * N, "empty"),
    "blanks": (["", " "] * (N // 2), "empty"),
}


def with_column(name, cells):
    """Return a frame of numbers and categories with one more column."""
    numbers = np.random.default_rng(1).normal(size=N)
    return pd.DataFrame({"x": numbers, "pet": ["cat", "dog", "cow"] * (N // 3), name: cells})


def make_mixed(n_rows=400):
    """Return two groups in one number, with columns that have nothing to do with them, and the groups."""
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], n_rows // 2)
    columns = {
        "x": 6 * group + rng.normal(size=n_rows),
        "y": rng.normal(size=n_rows),
        "active": rng.choice(["yes", "no"], n_rows),
        "city": rng.choice(["Rome", "Oslo", "Bern"], n_rows),
    }
    return pd.DataFrame(columns), group


def three_groups(n_rows=600):
    """Return three groups in two numbers and a category, and the group of every row."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n_rows)
    numbers = np.array([[0, 0], [8, 0], [4, 8]])[group] + rng.normal(size=(n_rows, 2))
    kind = np.where(rng.random(n_rows) < 0.9, np.array(["x", "y", "z"])[group], "w")
    return pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "kind": kind}), group


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kinds_are_recognised(name):
    values, kind = KINDS[name]
    model = GIT(2).fit(with_column(name, values))
    assert model.columns_[name].kind == kind
    assert name in str(model.columns_)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_kinds_at_once_fit_predict_and_are_saved(tmp_path):
    frame = pd.DataFrame({name: values for name, (values, _) in KINDS.items()})
    model = GIT(3).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == len(frame.columns)
    model.save(tmp_path / "model.npz")
    for other in (model, GIT.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(frame.iloc[::-1]), model.labels_[::-1])
        assert str(other.columns_) == str(model.columns_)
    again = clone(model).fit(frame.sample(frac=1, random_state=0))
    assert adjusted_rand_score(again.predict(frame), model.labels_) == 1


# columns that are not used


def related_frame(n_rows=400):
    """Return three groups, and columns that depend on nothing."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n_rows)
    return pd.DataFrame(
        {
            "x": 4 * group + rng.normal(size=n_rows),
            "y": rng.normal(size=n_rows) - 4 * (group == 1),
            "plan": np.where(rng.random(n_rows) < 0.7, np.array(["a", "b", "c"])[group], "d"),
            "coin": rng.choice(["heads", "tails"], n_rows),
            "die": rng.choice(list("uvwxyz"), n_rows),
            "lot": rng.integers(0, 100, n_rows),
        }
    )


def used(model):
    """Return the names of the columns that a model uses."""
    return {column.name for column in model.columns_.used}


def test_independent_columns_are_dropped():
    frame = related_frame()
    model = GIT(3).fit(frame)
    assert used(model) == {"x", "y", "plan"}
    assert "coin  two values: heads, tails; dropped: independent" in str(model.columns_)
    without = frame[["x", "y", "plan"]]
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(without))
    np.testing.assert_array_equal(model.predict(without), model.labels_)
    other = frame.assign(x=1e6 - 0.1 * frame["x"]).sample(frac=1.0, random_state=0)
    again = GIT(3).fit(other)  # neither order nor units change the decision
    assert used(again) == used(model)
    assert adjusted_rand_score(again.labels_, model.labels_[other.index]) == 1.0


def test_independent_columns_are_used_if_they_have_clusters_or_are_requested():
    frame = related_frame()
    lots = frame["lot"] + 400 * RNG.integers(0, 2, len(frame))
    assert used(GIT(3).fit(frame.assign(lot=lots))) == {"x", "y", "plan", "lot"}
    gaps = frame["lot"].where(RNG.random(len(frame)) < 0.4)  # imputed values are no cluster
    assert used(GIT(3).fit(frame.assign(lot=gaps))) == {"x", "y", "plan"}
    for options in ({"columns": {"coin": "categorical"}}, {"weights": {"coin": 2.0}}):
        assert used(GIT(3, **options).fit(frame)) == {"x", "y", "plan", "coin"}


ONE_MODE = {
    "even": lambda rng, n: rng.uniform(size=n),
    "grades": lambda rng, n: rng.integers(1, 7, n),
    "bell": lambda rng, n: rng.normal(size=n),
    "counts": lambda rng, n: rng.poisson(4, n),
    "skewed": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "many zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
}


@pytest.mark.parametrize("name", ONE_MODE)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_numbers_of_one_mode_are_no_clusters(name):
    frame = related_frame()
    draws = [ONE_MODE[name](np.random.default_rng(seed), len(frame)).astype(float) for seed in range(8)]
    assert sum("lot" in used(GIT(3).fit(frame.assign(lot=lot))) for lot in draws) <= 1


def test_few_rows_or_only_independent_columns_are_used_as_they_are():
    few = related_frame(60)
    assert used(GIT(3).fit(few)) == set(few.columns)
    alone = pd.DataFrame({"coin": RNG.choice(["heads", "tails"], 300), "x": RNG.normal(size=300)})
    assert used(GIT(2).fit(alone)) == {"coin", "x"}


# frames of several libraries


def test_frames_of_numbers_are_used_as_arrays():
    X = RNG.normal(size=(200, 3)) + 5 * np.repeat([[0], [1]], 100, axis=0)
    expected = GIT().fit(X)
    for dtype in (float, object, "Float64"):
        model = GIT().fit(pd.DataFrame(X, columns=list("abc")).astype(dtype))
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.log_intensity_, expected.log_intensity_)
    with pytest.raises(AttributeError, match="columns"):
        _ = expected.columns_


@pytest.mark.parametrize("library", ["pyarrow", "polars", "polars lazy", "duckdb"])
def test_frames_of_other_libraries(library):
    frame, _ = three_groups(n_rows=90)
    if library == "pyarrow":
        other = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    elif library == "duckdb":
        other = pytest.importorskip("duckdb").sql("select * from frame")
    else:
        other = pytest.importorskip("polars").from_pandas(frame)
        other = other.lazy() if "lazy" in library else other
    model = GIT(3).fit(other)
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(frame))
    np.testing.assert_array_equal(model.predict(other), model.labels_)
    assert list(model.feature_names_in_) == list(frame.columns)


# requests and errors


def test_categories_inform_and_do_not_rule():
    frame, group = make_mixed()
    assert adjusted_rand_score(GIT(2).fit(frame).labels_, group) > 0.9


def test_kinds_and_weights_can_be_requested():
    frame, _ = make_mixed()
    frame["zip"] = RNG.choice([10115, 75001, 20095], len(frame))
    frame["income"] = RNG.lognormal(10, 1, len(frame))
    frame["size"] = RNG.choice(["S", "M", "L"], len(frame))
    columns = {"zip": "categorical", "income": "log", "city": "ignore", "size": pd.Index(["S", "M", "L"])}
    model = GIT(2, columns=columns, weights={"y": 0, "x": np.int64(2)}).fit(frame)
    kinds = {column.name: column.kind for column in model.columns_}
    assert kinds["size"] == "ordinal"
    assert {name: kinds[name] for name in ("zip", "income", "city")} == {
        name: columns[name] for name in ("zip", "income", "city")
    }
    assert model.columns_["size"].levels == ("S", "M", "L")
    assert {"x", "zip", "income", "size"} <= used(model)
    assert not {"y", "city"} & used(model)
    np.testing.assert_array_equal(model.predict(frame.drop(columns=["city", "y"])), model.labels_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": {"citty": "ignore"}}, "'city'"),
        ({"columns": {"city": "colour"}}, "city"),
        ({"columns": {"city": ["Rome", "Oslo"]}}, "'Bern'"),
        ({"columns": {"city": "numeric"}}, "city"),
        ({"columns": {"x": "log"}}, "'x'"),
        ({"columns": dict.fromkeys(("x", "y", "active", "city"), "ignore")}, "column"),
        ({"weights": {"x": -1}}, "weights"),
        ({"weights": {"z": 1}}, "weights"),
        ({"scale": [1, 1, 1, 1]}, "weights="),
    ],
)
def test_wrong_requests(options, words):
    frame, _ = make_mixed(60)
    with pytest.raises(ValueError, match=words):
        GIT(2, **options).fit(frame)


def test_wrong_frames():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    with pytest.raises(TypeError, match="columns"):
        GIT(2, columns={"a": "log"}).fit(np.zeros((5, 2)))
    with pytest.raises(TypeError, match="'city'"):
        model.predict(np.zeros((5, 4)))
    with pytest.raises(ValueError, match=r"'city'.*'City'"):
        model.predict(frame.rename(columns={"city": "City"}))
    with pytest.raises(ValueError, match="'x' has an infinite value in row 0"):
        model.predict(frame.assign(x=np.inf))
    np.testing.assert_array_equal(model.predict(frame[["city", "active", "y", "x"]].assign(new=1)), model.labels_)
    for X in ({"a": [1, 2]}, (x for x in "ab"), "data.csv"):
        with pytest.raises(TypeError, match="X must be"):
            GIT().fit(X)
    with pytest.raises(ValueError, match=r"NaN.*data frame"):
        GIT().fit([[0.0, 1.0], [np.nan, 2.0]])


def test_new_values_count_as_missing():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    new, gaps = frame.copy(), frame.copy()
    new.loc[:2, "city"] = ["Paris", "Lima", "Paris"]
    gaps.loc[:2, "city"] = None
    with pytest.warns(UserWarning, match=r"'city': 3 .*'Paris', 'Lima'"):
        labels = model.predict(new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(labels, model.predict(gaps))


def test_many_values_have_a_bounded_cost():
    frame = pd.DataFrame({"x": RNG.normal(size=3000), "shop": [f"s{i % 1000}" for i in range(3000)]})
    with pytest.warns(UserWarning, match=r"'shop' has 1,000 values"):
        model = GIT(2).fit(frame)
    assert "all but the 19 most frequent count as one" in str(model.columns_)


# cells


REFUSED = {
    "bytes": [b"a", b"b"] * 30,
    "complex": [1j, 2.0] * 30,
    "lists": [[1], [2]] * 30,
    "dicts": [{"a": 1}, {}] * 30,
    "infinite": [np.inf, 1.0, 2.0] * 20,
    "too large": ["1e500", "2", "3"] * 20,
}
ODD = {
    "decimals": [decimal.Decimal("sNaN") if i % 5 == 0 else decimal.Decimal(i) / 7 for i in range(N)],
    "several types": [1, "a", None, 2.5] * 15,
    "dates and texts": [datetime.date(2024, 1, 1), "x"] * 30,
    "durations and numbers": [datetime.timedelta(days=2 * i) if i % 2 else 2.0 * i for i in range(N)],
    "large": [2**70 + i for i in range(N)],
    "periods": pd.period_range("2024-01", periods=N, freq="M"),
    "intervals": pd.interval_range(0, N, periods=N),
    "zones": pd.date_range("2024-01-01", periods=N, tz="Europe/Berlin"),
    "sparse": pd.arrays.SparseArray([0.0, 1.0] * 30),
    "arrow": pd.array([1, None, 3, 4] * 15, dtype="int64[pyarrow]"),
    "ordered": pd.Categorical(["S", "M", "L", "M"] * 15, categories=["S", "M", "L"], ordered=True),
    "no time": [pd.NaT, pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")] * 20,
    "far years": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)] * 30,
    "times": [datetime.time(i % 24) for i in range(N)],
    "odd texts": pd.Series(["\x00", "a\n", "\ud800", "😀"] * 15, dtype=object),
}


@pytest.mark.parametrize("name", REFUSED)
def test_cells_that_are_refused_are_named(name):
    frame = with_column(name, REFUSED[name])
    with pytest.raises((TypeError, ValueError), match=f"'{name}'"):
        GIT(2).fit(frame)
    assert GIT(2, columns={name: "ignore"}).fit(frame).columns_[name].kind == "ignore"


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_cells(name, tmp_path):
    frame = with_column(name, ODD[name])
    model = GIT(2).fit(frame)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(GIT.load(tmp_path / "model.npz").predict(frame), model.labels_)
    assert str(model.profile(frame))
    assert str(model.explain(0, 1, X=frame))


NUMBERS = 7.0 * np.arange(N) % 97 + 1000
WRITTEN = {
    "euros": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in NUMBERS],
    "dollars": [f"${x:,.2f}" for x in NUMBERS],
    "percent": [f"{x}%" for x in NUMBERS],
    "blanks": [f" {x} " for x in NUMBERS],
    "negative": [f"({x:.2f})" for x in NUMBERS],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_as_people_write_them(name):
    plain, written = (GIT(2).fit(with_column("n", cells)) for cells in (NUMBERS, WRITTEN[name]))
    assert written.columns_["n"].kind == "numeric"
    np.testing.assert_array_equal(written.labels_, plain.labels_)
    np.testing.assert_allclose(written.log_intensity_, plain.log_intensity_)


@pytest.mark.parametrize("word", ["-", "n/a", "", None, "see note"])
def test_cells_without_a_number_are_missing(word):
    frame = with_column("n", [word, *(f"{x}" for x in NUMBERS[1:])])
    expected = GIT(2).fit(with_column("n", [np.nan, *NUMBERS[1:]]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GIT(2).fit(frame)
    np.testing.assert_allclose(model.log_intensity_, expected.log_intensity_)
    assert [str(warning.message).count("see note") for warning in caught] == [1] * (word == "see note")


def test_codes_are_categories():
    for cells in ([f"{i % 7:03d}" for i in range(N)], [f"{i % 5}_5" for i in range(N)]):
        assert GIT(2).fit(with_column("code", cells)).columns_["code"].kind == "categorical"
    codes = [2**60 + i % 3 for i in range(N)]
    model = GIT(2, columns={"code": "categorical"}).fit(with_column("code", codes))
    assert set(model.columns_["code"].levels) == {str(code) for code in codes}


FORMATS = {
    "day first": lambda i: f"{i % 28 + 1:02d}/{i % 12 + 1:02d}/2024",
    "zones": lambda i: f"2024-05-{i % 28 + 1:02d}T08:30:00+0{i % 4}:00",
    "decimal comma": lambda i: f"{7 + i % 3}.{289 + i}" + (",05" if i % 3 else ""),
    "money": lambda i: f"€ {1 + i % 9}.{100 + i}" + (",5" if i % 2 else ""),
    "category that looks like a number": lambda i: "a" if i % 4 == 0 else i % 4,
}


@pytest.mark.parametrize("name", FORMATS)
def test_new_rows_are_read_in_the_format_of_the_fit(name):
    frame = with_column("cells", pd.Series([FORMATS[name](i) for i in range(N)], dtype=object))
    model = GIT(3).fit(frame)
    assert [model.predict(frame.iloc[[i]])[0] for i in range(N)] == model.labels_.tolist()


@pytest.mark.parametrize(
    "texts",
    [
        ["1970-01-{0:02d}", "1970-1-{0}"],
        ["{0}.1.1970"],
        ["1/{0}/1970"],
        ["1970-01-{0:02d} 12:00", "1970-01-{0:02d}T12:00:00Z"],
    ],
)
def test_dates_are_days(texts):
    days = np.random.default_rng(2).integers(13, 29, N)
    written = GIT(2).fit(with_column("day", [texts[i % len(texts)].format(day) for i, day in enumerate(days)]))
    plain = GIT(2).fit(with_column("day", pd.Timestamp("1970-01-01") + pd.to_timedelta(days, "D")))
    assert written.columns_["day"].kind == "date"
    np.testing.assert_allclose(written.log_intensity_, plain.log_intensity_)


# gaps


@pytest.mark.parametrize("variant", ["adaptive", "paper"])
def test_unknown_scales_raise_for_tables_as_well(variant):
    with pytest.raises(ValueError, match="scale"):
        GIT(3, variant=variant, scale="bogus").fit(three_groups()[0])


@pytest.mark.parametrize("as_numbers", [False, True])
def test_rows_with_a_gap_stay_in_their_cluster(as_numbers):
    frame, group = three_groups()
    if as_numbers:
        frame = frame.assign(kind=group + 0.1 * RNG.normal(size=len(group)))
    gap = np.random.default_rng(1).random(len(frame)) < 0.08
    frame.loc[gap, "a"] = np.nan
    model = GIT(3).fit(frame)
    assert adjusted_rand_score(model.labels_[gap], group[gap]) > 0.8
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    one_by_one = [model.predict(frame.iloc[[i]])[0] for i in np.flatnonzero(gap)[:20]]
    np.testing.assert_array_equal(one_by_one, model.labels_[gap][:20])
    shuffled = frame.sample(frac=1, random_state=0)[["kind", "b", "a"]]
    np.testing.assert_array_equal(GIT(3).fit(shuffled).labels_, model.labels_[shuffled.index])


def test_words_in_columns_of_numbers_are_gaps():
    frame, group = three_groups()
    for name in ("a", "b"):
        frame[name] = frame[name].round(1).astype(object)
        frame.loc[RNG.random(len(frame)) < 0.1, name] = "unknown"
    model = GIT(3).fit(frame)
    assert adjusted_rand_score(model.labels_, group) > 0.9
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
