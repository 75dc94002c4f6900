"""Everyday tables as a new user brings them: dates of every format, one cluster, odd cells."""

import datetime
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.fitted.warnings import ColumnWarning
from gitcluster.preprocessing.values import read_values


@pytest.mark.parametrize("form", ["xlsx", "parquet", "arrow", "jsonl", "csv"])
@pytest.mark.parametrize("gap", [False, True])
def test_dates_of_every_format_are_dates(folder, run, customers, form, gap):
    """Dates that are objects, as in workbooks and Parquet files, are neither texts nor numbers of nanoseconds."""
    days = [datetime.date(2020 + i // 100, 1 + i % 12, 1 + i % 28) for i in range(200)]
    table = customers.assign(
        since=pd.Series([None if gap and i == 5 else day for i, day in enumerate(days)], dtype=object)
    )
    path = f"t.{form}"
    if form == "jsonl":
        table.assign(since=table["since"].map(str, na_action="ignore")).to_json(path, orient="records", lines=True)
    else:
        {"xlsx": lambda: table.to_excel(path, index=False), "parquet": lambda: table.to_parquet(path),
         "arrow": lambda: table.to_feather(path), "csv": lambda: table.to_csv(path, index=False)}[form]()  # fmt: skip
    code, out, _ = run("fit", path, "--id", "customer", "-c", "3", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert re.search(r"since +date", out)
    code, out, _ = run("profile", "m.npz", path)
    assert code == 0
    assert re.search(r"since: 20\d\d-\d\d-\d\d, elsewhere 20\d\d", out)


def test_one_cluster_differs_from_nothing(folder, run):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60), "c": rng.choice(["a", "b", "c"], 60)})
    table.to_csv("t.csv", index=False)
    code, out, _ = run("fit", "t.csv", "-c", "1", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert "3 columns, 1 cluster\n" in out
    assert re.search(r"100\.0% +all rows", out)
    assert "(0%)" not in out
    assert run("profile", "m.npz", "t.csv")[1].splitlines()[2:] == [
        "Cluster 0: 60 rows (100.0%)",
        "  All rows are in this cluster.",
    ]
    assert run("cut", "m.npz", "-c", "1", "-o", "c.csv")[1].startswith("60 rows, 1 cluster\n")


def test_a_category_that_is_known_in_one_cluster_only_is_compared_with_nothing():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200) + np.repeat([0, 20], 100), "c": rng.choice(["a", "b", "c"], 200)})
    table.loc[table["x"] > 10, "c"] = None
    for found in GIT(2, columns={"c": "ignore"}).fit(table).profile(table):
        assert [contrast.column for contrast in found.contrasts] == ["x"]


def test_times_of_a_log_with_pauses_name_its_rows():
    rng = np.random.default_rng(0)
    state = np.repeat([0, 1, 2, 1], 100)
    seconds = np.cumsum(10 + rng.integers(-2, 3, 400) + 3600 * (np.arange(400) % 90 == 0))
    table = pd.DataFrame({
        "time": (pd.Timestamp("2026-03-28 20:00", tz="Europe/Berlin") + pd.to_timedelta(seconds, "s")).map(str),
        "heat": np.array([20, 60, 90])[state] + rng.normal(size=400),
        "mode": np.where(rng.random(400) < 0.9, np.array(["off", "run", "hot"])[state], "none"),
    })  # fmt: skip
    model = GIT().fit(table)
    assert model.columns_["time"].kind == "identifier"
    assert adjusted_rand_score(state, model.labels_) == 1
    some = table.assign(time=pd.Timestamp("2026-03-01") + pd.to_timedelta(rng.permutation(2000)[:400], "D"))
    assert GIT().fit(some).columns_["time"].kind == "date"


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["1970-01-01T00:00:01.250", "1970-01-01 00:00:02,5"], [1.25, 2.5]),
        (["1970-01-01T01:00:00+01:00", "1970-01-01T02:00:00+01:00"], [3600, 7200]),
        (["1970-01-01T01:00:00+01:00", "1970-01-01T02:00:00+02:00", "1970-01-01T00:00:01Z"], [0, 0, 1]),
        (["1970-01-01 05:30 +0530", "1969-12-31 23:30 -0030"], [0, 0]),
    ],
)
def test_times_keep_parts_of_seconds_and_zones_that_differ(texts, seconds):
    np.testing.assert_allclose(read_values(np.array(texts, dtype=object)).numbers * 86_400, seconds, atol=1e-6)


def test_what_a_fit_warns_of_is_in_the_report(folder, run):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 150)
    table = pd.DataFrame(9 * group[:, None] + rng.normal(size=(300, 2)), columns=["x", "y"])
    table["pressure"] = rng.normal(120, 8, 300).round() + 30 * group
    table["income"] = np.minimum(50 * (1 + group) + rng.normal(0, 10, 300), 105)  # cut off
    table.loc[7, "pressure"] = 1240  # a slip of the pen for 124.0
    table.to_csv("t.csv", index=False)
    code, _, err = run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert err.count("Warning: ") == 1
    said = re.findall(r"^- (.*)", err, re.MULTILINE)
    assert [re.search(r"'(\w+)'", words)[1] for words in said] == ["pressure", "income"]
    assert "1,240" in said[0]
    for source in (["m.npz", "t.csv"], ["t.csv", "-c", "2"]):
        assert run("report", *source, "-o", "r.html")[0] == 0
        page = unescape(Path("r.html").read_text())
        assert all(words in page.split("Columns to check")[1].split("</ul>")[0] for words in said)


@pytest.mark.parametrize("cell", [-999.0, 99999.0])
def test_numbers_that_stand_for_missing_ones_are_named(cell):
    values = np.random.default_rng(0).normal(50, 5, 2000)
    values[::80] = cell
    with pytest.warns(ColumnWarning, match=f"'x' has 25 values .* {cell:,.0f} .*--na"):
        GIT(2).fit(pd.DataFrame({"x": values, "y": np.repeat([0.0, 9.0], 1000) + values % 1}))


def test_a_report_of_equal_rows_is_not_sure_of_anything(folder, run):
    pd.DataFrame({"a": [3] * 40, "b": [7] * 40}).to_csv("t.csv", index=False)
    assert "Number of clusters: 1 (no other is possible)." in run("fit", "t.csv", "-o", "l.csv")[1]
    assert run("report", "t.csv", "-o", "r.html")[0] == 0
    page = Path("r.html").read_text()
    assert "confidence" not in page
    assert "no other is possible" in page
    assert "How the clusters differ" not in page  # from what?


def test_a_file_is_no_column_of_true_classes(folder, run, csv):
    Path("classes.csv").write_text("customer,class\n0000,a\n")
    code, _, err = run("compare", csv, "--id", "customer", "--truth", "classes.csv")
    assert code == 1
    assert "--truth" in err
