"""Pictures of a fitted model: the only place that knows the names of the plots."""

import inspect
import io
import re
from html import escape
from pathlib import Path
from typing import Any

from gitcluster import GIT
from gitcluster._support.files import write_aside
from gitcluster._support.optional import require
from gitcluster.cli.tables import Table

KINDS = (
    "clusters", "topo-graph", "hierarchy", "condensed-tree", "representations", "n-clusters", "memberships", "profile",
    "intensity", "local-clusters",
)  # fmt: skip
PAGE_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gitcluster",
    "axes.facecolor": "#ffffff",
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#333333"),
}
"""Texts stay texts, and colours are such that the page puts its own in their place."""
SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".webp")


def draw(kind: str, model: GIT, table: Table | None) -> Any:
    """The figure of one of the plots."""
    require("matplotlib", extra="cli", purpose="A picture").use("Agg")  # no window, whatever the machine is set to
    from matplotlib import pyplot

    from gitcluster import plots

    function = getattr(plots, "plot_" + kind.replace("-", "_"))
    samples = {"X": table.data} if table is not None and "X" in inspect.signature(function).parameters else {}
    figure = function(model, **samples).figure
    pyplot.close(figure)  # it is drawn into a file, not kept for a window
    return figure


def save_figure(figure: Any, path: str) -> None:
    """Write a figure, in the format of the name."""
    buffer = io.BytesIO()  # on a full disk, encoders of pictures would not tell the reason
    figure.savefig(buffer, format=Path(path).suffix[1:].lower(), dpi=150, bbox_inches="tight")
    with write_aside(path) as file:
        file.write(buffer.getvalue())


def inline(kind: str, model: Any, table: Table, *, size: tuple[float, float] = (5.2, 3.9), **options: Any) -> str:
    """One of the plots for a page, with its title as caption: its lines and texts have the colours of the page."""
    mpl = require("matplotlib", extra="cli", purpose="A report")
    from matplotlib.figure import Figure

    from gitcluster import plots

    drawn = io.StringIO()
    with mpl.rc_context(PAGE_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.subplots()
        getattr(plots, "plot_" + kind.replace("-", "_"))(model, table.data, ax=ax, **options)
        title = ax.get_title().replace("\n", " ")
        ax.set_title("")
        figure.savefig(drawn, format="svg", transparent=True, dpi=200, metadata={"Date": None})
    picture = drawn.getvalue()[drawn.getvalue().index("<svg") :]
    picture = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", picture, flags=re.DOTALL)
    picture = re.sub(
        r'^<svg (.*?)width="([\d.]+)pt" height="[\d.]+pt"', _opening(title), picture, count=1, flags=re.DOTALL
    )
    for colour, name in _page_colours(model.n_clusters_).items():
        picture = picture.replace(colour, f"var({name})")
    return f'<figure class="{kind}"><figcaption>{escape(title)}</figcaption>{picture}</figure>'


def _opening(title: str) -> str:
    """How a picture begins; a page shows it as wide as there is room, but not much wider than it was drawn."""
    label = escape(title, quote=True).replace("\\", r"\\")
    return rf'<svg class="plot" style="max-width: calc(\g<2>px * 1.7)" role="img" aria-label="{label}" \g<1>'


def _page_colours(n_clusters: int) -> dict[str, str]:
    """Colours of a picture, and what they are called in the page."""
    from gitcluster.plots._drawing import cluster_colours

    names = {colour.light: f"--name-{c}" for c, colour in enumerate(cluster_colours(n_clusters))}
    return {"#333333": "--ink", "#ffffff": "--paper", "#dadada": "--pale", "#eeeeee": "--line", **names}


def page_colours(n_clusters: int) -> str:
    """Style of a page: names of clusters are darker than these on paper, and lighter on dark screens."""
    from gitcluster.plots._drawing import cluster_colours

    found = list(enumerate(cluster_colours(n_clusters)))
    areas, light, dark = (
        " ".join(f"--{what}-{c}: {getattr(colour, shade)};" for c, colour in found)
        for what, shade in (("cluster", "area"), ("name", "light"), ("name", "dark"))
    )
    return f":root {{ {areas} {light} }} @media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
