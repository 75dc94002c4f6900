"""Fit tables, and load models with the facts about their tables: memory, progress, notes in model files."""

import os
import warnings
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

import gitcluster
from gitcluster import GIT
from gitcluster._support.names import count_of
from gitcluster._support.validation import available_memory
from gitcluster.cli.choosing import ColumnOptions, listed
from gitcluster.cli.opening import Check
from gitcluster.cli.options import columns_of, model_of
from gitcluster.cli.screen import Screen
from gitcluster.cli.tables import Table, read_table
from gitcluster.cli.text_tables import TableError
from gitcluster.cli.writing import STANDARD
from gitcluster.configurations import neighborhood_sizes
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.persistence import Field, ModelFileError, check_fields, read_notes
from gitcluster.preprocessing.columns import Columns
from gitcluster.preprocessing.columns import columns_of as kinds_of
from gitcluster.preprocessing.representations import MAX_FEATURES
from gitcluster.preprocessing.sources import Distances, Points, as_floats
from gitcluster.preprocessing.tables import FrameFeatures, learn_table
from gitcluster.preprocessing.values import Format

MOST_LINES = 20
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
    """Further texts that mean a missing value."""
    decimal: str | None = None
    """The decimal mark, if it was given."""
    command: str = ""
    """The command that made the fit."""

    @classmethod
    def of(cls, table: Table, chosen: ColumnOptions, command: str = "") -> "TableFacts":
        """Return the facts of a table."""
        ids = None if table.ids is None else table.ids.astype(str).to_numpy(dtype=str)
        rows = table.rows if table.dropped else None
        return cls(
            chosen.missing or "impute", chosen.id, ids, rows, chosen.style.missing, chosen.style.decimal, command
        )


class Fitted(NamedTuple):
    """A model and the facts about its table; a model that Python saved has none."""

    model: GIT
    facts: TableFacts

    def save(self, path: str) -> None:
        """Write both to a file."""
        self.model.save(path, notes=self.facts._asdict())

    def find_row(self, row: str) -> int:
        """Return the fitted sample of an id, or of a row number."""
        n = len(self.model.labels_)
        if self.facts.ids is None and self.facts.rows is None:
            if not row.isdigit() or int(row) >= n:
                raise TableError(f"{row!r} is not a row: rows are counted from 0 to {n - 1:,}. For ids, fit with --id.")
            return int(row)
        names = np.asarray(self.row_names()).astype(str)
        samples = np.flatnonzero(names == row)
        if not len(samples):
            what = "number" if self.facts.ids is None else "id"
            raise TableError(f"No fitted row has the {what} {row!r}. The first are {', '.join(names[:3])}.")
        return int(samples[0])

    def clustering(self) -> Clustering:
        """Return the result of the fit, with the ids as names of the rows."""
        found = self.model.clustering_
        named = found.index is not None or (self.facts.ids is None and self.facts.rows is None)
        return found if named else replace(found, index=np.asarray(self.row_names()).astype(str))

    def row_names(self) -> Any:
        """Return the names of the rows in the output: the ids, else the row numbers."""
        if self.facts.ids is not None:
            return self.facts.ids
        return np.arange(len(self.model.labels_)) if self.facts.rows is None else self.facts.rows

    @property
    def columns(self) -> Columns | None:
        """Return what the fit learned about the columns; None for a model that was fitted to an array."""
        return self.model.clustering_.columns

    def columns_for(self, chosen: ColumnOptions) -> tuple[ColumnOptions, list[str] | None]:
        """Return the options for another table, and the names of the columns that the model needs, if it knows them."""
        style = chosen.style._replace(
            missing=tuple(dict.fromkeys((*chosen.style.missing, *self.facts.na))),
            decimal=chosen.style.decimal or self.facts.decimal,
        )
        names = None if self.columns is None or chosen.columns else [column.name for column in self.columns.used]
        return chosen._replace(missing=chosen.missing or self.facts.missing, style=style), names

    def texts(self) -> frozenset[str]:
        """Return the columns whose cells stay texts: all but numbers with a decimal point."""
        columns = self.columns or ()
        return frozenset(c.name for c in columns if c.format != Format("numbers"))

    def samples(self, table: Table) -> Any:
        """Return new rows as the model takes them: a data frame, or an array of numbers."""
        return table.data if self.columns is not None else as_numbers(table.data).to_numpy()

    def without_gaps(self, table: Table, missing: str | None, path: str) -> Table:
        """Return new rows without those that lack a number, if they are not imputed."""
        if missing not in ("drop", "error") or self.columns is None or not table.n_rows:
            return table
        gaps = np.isnan(self.columns.encode(table.data).matrix)
        return _without_gaps(table, gaps, self.columns, missing, path)


def as_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with its cells as numbers, for distances and for models that were fitted to arrays."""
    columns = kinds_of(frame)
    assert columns is not None
    numbers = {column.name: column.read(frame[column.name]).numbers for column in columns}
    texts = [name for name, values in numbers.items() if values is None]
    if texts:
        raise TableError(f"The column {texts[0]!r} does not hold numbers. Leave it out with --exclude.")
    return pd.DataFrame(numbers, frame.index)


def learn_features(frame: pd.DataFrame, kinds: Any, weights: Any) -> FrameFeatures:
    """Return the features of a frame as a fit learns them."""
    check = partial(as_floats, validate=check_array, ensure_min_samples=1, allow_nan=True)
    features = learn_table(frame, kinds or None, weights or None, check)
    assert features is not None
    return features


def _without_gaps(table: Table, gaps: NDArray[np.bool_], columns: Columns, missing: str, path: str) -> Table:
    """Return a table without the rows of which a feature is missing, or raise an error that names them."""
    if not gaps.any():
        return table
    if missing == "drop":
        return table.take(np.flatnonzero(~gaps.any(axis=1)))
    names = [column.name for column in columns.used for _ in column.features]
    counts = {name: int(n) for name, n in zip(names, gaps.sum(axis=0), strict=True) if n}
    row = table.row_names().iloc[int(gaps.any(axis=1).argmax())]
    shown = ", ".join(f"{name}: {n:,}" for name, n in list(counts.items())[:5]) + (", ..." if len(counts) > 5 else "")
    raise TableError(
        f"{path} has missing numbers ({shown}), the first in the row {row}. Use --missing impute or --missing drop, or "
        "leave columns out with --exclude."
    )


def is_model(path: str) -> bool:
    """Return whether a file is a saved model, not a table."""
    if not Path(path).is_file():  # to open a pipe and close it again would lose what is in it
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return "header.npy" in archive.namelist()
    except Exception:  # not a zip, or a damaged one
        return False


def load_model(path: str) -> Fitted:
    """Return a saved model with the facts of its table."""
    if path == STANDARD:
        raise TableError("A model is read from a file, not from the standard input. Name the file.")
    model, notes = GIT.load(path), read_notes(path)
    facts = TableFacts(**{name: notes[name] for name in TableFacts._fields if name in notes})
    try:
        _check_facts(facts, len(model.labels_))
    except ValueError as error:
        raise ModelFileError(f"{path} has damaged notes: {error}") from None
    return Fitted(model, facts)


def _check_facts(facts: TableFacts, n_rows: int) -> None:
    """Raise if facts from a file are not those of a table."""
    text, optional = Field("str"), Field("str", optional=True)
    schema = {"missing": text, "id": optional, "ids": optional._replace(shape=(n_rows,)), "command": text}
    schema |= {"na": Field("texts", ("",)), "decimal": optional, "rows": Field("int", (n_rows,), optional=True)}
    check_fields((name, getattr(facts, name), field) for name, field in schema.items())


def read(path: str, options: dict[str, Any], screen: Screen, fitted: Fitted | None = None) -> Table:
    """Return a table for a fit, or the one that a model was fitted to."""
    chosen, names, texts = columns_of(options), None, None
    if fitted is not None:
        chosen, names = fitted.columns_for(chosen)
        texts = fitted.texts()
        if names is not None and fitted.columns is not None:  # columns that were dropped are described as well
            names += [column.name for column in fitted.columns if column.independent]
    with screen.bar(f"Reading {'standard input' if path == STANDARD else path}", "read") as bar:
        check = memory_check(path, options["memory"], options.get("n_neighbors"))
        table = read_table(path, chosen, check=check, advance=bar.advance, names=names, texts=texts)
        if fitted is None and chosen.missing in ("drop", "error") and table.n_rows:
            features = learn_features(table.data, table.kinds, table.weights)
            if features.missing is not None:
                table = _without_gaps(table, features.missing, features.columns, chosen.missing, path)
        elif fitted is not None and fitted.facts.rows is not None and table.n_rows > fitted.facts.rows.max():
            table = table.take(fitted.facts.rows)
    if table.n_rows < 2:
        raise TableError(
            f"{path} has {count_of(table.n_rows, 'row')}{' without missing numbers' if table.dropped else ''}; "
            "clustering needs at least 2."
        )
    if fitted is None:
        _warn_of_row_numbers(table)
    return table


def _warn_of_row_numbers(table: Table) -> None:
    """Warn of columns that count the rows, in tables of numbers, which the library uses as they are."""
    if len(table.names) < 2 or table.n_rows < 3 or any(kind.kind not in "fiu" for kind in table.data.dtypes):
        return
    first = table.data.iloc[:2].to_numpy(dtype=np.float64)
    for i in np.flatnonzero(first[1] - first[0] == 1):
        if (np.diff(table.data.iloc[:, i]) == 1).all():
            name = table.names[i]
            warnings.warn(f"The column {name!r} numbers the rows. If it names them, use --id {name!r}.", stacklevel=3)


def memory_check(path: str, limit: float | None, neighbors: Any = "auto") -> Check:
    """Return a function that raises for more rows and columns than memory can hold."""

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
    """Return the bytes that a fit takes: the values four times, the graph of neighbours, the results of each row."""
    k = neighbors if isinstance(neighbors, int) else neighborhood_sizes(max(2, rows))[-1]
    return rows * (4.0 * 8 * columns + 2.0 * k * (4 + 8 + 1) + 150)


def fit_table(model: GIT, table: Table, screen: Screen) -> GIT:
    """Fit a table, show each stage, and return the model."""
    what = f"Clustering {table.n_rows:,} rows" + (" (compiling first, this once)" if _is_first_run() else "")
    verbose = model.verbose
    with screen.bar(what, "fit") as bar:

        def show_stage(stage: str) -> None:
            bar.what = f"{what}: {stage}"

        model.set_params(verbose=show_stage, columns=table.kinds or None, weights=table.weights or None)
        frame = table.frame()
        try:
            model.fit(as_numbers(frame) if model.metric == Distances.metric else frame)
        finally:
            model.set_params(verbose=verbose)
    return model


def column_words(model: GIT, table: Table) -> str:
    """Return how many columns there are, and how many of them are clustered by."""
    columns, n = model.clustering_.columns, len(table.names)
    used = len(columns.used) if columns is not None and columns.encoded else n
    return f"{n} column{'' if n == 1 else 's'}" if used >= n else f"{used} of {n} columns"


def column_lines(columns: Columns) -> list[tuple[str, str]]:
    """Return columns and their use; of many with the same use, a few are named.

    Examples
    --------
    >>> from gitcluster.preprocessing.columns import Column
    >>> column_lines(Columns((Column("city", "binary", ("Oslo", "Rome")), Column("age", "numeric"))))
    [('city', 'two values: Oslo, Rome'), ('age', 'number')]
    """
    alike: dict[str, list[str]] = {}
    for column in columns:
        alike.setdefault(column.describe(), []).append(column.name)
    if len(columns) <= MOST_LINES:
        return [(column.name, column.describe()) for column in columns]
    return [(listed(names, 3), done) for done, names in alike.items()]


def width_words(model: GIT) -> str | None:
    """Return advice if the columns vary in more directions than the rows can fill; else None.

    The directions are counted by the variances along principal components, (sum v)^2 / sum v^2: as many as there are
    columns that vary alike and on their own. In each direction a row can be low or high, which 2^d rows fill.
    """
    source, n_rows = model.clustering_.fitted.source, len(model.labels_)
    if not isinstance(source, Points) or issparse(source.values) or not 1 < source.values.shape[1] <= MAX_FEATURES:
        return None
    points = source.values[:: 1 + n_rows // 5000].astype(np.float64)
    scatter = np.cov(points, rowvar=False)
    directions, filled = np.trace(scatter) ** 2 / max((scatter**2).sum(), 1e-300), np.log2(n_rows)
    if directions <= filled:
        return None
    return (
        f"The columns vary in about {directions:.0f} directions, and {n_rows:,} rows fill no more than {filled:.0f} of "
        "them. Name the columns that matter with --columns, or try --pca where columns repeat each other."
    )


def _is_first_run() -> bool:
    """Return whether this installation has no compiled code yet."""
    package = Path(gitcluster.__file__).parent
    elsewhere = "NUMBA_CACHE_DIR" in os.environ or not os.access(package / "__pycache__", os.W_OK)
    return not elsewhere and next(package.rglob("*.nbi"), None) is None


def open_fitted(source: str, data: str | None, options: dict[str, Any], screen: Screen) -> tuple[Fitted, Table | None]:
    """Return a saved model with its table, if given; or a table that is fitted now."""
    if not is_model(source):
        if data is not None:
            raise TableError(f"{source} is not a model that gitcluster has saved; {data} would be its table.")
        table = read(source, options, screen)
        return Fitted(fit_table(model_of(options), table, screen), TableFacts.of(table, columns_of(options))), table
    fitted = load_model(source)
    if data is None:
        return fitted, None
    table = read(data, options, screen, fitted)
    if table.n_rows != len(fitted.model.labels_):
        raise TableError(
            f"{data} has {table.n_rows:,} rows, the model was fitted to {len(fitted.model.labels_):,}. Give the "
            "table that it was fitted to."
        )
    return fitted, table
