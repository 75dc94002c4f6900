"""One HTML page with what a clustering found: for screens, light or dark, for phones, and for paper."""

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
from gitcluster.fitted.contrasts import ClusterProfile
from gitcluster.fitted.memberships import own_shares
from gitcluster.fitted.outliers import noise_threshold
from gitcluster.fitted.profile_page import ABREAST, cluster_html, heat_html
from gitcluster.fitted.profile_page import STYLE as PROFILE_STYLE
from gitcluster.fitted.profiles import Profile
from gitcluster.fitted.traits import compare_to_group, in_words, read_traits
from gitcluster.fitted.warnings import column_notes

HEAT = (
    "Each cell has the mean of the column in the cluster, or the share of the value, and below it the difference from "
    "all other rows, in standard deviations of the column (of shares Cohen's h). Blue is more, red is less than "
    "elsewhere."
)
RULES = (
    "Means here, in all other rows and in the nearest cluster. A rule is read as: of all rows of the cluster, so many "
    "meet it; of the rows that meet it, so many are in the cluster."
)
GRAPH = (
    "Every node is a group of alike rows, as large as it has rows; the wider a line, the stronger the connection. "
    "Dashed lines are cut, what is left together is a cluster. The tree tells how long each cluster stays one: "
    "it is as wide as it has rows."
)
OUTLIERS = 10
"""Rows that lie farthest out, which are told of one by one."""
NODES = 60
"""Nodes of the topo-graph: of more local clusters, those that merge first are one."""


def make_report(fitted: Fitted, table: Table, *, title: str, commands: list[str], advance: Advance) -> str:
    """The report as a page; ``commands`` made it, ``advance`` hears the share that is done."""
    model = fitted.model
    profile = model.profile(table.data)
    sections: dict[str, Callable[[], str]] = {
        "Clusters": lambda: _clusters(model, table, profile),
        **(
            {"What sets them apart": lambda: _heat(profile), "Cluster by cluster": lambda: _details(profile)}
            if len(profile) > 1
            else {}
        ),
        "How many clusters": lambda: _number(model, table),
        "How firm this is": lambda: _firmness(model, table),
        "How they are connected": lambda: _graph(model, table),
        "Rows that lie far out": lambda: _outliers(fitted, table),
        "The data": lambda: _columns(model, table),
        "How this was made": lambda: _origin(model, commands),
    }
    parts = [_head(model, table, title, list(sections))]
    for i, (heading, write) in enumerate(sections.items(), 1):
        parts.append(f'<h2 id="part-{i}">{heading}</h2>{write()}')
        advance(i / len(sections))
    parts.append(f"<footer>gitcluster {__version__}, {date.today().isoformat()}</footer></body></html>")
    return "\n".join(parts)


def _head(model: GIT, table: Table, title: str, headings: list[str]) -> str:
    lead = (
        f"{count_of(table.n_rows, 'row')}, {column_words(model, table)}, {count_of(model.n_clusters_, 'cluster')}"
        + (f"; {table.dropped:,} rows with missing values were left out" if table.dropped else "")
    )
    style = f"{STYLE}{page_colours(model.n_clusters_)}{PROFILE_STYLE}"
    links = "".join(f'<a href="#part-{i}">{heading}</a>' for i, heading in enumerate(headings, 1))
    facts = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{words}</small></dd></div>" for name, value, words in _facts(model)
    )
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
        others = ranked.partition(", ")[2] or "no other number comes near"
        words = f"chosen from the data; {others}" if sure.startswith("confidence") else sure.removesuffix(")")
        found.append(("clusters", str(model.n_clusters_), words))
        if sure.startswith("confidence"):
            found.append(("confidence in the number", sure.split()[1], "from 0 to 1"))
    else:
        found.append(("clusters", str(model.n_clusters_), "as many as were asked for"))
    if hasattr(model, "selection_"):
        words = agreement_words(model.agreement_).partition(" (")[0]
        found.append(("agreement", f"{model.agreement_:.2f}", words))
    scores = model.outlier_scores_.astype(np.float64)
    far = int((scores > noise_threshold(scores, "auto")).sum())
    return [
        *found,
        ("rows that lie far out", f"{far:,}", f"{far / len(scores):.1%} of all" if far else "no score stands out"),
    ]


def _clusters(model: GIT, table: Table, profile: Profile) -> str:
    """The picture, and beside it the sizes, which are its legend."""
    rows = "".join(_size(found) for found in profile)
    head = '<tr><th class="text">cluster</th><th>rows</th><th>share</th><th class="text">differs most in</th></tr>'
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
        f'<td class="text">{escape(found.in_words())}{bar}</td></tr>'
    )


def _heat(profile: Profile) -> str:
    return f'<div class="git-profile"><p>{HEAT}</p>{heat_html(profile.clusters)}</div>'


def _details(profile: Profile) -> str:
    return f'<div class="git-profile"><p>{RULES}</p>{"".join(map(cluster_html, profile))}</div>'


def _number(model: GIT, table: Table) -> str:
    if not hasattr(model, "n_clusters_scores_"):
        return f"<p>{model.n_clusters_} clusters were asked for and found.</p>"
    words = (
        f"The number of clusters was chosen from the data: {number_words(model.n_clusters_scores_)}. The score is high "
        "where many views of the data agree on clusters that are of similar size and hardly touch each other. Other "
        "good numbers are named if they differ by half or more."
    )
    pictures = [inline("n-clusters", model, table, size=(5.2, 3.0), quantity=name) for name in ("score", "agreement")]
    return f'<p>{escape(words)}</p><div class="pair">{"".join(pictures)}</div>'


def _firmness(model: GIT, table: Table) -> str:
    shares = own_shares(model.clustering_)
    near = float((shares[model.labels_ >= 0] < 0.75).mean())
    words = [f"{near:.1%} of the rows lie nearer to a boundary than to the middle of their cluster."]
    pictures = [inline("memberships", model, table, size=(5.2, 3.4))]
    if hasattr(model, "selection_"):
        n, sizes = len(model.selection_["score"]), np.unique(model.selection_["n_neighbors"])
        several = (
            f"from {sizes[0]} to {sizes[-1]} neighbours" if len(sizes) > 1 else count_of(int(sizes[0]), "neighbour")
        )
        told = f"{n} candidates were compared: several ways to look at the columns, {several}, and several merges."
        words = [told, agreement_words(model.agreement_), width_words(model) or "", *words]
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
    """The rows that lie farthest out, and in what each is unlike its cluster."""
    model, found = fitted.model, fitted.clustering()
    scores = model.outlier_scores_.astype(np.float64)
    order = np.argsort(-scores, kind="stable")[:OUTLIERS]
    homes = found.edge_cut.labels[found.local_labels]
    traits = read_traits(table.data)
    rows = ""
    for i in order[scores[order] > 0].tolist():
        unlike = in_words(compare_to_group(traits, i, np.flatnonzero(homes == homes[i])), words=", ")
        cluster = "noise" if model.labels_[i] < 0 else str(model.labels_[i])
        rows += (
            f'<tr><td class="text name">{escape(visible(found.name_of(i)))}</td><td>{cluster}</td>'
            f'<td>{scores[i]:.2f}</td><td class="text">{escape(unlike) or "no single column"}</td></tr>'
        )
    if not rows:
        return "<p>No row lies farther out than its neighbours.</p>"
    head = '<tr><th class="text">row</th><th>cluster</th><th>score</th><th class="text">unlike its cluster in</th></tr>'
    return (
        "<p>The score compares how far a row is from its neighbours with how far these are from theirs: it is 0 where "
        "both are equal, 0.5 where the row is twice as far, 0.9 ten times.</p>"
        f'<div class="scroll"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
    )


def _columns(model: GIT, table: Table) -> str:
    """What was done with every column, which were left out, and what was missing."""
    columns = model.clustering_.columns
    used = [column.name for column in columns.used] if columns is not None else table.names
    unused = [column.name for column in columns if not column.used] if columns is not None else []
    out = list(dict.fromkeys([*table.left_out, *unused]))
    gaps = {} if columns is None else {column.name: column.missing for column in columns.used if column.missing}
    told = {
        f"columns used ({len(used)})": escape(visible(listed(used, 50))),
        f"columns left out ({len(out)})": escape(visible(listed(out, 50))) or "none",
        "rows left out": f"{table.dropped:,} with missing values" if table.dropped else "none",
        "missing values": escape(visible(", ".join(f"{name} {count:,}" for name, count in gaps.items())))
        + ". Missing numbers are imputed from the nearest rows; a missing category is at the same distance from every "
        "value." if gaps else "none in the columns used",
    }  # fmt: skip
    notes = [] if columns is None else column_notes(columns, table.data, model.labels_)
    look = "".join(f"<li>{escape(visible(words))}</li>" for words in notes)
    look = look and f"<h3>Worth a look</h3><ul>{look}</ul>"
    if columns is None or not columns.encoded:
        return f"{_pairs(told)}{look}"
    done = {escape(visible(names)): escape(words) for names, words in column_lines(columns)}
    words = "<h3>The columns</h3><p>What was done with each before distances were measured.</p>"
    return f"{_pairs(told)}{look}{words}{_pairs(done)}"


def _origin(model: GIT, commands: list[str]) -> str:
    """How the page can be made again."""
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    told = {
        "command": "<br>".join(f"<code>{escape(visible(command))}</code>" for command in commands if command),
        "method": f"GIT, variant {model.clustering_.recipe.name}, {count_of(model.n_neighbors_, 'neighbour')}",
        "versions": f"gitcluster {__version__}, Python {python_version()}, "
        + ", ".join(f"{name} {number}" for name, number in versions.items()),
    }
    return _pairs(told)


def _pairs(told: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><td class="text key">{name}</td><td class="text">{words}</td></tr>' for name, words in told.items()
    )
    return f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>'
