"""A profile as HTML, for notebooks and the report: a table with a bar for every difference, and the rules below it."""

from collections.abc import Iterable
from html import escape

from gitcluster.fitted.contrasts import ClusterProfile, Contrast

SHOWN = 8
FULL = 3.0
"""Standard deviations that fill one side of a bar."""
ABOVE, BELOW = "#2f6fb2", "#c8573c"
STYLE = """
.git-profile table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .3rem 0; width: 100%;
max-width: 62rem; }
.git-profile th, .git-profile td { padding: .3rem .7rem; text-align: right; border: 0;
border-bottom: 1px solid rgba(128, 128, 128, .25); background: none; }
.git-profile th { font-weight: 500; opacity: .7; } .git-profile .text { text-align: left; }
.git-profile td.bar { width: 28%; padding: 0 .7rem; }
.git-profile .track { position: relative; height: .9rem; background: rgba(128, 128, 128, .12); }
.git-profile .track i { position: absolute; top: 0; bottom: 0; }
.git-profile .track b { position: absolute; left: 50%; top: -2px; bottom: -2px; width: 1px;
background: rgba(128, 128, 128, .7); }
.git-profile h3 { margin: 1.6rem 0 .2rem; } .git-profile p { margin: .3rem 0; max-width: 62rem; }
.git-profile ul { margin: .3rem 0 .3rem 1.2rem; padding: 0; }
"""


def profile_html(clusters: Iterable[ClusterProfile], n_rows: int) -> str:
    """All clusters, with their style."""
    parts = "".join(map(cluster_html, clusters))
    note = "Differences are in standard deviations of the column, those of shares are Cohen's h."
    return f'<div class="git-profile"><style>{STYLE}</style><p>{n_rows:,} rows. {note}</p>{parts}</div>'


def cluster_html(cluster: ClusterProfile) -> str:
    """One cluster."""
    rows = f"{cluster.rows:,} row{'' if cluster.rows == 1 else 's'}, {cluster.share:.1%}"
    title = f"<h3>{cluster.name}: {rows}</h3>"
    shown = cluster.strongest(SHOWN)
    names = {contrast.title for contrast in shown}
    shown += [contrast for contrast in cluster.strongest_to_nearest(2) if contrast.title not in names]
    if not shown:
        return f"{title}<p>No column differs by as much as a fifth of a standard deviation.</p>"
    near = "" if cluster.nearest is None else f"<th>in cluster {cluster.nearest}, the nearest</th>"
    head = f'<tr><th class="text">column</th><th>here</th><th>elsewhere</th><th>difference</th><th></th>{near}</tr>'
    body = "".join(_row(contrast, with_nearest=cluster.nearest is not None) for contrast in shown)
    return f"{title}<table>{head}{body}</table>{_rules(cluster)}"


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
            f"<p>Together they hold for {cluster.rules.coverage:.0%} of it, and {cluster.rules.precision:.0%} of the "
            "rows that they hold for are in it.</p>"
        )
    return f"<p>Rules:</p><ul>{lines}</ul>{together}"
