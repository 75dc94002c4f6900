"""Pictures of a fitted model: the only place that knows the names of the plots."""

import base64
import inspect
import io
from pathlib import Path
from typing import Any

from gitcluster import GIT
from gitcluster._support.files import write_aside
from gitcluster._support.optional import require
from gitcluster.cli.cells import Table

KINDS = (
    "clusters", "topo-graph", "hierarchy", "condensed-tree", "selection", "representations", "n-clusters", "pipeline",
    "proportions", "memberships", "profile", "intensity", "local-clusters",
)  # fmt: skip
SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".webp")


def draw(kind: str, model: GIT, table: Table | None) -> Any:
    """The figure of one of the plots."""
    require("matplotlib", extra="cli", purpose="A picture").use("Agg")  # no window, whatever the machine is set to
    from matplotlib import pyplot

    from gitcluster import plots

    function = getattr(plots, "plot_" + kind.replace("-", "_"))
    samples = {"X": table.data} if table is not None and "X" in inspect.signature(function).parameters else {}
    drawn = function(model, **samples)
    figure = getattr(drawn, "figure", drawn)
    pyplot.close(figure)  # it is drawn into a file, not kept for a window
    return figure


def save_figure(figure: Any, path: str) -> None:
    """Write a figure, in the format of the name."""
    buffer = io.BytesIO()  # on a full disk, encoders of pictures would not tell the reason
    figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=150, bbox_inches="tight")
    with write_aside(path) as file:
        file.write(buffer.getvalue())


def embed(figure: Any) -> str:
    """A figure as the source of an image in a page."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, bbox_inches="tight")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
