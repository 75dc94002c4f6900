"""Everyday tables as a new user brings them: dates of every format, one cluster, odd cells."""

import datetime
import re

import pandas as pd
import pytest


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
    code, out, _ = run(
        "fit", path, "--id", "customer", "-c", "3", "--missing", "median", "--save", "m.npz", "-o", "l.csv"
    )
    assert code == 0
    assert re.search(r"since +date", out)
    code, out, _ = run("profile", "m.npz", path)
    assert code == 0
    assert re.search(r"since: 20\d\d-\d\d-\d\d, elsewhere 20\d\d", out)
