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
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.frames import row_labels
from gitcluster.preprocessing.tables import choose_donors, impute
from gitcluster.preprocessing.columns import columns_of, learn_columns
from gitcluster.preprocessing.representations import crossing_length
from gitcluster.preprocessing.values import date_text, read_values

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
    matrix, notes = found.encode(frame)
    assert matrix.shape == (N, len(found.features))
    assert not np.isinf(matrix).any()
    assert not notes


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
    points = Points(found.encode(frame).matrix, kinds=found.feature_kinds).scaled(scale)
    return points.values[:, np.argsort(points.scaling.features)], found


def test_texts_that_look_like_numbers_stay_what_they_are():
    frame = pd.DataFrame({"x": RNG.normal(size=60), "zip": ["01234", "5678", "7999"] * 20})
    assert learn_columns(frame)["zip"].kind == "categorical"
    found = learn_columns(frame, {"zip": "categorical"})
    assert set(found["zip"].levels) == {"01234", "5678", "7999"}
    pets = frame.assign(zip=["a", "1", "2"] * 20)
    some = learn_columns(pets)
    np.testing.assert_array_equal(some.encode(pets.iloc[1:3]).matrix, some.encode(pets).matrix[1:3])
    assert not some.encode(pd.DataFrame({"x": [0.0, 0.0], "zip": [1.0, 2.0]})).notes


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
            "draw": rng.integers(0, 100, n_rows),
        }
    )


def test_columns_that_go_with_no_other_do_not_matter():
    frame = related_frame()
    model = GIT(3).fit(frame)
    assert {column.name for column in model.columns_ if column.independent} == {"coin", "die", "lot", "draw"}
    assert {column.name for column in model.columns_.used} == {"x", "y", "plan"}
    assert "coin  two values: heads, tails; dropped: independent of every other column" in str(model.columns_)
    assert "lot   number; dropped: independent of every other column\n" in str(model.columns_)
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
    assert not any(column.independent for column in GIT(3).fit(few).columns_)
    alone = pd.DataFrame({"coin": RNG.choice(["heads", "tails"], 300), "x": RNG.normal(size=300)})
    assert not any(column.independent for column in GIT(2).fit(alone).columns_)


def test_neither_order_nor_units_decide_which_columns_go_together():
    frame = related_frame()
    found = GIT(3).fit(frame)
    other = frame.assign(x=1e6 - 0.1 * frame["x"]).sample(frac=1.0, random_state=0)
    again = GIT(3).fit(other)
    assert [c.independent for c in again.columns_] == [c.independent for c in found.columns_]
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
        assert not columns_of(frame).encoded
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
    # half a character is no str of pandas 3
    frame[name] = pd.Series(ODD[name], dtype=object if name == "odd texts" else None)
    if name in ("bytes", "complex", "lists", "dicts"):
        with pytest.raises(TypeError, match=f"'{name}'"):
            GIT(2).fit(frame)
        assert GIT(2, columns={name: "ignore"}).fit(frame).columns_[name].kind == "ignore"
        return
    if name in ("infinite", "too large"):
        with pytest.raises(ValueError, match=f"'{name}' has an infinite value"):
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
        ({"columns": {"city": "numeric"}}, r"columns\['city'\] is 'numeric', but most cells"),
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
    with pytest.raises(TypeError, match="a data frame with the columns 'x', 'y', 'active', 'city'"):
        model.predict(np.zeros((5, 4)))


def test_changed_columns_are_named():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    with pytest.raises(ValueError, match=r"lacks 'city', which .* It has 'City', which the fit did not have"):
        model.predict(frame.rename(columns={"city": "City"}))
    with pytest.warns(ColumnWarning, match="'x': 1 cells that are not numbers"):
        model.predict(frame.assign(x=["1", "2", "3", "far"] + ["4"] * 56))
    with pytest.raises(ValueError, match="The column 'x' has an infinite value in row 0"):
        model.predict(frame.assign(x=np.inf))
    np.testing.assert_array_equal(model.predict(frame[["city", "active", "y", "x"]].assign(new=1)), model.labels_)


def test_values_never_seen_count_as_missing():
    frame, _ = make_mixed(60)
    model = GIT(2).fit(frame)
    new = frame.copy()
    new.loc[:2, "city"] = ["Paris", "Lima", "Paris"]
    with pytest.warns(ColumnWarning, match=r"'city': 3 values that the fit did not have \('Paris', 'Lima'\)"):
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
    assert "all but the 19 most frequent count as one" in str(found)
    with pytest.warns(ColumnWarning, match="'shop' has 1,000 values"):
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
        (["1970-01-01", "2.1.1970"], [0, 1]),
        ([], None),
    ],
)
def test_dates_in_texts(texts, days):
    values = read_values(np.array(texts, dtype=object))
    if days is None:
        assert values.nature == "texts"
    else:
        np.testing.assert_array_equal(values.numbers, days)


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
    with pytest.raises(ModelFileError, match="not a valid model"):
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


def three_groups(seed=0, n_rows=600):
    """Three groups in two numbers and a category, and the group of every row."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n_rows)
    centre = np.array([[0, 0], [8, 0], [4, 8]])[group]
    numbers = centre + rng.normal(size=(n_rows, 2))
    kind = np.where(rng.random(n_rows) < 0.9, np.array(["x", "y", "z"])[group], "w")
    return pd.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "kind": kind}), group


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
    alone = [model.predict(frame.iloc[[i]])[0] for i in np.flatnonzero(gap)[:20]]
    np.testing.assert_array_equal(alone, model.labels_[gap][:20])
    shuffled = frame.sample(frac=1, random_state=0)[["kind", "b", "a"]]
    again = GIT(3).fit(shuffled)
    np.testing.assert_array_equal(again.labels_, model.labels_[shuffled.index])


@given(st.integers(0, 10**6))
def test_imputed_values_do_not_depend_on_the_order_of_rows_and_columns(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (30, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[0] = 1.0
    rows, columns = rng.permutation(30), rng.permutation(3)
    first, second = X.copy(), X[rows][:, columns]
    impute(second, choose_donors(second))
    impute(first, choose_donors(X))
    np.testing.assert_array_equal(second, first[rows][:, columns])
    assert not np.isnan(first).any()
    np.testing.assert_array_equal(first[~np.isnan(X)], X[~np.isnan(X)])


MESSY = {
    "euros": ([f"{1000 + 7 * i:,}".replace(",", ".") + ",85 €" for i in range(N)], "numeric", 1000.85),
    "dollars": ([f"${1000 + 7 * i:,}.50" for i in range(N)], "numeric", 1000.5),
    "percent": ([f"{12 + i}.3%" for i in range(N)], "numeric", 12.3),
    "dash": ([*(str(2 * i) for i in range(N - 1)), "-"], "numeric", 0.0),
    "not available": ([*(str(2 * i) for i in range(N - 1)), "n/a"], "numeric", 0.0),
    "note": ([*(str(2 * i) for i in range(N - 1)), "see note"], "numeric", 0.0),
    "unknown": ([*(2.0 * i for i in range(N // 2)), *["unknown"] * (N // 2)], "numeric", 0.0),
    "blanks": ([f" {2 * i} " for i in range(N)], "numeric", 0.0),
    "negative": ([f"({i + 1}.50)" for i in range(N)], "numeric", -1.5),
    "codes": ([f"{i % 7:03d}" for i in range(N)], "categorical", None),
    "underscores": ([f"{i % 5}_5" for i in range(N)], "categorical", None),
}


@pytest.mark.parametrize("name", MESSY)
def test_numbers_as_people_write_them(name):
    cells, kind, first = MESSY[name]
    frame = pd.DataFrame({"x": RNG.normal(size=N), name: cells})
    columns = learn_columns(frame, None)
    assert columns[name].kind == kind
    if first is not None:
        assert columns.encode(frame).matrix[0, 1] == pytest.approx(first)


def test_cells_that_cannot_be_read_are_named_in_one_warning():
    frame = pd.DataFrame({"x": RNG.normal(size=N), "y": [*(str(2 * i) for i in range(N - 1)), "see note"]})
    with pytest.warns(ColumnWarning, match=r"'y': 1 cells that are not numbers \('see note'\)"):
        model = GIT(2).fit(frame)
    assert model.columns_["y"].unread == 1


def predicts_alike(model, frame):
    """Whether rows predicted one by one have the labels of the fit."""
    return all(model.predict(frame.iloc[[i]])[0] == model.labels_[i] for i in range(len(frame)))


FORMATS = {
    "day first": lambda i: f"{i % 28 + 1:02d}/{i % 12 + 1:02d}/2024",
    "zones": lambda i: f"2024-05-{i % 28 + 1:02d}T08:30:00+0{i % 4}:00",
    "decimal comma": lambda i: f"{7 + i % 3}.{289 + i}" + (",05" if i % 3 else ""),
    "money": lambda i: f"€ {1 + i % 9}.{100 + i}" + (",5" if i % 2 else ""),
    "category that looks like a number": lambda i: "a" if i % 4 == 0 else i % 4,
}


@pytest.mark.parametrize("name", FORMATS)
def test_new_rows_are_read_by_the_format_of_the_fit(name):
    rng = np.random.default_rng(5)
    cells = [FORMATS[name](i) for i in range(90)]
    frame = pd.DataFrame({"x": rng.normal(size=90) + 5 * (np.arange(90) % 2), "cells": pd.Series(cells, dtype=object)})
    model = GIT(3).fit(frame)
    assert predicts_alike(model, frame)


def test_a_mixed_column_is_read_in_one_way():
    frame, group = three_groups()
    for name in ("a", "b"):
        frame[name] = frame[name].round(1).astype(object)
        frame.loc[RNG.random(len(frame)) < 0.1, name] = "unknown"
    model = GIT(3).fit(frame)
    assert adjusted_rand_score(model.labels_, group) > 0.9
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_large_integer_codes_stay_apart():
    codes = np.array([2**60 + i % 3 for i in range(N)])
    frame = pd.DataFrame({"x": RNG.normal(size=N), "code": codes})
    assert set(learn_columns(frame, {"code": "categorical"})["code"].levels) == {str(code) for code in codes}


def test_a_long_text_takes_no_more_memory_than_itself():
    tracemalloc = pytest.importorskip("tracemalloc")
    frame = pd.DataFrame({"x": RNG.normal(size=3000), "note": [f"n{i % 30}" for i in range(3000)]})
    frame.loc[0, "note"] = "long " * 20_000
    tracemalloc.start()
    model = GIT(2).fit(frame)
    model.profile(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_the_order_of_few_rows_does_not_make_an_identifier():
    frame = pd.DataFrame({"x": RNG.normal(size=12), "rank": np.arange(12)})
    kinds = [learn_columns(frame.iloc[rows])["rank"].kind for rows in (np.arange(12), RNG.permutation(12))]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("library", ["pyarrow", "polars lazy", "duckdb"])
def test_frames_of_other_libraries(library):
    frame, _ = three_groups(n_rows=90)
    if library == "pyarrow":
        other = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    elif library == "polars lazy":
        other = pytest.importorskip("polars").from_pandas(frame).lazy()
    else:
        other = pytest.importorskip("duckdb").sql("select * from frame")
    model = GIT(3).fit(other)
    np.testing.assert_array_equal(model.labels_, GIT(3).fit_predict(frame))
    np.testing.assert_array_equal(model.predict(other), model.labels_)
    assert list(model.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize(
    "X", [{"a": [1, 2]}, (x for x in "ab"), "data.csv", {1, 2}], ids=["dict", "generator", "path", "set"]
)
def test_other_objects_are_refused_by_type(X):
    with pytest.raises(TypeError, match="X must be an array or a data frame, got"):
        GIT().fit(X)


def test_missing_values_of_an_array_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"contains NaN.*data frame"):
        GIT().fit([[0.0, 1.0], [np.nan, 2.0]])


NAMED = {
    "nested": lambda: GIT(2).fit(pytest.importorskip("polars").DataFrame({"x": [1.0, 2.0], "s": [{"a": 1}] * 2})),
    "seuclidean": lambda: GIT(2, metric="seuclidean").fit(RNG.normal(size=(20, 2))),
    "euclidian": lambda: GIT(2, metric="euclidian").fit(RNG.normal(size=(20, 2))),
    "structured": lambda: GIT(2).fit(np.zeros(5, dtype=[("a", float), ("b", float)])),
}


@pytest.mark.parametrize("name", NAMED)
def test_errors_name_the_problem(name):
    with pytest.raises((TypeError, ValueError), match=name):
        NAMED[name]()


CELLS = {
    "timedelta beside numbers": [datetime.timedelta(days=2 * i) if i % 2 else 2.0 * i for i in range(N)],
    "blanks": [f" {i % 9}.5 " if i % 5 else " " for i in range(N)],
    "None": [None if i % 5 == 0 else float(i) for i in range(N)],
    "signalling NaN": [decimal.Decimal("sNaN") if i % 5 == 0 else decimal.Decimal(i) for i in range(N)],
}


@pytest.mark.parametrize("name", CELLS)
def test_odd_numbers_are_numbers(name):
    frame = pd.DataFrame({"x": RNG.normal(size=N), "cells": pd.Series(CELLS[name], dtype=object)})
    assert learn_columns(frame)["cells"].kind == "numeric"
    GIT(2).fit(frame)


def test_requests_of_any_sequence_and_number_type():
    frame = pd.DataFrame({"x": RNG.normal(size=N), "size": ["S", "M", "L"] * 20})
    for order in (np.array(["S", "M", "L"]), pd.Index(["S", "M", "L"]), ("S", "M", "L")):
        columns = learn_columns(frame, {"size": order}, {"x": np.int64(2)})
        assert columns["size"].levels == ("S", "M", "L")
        assert columns["x"].weight == 2.0
