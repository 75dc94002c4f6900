"""Profiles: the columns in which every cluster differs, and rules for it, as text, HTML, data frame and plot.

The mean of each column in a cluster is compared with its mean in all other rows, and in the nearest cluster, which is
the one with the strongest edge to it. For categories, shares are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.traits import (
    SMALL,
    Rule,
    Rules,
    Trait,
    arc,
    describe_unused,
    fitted_traits,
    learn_rules,
    read_traits,
    show_value,
)

MAX_LEVELS = 50
"""Values of a category that are compared, the most frequent ones."""
IN_TEXT, IN_HTML = 5, 8
"""Columns that the text and the HTML of a cluster show."""
MAX_COLUMNS = 15
"""Columns of the heat map."""
ABREAST = 8
"""Clusters in one table of the heat map."""
STRONG = 2.0
"""Effect with the strongest colour of the heat map."""
FULL_BAR = 3.0
"""Effect that fills one side of a bar."""
RED, BLUE = "200, 87, 60", "47, 111, 178"
"""Below and above the other rows."""
SCALE = "Differences are in standard deviations of the column, or Cohen's h for shares."


class Contrast(NamedTuple):
    """The mean of a column, or the share of a category, in a cluster and in other rows."""

    column: str
    kind: str
    """"number", "year", "date" or "category"."""
    value: str | None
    """The category whose shares are compared; None if means are."""
    inside: float
    elsewhere: float
    effect: float
    """Difference in standard deviations, or Cohen's h of shares; positive if the cluster has more."""
    in_nearest: float
    effect_nearest: float

    @property
    def title(self) -> str:
        """Return the name of the column, with the category."""
        return escape_control(self.column if self.value is None else f"{self.column} = {self.value}")

    def show(self, number: float) -> str:
        """Format one of the means or shares."""
        return f"{number:.0%}" if self.value is not None else show_value(self.kind, number)


class ClusterProfile(NamedTuple):
    """One cluster: its size, the columns in which it differs, and rules for it."""

    cluster: int
    """Its number; -1 is noise."""
    title: str
    """Its name, or its number."""
    rows: int
    share: float
    nearest: int | None
    nearest_title: str
    contrasts: tuple[Contrast, ...]
    """Sorted by their effects against all other rows, the largest first."""
    rules: Rules
    missing: tuple[tuple[str, int], ...] = ()
    """Columns with missing values in the cluster, and their number; means leave them out."""
    incomplete: float = 0.0
    """Share of the rows that have a missing value."""

    @property
    def name(self) -> str:
        """Return "Noise" or "Cluster" with its name or number."""
        return "Noise" if self.cluster < 0 else f"Cluster {self.title}"

    def strongest(self, most: int = IN_TEXT) -> list[Contrast]:
        """Return the columns that differ most from all other rows, without small differences."""
        return [contrast for contrast in self.contrasts if abs(contrast.effect) >= SMALL][:most]

    def strongest_to_nearest(self, most: int = IN_TEXT) -> list[Contrast]:
        """Return the columns that differ most from the nearest cluster, without small differences.

        The list is empty if there are no other rows than those of the nearest cluster.
        """
        if self.nearest is None or all(np.isclose(c.effect, c.effect_nearest) for c in self.contrasts):
            return []
        order = sorted(self.contrasts, key=lambda contrast: -abs(contrast.effect_nearest))
        return [contrast for contrast in order if abs(contrast.effect_nearest) >= SMALL][:most]

    def differences(self, most: int = 3) -> list[str]:
        """Return the largest differences as text, with the means or shares of all other rows in brackets."""
        parts = [f"{c.title} {c.show(c.inside)} ({c.show(c.elsewhere)})" for c in self.strongest(most)]
        return parts or ["all rows" if self.share == 1 else "no column differs much"]

    def missing_words(self) -> str:
        """Return a sentence on missing values, with a warning if most rows have one; or ""."""
        if not self.missing:
            return ""
        shown = ", ".join(f"{escape_control(name)} {n:,} ({n / self.rows:.0%})" for name, n in self.missing[:IN_TEXT])
        more = f" and {len(self.missing) - IN_TEXT} more columns" if len(self.missing) > IN_TEXT else ""
        warning = (
            " Most rows have missing values: check whether they cause the cluster." if self.incomplete > 0.5 else ""
        )
        return f"Missing: {shown}{more}.{warning}"

    def rule_words(self, rule: Rule) -> str:
        """Return a rule with its coverage and precision."""
        return f"{rule} (coverage {rule.coverage:.0%}, precision {rule.precision:.0%})"

    def __str__(self) -> str:
        lines = [f"{self.name}: {count_of(self.rows, 'row')} ({self.share:.1%})"]
        for contrast in self.strongest():
            here, there = contrast.show(contrast.inside), contrast.show(contrast.elsewhere)
            lines.append(f"  {contrast.title}: {here}, elsewhere {there} ({contrast.effect:+.1f})")
        if len(lines) == 1:
            lines.append(f"  {'All rows are in this cluster' if self.share == 1 else 'No column differs much'}.")
        nearest = self.strongest_to_nearest(3)
        if nearest:
            lines.append(f"  Compared with cluster {self.nearest_title}, the nearest:")
        for contrast in nearest:
            here, there = contrast.show(contrast.inside), contrast.show(contrast.in_nearest)
            lines.append(f"    {contrast.title}: {here}, there {there} ({contrast.effect_nearest:+.1f})")
        lines += [f"  Rule: {self.rule_words(rule)}" for rule in self.rules.rules]
        lines += [f"  {words}" for words in (self.missing_words(),) if words]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Profile:
    """The profiles of all clusters; ``print`` it, or display it in a notebook."""

    clusters: tuple[ClusterProfile, ...]
    """Noise is the last, if there is any."""
    n_rows: int
    note: str = ""
    """Names the columns that were not used for clustering, if there are any."""

    def __iter__(self) -> Iterator[ClusterProfile]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    def __getitem__(self, cluster: int) -> ClusterProfile:
        return {profile.cluster: profile for profile in self.clusters}[cluster]

    def __str__(self) -> str:
        head = f"{count_of(self.n_rows, 'row')}. {SCALE}"
        return "\n\n".join(["\n".join(filter(None, [head, self.note])), *map(str, self.clusters)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = escape(" ".join([f"{count_of(self.n_rows, 'row')}.", SCALE, self.note]))
        clusters = "".join(map(cluster_html, self.clusters))
        return f'<div class="git-profile"><style>{STYLE}</style><p>{head}</p>{heat_html(self.clusters)}{clusters}</div>'

    def to_frame(self) -> Any:
        """Return one row per cluster and column (per value of a category) as a pandas data frame."""
        pandas = require("pandas", extra="export", purpose="to_frame")
        rows = [
            (profile.cluster, -1 if profile.nearest is None else profile.nearest, *contrast)
            for profile in self.clusters
            for contrast in profile.contrasts
        ]
        return pandas.DataFrame(rows, columns=["cluster", "nearest", *Contrast._fields])

    def rules_frame(self) -> Any:
        """Return one row per rule as a pandas data frame: cluster, rule, coverage, precision."""
        pandas = require("pandas", extra="export", purpose="rules_frame")
        rows = [
            (profile.cluster, str(rule), rule.coverage, rule.precision)
            for profile in self.clusters
            for rule in profile.rules.rules
        ]
        return pandas.DataFrame(rows, columns=["cluster", "rule", "coverage", "precision"])


def profile(model: Any, X: Any = None, *, rules: bool = True) -> Profile:
    """Return the columns in which the clusters of a fitted model differ.

    Parameters
    ----------
    model : GIT or Clustering
        A fitted model.
    X : data frame or array-like of shape (n_samples, n_columns), default=None
        A table with the fitted rows; by default the fitted features that the model stores. For a data frame, only
        columns that the clustering used are compared, and the others are listed. A table without any of these columns
        is described as it is.
    rules : bool, default=True
        Whether to learn rules as well.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster.pipeline import git_clusters
    >>> X = np.array([[0.0, 5.0], [1.0, 2.0], [1.5, 4.0], [8.0, 4.5], [8.5, 2.5], [9.5, 3.5]])
    >>> print(profile(git_clusters(X, n_clusters=2, scale=[1.0, 0.1]), X)[0])
    Cluster 0: 3 rows (50.0%)
      feature 0: 8.67, elsewhere 0.833 (+2.0)
      Rule: feature 0 > 5 (coverage 100%, precision 100%)
    """
    clustering = clustering_of(model)
    if X is None:
        traits = fitted_traits(clustering, np.arange(clustering.n_samples))
        if not traits:
            raise ValueError("X must be given, because the model stores no columns. Pass the table that was fitted.")
    else:
        n_rows = np.shape(X)[0] if hasattr(X, "shape") else len(X)
        if n_rows != clustering.n_samples:
            raise ValueError(f"X must have the {clustering.n_samples} rows that were fitted, got {n_rows} rows.")
        table = X.toarray() if hasattr(X, "toarray") else X
        traits = read_traits(table, clustering.feature_names, clustering.columns)
    ids, titles = clustering.cluster_ids.tolist(), clustering.titles
    nearest = {ids[a]: ids[b] for a, b in clustering.nearest_clusters().items()}
    labels = np.asarray(clustering.to_ids(clustering.labels))
    clusters = profile_clusters(traits, labels, nearest=nearest, titles=titles, rules=rules)
    return Profile(clusters, clustering.n_samples, describe_unused(clustering.columns, X))


def profile_clusters(
    traits: list[Trait],
    labels: NDArray[np.int64],
    *,
    nearest: dict[int, int] | None = None,
    titles: dict[int, str] | None = None,
    rules: bool = True,
) -> tuple[ClusterProfile, ...]:
    """Return a profile of every cluster, noise (-1) last."""
    clusters = sorted(set(labels.tolist()), key=lambda label: (label < 0, label))
    codes = np.searchsorted(clusters[:-1] if clusters[-1] < 0 else clusters, labels)
    codes[labels < 0] = len(clusters) - 1
    titles = titles or {label: str(label) for label in clusters}
    near = [
        clusters.index(nearest[label]) if nearest and nearest.get(label) in clusters else None for label in clusters
    ]
    columns = [_contrasts(trait, codes, near) for trait in traits]
    gaps = {trait.name: missing for trait in traits if (missing := trait.missing).any()}
    incomplete = np.logical_or.reduce(list(gaps.values())) if gaps else np.zeros(len(labels), bool)
    profiles = []
    for c, label in enumerate(clusters):
        inside = codes == c
        contrasts = sorted((contrast for column in columns for contrast in column[c]), key=lambda x: -abs(x.effect))
        profiles.append(
            ClusterProfile(
                cluster=label,
                title=titles[label],
                rows=int(inside.sum()),
                share=float(inside.mean()),
                nearest=None if (other := near[c]) is None else clusters[other],
                nearest_title="" if other is None else titles[clusters[other]],
                contrasts=tuple(contrasts),
                rules=learn_rules(traits, inside) if rules else Rules(),
                missing=tuple((name, n) for name, mask in gaps.items() if (n := int(mask[inside].sum()))),
                incomplete=float(incomplete[inside].mean()),
            )
        )
    return tuple(profiles)


def _contrasts(trait: Trait, codes: Array, nearest: list[int | None]) -> list[list[Contrast]]:
    """Return the contrasts of one column in every cluster: of its mean, or of at most two of its categories."""
    known = ~trait.missing
    n_clusters, codes, values = len(nearest), codes[known], trait.values[known]
    rows = np.bincount(codes, minlength=n_clusters).astype(np.float64)[:, None]
    levels: list[str | None] = [None]
    base, sums = 0.0, np.zeros((n_clusters, 1))
    if trait.kind == "category":
        names, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
        sums = np.zeros((n_clusters, len(names)))
        np.add.at(sums, (codes, positions), 1.0)
        frequent = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
        sums, levels = sums[:, frequent], names[frequent].tolist()
    else:
        base = float(values[0]) if len(values) else 0.0  # sums of differences keep their digits far from 0
        sums[:, 0] = np.bincount(codes, values - base, minlength=n_clusters)
    with np.errstate(all="ignore"):  # NaN if no value is known
        inside = base + sums / rows
        elsewhere = base + (sums.sum(axis=0) - sums) / (rows.sum() - rows)
        in_nearest = np.array([np.full(len(levels), np.nan) if c is None else inside[c] for c in nearest])
        effects = [
            arc(inside) - arc(other) if trait.kind == "category" else (inside - other) / trait.spread
            for other in (elsewhere, in_nearest)
        ]
    effect, effect_nearest = (np.where(np.isnan(values), 0.0, values) for values in effects)
    contrasts = []
    for c in range(n_clusters):
        chosen = [0]
        if trait.kind == "category":
            chosen = [i for i in np.argsort(-effect[c], kind="stable")[:2].tolist() if effect[c, i] > 0]
        numbers = np.stack([inside[c], elsewhere[c], effect[c], in_nearest[c], effect_nearest[c]])
        contrasts.append([Contrast(trait.name, trait.kind, levels[i], *numbers[:, i].tolist()) for i in chosen])
    return contrasts


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
TABLE = """
<div class="git-wide"><table class="{kind}">
<thead><tr>{head}</tr></thead>
<tbody>{body}</tbody>
</table></div>"""


def heat_rows(clusters: Sequence[ClusterProfile], most: int = MAX_COLUMNS) -> dict[str, list[Contrast | None]]:
    """Return the rows of the heat map: one contrast per cluster for each column, the largest difference first.

    Columns without a difference are left out, except if fewer than two would remain. A category is shown by the value
    that is most above its share elsewhere, or by None if no value is.
    """
    cells: dict[str, list[Contrast | None]] = {}
    for i, cluster in enumerate(clusters):
        for contrast in cluster.contrasts:  # the largest effect first
            row = cells.setdefault(contrast.column, [None] * len(clusters))
            row[i] = row[i] or contrast
    largest = {name: max(abs(cell.effect) for cell in row if cell is not None) for name, row in cells.items()}
    ordered = sorted(largest, key=lambda name: -largest[name])[:most]
    return {name: cells[name] for i, name in enumerate(ordered) if i < 2 or largest[name] >= SMALL}


def heat_html(clusters: Sequence[ClusterProfile]) -> str:
    """Return columns by clusters as HTML, coloured by the difference; many clusters need several tables."""
    rows = heat_rows(clusters)
    width = ceil(len(clusters) / max(1, ceil(len(clusters) / ABREAST)))
    tables = []
    for start in range(0, len(clusters), max(1, width)):
        part = slice(start, start + width)
        names = ["cluster", *(c.title for c in clusters[part])]
        body = ""
        for name, row in rows.items():
            body += f'<tr><th class="text" scope="row">{escape(escape_control(name))}</th>'
            for contrast in row[part]:
                if contrast is None or isnan(contrast.inside):
                    body += "<td></td>"
                    continue
                value = "" if contrast.value is None else f"{escape(escape_control(contrast.value))} "
                colour, strength = BLUE if contrast.effect > 0 else RED, 0.6 * min(1.0, abs(contrast.effect) / STRONG)
                body += f'<td style="background-color: rgba({colour}, {strength:.2f})">'
                body += f"{value}{contrast.show(contrast.inside)}<small>{contrast.effect:+.1f}</small></td>"
            body += "</tr>"
        head = '<th class="text">{}</th>'.format("</th><th>".join(names))
        tables.append(TABLE.format(kind="heat", head=head, body=body))
    return "".join(tables)


def cluster_html(cluster: ClusterProfile) -> str:
    """Return one cluster as HTML: a table of differences with bars, rules, and missing values."""
    shown = cluster.strongest(IN_HTML)
    titles = {contrast.title for contrast in shown}
    shown += [contrast for contrast in cluster.strongest_to_nearest(2) if contrast.title not in titles]
    beside, body = bool(cluster.strongest_to_nearest()), ""
    for contrast in shown:
        width = min(50.0, abs(contrast.effect) / FULL_BAR * 50)
        left, colour = (50.0, BLUE) if contrast.effect > 0 else (50.0 - width, RED)
        here, elsewhere, nearest = map(contrast.show, (contrast.inside, contrast.elsewhere, contrast.in_nearest))
        body += f"""
<tr><td class="text">{escape(contrast.title)}</td><td>{here}</td><td>{elsewhere}</td><td>{contrast.effect:+.2f}</td>
<td class="bar"><div class="track">
<i style="left:{left:.1f}%;width:{width:.1f}%;background:rgb({colour})"></i><b></b>
</div></td>{f"<td>{nearest}</td>" if beside else ""}</tr>"""
    if shown:
        head = '<th class="text">column</th><th>here</th><th>elsewhere</th><th>difference</th><th class="bar"></th>'
        head += f"<th>cluster {escape(cluster.nearest_title)} (nearest)</th>" if beside else ""
        content = TABLE.format(kind="", head=head, body=body)
    else:
        content = f"<p>{'All rows are in this cluster' if cluster.share == 1 else 'No column differs much'}.</p>"
    if shown and cluster.rules.rules:
        rules = [f"<li>{escape(cluster.rule_words(rule))}</li>" for rule in cluster.rules.rules]
        content += f"<p>{'Rules' if len(rules) > 1 else 'Rule'}:</p><ul>{''.join(rules)}</ul>"
        if len(rules) > 1:
            _, coverage, precision = cluster.rules
            content += f"<p>At least one rule: coverage {coverage:.0%}, precision {precision:.0%}.</p>"
    if cluster.missing:
        content += f"<p>{escape(cluster.missing_words())}</p>"
    dot = f"background: var(--cluster-{cluster.cluster if cluster.cluster >= 0 else 'noise'}, transparent)"
    return f"""
<section class="git-cluster">
<h3><i class="dot" style="{dot}"></i>{escape(cluster.name)}: {count_of(cluster.rows, "row")}, {cluster.share:.1%}</h3>
{content}
</section>"""
