"""Fit tables, and load saved models with the facts about their tables."""

import warnings
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_array

from gitcluster import GIT
from gitcluster._support.memory import check_memory
from gitcluster._support.names import count_of
from gitcluster.cli.inputs import Table, load_table
from gitcluster.cli.tables import STANDARD, Options, TableError, join_names
from gitcluster.cli.terminal import Screen
from gitcluster.configurations import neighborhood_sizes
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.persistence import Field, ModelFileError, check_fields
from gitcluster.preprocessing.sources import Distances, as_floats
from gitcluster.preprocessing.tables import Columns, columns_of, learn_table
from gitcluster.preprocessing.values import Format

MAX_DESCRIBED = 20
"""Columns that are described one by one."""


class TableFacts(NamedTuple):
    """Facts about the fitted table that later commands need; the model file keeps them as notes."""

    missing: str = "impute"
    id: str | None = None
    ids: NDArray[Any] | None = None
    """The ids of the fitted rows as texts; None without --id."""
    rows: NDArray[np.int64] | None = None
    """Numbers of the fitted rows; None if none was dropped."""
    na: tuple[str, ...] = ()
    decimal: str | None = None
    command: str = ""
    """The command of the fit."""

    @classmethod
    def of(cls, table: Table, options: Options, command: str = "") -> "TableFacts":
        """Return the facts of a table."""
        ids = None if table.ids is None else table.ids.astype(str).to_numpy(dtype=str)
        rows = table.rows if table.dropped else None
        return cls(options["missing"] or "impute", options["id"], ids, rows, options["na"], options["decimal"], command)


class Fitted(NamedTuple):
    """A model and the facts about its table; a model that was saved in Python has none."""

    model: GIT
    facts: TableFacts

    @classmethod
    def load(cls, path: str) -> "Fitted":
        """Return a saved model."""
        if path == STANDARD:
            raise TableError("A model cannot be read from the standard input. Name a file.")
        model = GIT.load(path)
        notes = model.notes_
        facts = TableFacts(**{name: notes[name] for name in TableFacts._fields if name in notes})
        text, optional, n = Field("str"), Field("str", optional=True), len(model.labels_)
        schema = {"missing": text, "id": optional, "ids": optional._replace(shape=(n,)), "command": text,
                  "na": Field("texts", ("",)), "decimal": optional,
                  "rows": Field("int", (n,), optional=True)}  # fmt: skip
        try:
            check_fields((name, getattr(facts, name), field) for name, field in schema.items())
        except ValueError as error:
            raise ModelFileError(f"{path} has damaged notes: {error}") from None
        return cls(model, facts)

    @property
    def row_names(self) -> Any:
        """Return the ids, or else the row numbers."""
        if self.facts.ids is not None:
            return self.facts.ids
        return np.arange(len(self.model.labels_)) if self.facts.rows is None else self.facts.rows

    @property
    def clustering(self) -> Clustering:
        """Return the result of the fit, with the ids as names of the rows."""
        clustering = self.model.clustering_
        if clustering.index is not None or (self.facts.ids is None and self.facts.rows is None):
            return clustering
        return replace(clustering, index=np.asarray(self.row_names).astype(str))

    @property
    def columns(self) -> Columns | None:
        """Return what the fit learned about the columns; None for a model that was fitted to an array."""
        return self.model.clustering_.columns

    def find_row(self, row: str) -> int:
        """Return the position of the fitted row with an id, or with a row number."""
        samples = np.flatnonzero(np.asarray(self.row_names).astype(str) == row)
        if len(samples):
            return int(samples[0])
        if self.facts.ids is not None:
            raise TableError(
                f"No fitted row has the id {row!r}. The first ids are {join_names(list(self.facts.ids), 3)}."
            )
        last = int(self.row_names[-1])
        raise TableError(f"{row!r} is not a fitted row: rows are counted from 0 to {last:,}. For ids, fit with --id.")

    def reading(self, options: Options) -> tuple[Options, dict[str, Any]]:
        """Return the options for another table, and the columns that the model needs, for ``iterate_table``."""
        columns = self.columns or ()
        texts = frozenset(column.name for column in columns if column.format != Format("numbers"))
        names = [column.name for column in self.columns.used] if self.columns and not options["columns"] else None
        options = {
            **options,
            "missing": options["missing"] or self.facts.missing,
            "na": tuple(dict.fromkeys((*options["na"], *self.facts.na))),
            "decimal": options["decimal"] or self.facts.decimal,
        }
        return options, {"names": names, "texts": texts}


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers, for distances and for models that were fitted to arrays."""
    columns = columns_of(frame)
    assert columns is not None
    numbers = {column.name: values.numbers for column, values in columns.read(frame, [c.name for c in columns])}
    texts = [name for name, values in numbers.items() if values is None]
    if texts:
        raise TableError(f"The column {texts[0]!r} does not hold numbers. Leave it out with --exclude.")
    return pd.DataFrame(numbers, frame.index)


def drop_missing(table: Table, columns: Columns | None) -> Table:
    """Return a table without the rows with a missing number; without columns of a model, they are learned."""
    if columns is not None:
        gaps = np.isnan(columns.encode(table.data)[0])
    else:
        check = partial(as_floats, validate=check_array, ensure_min_samples=1, allow_nan=True)
        features = learn_table(table.data, table.kinds or None, table.weights or None, check)
        if features is None or features.missing is None:
            return table
        gaps = features.missing
    return table.take(np.flatnonzero(~gaps.any(axis=1))) if gaps.any() else table


def read(path: str, options: Options, screen: Screen, fitted: Fitted | None = None) -> Table:
    """Return a table for a fit, or the table that a model was fitted to."""
    chosen, reading = options, dict[str, Any]()
    if fitted is not None:
        chosen, reading = fitted.reading(chosen)
        if reading["names"] is not None and fitted.columns is not None:  # dropped columns are described as well
            reading["names"] += [column.name for column in fitted.columns if column.independent]
    k = options.get("n_neighbors")

    def check(rows: int, columns: int) -> None:
        """Raise MemoryError if a fit needs more memory than is free."""
        # The values four times, neighbours with distances and marks for both directions, results of each row.
        n_neighbors = k if isinstance(k, int) else neighborhood_sizes(max(2, rows))[-1]
        check_memory(
            rows * (4.0 * 8 * columns + 2.0 * n_neighbors * (4 + 8 + 1) + 150),
            f"{path} has about {rows:,} rows of {count_of(columns, 'column')}. Fit a part of the rows with --save "
            "model.npz, then label all of them with gitcluster predict, which reads in parts.",
        )

    with screen.bar(f"Reading {'standard input' if path == STANDARD else path}", "read") as update:
        table = load_table(path, chosen, check=check, advance=update, **reading)
        if fitted is None and chosen["missing"] == "drop":
            table = drop_missing(table, None)
        elif fitted and fitted.facts.rows is not None and len(table.data) > fitted.facts.rows.max():
            table = table.take(fitted.facts.rows)
    if len(table.data) < 2:
        without = " without missing numbers" if table.dropped else ""
        raise TableError(f"{path} has {count_of(len(table.data), 'row')}{without}; clustering needs at least 2.")
    if fitted is None and table.data.shape[1] > 1 and all(kind.kind in "fiu" for kind in table.data.dtypes):
        for name, column in table.data.items():  # in a table of numbers, the library does not drop identifiers
            if len(column) > 2 and (np.diff(column) == 1).all():
                warnings.warn(
                    f"The column {name!r} counts the rows. If it identifies them, use --id {name!r}.", stacklevel=2
                )
    return table


def fit_table(model: GIT, table: Table, screen: Screen, **history: Any) -> GIT:
    """Fit a table, show each stage, and return the model; ``history`` are ``previous`` and ``edits``."""
    what, frame = f"Clustering {len(table.data):,} rows", table.data
    if table.ids is not None and table.ids.is_unique:
        frame = frame.set_axis(pd.Index(table.ids.astype(str)), axis=0)
    elif table.dropped:
        frame = frame.set_axis(pd.Index(table.rows), axis=0)
    with screen.bar(what, "fit") as update:
        model.set_params(
            verbose=lambda stage: update(words=f"{what}: {stage}"),
            columns=table.kinds or None,
            weights=table.weights or None,
        )
        try:
            model.fit(as_numbers(frame) if model.metric == Distances.metric else frame, **history)
        finally:
            model.set_params(verbose=False)
    return model


def add_stability(model: GIT, table: Table | None, screen: Screen) -> None:
    """Cluster half-samples of the fitted rows, and show how many are done; the model keeps the result."""
    frame = None if table is None else table.data
    if frame is not None and model.metric == Distances.metric:
        frame = as_numbers(frame)
    with screen.bar("Clustering half-samples", "stability") as update:
        model.set_params(verbose=lambda words: update(words=f"Clustering half-samples, {words}"))
        try:
            model.stability(frame)
        finally:
            model.set_params(verbose=False)


def is_model(path: str) -> bool:
    """Return whether a file is a saved model."""
    if Path(path).is_file():  # opening a pipe would lose its content
        with suppress(Exception), zipfile.ZipFile(path) as archive:  # not a zip, or a damaged one
            return "header.npy" in archive.namelist()
    return False


def open_fitted(
    source: str, data: str | None, options: Options, screen: Screen, estimator: GIT | None
) -> tuple[Fitted, Table | None]:
    """Return a saved model with its table, if given; or fit a table with the estimator."""
    if not is_model(source) and estimator is not None:
        if data is not None:
            raise TableError(f"{source} is not a saved model, so {data} cannot be its table.")
        table = read(source, options, screen)
        return Fitted(fit_table(estimator, table, screen), TableFacts.of(table, options)), table
    fitted = Fitted.load(source)
    if data is None:
        return fitted, None
    table = read(data, options, screen, fitted)
    if len(table.data) != len(fitted.model.labels_):
        raise TableError(
            f"{data} has {len(table.data):,} rows, the model was fitted to {len(fitted.model.labels_):,}. Use the "
            "table of the fit."
        )
    return fitted, table


def column_lines(columns: Columns) -> list[tuple[str, str]]:
    """Return columns and their use; of many with the same use, a few are named.

    Examples
    --------
    >>> from gitcluster.preprocessing.columns import Column
    >>> column_lines(Columns((Column("city", "binary", ("Oslo", "Rome")), Column("age", "numeric"))))
    [('city', 'two values: Oslo, Rome'), ('age', 'number')]
    """
    if len(columns) <= MAX_DESCRIBED:
        return [(column.name, column.describe()) for column in columns]
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.describe(), []).append(column.name)
    return [(join_names(names, 3), use) for use, names in alike.items()]
