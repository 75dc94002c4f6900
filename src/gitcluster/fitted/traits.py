"""Columns in the units of the user's table, the differences of samples and groups in them, and rules for a group.

Values come from the table if it is given, otherwise from the features that the model stores. Differences of numbers
are in standard deviations of the column. Differences of shares are Cohen's h, and two categories differ by 1.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from gitcluster._support.arrays import Array
from gitcluster._support.names import escape_control, list_of
from gitcluster.fitted.clustering import Clustering
from gitcluster.preprocessing.columns import Column, find_kind
from gitcluster.preprocessing.scaling import apply_scaling
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.tables import Columns, as_frame, column_names
from gitcluster.preprocessing.values import date_text, read_values

SMALL = 0.2
"""Effects below this are small by Cohen's convention and are not reported."""
UNUSUAL = 2.0
"""Distance from the mean of a cluster, in its standard deviations, beyond which a value is unusual."""
RARE = 0.2
"""A category is unusual in a cluster if a smaller share of its rows has it."""
KINDS = {"numeric": "number", "log": "number", "date": "date"}
"""Kinds of a trait by those of a fitted column; every other kind is a category."""
LEARN_FROM = 20_000
"""Rows that a decision tree learns rules from."""
MAX_DEPTH = 3
MAX_RULES = 3
MAX_RULE_VALUES = 20
"""Values of a category that rules may name."""
MIN_COVERAGE = 0.05
"""Rules that cover a smaller share of their cluster are dropped."""
MOVED = 0.002
"""Share of the rows that may change sides when a limit is rounded."""

Mask = NDArray[np.bool_]


class Trait(NamedTuple):
    """One column of a table."""

    name: str
    kind: str
    """"number", "date" or "category"."""
    values: Array
    """Numbers, NaN if missing, or strings, None if missing."""
    spread: float = 1.0
    """Standard deviation of the numbers."""

    def take(self, rows: Any) -> "Trait":
        """Return the column with some of its rows."""
        return self._replace(values=self.values[rows])

    @property
    def missing(self) -> Mask:
        """Return which rows have no value."""
        if self.kind != "category":
            return np.isnan(self.values)
        return np.array([value is None for value in self.values], dtype=bool)


class Difference(NamedTuple):
    """The values of one column in two samples or groups, and the size of the difference."""

    column: str
    first: str
    second: str
    size: float


def show_value(kind: str, value: Any, digits: int | None = None) -> str:
    """Format a value with at most this many digits, or a mean if ``digits`` is None.

    Examples
    --------
    >>> show_value("number", 61234.5), show_value("number", 0.12345), show_value("number", 61234.5, digits=6)
    ('61,234', '0.123', '61,234.5')
    """
    if kind == "category":
        return "missing" if value is None else escape_control(str(value))
    if np.isnan(value):
        return "missing"
    if kind == "date":
        return date_text(value if digits else np.floor(value))
    if digits is None and not 1000 <= abs(value) < 1e9:
        return f"{value:#.3g}".rstrip(".")
    text = f"{value:,.0f}" if digits is None else f"{value:,.{digits}g}"
    return text if abs(value) >= 10_000 else text.replace(",", "")  # smaller ones may be years


def read_traits(X: Any, names: Any = None, columns: Columns | None = None) -> list[Trait]:
    """Return the columns of a table that can be described: numbers, dates and categories.

    If the ``columns`` of a fit are given, a data frame yields the columns that the fit used, with the kinds of the fit.
    If the fit used none of them, all columns except identifiers, texts and constants are returned.
    """
    frame = as_frame(X)
    if frame is None:
        matrix = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X")
        if names is None or len(names) != matrix.shape[1]:
            names = [f"feature {i}" for i in range(matrix.shape[1])]
        return [_make_trait(str(name), "number", numbers) for name, numbers in zip(names, matrix.T, strict=True)]
    existing = column_names(frame)
    used = [] if columns is None else [column.name for column in columns.used if column.name in existing]
    if columns is not None and used:
        cells = list(columns.read(frame, used))
    else:
        cells = []
        for name, series in zip(existing, frame.iter_columns(), strict=True):
            values = read_values(series, name=name)
            cells.append((Column(name, find_kind(name, values)), values))
    return [
        _make_trait(column.name, kind, values.as_texts() if kind == "category" else values.numbers)
        for column, values in cells
        if column.used
        for kind in [KINDS.get(column.kind, "category")]
    ]


def fitted_traits(clustering: Clustering, rows: Any = slice(None)) -> list[Trait]:
    """Return the columns of the fitted samples, or of some, restored from the features that the model stores.

    The list is empty for sparse samples, graphs and distances, and if the scaling cannot be undone.
    """
    source, copies, columns = clustering.fitted.source, clustering.fitted.copies, clustering.columns
    restored = restore_features(source) if isinstance(source, Points) and source.values.shape[1] else None
    if restored is None:
        return []
    values, features = restored
    matrix = np.zeros((clustering.n_samples, source.n_features))
    matrix[:, features] = values if copies is None else values[copies]
    if copies is not None:
        matrix[copies < 0] = np.nan  # samples of weight 0 are not stored
    if clustering.missing is not None:
        matrix[clustering.missing] = np.nan  # an imputed value was not measured
    if columns is None or not columns.encoded:
        names = clustering.feature_names or [f"feature {i}" for i in range(source.n_features)]
        traits = [_make_trait(names[i], "number", matrix[:, i]) for i in sorted(features.tolist())]
    else:
        traits = [
            _make_trait(column.name, KINDS.get(column.kind, "category"), cells)
            for column, cells in zip(columns.used, columns.decode(matrix), strict=True)
        ]
    return [trait.take(rows) for trait in traits]


def traits_of(clustering: Clustering, X: Any = None) -> list[Trait]:
    """Return the columns of the fitted samples, from their table X or from the model."""
    if X is None:
        return fitted_traits(clustering)
    traits = read_traits(
        X.toarray() if issparse(X) else clustering.align(X), clustering.feature_names, clustering.columns
    )
    n_rows = len(traits[0].values) if traits else 0
    if n_rows != clustering.n_samples:
        raise ValueError(f"X must have the {clustering.n_samples} rows that were fitted, got {n_rows} rows.")
    return traits


def restore_features(source: Points) -> tuple[Array, Array] | None:
    """Return the stored samples before scaling and the indices of their features; None if that is not possible."""
    scaling, points = source.scaling, source.values if source.given is None else source.given
    if issparse(points):
        return None
    points = np.asarray(points, dtype=np.float64)
    if scaling is None or source.given is not None:
        return points, np.arange(points.shape[1])
    if points.shape[1] != len(scaling.features):
        return None
    if len(scaling.weights) == len(scaling.features):
        values = points / scaling.weights
    else:
        values = 2 * ((points * scaling.deviation + scaling.mean) * scaling.span + scaling.low)
    again = np.zeros((len(points), source.n_features))
    again[:, scaling.features] = values
    # Power transforms and rotations are not undone: scaling the values again must give the stored ones.
    same = np.allclose(apply_scaling(again, scaling), points, rtol=1e-4, atol=1e-6)
    return (values, scaling.features) if same else None


def _make_trait(name: str, kind: str, values: Any) -> Trait:
    return Trait(name, kind, values) if kind == "category" else Trait(name, kind, values, _spread(values))


def _spread(numbers: Array) -> float:
    """Return the standard deviation of the numbers that are not missing, 1 if it is 0."""
    known = numbers[~np.isnan(numbers)]
    with np.errstate(all="ignore"):
        return (float(np.std(known, dtype=np.float64)) if len(known) else 0.0) or 1.0


def describe_unused(columns: Columns | None) -> str:
    """Return a sentence that names the columns that the clustering did not use, or ""."""
    unused = [] if columns is None else [escape_control(column.name) for column in columns if not column.used]
    return f"Columns not used for clustering: {list_of(unused)}." if unused else ""


def compare_samples(traits: list[Trait], i: int, j: int) -> list[Difference]:
    """Return the columns in which two rows differ, the largest difference first."""
    differences = []
    for trait in traits:
        a, b = trait.values[i], trait.values[j]
        size = float(a != b) if trait.kind == "category" else _distance(a, b, trait.spread)
        first, second = (show_value(trait.kind, value, digits=6) for value in (a, b))
        differences.append(Difference(trait.name, first, second, size))
    return _largest(differences)


def compare_to_group(traits: list[Trait], sample: int, group: Array) -> list[Difference]:
    """Return the columns in which a row is unusual for a group: far from its mean, or a category that is rare there.

    Differences of numbers are in standard deviations of the group.
    """
    differences = []
    for trait in traits:
        value, others = trait.values[sample], trait.values[group]
        if trait.kind == "category":
            share = float((others == value).sum() / max(1, (~trait.missing[group]).sum()))
            second = f"{share:.0%} of the cluster"
            # a share of 0 counts as much as four standard deviations, above zero it falls to half of that
            size = 2 * UNUSUAL * (1 - share) if value is not None and share < RARE else 0.0
        else:
            mean = _mean(others)
            second, size = f"cluster mean {show_value(trait.kind, mean)}", _distance(value, mean, _spread(others))
        differences.append(Difference(trait.name, show_value(trait.kind, value, digits=6), second, size))
    return _largest(differences, UNUSUAL)


def compare_groups(traits: list[Trait], first: Array, second: Array) -> list[Difference]:
    """Return the columns in which the means of two groups, or the shares of a category, differ most."""
    differences = []
    for trait in traits:
        a, b = trait.values[first], trait.values[second]
        if trait.kind == "category":
            counts, others = (Counter(value for value in values if value is not None) for values in (a, b))
            n, m = max(1, counts.total()), max(1, others.total())
            sizes = {level: abs(float(arc(counts[level] / n) - arc(others[level] / m))) for level in counts | others}
            level = min(sizes, key=lambda level: (-sizes[level], level), default="missing")
            shown = f"{escape_control(level)} {counts[level] / n:.0%}", f"{others[level] / m:.0%}"
            size = sizes.get(level, 0.0)
        else:
            means = _mean(a), _mean(b)
            shown = show_value(trait.kind, means[0]), show_value(trait.kind, means[1])
            size = _distance(*means, trait.spread)
        differences.append(Difference(trait.name, *shown, size))
    return _largest(differences)


def _distance(a: float, b: float, spread: float) -> float:
    return 0.0 if np.isnan(a - b) else abs(float(a - b)) / spread


def _largest(differences: list[Difference], least: float = SMALL) -> list[Difference]:
    return sorted((d for d in differences if d.size >= least), key=lambda d: -d.size)


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean(dtype=np.float64)) if len(known) else float("nan")


def arc(share: Any) -> Any:
    """Return the arcsine transform of a share, which gives all shares the same variance (Cohen's h)."""
    return 2 * np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))


def in_words(differences: list[Difference], *, words: str = " vs ") -> str:
    """Return the first three differences as one line, such as "income (61,000 vs 25,300), city (Rome vs Oslo)"."""
    return ", ".join(f"{escape_control(d.column)} ({d.first}{words}{d.second})" for d in differences[:3])


class Condition(NamedTuple):
    """A condition on a column: ``above`` and ``up_to`` bound a number, ``value`` is a category."""

    column: str
    kind: str
    above: float = -np.inf
    up_to: float = np.inf
    value: str | None = None
    negated: bool = False

    def __str__(self) -> str:
        name = escape_control(self.column)
        if self.value is not None:
            return f"{name} is {'not ' if self.negated else ''}{escape_control(self.value)}"
        low, high = (show_value(self.kind, limit, digits=10) if np.isfinite(limit) else "" for limit in self[2:4])
        if not low:
            return f"{name} <= {high}"
        return f"{low} < {name} <= {high}" if high else f"{name} > {low}"

    def holds(self, trait: Trait) -> Mask:
        """Return which rows meet the condition; rows with a missing value do not."""
        if self.value is None:
            return np.asarray((trait.values > self.above) & (trait.values <= self.up_to))
        same = np.asarray(trait.values == self.value, dtype=bool)
        return ~trait.missing & ~same if self.negated else same


class Rule(NamedTuple):
    """Conditions that a row must all meet."""

    conditions: tuple[Condition, ...]
    coverage: float
    """Share of the cluster that meets them."""
    precision: float
    """Share of the matching rows that are in the cluster."""

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    def describe(self) -> str:
        """Return the conditions with their coverage and precision."""
        return f"{self} (coverage {self.coverage:.0%}, precision {self.precision:.0%})"


def learn_rules(traits: list[Trait], inside: Mask, *, max_depth: int = MAX_DEPTH) -> list[Rule]:
    """Return a few rules for the rows ``inside``, the one that covers most first, from a shallow decision tree.

    The tree learns from a sample of the rows. Its limits are rounded, and coverage and precision are counted on all
    rows.

    Examples
    --------
    >>> income = Trait("income", "number", np.array([20.0, 25.0, 30.0, 70.0, 80.0, 90.0]), 30.0)
    >>> [rule.describe() for rule in learn_rules([income], np.array([False] * 3 + [True] * 3))]
    ['income > 50 (coverage 100%, precision 100%)']
    """
    if inside.all() or not inside.any():
        return []
    members = np.flatnonzero(inside), np.flatnonzero(~inside)
    rows = np.concatenate([part[:: -(-len(part) // (LEARN_FROM // 2))] for part in members])
    features: list[tuple[Trait, str | None]] = []
    parts = []
    limit = float(np.finfo(np.float32).max)  # trees use single precision
    for trait in traits:
        values = trait.values[rows]
        if trait.kind != "category":
            features.append((trait, None))
            parts.append(np.clip(values, -limit, limit))
            continue
        counts = Counter(value for value in values if value is not None)
        for value in sorted(counts, key=lambda value: (-counts[value], value))[:MAX_RULE_VALUES]:
            features.append((trait, value))
            parts.append(values == value)
    if not features:
        return []
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    least = max(1, int(0.02 * inside[rows].sum()))
    tree = DecisionTreeClassifier(
        max_depth=max_depth, min_samples_leaf=least, class_weight="balanced", random_state=0
    ).fit(np.column_stack(parts).astype(np.float32), inside[rows])
    named = {trait.name: trait for trait in traits}
    rules = []
    for conditions in _leaf_conditions(tree.tree_, features):
        matches = np.logical_and.reduce([condition.holds(named[condition.column]) for condition in conditions])
        both = int((matches & inside).sum())
        rules.append(Rule(conditions, both / len(members[0]), both / max(1, int(matches.sum()))))
    rules = [rule for rule in rules if rule.coverage >= MIN_COVERAGE]
    return sorted(rules, key=lambda rule: -rule.coverage)[:MAX_RULES]


def _leaf_conditions(tree: Any, features: list[tuple[Trait, str | None]]) -> Iterator[tuple[Condition, ...]]:
    """Yield the conditions of every leaf of the cluster, one per column and category, with rounded limits."""
    left, right = tree.children_left, tree.children_right
    inside = tree.value[:, 0].argmax(axis=1) == 1
    for node in range(len(left) - 1, -1, -1):  # children have higher numbers: two leaves of the cluster are one
        if left[node] >= 0:
            inside[node] = inside[left[node]] and inside[right[node]]
    stack: list[tuple[int, dict[tuple[str, str | None], Condition]]] = [(0, {})]
    while stack:
        node, conditions = stack.pop()
        if inside[node] and conditions:
            # "pet is cat" implies "pet is not dog"
            fixed = {c.column for c in conditions.values() if c.value is not None and not c.negated}
            yield tuple(c for c in conditions.values() if not (c.negated and c.column in fixed))
        if inside[node] or left[node] < 0:
            continue
        trait, value = features[tree.feature[node]]
        before = conditions.get((trait.name, value), Condition(trait.name, trait.kind, value=value))
        if value is not None:
            below, above = before._replace(negated=True), before._replace(negated=False)
        else:
            bound = round_limit(float(tree.threshold[node]), trait)
            below = before._replace(up_to=min(before.up_to, bound))
            above = before._replace(above=max(before.above, bound))
        stack.append((int(left[node]), conditions | {(trait.name, value): below}))
        stack.append((int(right[node]), conditions | {(trait.name, value): above}))


def round_limit(limit: float, trait: Trait) -> float:
    """Round a limit to few digits if nearly every row stays on its side, and a date down to its day.

    Examples
    --------
    >>> round_limit(35.68, Trait("price", "number", np.array([35.6, 35.75, 40.0, 12.0])))
    35.7
    """
    if trait.kind == "date":
        return float(np.floor(limit))
    known = trait.values[~np.isnan(trait.values)]
    rounded = (float(f"{limit:.{digits}g}") for digits in range(1, 15))
    return next((near for near in rounded if ((known > near) != (known > limit)).mean() <= MOVED), limit)
