"""The commands and options of ``gitcluster``.

To add an option, write one ``option(...)`` line: in one of the groups below, which are the headings in the help, or
above a command. Options of the estimator are read by ``make_estimator``, those of tables by ``tables``.
"""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from gitcluster import GIT, __version__, compare
from gitcluster._support.files import atomic_write
from gitcluster._support.names import count_of, escape_control
from gitcluster._support.optional import require
from gitcluster.cli.demo import make_example, show_demo
from gitcluster.cli.models import (
    fit_table,
    is_model,
    open_model,
    read_model,
    read_samples,
)
from gitcluster.cli.report import make_comparison_page, make_report
from gitcluster.cli.tables import SEPARATORS, STANDARD, Table, TableError, load_table
from gitcluster.cli.terminal import Screen, text_table
from gitcluster.cli.writing import TABLES, TEXTS, add_columns, check_targets, write_table
from gitcluster.explorer import write_explorer
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.summary import summarize

PLOTS = ("clusters", "topo-graph", "hierarchy", "n-clusters", "profile")
PARAMETERS = (
    "n_clusters", "proportions", "n_neighbors", "metric", "scale", "noise", "variant", "min_cluster_size",
    "max_cluster_size", "n_jobs",
)  # fmt: skip
"""Options that are parameters of the estimator."""
PICTURES, PAGES = (".png", ".svg", ".pdf", ".jpg", ".webp"), (".html", ".htm")
OTHER, MAX_COLUMNS = "Other options", 30
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


share_type = parsed(lambda value: value if value == "auto" else float(value), "a number or 'auto'")
proportions_type = parsed(
    lambda value: value if value == "equal" else [float(part) for part in re.split("[:,]", value)],
    "proportions such as 1:0.5:0.1, or 'equal'",
)
weight_type = parsed(
    lambda value: (value[: value.rindex("=")], float(value[value.rindex("=") + 1 :])),
    "a name and a number such as income=0.5",
)


def group(title: str | None, *options: Decorator) -> Decorator:
    """Return several options as one decorator; the help shows them below the title."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
            if title:
                function.__click_params__[-1].group = title  # type: ignore[attr-defined]
        return function

    return decorate


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
    option("--previous", metavar="MODEL", help="Earlier model whose numbers and names the clusters keep."),
    option("--edits", multiple=True, metavar="FILE.json", help="Edits that the explorer saved."),
)
bound_options = group(
    "Prior knowledge",
    option("--min-size", "min_cluster_size", type=int, help="Smallest number of rows in a cluster."),
    option("--max-size", "max_cluster_size", type=int, help="Largest number of rows in a cluster."),
    option("--noise", type=share_type, metavar="SHARE", help="Share of rows to label -1, or auto."),
)
method_options = group(
    "Method",
    option("--n-neighbors", type=click.IntRange(1), metavar="N", help="Number of neighbours. Selected by default."),
    option("--metric", default="euclidean", show_default=True, metavar="NAME",
           help="Distance: any metric of scikit-learn's NearestNeighbors."),
    option("--scale", type=choice(["auto", "std", "components", "none"]), default="auto", show_default=True,
           help="Scaling of columns; components: principal components with 90 % of the variance."),
    option("--variant", type=choice(["adaptive", "paper", "authors"]), default="adaptive", show_default=True,
           help="Adaptive needs no tuning; the others are the published versions."),
    option("--stability", is_flag=True, help="Also cluster 50 half-samples, to see which clusters are stable."),
    option("--jobs", "n_jobs", type=int, default=-1, show_default=True, help="Threads; -1 for all processors."),
)  # fmt: skip
column_options = group(
    "Columns",
    option("--columns", multiple=True, metavar="NAMES",
           help="Columns to cluster by: names or patterns (x_*), separated by commas."),
    option("--exclude", multiple=True, metavar="NAMES", help="Columns to leave out: names or patterns."),
    option("--categorical", multiple=True, metavar="NAMES", help="Categories written as numbers, such as zip codes."),
    option("--ordinal", multiple=True, metavar="NAME=A,B,C", help="A column of categories in their order."),
    option("--log", multiple=True, metavar="NAMES", help="Columns to use on a log scale, such as incomes."),
    option("--weight", multiple=True, type=weight_type, metavar="NAME=NUMBER",
           help="Weight of a column in distances; 1 by default."),
    option("--id", metavar="NAME", help="Column that identifies the rows; the output keeps it."),
    option("--na", multiple=True, metavar="TEXT", help="Text that marks a missing value, such as -99."),
)  # fmt: skip
format_options = group(
    "Format of the table",
    option("--separator", type=choice([*SEPARATORS]), help="Separator of the fields. Detected by default."),
    option("--skip-rows", type=click.IntRange(0), default=0, metavar="N", help="Lines to skip above the header."),
    option("--decimal", type=choice([".", ","]), help="Decimal mark of texts. Detected for each column by default."),
    option("--encoding", metavar="NAME", help="Encoding. By default UTF-8, else cp1252."),
    option("--no-header", is_flag=True, help="The first line of a text table contains values, not names."),
    option("--sheet", metavar="NAME", help="Sheet of an Excel workbook. By default the first."),
)  # fmt: skip
output_option = group(
    "Output",
    option("-o", "--output", metavar="FILE", help="File for the labels; the suffix selects CSV, TSV, Parquet, Arrow, "
           "NPY or Excel. - is the standard output."),
)  # fmt: skip
score_options = group(
    "Output",
    option("--probabilities", is_flag=True, help="Also write memberships in the clusters and outlier scores."),
    option("--with-data", is_flag=True, help="Write the whole table with cluster, membership and outlier_score."),
)
json_option = option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary.")
quiet_option = option("-q", "--quiet", is_flag=True, help="Print no summary and no progress.")


def make_estimator(options: dict[str, Any]) -> GIT:
    """Return the estimator that the options describe."""
    given = {name: options[name] for name in PARAMETERS if options[name] is not None}
    return GIT(**given | ({"scale": None} if options["scale"] == "none" else {}))


model_argument = click.argument("model", metavar="MODEL")
table_argument = click.argument("table", metavar="TABLE")
data_argument = click.argument("data", metavar="[TABLE]", required=False)
table_options = group(None, column_options, format_options)
result_options = group(None, json_option, quiet_option)
show_options = group(None, format_options, quiet_option)


class Commands(click.Group):
    """A group that lists its commands in the order of use."""

    command_class = GroupedCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gitcluster")
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

    Tables are CSV, TSV, Parquet, Arrow, NPY or Excel files; - is the standard input or output.

    Exit codes: 0 success, 1 an error in the data or files, 2 wrong usage, 130 interrupted.
    """


# -- Commands that write labels ----------------------------------------------------------------------------------------


@app.command(short_help="Cluster the rows of a table.")
@table_argument
@prior_options
@bound_options
@method_options
@score_options
@history_options
@group("Output", option("--save", metavar="FILE.npz", help="Save the model for the other commands."))
@output_option
@table_options
@result_options
def fit(table: str, save: str | None, previous: str | None, edits: tuple[str, ...], **options: Any) -> None:
    """Cluster the rows of TABLE (a file, or - for the standard input).

    Without -o or --save, labels go to the standard output if it is a pipe or a file.

    \b
    gitcluster fit data.parquet -c 3 -o labels.csv
    gitcluster fit data.csv --id customer --exclude 'note*' -o labels.csv --save model.npz
    gitcluster fit march.csv --id customer --previous february.npz --save march.npz -o march_labels.csv
    cat data.csv | gitcluster fit - -c 3 > labels.csv
    """
    output, screen = _prepare(options, [table, previous, *edits], save)
    model, earlier = make_estimator(options), read_model(previous) if previous else None
    read = fit_table(model, table, options, screen, previous=earlier, edits=list(edits) or None)
    with screen.status("Writing"):
        if save:
            model.save(save)
        if output:
            write_table(output, _label(read, model.clustering_, model.labels_, model.probabilities_,
                                       model.outlier_scores_, options))  # fmt: skip
    result = _count(model.labels_, model.cluster_ids_) | {
        "features": list(read.data.columns), "names": dict(model.cluster_names_), "n_neighbors": model.n_neighbors_,
        "proportions": model.proportions_.round(6), "summary": summarize(model.clustering_, advice=False),
        "columns": {c.name: c.describe() for c in model.clustering_.columns or ()},
        "lines": read.lines, "empty_lines": read.empty, "input": table, "model": save, "output": output,
    }  # fmt: skip
    screen.show(result, *_fit_summary(model, read))
    if save:
        row = 0 if read.ids is None else read.ids.iloc[0]
        screen.say(f"Model:  {save}", f"Next:   gitcluster explain {save} {row}, gitcluster plot {save} -o picture.png")
    elif not output:
        screen.say(f"To keep the labels: gitcluster fit {table} ... -o labels.csv")


def _prepare(options: dict[str, Any], sources: list[str | None], save: str | None = None) -> tuple[str | None, Screen]:
    """Return the target of the labels and the screen; raise before any work if a target cannot be written."""
    output = STANDARD if options["output"] == "/dev/stdout" else options["output"]
    if options["as_json"] and output == STANDARD:
        raise click.UsageError("--json and -o - both write to the standard output. Name a file for the labels.")
    if output is None and not options["as_json"] and not sys.stdout.isatty() and save is None:
        output = STANDARD
    check_targets(output, sources, TEXTS + TABLES, save=save)
    return output, Screen(options, on_error_stream=output == STANDARD)


def _label(
    table: Table, clustering: Clustering, labels: Any, shares: Any, scores: Any, options: dict[str, Any]
) -> pd.DataFrame:
    """Return labels as a table to write: beside the names of the rows, or beside the columns of the table."""
    names = pd.DataFrame({"row": range(len(labels))}) if table.ids is None else table.ids.to_frame()
    added = {"cluster": labels}
    if clustering.cluster_names:
        added["cluster_name"] = [clustering.titles[c] for c in labels.tolist()]
    if options["probabilities"] or options["with_data"]:
        added["membership"], added["outlier_score"] = (np.round(x, 4).astype(float) for x in (shares, scores))
    return add_columns(table.whole if options["with_data"] else names, added)


def _count(labels: Any, numbers: Any) -> dict[str, Any]:
    """Return the sizes of the clusters of these numbers, for ``--json``."""
    sizes = [int((labels == number).sum()) for number in numbers]
    noise = int((labels < 0).sum())
    return {"rows": len(labels), "n_clusters": len(numbers), "clusters": numbers, "sizes": sizes, "noise": noise}


def _size_table(title: str, result: dict[str, Any], titles: dict[int, str]) -> Any:
    """Return the sizes of clusters as a table; noise is last, if there is any."""
    sizes = zip(result["clusters"].tolist(), result["sizes"], strict=True)
    shown = [(titles.get(c, str(c)), n) for c, n in sizes] + [("noise", result["noise"])] * bool(result["noise"])
    rows = [[name, f"{n:,}", f"{n / result['rows']:.1%}"] for name, n in shown]
    return text_table(title, ["cluster", "rows", "share"], rows)


def _row_words(table: Table) -> str:
    """Return the numbers of rows, of lines and of empty lines; formats other than text have no lines."""
    words = f"Rows read: {len(table.data):,}" + (f" in {table.lines:,} lines" if table.lines else "")
    return words + (f" ({table.empty:,} empty)" if table.empty else "")


def _fit_summary(model: GIT, table: Table) -> list[Any]:
    """Return the summary of a fit for a person."""
    rows = [
        [p.title, f"{p.rows:,}", f"{p.share:.1%}", ", ".join(p.differences())]
        for p in model.profile(table.data, rules=False)
    ]
    headings = ["cluster", "rows", "share", "largest differences (elsewhere)"]
    summary: list[Any] = [
        summarize(model.clustering_, advice=False), text_table("Clusters", headings, rows, left=(3,)),
    ]  # fmt: skip
    uses = [[column.name, column.describe()] for column in model.clustering_.columns or ()]
    uses = [use for use in uses if use[1] != "number"]
    if uses:
        more = f" ({len(uses) - MAX_COLUMNS} more are in the report)" if len(uses) > MAX_COLUMNS else ""
        summary.append(text_table(f"Columns{more}", ["column", "use"], uses[:MAX_COLUMNS], left=(0, 1)))
    return [*summary, _row_words(table)]


@app.command(short_help="Label new rows with a saved model.")
@model_argument
@table_argument
@score_options
@output_option
@table_options
@result_options
def predict(model: str, table: str, **options: Any) -> None:
    """Predict the clusters of the rows of TABLE with a saved MODEL.

    Columns are matched by name. Rows far from all rows of the fit have low memberships and outlier scores near 1.

    gitcluster predict model.npz new.csv -o labels.csv
    """
    output, screen = _prepare(options, [model, table])
    fitted = read_model(model)
    clustering = fitted.clustering_
    read, samples = read_samples(table, options, screen, fitted)
    with screen.status(f"Labelling {len(read.data):,} rows"):
        described = fitted.predict_samples(samples if clustering.columns is not None else samples.to_numpy())
        shares, scores = own_shares(clustering, described), described.outlier_scores
        if output:
            write_table(output, _label(read, clustering, described.labels, shares, scores, options))
    far_out = int((scores > clustering.fitted.far_out).sum())
    result = _count(described.labels, clustering.cluster_ids) | {
        "far_out": far_out, "lines": read.lines, "empty_lines": read.empty, "input": table, "model": model,
        "output": output,
    }  # fmt: skip
    far = (
        f"{count_of(far_out, 'row')} far from all rows of the fit: outlier score above {clustering.fitted.far_out:.2f}"
    )
    sizes = _size_table(f"{len(read.data):,} rows of {table}", result, clustering.titles)
    screen.show(result, sizes, _row_words(read), *([far] if far_out else []))


@app.command(short_help="Cut into another number of clusters, without a new fit.")
@model_argument
@prior_options
@output_option
@result_options
def cut(model: str, n_clusters: int | None, proportions: Any, **options: Any) -> None:
    """Write the labels of a saved MODEL for another number of clusters or other proportions, without a new fit.

    \b
    gitcluster cut model.npz -c 5 -o labels5.csv
    gitcluster cut model.npz --proportions 2:1:1 -o labels.csv
    """
    if n_clusters is None and proportions is None:
        raise click.UsageError("Set the number of clusters (-c 5) or --proportions 2:1:1.")
    output, screen = _prepare(options, [model])
    fitted = read_model(model)
    labels = fitted.cut(n_clusters=n_clusters, proportions=proportions)
    if output:
        index = fitted.clustering_.index
        rows = pd.DataFrame({fitted.notes_["id"] or "row": range(len(labels)) if index is None else index})
        write_table(output, add_columns(rows, {"cluster": labels}))
    result = _count(labels, np.unique(labels[labels >= 0])) | {"model": model, "output": output}
    title = f"{len(labels):,} rows, {count_of(result['n_clusters'], 'cluster')}"
    screen.show(result, _size_table(title, result, {}))


# -- Commands that show a clustering -----------------------------------------------------------------------------------


def _write(output: str, content: bytes, screen: Screen) -> None:
    """Write a page or picture, and print its path."""
    with atomic_write(output) as file:
        file.write(content)
    screen.say(f"Written: {Path(output).resolve()}")


@app.command(short_help="Describe the differences between clusters.")
@model_argument
@data_argument
@group("Output", option("-o", "--output", metavar="FILE", help="Write a table: one row per cluster and column."))
@show_options
@json_option
def profile(model: str, data: str | None, output: str | None, **options: Any) -> None:
    """Compare every cluster with all other rows and with the nearest cluster, and list a few rules.

    gitcluster profile model.npz data.csv
    """
    check_targets(output, [model, data], TEXTS + TABLES)
    fitted, X, screen = open_model(model, data, options)
    profiles = fitted.profile(X)
    if output:
        write_table(output, profiles.to_frame())
    screen.show({"columns": profiles.to_frame(), "rules": profiles.rules_frame()}, str(profiles))


@app.command(short_help="Explain the cluster of a row, or of two rows.")
@model_argument
@click.argument("rows", nargs=-1, required=True, metavar="ROW [ROW]")
@option("--details", is_flag=True, help="Add peaks, local clusters and edges of the topo-graph.")
@result_options
def explain(model: str, rows: tuple[str, ...], **options: Any) -> None:
    """Explain why a ROW is in its cluster, or why two rows share a cluster or not.

    Name a row by its number, counted from 0 without the header, or by its id if the fit had --id.

    \b
    gitcluster explain model.npz 17
    gitcluster explain model.npz 17 42
    """
    if len(rows) > 2:
        raise click.UsageError(f"One or two rows can be explained, got {len(rows)}.")
    fitted, _, screen = open_model(model, None, options)
    index = fitted.clustering_.index
    names = {str(name): name for name in (range(len(fitted.labels_)) if index is None else index.tolist())}
    for row in rows:
        if row not in names:
            kind = "the number" if index is None else "the id"
            raise TableError(f"ROW must be {kind} of a fitted row, such as {next(iter(names))}, got {row!r}.")
    explanation = fitted.explain(*(names[row] for row in rows), details=options["details"])
    differences = [difference._asdict() for difference in explanation.differences]
    screen.show({"rows": rows, "text": str(explanation), "differences": differences}, str(explanation))


@app.command(short_help="Draw a plot.")
@model_argument
@data_argument
@group(
    "Output",
    option("--kind", type=choice(PLOTS), default="clusters", show_default=True, help="Plot to draw."),
    option("-o", "--output", default="gitcluster.png", show_default=True, metavar="FILE", help="PNG, SVG or PDF."),
)
@show_options
def plot(model: str, data: str | None, kind: str, output: str, **options: Any) -> None:
    """Draw a saved MODEL.

    \b
    gitcluster plot model.npz -o picture.png
    gitcluster plot model.npz data.csv --kind topo-graph -o graph.pdf
    """
    check_targets(output, [model, data], PICTURES)
    fitted, X, screen = open_model(model, data, options)
    with screen.status("Drawing"):
        require("matplotlib", extra="cli", purpose="A picture").use("Agg")  # no window
        from matplotlib import pyplot

        from gitcluster import plots

        draw = getattr(plots, "plot_" + kind.replace("-", "_"))
        figure = draw(fitted, X).figure
        pyplot.close(figure)
        # Encoders of pictures hide the error of a full disk.
        figure.savefig(buffer := io.BytesIO(), format=Path(output).suffix[1:].lower(), dpi=150, bbox_inches="tight")
    _write(output, buffer.getvalue(), screen)


@app.command(short_help="Write a page to explore in a browser.")
@model_argument
@data_argument
@group("Output", option("-o", "--output", default="explorer.html", show_default=True, metavar="FILE.html"))
@show_options
def explore(model: str, data: str | None, output: str, **options: Any) -> None:
    """Write an HTML page to explore a clustering in a browser.

    gitcluster explore model.npz data.csv -o explorer.html
    """
    check_targets(output, [model, data], PAGES)
    fitted, X, screen = open_model(model, data, options)
    with screen.status("Writing the page"):
        write_explorer(fitted, X, output, title=escape_control(Path(data or model).name))
    screen.say(f"Written: {Path(output).resolve()}")


@app.command(short_help="Write a report as an HTML page.")
@model_argument
@table_argument
@group("Output", option("-o", "--output", default="report.html", show_default=True, metavar="FILE.html"))
@show_options
def report(model: str, table: str, output: str, **options: Any) -> None:
    """Write an HTML page with the sizes and differences of the clusters, their number, the topo-graph and the outliers.

    For a PDF, open the page in a browser and print it.

    gitcluster report model.npz data.csv -o report.html
    """
    check_targets(output, [model, table], PAGES)
    fitted, X, screen = open_model(model, table, options)
    with screen.status("Writing the report"):
        page = make_report(fitted, X, title=Path(table).name)
    _write(output, page.encode(), screen)


@app.command(short_help="Compare two clusterings, or new rows with a model.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@group("Output", option("-o", "--output", metavar="FILE.html", help="Write a page with a picture and all rows."))
@table_options
@result_options
def diff(before: str, after: str, output: str | None, **options: Any) -> None:
    """Show what happened to the clusters of BEFORE in AFTER.

    BEFORE and AFTER are saved models, or tables with a column "cluster". If BEFORE is a model, AFTER may also be
    a table of new rows, to check whether they still fit.

    \b
    gitcluster diff february.npz march.npz -o diff.html
    gitcluster diff february_labels.csv march_labels.csv --id customer
    gitcluster diff february.npz march.csv
    """
    check_targets(output, [before, after], PAGES)
    screen = Screen(options)
    first = _open_side(before, options, screen, None)
    second = _open_side(after, options, screen, first)
    with screen.status("Comparing"):
        comparison = compare(first, second)
    result = {"agreement": comparison.agreement if comparison.n_common else None, "clusters": comparison.to_frame(),
              "rows": comparison.rows_frame().reset_index()}  # fmt: skip
    screen.show(result, str(comparison))
    if output:
        page = make_comparison_page(comparison, title=f"{Path(before).name} and {Path(after).name}")
        _write(output, page.encode(), screen)


def _open_side(path: str, options: dict[str, Any], screen: Screen, before: Any) -> Any:
    """Return one side of a comparison: a saved model, labels by row, or new rows for the model ``before``."""
    if is_model(path):
        return read_model(path)
    usual = before.notes_["id"] if isinstance(before, GIT) else None
    plain = {**options, "usual_id": usual or "row", "columns": (), "exclude": ()}
    table = load_table(path, plain)
    if "cluster" in table.whole:
        if table.ids is None and list(table.whole).index("cluster") == 1:  # labels behind an id, as fit writes them
            table = table._replace(ids=table.whole.iloc[:, 0])
        return table.indexed[["cluster"]]
    if not isinstance(before, GIT):
        raise TableError(f"{path} is neither a saved model nor a table with a column 'cluster'.")
    if path == STANDARD:  # it is at its end, and the model reads the columns again
        raise TableError("AFTER must be a file, not the standard input, if its rows have no column 'cluster'.")
    return read_samples(path, options, screen, before)[1]


# -- Commands without a table ------------------------------------------------------------------------------------------


@app.command(short_help="Cluster an embedded example.")
@click.option("-o", "--output", metavar="FILE.csv", help="Also write the example as a table.")
def demo(output: str | None) -> None:
    """Cluster an embedded example, and show a picture and a table of it."""
    check_targets(output, [], TEXTS + TABLES)
    show_demo()
    if output:
        write_table(output, pd.DataFrame(make_example(), columns=["x", "y"]).round(4))
        click.echo(f"The example: {output}")
