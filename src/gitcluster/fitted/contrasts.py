"""What sets clusters apart, column by column: plain data, without any picture or page.

For every cluster and column: the mean in the cluster against that of all other rows, and against that of the nearest
cluster (the one with the strongest edge to it), in standard deviations of the column. Of categories: the values that
are more frequent in the cluster than elsewhere, by Cohen's h. Beside them a few rules with how far they hold.

In: labels, the table, and which cluster is nearest to which. Out: a :class:`ClusterProfile` for every cluster.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, visible
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.paths import strengths
from gitcluster.fitted.rules import Rule, Rules, learn_rules
from gitcluster.fitted.traits import SMALL, Trait, arc, fitted_traits, read_traits, show_value

MOST_LEVELS = 50
"""Values of a category that are compared, the most frequent ones."""
SHOWN = 5
"""Columns of a cluster that are shown."""


class Contrast(NamedTuple):
    """A column, or one value of a category, in a cluster and elsewhere."""

    column: str
    kind: str
    """"number", "date" or "category"."""
    value: str | None
    """The value of a category; its shares are compared, and means of other columns."""
    inside: float
    elsewhere: float
    effect: float
    """The difference in standard deviations, of shares Cohen's h; above 0 where it is more in the cluster."""
    in_nearest: float
    effect_nearest: float

    @property
    def title(self) -> str:
        """The name of the column, with the value of a category."""
        return visible(self.column if self.value is None else f"{self.column} = {self.value}")

    def show(self, number: float) -> str:
        """One of its numbers for people."""
        return f"{number:.0%}" if self.value is not None else show_value(self.kind, number)


class ClusterProfile(NamedTuple):
    """One cluster: its size, the nearest other one, the columns that set it apart, and rules for it."""

    cluster: int
    """-1 is noise."""
    rows: int
    share: float
    nearest: int | None
    contrasts: tuple[Contrast, ...]
    """The largest effect against all other rows first."""
    rules: Rules
    missing: tuple[tuple[str, int], ...] = ()
    """Columns with missing values in the cluster, and in how many rows; means leave these out."""
    incomplete: float = 0.0
    """Share of its rows that have a missing value."""

    @property
    def name(self) -> str:
        """What it is called."""
        return "Noise" if self.cluster < 0 else f"Cluster {self.cluster}"

    def strongest(self, most: int = SHOWN) -> list[Contrast]:
        """The columns that set it apart from all other rows, without small differences."""
        return [contrast for contrast in self.contrasts if abs(contrast.effect) >= SMALL][:most]

    def strongest_to_nearest(self, most: int = SHOWN) -> list[Contrast]:
        """Return the columns that set it apart from the nearest cluster, without small differences.

        If the nearest cluster is all there is elsewhere, nothing is left to say and the list is empty.
        """
        if self.nearest is None or all(c.effect == c.effect_nearest for c in self.contrasts):
            return []
        order = sorted(self.contrasts, key=lambda contrast: -abs(contrast.effect_nearest))
        return [contrast for contrast in order if abs(contrast.effect_nearest) >= SMALL][:most]

    def differences(self, most: int = 3) -> list[str]:
        """Return the strongest differences: means or shares in the cluster and, in brackets, in all other rows."""
        parts = [f"{c.title} {c.show(c.inside)} ({c.show(c.elsewhere)})" for c in self.strongest(most)]
        return parts or ["all rows" if self.share == 1 else "no column differs much"]

    def missing_words(self) -> str:
        """Return which values are missing in the cluster, and whether its rows may be alike because of that; or ""."""
        if not self.missing:
            return ""
        shown = ", ".join(f"{visible(name)} {n:,} ({n / self.rows:.0%})" for name, n in self.missing[:SHOWN])
        more = f" and {len(self.missing) - SHOWN} more columns" if len(self.missing) > SHOWN else ""
        doubt = " Most rows have a gap: check whether the gaps make the cluster." if self.incomplete > 0.5 else ""
        return f"Missing: {shown}{more}.{doubt}"

    def rule_words(self, rule: Rule) -> str:
        """Return a rule, the share of the cluster that meets it, and the share of matching rows in the cluster."""
        where = "the noise" if self.cluster < 0 else "the cluster"
        return f"{rule} (covers {rule.coverage:.0%} of {where}, {rule.precision:.0%} precise)"

    def __str__(self) -> str:
        lines = [f"{self.name}: {count_of(self.rows, 'row')} ({self.share:.1%})"]
        shown = self.strongest()
        if not shown:
            lines.append(f"  {'All rows are in this cluster' if self.share == 1 else 'No column differs much'}.")
        for contrast in shown:
            here, there = contrast.show(contrast.inside), contrast.show(contrast.elsewhere)
            lines.append(f"  {contrast.title}: {here}, elsewhere {there} ({contrast.effect:+.1f})")
        beside = self.strongest_to_nearest(3)
        if beside:
            lines.append(f"  Compared with cluster {self.nearest}, the nearest:")
        for contrast in beside:
            here, there = contrast.show(contrast.inside), contrast.show(contrast.in_nearest)
            lines.append(f"    {contrast.title}: {here}, there {there} ({contrast.effect_nearest:+.1f})")
        lines += [f"  Rule: {self.rule_words(rule)}" for rule in self.rules.rules]
        lines += [f"  {words}" for words in (self.missing_words(),) if words]
        return "\n".join(lines)


def compare_clusters(found: Clustering, X: Any, *, rules: bool) -> tuple[ClusterProfile, ...]:
    """A profile of every cluster of a fit, from the table that was fitted or, without one, from what the fit keeps."""
    traits = _traits(found, X)
    return profile_clusters(traits, np.asarray(found.labels), nearest=nearest_clusters(found), rules=rules)


def _traits(found: Clustering, X: Any) -> list[Trait]:
    if X is None:
        traits = fitted_traits(found, np.arange(found.n_samples))
        if not traits:
            raise ValueError("X must be given: the model keeps no columns to tell of. Pass the table that was fitted.")
        return traits
    n_rows = np.shape(X)[0] if hasattr(X, "shape") else len(X)
    if n_rows != found.n_samples:
        raise ValueError(f"X has {n_rows} rows, the model was fitted on {found.n_samples}. Pass the fitted ones.")
    X = X.toarray() if hasattr(X, "toarray") else X
    return read_traits(X, found.feature_names, found.columns)


def nearest_clusters(found: Clustering) -> dict[int, int]:
    """The cluster to which every cluster has its strongest edge; none for a cluster without edges."""
    graph, labels = found.topo_graph, found.edge_cut.labels
    ends, rank = labels[graph.edges], strengths(graph)
    between = np.flatnonzero(ends[:, 0] != ends[:, 1])
    nearest: dict[int, int] = {}
    for edge in between[np.argsort(rank[between])].tolist():  # the strongest comes last
        a, b = map(int, ends[edge])
        nearest[a], nearest[b] = b, a
    return nearest


def profile_clusters(
    traits: list[Trait], labels: NDArray[np.int64], *, nearest: dict[int, int] | None = None, rules: bool = True
) -> tuple[ClusterProfile, ...]:
    """A profile of every cluster, noise (-1) last."""
    numbers = sorted(set(labels.tolist()), key=lambda label: (label < 0, label))
    groups = {label: place for place, label in enumerate(numbers)}
    codes = np.array([groups[label] for label in labels.tolist()], dtype=np.int64)
    near = [groups.get((nearest or {}).get(label, -2)) for label in numbers]
    columns = [_contrasts(trait, codes, near) for trait in traits]
    gaps = {trait.name: mask for trait in traits if (mask := trait.missing).any()}
    incomplete = np.logical_or.reduce(list(gaps.values())) if gaps else np.zeros(len(labels), bool)
    found = []
    for place, label in enumerate(numbers):
        inside = codes == place
        contrasts = sorted((c for column in columns for c in column[place]), key=lambda c: -abs(c.effect))
        beside = near[place]
        learnt = learn_rules(traits, inside) if rules else Rules((), 0.0, 0.0)
        closest = None if beside is None else numbers[beside]
        shape = int(inside.sum()), float(inside.mean())
        missing = tuple((name, n) for name, mask in gaps.items() if (n := int(mask[inside].sum())))
        share = float(incomplete[inside].mean())
        found.append(ClusterProfile(label, *shape, closest, tuple(contrasts), learnt, missing, share))
    return tuple(found)


def _contrasts(trait: Trait, codes: Array, near: list[int | None]) -> list[list[Contrast]]:
    """What is told of one column, for every group of rows."""
    if trait.kind == "category":
        return _shares(trait, codes, near)
    known = ~np.isnan(trait.values)
    counts = np.bincount(codes[known], minlength=len(near)).astype(np.float64)
    base = float(trait.values[known][0]) if known.any() else 0.0  # sums keep their digits far from 0
    sums = np.bincount(codes[known], trait.values[known] - base, minlength=len(near))
    with np.errstate(all="ignore"):
        inside, outside = base + sums / counts, base + (sums.sum() - sums) / (counts.sum() - counts)
    found = []
    for place, beside in enumerate(near):
        here, there = float(inside[place]), float(outside[place])
        next_to = float("nan") if beside is None else float(inside[beside])
        effects = [_effect(here, other, trait.spread) for other in (there, next_to)]
        found.append([Contrast(trait.name, trait.kind, None, here, there, effects[0], next_to, effects[1])])
    return found


def _effect(here: float, there: float, spread: float) -> float:
    return 0.0 if np.isnan(here - there) else (here - there) / spread


def _shares(trait: Trait, codes: Array, near: list[int | None]) -> list[list[Contrast]]:
    known = np.array([value is not None for value in trait.values], dtype=bool)
    levels, places, counts = np.unique(trait.values[known], return_inverse=True, return_counts=True)
    table = np.zeros((len(near), len(levels)))
    np.add.at(table, (codes[known], places), 1)
    kept = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    total = table.sum(axis=1)
    with np.errstate(all="ignore"):
        inside = table / total[:, None]  # NaN where no value is known
        outside = (table.sum(axis=0) - table) / (total.sum() - total)[:, None]
    found = []
    for place, beside in enumerate(near):
        effects = {i: _effect(arc(inside[place, i]), arc(outside[place, i]), 1.0) for i in kept.tolist()}
        found.append([
            Contrast(
                trait.name, "category", str(levels[i]), float(inside[place, i]), float(outside[place, i]), effects[i],
                float("nan") if beside is None else float(inside[beside, i]),
                0.0 if beside is None else _effect(arc(inside[place, i]), arc(inside[beside, i]), 1.0),
            )
            for i in sorted(effects, key=lambda i: -effects[i])[:2] if effects[i] > 0
        ])  # fmt: skip
    return found
