"""One HTML page with what a clustering found; its pictures are embedded, and a browser prints it to PDF."""

from datetime import date
from html import escape
from importlib.metadata import version
from platform import python_version
from typing import NamedTuple

from gitcluster import GIT, __version__
from gitcluster._support.names import visible
from gitcluster.cli.cells import Table
from gitcluster.cli.choosing import listed
from gitcluster.cli.models import column_lines, column_words, width_words
from gitcluster.cli.pictures import draw, embed
from gitcluster.cli.tables import Advance
from gitcluster.fitted.attributes import agreement_words, number_words
from gitcluster.fitted.profile_page import STYLE as PROFILE_STYLE
from gitcluster.fitted.profile_page import cluster_html
from gitcluster.fitted.profiles import Profile

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 62rem; margin: 2.5rem auto; padding: 0 1.25rem }
h1 { font-size: 1.9rem; margin: 0; } h2 { margin: 2.6rem 0 .4rem; font-size: 1.3rem; } h3 { margin: 1.8rem 0 .3rem; }
p.lead { color: #55606e; margin-top: .2rem; } img { max-width: 100%; } figure { margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #e3e7ec; }
td.key { color: #55606e; white-space: nowrap; vertical-align: top; } code { overflow-wrap: anywhere; }
th { color: #55606e; font-weight: 500; } td.text, th.text { text-align: left; }
footer { color: #77818d; margin: 3rem 0 1rem; font-size: .85rem; }
@page { margin: 18mm 16mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 10.5pt; print-color-adjust: exact;
-webkit-print-color-adjust: exact; } h2, h3, h2 + p { break-after: avoid; } tr, figure { break-inside: avoid; }
img { max-height: 22cm; } }
"""
PROFILES = (
    "<h2>What sets every cluster apart</h2><p>These are the mean of a column in the cluster, its mean in all other "
    "rows, and the difference in standard deviations of the column; for values of a category, their shares and Cohen's "
    "h. A rule is read as: of all rows of the cluster, so many meet it; of the rows that meet it, so many are in the "
    "cluster.</p>"
)


class Section(NamedTuple):
    """A heading, a sentence and a picture."""

    heading: str
    sentence: str
    kind: str


def sections_of(model: GIT) -> list[Section]:
    """The pictures of a report, in order."""
    found = [Section("The clusters", "Every row has the colour of its cluster.", "clusters")]
    if hasattr(model, "n_clusters_scores_"):
        ranked = number_words(model.n_clusters_scores_)
        sentence = f"The number of clusters was chosen from the data: {ranked}."
        found.append(Section("The choice of the number of clusters", sentence, "n-clusters"))
    else:
        sentence = f"{model.n_clusters_} clusters were asked for and found."
        found.append(Section("The number of clusters", sentence, ""))
    if hasattr(model, "selection_"):
        sentence = (
            f"{len(model.selection_['score'])} candidates were compared, of several ways to look at the columns "
            f"({', '.join(dict.fromkeys(model.selection_['representation'].tolist()))}), numbers of neighbours and "
            f"merges. {agreement_words(model.agreement_)} {width_words(model) or ''}"
        ).strip()
        found.append(Section("The choice among candidates", sentence, "selection"))
    graph = model.topo_graph_
    sentence = f"It has {len(graph.sizes)} local clusters and {len(graph.edges)} connections between them."
    return [*found, Section("The topo-graph", sentence, "topo-graph")]


def make_report(model: GIT, table: Table, *, title: str, commands: list[str], advance: Advance) -> str:
    """The report as a page; ``commands`` made it, ``advance`` hears the share that is done."""
    profile = model.profile(table.data)
    sections = sections_of(model)
    parts = [_head(model, table, title), "<h2>Sizes</h2>", _sizes(profile)]
    for i, section in enumerate(sections):
        parts.append(f"<h2>{section.heading}</h2><p>{escape(section.sentence)}</p>")
        if section.kind:
            image = embed(draw(section.kind, model, table))
            parts.append(f'<figure><img alt="{section.heading}" src="{image}"></figure>')
        if i == 0:
            parts += [f'{PROFILES}<div class="git-profile">', *map(cluster_html, profile), "</div>"]
        advance((i + 1) / len(sections))
    parts += [_columns(model), _origin(model, table, commands)]
    parts.append(f"<footer>gitcluster {__version__}, {date.today().isoformat()}</footer></body></html>")
    return "\n".join(parts)


def _origin(model: GIT, table: Table, commands: list[str]) -> str:
    """How the page can be made again: commands, versions, columns, gaps."""
    columns = model.clustering_.columns
    used = [column.name for column in columns.used] if columns is not None else table.names
    unused = [column.name for column in columns if not column.used] if columns is not None else []
    out = list(dict.fromkeys([*table.left_out, *unused]))
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    gaps = {} if columns is None else {column.name: column.missing for column in columns.used if column.missing}
    gaps |= table.filled
    told = {
        "command": "<br>".join(f"<code>{escape(visible(command))}</code>" for command in commands if command),
        "versions": f"gitcluster {__version__}, Python {python_version()}, "
        + ", ".join(f"{name} {number}" for name, number in versions.items()),
        f"columns used ({len(used)})": escape(visible(listed(used, 50))),
        f"columns left out ({len(out)})": escape(visible(listed(out, 50))) or "none",
        "rows left out": f"{table.dropped:,} with missing values" if table.dropped else "none",
        "missing values": escape(visible(", ".join(f"{name} {count:,}" for name, count in gaps.items())))
        + ". A missing number is taken as the median or mean of its column, a missing category is as far from one "
        "value as from another" if gaps else "none in the columns used",
    }  # fmt: skip
    rows = "".join(
        f'<tr><td class="text key">{name}</td><td class="text">{words}</td></tr>' for name, words in told.items()
    )
    return f"<h2>How this was made</h2><table>{rows}</table>"


def _head(model: GIT, table: Table, title: str) -> str:
    lead = f"{table.n_rows:,} rows, {column_words(model, table)}, {model.n_clusters_} clusters" + (
        f"; {table.dropped:,} rows with missing values were left out" if table.dropped else ""
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{PROFILE_STYLE}</style></head>'
        f'<body><h1>{escape(title)}</h1><p class="lead">{lead}.</p>'
    )


def _sizes(profile: Profile) -> str:
    rows = "".join(
        f'<tr><td class="text">{found.name}</td><td>{found.rows:,}</td><td>{found.share:.1%}</td>'
        f'<td class="text">{escape(found.in_words())}</td></tr>'
        for found in profile
    )
    head = '<tr><th class="text"></th><th>rows</th><th>share</th><th class="text">differs most in</th></tr>'
    return f"<table>{head}{rows}</table>"


def _columns(model: GIT) -> str:
    """What was done with every column, where they are of several kinds."""
    columns = model.clustering_.columns
    if columns is None or not columns.encoded:
        return ""
    rows = "".join(
        f'<tr><td class="text">{escape(visible(names))}</td><td class="text">{escape(done)}</td></tr>'
        for names, done in column_lines(columns)
    )
    return f"<h2>The columns</h2><p>What was done with each before distances were measured.</p><table>{rows}</table>"
