"""``fit``, ``predict`` and ``cut``: tables in, labels out."""

import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd
import pyarrow as pa

from gitcluster import GIT
from gitcluster._support.names import count_of, visible
from gitcluster.cli.models import (
    Fitted,
    TableFacts,
    column_lines,
    column_words,
    fit_table,
    load_model,
    open_fitted,
    read,
    width_words,
)
from gitcluster.cli.options import (
    GroupedCommand,
    columns_of,
    command_of,
    data_argument,
    label_options,
    model_of,
    model_options,
    prior_options,
    table_options,
    voice_options,
)
from gitcluster.cli.screen import Screen, make_table
from gitcluster.cli.tables import Table, iterate_table, plain_numbers
from gitcluster.cli.writing import (
    STANDARD,
    check_apart,
    check_target,
    format_of,
    open_writer,
    print_json,
    standard_or,
    write_table,
)
from gitcluster.fitted.attributes import agreement_words, number_words
from gitcluster.fitted.memberships import own_shares
from gitcluster.preprocessing.columns import Columns

with_data = click.option("--with-data", is_flag=True, help="Write your own table, all of its rows and columns as they "
                         "came, with the columns cluster, membership and outlier_score added.")  # fmt: skip


@click.command(cls=GroupedCommand)
@click.argument("table", metavar="TABLE")
@model_options
@label_options
@click.option("--probabilities", is_flag=True, help="Also write the membership of each row in its cluster, and its "
              "outlier score.")  # fmt: skip
@with_data
@click.option("--save", metavar="FILE.npz", help="Keep the model, for predict, cut, explain, plot, explore, report.")
@table_options
@voice_options
@click.pass_context
def fit(
    ctx: click.Context,
    /,
    table: str,
    save: str | None,
    probabilities: bool,
    with_data: bool,
    **options: Any,
) -> None:
    """Cluster the rows of TABLE (a file, or - for the standard input).

    Without -o, labels go to the standard output if it is a pipe or a file. In a terminal they are not shown.

    \b
    gitcluster fit data.parquet -c 3 -o labels.csv
    gitcluster fit data.csv --id customer --exclude 'note*' -o labels.csv --save model.npz
    gitcluster fit data.csv --proportions 1:0.5:0.1 --probabilities -o labels.parquet
    cat data.csv | gitcluster fit - -c 3 > labels.csv
    """
    if save and not Path(save).suffix and (Path(save).is_file() or not Path(save).exists()):
        save = f"{save}.npz"
    output, screen = _prepare(options, save, sources=[table])
    options["with_data"] = with_data
    read_in = read(table, options, screen)
    chosen = columns_of(options)
    model = fit_table(model_of(options), read_in, screen)
    with screen.bar("Writing", "write") as bar:
        if save:
            Fitted(model, TableFacts.of(read_in, chosen, command_of(ctx))).save(save)
        if output:
            form = format_of(output, options["output_format"])
            found = Labels(model.labels_, model.probabilities_, np.asarray(model.outlier_scores_, dtype=np.float64))
            if with_data:
                labels = own_table(read_in, found, form)
            else:
                more = _scores(found) if probabilities else {}
                labels = label_frame(read_in.row_names(), chosen.id, found.clusters, **more)
            write_table(output, labels, form, bar.advance, safe=options["safe_formulas"])
    facts = {**_fit_facts(model, read_in), "input": table, "model": save}
    _tell(options, screen, facts, _summary(model, read_in, screen), output)
    if save:
        row = read_in.row_names().iloc[0]
        screen.say(f"Model:  {save}", f"Next:   gitcluster explain {save} {row}, gitcluster plot {save} -o picture.png")
    elif not output:
        screen.say(f"To keep the labels: gitcluster fit {table} ... -o labels.csv")


def _prepare(
    options: dict[str, Any], save: str | None = None, *, sources: list[str | None]
) -> tuple[str | None, Screen]:
    """Where labels go, and who is told what; targets that cannot be written are errors before any work is done."""
    output = standard_or(options["output"])
    if options["as_json"] and output == STANDARD:
        raise click.UsageError("--json and -o - both write to the standard output. Name a file for the labels.")
    if output is None and not options["as_json"] and not sys.stdout.isatty() and save is None:
        output = STANDARD
    check_target(output, stream=True)
    check_target(save, "--save")
    check_apart({"-o": output, "--save": save}, sources)
    if output:
        format_of(output, options["output_format"])
    return output, Screen(quiet=options["quiet"] or options["as_json"], on_error_stream=output == STANDARD)


def _tell(options: dict[str, Any], screen: Screen, facts: dict[str, Any], summary: list[Any], output: Any) -> None:
    """The outcome of a command: one JSON object for a script, or a summary for a person."""
    if options["as_json"]:
        print_json({**facts, "seconds": screen.rounded_seconds(), "output": output})
        return
    screen.say(*summary)
    if output and output != STANDARD:
        screen.say(f"Labels: {output}")


def label_frame(names: Any, id_name: str | None, labels: Any, **more: Any) -> pd.DataFrame:
    """Labels with the names of their rows, as they are written."""
    found = {"cluster": labels, **more}
    (name,) = free_names([id_name or "row"], set(found))
    return pd.DataFrame({name: np.asarray(names), **found})


class Labels(NamedTuple):
    """What is added to a table: a value of each for every row that was labelled."""

    clusters: Any
    memberships: Any
    outlier_scores: Any = None
    """None where they are not known."""


def own_table(table: Table, labels: Labels, form: str) -> pd.DataFrame:
    """The user's table as it came, with labels; rows that were left out have none."""
    assert table.whole is not None
    added = {}
    whole_numbers = "int64" if len(table.rows) == len(table.whole) else "Int64"  # dropped rows have no cluster
    for name, values in {
        "cluster": pd.array(labels.clusters, dtype=whole_numbers), "membership": _rounded(labels.memberships),
        "outlier_score": _rounded(labels.outlier_scores),
    }.items():  # fmt: skip
        if values is not None:
            added[name] = pd.Series(values).set_axis(table.rows).reindex(table.whole.index)
    whole = table.whole if form in ("csv", "tsv") or not table.lines else typed_texts(table.whole)
    kept = whole.set_axis(free_names(list(whole.columns), set(added)), axis=1)
    return pd.concat([kept, pd.DataFrame(added)], axis=1)


def _scores(labels: Labels) -> dict[str, Any]:
    """Return the columns that ``--probabilities`` adds."""
    return {"probability": _rounded(labels.memberships), "outlier_score": _rounded(labels.outlier_scores)}


def _rounded(values: Any) -> Any:
    return None if values is None else np.asarray(values, dtype=np.float64).round(4)


def typed_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of texts for a format that has types: columns of plain numbers become numbers."""

    def typed(column: "pd.Series[Any]") -> Any:
        for kind in (pa.int64(), pa.float64()):
            numbers = plain_numbers(pa.array(column), kind=kind)
            if numbers is not None:
                return pd.Series(numbers, column.index, dtype=pd.ArrowDtype(kind))
        return column

    return frame.apply(typed) if len(frame) else frame


def free_names(names: list[str], taken: set[str]) -> list[str]:
    """Names of columns of the table beside those of the output, which stay: a name that is taken gets an addition.

    Examples
    --------
    >>> free_names(["age", "x"], {"row", "cluster"})
    ['age', 'x']
    """
    found: list[str] = []
    for name in names:
        free = name
        while free in taken or (free != name and free in names):
            free += "_in_table"
        if free != name:
            warnings.warn(f"The column {name!r} of the table is written as {free!r}.", stacklevel=2)
        found.append(free)
        taken = taken | {free} if free != name else taken
    return found


def _fit_facts(model: GIT, table: Table) -> dict[str, Any]:
    """What ``--json`` tells of a fit."""
    return {
        "rows": table.n_rows,
        **_read_facts(table.n_rows, table.dropped, table.lines, table.empty),
        "features": list(table.names),
        **_column_facts(model),
        "n_clusters": model.n_clusters_,
        "sizes": np.bincount(model.labels_[model.labels_ >= 0], minlength=model.n_clusters_),
        "proportions": model.proportions_.round(6),
        "noise": int((model.labels_ < 0).sum()),
        "n_neighbors": model.n_neighbors_,
        "local_clusters": len(model.peaks_),
    }


def _column_facts(model: GIT) -> dict[str, Any]:
    """Return the use of the columns for ``--json``, if it is not obvious."""
    columns = model.clustering_.columns
    if columns is None or not _is_worth_telling(columns):
        return {}
    return {"columns": {c.name: {"kind": c.kind, "used": c.used, "missing": c.missing, "done": c.describe()}
                        for c in columns}}  # fmt: skip


def _is_worth_telling(columns: Columns) -> bool:
    """Return whether columns are not just numbers that are all there."""
    return columns.encoded or any(column.missing or column.unread for column in columns)


def _summary(model: GIT, table: Table, screen: Screen) -> list[Any]:
    """What a person wants to know of a fit."""
    rows = [
        ["noise" if p.cluster < 0 else str(p.cluster), f"{p.rows:,}", f"{p.share:.1%}", ", ".join(p.differences())]
        for p in model.profile(table.data, rules=False)
    ]
    title = f"{table.n_rows:,} rows, {column_words(model, table)}, {count_of(model.n_clusters_, 'cluster')}"
    headings = ["cluster", "rows", "share", "largest differences (elsewhere)"]
    parts: list[Any] = [make_table(title, headings, rows, left=(3,))]
    if hasattr(model, "n_clusters_scores_"):
        parts.append(f"Number of clusters: {number_words(model.n_clusters_scores_)}.")
    if hasattr(model, "selection_"):
        parts.append(agreement_words(model.agreement_))
    advice = width_words(model)
    if advice is not None:
        parts.append(advice)
    columns = model.clustering_.columns
    if columns is not None and _is_worth_telling(columns):
        lines = [[visible(names), done] for names, done in column_lines(columns)]
        parts.append(make_table("Columns", ["column", "what was done with it"], lines, left=(0, 1)))
    parts.append(_read_words(table.n_rows, table.dropped, table.lines, table.empty))
    took = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in screen.seconds.items())
    return [*parts, f"Neighbours: {model.n_neighbors_}; local clusters: {len(model.peaks_)}; {took}"]


def _read_facts(labelled: int, dropped: int, lines: int, empty: int) -> dict[str, int]:
    """What became of every row that was read, for ``--json``; lines are those of a text table."""
    about = {"lines": lines, "empty_lines": empty} if lines else {}
    return {"read_rows": labelled + dropped, "dropped_rows": dropped, **about}


def _read_words(labelled: int, dropped: int, lines: int, empty: int) -> str:
    """What became of every row that was read, in words.

    Examples
    --------
    >>> _read_words(8, 2, 13, 2)
    'Rows read: 10 in 13 lines; labelled: 8; dropped: 2 with missing numbers; 2 empty lines were skipped'
    """
    return (
        f"Rows read: {labelled + dropped:,}{f' in {lines:,} lines' if lines else ''}; labelled: {labelled:,}"
        + (f"; dropped: {dropped:,} with missing numbers" if dropped else "")
        + (f"; {empty:,} empty line{' was' if empty == 1 else 's were'} skipped" if empty else "")
    )


@click.command(cls=GroupedCommand)
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@label_options
@click.option("--probabilities", is_flag=True, help="Also write the membership of each row in its cluster, and its "
              "outlier score.")  # fmt: skip
@with_data
@table_options
@voice_options
def predict(model: str, table: str, probabilities: bool, **options: Any) -> None:
    """Find the clusters of the rows of TABLE with a saved MODEL.

    The columns are those of the fit, found by name. TABLE is read, labelled and written in parts, so it may be
    larger than memory. Far from all rows of the fit, memberships are low and outlier scores near 1.

    gitcluster predict model.npz new.csv -o labels.csv
    """
    output, screen = _prepare(options, sources=[model, table])
    fitted = load_model(model)
    chosen, names = fitted.columns_for(columns_of(options))
    counts = np.zeros(fitted.model.n_clusters_ + 1, dtype=np.int64)
    dropped = lines = empty = far_out = 0
    with screen.bar(f"Labelling {table}", "predict") as bar:
        parts = iterate_table(
            table, chosen, advance=bar.advance, names=names, texts=fitted.texts(), maybe_id=fitted.facts.id
        )
        form = format_of(output, options["output_format"]) if output else ""
        with open_writer(output, form, safe=options["safe_formulas"]) if output else nullcontext() as writer:
            for whole in parts:
                part = fitted.without_gaps(whole, chosen.missing, table)
                dropped, lines, empty = dropped + part.dropped, lines + part.lines, empty + part.empty
                labels = _predict(fitted, part)
                counts += np.bincount(labels.clusters + 1, minlength=len(counts))
                far_out += int((labels.outlier_scores > fitted.model.clustering_.fitted.far_out).sum())
                if writer is None:
                    continue
                if options["with_data"]:
                    writer.write(own_table(part, labels, form))
                elif part.n_rows:
                    more = _scores(labels) if probabilities else {}
                    writer.write(label_frame(part.row_names(), part.id_name, labels.clusters, **more))
    title = f"{counts.sum():,} rows of {table} in {screen.seconds['predict']:.1f} s"
    account = (int(counts.sum()), dropped, lines, empty)
    facts = {"rows": account[0], **_read_facts(*account), "sizes": counts[1:], "noise": int(counts[0]),
             "far_out": far_out, "model": model, "input": table}  # fmt: skip
    summary = [_sizes_table(title, counts), _read_words(*account)]
    if far_out:
        summary.append(
            f"Far from the rows of the fit: {count_of(far_out, 'row')}, with an outlier score above "
            f"{fitted.model.clustering_.fitted.far_out:.2f} (--probabilities writes the scores)."
        )
    _tell(options, screen, facts, summary, output)


def _predict(fitted: Fitted, part: Table) -> Labels:
    if not part.n_rows:
        return Labels(np.empty(0, np.int64), np.empty(0), np.empty(0))
    described = fitted.model.predict_samples(fitted.samples(part))
    return Labels(described.labels, own_shares(fitted.model.clustering_, described), described.outlier_scores)


def _sizes_table(title: str, counts: Any) -> Any:
    """A table of the sizes of clusters, from counts of which the first is noise."""
    shares = counts / max(1, counts.sum())
    names = ["noise", *map(str, range(len(counts) - 1))]
    order = [*range(1, len(counts)), *([0] if counts[0] else [])]
    rows = [[names[i], f"{counts[i]:,}", f"{shares[i]:.1%}"] for i in order]
    return make_table(title, ["cluster", "rows", "share"], rows)


@click.command(cls=GroupedCommand)
@click.argument("model", metavar="MODEL")
@data_argument
@prior_options
@click.option(
    "--exact", is_flag=True, help="Clusters have exactly these proportions: rows near a boundary change sides."
)
@label_options
@table_options
@voice_options
def cut(model: str, data: str | None, n_clusters: Any, proportions: Any, exact: bool, **options: Any) -> None:
    """Take other labels from a saved MODEL: another number of clusters, or other proportions. No search is repeated.

    With the TABLE that was fitted, the table is written with the new labels.

    \b
    gitcluster cut model.npz -c 5 -o labels5.csv
    gitcluster cut model.npz customers.csv -c 5 -o customers5.csv
    gitcluster cut model.npz --proportions 2:1:1 -o labels.csv
    gitcluster cut model.npz --proportions 2:1:1 --exact -o labels.csv
    """
    if n_clusters in (None, "auto") and proportions is None:
        raise click.UsageError("Tell into what to cut: -c 5, or --proportions 2:1:1.")
    output, screen = _prepare(options, sources=[model, data])
    options["with_data"] = data is not None
    fitted, table = open_fitted(model, data, options, screen) if data else (load_model(model), None)
    with screen.bar("Cutting", "cut"):
        number = None if n_clusters == "auto" else n_clusters
        labels = fitted.model.cut(n_clusters=number, proportions=proportions, exact=exact)
    if output:
        form = format_of(output, options["output_format"])
        if table is None:
            found = label_frame(fitted.row_names(), fitted.facts.id, labels)
        else:
            scores = np.asarray(fitted.model.outlier_scores_, dtype=np.float64)
            found = own_table(table, Labels(labels, None, scores), form)
        write_table(output, found, form, safe=options["safe_formulas"])
    counts = np.bincount(labels + 1, minlength=2)
    facts = {"rows": len(labels), "n_clusters": len(counts) - 1, "sizes": counts[1:], "noise": int(counts[0]),
             "proportions": (counts[1:] / len(labels)).round(6), "model": model}  # fmt: skip
    title = f"{len(labels):,} rows, {count_of(len(counts) - 1, 'cluster')}"
    _tell(options, screen, facts, [_sizes_table(title, counts)], output)
