"""From tables to fitted models and back: memory, progress, model files with the ids of their rows."""

import math
import os
import warnings
import zipfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

import gitcluster
from gitcluster import GIT
from gitcluster._support.validation import available_memory
from gitcluster.cli.options import choice_of, model_of
from gitcluster.cli.screen import Bar, Screen
from gitcluster.cli.tables import Choice, Table, fill_missing, read_table
from gitcluster.cli.text_tables import TableError
from gitcluster.cli.writing import STANDARD
from gitcluster.selection import neighborhood_sizes

TRIAL = 2000
"""Rows of the smaller of two trial fits that tell how long a fit will take."""


def read(path: str, options: dict[str, Any], screen: Screen, model: GIT | None = None) -> Table:
    """Read a table for a fit, or the one that ``model`` was fitted to."""
    choice, names = choice_of(options), None
    if model is not None:
        choice, names = choice_for(model, choice)
    with screen.bar(f"Reading {'standard input' if path == STANDARD else path}", "read") as bar:
        check = memory_check(path, options["memory"], options.get("neighbors"))
        table = read_table(path, choice, check=check, advance=bar.advance, names=names)
    if len(table.values) < 2:
        raise TableError(
            f"{path} has {len(table.values)} row{'' if len(table.values) == 1 else 's'}"
            f"{' without missing values' if table.dropped else ''}; clustering needs 2 at least."
        )
    _warn_of_row_numbers(table)
    return table


def _warn_of_row_numbers(table: Table) -> None:
    for name, column in zip(table.names, table.values.T, strict=True):
        if len(column) > 2 and len(table.names) > 1 and (np.diff(column) == 1).all():
            warnings.warn(f"The column {name!r} numbers the rows. If it names them, use --id {name!r}.", stacklevel=2)


def memory_check(path: str, limit: float | None, neighbors: Any = "auto") -> Any:
    """A function that raises for more rows and columns than memory can hold."""

    def check(rows: int, columns: int) -> None:
        free = available_memory() if limit is None else limit
        needed = fit_memory(rows, columns, neighbors)
        if needed > free:
            raise MemoryError(
                f"{path}: clustering about {rows:,} rows of {columns} column{'' if columns == 1 else 's'} needs about "
                f"{needed / 1e9:,.1f} GB of memory, {free / 1e9:,.1f} GB {'are free' if limit is None else 'allowed'}. "
                "Fit a part of the rows with --save model.npz, then label all of them with gitcluster predict, which "
                "reads in parts; or take fewer columns with --columns."
            )

    return check


def fit_memory(rows: int, columns: int, neighbors: Any = "auto") -> float:
    """Bytes that reading and fitting take: the values four times, the graph of neighbours, what is kept of a row."""
    k = neighbors if isinstance(neighbors, int) else neighborhood_sizes(max(2, rows))[-1]
    return rows * (4.0 * 8 * columns + 2.0 * k * (4 + 8 + 1) + 150)


def fit_table(model: GIT, table: Table, screen: Screen) -> GIT:
    """Fit, with a bar that knows the stages and expects as long as trial fits of a few rows tell."""
    frame = table.frame()
    what = f"Clustering {len(frame):,} rows" + (" (compiling first, this once)" if _is_first_run() else "")
    with screen.bar(what, "fit") as bar:
        if bar.thread is not None:
            bar.expect(expected_seconds(model, table.values))
        model._init_callback_context = Stages(bar)  # the hook that Progress looks for, with or without callbacks
        try:
            model.fit(frame)
        finally:
            del model._init_callback_context
    return model


def _is_first_run() -> bool:
    """Whether the compiled code of this installation has never been kept."""
    cache = Path(gitcluster.__file__).parent / "__pycache__"
    elsewhere = "NUMBA_CACHE_DIR" in os.environ or not os.access(cache, os.W_OK)
    return not elsewhere and not any(cache.glob("_kernels.*.nbi"))


class Stages:
    """Moves a bar from stage to stage of a fit; it takes the place of scikit-learn's callback context."""

    def __init__(self, bar: Bar) -> None:
        self.bar, self.count = bar, 0

    def __call__(self, *, max_subtasks: int) -> "Stages":
        self.total = max_subtasks
        return self

    def subcontext(self, *, task_name: str) -> "Stages":
        """A stage begins; the search takes about half of the time."""
        self.count += 1
        begins = [0.0, 0.0, *(0.5 + 0.3 * i / max(1, self.total - 2) for i in range(self.total))]
        self.bar.advance(begins[self.count - 1], begins[self.count])
        return self

    def call_on_fit_task_begin(self, **_: Any) -> None:
        """Nothing to do."""

    def call_on_fit_task_end(self, **_: Any) -> None:
        """Nothing to do."""


def expected_seconds(model: GIT, values: Any) -> float:
    """How long a fit will take, from fits of a few rows; 0 for tables so small that it does not matter."""
    if len(values) < 10 * TRIAL or model.metric == "precomputed":
        return 0.0
    plain = GIT(n_neighbors=model.n_neighbors, metric=model.metric, scale=model.scale, n_jobs=model.n_jobs)
    order = np.random.default_rng(0).permutation(len(values))
    seconds = []
    for rows in (TRIAL // 4, TRIAL, 2 * TRIAL):  # the first one only compiles
        start = perf_counter()
        plain.fit(values[order[:rows]])
        seconds.append(perf_counter() - start)
    power = min(2.0, max(1.0, math.log2(seconds[2] / seconds[1])))
    return float(seconds[2] * (len(values) / (2 * TRIAL)) ** power)


def keep_facts(model: GIT, table: Table, choice: Choice, centres: Any = None) -> None:
    """Let a model know what commands need later: ids or numbers of its rows, values for missing cells."""
    kept: dict[str, Any] = {"missing": choice.missing, "centres": centres, "id": choice.id, "ids": None}
    if table.ids is not None:
        kept["ids"] = table.ids.astype(str).to_numpy(dtype=str)
    elif table.dropped:
        kept["ids"] = table.rows.astype(str)
    model.table_ = kept


def table_facts(model: GIT) -> dict[str, Any]:
    """What :func:`keep_facts` kept; a model that Python saved has none."""
    return getattr(model, "table_", {"missing": "error", "centres": None, "id": None, "ids": None})


def is_model(path: str) -> bool:
    """Whether a file is a saved model, not a table."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "header.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def load_model(path: str) -> GIT:
    """A saved model."""
    if path == STANDARD:
        raise TableError("A model is read from a file, not from the standard input. Name the file.")
    return GIT.load(path)


def choice_for(model: GIT, choice: Choice) -> tuple[Choice, list[str] | None]:
    """The choice with what the model knows: its columns, its id column, what to do with missing values."""
    facts = table_facts(model)
    names = getattr(model, "feature_names_in_", None)
    missing = facts["missing"] if choice.missing == "error" else choice.missing
    changed = {"missing": "keep" if missing in ("mean", "median") else missing}
    if names is not None and not choice.columns:
        return Choice(**{**choice.__dict__, **changed}), list(names)
    return Choice(**{**choice.__dict__, **changed}), None


def fill_as_fitted(model: GIT, table: Table, missing: str) -> Table:
    """New rows with the values of the fitted table where cells are missing."""
    if not np.isnan(table.values).any():
        return table
    centres = table_facts(model)["centres"]
    if centres is None:
        raise TableError(
            f"The table has missing values, and the model was fitted without --missing {missing}. Fit with it and "
            "--save again, or use --missing drop."
        )
    return fill_missing(table, np.asarray(centres))


def find_row(model: GIT, row: str) -> int:
    """The fitted sample of an id, or of a row number."""
    ids = table_facts(model)["ids"]
    if ids is not None:
        found = np.flatnonzero(np.asarray(ids) == row)
        if not len(found):
            raise TableError(f"No fitted row has the id {row!r}. The first ones are {', '.join(ids[:3])}.")
        return int(found[0])
    n = len(model.labels_)
    if not row.isdigit() or int(row) >= n:
        raise TableError(f"{row!r} is no row: rows are counted from 0 to {n - 1:,}. For ids, fit with --id.")
    return int(row)


def row_names(model: GIT, table: Table | None = None) -> "pd.Series[Any]":
    """The column that names the rows in the output: the ids, else row numbers."""
    if table is not None:
        return table.ids if table.ids is not None else pd.Series(table.rows)
    ids = table_facts(model)["ids"]
    if ids is None:
        return pd.Series(np.arange(len(model.labels_)))
    return pd.Series(ids) if table_facts(model)["id"] else pd.Series(np.asarray(ids).astype(np.int64))


def open_fitted(source: str, data: str | None, options: dict[str, Any], screen: Screen) -> tuple[GIT, Table | None]:
    """A saved model with its table, if given; or a table that is fitted now."""
    if not is_model(source):
        if data is not None:
            raise TableError(f"{source} is no model that gitcluster has saved; {data} would be its table.")
        table = read(source, options, screen)
        fitted = fit_table(model_of(options), table, screen)
        keep_facts(fitted, table, choice_of(options))
        return fitted, table
    model = load_model(source)
    if data is None:
        return model, None
    table = read(data, options, screen, model)
    table = fill_as_fitted(model, table, options["missing"])
    if len(table.values) != len(model.labels_):
        raise TableError(
            f"{data} has {len(table.values):,} rows, the model was fitted to {len(model.labels_):,}. Give the table "
            "that it was fitted to."
        )
    return model, table
