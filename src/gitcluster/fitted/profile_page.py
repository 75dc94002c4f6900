"""A profile as HTML, for notebooks and the report: a heat map of columns by clusters, then every cluster with a bar for
every difference, and its rules."""

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, isnan

from gitcluster._support.names import count_of, visible
from gitcluster.fitted.contrasts import ClusterProfile, Contrast
from gitcluster.fitted.traits import SMALL

SCALE = "Differences are in standard deviations of the column, or Cohen's h for shares."
SHOWN = 8
FULL = 3.0
"""Standard deviations that fill one side of a bar."""
ABOVE, BELOW = "#2f6fb2", "#c8573c"
TINTS = ("200, 87, 60", "47, 111, 178")
"""The same, below and above, for cells of the heat map."""
STRONG = 2.0
"""Standard deviations of its strongest colours."""
MOST_COLUMNS = 15
"""Columns of the heat map."""
ABREAST = 8
"""Clusters side by side in it."""
STYLE = """
.git-profile table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0; width: 100%;
max-width: 62rem; }
.git-profile th, .git-profile td { padding: .3rem .7rem; text-align: right; border: 0;
border-bottom: 1px solid rgba(128, 128, 128, .25); background: none; }
.git-profile th { font-weight: 500; opacity: .7; } .git-profile .text { text-align: left; }
.git-profile td.bar { width: 28%; padding: 0 .7rem; vertical-align: middle; }
.git-profile .track { position: relative; height: .9rem; background: rgba(128, 128, 128, .12); }
.git-profile .track i { position: absolute; top: 0; bottom: 0; }
.git-profile .track b { position: absolute; left: 50%; top: -2px; bottom: -2px; width: 1px;
background: rgba(128, 128, 128, .7); }
.git-profile h3 { margin: 1.6rem 0 .2rem; } .git-profile p { margin: .3rem 0; max-width: 62rem; }
.git-profile ul { margin: .3rem 0 .3rem 1.2rem; padding: 0; }
.git-profile .git-wide { overflow-x: auto; }
.git-profile table.heat { width: auto; min-width: min(100%, 30rem); margin: .6rem 0; }
.git-profile .heat td, .git-profile .heat th { text-align: center; padding: .3rem .5rem; }
.git-profile .heat th.text { text-align: left; opacity: 1; position: sticky; left: 0; background: Canvas;
background: var(--paper, Canvas); min-width: 6rem; max-width: 16rem; font-weight: 400; vertical-align: middle; }
.git-profile .heat td { border: 1px solid transparent; background-clip: padding-box; line-height: 1.2; }
.git-profile .heat small { display: block; opacity: .75; font-size: .75em; }
.git-profile td:not(.text) { white-space: nowrap; } .git-profile .heat td { white-space: normal; }
@media (max-width: 40rem) { .git-profile .bar { display: none; }
.git-profile th, .git-profile td { padding: .3rem .35rem; font-size: .9rem; }
.git-profile thead th { white-space: nowrap; } }
"""


def profile_html(clusters: Iterable[ClusterProfile], n_rows: int, note: str = "") -> str:
    """Return all clusters, with their style; ``note`` is a sentence above them."""
    clusters = list(clusters)
    parts = heat_html(clusters) + "".join(map(cluster_html, clusters))
    head = f"<p>{count_of(n_rows, 'row')}. {escape(' '.join([SCALE, note]))}</p>"
    return f'<div class="git-profile"><style>{STYLE}</style>{head}{parts}</div>'


def heat_rows(clusters: Sequence[ClusterProfile], most: int = MOST_COLUMNS) -> dict[str, list[Contrast | None]]:
    """Columns in which some cluster differs, the largest difference first and two at least: one contrast per cluster.

    Of a category it is the value that the cluster has most above the others, None where it has none.
    """
    cells: dict[str, list[Contrast | None]] = {}
    for place, cluster in enumerate(clusters):
        for contrast in cluster.contrasts:  # the largest effect first
            row = cells.setdefault(contrast.column, [None] * len(clusters))
            row[place] = row[place] or contrast
    best = {name: max(abs(cell.effect) for cell in row if cell is not None) for name, row in cells.items()}
    ordered = sorted(best, key=lambda name: -best[name])[:most]
    return {name: cells[name] for place, name in enumerate(ordered) if place < 2 or best[name] >= SMALL}


def heat_html(clusters: Sequence[ClusterProfile], most: int = MOST_COLUMNS) -> str:
    """Columns by clusters as tables, coloured by the difference; many clusters are several tables of one width."""
    rows = heat_rows(clusters, most)
    abreast = ceil(len(clusters) / max(1, ceil(len(clusters) / ABREAST)))
    return "".join(
        _heat_table(clusters[i : i + abreast], {name: row[i : i + abreast] for name, row in rows.items()})
        for i in range(0, len(clusters), max(1, abreast))
    )


def _heat_table(clusters: Sequence[ClusterProfile], rows: dict[str, list[Contrast | None]]) -> str:
    head = "".join(f"<th>{'noise' if c.cluster < 0 else c.cluster}</th>" for c in clusters)
    body = "".join(
        f'<tr><th class="text" scope="row">{escape(visible(name))}</th>{"".join(map(_heat_cell, row))}</tr>'
        for name, row in rows.items()
    )
    return (
        f'<div class="git-wide"><table class="heat"><thead><tr><th class="text">cluster</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _heat_cell(contrast: Contrast | None) -> str:
    """The mean, or the value and its share, and the difference from all other rows."""
    if contrast is None or isnan(contrast.inside):
        return "<td></td>"
    colour, strength = TINTS[contrast.effect > 0], min(1.0, abs(contrast.effect) / STRONG) * 0.6
    value = "" if contrast.value is None else f"{escape(visible(contrast.value))} "
    told = f"{value}{contrast.show(contrast.inside)}<small>{contrast.effect:+.1f}</small>"
    return f'<td style="background-color: rgba({colour}, {strength:.2f})">{told}</td>'


def cluster_html(cluster: ClusterProfile) -> str:
    """One cluster."""
    rows = f"{count_of(cluster.rows, 'row')}, {cluster.share:.1%}"
    title = f"<h3>{_dot(cluster.cluster)}{cluster.name}: {rows}</h3>"
    missing = f"<p>{escape(words)}</p>" if (words := cluster.missing_words()) else ""
    shown = cluster.strongest(SHOWN)
    names = {contrast.title for contrast in shown}
    shown += [contrast for contrast in cluster.strongest_to_nearest(2) if contrast.title not in names]
    if not shown:
        alike = "No column differs by a fifth of a standard deviation or more"
        reason = f"<p>{'All rows are in this cluster' if cluster.share == 1 else alike}.</p>"
        return f'<section class="git-cluster">{title}{reason}{missing}</section>'
    beside = bool(cluster.strongest_to_nearest())
    near = f"<th>cluster {cluster.nearest} (nearest)</th>" if beside else ""
    head = (
        '<tr><th class="text">column</th><th>here</th><th>elsewhere</th><th>difference</th><th class="bar"></th>'
        f"{near}</tr>"
    )
    body = "".join(_row(contrast, with_nearest=beside) for contrast in shown)
    table = f'<div class="git-wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    return f'<section class="git-cluster">{title}{table}{_rules(cluster)}{missing}</section>'


def _dot(cluster: int) -> str:
    """The colour of a cluster, in a page that says what it is."""
    return "" if cluster < 0 else f'<i class="dot" style="background: var(--cluster-{cluster}, transparent)"></i>'


def _row(contrast: Contrast, *, with_nearest: bool) -> str:
    effect = contrast.effect
    width = min(50.0, abs(effect) / FULL * 50)
    left = 50.0 if effect > 0 else 50.0 - width
    bar = f'<i style="left:{left:.1f}%;width:{width:.1f}%;background:{ABOVE if effect > 0 else BELOW}"></i><b></b>'
    near = f"<td>{contrast.show(contrast.in_nearest)}</td>" if with_nearest else ""
    return (
        f'<tr><td class="text">{escape(contrast.title)}</td><td>{contrast.show(contrast.inside)}</td>'
        f"<td>{contrast.show(contrast.elsewhere)}</td><td>{effect:+.2f}</td>"
        f'<td class="bar"><div class="track">{bar}</div></td>{near}</tr>'
    )


def _rules(cluster: ClusterProfile) -> str:
    if not cluster.rules.rules:
        return ""
    lines = "".join(f"<li>{escape(cluster.rule_words(rule))}</li>" for rule in cluster.rules.rules)
    together = ""
    if len(cluster.rules.rules) > 1:
        together = (
            f"<p>All rules together cover {cluster.rules.coverage:.0%} of the cluster, "
            f"{cluster.rules.precision:.0%} precise.</p>"
        )
    return f"<p>{'Rules' if len(cluster.rules.rules) > 1 else 'Rule'}:</p><ul>{lines}</ul>{together}"
