"""A table means the same in a file as in Python: the same columns, the same labels, whatever its cells look like."""

import csv

import pandas as pd
import pytest

from gitcluster import GIT

from .messy_columns import COLUMNS, beside_numbers


def check_same(frame, run, *options, **parameters):
    """Fit a frame of texts in Python, and the same in a file on the command line."""
    frame.to_csv("t.csv", index=False, quoting=csv.QUOTE_MINIMAL)
    model = GIT(2, **parameters).fit(frame)
    code, _, err = run("fit", "t.csv", "-c", "2", "--save", "m.npz", "-q", "-o", "l.csv", *options)
    assert code == 0, err
    loaded = GIT.load("m.npz")
    assert str(loaded.columns_) == str(model.columns_)
    assert list(loaded.columns_) == list(model.columns_)
    assert pd.read_csv("l.csv")["cluster"].tolist() == model.labels_.tolist()
    assert run("predict", "m.npz", "t.csv", "-o", "p.csv", "-q")[0] == 0
    assert pd.read_csv("p.csv")["cluster"].tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.filterwarnings("ignore")
def test_a_column_means_the_same(folder, run, name):
    check_same(beside_numbers(name), run)


@pytest.mark.parametrize("others", [[], ["plain"], ["gaps"], ["decimal comma"], ["decimal comma", "plain"]])
@pytest.mark.filterwarnings("ignore")
def test_columns_mean_the_same_beside_others(folder, run, others):
    """A column that allows both decimal marks is read as the others need."""
    check_same(pd.DataFrame({name: COLUMNS[name] for name in ["either mark", "integers", *others]}), run)


@pytest.mark.filterwarnings("ignore")
def test_a_table_means_the_same(folder, run):
    check_same(pd.DataFrame(COLUMNS), run)


@pytest.mark.filterwarnings("ignore")
def test_requested_kinds_mean_the_same(folder, run):
    names = ["plain", "integers", "one and one point", "zero or one"]
    kinds = {"one and one point": "categorical", "integers": "log", "zero or one": "ordinal"}
    options = ("--categorical", "one and one point", "--log", "integers", "--ordinal", "zero or one")
    check_same(pd.DataFrame({name: COLUMNS[name] for name in names}), run, *options, columns=kinds)
