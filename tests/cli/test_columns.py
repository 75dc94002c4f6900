"""Columns on the command line: kinds, weights, missing numbers, decimal marks, and messy exports in one run."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gitcluster import GIT

IDS = ("--id", "customer")


@pytest.fixture
def gaps(folder, customers):
    """Customers in a file, two of them without an age."""
    frame = customers.copy()
    frame.loc[[3, 70], "age"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    return frame


def columns_of(run, *arguments):
    code, out, err = run("fit", *arguments, "-c", "2", "--json", "--save", "m.npz")
    assert code == 0, err
    return json.loads(out)["columns"]


def clusters(path):
    return pd.read_csv(path, dtype={"customer": str})["cluster"].tolist()


def test_missing_numbers_are_imputed_as_in_python(gaps, run):
    code, out, _ = run("fit", "gaps.csv", *IDS, "-c", "3", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert "imputed from the nearest rows" in out
    model = GIT(3).fit(gaps.drop(columns="customer"))
    assert clusters("l.csv") == model.labels_.tolist()
    assert run("predict", "m.npz", "gaps.csv", "-o", "p.csv")[0] == 0
    assert clusters("p.csv") == model.predict(gaps).tolist()


def test_missing_numbers_are_dropped(gaps, run):
    assert run("fit", "gaps.csv", *IDS, "-c", "3", "--missing", "drop", "--save", "m.npz", "-o", "l.csv")[0] == 0
    kept = gaps.dropna()
    assert pd.read_csv("l.csv", dtype=str)["customer"].tolist() == kept["customer"].tolist()
    assert clusters("l.csv") == GIT(3).fit_predict(kept.drop(columns="customer")).tolist()
    assert run("explain", "m.npz", "0004")[1].startswith("Sample 0004 ")
    assert run("explain", "m.npz", "0003")[0] == 1
    assert run("predict", "m.npz", "gaps.csv", "-o", "p.csv")[0] == 0  # the model keeps the choice
    assert clusters("p.csv") == clusters("l.csv")
    assert run("predict", "m.npz", "gaps.csv", "--missing", "impute", "-o", "p.csv")[0] == 0
    assert len(clusters("p.csv")) == 200
    for command in ("profile", "report", "explore"):
        more = () if command == "profile" else ("-o", "page.html")
        assert run(command, "m.npz", "gaps.csv", *more)[0] == 0
    assert (
        run("fit", "gaps.csv", "--exclude", "customer", "-c", "3", "--missing", "drop", "--save", "m.npz", "-q")[0] == 0
    )
    assert run("explain", "m.npz", "199")[0] == 0
    assert run("explain", "m.npz", "3")[0] == 1


def test_rows_are_dropped_for_numbers_that_are_clustered_by_only(folder, run):
    rows = "".join(f"{i % 2 * 9 + i / 50},{'' if i % 2 else 'x'},{'' if i == 7 else i},\n" for i in range(40))
    Path("t.csv").write_text("x,pet,n,gone\n" + rows)
    code, out, _ = run("fit", "t.csv", "-c", "2", "--missing", "drop", "--json", "-o", "l.csv")
    assert code == 0
    assert json.loads(out)["dropped_rows"] == 1
    assert json.loads(out)["columns"]["gone"]["kind"] == "empty"


def test_missing_numbers_are_an_error(gaps, run, customers):
    code, _, err = run("fit", "gaps.csv", *IDS, "--missing", "error")
    assert code == 1
    assert all(words in err for words in ("gaps.csv", "age", "0003", "--missing"))
    customers.to_csv("whole.csv", index=False)
    assert run("fit", "whole.csv", *IDS, "--missing", "error", "-c", "3", "--save", "m.npz", "-q")[0] == 0
    assert run("predict", "m.npz", "gaps.csv", "-o", "p.csv")[0] == 1
    assert run("predict", "m.npz", "gaps.csv", "--missing", "impute", "-o", "p.csv")[0] == 0


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet"])
def test_declared_missing_values(folder, run, form):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60).round(2) + 9 * (np.arange(60) % 2), "y": np.arange(60) % 7 * 3,
                          "pet": ["cat", "dog", "cow"] * 20})  # fmt: skip
    frame.loc[::10, "y"], frame.loc[::15, "pet"] = -99, "nothing"
    path = f"t.{form}"
    {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[form](path, index=False)
    columns = columns_of(run, path, "--na", "-99", "--na", "nothing")
    assert (columns["y"]["missing"], columns["pet"]["missing"]) == (6, 4)
    assert "nothing" not in columns["pet"]["done"]
    assert run("predict", "m.npz", path, "-o", "l.csv")[2] == ""  # the model keeps them


def test_the_decimal_mark_may_be_given(folder, run):
    rows = [f"{1 + i % 2}.{i:03d};0{i % 9};{'x' if i % 3 else 'y'}\n" for i in range(60)]
    Path("t.csv").write_text("n;code;kind\n" + "".join(rows))
    columns_of(run, "t.csv")
    model = GIT.load("m.npz")
    low = model.profile(pd.read_csv("t.csv", sep=";", dtype=str)).to_frame()
    columns_of(run, "t.csv", "--decimal", ",")
    assert run("profile", "m.npz", "t.csv", "-o", "p.csv")[0] == 0  # the model keeps it
    high = pd.read_csv("p.csv")
    assert low["inside"].max() < 3
    assert 1000 < high["inside"].max() < 3000
    assert GIT.load("m.npz").columns_["code"].levels[0] == "00"


def test_a_messy_export_needs_one_run(folder, run):
    rng = np.random.default_rng(0)
    rows = [
        f"K{i:03d};{1000 + 5000 * (i % 2) + rng.integers(400)},50 €;{['-', '12%', '15%', '20%'][rng.integers(4)]};"
        f"{1 + i % 28:02d}.03.2024;{['n/a', 'Köln', 'Oslo'][i % 3]}\n"
        for i in range(80)
    ]
    text = "Umsätze je Kunde\nStand: heute\n\nKunde;Umsatz;Rabatt;seit;Ort\n" + "".join(rows)
    Path("export.csv").write_bytes(text.encode("cp1252"))
    code, out, err = run("fit", "export.csv", "-c", "2", "--json", "-o", "l.csv")
    assert code == 0
    assert "--skip-rows" in err
    assert "--encoding" in err
    columns = json.loads(out)["columns"]
    assert {name: about["kind"] for name, about in columns.items()} == {
        "Kunde": "identifier", "Umsatz": "numeric", "Rabatt": "numeric", "seit": "date", "Ort": "binary",
    }  # fmt: skip
    assert sorted(json.loads(out)["sizes"]) == [40, 40]


def test_remarks_and_codes(folder, run):
    rows = [f"{i % 7},{'01234' if i % 2 else '07999'},{'about 5' if i == 9 else i % 5 * 3}\n" for i in range(60)]
    Path("t.csv").write_text("x,zip,y\n" + "".join(rows))
    code, out, err = run("fit", "t.csv", "-c", "2", "--save", "m.npz", "--json")
    assert code == 0
    assert "about 5" in err
    assert "01234, 07999" in json.loads(out)["columns"]["zip"]["done"]
    assert json.loads(out)["columns"]["y"]["missing"] == 1
    assert run("predict", "m.npz", "t.csv", "-o", "p.csv")[0] == 0


def test_an_infinite_value_is_named(folder, run):
    Path("t.csv").write_text("a,b\n1,2\n3,1e999\n4,5\n")
    code, _, err = run("fit", "t.csv")
    assert code == 1
    assert "infinite" in err or "infinity" in err


def test_kinds_and_weights_on_the_command_line(folder, run, customers):
    frame = customers.assign(city=["Rome", "Oslo", "Bern", "Rome"] * 50, size=["S", "M", "L", "M"] * 50)
    frame.to_csv("t.csv", index=False)
    options = ("--ignore", "age", "--log", "income", "--weight", "city=0.5", "--ordinal", "size=S,M,L")
    columns = columns_of(run, "t.csv", *options)
    assert {name: about["kind"] for name, about in columns.items()} == {
        "customer": "identifier", "income": "log", "visits_2025": "numeric", "city": "categorical", "size": "ordinal",
    }  # fmt: skip
    assert "weight 0.5" in columns["city"]["done"]
    assert run("fit", "t.csv", "--weight", "city")[0] == 2
    assert run("report", "m.npz", "t.csv", "-o", "r.html")[0] == 0
    for command in ("plot", "explore"):
        assert run(command, "m.npz", "t.csv", "-o", "o.png" if command == "plot" else "o.html")[0] == 0


def test_profiles_on_the_command_line(csv, run, customers):
    assert run("fit", csv, *IDS, "-c", "3", "--save", "m.npz", "-q", "-o", "l.csv")[0] == 0
    for arguments in (("m.npz", csv), ("m.npz",), (csv, *IDS, "-c", "3")):
        code, out, _ = run("profile", *arguments)
        assert code == 0
        for words in ("Cluster 2: 40 rows (20.0%)", "visits_2025", "Rule: "):
            assert words in out
    code, out, _ = run("profile", "m.npz", csv, "--json", "-o", "p.csv")
    found = pd.read_csv("p.csv")
    assert len(json.loads(out)["columns"]) == len(found) == 9
    income = found.query("cluster == 0 and column == 'income'")["inside"].item()
    assert income == pytest.approx(customers["income"][np.array(clusters("l.csv")) == 0].mean())


def test_new_values_are_counted(folder, run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "pet": ["cat", "dog", "cow"] * 30})
    frame.to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q")[0] == 0
    frame.assign(pet=["yak", "cat", "dog"] * 30).to_csv("new.csv", index=False)
    code, _, err = run("predict", "m.npz", "new.csv", "-o", "l.csv", "-q")
    assert code == 0
    for words in ("pet", "yak", "30"):
        assert words in err


def test_the_report_says_how_it_was_made(folder, run):
    rows = [f"k{i:02d},{i % 2 * 9 + i / 50},{['x', 'y'][i % 2]},{i % 7}\n" for i in range(40)]
    Path("t.csv").write_text("name,a,kind,b\n" + "".join(rows))
    assert run("fit", "t.csv", "-c", "2", "--id", "name", "--exclude", "b", "--save", "m.npz", "-q")[0] == 0
    assert run("report", "m.npz", "t.csv", "-o", "r.html")[0] == 0
    page = Path("r.html").read_text()
    assert "gitcluster fit t.csv --n-clusters 2 --save m.npz --exclude b --id name --quiet" in page
    assert "gitcluster report m.npz t.csv --output r.html" in page


def test_wide_tables_get_advice_and_components_keep_the_columns(folder, run):
    rng = np.random.default_rng(0)
    names = ",".join(f"c{i}" for i in range(30))
    np.savetxt("noise.csv", rng.normal(size=(100, 30)), delimiter=",", header=names, comments="")
    assert "--columns" in run("fit", "noise.csv", "-c", "2", "-o", "l.csv")[1]
    wide = np.repeat([[0.0], [9.0]], 50, axis=0) + rng.normal(size=(100, 1)) + 0.1 * rng.normal(size=(100, 30))
    np.savetxt("wide.csv", wide, delimiter=",", header=names, comments="")
    code, out, _ = run("fit", "wide.csv", "-c", "2", "--pca", "--save", "m.npz", "-o", "l.csv")
    assert code == 0
    assert "--columns" not in out
    assert "Rule: c" in run("profile", "m.npz")[1]
    assert run("explain", "m.npz", "0", "99")[0] == 0
    code, _, err = run("fit", "wide.csv", "--pca", "--no-scale", "-o", "l.csv")
    assert code == 2
    assert "--no-scale" in err


def test_peers_get_imputed_rows(gaps, run):
    code, out, _ = run("compare", "gaps.csv", *IDS, "-c", "3", "--json")
    assert code == 0
    methods = json.loads(out)["methods"]
    assert not any("failed" in method for method in methods)
    assert all(method["agreement_with_git"] > 0.8 for method in methods)


def test_distances_in_a_text_table(folder, run):
    points = np.repeat([0.0, 9.0], 15) + np.random.default_rng(0).normal(size=30)
    distances = np.abs(points[:, None] - points)
    for decimal in ".,":
        pd.DataFrame(distances, columns=[f"d{i}" for i in range(30)]).to_csv(
            "d.csv", sep=";", decimal=decimal, index=False
        )
        code, out, err = run("fit", "d.csv", "--metric", "precomputed", "-c", "2", "--json")
        assert code == 0, err
        assert json.loads(out)["sizes"] == [15, 15]


def test_a_model_of_an_array(csv, run, customers):
    model = GIT(3).fit(customers.drop(columns="customer").to_numpy())
    model.save("m.npz")
    assert run("predict", "m.npz", csv, "--columns", "age,income,visits_2025", "-o", "l.csv")[0] == 0
    assert clusters("l.csv") == model.labels_.tolist()
