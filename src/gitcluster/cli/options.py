"""Options that several commands share."""

import re
import shlex
from collections.abc import Callable
from typing import Any

import click

from gitcluster import GIT
from gitcluster._support.names import as_typed
from gitcluster.cli.choosing import ColumnOptions
from gitcluster.cli.text_tables import NO_QUOTE, SEPARATORS, TextStyle
from gitcluster.cli.writing import FORMATS

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "correlation", "canberra", "hamming", "precomputed")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def number_or_auto(kind: type) -> Callable[[str], Any]:
    """Return a type of option: a number, or "auto"."""

    def convert(value: str) -> Any:
        try:
            return value if value == "auto" else kind(value)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise click.BadParameter(f"{value!r} is neither {what} nor 'auto'.") from None

    return convert


def proportions_type(value: str) -> Any:
    """Return the shares of an option such as 1:0.5:0.1, or "equal"."""
    try:
        return value if value == "equal" else [float(part) for part in re.split("[:,]", value)]
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither shares such as 1:0.5:0.1 nor 'equal'.") from None


def bytes_type(value: str) -> float:
    """Return the bytes of an option such as 4GB."""
    found = re.fullmatch(r"(\d+\.?\d*) ?([kMGT]?)B?", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a size such as 500MB or 4GB.")
    return float(found[1]) * 1000.0 ** " kMGT".index(found[2] or " ")


def together(*options: Decorator) -> Decorator:
    """Return several options as one decorator."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def command_of(ctx: click.Context) -> str:
    """Return the running command as it could be typed."""
    words = ["gitcluster", str(ctx.command.name)]
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if value is None or value is False or value == () or value == parameter.default:
            continue
        option = next((name for name in parameter.opts if name.startswith("--")), parameter.opts[0])
        for one in value if isinstance(value, tuple) else [value]:
            text = [] if one is True else [":".join(f"{part:g}" for part in one) if isinstance(one, list) else str(one)]
            words += text if isinstance(parameter, click.Argument) else [option, *text]
    return shlex.join(words)


GROUPS = {
    "Prior knowledge": ("n_clusters", "proportions", "min_size", "max_size", "noise", "exact"),
    "Output": ("output", "output_format", "probabilities", "with_data", "save", "safe_formulas"),
    "Columns": ("columns", "exclude", "ignore", "categorical", "ordinal", "log", "weight", "id", "missing", "na"),
    "Method": ("n_neighbors", "metric", "no_scale", "pca", "variant", "jobs"),
    "Format of the table": (
        "separator", "skip_rows", "quote", "decimal", "encoding", "no_header", "input_format", "key", "sheet", "memory",
    ),
}  # fmt: skip
"""Options by subject, for the help; the others come last."""


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all groups that have options."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {option.name: record for option in options if (record := option.get_help_record(ctx))}
        groups = [(title, [records.pop(name) for name in names if name in records]) for title, names in GROUPS.items()]
        groups = [(title, rows) for title, rows in groups if rows]
        for title, rows in (*groups, ("Other options" if groups else "Options", list(records.values()))):
            with formatter.section(title):
                formatter.write_dl(rows)


data_argument = click.argument("data", metavar="[TABLE]", required=False)

table_options = together(
    click.option("--columns", multiple=True, metavar="NAMES",
                 help="Columns to cluster by: names or patterns (x_*), separated by commas."),
    click.option("--exclude", multiple=True, metavar="NAMES", help="Columns to leave out: names or patterns."),
    click.option("--ignore", multiple=True, metavar="NAMES", help="The same as --exclude."),
    click.option("--categorical", multiple=True, metavar="NAMES",
                 help="Columns of categories that look like numbers: zip codes."),
    click.option("--ordinal", multiple=True, metavar="NAME=A,B,C", help="A column of categories in their order."),
    click.option("--log", multiple=True, metavar="NAMES", help="Columns to use on a log scale: incomes."),
    click.option("--weight", multiple=True, metavar="NAME=NUMBER",
                 help="Weight of a column in distances; 1 by default."),
    click.option("--id", metavar="NAME", help="Column that identifies the rows; the output keeps it."),
    click.option("--missing", type=click.Choice(["impute", "drop", "error"]), help="Missing numbers: impute them from "
                 "the nearest rows (the default), drop these rows, or stop with an error. The model keeps the choice."),
    click.option("--na", multiple=True, metavar="TEXT", help="A further text that means a missing value: -99."),
    click.option("--separator", metavar="CHAR", help="Separator of the fields of a text table: a character, or "
                 f"{', '.join(SEPARATORS)}. Guessed by default."),
    click.option("--skip-rows", type=click.IntRange(0), metavar="N", help="Lines above the header of a text table. "
                 "Guessed by default."),
    click.option("--quote", metavar="CHAR", help="Quote around fields of a text table that contain separators or line "
                 "ends: a character, or none if quotes are part of the values. By default it is the double quote, and "
                 "a quote that seems to swallow rows is an error."),
    click.option("--decimal", metavar="CHAR", help="Decimal mark of numbers that are texts. Each column decides by "
                 "default."),
    click.option("--encoding", metavar="NAME", help="Encoding of a text table, such as cp1252. Guessed by default."),
    click.option("--no-header", is_flag=True, help="The first line of a text table holds values, not names."),
    click.option("--input-format", type=click.Choice(sorted(set(FORMATS.values()))),
                 help="Format of the table. Its first bytes decide by default."),
    click.option("--key", metavar="NAME", help="Array of an NPZ file, or file of a zip."),
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel workbook."),
    click.option("--memory", type=bytes_type, metavar="SIZE",
                 help="Memory to use at most, such as 4GB. All free memory by default."),
)  # fmt: skip

prior_options = together(
    click.option(
        "-c", "--n-clusters", type=number_or_auto(int), metavar="N", help="Number of clusters, or auto (the default)."
    ),
    click.option(
        "--proportions", type=proportions_type, metavar="A:B:C", help="Expected shares: 1:0.5:0.1, counts, or equal."
    ),
)

model_options = together(
    prior_options,
    click.option("--n-neighbors", type=number_or_auto(int), metavar="N", default="auto",
                 help="Number of neighbours, or auto."),
    click.option("--metric", default="euclidean", show_default=True, metavar="NAME",
                 shell_complete=lambda ctx, param, text: [name for name in METRICS if name.startswith(text)],
                 help="Distance: any metric of scikit-learn's NearestNeighbors."),
    click.option("--no-scale", is_flag=True, help="Use the columns without scaling."),
    click.option("--pca", is_flag=True, help="Measure distances in the principal components with 90 % of the "
                 "variance, for wide tables; explanations stay in your columns."),
    click.option("--noise", type=number_or_auto(float), metavar="SHARE",
                 help="Share of the rows that are labelled -1, or auto."),
    click.option("--variant", type=click.Choice(["adaptive", "paper", "authors"]), default="adaptive",
                 show_default=True, help="Adaptive needs no tuning; the others are the published method."),
    click.option("--min-size", type=int, help="A cluster has at least this many rows."),
    click.option("--max-size", type=int, help="A cluster has at most this many rows."),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Number of threads; -1 uses all processors."),
)  # fmt: skip

label_options = together(
    click.option("-o", "--output", metavar="FILE", help="File for the labels: CSV, TSV, JSON, Parquet, Arrow, NPY, NPZ "
                 "or Excel, by its name; - is the standard output."),
    click.option("--output-format", type=click.Choice(sorted(set(FORMATS.values()))),
                 help="Format of the labels. The name decides by default."),
    click.option("--safe-formulas", is_flag=True, help="Write an apostrophe before texts in CSV and TSV files that "
                 "spreadsheets would run as formulas (they begin with = + - @). Numbers are never changed. In Excel "
                 "files no text is a formula."),
)  # fmt: skip

voice_options = together(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary."),
    click.option("-q", "--quiet", is_flag=True, help="Print no summary and no progress."),
)


def columns_of(options: dict[str, Any]) -> ColumnOptions:
    """Return what ``table_options`` say."""
    options = options | {
        name: as_typed(value) if isinstance(value := options[name], str) else value and tuple(map(as_typed, value))
        for name in (
            "columns", "exclude", "ignore", "categorical", "ordinal", "log", "weight", "id", "na", "key", "sheet",
        )
    }  # fmt: skip
    separator = options["separator"]
    if separator is not None:
        separator = SEPARATORS.get(separator, separator.replace("\\t", "\t"))
        if len(separator) != 1:
            raise click.BadParameter(f"{separator!r} is not one character.", param_hint="--separator")
    decimal = options["decimal"]
    if decimal not in (None, ".", ","):
        raise click.BadParameter(f"{decimal!r} is neither '.' nor ','.", param_hint="--decimal")
    quote = options["quote"]
    if quote not in (None, NO_QUOTE) and (len(quote) != 1 or quote in (separator, "\r", "\n") or not quote.isascii()):
        raise click.BadParameter(f"{quote!r} is neither one character of its own nor 'none'.", param_hint="--quote")
    if options["columns"] and options["id"] in options["columns"]:
        raise click.BadParameter(f"{options['id']!r} is one of --columns as well.", param_hint="--id")
    for given in options["weight"]:
        if re.fullmatch(r".+=\d*\.?\d+", given, flags=re.DOTALL) is None:
            raise click.BadParameter(f"{given!r} is not a name and a number such as income=0.5.", param_hint="--weight")
    style = TextStyle(
        separator, decimal, options["encoding"], not options["no_header"], options["na"], quote, options["skip_rows"]
    )
    return ColumnOptions(
        options["columns"], (*options["exclude"], *options["ignore"]), options["id"], options["missing"],
        options["input_format"], options["key"], options["sheet"], style, options["categorical"], options["log"],
        options["ordinal"], options["weight"], options.get("truth"), bool(options.get("with_data")),
    )  # fmt: skip


def model_of(options: dict[str, Any]) -> GIT:
    """Return the estimator that ``model_options`` describe."""
    number = options["n_clusters"]
    if options["no_scale"] and options["pca"]:
        raise click.UsageError("--pca divides columns by their standard deviations first: leave out --no-scale.")
    return GIT(
        "auto" if number is None else number,
        proportions=options["proportions"],
        n_neighbors=options["n_neighbors"],
        metric=options["metric"],
        scale=None if options["no_scale"] else "components" if options["pca"] else "auto",
        noise=options["noise"],
        variant=options["variant"],
        min_cluster_size=options["min_size"],
        max_cluster_size=options["max_size"],
        n_jobs=options["jobs"],
    )
