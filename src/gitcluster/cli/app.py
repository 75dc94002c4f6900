"""The command ``gitcluster`` and its subcommands."""

import sys
from typing import Any

import click
import pandas as pd
from click.shell_completion import get_completion_class

from gitcluster import __version__
from gitcluster.cli import screen
from gitcluster.cli.comparing import compare
from gitcluster.cli.demo import make_example, show_demo
from gitcluster.cli.fitting import cut, fit, predict
from gitcluster.cli.showing import explain, explore, plot, profile, report
from gitcluster.cli.streams import check_open
from gitcluster.cli.writing import check_target, format_of, write_table


class OutputClosed(Exception):  # noqa: N818
    """Nobody reads the output any more; click would turn a broken pipe into exit code 1."""


class Commands(click.Group):
    """A group that lists its commands in the order of use and lets a broken pipe through."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            found = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise OutputClosed from None
        return found


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gitcluster")
@click.option("--traceback", is_flag=True, help="Show where in the code an error arose.")
def app(traceback: bool) -> None:
    """Cluster the rows of a table, see the clusters, and learn why a row is where it is.

    \b
    gitcluster demo                                     see it work
    gitcluster fit data.csv -c 3 -o labels.csv          three clusters
    gitcluster fit data.csv -o labels.csv --save model.npz
    gitcluster plot model.npz -o picture.png
    gitcluster profile model.npz data.csv               what sets the clusters apart?
    gitcluster explain model.npz 17                     why is row 17 where it is?

    Tables are CSV, TSV, JSON, Parquet, Arrow, NPY, NPZ or Excel files, compressed or not; - is the standard input
    or output.
    Exit codes: 0 done, 1 the data or files do not allow it, 2 the command is written wrongly, 130 interrupted.
    """
    screen.with_traceback = traceback


@click.command()
@click.option("-o", "--output", metavar="FILE.csv", help="Also write the example as a table.")
def demo(output: str | None) -> None:
    """Cluster an embedded example, and show a picture and a table of it."""
    check_open("stdout")
    check_target(output, stream=True)
    show_demo()
    if output:
        write_table(output, pd.DataFrame(make_example(), columns=["x", "y"]).round(4), format_of(output, None))
        click.echo(f"The example: {output}")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the lines that make SHELL complete commands and options.

    \b
    bash:  gitcluster completion bash >> ~/.bashrc
    zsh:   gitcluster completion zsh >> ~/.zshrc
    fish:  gitcluster completion fish > ~/.config/fish/completions/gitcluster.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(app, {}, "gitcluster", "_GITCLUSTER_COMPLETE").source())


SUMMARIES: dict[click.Command, str] = {
    fit: "Cluster the rows of a table.",
    predict: "Label new rows with a saved model.",
    cut: "Choose another number of clusters without a new fit.",
    profile: "Describe the differences between clusters.",
    explain: "Explain the cluster of a row, or of two rows.",
    plot: "Draw a picture.",
    explore: "Write a page to explore in a browser.",
    report: "Write a report as one page.",
    compare: "Compare GIT with other methods on your table.",
    demo: "Cluster an embedded example.",
    completion: "Print lines that complete commands and options in a shell.",
}
"""One line per command; click would cut off the first sentence of a longer help."""
for command, summary in SUMMARIES.items():
    command.short_help = summary
    app.add_command(command)
