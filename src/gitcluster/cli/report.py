"""HTML pages about a clustering and about two of them, for screens, phones and paper.

This file computes the numbers and draws the pictures; ``report.html`` and ``diff.html`` are the pages.
"""

import io
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from gitcluster import GIT, __version__
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.optional import require
from gitcluster.cli.models import command_line
from gitcluster.comparison import Comparison
from gitcluster.fitted.summary import ranked_numbers, summarize
from gitcluster.fitted.traits import compare_to_group, in_words, read_traits

MAX_LISTED, MAX_NODES, MAX_ROWS = 10, 60, 500
"""Rows in a list, nodes of the topo-graph (local clusters that merge first share one), and rows of a comparison."""


def make_report(model: GIT, X: Any, *, title: str) -> str:
    """Return the report of a fitted table as a page."""
    require("matplotlib", extra="cli", purpose="A report")
    from matplotlib.colors import to_hex

    from gitcluster import plots
    from gitcluster.plots._drawing import colours_of

    clustering = model.clustering_
    columns, stability = clustering.columns, clustering.stability
    pictures = {
        "clusters": draw_svg(plots.plot_clusters, model, X, legend=False),
        "topo_graph": draw_svg(plots.plot_topo_graph, model, X, max_nodes=MAX_NODES, n_labels=0, legend=False),
    }
    if clustering.hierarchy is not None:
        pictures["hierarchy"] = draw_svg(plots.plot_hierarchy, model)
    best = []
    if hasattr(model, "n_clusters_scores_"):
        best = ranked_numbers(model.n_clusters_scores_)
        pictures["score"] = draw_svg(plots.plot_n_clusters, model, size=(5.2, 3.0))
    scores = model.outlier_scores_.astype(np.float64)
    used = list(X) if columns is None else [column.name for column in columns.used]
    return render_page(
        "report.html",
        title=title, summary=summarize(clustering, advice=False), pictures=pictures, profile=model.profile(X),
        facts={
            "clusters": model.n_clusters_, "rows": len(X), "columns used": len(used),
            "outliers": int((scores > clustering.fitted.far_out).sum()),
        },
        colours=[to_hex(colour) for colour in colours_of(range(int(clustering.cluster_ids.max()) + 1))],
        best=list_of(list(map(str, best))), stability=stability and stability.sentences(),
        graph=f"{count_of(len(model.topo_graph_.sizes), 'local cluster')} and "
        f"{count_of(len(model.topo_graph_.edges), 'connection')}",
        outliers=_outliers(model, X, scores),
        uses=[(column.name, column.describe()) for column in columns or ()],
        commands=[command for command in (model.notes_["command"], command_line()) if command],
        method=f"GIT, variant {clustering.variant.name}, {count_of(model.n_neighbors_, 'neighbour')}",
        versions=", ".join([f"gitcluster {__version__}", f"Python {python_version()}",
                            *(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))]),
    )  # fmt: skip


def make_comparison_page(comparison: Comparison, *, title: str) -> str:
    """Return a comparison as a page."""
    require("matplotlib", extra="cli", purpose="A page with a picture")
    lines = comparison.sentences()
    rows = list(zip(*(comparison.rows[name].tolist() for name in ("id", "before", "after")), strict=True))
    changed = [row for row in rows if row[1] and row[2]]
    others = {"new": [row[0] for row in rows if not row[1]], "lost": [row[0] for row in rows if not row[2]]}
    return render_page(
        "diff.html", title=title, lead=lines[: len(lines) - max(1, len(comparison.events))], events=comparison.events,
        picture=draw_svg(comparison.plot, size=(5.2, 4.2)), clusters=comparison.cluster_rows(),
        changed=changed[:MAX_ROWS], n_changed=len(changed),
        others=[(count_of(len(ids), f"{name} row"), list_of(ids, MAX_ROWS)) for name, ids in others.items() if ids],
        command=command_line(),
    )  # fmt: skip


def render_page(template: str, **content: Any) -> str:
    """Return a page from a template."""
    environment = Environment(
        loader=PackageLoader("gitcluster.cli", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: escape_control(value, lines=True) if type(value) is str else value,
    )  # fmt: skip
    return environment.get_template(template).render(version=__version__, today=date.today().isoformat(), **content)


def draw_svg(plot: Callable[..., Any], *arguments: Any, size: tuple[float, float] = (5.2, 3.9), **options: Any) -> str:
    """Return a plot as SVG for a page."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "gitcluster"}):  # texts stay texts, and ids the same
        figure = Figure(figsize=size, layout="constrained")
        plot(*arguments, ax=figure.subplots(), **options)
        figure.savefig(drawn := io.StringIO(), format="svg", dpi=200, metadata={"Date": None})
    return drawn.getvalue()[drawn.getvalue().index("<svg") :]


def _outliers(model: GIT, X: Any, scores: Any) -> list[tuple[str, str, str, str]]:
    """Return the rows with the highest outlier scores: name, cluster, score, largest differences from the cluster."""
    clustering = model.clustering_
    order = np.argsort(-scores, kind="stable")[:MAX_LISTED]
    clusters = clustering.edge_cut.labels[clustering.local_labels]  # that of noise as well
    traits = read_traits(X, columns=clustering.columns)
    rows = []
    for i in order[scores[order] > 0].tolist():
        differences = compare_to_group(traits, i, np.flatnonzero(clusters == clusters[i]))
        words = in_words(differences, words="; ") or "no single column"
        rows.append((clustering.name_of(i), clustering.title_of(int(clustering.labels[i])), f"{scores[i]:.2f}", words))
    return rows
