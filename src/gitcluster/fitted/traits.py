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

from gitcluster._support.arrays import Array
from gitcluster._support.names import escape_control
from gitcluster.fitted.clustering import Clustering
from gitcluster.preprocessing.columns import find_kind
from gitcluster.preprocessing.scaling import apply_scaling
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.tables import Columns, as_frame, column_names
from gitcluster.preprocessing.values import as_objects, date_text, read_values

SMALL = 0.2
"""Effects below this are small by Cohen's convention and are not reported."""
MAX_NAMES = 10
"""Unused columns that are listed by name."""
FIRST_YEAR, LAST_YEAR = 1500, 2100
"""Integers in this range are shown without thousands separators, since they may be years."""
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
UNUSUAL = 2.0
"""Distance from the mean, in standard deviations of the cluster, beyond which a value is unusual."""
RESTORED_ERROR = 1e-7
"""Error of numbers that were scaled and restored, beside the largest one."""
MAX_DECIMALS = 6
"""Columns with more decimals have no precision of their own."""
MIN_SEPARATION = 0.75
"""A limit that separates two groups less, by the mean share of both on their own sides, is not worth a sentence."""

Mask = NDArray[np.bool_]


class Trait(NamedTuple):
    """One column of a table."""

    name: str
    kind: str
    """"number", "year", "date" or "category"."""
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


def show_value(kind: str, value: Any, *, exact: bool = False) -> str:
    """Format a cell: a mean with three digits, or the value of one row if ``exact``.

    Examples
    --------
    >>> show_value("number", 61234.5), show_value("number", 0.12345), show_value("year", 1994.3)
    ('61,234', '0.123', '1994')
    """
    if kind == "category":
        return "missing" if value is None else escape_control(str(value))
    if np.isnan(value):
        return "missing"
    if kind == "date":
        return date_text(value if exact else np.floor(value))
    if kind == "year":
        return f"{value:.0f}"
    if exact:
        return f"{value:,.6g}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:#.3g}".rstrip(".")


def read_traits(X: Any, names: Any = None, columns: Columns | None = None) -> list[Trait]:
    """Return the columns of a table that can be described: numbers, dates and categories.

    If the ``columns`` of a fit are given, a data frame yields the columns that the fit used, with the kinds of the fit.
    If the fit used none of them, all columns except identifiers, texts and constants are returned.
    """
    frame = as_frame(X)
    if frame is not None:
        existing = column_names(frame)
        used = [] if columns is None else [column.name for column in columns.used if column.name in existing]
        if columns is not None and used:
            return [
                _number_trait(column.name, values.numbers, KINDS[column.kind])
                if column.kind in KINDS and values.numbers is not None
                else Trait(column.name, "category", values.as_texts())
                for column, values in columns.read(frame, used)
            ]
        cells = [read_values(column, name=name) for name, column in zip(existing, frame.iter_columns(), strict=True)]
    else:
        matrix = np.asarray(X)
        if matrix.ndim != 2:
            raise ValueError(f"X must be a table of rows and columns, got shape {matrix.shape}.")
        existing = [f"feature {i}" for i in range(matrix.shape[1])]
        if names is not None and len(names) == matrix.shape[1]:
            existing = list(map(str, names))
        if matrix.dtype.kind in "fiu":  # every column of a numeric array is a feature, even if it counts rows
            numbers = matrix.T.astype(np.float64)
            return [_number_trait(name, column) for name, column in zip(existing, numbers, strict=True)]
        cells = [read_values(column) for column in matrix.T]
    traits = []
    for name, values in zip(existing, cells, strict=True):
        kind = find_kind(name, values)
        if kind in ("identifier", "text", "constant", "empty"):
            continue
        if values.numbers is None:
            traits.append(Trait(name, "category", values.as_texts()))
        else:
            traits.append(_number_trait(name, values.numbers, "date" if kind == "date" else "number"))
    return traits


def _number_trait(name: str, numbers: Array, kind: str = "number", spread: float | None = None) -> Trait:
    known = numbers[~np.isnan(numbers)]
    if kind == "number" and len(known) and FIRST_YEAR <= known.min() <= known.max() <= LAST_YEAR:
        kind = "year" if (known == np.floor(known)).all() else kind
    return Trait(name, kind, numbers, _spread(numbers) if spread is None else spread)


def _spread(numbers: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.std(numbers[~np.isnan(numbers)], dtype=np.float64)) or 1.0


def describe_unused(columns: Columns | None, X: Any = None) -> str:
    """Return a sentence that names the columns of a table, or of the fit, that the clustering did not use; or ""."""
    if columns is None:
        return ""
    used = {column.name for column in columns.used}
    names = [column.name for column in columns] if as_frame(X) is None else column_names(X)
    unused = [escape_control(name) for name in names if name not in used]
    if not unused:
        return ""
    if len(unused) == len(names):
        return "No column of this table was used for clustering."
    more = f" and {len(unused) - MAX_NAMES} more" if len(unused) > MAX_NAMES else ""
    return f"Columns not used for clustering: {', '.join(unused[:MAX_NAMES])}{more}."


def fitted_traits(clustering: Clustering, rows: Array) -> list[Trait]:
    """Return the columns of some fitted samples, restored from the features that the model stores.

    The list is empty for sparse samples, graphs and distances, and if the scaling cannot be undone.
    """
    source, copies = clustering.fitted.source, clustering.fitted.copies
    if not isinstance(source, Points) or issparse(source.values) or not source.values.shape[1]:
        return []
    positions = rows if copies is None else copies[rows]
    restored = restore_features(source, positions) if (positions >= 0).all() else None
    if restored is None:
        return []
    values, features, spread = restored
    for i, column in enumerate(values.T):  # scaling may have turned 1.19 into 1.1899999
        tolerance = RESTORED_ERROR * np.abs(column).max(initial=0.0)
        coarse = [decimals for decimals in range(MAX_DECIMALS) if 0.1**decimals > 20 * tolerance]
        rounded = (np.round(column, decimals) for decimals in coarse)
        values[:, i] = next((near for near in rounded if np.abs(near - column).max(initial=0.0) <= tolerance), column)
    missing = None if clustering.missing is None else clustering.missing[rows]
    columns = clustering.columns
    if columns is None or not columns.encoded:
        if missing is not None:
            values = np.where(missing[:, features], np.nan, values)
        names = clustering.feature_names or [f"feature {i}" for i in range(source.n_features)]
        order = np.argsort(features).tolist()
        return [_number_trait(names[features[i]], values[:, i], spread=spread[i]) for i in order]
    matrix, spreads = np.zeros((len(rows), source.n_features)), np.ones(source.n_features)
    matrix[:, features], spreads[features] = values, spread
    if missing is not None:
        matrix[missing] = np.nan  # an imputed value was not measured
    traits, first = [], 0
    for column, cells in zip(columns.used, columns.decode(matrix), strict=True):
        width = float(spreads[first])
        if column.kind == "log":  # a spread of logarithms, as a spread of the numbers around their median
            width = float(np.exp(column.median) * width) or 1.0
        kind = KINDS.get(column.kind, "category")
        is_number = kind == "number"
        traits.append(
            _number_trait(column.name, cells, spread=width) if is_number else Trait(column.name, kind, cells, width)
        )
        first += len(column.features)
    return traits


def restore_features(source: Points, positions: Array) -> tuple[Array, Array, Array] | None:
    """Return samples before scaling, the indices of their features and their spreads; None if that is not possible."""
    scaling, known = source.scaling, source.values if source.given is None else source.given
    points, spread = np.asarray(known[positions], dtype=np.float64), np.array([_spread(column) for column in known.T])
    if scaling is None or source.given is not None:
        return points, np.arange(points.shape[1]), spread
    if points.shape[1] != len(scaling.features):
        return None
    if len(scaling.weights) == len(scaling.features):
        values, unit = points / scaling.weights, 1 / scaling.weights
    else:
        values = 2 * ((points * scaling.deviation + scaling.mean) * scaling.span + scaling.low)
        unit = 2 * scaling.deviation * scaling.span
    again = np.zeros((len(points), source.n_features))
    again[:, scaling.features] = values
    same = np.allclose(apply_scaling(again, scaling), points, rtol=1e-4, atol=1e-6)
    return (values, scaling.features, unit * spread) if same else None


def compare_samples(traits: list[Trait], i: int, j: int) -> list[Difference]:
    """Return the columns in which two rows differ, the largest difference first."""
    differences = []
    for trait in traits:
        a, b = trait.values[i], trait.values[j]
        size = float(a != b) if trait.kind == "category" else _distance(a, b, trait.spread)
        first, second = (show_value(trait.kind, value, exact=True) for value in (a, b))
        differences.append(Difference(trait.name, first, second, size))
    return _largest(differences)


def compare_to_group(traits: list[Trait], sample: int, group: Array, *, within: bool = False) -> list[Difference]:
    """Return the columns in which a row differs from a group: far from the mean, or a category that is rare there.

    Differences of numbers are in standard deviations of the column, or of the group if ``within``. Differences below
    half of the first and twice the second are left out.
    """
    differences = []
    for trait in traits:
        value, others = trait.values[sample], trait.values[group]
        if trait.kind == "category":
            share = _share(others, value) if value is not None else 1.0
            second, size = f"{share:.0%} of the cluster", 1 - share if share < 0.2 else 0.0
            size *= 4 if within else 1  # comparable with the limits of numbers
        else:
            mean = _mean(others)
            size = _distance(value, mean, _spread(others) if within else trait.spread)
            second = f"cluster mean {show_value(trait.kind, mean)}"
        differences.append(Difference(trait.name, show_value(trait.kind, value, exact=True), second, size))
    return _largest(differences, UNUSUAL if within else 0.5)


def find_reasons(traits: list[Trait], sample: int, group: Array, others: Array) -> list[Difference]:
    """Return the columns that distinguish a group from others, and in which a row is like the group.

    ``first`` is the value of the row, ``second`` those of the group and of the others, and ``size`` the difference
    between the two groups.
    """
    reasons = []
    for trait in traits:
        value, own, rest = trait.values[sample], trait.values[group], trait.values[others]
        if trait.kind == "category":
            inside, outside = _share(own, value), _share(rest, value)
            size = float(arc(inside) - arc(outside)) if value is not None else 0.0
            shown = f"{inside:.0%} of the cluster, {outside:.0%} of the others"
        else:
            inside, outside = _mean(own), _mean(rest)
            alike = abs(value - inside) <= min(abs(value - outside), UNUSUAL * _spread(own))
            size = _distance(inside, outside, trait.spread) if alike else 0.0
            shown = f"cluster mean {show_value(trait.kind, inside)}, others {show_value(trait.kind, outside)}"
        reasons.append(Difference(trait.name, show_value(trait.kind, value, exact=True), shown, size))
    return _largest(reasons)


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


def _share(values: Array, value: str | None) -> float:
    """Return the share of a category among the values that are not missing."""
    return float((values == value).sum() / max(1, sum(other is not None for other in values)))


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
        low, high = (show_limit(self.kind, limit) for limit in (self.above, self.up_to))
        if np.isinf(self.above):
            return f"{name} <= {high}"
        return f"{name} > {low}" if np.isinf(self.up_to) else f"{low} < {name} <= {high}"

    def holds(self, trait: Trait) -> Mask:
        """Return which rows meet the condition; rows with a missing value do not."""
        if self.value is None:
            return np.asarray((trait.values > self.above) & (trait.values <= self.up_to))
        same = np.asarray(trait.values == self.value, dtype=bool)
        return ~trait.missing & ~same if self.negated else same


def show_limit(kind: str, limit: float) -> str:
    """Format the limit of a condition.

    Examples
    --------
    >>> show_limit("number", 1250.5), show_limit("year", 1994.0)
    ('1,250.5', '1994')
    """
    if kind == "date" and np.isfinite(limit):
        return date_text(np.floor(limit))
    return f"{limit:.0f}" if kind == "year" else f"{limit:,.10g}"


class Rule(NamedTuple):
    """Conditions that a row must all meet."""

    conditions: tuple[Condition, ...]
    coverage: float
    """Share of the cluster that meets them."""
    precision: float
    """Share of the matching rows that are in the cluster."""

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


class Rules(NamedTuple):
    """Rules for a cluster, and the coverage and precision of their union."""

    rules: tuple[Rule, ...] = ()
    coverage: float = 0.0
    precision: float = 0.0


class _Feature(NamedTuple):
    """A feature of the decision tree: a column, the category that it indicates, and its numbers."""

    trait: Trait
    value: str | None
    numbers: NDArray[np.float32]


def learn_rules(traits: list[Trait], inside: Mask) -> Rules:
    """Return a few rules for the rows ``inside``, from a shallow decision tree.

    The tree learns from a sample of the rows. Its limits are rounded, and coverage and precision are counted on all
    rows.

    Examples
    --------
    >>> income = Trait("income", "number", np.array([20.0, 25.0, 30.0, 70.0, 80.0, 90.0]), 30.0)
    >>> rules = learn_rules([income], np.array([False] * 3 + [True] * 3))
    >>> str(rules.rules[0]), rules.coverage, rules.precision
    ('income > 50', 1.0, 1.0)
    """
    if inside.all() or not inside.any():
        return Rules()
    members = np.flatnonzero(inside), np.flatnonzero(~inside)
    rows = np.concatenate([part[:: -(-len(part) // (LEARN_FROM // 2))] for part in members])
    features: list[_Feature] = []
    limit = float(np.finfo(np.float32).max)
    for trait in (trait.take(rows) for trait in traits):
        known = trait.values[~trait.missing]
        if trait.kind != "category":  # missing numbers are at the median
            median = float(np.median(known)) if len(known) else 0.0
            numbers = np.clip(np.nan_to_num(trait.values, nan=median), -limit, limit)
            features.append(_Feature(trait, None, numbers.astype(np.float32)))
            continue
        values, counts = np.unique(as_objects(known), return_counts=True)
        for value in values[np.argsort(-counts, kind="stable")][:MAX_RULE_VALUES].tolist():
            features.append(_Feature(trait, value, (trait.values == value).astype(np.float32)))
    if not features:
        return Rules()
    from sklearn.tree import DecisionTreeClassifier  # slow to import

    least = max(1, int(0.02 * inside[rows].sum()))
    tree = DecisionTreeClassifier(max_depth=MAX_DEPTH, min_samples_leaf=least, class_weight="balanced", random_state=0)
    tree.fit(np.column_stack([feature.numbers for feature in features]), inside[rows])

    def coverage_and_precision(matches: Mask) -> tuple[float, float]:
        both = float((matches & inside).sum())
        return both / int(inside.sum()), both / max(1, int(matches.sum()))

    named = {trait.name: trait for trait in traits}
    rules: list[tuple[Rule, Mask]] = []
    for conditions in _leaf_conditions(tree.tree_, features):
        matches = np.logical_and.reduce([condition.holds(named[condition.column]) for condition in conditions])
        rules.append((Rule(conditions, *coverage_and_precision(matches)), matches))
    rules = [rule for rule in rules if rule[0].coverage >= MIN_COVERAGE]
    rules = sorted(rules, key=lambda rule: -rule[0].coverage)[:MAX_RULES]
    if not rules:
        return Rules()
    union = np.logical_or.reduce([matches for _, matches in rules])
    return Rules(tuple(rule for rule, _ in rules), *coverage_and_precision(union))


def _leaf_conditions(tree: Any, features: list[_Feature]) -> Iterator[tuple[Condition, ...]]:
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
        trait, value, _ = features[tree.feature[node]]
        key = trait.name, value
        if value is not None:
            below, above = (
                Condition(trait.name, trait.kind, value=value, negated=negated) for negated in (True, False)
            )
        else:
            before, limit = conditions.get(key, Condition(trait.name, trait.kind)), float(tree.threshold[node])
            bound = round_limit(limit, trait)
            below = before._replace(up_to=min(before.up_to, bound))
            above = before._replace(above=max(before.above, bound))
        stack.append((int(left[node]), conditions | {key: below}))
        stack.append((int(right[node]), conditions | {key: above}))


def round_limit(limit: float, trait: Trait) -> float:
    """Round a limit down to the precision of the column, and to few digits if nearly every row stays on its side.

    Examples
    --------
    >>> round_limit(35.65, Trait("price", "number", np.array([35.6, 35.7, 40.0, 12.0])))
    35.6
    """
    known = trait.values[~np.isnan(trait.values)]
    above = known > limit
    if trait.kind == "date":
        return float(np.floor(limit))
    for decimals in range(MAX_DECIMALS + 1):  # a limit between two values of the column needs no more decimals
        if np.array_equal(known.round(decimals), known):
            limit = float(np.round(np.floor(limit * 10.0**decimals + 1e-9) / 10.0**decimals, decimals))
            break
    for digits in range(1, 15):
        rounded = float(f"{limit:.{digits}g}")
        if ((known > rounded) != above).mean() <= MOVED:
            return rounded
    return limit


def find_separation(traits: list[Trait], first: Array, second: Array) -> str:
    """Return a phrase on the column and value that separate two groups best; "" if no column separates them.

    A limit separates the groups by the mean of the shares of both that lie on their own side, a half for chance.
    Values that only one of them has, and categories, count alike.

    Examples
    --------
    >>> height = Trait("height", "number", np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]))
    >>> find_separation([height], np.arange(3), np.arange(3, 6))
    'at height around 5'
    """
    best, phrase = MIN_SEPARATION, ""
    for trait in traits:
        a, b = (trait.values[group][~trait.missing[group]] for group in (first, second))
        if not len(a) or not len(b):
            continue
        name = escape_control(trait.name)
        if trait.kind == "category":
            for value in np.unique(as_objects(np.concatenate([a, b]))).tolist():
                share = abs(np.mean(a == value) - np.mean(b == value)) / 2 + 0.5
                if share > best:
                    best, phrase = share, f"by {name} = {escape_control(value)}"
            continue
        values = np.unique(np.concatenate([a, b]))
        below_a, below_b = (np.searchsorted(np.sort(own), values, "right") / len(own) for own in (a, b))
        shares = np.abs(below_a - below_b) / 2 + 0.5
        i = int(shares[:-1].argmax()) if len(values) > 1 else 0
        if len(values) > 1 and shares[i] > best:
            limit = round_limit(float(values[i] + values[i + 1]) / 2, trait)
            best, phrase = float(shares[i]), f"at {name} around {show_limit(trait.kind, limit)}"
    return phrase
