"""The report: one HTML page about a clustering, for screens (light or dark), phones and paper."""

from collections.abc import Callable
from datetime import date
from html import escape
from importlib.metadata import version
from platform import python_version
from typing import Any

import numpy as np

from gitcluster import GIT, __version__
from gitcluster._support.names import count_of, visible
from gitcluster.cli.choosing import listed
from gitcluster.cli.models import Fitted, column_lines, column_words, width_words
from gitcluster.cli.pictures import inline, page_colours
from gitcluster.cli.report_style import STYLE
from gitcluster.cli.tables import Advance, Table
from gitcluster.fitted.attributes import agreement_words, number_words
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.fitted.profiles import ABREAST, ClusterProfile, Profile, cluster_html, heat_html
from gitcluster.fitted.profiles import STYLE as PROFILE_STYLE
from gitcluster.fitted.traits import compare_to_group, in_words, read_traits
from gitcluster.fitted.warnings import column_notes

HEAT = (
    "Each cell shows the mean of the column in the cluster, or the most typical value and its share. Below it is the "
    "difference from all other rows, in standard deviations of the column (Cohen's h for shares). Blue: higher than "
    "elsewhere. Red: lower."
)
RULES = (
    "Means and shares in the cluster, in all other rows and in the nearest cluster. A rule covers a share of the "
    "cluster; its precision is the share of matching rows that are in the cluster."
)
GRAPH = (
    "Each node is a group of similar rows; its area is the number of rows. Wider lines are stronger connections, and "
    "dashed lines are cut: the nodes that stay connected form a cluster. The tree shows how long each cluster stays in "
    "one piece as connections are cut; its width is the number of rows."
)
OUTLIERS = 10
"""Rows with the highest outlier scores, which are listed one by one."""
NODES = 60
"""Nodes of the topo-graph: of more local clusters, those that merge first are one."""


def make_report(fitted: Fitted, table: Table, *, title: str, commands: list[str], advance: Advance) -> str:
    """The report as a page; ``commands`` made it, ``advance`` hears the share that is done."""
    model, columns = fitted.model, fitted.model.clustering_.columns
    profile = model.profile(table.data)
    notes = [] if columns is None else column_notes(columns, model.clustering_.encode(table.data), model.labels_)
    sections: dict[str, Callable[[], str]] = {
        "Clusters": lambda: _clusters(model, table, profile),
        **(
            {"How the clusters differ": lambda: _heat(profile), "Cluster by cluster": lambda: _details(profile)}
            if len(profile) > 1
            else {}
        ),
        "Number of clusters": lambda: _number(model, table),
        "Stability": lambda: _firmness(model, table),
        "Connections": lambda: _graph(model, table),
        "Outliers": lambda: _outliers(fitted, table),
        "Data": lambda: _columns(model, table, notes),
        "How to reproduce": lambda: _origin(model, commands),
    }
    parts = [_head(model, table, title, list(sections), len(notes))]
    for i, (heading, write) in enumerate(sections.items(), 1):
        parts.append(f'<h2 id="part-{i}">{heading}</h2>{write()}')
        advance(i / len(sections))
    parts.append(f"<footer>gitcluster {__version__}, {date.today().isoformat()}</footer></body></html>")
    return "\n".join(parts)


def _head(model: GIT, table: Table, title: str, headings: list[str], n_notes: int) -> str:
    lead = (
        f"{count_of(table.n_rows, 'row')}, {column_words(model, table)}, {count_of(model.n_clusters_, 'cluster')}"
        + (f"; {table.dropped:,} rows with missing values were dropped" if table.dropped else "")
    )
    style = f"{STYLE}{page_colours(model.n_clusters_)}{PROFILE_STYLE}"
    links = "".join(f'<a href="#part-{i}">{heading}</a>' for i, heading in enumerate(headings, 1))
    facts = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{words}</small></dd></div>" for name, value, words in _facts(model)
    )
    if n_notes:
        where = f'<a href="#part-{headings.index("Data") + 1}">Data</a>'
        facts += f"<div><dt>columns to check</dt><dd>{n_notes}<small>see {where}</small></dd></div>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f'<body><h1>{escape(title)}</h1><p class="lead">{lead}.</p><dl class="facts">{facts}</dl><nav>{links}</nav>'
    )


def _facts(model: GIT) -> list[tuple[str, str, str]]:
    """What to know first: name, value, a few words."""
    found = []
    if hasattr(model, "n_clusters_scores_"):
        ranked, _, sure = number_words(model.n_clusters_scores_).partition(" (")
        others = ranked.partition(", or else ")[2].replace(", or else ", " or ")
        words = "chosen from the data" + (f"; next best: {others}" if others else "")
        words = words if sure.startswith("confidence") else sure.removesuffix(")")
        found.append(("clusters", str(model.n_clusters_), words))
        if sure.startswith("confidence"):
            found.append(("confidence in the number", sure.split()[1], "from 0 to 1"))
    else:
        found.append(("clusters", str(model.n_clusters_), "as requested"))
    if hasattr(model, "selection_"):
        words = agreement_words(model.agreement_).partition(" (")[0]
        found.append(("agreement", f"{model.agreement_:.2f}", words))
    scores = model.outlier_scores_.astype(np.float64)
    far = int((scores > noise_threshold(scores, "auto")).sum())
    return [
        *found,
        ("outliers", f"{far:,}", f"{far / len(scores):.1%} of all rows" if far else "no outlier score stands out"),
    ]


def _clusters(model: GIT, table: Table, profile: Profile) -> str:
    """The picture, and beside it the sizes, which are its legend."""
    rows = "".join(_size(found) for found in profile)
    differs = "largest differences (elsewhere)"
    head = f'<tr><th class="text">cluster</th><th>rows</th><th>share</th><th class="text">{differs}</th></tr>'
    sizes = f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    both = f"{inline('clusters', model, table, legend=False)}{sizes}"
    return f'<div class="pair">{both}</div>' if len(profile) <= ABREAST else both


def _size(found: ClusterProfile) -> str:
    colour = "var(--pale)" if found.cluster < 0 else f"var(--cluster-{found.cluster})"
    bar = f'<i class="share" style="width: {found.share:.1%}; background: {colour}"></i>'
    name = "noise" if found.cluster < 0 else str(found.cluster)
    return (
        f'<tr><td class="text name"><i class="dot" style="background: {colour}"></i>{name}</td>'
        f"<td>{found.rows:,}</td><td>{found.share:.1%}</td>"
        f'<td class="text">{"<br>".join(map(escape, found.differences()))}{bar}</td></tr>'
    )


def _heat(profile: Profile) -> str:
    note = f"<p>{escape(profile.note)}</p>" if profile.note else ""
    return f'<div class="git-profile"><p>{HEAT}</p>{note}{heat_html(profile.clusters)}</div>'


def _details(profile: Profile) -> str:
    return f'<div class="git-profile"><p>{RULES}</p>{"".join(map(cluster_html, profile))}</div>'


def _number(model: GIT, table: Table) -> str:
    if not hasattr(model, "n_clusters_scores_"):
        return f"<p>{count_of(model.n_clusters_, 'cluster')}, as requested.</p>"
    words = (
        f"The number of clusters was chosen from the data: {number_words(model.n_clusters_scores_)}. The score is high "
        "if many views of the data agree on clusters of similar size that hardly touch each other. Other good numbers "
        "are listed if they differ by half or more."
    )
    pictures = [inline("n-clusters", model, table, size=(5.2, 3.0), quantity=name) for name in ("score", "agreement")]
    return f'<p>{escape(words)}</p><div class="pair">{"".join(pictures)}</div>'


def _firmness(model: GIT, table: Table) -> str:
    shares = own_shares(model.clustering_)
    near = float((shares[model.labels_ >= 0] < 0.75).mean())
    words = [f"{near:.1%} of the rows lie closer to the boundary of their cluster than to its centre."]
    pictures = [inline("memberships", model, table, size=(5.2, 3.4))]
    if hasattr(model, "selection_"):
        n, sizes = len(model.selection_["score"]), np.unique(model.selection_["n_neighbors"])
        several = f"{sizes[0]} to {sizes[-1]} neighbours" if len(sizes) > 1 else count_of(int(sizes[0]), "neighbour")
        compared = (
            f"{n} candidate clusterings were compared: several feature scalings, {several}, several merge levels."
        )
        words = [compared, agreement_words(model.agreement_), width_words(model) or "", *words]
    if model.clustering_.representations is not None:
        pictures.append(inline("representations", model, table, size=(5.2, 3.4)))
    return f'<p>{escape(" ".join(filter(None, words)))}</p><div class="pair">{"".join(pictures)}</div>'


def _graph(model: GIT, table: Table) -> str:
    graph = model.topo_graph_
    nodes, edges = count_of(len(graph.sizes), "local cluster"), count_of(len(graph.edges), "connection")
    words = f"The graph has {nodes} and {edges} between them. {GRAPH}"
    pictures = [inline("topo-graph", model, table, max_nodes=NODES, n_labels=0, legend=False)]
    if model.clustering_.hierarchy is not None:
        pictures.append(inline("condensed-tree", model, table))
    return f'<p>{words}</p><div class="pair">{"".join(pictures)}</div>'


def _outliers(fitted: Fitted, table: Table) -> str:
    """Return the rows with the highest outlier scores, and the columns in which each differs from its cluster."""
    model, found = fitted.model, fitted.clustering()
    scores = model.outlier_scores_.astype(np.float64)
    order = np.argsort(-scores, kind="stable")[:OUTLIERS]
    homes = found.edge_cut.labels[found.local_labels]
    traits = read_traits(table.data, columns=found.columns)
    rows = ""
    for i in order[scores[order] > 0].tolist():
        unlike = in_words(compare_to_group(traits, i, np.flatnonzero(homes == homes[i])), words="; ")
        cluster = "noise" if model.labels_[i] < 0 else str(model.labels_[i])
        rows += (
            f'<tr><td class="text name">{escape(visible(found.name_of(i)))}</td><td>{cluster}</td>'
            f'<td>{scores[i]:.2f}</td><td class="text">{escape(unlike) or "no single column"}</td></tr>'
        )
    if not rows:
        return "<p>No row lies farther out than its neighbours.</p>"
    head = '<tr><th class="text">row</th><th>cluster</th><th>score</th><th class="text">largest differences</th></tr>'
    return (
        "<p>The outlier score compares the distance of a row to its neighbours with their distances to theirs: 0 if "
        "both are equal, 0.5 if the row is twice as far away, 0.9 if ten times. The last column compares the row with "
        "its cluster.</p>"
        f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def _columns(model: GIT, table: Table, notes: list[str]) -> str:
    """Return which columns were used and how, what was missing, and notes on columns to check."""
    columns = model.clustering_.columns
    used = [column.name for column in columns.used] if columns is not None else table.names
    unused = [column.name for column in columns if not column.used] if columns is not None else []
    out = list(dict.fromkeys([*table.left_out, *unused]))
    gaps = {} if columns is None else {column.name: column.missing for column in columns.used if column.missing}
    told = {
        f"columns used ({len(used)})": escape(visible(listed(used, 50))),
        f"columns not used ({len(out)})": escape(visible(listed(out, 50))) or "none",
        "rows dropped": f"{table.dropped:,} with missing values" if table.dropped else "none",
        "missing values": escape(visible(", ".join(f"{name} {count:,}" for name, count in gaps.items())))
        + ". A missing number is imputed from the nearest rows. A missing category is at the same distance from all "
        "values." if gaps else "none in the columns used",
    }  # fmt: skip
    look = "".join(f"<li>{escape(visible(words))}</li>" for words in notes)
    look = look and f"<h3>Columns to check</h3><ul>{look}</ul>"
    if columns is None or not columns.encoded:
        return f"{_pairs(told)}{look}"
    done = {escape(visible(names)): escape(words) for names, words in column_lines(columns)}
    words = "<h3>Columns</h3><p>How each column was used.</p>"
    return f"{_pairs(told)}{look}{words}{_pairs(done)}"


def _origin(model: GIT, commands: list[str]) -> str:
    """How the page can be made again."""
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    told = {
        "command": "<br>".join(f"<code>{escape(visible(command))}</code>" for command in commands if command),
        "method": f"GIT, variant {model.clustering_.variant.name}, {count_of(model.n_neighbors_, 'neighbour')}",
        "versions": f"gitcluster {__version__}, Python {python_version()}, "
        + ", ".join(f"{name} {number}" for name, number in versions.items()),
    }
    return _pairs(told)


def _pairs(told: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><td class="text key">{name}</td><td class="text">{words}</td></tr>' for name, words in told.items()
    )
    return f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
