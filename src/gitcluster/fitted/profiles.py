"""Profiles: the columns in which every cluster differs, and rules for it, as text, HTML, data frame and plot.

The mean of each column in a cluster is compared with its mean in all other rows and in the nearest cluster. The nearest
cluster has the strongest edge to it. For categories, shares are compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.traits import SMALL, Rule, Trait, arc, describe_unused, learn_rules, show_value, traits_of

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
RED, BLUE = "200, 87, 60", "47, 111, 178"
"""Below and above the other rows."""
SCALE = "Differences are in standard deviations of the column, or Cohen's h for shares."


class Contrast(NamedTuple):
    """The mean of a column, or the share of a category, in a cluster and in other rows."""

    column: str
    kind: str
    """"number", "date" or "category"."""
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
    rules: tuple[Rule, ...]
    missing: tuple[tuple[str, int], ...] = ()
    """Columns with missing values in the cluster, and their number; means leave them out."""

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
        return parts or ["no column differs much"]

    def notes(self) -> list[str]:
        """Return the rules and the numbers of missing values as lines of text."""
        gaps = [f"{escape_control(name)} {n:,} ({n / self.rows:.0%})" for name, n in self.missing]
        return [
            *(f"Rule: {rule.describe()}" for rule in self.rules),
            *([f"Missing: {list_of(gaps, IN_TEXT)}."] if gaps else []),
        ]

    def __str__(self) -> str:
        lines = [f"{self.name}: {count_of(self.rows, 'row')} ({self.share:.1%})"]
        for contrast in self.strongest():
            here, there = contrast.show(contrast.inside), contrast.show(contrast.elsewhere)
            lines.append(f"  {contrast.title}: {here}, elsewhere {there} ({contrast.effect:+.1f})")
        if len(lines) == 1:
            lines.append("  No column differs much.")
        nearest = self.strongest_to_nearest(3)
        if nearest:
            lines.append(f"  Compared with cluster {self.nearest_title}, the nearest:")
        for contrast in nearest:
            here, there = contrast.show(contrast.inside), contrast.show(contrast.in_nearest)
            lines.append(f"    {contrast.title}: {here}, there {there} ({contrast.effect_nearest:+.1f})")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes())])


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
        """Return one row per rule as a pandas data frame."""
        pandas = require("pandas", extra="export", purpose="rules_frame")
        rows = [(c.cluster, str(rule), rule.coverage, rule.precision) for c in self.clusters for rule in c.rules]
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
    traits = traits_of(clustering, X)
    if not traits:
        raise ValueError("X must be given, because the model stores no columns. Pass the table that was fitted.")
    ids, titles, labels = clustering.cluster_ids.tolist(), clustering.titles, np.asarray(clustering.labels)
    clusters = [*range(clustering.n_clusters), *([-1] if (labels < 0).any() else [])]
    near = clustering.nearest_clusters()
    columns = [_contrasts(trait, labels, [near.get(c) for c in clusters]) for trait in traits]
    gaps = {trait.name: trait.missing for trait in traits}
    profiles = []
    for position, c in enumerate(clusters):
        inside, number, nearest = labels == c, -1 if c < 0 else ids[c], near.get(c)
        contrasts = sorted((x for column in columns for x in column[position]), key=lambda x: -abs(x.effect))
        profiles.append(
            ClusterProfile(
                cluster=number,
                title=titles[number],
                rows=int(inside.sum()),
                share=float(inside.mean()),
                nearest=None if nearest is None else ids[nearest],
                nearest_title="" if nearest is None else titles[ids[nearest]],
                contrasts=tuple(contrasts),
                rules=tuple(learn_rules(traits, inside) if rules else ()),
                missing=tuple((name, n) for name, mask in gaps.items() if (n := int(mask[inside].sum()))),
            )
        )
    return Profile(tuple(profiles), clustering.n_samples, describe_unused(clustering.columns))


def _contrasts(trait: Trait, labels: Array, nearest: list[int | None]) -> list[list[Contrast]]:
    """Return the contrasts of one column in every cluster, noise last: of its mean, or of at most two categories."""
    known = ~trait.missing
    n_clusters, codes, values = len(nearest), labels[known] % len(nearest), trait.values[known]  # -1 is the last
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
.git-profile h3 { margin: 1.6rem 0 .2rem; } .git-profile p { margin: .3rem 0; max-width: 62rem; }
.git-profile .git-wide { overflow-x: auto; }
.git-profile table.heat { width: auto; min-width: min(100%, 30rem); margin: .6rem 0; }
.git-profile .heat td, .git-profile .heat th { text-align: center; padding: .3rem .5rem; }
.git-profile .heat th.text { text-align: left; opacity: 1; position: sticky; left: 0; background: Canvas;
background: var(--paper, Canvas); min-width: 6rem; max-width: 16rem; font-weight: 400; vertical-align: middle; }
.git-profile .heat td { border: 1px solid transparent; background-clip: padding-box; line-height: 1.2; }
.git-profile .heat small { display: block; opacity: .75; font-size: .75em; }
.git-profile td:not(.text) { white-space: nowrap; } .git-profile .heat td { white-space: normal; }
@media (max-width: 40rem) { .git-profile th, .git-profile td { padding: .3rem .35rem; font-size: .9rem; } }
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
            if not np.isnan(contrast.inside):
                row[i] = row[i] or contrast
    largest = {name: max((abs(cell.effect) for cell in row if cell), default=0.0) for name, row in cells.items()}
    ordered = sorted(largest, key=lambda name: -largest[name])[:most]
    return {name: cells[name] for i, name in enumerate(ordered) if i < 2 or largest[name] >= SMALL}


def heat_html(clusters: Sequence[ClusterProfile]) -> str:
    """Return columns by clusters as HTML, coloured by the difference; many clusters need several tables."""
    rows, tables = heat_rows(clusters), []
    for start in range(0, len(clusters), ABREAST):
        part, body = slice(start, start + ABREAST), ""
        for name, row in rows.items():
            body += f'<tr><th class="text" scope="row">{escape(escape_control(name))}</th>'
            for contrast in row[part]:
                if contrast is None:
                    body += "<td></td>"
                    continue
                value = "" if contrast.value is None else f"{escape(escape_control(contrast.value))} "
                colour, strength = BLUE if contrast.effect > 0 else RED, 0.6 * min(1.0, abs(contrast.effect) / STRONG)
                body += f'<td style="background-color: rgba({colour}, {strength:.2f})">'
                body += f"{value}{contrast.show(contrast.inside)}<small>{contrast.effect:+.1f}</small></td>"
            body += "</tr>"
        names = "".join(f"<th>{escape(cluster.title)}</th>" for cluster in clusters[part])
        tables.append(TABLE.format(kind="heat", head=f'<th class="text">cluster</th>{names}', body=body))
    return "".join(tables)


def cluster_html(cluster: ClusterProfile) -> str:
    """Return one cluster as HTML: a table of differences, rules, and missing values."""
    shown = list(dict.fromkeys([*cluster.strongest(IN_HTML), *cluster.strongest_to_nearest(2)]))
    content = "<p>No column differs much.</p>"
    if shown:
        nearest = "" if cluster.nearest is None else f"cluster {escape(cluster.nearest_title)} (nearest)"
        head = f'<th class="text">column</th><th>here</th><th>elsewhere</th><th>difference</th><th>{nearest}</th>'
        body = "".join(
            f'<tr><td class="text">{escape(c.title)}</td><td>{c.show(c.inside)}</td><td>{c.show(c.elsewhere)}</td>'
            f"<td>{c.effect:+.2f}</td><td>{c.show(c.in_nearest) if nearest else ''}</td></tr>"
            for c in shown
        )
        content = TABLE.format(kind="", head=head, body=body)
    content += "".join(f"<p>{escape(note)}</p>" for note in cluster.notes())
    dot = f"background: var(--cluster-{cluster.cluster if cluster.cluster >= 0 else 'noise'}, transparent)"
    return f"""
<section class="git-cluster">
<h3><i class="dot" style="{dot}"></i>{escape(cluster.name)}: {count_of(cluster.rows, "row")}, {cluster.share:.1%}</h3>
{content}
</section>"""
