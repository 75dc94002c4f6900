"""HTML pages about a clustering and about two of them, for screens (light or dark), phones and paper.

This file computes the numbers and draws the pictures; ``report.html`` and ``diff.html`` are the pages.
"""

import io
import re
from collections.abc import Callable
from datetime import date
from functools import partial
from html import escape
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from gitcluster import GIT, __version__
from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.optional import require
from gitcluster.cli.inputs import Advance, Table
from gitcluster.cli.models import Fitted, column_lines
from gitcluster.cli.tables import join_names
from gitcluster.comparison import Comparison
from gitcluster.fitted.memberships import NEAR_BOUNDARY, own_shares
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.fitted.profiles import ABREAST, cluster_html, heat_html
from gitcluster.fitted.profiles import STYLE as PROFILE_STYLE
from gitcluster.fitted.stability import STABLE
from gitcluster.fitted.summary import ranked_numbers, summarize
from gitcluster.fitted.traits import compare_to_group, in_words, read_traits
from gitcluster.fitted.warnings import column_notes

MAX_LISTED, MAX_NODES, MAX_NAMES, MAX_ROWS = 10, 60, 50, 500
"""Rows in a list, nodes of the topo-graph (local clusters that merge first share one), names of columns, and rows of a
comparison."""
INK, PAPER = "#333333", "#ffffff"
PAGE_COLOURS = {INK: "--ink", PAPER: "--paper", "#dadada": "--pale", "#eeeeee": "--line"}
"""Colours of the plots, and the variables of the page that replace them."""
PLOT_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # texts stay texts
    "svg.hashsalt": "gitcluster",
    "axes.facecolor": PAPER,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


def make_report(fitted: Fitted, table: Table, *, title: str, commands: list[str], advance: Advance) -> str:
    """Return the report as a page; ``commands`` reproduce it, ``advance`` gets the share that is done."""
    require("matplotlib", extra="cli", purpose="A report")
    from gitcluster import plots as drawing

    model, clustering = fitted.model, fitted.model.clustering_
    profile = model.profile(table.data)
    columns = clustering.columns
    notes = [] if columns is None else column_notes(columns, clustering.encode(table.data), model.labels_)
    has_scores, several = hasattr(model, "n_clusters_scores_"), model.n_clusters_ > 1
    measured = clustering.stability if several else None
    n_colours = int(clustering.cluster_ids.max()) + 1
    plots: list[tuple[str, str, dict[str, Any]]] = [
        ("clusters", "clusters", {"legend": False}),
        ("topo-graph", "topo-graph", {"max_nodes": MAX_NODES, "n_labels": 0, "legend": False}),
    ]
    if has_scores:
        plots.append(("score", "n-clusters", {"size": (5.2, 3.0)}))
    if clustering.hierarchy is not None:
        plots.append(("hierarchy", "hierarchy", {}))
    pictures = {}
    for i, (name, kind, options) in enumerate(plots, 1):
        size = options.pop("size", (5.2, 3.9))
        draw = partial(getattr(drawing, "plot_" + kind.replace("-", "_")), model, table.data, **options)
        pictures[name] = draw_inline(kind, draw, n_colours, size=size)
        advance(i / len(plots))
    return render_page(
        "report.html",
        title=title, summary=summarize(clustering, advice=False),
        n_clusters=count_of(model.n_clusters_, "cluster"), dropped=table.dropped, facts=_key_facts(model), notes=notes,
        stability=_stability(model), stable=STABLE,
        measured={} if measured is None else dict(zip(measured.ids.tolist(), measured.clusters.tolist(), strict=True)),
        unstable_rows=[] if measured is None else _unstable_rows(fitted, measured.samples),
        n_colours=n_colours, pictures=pictures,
        profile=profile, abreast=ABREAST, heat=heat_html(profile.clusters),
        details=[cluster_html(cluster) for cluster in profile],
        number=_number(model) if has_scores else None,
        graph=f"{count_of(len(model.topo_graph_.sizes), 'local cluster')} and "
        f"{count_of(len(model.topo_graph_.edges), 'connection')}",
        outliers=_outliers(fitted, table), data=_data_facts(model, table),
        uses=column_lines(columns) if columns is not None and columns.encoded else [],
        commands=[command for command in commands if command],
        method=f"GIT, variant {clustering.variant.name}, {count_of(model.n_neighbors_, 'neighbour')}",
        versions=", ".join([f"gitcluster {__version__}", f"Python {python_version()}",
                            *(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))]),
    )  # fmt: skip


def make_comparison_page(comparison: Comparison, *, title: str, command: str) -> str:
    """Return a comparison as a page; ``command`` reproduces it."""
    require("matplotlib", extra="cli", purpose="A page with a picture")
    numbers = [c if isinstance(c, int) else i for ids in comparison.ids for i, c in enumerate(ids)]
    n_colours = max(numbers) + 1 + len(comparison.ids[1])
    lines = comparison.sentences()
    rows = list(zip(*(comparison.rows[name].tolist() for name in ("id", "before", "after")), strict=True))
    changed = [row for row in rows if row[1] and row[2]]
    new, lost = [row[0] for row in rows if not row[1]], [row[0] for row in rows if not row[2]]
    return render_page(
        "diff.html", title=title, lead=lines[: len(lines) - max(1, len(comparison.events))], n_colours=n_colours,
        events=comparison.events, picture=draw_inline("flow", comparison.plot, n_colours, size=(5.2, 4.2)),
        clusters=comparison.cluster_rows(), changed=changed[:MAX_ROWS], n_changed=len(changed),
        others=[(name, len(some), join_names(some, MAX_ROWS)) for name, some in (("new", new), ("lost", lost)) if some],
        command=command,
    )  # fmt: skip


def render_page(template: str, *, n_colours: int, **content: Any) -> str:
    """Return a page from a template, with the colours of so many clusters."""
    from gitcluster.plots._drawing import cluster_colours

    environment = Environment(
        loader=PackageLoader("gitcluster.cli", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["escape_control"] = escape_control
    return environment.get_template(template).render(
        colours=cluster_colours(n_colours), profile_style=PROFILE_STYLE, version=__version__,
        today=date.today().isoformat(), **content,
    )  # fmt: skip


def draw_inline(kind: str, draw: Callable[..., Any], n_colours: int, *, size: tuple[float, float]) -> dict[str, str]:
    """Return a plot as SVG for a page, in the colours of the page, with its kind and title."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from gitcluster.plots._drawing import cluster_colours

    with rc_context(PLOT_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        ax = figure.subplots()
        draw(ax=ax)
        title = ax.get_title().replace("\n", " ")
        ax.set_title("")
        figure.savefig(drawn := io.StringIO(), format="svg", transparent=True, dpi=200, metadata={"Date": None})
    svg = drawn.getvalue()[drawn.getvalue().index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    # The page shows a picture as wide as it can, but not much wider than it was drawn.
    width = re.search(r'width="([\d.]+)pt" height="[\d.]+pt"', svg)
    assert width is not None
    shown = f'class="plot" style="max-width: calc({width[1]}px * 1.7)" role="img" aria-label="{escape(title)}"'
    svg = svg.replace(width[0], "", 1).replace("<svg ", f"<svg {shown} ", 1)
    names = {colour.light: f"--name-{c}" for c, colour in enumerate(cluster_colours(n_colours))}
    for colour, name in (PAGE_COLOURS | names).items():
        svg = svg.replace(colour, f"var({name})")
    return {"kind": kind, "title": title, "svg": svg}


def _key_facts(model: GIT) -> list[tuple[str, str, str]]:
    """Return the facts at the top: name, value, a few words."""
    words = "edited by hand" if model.clustering_.edits else "as requested"
    facts = [("clusters", str(model.n_clusters_), words)]
    if hasattr(model, "n_clusters_scores_"):
        others = ranked_numbers(model.n_clusters_scores_)[1:]
        words = "chosen from the data" + (f"; next best: {' or '.join(map(str, others))}" if others else "")
        facts = [("clusters", str(model.n_clusters_), words)]
    stability = model.clustering_.stability
    if stability is not None:
        if stability.is_chosen:
            number = count_of(model.n_clusters_, "cluster")
            facts.append(("same number", f"{stability.same_number:.0%}", f"of the half-samples have {number}"))
        if model.n_clusters_ > 1:
            facts.append(("stability", f"{stability.agreement.mean():.2f}", "agreement of the half-samples, at most 1"))
    elif hasattr(model, "selection_"):
        facts.append(("agreement", f"{model.agreement_:.2f}", "of the candidate clusterings, at most 1"))
    outlier_scores = model.outlier_scores_.astype(np.float64)
    far = int((outlier_scores > noise_threshold(outlier_scores, "auto")).sum())
    words = f"{far / len(outlier_scores):.1%} of all rows" if far else "no outlier score stands out"
    return [*facts, ("outliers", f"{far:,}", words)]


def _number(model: GIT) -> str:
    """Return the best numbers of clusters in a sentence."""
    scores = model.n_clusters_scores_
    if len(scores["n_clusters"]) == 1:
        return "No other number is possible."
    best = [str(number) for number in ranked_numbers(scores)]
    return f"The best numbers are {list_of(best)}, the best first." if len(best) > 1 else f"The best is {best[0]}."


def _stability(model: GIT) -> list[str]:
    """Return paragraphs about the half-samples, the candidates, and rows near a boundary."""
    clustering, stability = model.clustering_, model.clustering_.stability
    paragraphs = []
    if stability is not None and model.n_clusters_ == 1:
        paragraphs.append(" ".join(stability.sentences()))
    elif stability is not None:
        draws = f"{stability.n_draws} half-samples of {stability.draw_size:,} rows"
        paragraphs.append(
            f"{draws} were clustered with the same parameters. The stability of a cluster is its mean Jaccard "
            "coefficient with the most similar cluster of each half-sample: 1 if both have the same rows; below "
            f"{STABLE} the cluster is unstable."
        )
        unstable = np.flatnonzero(stability.clusters < STABLE).tolist()
        lost = list_of([f"{stability.titles[c]} ({stability.dissolved[c]:.0%})" for c in unstable], MAX_LISTED)
        words = f"Unstable clusters, with the share of half-samples in which they are lost: {lost}."
        paragraphs.append(words if unstable else "All clusters are stable.")
    if hasattr(model, "selection_"):
        sizes = np.unique(model.selection_["n_neighbors"])
        sizes = sizes[sizes > 0]  # 0 stands for other methods
        several = f"{sizes[0]} to {sizes[-1]} neighbours" if len(sizes) > 1 else count_of(int(sizes[0]), "neighbour")
        paragraphs.append(
            f"{len(model.selection_['score'])} candidate clusterings were compared: several feature scalings, "
            f"{several}, several merge levels. Their agreement with the chosen one is {model.agreement_:.2f} of 1."
        )
    if model.n_clusters_ > 1:
        near = np.mean(own_shares(clustering)[model.labels_ >= 0] < NEAR_BOUNDARY)
        paragraphs.append(f"{near:.1%} of the rows lie closer to the boundary of their cluster than to its centre.")
    return paragraphs


def _unstable_rows(fitted: Fitted, shares: Array) -> list[tuple[str, str, str]]:
    """Return the rows that change cluster most often: name, cluster, share of the half-samples in which they stay."""
    clustering = fitted.clustering
    order = np.argsort(shares, kind="stable")[:MAX_LISTED]
    return [
        (clustering.name_of(i), clustering.title_of(int(clustering.labels[i])), f"{shares[i]:.0%}")
        for i in order[shares[order] < STABLE].tolist()
    ]


def _outliers(fitted: Fitted, table: Table) -> list[tuple[str, str, str, str]]:
    """Return the rows with the highest outlier scores: name, cluster, score, largest differences from the cluster."""
    model, clustering = fitted.model, fitted.clustering
    scores = model.outlier_scores_.astype(np.float64)
    order = np.argsort(-scores, kind="stable")[:MAX_LISTED]
    clusters = clustering.edge_cut.labels[clustering.local_labels]  # that of noise as well
    traits = read_traits(table.data, columns=clustering.columns)
    rows = []
    for i in order[scores[order] > 0].tolist():
        differences = compare_to_group(traits, i, np.flatnonzero(clusters == clusters[i]))
        cluster = clustering.title_of(int(clustering.labels[i]))
        words = in_words(differences, words="; ") or "no single column"
        rows.append((clustering.name_of(i), cluster, f"{scores[i]:.2f}", words))
    return rows


def _data_facts(model: GIT, table: Table) -> dict[str, str]:
    """Return the columns that were used and not used, the dropped rows and the missing values."""
    columns, names = model.clustering_.columns, list(table.data.columns)
    used = names if columns is None else [column.name for column in columns.used]
    unused = [] if columns is None else [column.name for column in columns if not column.used]
    unused = list(dict.fromkeys([*table.unread, *unused]))
    gaps = {} if columns is None else {column.name: column.missing for column in columns.used if column.missing}
    missing = "none in the columns used"
    if gaps:
        missing = (
            f"{', '.join(f'{name} {count:,}' for name, count in gaps.items())}. A missing number is imputed from the "
            "nearest rows. A missing category is at the same distance from all values."
        )
    return {
        f"columns used ({len(used)})": join_names(used, MAX_NAMES),
        f"columns not used ({len(unused)})": join_names(unused, MAX_NAMES) or "none",
        "rows dropped": f"{table.dropped:,} with missing values" if table.dropped else "none",
        "missing values": missing,
    }
