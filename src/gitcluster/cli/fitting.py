"""``fit``, ``predict`` and ``cut``: tables in, labels out."""

import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd

from gitcluster import GIT
from gitcluster.cli.models import (
    choice_for,
    fill_as_fitted,
    fit_table,
    keep_facts,
    load_model,
    read,
    row_names,
    table_facts,
)
from gitcluster.cli.options import (
    choice_of,
    label_options,
    model_of,
    model_options,
    prior_options,
    table_options,
    voice_options,
)
from gitcluster.cli.profiles import describe, profile_clusters
from gitcluster.cli.screen import Screen, make_table
from gitcluster.cli.tables import Table, column_centres, iterate_table
from gitcluster.cli.writing import STANDARD, aside, check_target, format_of, open_writer, print_json, write_table

probabilities_option = click.option(
    "--probabilities", is_flag=True, help="Also write how firmly every row belongs to its cluster, and outlier scores."
)


@click.command()
@click.argument("table", metavar="TABLE")
@model_options
@label_options
@probabilities_option
@click.option("--with-data", is_flag=True, help="Also write the columns that were clustered.")
@click.option("--save", metavar="FILE.npz", help="Keep the model, for predict, cut, explain, plot, explore, report.")
@table_options
@voice_options
def fit(table: str, save: str | None, probabilities: bool, with_data: bool, **options: Any) -> None:
    """Cluster the rows of TABLE (a file, or - for the standard input).

    Without -o, labels go to the standard output where it is a pipe or a file, and nowhere in a terminal.

    \b
    gitcluster fit data.parquet -c 3 -o labels.csv
    gitcluster fit data.csv --id customer --exclude 'note*' --missing median -o labels.csv --save model.npz
    gitcluster fit data.csv --proportions 1:0.5:0.1 --probabilities -o labels.parquet
    cat data.csv | gitcluster fit - -c 3 > labels.csv
    """
    if save and not Path(save).suffix and not Path(save).exists():
        save = f"{save}.npz"
    output, screen = _prepare(options, save)
    read_in = read(table, options, screen)
    choice = choice_of(options)
    model = fit_table(model_of(options), read_in, screen)
    with screen.bar("Writing", "write") as bar:
        if save:
            centres = column_centres(read_in, choice.missing) if choice.missing in ("mean", "median") else None
            keep_facts(model, read_in, choice, centres)
            with aside(save) as file:
                model.save(file)
        if output:
            labels = label_table(model, read_in, choice.id, probabilities=probabilities, with_data=with_data)
            write_table(output, labels, format_of(output, options["output_format"]), bar.advance)
    if options["as_json"]:
        print_json(facts(model, read_in, screen, input=table, output=output, model=save))
    else:
        screen.say(*summary(model, read_in, screen))
        _say_files(screen, output, save, table, row_names(model, read_in).iloc[0])


def _prepare(options: dict[str, Any], save: str | None = None) -> tuple[str | None, Screen]:
    """Where labels go, and who is told what; targets that cannot be written are errors before any work is done."""
    output = options["output"]
    if options["as_json"] and output == STANDARD:
        raise click.UsageError("--json and -o - both write to the standard output. Name a file for the labels.")
    if output is None and not options["as_json"] and not sys.stdout.isatty() and save is None:
        output = STANDARD
    check_target(output, stream=True)
    check_target(save, "--save")
    if output:
        format_of(output, options["output_format"])
    quiet = options["quiet"] or options["as_json"]
    return output, Screen(quiet=quiet, on_error_stream=output == STANDARD)


def label_table(model: GIT, table: Table, id_name: str | None, *, probabilities: bool, with_data: bool) -> pd.DataFrame:
    """The labels of a fit with the names of the rows."""
    columns: dict[str, Any] = {id_name or "row": row_names(model, table).to_numpy(), "cluster": model.labels_}
    if probabilities:
        columns["probability"] = model.probabilities_.round(4)
        columns["outlier_score"] = np.asarray(model.outlier_scores_, dtype=np.float64).round(4)
    found = pd.DataFrame(columns)
    if with_data:
        data = table.frame()
        found = pd.concat([found, data[[name for name in data.columns if name not in columns]]], axis=1)
    return found


def facts(fitted: GIT, table: Table, screen: Screen, **files: str | None) -> dict[str, Any]:
    """What ``--json`` tells of a fit."""
    sizes = np.bincount(fitted.labels_[fitted.labels_ >= 0], minlength=fitted.n_clusters_)
    return {
        "rows": len(table.values),
        "dropped_rows": table.dropped,
        "features": list(table.names),
        "n_clusters": fitted.n_clusters_,
        "sizes": sizes,
        "proportions": fitted.proportions_.round(6),
        "noise": int((fitted.labels_ < 0).sum()),
        "n_neighbors": fitted.n_neighbors_,
        "local_clusters": len(fitted.peaks_),
        "seconds": {phase: round(seconds, 3) for phase, seconds in screen.seconds.items()},
        **files,
    }


def summary(model: GIT, table: Table, screen: Screen) -> list[Any]:
    """What a person wants to know of a fit."""
    rows = [
        ["noise" if p.cluster < 0 else str(p.cluster), f"{p.rows:,}", f"{p.share:.1%}", describe(p, table.names)]
        for p in profile_clusters(table.values, model.labels_)
    ]
    title = f"{len(table.values):,} rows, {len(table.names)} columns, {model.n_clusters_} clusters"
    parts = [
        make_table(title, ["cluster", "rows", "share", "differs from the others by (standard deviations)"], rows,
                   left=(3,)),
    ]  # fmt: skip
    return [*parts, *_reasons(model, table, screen)]


def _reasons(model: GIT, table: Table, screen: Screen) -> list[str]:
    lines = []
    if hasattr(model, "n_clusters_scores_"):
        scores = model.n_clusters_scores_
        order = np.argsort(-scores["score"])[:3]
        ranked = ", ".join(f"{scores['n_clusters'][i]} ({scores['score'][i]:.2f})" for i in order)
        lines.append(f"Number of clusters, best scores first: {ranked}")
    if table.dropped:
        lines.append(f"{table.dropped:,} rows with missing values were left out")
    took = ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in screen.seconds.items())
    lines.append(f"Neighbours: {model.n_neighbors_}; local clusters: {len(model.peaks_)}; {took}")
    return lines


def _say_files(screen: Screen, output: str | None, save: str | None, table: str, row: Any) -> None:
    if output and output != STANDARD:
        screen.say(f"Labels: {output}")
    if save:
        screen.say(f"Model:  {save}", f"Next:   gitcluster explain {save} {row}, gitcluster plot {save} -o picture.png")
    if not output and not save:
        screen.say(f"To keep the labels: gitcluster fit {table} ... -o labels.csv")


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@label_options
@click.option("--probabilities", is_flag=True, help="Also write how firmly every row belongs to its cluster.")
@table_options
@voice_options
def predict(model: str, table: str, probabilities: bool, **options: Any) -> None:
    """Find the clusters of the rows of TABLE with a saved MODEL.

    The columns are those of the fit, by name. TABLE is read, labelled and written in parts: it may be larger
    than memory.

    gitcluster predict model.npz new.csv -o labels.csv
    """
    output, screen = _prepare(options)
    loaded = load_model(model)
    choice, names = choice_for(loaded, choice_of(options))
    counts, dropped = np.zeros(loaded.n_clusters_ + 1, dtype=np.int64), 0
    form = format_of(output, options["output_format"]) if output else "csv"
    with screen.bar(f"Labelling {table}", "predict") as bar:
        parts = iterate_table(table, choice, check=lambda rows, columns: None, advance=bar.advance, names=names)
        writer_context = open_writer(output, form) if output else _Nowhere()
        with writer_context as writer:
            for part in parts:
                dropped += part.dropped
                if len(part.values):
                    labels = _predict(loaded, part, choice.id, options["missing"], probabilities)
                    counts += np.bincount(labels["cluster"] + 1, minlength=len(counts))
                    writer.write(labels)
    if options["as_json"]:
        seconds = {phase: round(value, 3) for phase, value in screen.seconds.items()}
        print_json({"rows": int(counts.sum()), "dropped_rows": dropped, "sizes": counts[1:], "noise": int(counts[0]),
                    "seconds": seconds, "model": model, "input": table, "output": output})  # fmt: skip
        return
    rows = _counted(counts)
    title = f"{counts.sum():,} rows of {table} in {screen.seconds['predict']:.1f} s"
    screen.say(make_table(title, ["cluster", "rows", "share"], rows))
    if output and output != STANDARD:
        screen.say(f"Labels: {output}")


class _Nowhere:
    """Takes the place of a writer where no labels are wanted."""

    def __enter__(self) -> "_Nowhere":
        return self

    def __exit__(self, *_: Any) -> None:
        """Nothing to close."""

    def write(self, part: pd.DataFrame) -> None:
        """Forget it."""


def _predict(model: GIT, part: Table, id_name: str | None, missing: str, probabilities: bool) -> pd.DataFrame:
    filled = fill_as_fitted(model, part, missing)
    samples = filled.frame() if hasattr(model, "feature_names_in_") else filled.values
    labels = model.predict(samples)
    columns: dict[str, Any] = {id_name or "row": row_names(model, part).to_numpy(), "cluster": labels}
    if probabilities:
        columns["probability"] = np.where(labels >= 0, model.predict_proba(samples).max(axis=1), 0.0).round(4)
    return pd.DataFrame(columns)


def _counted(counts: Any) -> list[list[str]]:
    """Rows of a table of sizes, from counts whose first one is noise."""
    shares = counts / max(1, counts.sum())
    names = ["noise", *map(str, range(len(counts) - 1))]
    order = [*range(1, len(counts)), *([0] if counts[0] else [])]
    return [[names[i], f"{counts[i]:,}", f"{shares[i]:.1%}"] for i in order]


@click.command()
@click.argument("model", metavar="MODEL")
@prior_options
@label_options
@voice_options
def cut(model: str, n_clusters: Any, proportions: Any, **options: Any) -> None:
    """Other labels from a saved MODEL: another number of clusters, or other proportions; nothing is searched again.

    \b
    gitcluster cut model.npz -c 5 -o labels5.csv
    gitcluster cut model.npz --proportions 2:1:1 -o labels.csv
    """
    if n_clusters in (None, "auto") and proportions is None:
        raise click.UsageError("Say into what to cut: -c 5, or --proportions 2:1:1.")
    output, screen = _prepare(options)
    loaded = load_model(model)
    number = None if n_clusters == "auto" else n_clusters
    with screen.bar("Cutting", "cut"):
        labels = loaded.cut(n_clusters=number, proportions=proportions)
    counts = np.bincount(labels + 1, minlength=2)
    if output:
        name = table_facts(loaded)["id"] or "row"
        found = pd.DataFrame({name: row_names(loaded).to_numpy(), "cluster": labels})
        write_table(output, found, format_of(output, options["output_format"]))
    if options["as_json"]:
        seconds = round(screen.seconds["cut"], 3)
        print_json({"rows": len(labels), "n_clusters": len(counts) - 1, "sizes": counts[1:], "noise": int(counts[0]),
                    "proportions": (counts[1:] / len(labels)).round(6), "seconds": {"cut": seconds},
                    "model": model, "output": output})  # fmt: skip
        return
    screen.say(make_table(f"{len(labels):,} rows, {len(counts) - 1} clusters", ["cluster", "rows", "share"],
                          _counted(counts)))  # fmt: skip
    if output and output != STANDARD:
        screen.say(f"Labels: {output}")
