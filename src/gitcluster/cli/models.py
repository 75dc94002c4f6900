"""Fit tables, and open saved models. The notes of a model keep what later commands need to know about its table."""

import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from gitcluster import GIT
from gitcluster._support.names import count_of
from gitcluster.cli.tables import STANDARD, Options, Table, TableError, load_table
from gitcluster.cli.terminal import Screen
from gitcluster.preprocessing.values import Format


def command_line() -> str:
    """Return the running command as it was typed."""
    return shlex.join(["gitcluster", *(click.get_current_context().obj or [])])


def read_model(path: str) -> GIT:
    """Return a saved model; one that was saved in Python may have no notes."""
    model = GIT.load(path)
    notes = {"id": None, "na": (), "decimal": None, "command": ""}
    model.notes_ = {name: model.notes_.get(name, default) for name, default in notes.items()}
    return model


def read_rows(
    path: str, options: Options, screen: Screen, model: GIT | None = None, *, independent: bool = False
) -> Table:
    """Return a table: for a fit, or the columns that a model needs; with ``independent``, those it dropped as well."""
    names = texts = None
    if model is not None:
        notes, columns = model.notes_, model.clustering_.columns
        marks = {"na": (*options.get("na", ()), *notes["na"]), "decimal": options["decimal"] or notes["decimal"]}
        options = {**options, **marks, "usual_id": notes["id"]}
        texts = {column.name for column in columns or () if column.format != Format("numbers")}
        if columns is not None:
            names = [column.name for column in columns if column.used or (independent and column.independent)]
    with screen.status(f"Reading {'standard input' if path == STANDARD else path}"):
        return load_table(path, options, names=names, texts=texts)


def read_samples(path: str, options: Options, screen: Screen, model: GIT) -> tuple[Table, Any]:
    """Return a table of new rows, and its columns as the model wants them."""
    table = read_rows(path, options, screen, model)
    if model.clustering_.columns is not None:
        return table, table.indexed
    try:
        return table, table.indexed.astype(float)
    except ValueError as error:
        raise TableError(f"{path} must have numbers only: {error}. Leave out columns with --exclude.") from None


def fit_table(model: GIT, path: str, options: Options, screen: Screen, **history: Any) -> Table:
    """Fit a table, show each stage, and return the table; ``history`` are ``previous`` and ``edits``."""
    table = read_rows(path, options, screen)
    rows, ids = table.data, table.ids
    if len(rows) < 2:
        raise TableError(f"{path} has {count_of(len(rows), 'row')}; clustering needs at least 2.")
    if ids is not None and not ids.is_unique:
        twice = ids[ids.duplicated()].iloc[0]
        raise TableError(
            f"--id {options['id']} must identify the rows, but {twice!r} occurs twice in {path}. Use --exclude to "
            "leave the column out."
        )
    if rows.shape[1] > 1 and all(kind.kind in "fiu" for kind in rows.dtypes):
        for name, column in rows.items():  # in a table of numbers, the library does not drop identifiers
            if len(column) > 2 and (np.diff(column) == 1).all():
                warnings.warn(
                    f"The column {name!r} counts the rows. If it identifies them, use --id {name!r}.", stacklevel=2
                )
    model.set_params(columns=table.kinds or None, weights=table.weights or None)
    _show_stages(model, screen, f"Clustering {len(rows):,} rows", lambda: model.fit(table.indexed, **history))
    model.notes_ = {name: options[name] for name in ("id", "na", "decimal")} | {"command": command_line()}
    if options["stability"]:
        _show_stages(model, screen, "Clustering half-samples", lambda: model.stability(rows))
    return table


def _show_stages(model: GIT, screen: Screen, what: str, call: Callable[[], Any]) -> None:
    """Call a function, and show the stages that the model reports."""
    with screen.status(what) as update:
        model.set_params(verbose=update)
        try:
            call()
        finally:
            model.set_params(verbose=False)


def is_model(path: str) -> bool:
    """Return whether a path is the name of a saved model."""
    return Path(path).suffix.lower() == ".npz"


def open_model(path: str, data: str | None, options: Options) -> tuple[GIT, Any, Screen]:
    """Return a saved model, the columns of its table, if given, and the screen."""
    model, screen = read_model(path), Screen(options)
    if data is None:
        return model, None, screen
    X = read_rows(data, options, screen, model, independent=True).indexed
    if len(X) != len(model.labels_):
        raise TableError(
            f"{data} has {len(X):,} rows, the model was fitted to {len(model.labels_):,}. Use the table of the fit."
        )
    return model, model.clustering_.align(X), screen
