"""A few rules that tell a cluster from the rest, from a shallow decision tree, with how far they hold.

The tree learns from at most 20,000 rows; its limits are rounded as long as hardly a row changes sides, and what is told
of a rule (how much of the cluster it covers, how many of its rows are in the cluster) is counted on all rows. A row in
which a value is missing meets no condition on it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.names import visible
from gitcluster.fitted.traits import Trait
from gitcluster.preprocessing.values import as_objects, date_text

LEARN_FROM = 20_000
DEPTH = 3
MOST_RULES = 3
MOST_VALUES = 20
"""Values of a category that rules may name."""
LEAST_COVER = 0.05
MOVED = 0.002
"""Share of rows that may change sides when a limit is rounded."""

Mask = NDArray[np.bool_]


class Condition(NamedTuple):
    """A condition on a column: ``above`` and ``up_to`` bound a number, ``value`` is one of a category."""

    column: str
    kind: str
    above: float = -np.inf
    up_to: float = np.inf
    value: str | None = None
    negated: bool = False

    def __str__(self) -> str:
        name = visible(self.column)
        if self.value is not None:
            return f"{name} is {'not ' if self.negated else ''}{visible(self.value)}"
        low, high = (_show_limit(limit, self.kind) for limit in (self.above, self.up_to))
        if np.isinf(self.above):
            return f"{name} <= {high}"
        return f"{name} > {low}" if np.isinf(self.up_to) else f"{low} < {name} <= {high}"

    def holds(self, trait: Trait) -> Mask:
        """Which rows meet it."""
        if self.value is not None:
            there = np.array([value is not None for value in trait.values], dtype=bool)
            same = trait.values == self.value
            return np.asarray(there & ~same if self.negated else same, dtype=bool)
        with np.errstate(invalid="ignore"):
            return np.asarray((trait.values > self.above) & (trait.values <= self.up_to))


class Rule(NamedTuple):
    """Conditions that hold together."""

    conditions: tuple[Condition, ...]
    coverage: float
    """Share of the cluster that meets them."""
    precision: float
    """Share of the rows that meet them which are in the cluster."""

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


class Rules(NamedTuple):
    """Rules of a cluster, any of which may hold, and how far they hold together."""

    rules: tuple[Rule, ...]
    coverage: float
    precision: float


def _show_limit(limit: float, kind: str) -> str:
    return date_text(np.floor(limit)) if kind == "date" and np.isfinite(limit) else f"{limit:,.10g}"


class Feature(NamedTuple):
    """What the tree sees of a column: its numbers, or whether it has a value."""

    trait: int
    value: str | None
    numbers: NDArray[np.float32]


def learn_rules(traits: list[Trait], inside: Mask, *, depth: int = DEPTH) -> Rules:
    """Rules for the rows ``inside``.

    Examples
    --------
    >>> income = Trait("income", "number", np.array([20.0, 25.0, 30.0, 70.0, 80.0, 90.0]), 30.0)
    >>> found = learn_rules([income], np.array([False] * 3 + [True] * 3))
    >>> str(found.rules[0]), found.coverage, found.precision
    ('income > 50', 1.0, 1.0)
    """
    nothing = Rules((), 0.0, 0.0)
    if not traits or inside.all() or not inside.any():
        return nothing
    rows = _some_rows(inside)
    few = [trait.take(rows) for trait in traits]
    features = list(_features(few))
    if not features:
        return nothing
    least = max(1, int(0.02 * inside[rows].sum()))
    from sklearn.tree import DecisionTreeClassifier  # takes long to load, and most fits do without

    tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, class_weight="balanced", random_state=0)
    tree.fit(np.column_stack([feature.numbers for feature in features]), inside[rows])
    found = []
    for path in _leaves(tree):
        conditions = _tidy(path, features, few)
        rule = _measured(conditions, traits, inside)
        if rule.coverage >= LEAST_COVER:
            found.append(rule)
    return _together(sorted(found, key=lambda rule: -rule.coverage)[:MOST_RULES], traits, inside)


def _some_rows(inside: Mask) -> Array:
    """Rows to learn from, as many of the cluster as of the rest where there are many."""
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    return np.concatenate([part[:: -(-len(part) // (LEARN_FROM // 2))] for part in (members, others)])


def _features(traits: list[Trait]) -> Any:
    for place, trait in enumerate(traits):
        if trait.kind != "category":
            known = trait.values[~np.isnan(trait.values)]
            centre = float(np.median(known)) if len(known) else 0.0
            limit = float(np.finfo(np.float32).max)
            yield Feature(
                place, None, np.clip(np.nan_to_num(trait.values, nan=centre), -limit, limit).astype(np.float32)
            )
            continue
        known = as_objects(value for value in trait.values if value is not None)
        values, counts = np.unique(known, return_counts=True)
        for value in values[np.argsort(-counts, kind="stable")][:MOST_VALUES].tolist():
            yield Feature(place, value, (trait.values == value).astype(np.float32))


def _leaves(tree: Any) -> list[list[tuple[int, float, bool]]]:
    """Ways to the leaves of the cluster: (feature, limit, whether above it)."""
    inner, found = tree.tree_, []
    waiting: list[tuple[int, list[tuple[int, float, bool]]]] = [(0, [])]
    while waiting:
        node, way = waiting.pop()
        if inner.children_left[node] < 0:
            if way and inner.value[node][0].argmax() == 1:
                found.append(way)
            continue
        feature, limit = int(inner.feature[node]), float(inner.threshold[node])
        waiting.append((int(inner.children_left[node]), [*way, (feature, limit, False)]))
        waiting.append((int(inner.children_right[node]), [*way, (feature, limit, True)]))
    return found


def _tidy(path: list[tuple[int, float, bool]], features: list[Feature], traits: list[Trait]) -> tuple[Condition, ...]:
    """One condition per column and side, with round limits."""
    found: dict[Any, Condition] = {}
    for place, limit, above in path:
        feature = features[place]
        trait = traits[feature.trait]
        if feature.value is not None:
            found[feature.trait, feature.value] = Condition(
                trait.name, trait.kind, value=feature.value, negated=not above
            )
            continue
        before = found.get(feature.trait, Condition(trait.name, trait.kind))
        bound = round_limit(limit, trait)
        low, high = (bound, np.inf) if above else (-np.inf, bound)
        found[feature.trait] = before._replace(above=max(before.above, low), up_to=min(before.up_to, high))
    chosen = {key[0] for key, condition in found.items() if isinstance(key, tuple) and not condition.negated}
    return tuple(  # what is one value is none of the others
        condition for key, condition in found.items()
        if not (isinstance(key, tuple) and condition.negated and key[0] in chosen)
    )  # fmt: skip


def round_limit(limit: float, trait: Trait) -> float:
    """A limit in as few digits as leave nearly every row on its side.

    Examples
    --------
    >>> round_limit(61023.7, Trait("income", "number", np.array([50000.5, 60998.2, 61049.1, 70000.0])))
    61000.0
    """
    if trait.kind == "date" or trait.whole:
        limit = float(np.floor(limit))
    known = trait.values[~np.isnan(trait.values)]
    above = known > limit
    for digits in range(1, 15):
        rounded = float(f"{limit:.{digits}g}")
        if trait.kind != "date" and ((known > rounded) != above).mean() <= MOVED:
            return rounded
    return limit


def _measured(conditions: tuple[Condition, ...], traits: list[Trait], inside: Mask) -> Rule:
    meets = _meets(conditions, traits, len(inside))
    return Rule(conditions, *_shares(meets, inside))


def _meets(conditions: tuple[Condition, ...], traits: list[Trait], n_rows: int) -> Mask:
    named = {trait.name: trait for trait in traits}
    meets = np.ones(n_rows, dtype=bool)
    for condition in conditions:
        meets &= condition.holds(named[condition.column])
    return meets


def _shares(meets: Mask, inside: Mask) -> tuple[float, float]:
    both = float((meets & inside).sum())
    return both / max(1, int(inside.sum())), both / max(1, int(meets.sum()))


def _together(rules: list[Rule], traits: list[Trait], inside: Mask) -> Rules:
    meets = np.zeros(len(inside), dtype=bool)
    for rule in rules:
        meets |= _meets(rule.conditions, traits, len(inside))
    return Rules(tuple(rules), *_shares(meets, inside))
