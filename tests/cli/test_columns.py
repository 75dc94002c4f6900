"""Columns on the command line: kinds, weights, missing numbers, decimal marks, dates."""

import datetime
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT

from .conftest import IDS


def columns_of(run, *arguments):
    code, out, err = run("fit", *arguments, "-c", "2", "--json", "--save", "m.npz")
    assert code == 0, err
    return json.loads(out)["columns"]


def clusters(path):
    return pd.read_csv(path, dtype={"customer": str})["cluster"].tolist()


@pytest.mark.parametrize("form", ["xlsx", "parquet", "arrow", "csv"])
@pytest.mark.parametrize("gap", [False, True])
def test_dates_of_every_format_are_dates(folder, run, customers, form, gap):
    """Dates that are objects, as in workbooks and Parquet files, are neither texts nor numbers of nanoseconds."""
    days = [None if gap and i == 5 else datetime.date(2020 + i // 100, 1 + i % 12, 1 + i % 28) for i in range(200)]
    table, path = customers.assign(since=pd.Series(days, dtype=object)), f"t.{form}"
    if form in ("xlsx", "csv"):
        (table.to_excel if form == "xlsx" else table.to_csv)(path, index=False)
    else:
        (table.to_parquet if form == "parquet" else table.to_feather)(path)
    code, out, _ = run("fit", path, *IDS, "-c", "3", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert re.search(r"since +date", out)
    assert re.search(r"since: 20\d\d-\d\d-\d\d, elsewhere 20\d\d", run("profile", "m.npz", path)[1])


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
def test_declared_missing_values(folder, run, form):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60).round(2) + 9 * (np.arange(60) % 2), "y": np.arange(60) % 7 * 3,
                          "pet": ["cat", "dog", "cow"] * 20})  # fmt: skip
    frame.loc[::10, "y"], frame.loc[::15, "pet"] = -99, "nothing"
    path = f"t.{form}"
    {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[form](path, index=False)
    columns = columns_of(run, path, "--na", "-99", "--na", "nothing")
    assert "6 missing" in columns["y"]
    assert "4 missing" in columns["pet"]
    assert "nothing" not in columns["pet"]
    assert run("predict", "m.npz", path, "-o", "l.csv")[2] == ""  # the model keeps them


def test_the_decimal_mark_may_be_given(folder, run):
    rows = [f"{1 + i % 2}.{i:03d};0{i % 9};{'x' if i % 3 else 'y'}\n" for i in range(60)]
    Path("t.csv").write_text("n;code;kind\n" + "".join(rows))
    for options, low, high in (((), 0, 3), (("--decimal", ","), 1000, 3000)):
        columns_of(run, "t.csv", *options)
        assert run("profile", "m.npz", "t.csv", "-o", "p.csv")[0] == 0  # the model keeps it
        assert low < pd.read_csv("p.csv")["inside"].max() < high
    assert GIT.load("m.npz").columns_["code"].levels[0] == "00"


def test_kinds_and_weights(folder, run, customers):
    frame = customers.assign(city=["Rome", "Oslo", "Bern", "Rome"] * 50, size=["S", "M", "L", "M"] * 50)
    frame.to_csv("t.csv", index=False)
    options = ("--exclude", "age", "--log", "income", "--weight", "city=0.5", "--ordinal", "size=S,M,L")
    columns = columns_of(run, "t.csv", *options)
    for name, use in {"customer": "identifies", "income": "log", "city": "weight 0.5", "size": "S, M, L"}.items():
        assert use in columns[name]
    for command, output in (("plot", "o.png"), ("explore", "o.html"), ("report", "r.html")):
        assert run(command, "m.npz", "t.csv", "-o", output)[0] == 0
    frame.assign(city="Paris").to_csv("new.csv", index=False)
    err = run("predict", "m.npz", "new.csv", "-o", "l.csv", "-q")[2]
    assert all(words in err for words in ("city", "Paris", "200"))


def test_doubtful_columns_are_named_in_warnings(folder, run):
    group = np.repeat([0, 1], 150)
    table = pd.DataFrame(9 * group[:, None] + np.random.default_rng(0).normal(size=(300, 2)), columns=["x", "y"])
    table.loc[7, "x"] = 1240  # a slip of the pen
    table.assign(number=range(300)).to_csv("t.csv", index=False)
    assert "--id 'number'" in run("fit", "t.csv", "-c", "2", "-o", "l.csv")[2]
    err = run("fit", "t.csv", "--id", "number", "-c", "2", "--save", "m.npz", "-o", "l.csv")[2]
    assert "'x'" in err


def test_components_keep_the_columns(folder, run):
    rng = np.random.default_rng(0)
    wide = np.repeat([[0.0], [9.0]], 50, axis=0) + rng.normal(size=(100, 1)) + 0.1 * rng.normal(size=(100, 30))
    pd.DataFrame(wide, columns=[f"c{i}" for i in range(30)]).to_csv("wide.csv", index=False)
    assert run("fit", "wide.csv", "-c", "2", "--scale", "components", "--save", "m.npz", "-o", "l.csv")[0] == 0
    assert "Rule: c" in run("profile", "m.npz")[1]


def test_distances_in_a_text_table(folder, run):
    points = np.repeat([0.0, 9.0], 15) + np.random.default_rng(0).normal(size=30)
    frame = pd.DataFrame(np.abs(points[:, None] - points), columns=[f"d{i}" for i in range(30)])
    for decimal in ".,":
        frame.to_csv("d.csv", sep=";", decimal=decimal, index=False)
        code, out, err = run("fit", "d.csv", "--metric", "precomputed", "-c", "2", "--decimal", decimal, "--json")
        assert code == 0, err
        assert json.loads(out)["sizes"] == [15, 15]
    frame.assign(d0="far").to_csv("d.csv", index=False)
    assert "far" in run("fit", "d.csv", "--metric", "precomputed", "-c", "2")[2]


def test_a_model_of_an_array(csv, run, customers):
    model = GIT(3).fit(customers.drop(columns="customer").to_numpy())
    model.save("m.npz")
    assert run("predict", "m.npz", csv, "--columns", "age,income,visits_2025", "-o", "l.csv")[0] == 0
    assert clusters("l.csv") == model.labels_.tolist()
