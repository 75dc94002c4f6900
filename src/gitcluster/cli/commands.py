"""The commands and options of ``gitcluster``.

To add an option, write one ``option(...)`` line: in one of the groups below, which are the headings in the help, or
above a command. Options of the estimator are read by ``make_estimator``, those of tables by ``tables`` and
``inputs``.
"""

import codecs
import inspect
import io
import json
import re
import shlex
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from gitcluster import GIT, __version__, compare
from gitcluster._support.files import atomic_write, open_number
from gitcluster._support.names import count_of, escape_control
from gitcluster._support.optional import require
from gitcluster.cli.demo import make_example, show_demo
from gitcluster.cli.inputs import Table, iterate_table, names_in_file
from gitcluster.cli.models import (
    Fitted,
    TableFacts,
    add_stability,
    as_numbers,
    column_lines,
    drop_missing,
    fit_table,
    is_model,
    open_fitted,
    read,
)
from gitcluster.cli.report import make_comparison_page, make_report
from gitcluster.cli.tables import SEPARATORS, STANDARD, TableError
from gitcluster.cli.terminal import Screen, print_result, text_table
from gitcluster.cli.writing import add_labels, check_targets, write_table
from gitcluster.explorer import write_explorer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.explanation import explain_rows
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.summary import summarize

PLOTS = ("clusters", "topo-graph", "hierarchy", "n-clusters", "profile")
PICTURES, PAGES = (".png", ".svg", ".pdf", ".jpg", ".webp"), (".html", ".htm")
OTHER = "Other options"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# -- Options of several commands ---------------------------------------------------------------------------------------


def parsed(parse: Callable[[str], Any], expected: str) -> Callable[[str], Any]:
    """Return a type of option: a function that reads a text, with an error that says what is expected."""

    def convert(value: str) -> Any:
        try:
            return parse(value)
        except (ValueError, LookupError):
            raise click.BadParameter(f"must be {expected}, got {value!r}.") from None

    return convert


def parse_character(value: str) -> str:
    """Return a separator or a quote: an ASCII character, or the name of a separator."""
    character = SEPARATORS.get(value, value.replace("\\t", "\t"))
    if len(character) != 1 or character in "\r\n" or not character.isascii():
        raise ValueError
    return character


share_type = parsed(lambda value: value if value == "auto" else float(value), "a number or 'auto'")
proportions_type = parsed(
    lambda value: value if value == "equal" else [float(part) for part in re.split("[:,]", value)],
    "proportions such as 1:0.5:0.1, or 'equal'",
)
separator_type = parsed(parse_character, f"one ASCII character, or {', '.join(SEPARATORS)}")
quote_type = parsed(lambda value: value if value == "none" else parse_character(value), "one ASCII character, or none")
encoding_type = parsed(lambda value: codecs.lookup(value).name, "an encoding such as utf-8, latin-1 or cp1252")
weight_type = parsed(
    lambda value: (value[: value.rindex("=")], float(value[value.rindex("=") + 1 :])),
    "a name and a number such as income=0.5",
)


def group(title: str, *options: Decorator) -> Decorator:
    """Return several options as one decorator; the help shows them below the title."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
            function.__click_params__[-1].group = title  # type: ignore[attr-defined]
        return function

    return decorate


def compose(*decorators: Decorator) -> Decorator:
    """Return several decorators as one."""
    return lambda function: reduce(lambda decorated, decorate: decorate(decorated), reversed(decorators), function)


class GroupedCommand(click.Command):
    """A command whose help shows its options by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all groups; options without one come last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", OTHER), []).append(record)
        for title, records in sorted(groups.items(), key=lambda one: one[0] == OTHER):
            with formatter.section(title):
                formatter.write_dl(records)


option, choice = click.option, click.Choice
prior_options = group(
    "Prior knowledge",
    option("-c", "--n-clusters", type=click.IntRange(1), metavar="N", help="Number of clusters. Selected by default."),
    option("--proportions", type=proportions_type, metavar="A:B:C", help="Proportions of sizes: 1:0.5:0.1, or equal."),
)
history_options = group(
    "History",
    option("--previous", metavar="MODEL", help="An earlier model: clusters keep its numbers and names."),
    option("--edits", multiple=True, metavar="FILE.json", help="Edits by hand that the explorer saved."),
)
bound_options = group(
    "Prior knowledge",
    option("--min-size", type=int, help="Smallest number of rows in a cluster."),
    option("--max-size", type=int, help="Largest number of rows in a cluster."),
    option("--noise", type=share_type, metavar="SHARE", help="Share of rows labelled -1, or auto."),
)
method_options = group(
    "Method",
    option("--n-neighbors", type=click.IntRange(1), metavar="N", help="Neighbours. Selected by default."),
    option("--metric", default="euclidean", show_default=True, metavar="NAME",
           help="Distance: any metric of scikit-learn's NearestNeighbors."),
    option("--no-scale", is_flag=True, help="Use the columns without scaling."),
    option("--pca", is_flag=True, help="Measure distances in the principal components with 90 % of the variance, for "
           "wide tables. Explanations use your columns."),
    option("--variant", type=choice(["adaptive", "paper", "authors"]), default="adaptive", show_default=True,
           help="Adaptive needs no tuning; the others are the published method."),
    option("--stability", is_flag=True, help="Cluster 50 half-samples as well, to see which clusters are stable."),
    option("--jobs", type=int, default=-1, show_default=True, help="Number of threads; -1 uses all processors."),
)  # fmt: skip
column_options = group(
    "Columns",
    option("--columns", multiple=True, metavar="NAMES",
           help="Columns to cluster by: names or patterns (x_*), separated by commas."),
    option("--exclude", "--ignore", multiple=True, metavar="NAMES", help="Columns to leave out: names or patterns."),
    option("--categorical", multiple=True, metavar="NAMES", help="Categories written as numbers, such as zip codes."),
    option("--ordinal", multiple=True, metavar="NAME=A,B,C", help="A column of categories in their order."),
    option("--log", multiple=True, metavar="NAMES", help="Columns to use on a log scale, such as incomes."),
    option("--weight", multiple=True, type=weight_type, metavar="NAME=NUMBER",
           help="Weight of a column in distances; 1 by default."),
    option("--id", metavar="NAME", help="Column that identifies the rows; the output keeps it."),
    option("--missing", type=choice(["impute", "drop"]), help="Missing numbers: impute them from the nearest rows (the "
           "default), or drop these rows. The model keeps the choice."),
    option("--na", multiple=True, metavar="TEXT", help="Text that marks a missing value, such as -99."),
)  # fmt: skip
format_options = group(
    "Format of the table",
    option("--separator", type=separator_type, metavar="CHAR", help="Separator of the fields of a text table: a "
           f"character, or {', '.join(SEPARATORS)}. Guessed by default."),
    option("--skip-rows", type=click.IntRange(0), metavar="N", help="Lines above the header, such as a title."),
    option("--quote", type=quote_type, metavar="CHAR", help="Quote around fields of a text table that contain "
           "separators or line ends: a character, or none if quotes are part of the values. By default it is the "
           "double quote, and a quote that seems to swallow rows is an error."),
    option("--decimal", type=choice([".", ","]), help="Decimal mark of texts. Detected for each column by default."),
    option("--encoding", type=encoding_type, metavar="NAME", help="Encoding. By default UTF-8, else cp1252."),
    option("--no-header", is_flag=True, help="The first line of a text table holds values, not names."),
    option("--sheet", metavar="NAME", help="Sheet of an Excel workbook, array of an NPZ file, or file of a zip."),
)  # fmt: skip
output_option = group(
    "Output",
    option("-o", "--output", metavar="FILE", help="File for the labels: CSV, TSV, JSON, Parquet, Arrow, NPY, NPZ or "
           "Excel, by its name; - is the standard output."),
)  # fmt: skip
score_options = group(
    "Output",
    option("--probabilities", is_flag=True, help="Also write memberships in the clusters and outlier scores."),
    option("--with-data", is_flag=True, help="Write your own table with cluster, membership and outlier_score added."),
)
json_option = option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary.")
quiet_option = option("-q", "--quiet", is_flag=True, help="Print no summary and no progress.")


def make_estimator(options: dict[str, Any]) -> GIT:
    """Return the estimator that ``model_options`` describe."""
    if options["no_scale"] and options["pca"]:
        raise click.UsageError("--pca divides columns by their standard deviations first: leave out --no-scale.")
    return GIT(
        options["n_clusters"] or "auto",
        proportions=options["proportions"],
        n_neighbors=options["n_neighbors"] or "auto",
        metric=options["metric"],
        scale=None if options["no_scale"] else "components" if options["pca"] else "auto",
        noise=options["noise"],
        variant=options["variant"],
        min_cluster_size=options["min_size"],
        max_cluster_size=options["max_size"],
        n_jobs=options["jobs"],
    )


source_argument = click.argument("source", metavar="MODEL|TABLE")
data_argument = click.argument("data", metavar="[TABLE]", required=False)
title_option = option("--title", help="Title of the page.")
model_options = compose(prior_options, bound_options, method_options)  # read by make_estimator
table_options = compose(column_options, format_options)
label_options = compose(output_option, table_options, json_option, quiet_option)
show_options = compose(model_options, table_options, quiet_option)


class Commands(click.Group):
    """A group that lists its commands in the order of use."""

    command_class = GroupedCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gitcluster")
@click.option("--traceback", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def app() -> None:
    """Cluster the rows of a table, plot the clusters, and explain them.

    \b
    gitcluster demo                                     cluster an embedded example
    gitcluster fit data.csv -c 3 -o labels.csv          three clusters
    gitcluster fit data.csv -o labels.csv --save model.npz
    gitcluster plot model.npz -o picture.png
    gitcluster profile model.npz data.csv               how do the clusters differ?
    gitcluster explain model.npz 17                     why is row 17 in its cluster?
    gitcluster diff before.npz after.npz                what happened to the clusters?

    Tables are CSV, TSV, JSON, Parquet, Arrow, NPY, NPZ or Excel files, compressed or not; - is the standard input
    or output.
    Exit codes: 0 success, 1 an error in the data or files, 2 wrong usage, 130 interrupted.
    """


# -- Commands that write labels ----------------------------------------------------------------------------------------


@app.command(short_help="Cluster the rows of a table.")
@click.argument("table", metavar="TABLE")
@model_options
@score_options
@history_options
@group("Output", option("--save", metavar="FILE.npz", help="Save the model for the other commands."))
@label_options
def fit(table: str, save: str | None, previous: str | None, edits: tuple[str, ...], **options: Any) -> None:
    """Cluster the rows of TABLE (a file, or - for the standard input).

    Without -o, labels go to the standard output if it is a pipe or a file. In a terminal they are not shown.

    \b
    gitcluster fit data.parquet -c 3 -o labels.csv
    gitcluster fit data.csv --id customer --exclude 'note*' -o labels.csv --save model.npz
    gitcluster fit data.csv --proportions 1:0.5:0.1 --probabilities -o labels.parquet
    gitcluster fit march.csv --id customer --previous february.npz --save march.npz -o march_labels.csv
    cat data.csv | gitcluster fit - -c 3 > labels.csv
    """
    save = save and str(Path(save) if Path(save).suffix else Path(save).with_suffix(".npz"))
    output, screen = _prepare(options, [table, *edits], save)
    estimator = make_estimator(options)
    earlier = Fitted.load(previous).model if previous else None
    read_in = read(table, options, screen)
    if (previous or edits) and read_in.ids is not None and not read_in.ids.is_unique:
        twice = read_in.ids[read_in.ids.duplicated()].iloc[0]
        raise TableError(f"--id {options['id']} must identify the rows, but {twice!r} occurs twice in {table}.")
    model = fit_table(estimator, read_in, screen, previous=earlier, edits=list(edits) or None)
    if options["stability"]:
        add_stability(model, read_in, screen)
    with screen.bar("Writing", "write"):
        if save:
            facts = TableFacts.of(read_in, options, command_line())
            model.save(save, notes=facts._asdict())
        if output:
            labels = _label(
                read_in, model.clustering_, model.labels_, model.probabilities_, model.outlier_scores_, options
            )
            write_table(output, [labels])
    result, summary = _fit_result(model, read_in, screen)
    _print_result(options, screen, output, result | {"input": table, "model": save}, summary)
    if save:
        row = read_in.row_names.iloc[0]
        screen.say(f"Model:  {save}", f"Next:   gitcluster explain {save} {row}, gitcluster plot {save} -o picture.png")
    elif not output:
        screen.say(f"To keep the labels: gitcluster fit {table} ... -o labels.csv")


def command_line() -> str:
    """Return the running command as it was typed."""
    return shlex.join(["gitcluster", *(click.get_current_context().obj or [])])


def _prepare(options: dict[str, Any], sources: list[str | None], save: str | None = None) -> tuple[str | None, Screen]:
    """Return the target of the labels and the screen; raise before any work if a target cannot be written."""
    output = options["output"]
    if output is not None and open_number(output) == 1:
        output = STANDARD
    if options["as_json"] and output == STANDARD:
        raise click.UsageError("--json and -o - both write to the standard output. Name a file for the labels.")
    if output is None and not options["as_json"] and not sys.stdout.isatty() and save is None:
        output = STANDARD
    check_targets(output, sources, save=save)
    return output, Screen(quiet=options["quiet"] or options["as_json"], on_error_stream=output == STANDARD)


def _print_result(
    options: dict[str, Any], screen: Screen, output: str | None, result: dict[str, Any], summary: list[Any]
) -> None:
    """Print one JSON object for a script, or a summary for a person."""
    if options["as_json"]:
        seconds = {phase: round(seconds, 3) for phase, seconds in screen.seconds.items()}
        print_result({**result, "seconds": seconds, "output": output})
    else:
        screen.say(*summary, *([f"Labels: {output}"] if output and output != STANDARD else []))


def _label(
    table: Table, clustering: Clustering, labels: Any, shares: Any, scores: Any, options: dict[str, Any]
) -> pd.DataFrame:
    """Return labels as a table to write: beside the names of the rows, or beside the columns of the table."""
    titles = clustering.titles
    named = {"cluster_name": [titles[c] for c in labels.tolist()]} if clustering.cluster_names else {}
    shares, scores = (np.asarray(values, dtype=np.float64).round(4) for values in (shares, scores))
    if table.whole is not None:
        return add_labels(table.whole, table.rows, labels, **named, membership=shares, outlier_score=scores)
    names = pd.DataFrame({table.id_name or "row": table.row_names})
    more = {"probability": shares, "outlier_score": scores} if options["probabilities"] else {}
    return add_labels(names, names.index, labels, **named, **more)


def _fit_result(model: GIT, table: Table, screen: Screen) -> tuple[dict[str, Any], list[Any]]:
    """Return the result of a fit for ``--json``, and the summary for a person."""
    counts, row_words = _count_rows(len(table.data), table.dropped, table.lines, table.empty)
    result = {
        **counts,
        "features": list(table.data.columns),
        "n_clusters": model.n_clusters_,
        "clusters": model.cluster_ids_,
        "names": {str(number): name for number, name in model.cluster_names_.items()},
        "sizes": [int((model.labels_ == number).sum()) for number in model.cluster_ids_],
        "proportions": model.proportions_.round(6),
        "noise": int((model.labels_ < 0).sum()),
        "n_neighbors": model.n_neighbors_,
        "local_clusters": len(model.peaks_),
        "summary": summarize(model.clustering_, advice=False),
    }
    rows = [
        [p.title, f"{p.rows:,}", f"{p.share:.1%}", ", ".join(p.differences())]
        for p in model.profile(table.data, rules=False)
    ]
    summary: list[Any] = [
        summarize(model.clustering_, advice=False),
        text_table("Clusters", ["cluster", "rows", "share", "largest differences (elsewhere)"], rows, left=(3,)),
    ]
    columns = model.clustering_.columns
    if columns is not None and (columns.encoded or any(c.missing or c.unread for c in columns)):
        result["columns"] = {
            c.name: {"kind": c.kind, "used": c.used, "missing": c.missing, "done": c.describe()} for c in columns
        }
        summary.append(text_table("Columns", ["column", "use"], [list(c) for c in column_lines(columns)], left=(0, 1)))
    took = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in screen.seconds.items())
    summary += [row_words, f"Neighbours: {model.n_neighbors_}; local clusters: {len(model.peaks_)}; {took}"]
    return result, summary


def _count_rows(labelled: int, dropped: int, lines: int, empty: int) -> tuple[dict[str, int], str]:
    """Return the numbers of rows and lines for ``--json`` and in words; only text tables have lines."""
    counts = {"rows": labelled, "read_rows": labelled + dropped, "dropped_rows": dropped}
    counts |= {"lines": lines, "empty_lines": empty} if lines else {}
    words = f"Rows read: {labelled + dropped:,}" + (f" in {lines:,} lines" if lines else "")
    words += (f" ({empty:,} empty)" if empty else "") + f"; labelled: {labelled:,}"
    return counts, words + (f"; dropped: {dropped:,} with missing numbers" if dropped else "")


def _sizes_table(title: str, sizes: dict[int, int], titles: dict[int, str]) -> Any:
    """Return a table of the sizes of clusters by their numbers; noise (-1) is last, if there is any."""
    total = max(1, sum(sizes.values()))
    shown = [(titles.get(c, str(c)), n) for c, n in sorted(sizes.items()) if c >= 0]
    shown += [("noise", sizes[-1])] if sizes.get(-1) else []
    return text_table(title, ["cluster", "rows", "share"], [[name, f"{n:,}", f"{n / total:.1%}"] for name, n in shown])


@app.command(short_help="Label new rows with a saved model.")
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@score_options
@label_options
def predict(model: str, table: str, **options: Any) -> None:
    """Predict the clusters of the rows of TABLE with a saved MODEL.

    The columns are those of the fit, matched by name. A CSV, Parquet or NPY file may be larger than memory. Far from
    all rows of the fit, memberships are low and outlier scores near 1.

    gitcluster predict model.npz new.csv -o labels.csv
    """
    output, screen = _prepare(options, [model, table])
    fitted = Fitted.load(model)
    chosen, reading = fitted.reading(options)
    clustering = fitted.model.clustering_
    counts, tally = Counter[int](dict.fromkeys(clustering.cluster_ids.tolist(), 0)), Counter[str]()

    def label_blocks(advance: Callable[[float], None]) -> Iterator[pd.DataFrame]:
        """Yield the labels of every block of the table, and count rows."""
        for block in iterate_table(table, chosen, advance=advance, maybe_id=fitted.facts.id, **reading):
            drops = chosen["missing"] == "drop" and fitted.columns is not None
            part = drop_missing(block, fitted.columns) if drops else block
            labels, shares, scores = np.empty(0, np.int64), np.empty(0), np.empty(0, np.float32)
            if len(part.data):
                samples = part.data if fitted.columns is not None else as_numbers(part.data).to_numpy()
                described = fitted.model.predict_samples(samples)
                labels, scores = described.labels, described.outlier_scores
                shares = own_shares(clustering, described)
            counts.update(labels.tolist())
            tally.update(dropped=part.dropped, lines=part.lines, empty=part.empty,
                         far_out=int((scores > clustering.fitted.far_out).sum()))  # fmt: skip
            yield _label(part, clustering, labels, shares, scores, options)

    with screen.bar(f"Labelling {table}", "predict") as update:
        if output:
            write_table(output, label_blocks(update))
        else:
            deque(label_blocks(update), maxlen=0)
    result, row_words = _count_rows(counts.total(), tally["dropped"], tally["lines"], tally["empty"])
    summary = [
        _sizes_table(
            f"{result['rows']:,} rows of {table} in {screen.seconds['predict']:.1f} s", counts, clustering.titles
        ),
        row_words,
    ]
    if tally["far_out"]:
        summary.append(
            f"Far from the rows of the fit: {count_of(tally['far_out'], 'row')}, with an outlier score above "
            f"{clustering.fitted.far_out:.2f} (--probabilities writes the scores)."
        )
    more = {
        "clusters": clustering.cluster_ids,
        "sizes": [counts[number] for number in clustering.cluster_ids.tolist()],
        "noise": counts[-1],
        "far_out": tally["far_out"],
        "model": model,
        "input": table,
    }
    _print_result(options, screen, output, result | more, summary)


@app.command(short_help="Choose another number of clusters without a new fit.")
@click.argument("model", metavar="MODEL")
@data_argument
@prior_options
@label_options
def cut(model: str, data: str | None, n_clusters: int | None, proportions: Any, **options: Any) -> None:
    """Return other labels of a saved MODEL: another number of clusters, or other proportions. No search is repeated.

    With the TABLE of the fit, write the table with the new labels.

    \b
    gitcluster cut model.npz -c 5 -o labels5.csv
    gitcluster cut model.npz customers.csv -c 5 -o customers5.csv
    gitcluster cut model.npz --proportions 2:1:1 -o labels.csv
    """
    if n_clusters is None and proportions is None:
        raise click.UsageError("Name a number of clusters, -c 5, or --proportions 2:1:1.")
    output, screen = _prepare(options, [model, data])
    options["with_data"] = data is not None
    fitted, table = open_fitted(model, data, options, screen, None)
    with screen.bar("Cutting", "cut"):
        labels = fitted.model.cut(n_clusters=n_clusters, proportions=proportions)
    written = pd.DataFrame({fitted.facts.id or "row": fitted.row_names})
    rows, scores = written.index, dict[str, Any]()
    if table is not None and table.whole is not None:
        written, rows = table.whole, table.rows
        scores = {"outlier_score": fitted.model.outlier_scores_.astype(np.float64).round(4)}
    if output:
        write_table(output, [add_labels(written, rows, labels, **scores)])
    numbers, counts = np.unique(labels[labels >= 0], return_counts=True)
    noise = len(labels) - int(counts.sum())
    result = {"rows": len(labels), "n_clusters": len(numbers), "clusters": numbers, "sizes": counts, "noise": noise,
              "proportions": (counts / len(labels)).round(6), "model": model}  # fmt: skip
    sizes = dict(zip(numbers.tolist(), counts.tolist(), strict=True)) | {-1: noise}
    title = f"{len(labels):,} rows, {count_of(len(numbers), 'cluster')}"
    titles = fitted.clustering.titles if len(numbers) == fitted.clustering.n_clusters else {}
    _print_result(options, screen, output, result, [_sizes_table(title, sizes, titles)])


# -- Commands that show a clustering -----------------------------------------------------------------------------------


def _open(source: str, data: str | None, options: dict[str, Any]) -> tuple[Fitted, Table | None, Screen]:
    """Return a saved model, or fit a table now; and the screen."""
    screen = Screen(quiet=options["quiet"] or options.get("as_json", False))
    fitted, table = open_fitted(source, data, options, screen, make_estimator(options))
    if options["stability"] and fitted.clustering.stability is None:
        add_stability(fitted.model, table, screen)
    return fitted, table, screen


@app.command(short_help="Describe the differences between clusters.")
@source_argument
@data_argument
@group("Output", option("-o", "--output", metavar="FILE", help="Write a table: one row per cluster and column."))
@show_options
@json_option
def profile(source: str, data: str | None, output: str | None, **options: Any) -> None:
    """Compare every cluster with all other rows and with the nearest cluster, and list a few rules for it.

    \b
    gitcluster profile model.npz data.csv
    gitcluster profile data.csv -c 3 -o profile.csv
    """
    check_targets(output, [source, data])
    fitted, table, screen = _open(source, data, options)
    with screen.bar("Comparing clusters", "profile"):
        profiles = fitted.model.profile(None if table is None else table.data)
    if output:
        write_table(output, [profiles.to_frame()])
    if options["as_json"]:
        rules = json.loads(profiles.rules_frame().to_json(orient="records"))
        print_result({"columns": json.loads(profiles.to_frame().to_json(orient="records")), "rules": rules})
    elif not options["quiet"] and output != STANDARD:
        print_result(str(profiles))


@app.command(short_help="Explain the cluster of a row, or of two rows.")
@source_argument
@click.argument("rows", nargs=-1, required=True, metavar="ROW [ROW]")
@option("--details", is_flag=True, help="Add peaks, local clusters and edges of the topo-graph.")
@show_options
@json_option
def explain(source: str, rows: tuple[str, ...], **options: Any) -> None:
    """Explain why a ROW is in its cluster or why two rows are in the same cluster or in different ones.

    A row is its number, counted from 0 without the header, or its id if the fit had --id.

    \b
    gitcluster explain model.npz 17
    gitcluster explain model.npz 17 42
    """
    if len(rows) > 2:
        raise click.UsageError(f"One or two rows can be explained, got {len(rows)}.")
    fitted, _, _ = _open(source, None, options)
    samples = [fitted.find_row(row) for row in rows]
    explanation = explain_rows(fitted.clustering, *samples, details=options["details"])
    if options["as_json"]:
        differences = [difference._asdict() for difference in explanation.differences]
        print_result({"rows": rows, "samples": samples, "text": str(explanation), "differences": differences})
    else:
        print_result(str(explanation))


@app.command(short_help="Draw a plot.")
@source_argument
@data_argument
@group(
    "Output",
    option("--kind", type=choice(PLOTS), default="clusters", show_default=True, help="The plot to draw."),
    option("-o", "--output", default="gitcluster.png", show_default=True, metavar="FILE", help="PNG, SVG or PDF."),
)
@show_options
def plot(source: str, data: str | None, kind: str, output: str, **options: Any) -> None:
    """Draw a saved MODEL, or a TABLE that is clustered now.

    \b
    gitcluster plot model.npz -o picture.png
    gitcluster plot model.npz data.csv --kind topo-graph -o graph.pdf
    gitcluster plot data.csv -c 3 -o picture.svg
    """
    check_targets(output, [source, data], suffixes=PICTURES)
    fitted, table, screen = _open(source, data, options)
    with screen.bar("Drawing", "draw"):
        require("matplotlib", extra="cli", purpose="A picture").use("Agg")  # no window
        from matplotlib import pyplot

        from gitcluster import plots

        draw = getattr(plots, "plot_" + kind.replace("-", "_"))
        samples = {"X": table.data} if table is not None and "X" in inspect.signature(draw).parameters else {}
        figure = draw(fitted.model, **samples).figure
        pyplot.close(figure)
        # Encoders of pictures hide the error of a full disk.
        figure.savefig(buffer := io.BytesIO(), format=Path(output).suffix[1:].lower(), dpi=150, bbox_inches="tight")
        with atomic_write(output) as file:
            file.write(buffer.getvalue())
    screen.say(f"Picture: {Path(output).resolve()}")


@app.command(short_help="Write a page to explore in a browser.")
@source_argument
@data_argument
@group(
    "Output", option("-o", "--output", default="explorer.html", show_default=True, metavar="FILE.html"), title_option
)
@show_options
def explore(source: str, data: str | None, output: str, title: str | None, **options: Any) -> None:
    """Write a page to explore a clustering in a browser, and print its path.

    \b
    gitcluster explore model.npz data.csv -o explorer.html
    gitcluster explore data.csv -c 3
    """
    check_targets(output, [source, data], suffixes=PAGES)
    fitted, table, screen = _open(source, data, options)
    ids = fitted.facts.ids if table is None or table.ids is None else table.ids.astype(str).to_numpy(dtype=object)
    with screen.bar("Writing the page", "write"):
        write_explorer(
            fitted.model, None if table is None else table.data, output, names=None if ids is None else list(ids),
            title=escape_control(title or Path(data or source).name),
        )  # fmt: skip
    screen.say(f"Page: {Path(output).resolve()}")


@app.command(short_help="Write a report as an HTML page.")
@source_argument
@data_argument
@group("Output", option("-o", "--output", default="report.html", show_default=True, metavar="FILE.html"), title_option)
@show_options
def report(source: str, data: str | None, output: str, title: str | None, **options: Any) -> None:
    """Write an HTML page with the sizes and differences of the clusters, their number, the topo-graph and the outliers.

    For a PDF, open the page in a browser and print it.

    \b
    gitcluster report data.csv -c 3 -o report.html
    gitcluster report model.npz data.csv
    """
    check_targets(output, [source, data], suffixes=PAGES)
    fitted, table, screen = _open(source, data, options)
    if table is None:
        raise click.UsageError(f"A report needs the table as well: gitcluster report {source} data.csv -o {output}")
    with screen.bar("Writing the report", "write") as update, atomic_write(output) as file:
        page = make_report(
            fitted, table, title=title or Path(data or source).name,
            commands=[fitted.facts.command, command_line()], advance=update,
        )  # fmt: skip
        file.write(page.encode())
    screen.say(f"Report: {Path(output).resolve()}")


@app.command(short_help="Compare two clusterings, or new rows with a model.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@data_argument
@group("Output", option("-o", "--output", metavar="FILE.html", help="Write a page with a picture and all rows."))
@table_options
@json_option
@quiet_option
def diff(before: str, after: str, data: str | None, output: str | None, **options: Any) -> None:
    """Show what happened to the clusters of BEFORE in AFTER.

    BEFORE and AFTER are saved models, or tables with a column "cluster". AFTER may also be a table of new rows, to see
    whether they still fit a model. TABLE has the columns of AFTER, for models that do not store them.

    \b
    gitcluster diff february.npz march.npz -o diff.html
    gitcluster diff february_labels.csv march_labels.csv --id customer
    gitcluster diff february.npz march.csv
    """
    check_targets(output, [before, after, data], suffixes=PAGES)
    screen = Screen(quiet=options["quiet"] or options["as_json"])
    first = _open_side(before, options, screen, None)
    second = _open_side(after, options, screen, first)
    X = None
    if data is not None and not isinstance(second, Fitted):
        raise click.UsageError(f"AFTER must be a model if its TABLE is given, got {after}.")
    if data is not None:
        model = second if isinstance(second, Fitted) else first
        table = read(data, options, screen, model if isinstance(model, Fitted) else None)
        X = table.data if table.ids is None else table.data.set_axis(table.ids.astype(str), axis=0)
    sides = [side.model if isinstance(side, Fitted) else side for side in (first, second)]
    with screen.bar("Comparing", "compare"):
        comparison = compare(sides[0], sides[1], X)
    if output:
        title = f"{Path(before).name} and {Path(after).name}"
        page = make_comparison_page(comparison, title=title, command=command_line())
        with atomic_write(output) as file:
            file.write(page.encode())
    if options["as_json"]:
        frames = {"clusters": comparison.to_frame(), "rows": comparison.rows_frame().reset_index()}
        tables = {name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()}
        events = [{"kind": event.kind, "before": event.before, "after": event.after, "text": event.text}
                  for event in comparison.events]  # fmt: skip
        agreement = comparison.agreement if comparison.n_common else None
        print_result({"text": str(comparison), "agreement": agreement, "events": events, **tables})
    elif not options["quiet"]:
        print_result(str(comparison))
    if output:
        screen.say(f"Page: {Path(output).resolve()}")


def _open_side(path: str, options: dict[str, Any], screen: Screen, before: Any) -> Any:
    """Return one side of a comparison: a saved model, labels by row, or new rows for the model ``before``."""
    if is_model(path):
        return Fitted.load(path)
    names = names_in_file(path, options)
    if "cluster" in names:
        chosen = {**options, "columns": ("cluster",), "exclude": ()}
        if options["id"] is None:
            usual = before.facts.id if isinstance(before, Fitted) else None
            chosen["id"] = next((name for name in (usual, "row") if name in names), None)
        table = read(path, chosen, screen)
        index = None if table.ids is None else pd.Index(table.ids.astype(str))
        return pd.DataFrame({"cluster": table.data["cluster"].to_numpy()}, index=index)
    if not isinstance(before, Fitted):
        raise TableError(f"{path} is neither a saved model nor a table with a column 'cluster'.")
    options = {**options, "id": options["id"] or (before.facts.id if before.facts.id in names else None)}
    table = read(path, options, screen, before)
    samples = table.data if before.columns is not None else as_numbers(table.data)
    return samples if table.ids is None else samples.set_axis(table.ids.astype(str), axis=0)


# -- Commands without a table ------------------------------------------------------------------------------------------


@app.command(short_help="Cluster an embedded example.")
@click.option("-o", "--output", metavar="FILE.csv", help="Also write the example as a table.")
def demo(output: str | None) -> None:
    """Cluster an embedded example, and show a picture and a table of it."""
    check_targets(output, [])
    show_demo()
    if output:
        write_table(output, [pd.DataFrame(make_example(), columns=["x", "y"]).round(4)])
        click.echo(f"The example: {output}")
