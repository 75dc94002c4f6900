"""Columns of every kind: what each is taken for, how it is encoded, and that frames of numbers stay as they are."""

import datetime
import decimal
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT, scale_features
from gitcluster.fitted.persistence import ModelFileError
from gitcluster.fitted.warnings import ColumnWarning
from gitcluster.inputs import Points
from gitcluster.inputs.kinds import learn_columns, needs_encoding, row_labels
from gitcluster.inputs.representations import crossing_length
from gitcluster.inputs.values import date_text, parse_dates, read_values

N = 60
RNG = np.random.default_rng(0)
KINDS = {
    "numbers": (RNG.normal(size=N), "numeric"),
    "numbers with gaps": (np.where(np.arange(N) % 7, RNG.normal(size=N), np.nan), "numeric"),
    "whole numbers": (RNG.integers(0, 50, N), "numeric"),
    "numbers as texts": ([str(x) for x in RNG.normal(size=N)], "numeric"),
    "nullable": (pd.array([None, *range(N - 1)], dtype="Int64") * 2, "numeric"),
    "a duration": (pd.to_timedelta(RNG.integers(1, 99, N), "h"), "numeric"),
    "0 and 1": (RNG.integers(0, 2, N), "binary"),
    "truths": (RNG.random(N) < 0.5, "binary"),
    "yes and no": (RNG.choice(["yes", "no"], N), "binary"),
    "truths with gaps": (pd.array([None, *([True, False] * N)[: N - 1]], dtype="boolean"), "binary"),
    "texts": (RNG.choice(["a", "b", "c"], N), "categorical"),
    "declared": (pd.Categorical(RNG.choice([1, 2, 3], N)), "categorical"),
    "many values": ([f"v{i % 25}" for i in range(N)], "categorical"),
    "dates": (pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 99, N), "D"), "date"),
    "dates as texts": ([f"2024-0{i % 9 + 1}-11" for i in range(N)], "date"),
    "days first": ([f"{i % 28 + 1}.{i % 12 + 1}.2024" for i in range(N)], "date"),
    "moments": ([f"2024-05-{i % 28 + 1:02d}T08:30:00Z" for i in range(N)], "date"),
    "objects": ([datetime.date(2024, 1, i % 28 + 1) for i in range(N)], "date"),
    "names": ([f"name {i}" for i in range(N)], "identifier"),
    "counted": (np.arange(N) + 1000, "identifier"),
    "shuffled": (RNG.permutation(N), "identifier"),
    "customer_id": (RNG.permutation(10 * N)[:N], "identifier"),
    "remarks": ([f"remark {i % 40}" for i in range(N)], "text"),
    "always": (["x"] * N, "constant"),
    "nothing": ([None] * N, "empty"),
    "blanks": (["", " "] * (N // 2), "empty"),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_recognised(name):
    values, kind = KINDS[name]
    frame = pd.DataFrame({"other": RNG.normal(size=N), name: values})
    found = learn_columns(frame)
    assert found[name].kind == kind
    assert name in str(found)
    matrix, unseen = found.encode(frame)
    assert matrix.shape == (N, len(found.features))
    assert np.isfinite(matrix).all()
    assert not unseen


def everything():
    return pd.DataFrame({name: values for name, (values, _) in KINDS.items()})


def test_all_kinds_at_once_fit_predict_and_are_saved(tmp_path):
    frame = everything()
    model = GIT(3).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == len(frame.columns)
    model.save(tmp_path / "model.npz")
    for other in (model, GIT.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(frame), model.labels_)
        np.testing.assert_array_equal(other.predict(frame.iloc[::-1]), model.labels_[::-1])
        assert str(other.columns_) == str(model.columns_)
    again = clone(model).fit(frame.sample(frac=1, random_state=0))
    assert adjusted_rand_score(again.predict(frame), model.labels_) == 1


@given(st.integers(0, 10**6), st.integers(8, 40))
def test_what_is_encoded_is_decoded(seed, n_rows):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "income": rng.lognormal(size=n_rows),
            "city": rng.choice(["Rome", "Oslo", "Bern"], n_rows),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n_rows), "D"),
            "size": rng.choice(["S", "M", "L"], n_rows),
        }
    )
    found = learn_columns(frame, {"income": "log", "size": ["S", "M", "L"], "city": "categorical"})
    matrix, _ = found.encode(frame)
    for column, cells in zip(found.used, found.decode(matrix), strict=True):
        wanted = frame[column.name]
        if column.kind == "date":
            assert [date_text(day) for day in cells] == wanted.dt.strftime("%Y-%m-%d").tolist()
        elif column.kind in ("numeric", "log"):
            np.testing.assert_allclose(cells, wanted)
        elif len(set(wanted)) > 1:
            assert cells.tolist() == wanted.tolist()


def scaled(frame, scale="std", **options):
    """The points of a frame, and its columns."""
    found = learn_columns(frame, **options)
    return Points(found.encode(frame)[0], kinds=found.feature_kinds).scaled(scale).values, found


def test_texts_that_look_like_numbers_stay_what_they_are():
    frame = pd.DataFrame({"x": RNG.normal(size=60), "zip": ["01234", "5678", "7999"] * 20})
    assert learn_columns(frame)["zip"].kind == "numeric"
    found = learn_columns(frame, {"zip": "categorical"})
    assert set(found["zip"].levels) == {"01234", "5678", "7999"}
    pets = frame.assign(zip=["a", "1", "2"] * 20)
    some = learn_columns(pets)
    np.testing.assert_array_equal(some.encode(pets.iloc[1:3])[0], some.encode(pets)[0][1:3])
    assert not some.encode(pd.DataFrame({"x": [0.0, 0.0], "zip": [1.0, 2.0]}))[1]


@pytest.mark.parametrize("scale", ["std", None])
@pytest.mark.parametrize("levels", [2, 3, 7])
def test_two_values_are_one_crossing_apart(levels, scale):
    frame = pd.DataFrame({"x": 3 * RNG.normal(size=300), "c": [f"v{i % levels}" for i in range(300)]})
    frame.loc[299, "c"] = None
    points, _ = scaled(frame, scale)
    apart = np.linalg.norm(points[0, 1:] - points[1, 1:])
    assert apart == pytest.approx(crossing_length(points[:, :1]))
    far = np.linalg.norm(points[299, 1:] - points[:levels, 1:], axis=1)
    np.testing.assert_allclose(far, far[0])
    heavy, _ = scaled(frame, scale, weights={"c": 2.0})
    assert np.linalg.norm(heavy[0, 1:] - heavy[1, 1:]) == pytest.approx(2 * apart)


def test_categories_alone_vary_as_much_as_numbers():
    frame = pd.DataFrame({"c": RNG.choice(list("abc"), 400, p=[0.6, 0.3, 0.1]), "d": RNG.choice(["yes", "no"], 400)})
    points, _ = scaled(frame)
    np.testing.assert_allclose([points[:, :3].var(axis=0).sum(), points[:, 3].var()], 1.0)


def related_frame(n_rows=400):
    group = RNG.integers(0, 3, n_rows)
    return pd.DataFrame(
        {
            "x": 4 * group + RNG.normal(size=n_rows),
            "y": RNG.normal(size=n_rows) - 4 * (group == 1),
            "plan": np.where(RNG.random(n_rows) < 0.7, np.array(["a", "b", "c"])[group], "d"),
            "coin": RNG.choice(["heads", "tails"], n_rows),
            "die": RNG.choice(list("uvwxyz"), n_rows),
            "lot": RNG.integers(0, 100, n_rows),
            "draw": RNG.integers(0, 100, n_rows),
        }
    )


def test_columns_that_go_with_no_other_do_not_matter():
    frame = related_frame()
    model = GIT(3).fit(frame)
    assert {column.name for column in model.columns_ if column.apart} == {"coin", "die", "lot", "draw"}
    assert {column.name for column in model.columns_.used} == {"x", "y", "plan"}
    assert "coin  two values: heads, tails; goes with no other column, left out" in str(model.columns_)
    assert "lot   number; goes with no other column, left out\n" in str(model.columns_)
    without = frame.drop(columns=["coin", "die", "lot", "draw"])
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(without))
    np.testing.assert_array_equal(model.predict(without), model.labels_)


def test_numbers_that_go_with_no_other_column_but_have_clusters_are_kept():
    frame = related_frame().assign(lot=lambda f: f["lot"] + 400 * RNG.integers(0, 2, len(f)))
    assert {column.name for column in GIT(3).fit(frame).columns_.used} == {"x", "y", "plan", "lot"}


def test_gaps_are_no_clusters_of_a_column():
    frame = related_frame()
    frame.loc[RNG.random(len(frame)) < 0.6, "lot"] = None  # the median stands for more than half of them
    assert not GIT(3).fit(frame).columns_["lot"].used


@pytest.mark.parametrize("asked", [{"columns": {"coin": "categorical"}}, {"weights": {"coin": 2.0}}])
def test_a_column_that_was_asked_for_is_clustered_by(asked):
    used = {column.name for column in GIT(3, **asked).fit(related_frame()).columns_.used}
    assert used == {"x", "y", "plan", "coin"}


def test_a_weight_takes_in_a_column_that_goes_with_no_other():
    frame = related_frame()
    found = GIT(3, weights={"coin": 2.0}).fit(frame).columns_
    assert found["coin"].used
    assert not found["die"].used


def test_few_rows_and_columns_that_all_stand_alone_are_taken_as_they_are():
    few = related_frame(60)
    assert not any(column.apart for column in GIT(3).fit(few).columns_)
    alone = pd.DataFrame({"coin": RNG.choice(["heads", "tails"], 300), "x": RNG.normal(size=300)})
    assert not any(column.apart for column in GIT(2).fit(alone).columns_)


def test_neither_order_nor_units_decide_which_columns_go_together():
    frame = related_frame()
    found = GIT(3).fit(frame)
    other = frame.assign(x=1e6 - 0.1 * frame["x"]).sample(frac=1.0, random_state=0)
    again = GIT(3).fit(other)
    assert [c.apart for c in again.columns_] == [c.apart for c in found.columns_]
    assert adjusted_rand_score(again.labels_, found.labels_[other.index]) == 1.0


def test_a_gap_does_not_make_two_values_a_number():
    frame = related_frame().drop(columns=["lot", "draw"])
    frame["member"] = np.where(frame["x"] > 2, "yes", "no")
    frame.loc[::20, "member"] = None
    points, _ = scaled(frame.drop(columns=["coin", "die"]))
    assert np.ptp(points[:, -1]) < 0.5


def test_dates_in_equal_steps_count_the_rows():
    frame = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=50, freq="min")[RNG.permutation(50)]})
    assert learn_columns(frame.assign(x=RNG.normal(size=50)))["time"].kind == "identifier"
    frame["time"] += pd.to_timedelta(RNG.integers(0, 90, 50), "s")
    assert learn_columns(frame)["time"].kind == "date"


def test_frames_of_numbers_stay_as_they_are():
    X = RNG.normal(size=(200, 3)) + 5 * np.repeat([[0], [1]], 100, axis=0)
    wanted = GIT().fit(X)
    frames = [
        pd.DataFrame(X, columns=list("abc")),
        pd.DataFrame(X, columns=list("abc")).astype(object),
        pd.DataFrame(X, columns=list("abc")).astype("Float64"),
    ]
    for frame in frames:
        assert not needs_encoding(frame)
        model = GIT().fit(frame)
        np.testing.assert_array_equal(model.labels_, wanted.labels_)
        np.testing.assert_array_equal(model.log_intensity_, wanted.log_intensity_)
        assert not model.columns_.encoded
    with pytest.raises(AttributeError, match="this fit has no columns"):
        _ = wanted.columns_


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame = everything()[["numbers", "yes and no", "texts", "names"]]
    other = polars.DataFrame({name: frame[name].tolist() for name in frame})
    np.testing.assert_array_equal(GIT(3).fit(other).labels_, GIT(3).fit(frame).labels_)


ODD = {
    "bytes": [b"a", b"b"] * 30,
    "complex": [1j, 2.0] * 30,
    "lists": [[1], [2]] * 30,
    "decimals": [decimal.Decimal(i) / 7 for i in range(N)],
    "several types": [1, "a", None, 2.5] * 15,
    "dates and texts": [datetime.date(2024, 1, 1), "x"] * 30,
    "large": [2**70 + i for i in range(N)],
    "periods": pd.period_range("2024-01", periods=N, freq="M"),
    "intervals": pd.interval_range(0, N, periods=N),
    "zones": pd.date_range("2024-01-01", periods=N, tz="Europe/Berlin"),
    "sparse": pd.arrays.SparseArray([0.0, 1.0] * 30),
    "arrow": pd.array([1, None, 3, 4] * 15, dtype="int64[pyarrow]"),
    "ordered": pd.Categorical(["S", "M", "L", "M"] * 15, categories=["S", "M", "L"], ordered=True),
    "no time": [pd.NaT, pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")] * 20,
    "infinite": [np.inf, 1.0, 2.0] * 20,
    "far years": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)] * 30,
    "dicts": [{"a": 1}, {}] * 30,
    "times": [datetime.time(i % 24) for i in range(N)],
    "odd texts": ["\x00", "a\n", "\ud800", "😀"] * 15,
    "too large": ["1e500", "2", "3"] * 20,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_cells_fit_or_are_named(name, tmp_path):
    frame = pd.DataFrame({"x": RNG.normal(size=N), "pet": ["cat", "dog", "cow"] * 20})
    frame[name] = pd.Series(
        ODD[name], dtype=object if name == "odd texts" else None
    )  # half a character is no str of pandas 3
    if name in ("infinite", "too large"):
        with pytest.raises(ValueError, match=f"The column '{name}' has an infinite value in row 0"):
            GIT(2).fit(frame)
        return
    model = GIT(2).fit(frame)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(GIT.load(tmp_path / "model.npz").predict(frame), model.labels_)
    assert str(model.profile(frame))
    assert str(model.explain(0, 1, X=frame))


def test_a_frame_is_shown_in_the_explorer(tmp_path):
    frame, _ = make_mixed(60)
    path = GIT(2).fit(frame.set_index(pd.Index([f"row {i}" for i in range(60)]))).explore(frame, tmp_path / "e.html")
    page = path.read_text(encoding="utf-8")
    assert '"name":"city"' in page
    assert '"row 7"' in page


def make_mixed(n_rows=400):
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], n_rows // 2)
    return (
        pd.DataFrame(
            {
                "x": 6 * group + rng.normal(size=n_rows),
                "y": rng.normal(size=n_rows),
                "active": rng.choice(["yes", "no"], n_rows),
                "city": rng.choice(["Rome", "Oslo", "Bern"], n_rows),
            }
        ),
        group,
    )


def test_categories_inform_and_do_not_rule():
    frame, group = make_mixed()
    assert adjusted_rand_score(GIT(2).fit(frame).labels_, group) > 0.9


def test_kinds_and_weights_can_be_asked_for():
    frame, _ = make_mixed()
    frame["zip"] = RNG.choice([10115, 75001, 20095], len(frame))
    frame["income"] = RNG.lognormal(10, 1, len(frame))
    columns = {"zip": "categorical", "income": "log", "city": "ignore", "active": ["no", "yes"]}
    model = GIT(2, columns=columns, weights={"y": 0}).fit(frame)
    kinds = {column.name: column.kind for column in model.columns_}
    assert kinds == {"x": "numeric", "y": "numeric", "active": "ordinal", "city": "ignore", "zip": "categorical",
                     "income": "log"}  # fmt: skip
    assert [column.name for column in model.columns_.used] == ["x", "active", "zip", "income"]
    assert model.get_params()["columns"] is columns
    np.testing.assert_array_equal(model.predict(frame.drop(columns=["city", "y"])), model.labels_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"citty": "ignore"}}, "did you mean 'city'"),
        ({"columns": {"city": "colour"}}, r"columns\['city'\] must be one of"),
        ({"columns": {"city": ["Rome", "Oslo"]}}, "does not name the value 'Bern'"),
        ({"columns": {"city": "numeric"}}, "The column 'city' has 'Rome' in row"),
        ({"columns": {"x": "log"}}, "has no logarithm"),
        ({"columns": dict.fromkeys(("x", "y", "active", "city"), "ignore")}, "No column is left"),
        ({"weights": {"x": -1}}, r"weights\['x'\] must be a number of 0 or more"),
        ({"weights": {"z": 1}}, "weights names 'z'"),
        ({"scale": [1, 1, 1, 1]}, "use weights="),
    ],
)
def test_what_cannot_be_asked_for(options, message):
    frame, _ = make_mixed(60)
    frame["city"] = sorted(frame["city"], key=["Rome", "Oslo", "Bern"].index)
    with pytest.raises(ValueError, match=message):
        GIT(2, **options).fit(frame)


def test_columns_need_a_frame():
    with pytest.raises(TypeError, match="columns names columns of a data frame, got X of type ndarray"):
        GIT(2, columns={"a": "log"}).fit(np.zeros((5, 2)))
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    with pytest.raises(TypeError, match="Pass a data frame with the columns 'x', 'y', 'active', 'city'"):
        model.predict(np.zeros((5, 4)))


def test_changed_columns_are_named():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    with pytest.raises(ValueError, match=r"lacks 'city', which .* It has 'City', which the fit did not have"):
        model.predict(frame.rename(columns={"city": "City"}))
    with pytest.raises(ValueError, match="The column 'x' has 'far' in row 3, which is not a number"):
        model.predict(frame.assign(x=["1", "2", "3", "far"] + ["4"] * 56))
    with pytest.raises(ValueError, match="The column 'x' has an infinite value in row 0"):
        model.predict(frame.assign(x=np.inf))
    np.testing.assert_array_equal(model.predict(frame[["city", "active", "y", "x"]].assign(new=1)), model.labels_)


def test_values_never_seen_count_as_missing():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    new = frame.copy()
    new.loc[:2, "city"] = ["Paris", "Lima", "Paris"]
    with pytest.warns(ColumnWarning, match=r"'city' has values .* \('Paris', 'Lima'\), in 3 rows"):
        found = model.predict(new)
    gaps = frame.copy()
    gaps.loc[:2, "city"] = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(found, model.predict(gaps))


def test_many_values_have_a_bounded_cost():
    frame = pd.DataFrame({"x": RNG.normal(size=3000), "shop": [f"s{i % 1000}" for i in range(3000)]})
    found = learn_columns(frame)
    assert len(found["shop"].features) == 20
    assert found["shop"].distinct == 1000
    assert "the 19 most frequent are told apart" in str(found)
    with pytest.warns(ColumnWarning, match=r"'shop' has 1,000 values; .* 98% of the rows"):
        GIT(2).fit(frame)


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1970-01-02", "1970-1-1"], [1, 0]),
        (["2.1.1970", "1.1.1970"], [1, 0]),
        (["1/2/1970", "1/1/1970"], [1, 0]),
        (["13/2/1970", "1/1/1970"], [43, 0]),
        (["1970-01-01 12:00", "1970-01-02T06:00:00.5Z"], [0.5, 1.25 + 0.5 / 86_400]),
        (["31.2.1970"], None),
        (["1970-01-01", "soon"], None),
        (["1970-01-01", "1.1.1970"], None),
        ([], None),
    ],
)
def test_dates_in_texts(texts, days):
    assert parse_dates(texts) == days


def test_times_of_several_zones_are_one_time():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    cells = [datetime.datetime(1970, 1, 1, 2, tzinfo=zone), datetime.datetime(1970, 1, 1, 12), None]
    np.testing.assert_array_equal(read_values(np.array(cells, dtype=object)).numbers, [0, 0.5, np.nan])


def test_labels_of_rows():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert row_labels(frame) is None
    assert row_labels(frame.set_index(pd.Index([5, 6, 7]))).tolist() == [5, 6, 7]
    assert row_labels(frame.set_index(pd.Index(["a", "b", "c"]))).tolist() == ["a", "b", "c"]
    assert row_labels(frame.set_index(pd.Index(["a", "b", "a"]))) is None
    assert row_labels(np.zeros((3, 1))) is None


def test_a_forged_file_is_refused(tmp_path):
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    columns = model.clustering_.columns
    wrong = [column._replace(levels=column.levels[:1]) for column in columns.columns]
    object.__setattr__(columns, "columns", tuple(wrong))
    model.save(tmp_path / "model.npz")
    with pytest.raises(ModelFileError, match="holds no working model"):
        GIT.load(tmp_path / "model.npz")


def test_neighbouring_values_of_few_are_at_most_one_crossing_apart():
    frame = pd.DataFrame({"x": RNG.normal(size=400), "y": RNG.normal(size=400), "grade": RNG.integers(1, 5, 400)})
    points, _ = scaled(frame)
    whole = frame / frame.std(ddof=0)
    crossing = crossing_length((whole - whole.mean()).to_numpy())
    np.testing.assert_allclose(np.diff(np.unique(points[:, 2])), crossing)
    np.testing.assert_allclose(points[:, :2].std(axis=0), 1.0)  # of numbers that hardly repeat nothing changes
    X = frame.to_numpy()
    np.testing.assert_allclose(np.diff(np.unique(scale_features(X)[:, 2])), 1 / X[:, 2].std())  # nor of arrays


def test_gaps_in_a_frame_of_numbers_are_told_by_column():
    frame = pd.DataFrame(RNG.normal(size=(50, 3)), columns=["a", "b", "c"])
    frame.loc[[3, 7], "b"] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN: 'b' in 2 rows\. .*columns=\{'b': 'numeric'\}"):
        GIT(2).fit(frame)
    found = GIT(2, columns={"b": "numeric"}).fit(frame).columns_
    assert found["b"].missing == 2
