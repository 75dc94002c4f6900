"""From tables to fitted models and back: memory, progress, model files with what is known of their tables."""

import os
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

import gitcluster
from gitcluster import GIT
from gitcluster._support.validation import available_memory
from gitcluster.cli.cells import Table
from gitcluster.cli.choosing import ColumnOptions, listed
from gitcluster.cli.numbers import parse_number
from gitcluster.cli.opening import Check
from gitcluster.cli.options import columns_of, model_of
from gitcluster.cli.screen import Screen
from gitcluster.cli.tables import column_centres, fill_missing, read_table
from gitcluster.cli.text_tables import TableError
from gitcluster.cli.writing import STANDARD
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.persistence import Field, ModelFileError, check_fields, read_notes
from gitcluster.inputs import Points
from gitcluster.inputs.columns import Columns
from gitcluster.inputs.representations import WIDEST
from gitcluster.selection.views import neighborhood_sizes

MOST_LINES = 20
"""Columns that are told of one by one."""


class TableFacts(NamedTuple):
    """What later commands need of the fitted table; it is saved as notes in the model file."""

    missing: str = "error"
    centres: dict[str, float] | None = None
    """Values for missing numbers, by column."""
    id: str | None = None
    ids: NDArray[Any] | None = None
    """Texts, one per row: the ids, or the numbers of the rows where some were dropped; None for 0, 1, 2, ..."""
    na: tuple[str, ...] = ()
    """Texts that mean a missing value."""
    command: str = ""
    """The command that made the fit."""

    @classmethod
    def of(cls, table: Table, chosen: ColumnOptions, command: str = "") -> "TableFacts":
        """The facts of a table that was read."""
        fills = chosen.missing in ("mean", "median")
        ids = None
        if table.ids is not None:
            ids = table.ids.astype(str).to_numpy(dtype=str)
        elif table.dropped:
            ids = table.rows.astype(str)
        centres = column_centres(table, chosen.missing) if fills else None
        return cls(chosen.missing, centres, chosen.id, ids, chosen.style.missing, command)


class Fitted(NamedTuple):
    """A model and what is known of its table; a model that Python saved has no facts."""

    model: GIT
    facts: TableFacts

    def save(self, path: str) -> None:
        """Write both to a file."""
        self.model.save(path, notes=self.facts._asdict())

    def find_row(self, row: str) -> int:
        """The fitted sample of an id, or of a row number."""
        ids, n = self.facts.ids, len(self.model.labels_)
        if ids is not None:
            found = np.flatnonzero(np.asarray(ids) == row)
            if not len(found):
                raise TableError(f"No fitted row has the id {row!r}. The first ids are {', '.join(ids[:3])}.")
            return int(found[0])
        if not row.isdigit() or int(row) >= n:
            raise TableError(f"{row!r} is not a row: rows are counted from 0 to {n - 1:,}. For ids, fit with --id.")
        return int(row)

    def clustering(self) -> Clustering:
        """What the fit found, with the ids as names of the rows."""
        found = self.model.clustering_
        return found if found.index is not None or self.facts.ids is None else replace(found, index=self.facts.ids)

    def row_names(self) -> Any:
        """What names the rows in the output: the ids, else the row numbers."""
        if self.facts.ids is None:
            return np.arange(len(self.model.labels_))
        return self.facts.ids if self.facts.id else np.asarray(self.facts.ids).astype(np.int64)

    def columns_for(self, chosen: ColumnOptions) -> tuple[ColumnOptions, list[str] | None]:
        """The options for another table of the same columns, and the names of these columns where they are known."""
        missing = self.facts.missing if chosen.missing == "error" else chosen.missing
        columns = self.model.clustering_.columns
        names = getattr(self.model, "feature_names_in_", None)
        if columns is not None and columns.encoded:
            names = [column.name for column in columns.used]
        known = None if names is None or chosen.columns else list(names)
        style = chosen.style._replace(missing=tuple(dict.fromkeys((*chosen.style.missing, *self.facts.na))))
        return chosen._replace(missing="keep" if missing in ("mean", "median") else missing, style=style), known

    def texts(self) -> frozenset[str]:
        """Columns whose cells are read as they are written: dates, and categories unless they are two numbers."""
        columns = self.model.clustering_.columns
        if columns is None or not columns.encoded:
            return frozenset()
        return frozenset(
            column.name for column in columns
            if column.used or column.apart
            if column.kind == "date" or (
                column.kind in ("binary", "categorical", "ordinal")
                and (column.asked or any(parse_number(level) is None for level in column.levels))
            )
        )  # fmt: skip

    def fill(self, table: Table, missing: str) -> Table:
        """New rows with the values of the fitted table where cells are missing."""
        if not table.data[table.numbers].isna().any(axis=None):
            return table
        if self.facts.centres is None:
            raise TableError(
                f"The table has missing values, and the model was fitted without --missing {missing}. Fit with it and "
                "--save again, or use --missing drop."
            )
        return fill_missing(table, self.facts.centres)


def is_model(path: str) -> bool:
    """Whether a file is a saved model, not a table."""
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
    optional = Field("str", optional=True)
    rows = {"missing": Field("str"), "id": optional, "ids": optional._replace(shape=(n_rows,)), "command": Field("str")}
    rows |= {"na": Field("texts", ("",)), "centres": Field("dict", optional=True)}
    check_fields((name, getattr(facts, name), row) for name, row in rows.items())
    check_fields((f"centres[{name!r}]", value, Field("float")) for name, value in (facts.centres or {}).items())
    if facts.id is None and facts.ids is not None and not all(text.isdecimal() for text in facts.ids.tolist()):
        raise ValueError("ids must be numbers of rows, unless id names their column.")


def read(path: str, options: dict[str, Any], screen: Screen, fitted: Fitted | None = None) -> Table:
    """Read a table for a fit, or the one that a model was fitted to."""
    chosen, names, texts = columns_of(options), None, frozenset[str]()
    if fitted is not None:
        chosen, names = fitted.columns_for(chosen)
        texts, columns = fitted.texts(), fitted.model.clustering_.columns
        if names is not None and columns is not None:  # that it was not clustered by does not make it untold
            names += [column.name for column in columns if column.apart]
    with screen.bar(f"Reading {'standard input' if path == STANDARD else path}", "read") as bar:
        check = memory_check(path, options["memory"], options.get("n_neighbors"))
        table = read_table(path, chosen, check=check, advance=bar.advance, names=names, texts=texts)
    if table.n_rows < 2:
        raise TableError(
            f"{path} has {table.n_rows} row{'' if table.n_rows == 1 else 's'}"
            f"{' without missing values' if table.dropped else ''}; clustering needs at least 2."
        )
    if fitted is None and len(table.numbers) == len(table.names) > 1 and table.n_rows > 2:
        _warn_of_row_numbers(table)
    return table


def _warn_of_row_numbers(table: Table) -> None:
    values = table.values
    maybe = np.flatnonzero(values[1] - values[0] == 1)
    for i in maybe[(np.diff(values[:, maybe], axis=0) == 1).all(axis=0)]:
        name = table.names[i]
        warnings.warn(f"The column {name!r} numbers the rows. If it names them, use --id {name!r}.", stacklevel=3)


def memory_check(path: str, limit: float | None, neighbors: Any = "auto") -> Check:
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
    """Fit, and show which stage has begun."""
    what = f"Clustering {table.n_rows:,} rows" + (" (compiling first, this once)" if _is_first_run() else "")
    verbose = model.verbose
    with screen.bar(what, "fit") as bar:

        def show_stage(stage: str) -> None:
            bar.what = f"{what}: {stage}"

        model.set_params(verbose=show_stage, columns=table.kinds or None, weights=table.weights or None)
        try:
            model.fit(table.frame())
        finally:
            model.set_params(verbose=verbose)
    return model


def column_words(model: GIT, table: Table) -> str:
    """How many columns there are, and how many of them are clustered by."""
    columns, n = model.clustering_.columns, len(table.names)
    used = len(columns.used) if columns is not None and columns.encoded else n
    return f"{n} column{'' if n == 1 else 's'}" if used >= n else f"{used} of {n} columns"


def column_lines(columns: Columns) -> list[tuple[str, str]]:
    """Columns and what was done with them; of many to which the same was done, a few are named.

    Examples
    --------
    >>> from gitcluster.inputs.columns import Column
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
    """Advice where the columns vary in more directions than the rows can fill, None where they do not.

    The directions are counted by the variances along principal components, (sum v)^2 / sum v^2: as many as there are
    columns that vary alike and on their own. In each direction a row can be low or high, which 2^d rows fill.
    """
    source, n_rows = model.clustering_.fitted.source, len(model.labels_)
    if not isinstance(source, Points) or issparse(source.values) or not 1 < source.values.shape[1] <= WIDEST:
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
    """Whether the compiled code of this installation has never been kept."""
    package = Path(gitcluster.__file__).parent
    elsewhere = "NUMBA_CACHE_DIR" in os.environ or not os.access(package / "__pycache__", os.W_OK)
    return not elsewhere and next(package.rglob("*.nbi"), None) is None


def open_fitted(source: str, data: str | None, options: dict[str, Any], screen: Screen) -> tuple[Fitted, Table | None]:
    """A saved model with its table, if given; or a table that is fitted now."""
    if not is_model(source):
        if data is not None:
            raise TableError(f"{source} is not a model that gitcluster has saved; {data} would be its table.")
        table = read(source, options, screen)
        return Fitted(fit_table(model_of(options), table, screen), TableFacts.of(table, columns_of(options))), table
    fitted = load_model(source)
    if data is None:
        return fitted, None
    table = fitted.fill(read(data, options, screen, fitted), options["missing"])
    if table.n_rows != len(fitted.model.labels_):
        raise TableError(
            f"{data} has {table.n_rows:,} rows, the model was fitted to {len(fitted.model.labels_):,}. Give the "
            "table that it was fitted to."
        )
    return fitted, table
