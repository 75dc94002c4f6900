"""Data frames: the kinds of columns, how cells are read, gaps, and columns that are not used."""

import datetime
import decimal
import pickle
from contextlib import nullcontext

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
    "numbers as texts": ([str(x) for x in RNG.normal(size=N)], "numeric"),
    "nullable": (pd.array([None, *range(N - 1)], dtype="Int64") * 2, "numeric"),
    "durations": (pd.to_timedelta(RNG.integers(1, 99, N), "h"), "numeric"),
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


def three_groups(n_rows=600):
    """Return three groups in two numbers and a category, and the group of every row."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, n_rows)
    numbers = np.array([[0, 0], [8, 0], [4, 8]])[group] + rng.normal(size=(n_rows, 2))
    kind = np.where(rng.random(n_rows) < 0.9, np.array(["x", "y", "z"])[group], "w")
    return pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "kind": kind}), group


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kinds_are_recognised_predicted_and_saved(tmp_path):
    frame = pd.DataFrame({name: values for name, (values, _) in KINDS.items()})
    model = GIT(3).fit(frame)
    assert {column.name: column.kind for column in model.columns_} == {name: kind for name, (_, kind) in KINDS.items()}
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
    """Return three groups, and columns that are independent of them."""
    rng = np.random.default_rng(1)
    coin, die = rng.choice(["heads", "tails"], n_rows), rng.choice(list("uvwxyz"), n_rows)
    return three_groups(n_rows)[0].assign(coin=coin, die=die, lot=rng.integers(0, 100, n_rows))


def used(model):
    """Return the names of the columns that a model uses."""
    return {column.name for column in model.columns_.used}


def test_independent_columns_are_dropped():
    frame = related_frame()
    model = GIT(3).fit(frame)
    assert used(model) == {"a", "b", "kind"}
    without = frame[["a", "b", "kind"]]
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(without))
    np.testing.assert_array_equal(model.predict(without), model.labels_)
    other = frame.assign(a=1e6 - 0.1 * frame["a"]).sample(frac=1.0, random_state=0)
    again = GIT(3).fit(other)  # neither order nor units change the decision
    assert used(again) == used(model)
    assert adjusted_rand_score(again.labels_, model.labels_[other.index]) == 1.0


def test_independent_columns_are_used_if_they_have_clusters_or_are_requested_or_all_are():
    frame = related_frame()
    lots = frame["lot"] + 400 * RNG.integers(0, 2, len(frame))
    assert used(GIT(3).fit(frame.assign(lot=lots))) == {"a", "b", "kind", "lot"}
    gaps = frame["lot"].where(RNG.random(len(frame)) < 0.4)  # imputed values are no cluster
    assert used(GIT(3).fit(frame.assign(lot=gaps))) == {"a", "b", "kind"}
    for options in ({"columns": {"coin": "categorical"}}, {"weights": {"coin": 2.0}}):
        assert used(GIT(3, **options).fit(frame)) == {"a", "b", "kind", "coin"}
    assert used(GIT(3).fit(frame[:60])) == set(frame.columns)  # too few rows to test
    alone = pd.DataFrame({"coin": frame["coin"], "x": RNG.normal(size=len(frame))})
    assert used(GIT(2).fit(alone)) == {"coin", "x"}


# frames of several libraries


@pytest.mark.parametrize("library", ["pyarrow", "polars", "polars lazy", "duckdb"])
def test_frames_of_other_libraries(library):
    frame, _ = three_groups(n_rows=90)
    package = pytest.importorskip(library.split()[0])
    if library == "duckdb":
        other = package.sql("select * from frame")
    else:
        other = package.Table.from_pandas(frame) if library == "pyarrow" else package.from_pandas(frame)
        other = other.lazy() if "lazy" in library else other
    model = GIT(3).fit(other)
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(frame))
    np.testing.assert_array_equal(model.predict(other), model.labels_)
    assert list(model.feature_names_in_) == list(frame.columns)


# requests and errors


def test_kinds_and_weights_can_be_requested():
    frame = related_frame()
    frame["zip"] = RNG.choice([10115, 75001, 20095], len(frame))
    frame["income"] = RNG.lognormal(10, 1, len(frame))
    frame["size"] = RNG.choice(["S", "M", "L"], len(frame))
    columns = {"zip": "categorical", "income": "log", "kind": "ignore", "size": pd.Index(["S", "M", "L"])}
    model = GIT(2, columns=columns, weights={"b": 0, "a": np.int64(2)}).fit(frame)
    kinds = {column.name: column.kind for column in model.columns_}
    assert kinds.items() >= (columns | {"size": "ordinal"}).items()
    assert model.columns_["size"].levels == ("S", "M", "L")
    assert {"a", "zip", "income", "size"} <= used(model)
    assert not {"b", "kind"} & used(model)
    np.testing.assert_array_equal(model.predict(frame.drop(columns=["kind", "b"])), model.labels_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": {"kindd": "ignore"}}, "'kindd'"),
        ({"columns": {"kind": "colour"}}, "kind"),
        ({"columns": {"kind": ["w", "x", "y"]}}, "'z'"),
        ({"columns": {"kind": "numeric"}}, "kind"),
        ({"columns": {"a": "log"}}, "'a'"),
        ({"columns": dict.fromkeys(("a", "b", "kind"), "ignore")}, "column"),
        ({"weights": {"a": -1}}, "weights"),
        ({"weights": {"z": 1}}, "weights"),
        ({"scale": [1, 1, 1]}, "weights="),
        ({"scale": "bogus"}, "scale"),
    ],
)
def test_wrong_requests_name_the_column_or_parameter(options, words):
    with pytest.raises(ValueError, match=words):
        GIT(2, **options).fit(three_groups(60)[0])


def test_frames_with_other_columns_are_refused_by_name():
    frame, _ = three_groups(60)
    model = GIT(2).fit(frame)
    np.testing.assert_array_equal(model.predict(frame[["kind", "b", "a"]].assign(new=1)), model.labels_)
    with pytest.raises(TypeError, match="columns"):
        GIT(2, columns={"a": "log"}).fit(np.zeros((5, 2)))
    with pytest.raises(TypeError, match="'kind'"):
        model.predict(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="'kind'"):
        model.predict(frame.rename(columns={"kind": "Kind"}))
    with pytest.raises(ValueError, match="'a'"):
        model.predict(frame.assign(a=np.inf))
    with pytest.raises(ValueError, match=r"NaN.*data frame"):
        GIT().fit([[0.0, 1.0], [np.nan, 2.0]])


def test_new_values_count_as_missing():
    frame, _ = three_groups(60)
    model = GIT(2).fit(frame)
    new, gaps = frame.copy(), frame.copy()
    new.loc[:2, "kind"] = ["Paris", "Lima", "Paris"]
    gaps.loc[:2, "kind"] = None
    with pytest.warns(UserWarning, match=r"'kind': 3 .*'Paris', 'Lima'"):
        labels = model.predict(new)
    np.testing.assert_array_equal(labels, model.predict(gaps))  # without a warning


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
def test_odd_cells_give_a_model_that_can_be_saved(name, tmp_path):
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
    "francs": [f"CHF {x:,.2f}".replace(",", "\u202f") for x in NUMBERS],
    "negative": [f"({x:.2f})" for x in NUMBERS],
    "minus": [f"\u2212{x:.2f}" for x in NUMBERS],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_as_people_write_them(name):
    numbers = -NUMBERS if name in ("negative", "minus") else NUMBERS
    plain, written = (GIT(2).fit(with_column("n", cells)) for cells in (numbers, WRITTEN[name]))
    assert written.columns_["n"].kind == "numeric"
    np.testing.assert_array_equal(written.labels_, plain.labels_)
    np.testing.assert_allclose(written.log_intensity_, plain.log_intensity_)


def test_a_decimal_comma_in_one_column_settles_the_points_of_the_others():
    frame = with_column("price", WRITTEN["euros"]).assign(stock=[f"{x:,.0f}".replace(",", ".") for x in 3 * NUMBERS])
    assert GIT(2).fit(frame).columns_["stock"].format.decimal == ","
    plain = GIT(2).fit(with_column("price", NUMBERS).assign(stock=3 * NUMBERS))
    np.testing.assert_array_equal(GIT(2).fit(frame).labels_, plain.labels_)


@pytest.mark.parametrize("word", ["-", "n/a", "", None, "see note"])
def test_cells_without_a_number_are_missing(word):
    frame = with_column("n", [word, *(f"{x}" for x in NUMBERS[1:])])
    expected = GIT(2).fit(with_column("n", [np.nan, *NUMBERS[1:]]))
    with pytest.warns(UserWarning, match="see note") if word == "see note" else nullcontext():
        model = GIT(2).fit(frame)
    np.testing.assert_allclose(model.log_intensity_, expected.log_intensity_)


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
