"""``explain``, ``plot``, ``explore`` and ``report``: see a clustering and learn its reasons."""

import json
from pathlib import Path
from typing import Any

import click

from gitcluster._support.files import write_aside
from gitcluster._support.names import as_typed, visible
from gitcluster.cli.models import Fitted, open_fitted
from gitcluster.cli.options import (
    GroupedCommand,
    command_of,
    data_argument,
    model_options,
    table_options,
    voice_options,
)
from gitcluster.cli.pictures import KINDS, SUFFIXES, draw, save_figure
from gitcluster.cli.report import make_report
from gitcluster.cli.screen import Screen
from gitcluster.cli.streams import check_open
from gitcluster.cli.tables import Table
from gitcluster.cli.writing import STANDARD, check_apart, check_target, format_of, print_json, write_table
from gitcluster.explorer import write_explorer
from gitcluster.fitted.explanation import explain_rows

source_argument = click.argument("source", metavar="MODEL|TABLE")


def _screen(options: dict[str, Any]) -> Screen:
    return Screen(quiet=options["quiet"] or options["as_json"])


def _tell(screen: Screen, options: dict[str, Any], what: str, path: str) -> None:
    if options["as_json"]:
        print_json({"output": str(Path(path).resolve()), "seconds": screen.rounded_seconds()})
    else:
        screen.say(f"{what}: {Path(path).resolve()}")


def _check_suffix(output: str, suffixes: tuple[str, ...], sources: list[str | None]) -> None:
    if Path(output).suffix.lower() not in suffixes:
        raise click.BadParameter(f"{output!r} must end in {', '.join(suffixes)}.", param_hint="-o")
    check_target(output)
    check_apart({"-o": output}, sources)


@click.command(cls=GroupedCommand)
@source_argument
@click.argument("rows", nargs=-1, required=True, metavar="ROW [ROW]")
@model_options
@table_options
@voice_options
def explain(source: str, rows: tuple[str, ...], **options: Any) -> None:
    """Tell why a ROW is in its cluster or, with two rows, why they are together or apart.

    A row is its number, counted from 0 without the header, or its id where the fit had --id.

    \b
    gitcluster explain model.npz 17
    gitcluster explain model.npz 17 42
    """
    if len(rows) > 2:
        raise click.UsageError(f"One or two rows can be explained, got {len(rows)}.")
    screen = _screen(options)
    fitted, _ = open_fitted(source, None, options, screen)
    rows = tuple(map(as_typed, rows))
    samples = [fitted.find_row(row) for row in rows]
    explanation = explain_rows(fitted.clustering(), *samples)
    if options["as_json"]:
        print_json(
            {
                "rows": rows,
                "samples": samples,
                "text": str(explanation),
                "differences": [difference._asdict() for difference in explanation.differences],
                "table": json.loads(explanation.to_pandas().to_json(orient="records")),
            }
        )
    else:
        check_open("stdout")
        click.echo(visible(str(explanation), lines=True))


@click.command(cls=GroupedCommand)
@source_argument
@data_argument
@click.option("-o", "--output", metavar="FILE", help="Write the numbers as a table: one row per cluster and column.")
@model_options
@table_options
@voice_options
def profile(source: str, data: str | None, output: str | None, **options: Any) -> None:
    """Tell what sets every cluster apart from all other rows and from the nearest cluster, with a few rules for each.

    \b
    gitcluster profile model.npz data.csv
    gitcluster profile data.csv -c 3 -o profile.csv
    """
    check_target(output, stream=True)
    check_apart({"-o": output}, [source, data])
    form = format_of(output, None) if output else ""
    screen = _screen(options)
    fitted, table = open_fitted(source, data, options, screen)
    with screen.bar("Comparing clusters", "profile"):
        found = fitted.model.profile(None if table is None else table.data)
    if output:
        write_table(output, found.to_frame(), form)
    if options["as_json"]:
        rules = json.loads(found.rules_frame().to_json(orient="records"))
        print_json({"columns": json.loads(found.to_frame().to_json(orient="records")), "rules": rules})
    elif not options["quiet"] and output != STANDARD:
        check_open("stdout")
        click.echo(visible(str(found), lines=True))


@click.command(cls=GroupedCommand)
@source_argument
@data_argument
@click.option("--kind", type=click.Choice(KINDS), default="clusters", show_default=True, help="The plot to draw.")
@click.option(
    "-o", "--output", default="gitcluster.png", show_default=True, metavar="FILE", help="A PNG, SVG or PDF file."
)
@model_options
@table_options
@voice_options
def plot(source: str, data: str | None, kind: str, output: str, **options: Any) -> None:
    """Draw a saved MODEL, or a TABLE that is clustered now.

    \b
    gitcluster plot model.npz -o picture.png
    gitcluster plot model.npz data.csv --kind topo-graph -o graph.pdf
    gitcluster plot data.csv -c 3 -o picture.svg
    """
    _check_suffix(output, SUFFIXES, [source, data])
    screen = _screen(options)
    fitted, table = open_fitted(source, data, options, screen)
    with screen.bar("Drawing", "draw"):
        save_figure(draw(kind, fitted.model, table), output)
    _tell(screen, options, "Picture", output)


@click.command(cls=GroupedCommand)
@source_argument
@data_argument
@click.option("-o", "--output", default="explorer.html", show_default=True, metavar="FILE.html")
@click.option("--title", help="Title of the page.")
@model_options
@table_options
@voice_options
def explore(source: str, data: str | None, output: str, title: str | None, **options: Any) -> None:
    """Write a page to explore a clustering in a browser, and print its path.

    \b
    gitcluster explore model.npz data.csv -o explorer.html
    gitcluster explore data.csv -c 3
    """
    _check_suffix(output, (".html", ".htm"), [source, data])
    screen = _screen(options)
    fitted, table = open_fitted(source, data, options, screen)
    with screen.bar("Writing the page", "write"):
        _write_explorer(fitted, table, output, visible(as_typed(title or Path(data or source).name)))
    _tell(screen, options, "Page", output)


def _write_explorer(fitted: Fitted, table: Table | None, output: str, title: str) -> None:
    ids, frame = fitted.facts.ids, None if table is None else table.data
    if table is not None and table.ids is not None:
        ids = table.ids.astype(str).to_numpy(dtype=object)
    write_explorer(fitted.model, frame, output, names=None if ids is None else list(ids), title=title)


@click.command(cls=GroupedCommand)
@source_argument
@data_argument
@click.option("-o", "--output", default="report.html", show_default=True, metavar="FILE.html")
@click.option("--title", help="Title of the report.")
@model_options
@table_options
@voice_options
def report(source: str, data: str | None, output: str, title: str | None, **options: Any) -> None:
    """Write one page to send around: sizes, what sets each cluster apart, the number of clusters, the topo-graph.

    For a PDF, open the page in a browser and print it.

    \b
    gitcluster report data.csv -c 3 -o report.html
    gitcluster report model.npz data.csv
    """
    if Path(output).suffix.lower() == ".pdf":
        page = Path(output).with_suffix(".html")
        raise click.BadParameter(
            f"A report is an HTML page. Write -o {page}, open the page in a browser and print it to PDF.",
            param_hint="-o",
        )
    _check_suffix(output, (".html", ".htm"), [source, data])
    screen = _screen(options)
    fitted, table = open_fitted(source, data, options, screen)
    if table is None:
        raise click.UsageError(f"A report needs the table as well: gitcluster report {source} data.csv -o {output}")
    with screen.bar("Writing the report", "write") as bar, write_aside(output) as file:
        shown = visible(as_typed(title or Path(data or source).name))
        commands = [fitted.facts.command, command_of(click.get_current_context())]
        made = make_report(fitted, table, title=shown, commands=commands, advance=bar.advance)
        file.write(made.encode())
    _tell(screen, options, "Report", output)
