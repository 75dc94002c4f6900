"""Compare two clusterings: which clusters are the same, and what happened to the others.

**The same cluster.** A row of the second clustering that the first one contains keeps its first cluster. If
these are fewer than half of the rows, the first model predicts the others, except outliers. Pairs of
clusters are then matched by the number of common rows, the largest first; of equal numbers, the lower number of the
first cluster, then of the second. A pair matches if its common rows are more than half of either cluster, and no
cluster matches twice.

**Changes.** A cluster splits into the clusters that consist mostly of its rows, and clusters merge into the one that
has most of their rows. Both need a tenth of the rows of the larger cluster on each side. Shares and centres change if
the difference is large, and larger than chance explains.
"""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.traits import Difference, Trait, compare_groups, fitted_traits, in_words, read_traits
from gitcluster.preprocessing.tables import as_frame, column_names, row_labels

MIN_PART = 0.1
"""Share of a cluster that a part needs, for a split or a merge."""
MIN_GROWTH = 1.25
"""A cluster grew or shrank if its share changed by at least this factor."""
MIN_MOVE = 0.5
"""Difference of means in standard deviations of the cluster, or of shares by Cohen's h: medium by his convention."""
STANDARD_ERRORS = 4.0
"""Standard errors beyond which a difference is not chance. Dozens of clusters and columns are compared at once."""
MIN_OUTLIERS = 0.01
"""Gain in the share of outliers that is worth a sentence."""
TEXTS = {
    "split": "Cluster {0} split into {1}.",
    "merged": "Clusters {0} merged into {1}.",
    "born": "Cluster {1} is new.",
    "died": "Cluster {0} no longer exists.",
}


class Grouping(NamedTuple):
    """One side of a comparison."""

    rows: Array | None
    """(n,) ids of the rows as texts; None if they have none."""
    labels: Array
    """(n,) positions of clusters, -1 for noise."""
    ids: list[Any]
    titles: list[str]
    clustering: Clustering | None = None
    model: Any = None

    @property
    def sizes(self) -> Array:
        """Return the number of rows of every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=len(self.ids))

    def describe(self, clusters: Array) -> str:
        """Return the names of clusters with their sizes, the largest first."""
        largest = clusters[np.argsort(-self.sizes[clusters], kind="stable")].tolist()
        return list_of([f"{self.titles[c]} ({count_of(int(self.sizes[c]), 'row')})" for c in largest])


def _read_model(model: Any) -> Grouping:
    clustering = clustering_of(model)
    rows = None if clustering.index is None else clustering.index.astype(str)
    titles = [clustering.title_of(c) for c in range(clustering.n_clusters)]
    return Grouping(rows, np.asarray(clustering.labels), clustering.cluster_ids.tolist(), titles, clustering, model)


def _read_ids(name: str, frame: Any, id_column: str) -> Array:
    """Return a column of ids as texts."""
    if id_column not in column_names(frame):
        raise ValueError(f"id must be a column of {name}, got {id_column!r}. It has {list_of(column_names(frame))}.")
    ids = np.array([str(row) for row in frame.get_column(id_column).to_list()], dtype=object)
    if frame.get_column(id_column).is_null().any() or len(set(ids)) < len(ids):
        raise ValueError(f"The ids of {name} must be unique and not missing. Remove other rows of {id_column!r}.")
    return ids


def _read_side(name: str, given: Any, id_column: str | None) -> Grouping | None:
    """Return one side of a comparison: a model, labels, or a frame with a column "cluster"; None for another table."""
    if isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{name} must be a model, labels or a table, got a path. Use GIT.load({given!r}).")
    if isinstance(given, Clustering) or hasattr(type(given), "fit"):
        return _read_model(given)
    frame = as_frame(given)
    rows = row_labels(given)
    if frame is not None and "cluster" in column_names(frame):
        given = frame.get_column("cluster").to_list()
        id_column = "id" if id_column is None and rows is None and "id" in column_names(frame) else id_column
        rows = rows if id_column is None else _read_ids(name, frame, id_column)
    elif frame is not None or issparse(given) or np.ndim(given) == 2:
        return None
    cells = np.array([-1 if cell is None or cell != cell else cell for cell in given])
    cells = cells.astype(np.int64) if cells.dtype.kind == "f" else cells  # integers with gaps
    is_noise = np.isin(cells.astype(str), ["-1", "noise"])
    if is_noise.all():
        raise ValueError(f"{name} must have labels of clusters, got {'noise only' if len(cells) else 'no rows'}.")
    labels = np.full(len(cells), -1)
    clusters, labels[~is_noise] = np.unique(cells[~is_noise], return_inverse=True)
    rows = None if rows is None else rows.astype(str)
    return Grouping(rows, labels, clusters.tolist(), [escape_control(str(cluster)) for cluster in clusters])


def _find_rows(first: Grouping, second: Grouping, *, can_predict: bool) -> Array:
    """Return the position of every row of the second side on the first, -1 if it is new.

    If only one side has ids, those of the other are 0, 1, 2, ... Without ids, rows are predicted, or else matched by
    position.
    """
    n, m = len(first.labels), len(second.labels)
    if first.rows is None and second.rows is None:
        if can_predict:
            return np.full(m, -1)
        if n == m:
            return np.arange(n)
        raise ValueError(
            f"Rows of before ({n:,}) and after ({m:,}) cannot be matched without ids. Use ids (the index of a data "
            "frame, id='...' or --id), or pass X, the table of after."
        )
    sides = [np.arange(len(s.labels)).astype(str) if s.rows is None else s.rows for s in (first, second)]
    position = {row: i for i, row in enumerate(sides[0].tolist())}
    at = np.array([position.get(row, -1) for row in sides[1].tolist()])
    if not can_predict and (at < 0).all():
        raise ValueError(
            "before and after must have common rows, but no id of one is in the other. Pass X, the table of after, to "
            "predict its rows with the model before."
        )
    return at


def _labels_before(first: Grouping, at: Array, X: Any) -> Array:
    """Return the cluster of every row on the first side, -1 for none.

    If fewer than half of the rows are at a position of the first side, its model predicts those of the table X.
    """
    labels = np.where(at >= 0, first.labels[at], -1)
    if 2 * (at >= 0).sum() < len(at) and X is not None and hasattr(first.model, "predict_samples"):
        prediction, clustering = first.model.predict_samples(X), first.model.clustering_
        usual = (at < 0) & (prediction.outlier_scores <= clustering.fitted.far_out) & (prediction.labels >= 0)
        labels[usual] = np.searchsorted(clustering.cluster_ids, prediction.labels)[usual]
    return labels


def count_rows(before: Array, n_before: int, second: Grouping) -> Array:
    """Return the number of rows by cluster before and after; the last row and column count noise and unknown rows."""
    table = np.zeros((n_before + 1, len(second.ids) + 1), np.int64)
    np.add.at(table, (before, second.labels), 1)  # -1 is the last
    return table


def match_clusters(common: Array) -> Array:
    """Return the earlier cluster that every cluster continues, -1 for none, from :func:`count_rows`.

    Examples
    --------
    >>> match_clusters(np.array([[60, 40, 0, 0], [0, 0, 0, 0], [0, 0, 30, 0]]))
    array([ 0, -1, -1])
    """
    n_before, n_after = common.shape[0] - 1, common.shape[1] - 1
    inside = common[:-1, :-1]
    is_most = (2 * inside > common[:-1].sum(axis=1)[:, None]) | (2 * inside > common[:, :-1].sum(axis=0))
    match, used = np.full(n_after, -1), np.zeros(n_before, bool)
    pairs = np.argwhere(is_most & (inside > 0))
    for a, b in pairs[np.argsort(-inside[tuple(pairs.T)], kind="stable")].tolist():
        if not used[a] and match[b] < 0:
            match[b], used[a] = a, True
    return match


def continue_numbers(clustering: Clustering, previous: Any, X: Any) -> Clustering:
    """Return a clustering of X whose clusters have the numbers and names of the earlier ones that they continue.

    Other clusters get new numbers. Names that the clustering has already take precedence.
    """
    first, second = _read_model(previous), _read_model(clustering)
    at, earlier = _find_rows(first, second, can_predict=True), clustering_of(previous)
    try:
        labels = _labels_before(first, at, X)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "previous must be a model of these rows, recognised by the index of a data frame, or of the same columns, "
            f"to predict them: {error}"
        ) from None
    if (labels < 0).all():
        raise ValueError(
            "previous must be a model of similar data, but it has none of these rows, or all are outliers."
        )
    match = match_clusters(count_rows(labels, len(first.ids), second))
    ids = np.where(match >= 0, earlier.cluster_ids[match], earlier.next_id + np.cumsum(match < 0) - 1)
    given = {int(ids[np.searchsorted(clustering.cluster_ids, c)]): name for c, name in clustering.cluster_names.items()}
    names = {c: name for c, name in earlier.cluster_names.items() if c in ids and name not in given.values()} | given
    return clustering.numbered(ids, names, max(earlier.next_id, int(ids.max()) + 1))


class Event(NamedTuple):
    """Something that happened to clusters."""

    kind: str
    """"born", "died", "split", "merged", "grew", "shrank", "moved" or "outliers"."""
    before: tuple[str, ...]
    after: tuple[str, ...]
    text: str
    differences: tuple[Difference, ...] = ()
    """Columns that changed, with their means or shares before and after."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two clusterings compared; ``print`` it. See :func:`compare`."""

    ids: tuple[list[Any], list[Any]]
    """Numbers of the clusters before and after, or other labels."""
    titles: tuple[list[str], list[str]]
    """Names or numbers of the clusters before and after."""
    sizes: tuple[Array, Array]
    """Rows of every cluster before and after."""
    match: Array
    """(n_after,) position of the earlier cluster that every cluster continues, -1 for none."""
    flow: Array
    """(n_before + 2, n_after + 2) rows by cluster before and after; the last two are noise, and rows of one side."""
    agreement: float
    """Adjusted Rand index of the common rows; NaN without common rows."""
    rows: dict[str, Array]
    """Rows that changed: ``id``, ``before`` and ``after``, with "noise", or "" if one side does not have the row."""
    events: tuple[Event, ...]
    outliers: tuple[float, float] | None = None
    """Share of outliers among the fitted and the new rows, if new rows were compared with a model; they are noise."""

    @property
    def n_rows(self) -> tuple[int, int]:
        """Return the number of rows before and after."""
        return int(self.flow[:-1].sum()), int(self.flow[:, :-1].sum())

    @property
    def n_common(self) -> int:
        """Return the number of rows on both sides."""
        return int(self.flow[:-1, :-1].sum())

    @property
    def n_changed(self) -> int:
        """Return the number of common rows that are in another cluster than before."""
        return int(((self.rows["before"] != "") & (self.rows["after"] != "")).sum())

    def sentences(self) -> list[str]:
        """Return the comparison in sentences."""
        before, after = self.n_rows
        lines = [f"{count_of(before, 'row')} before, {after:,} after; {self.n_common:,} on both sides."]
        if self.n_common:
            lines.append(f"{count_of(self.n_changed, 'row')} changed cluster (agreement {self.agreement:.2f} of 1).")
        if self.outliers is not None:
            fitted, new = self.outliers
            lines.append(f"Outliers: {new:.1%} of the new rows, {fitted:.1%} of the fitted ones.")
        return [*lines, *([event.text for event in self.events] or ["No cluster changed."])]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def cluster_rows(self) -> list[tuple[str, str, int, int, float, float, str]]:
        """Return one row per cluster: before, after, rows and shares on both sides, kinds of events."""
        pairs = [(int(a), b) for b, a in enumerate(self.match)]
        pairs += [(a, -1) for a in range(len(self.titles[0])) if a not in self.match]
        titles, sizes = [[*names, ""] for names in self.titles], [np.append(some, 0) for some in self.sizes]  # -1: none
        rows = []
        for a, b in sorted(pairs, key=lambda pair: (pair[0] < 0, pair)):
            one, other, n, m = titles[0][a], titles[1][b], int(sizes[0][a]), int(sizes[1][b])
            own = [e.kind for e in self.events if (a >= 0 and one in e.before) or (b >= 0 and other in e.after)]
            shares = n / max(1, self.n_rows[0]), m / max(1, self.n_rows[1])
            rows.append((one, other, n, m, *shares, ", ".join(dict.fromkeys(own))))
        return rows

    def to_frame(self) -> Any:
        """Return one row per cluster as a pandas data frame: its rows and shares before and after, and its events."""
        pandas = require("pandas", extra="export", purpose="to_frame")
        names = ["before", "after", "rows_before", "rows_after", "share_before", "share_after", "events"]
        return pandas.DataFrame(self.cluster_rows(), columns=names)

    def rows_frame(self) -> Any:
        """Return the rows that changed cluster, are new or lost as a pandas data frame: before and after by id."""
        pandas = require("pandas", extra="export", purpose="rows_frame")
        return pandas.DataFrame(self.rows).set_index("id")

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the flow of rows between the clusters, see :func:`gitcluster.plots.plot_flow`."""
        from gitcluster.plots import plot_flow

        return plot_flow(self, ax=ax)


def compare(before: Any, after: Any, X: Any = None, *, id: str | None = None) -> Comparison:
    """Compare two clusterings of the same or of similar rows, or new rows with a model.

    Parameters
    ----------
    before, after : GIT, array-like of shape (n_samples,) or data frame
        Fitted models; labels, where -1 is noise; or data frames with a column "cluster". Rows are matched by ``id``, or
        by the index of the data frame or series. Rows without ids are matched by position. If ``before`` is a model,
        ``after`` may also be a table of new rows, to check whether they still fit.
    X : array-like or data frame, default=None
        The table of ``after``, if ``before`` is a model, which then predicts rows that it does not know. Clusters are
        compared in its columns; by default, in the values that the models store.
    id : str, default=None
        Column of data frames that identifies the rows.

    Returns
    -------
    comparison : Comparison
        ``print`` it; ``events``, ``to_frame()``, ``rows_frame()`` and ``plot()`` have the details.

    Examples
    --------
    >>> print(compare([0, 0, 0, 1, 1, 1], [0, 0, 2, 1, 1, 1]))
    6 rows before, 6 after; 6 on both sides.
    1 row changed cluster (agreement 0.71 of 1).
    Cluster 0 (3 rows) split into 0 (2 rows) and 2 (1 row).
    """
    from sklearn.metrics import adjusted_rand_score  # slow to import

    first = _read_side("before", before, id)
    if first is None or (X is not None and first.model is None):
        raise TypeError("before must be a model, or without X labels or a data frame with a column 'cluster'.")
    is_feature = "cluster" in getattr(first.model, "feature_names_in_", ())
    second = None if is_feature and as_frame(after) is not None else _read_side("after", after, id)
    outliers, events, match = None, list[Event](), np.arange(len(first.ids))
    if second is None:
        first, second, X, outliers, events = _predict_rows(first, after, id)
        at, pairs = _find_rows(first, second, can_predict=True), [(c, c) for c in range(len(first.ids))]
    else:
        metrics = {getattr(side.model, "metric", "euclidean") for side in (first, second) if side.model is not None}
        if len(metrics) > 1:
            raise ValueError("before and after must have the same metric. Compare their labels_ otherwise.")
        X = _align(X, second)
        at = _find_rows(first, second, can_predict=X is not None and hasattr(first.model, "predict_samples"))
        common = count_rows(_labels_before(first, at, X), len(first.ids), second)
        match = match_clusters(common)
        events, pairs = _structure_events(first, second, match, common)
    events += _size_events(first, second, pairs)
    events += _move_events(first, second, pairs, X)
    old = np.where(at >= 0, first.labels[at], -1)
    both = (old >= 0) & (second.labels >= 0)
    return Comparison(
        ids=(first.ids, second.ids),
        titles=(first.titles, second.titles),
        sizes=(first.sizes, second.sizes),
        match=match,
        flow=_flow(first, second, at),
        agreement=float(adjusted_rand_score(old[both], second.labels[both])) if both.any() else float("nan"),
        rows=_changed_rows(first, second, at, match),
        events=tuple(events),
        outliers=outliers,
    )


def _predict_rows(
    first: Grouping, X: Any, id_column: str | None
) -> tuple[Grouping, Grouping, Any, tuple[float, float], list[Event]]:
    """Return both sides without outliers, the table without ids, shares of outliers, and an event if they are many."""
    clustering, model = first.clustering, first.model
    if clustering is None or not hasattr(model, "predict_samples"):
        raise TypeError("after must be a model or labels, got a table. New rows can be compared with a model only.")
    rows, frame = row_labels(X), as_frame(X)
    if id_column is not None and frame is not None:
        rows, X = _read_ids("after", frame, id_column), frame.drop(id_column).to_native()
    prediction, limit = model.predict_samples(X), clustering.fitted.far_out
    fitted, new = np.asarray(clustering.outlier_scores) > limit, prediction.outlier_scores > limit
    positions = np.searchsorted(clustering.cluster_ids, prediction.labels)
    second = first._replace(
        rows=None if rows is None else rows.astype(str), labels=np.where((prediction.labels < 0) | new, -1, positions),
        model=None,
    )  # fmt: skip
    first = first._replace(labels=np.where(fitted, -1, first.labels))
    before, after = float(fitted.mean()), float(new.mean())
    events = []
    if after - before > max(MIN_OUTLIERS, STANDARD_ERRORS * _standard_error(before, after, len(fitted), len(new))):
        text = f"The new rows do not fit the model: {after:.1%} are outliers, usually {before:.1%}."
        events.append(Event("outliers", (), (), text))
    return first, second, X, (before, after), events


def _standard_error(before: float, after: float, n: int, m: int) -> float:
    """Return the standard error of the difference of two shares of n and m rows."""
    mean = (before * n + after * m + 1) / (n + m + 2)  # never 0
    return float(np.sqrt(mean * (1 - mean) * (1 / n + 1 / m)))


def _align(table: Any, side: Grouping) -> Any:
    """Return a table in the order of the rows of one side, if both have ids."""
    rows = None if table is None else row_labels(table)
    if rows is None or side.rows is None:
        return table
    position = {str(row): i for i, row in enumerate(rows.tolist())}
    order = [position.get(row, -1) for row in side.rows.tolist()]
    if min(order) < 0:
        missing = side.rows[order.index(-1)]
        raise ValueError(f"X must have all rows of the clustering, but the row {missing!r} is missing.")
    return table.iloc[order]


def _flow(first: Grouping, second: Grouping, at: Array) -> Array:
    """Return the rows by cluster before and after; the last two rows and columns are noise, and rows of one side."""
    flow = np.zeros((len(first.ids) + 2, len(second.ids) + 2), np.int64)
    own, other = (np.where(side.labels < 0, len(side.ids), side.labels) for side in (first, second))
    np.add.at(flow, (np.where(at >= 0, own[at], -1), other), 1)
    lost = np.setdiff1d(np.arange(len(own)), at)
    np.add.at(flow, (own[lost], -1), 1)
    return flow


def _changed_rows(first: Grouping, second: Grouping, at: Array, match: Array) -> dict[str, Array]:
    """Return the rows that changed cluster, then those that are new, then those that are lost."""
    names = [np.arange(len(s.labels)).astype(str) if s.rows is None else s.rows for s in (first, second)]
    titles = [np.array([*side.titles, "noise"], dtype=object)[side.labels] for side in (first, second)]  # -1: noise
    old = np.where(at >= 0, first.labels[at], -1)
    continued = np.append(match, -2)[second.labels]  # noise continues noise only
    changed = np.flatnonzero((at >= 0) & (continued != np.where(old < 0, -2, old)))
    new, lost = np.flatnonzero(at < 0), np.setdiff1d(np.arange(len(first.labels)), at)
    if (at < 0).all():  # the rows of both sides have nothing in common
        new = lost = changed
    return {
        "id": np.concatenate([names[1][changed], names[1][new], names[0][lost]]).astype(object),
        "before": np.concatenate([titles[0][at[changed]], np.full(len(new), "", object), titles[0][lost]]),
        "after": np.concatenate([titles[1][changed], titles[1][new], np.full(len(lost), "", object)]),
    }


def _structure_events(
    first: Grouping, second: Grouping, match: Array, common: Array
) -> tuple[list[Event], list[tuple[int, int]]]:
    """Return splits, merges, births and deaths, and the pairs of clusters without any of these.

    ``common`` are the numbers of rows that :func:`count_rows` returns.
    """
    inside = common[:-1, :-1]
    of_before, of_after = common[:-1].sum(axis=1)[:, None], common[:, :-1].sum(axis=0)
    continues = np.arange(len(first.ids))[:, None] == match
    comes_from = continues | ((2 * inside > of_after) & (inside >= MIN_PART * of_before) & (inside > 0))
    goes_to = continues | ((2 * inside > of_before) & (inside >= MIN_PART * of_after) & (inside > 0))
    nobody = np.empty(0, np.int64)
    changes = [("split", np.array([a]), np.flatnonzero(parts)) for a, parts in enumerate(comes_from) if parts.sum() > 1]
    changes += [
        ("merged", np.flatnonzero(parts), np.array([b])) for b, parts in enumerate(goes_to.T) if parts.sum() > 1
    ]
    used_before = {a for _, before, _ in changes for a in before.tolist()}
    used_after = {b for _, _, after in changes for b in after.tolist()}
    born, died = np.flatnonzero(match < 0).tolist(), np.setdiff1d(np.arange(len(first.ids)), match).tolist()
    changes += [("born", nobody, np.array([b])) for b in born if b not in used_after]
    changes += [("died", np.array([a]), nobody) for a in died if a not in used_before]
    events = []
    for kind, before, after in changes:
        titles = tuple(first.titles[a] for a in before), tuple(second.titles[b] for b in after)
        events.append(Event(kind, *titles, TEXTS[kind].format(first.describe(before), second.describe(after))))
    pairs = [(int(a), b) for b, a in enumerate(match) if a >= 0 and a not in used_before and b not in used_after]
    return events, pairs


def _size_events(first: Grouping, second: Grouping, pairs: list[tuple[int, int]]) -> list[Event]:
    """Return clusters whose share of the rows changed."""
    n, m = len(first.labels), len(second.labels)
    events = []
    for a, b in pairs:
        before, after = float((first.labels == a).mean()), float((second.labels == b).mean())
        factor = after / before if before else np.inf
        is_chance = abs(after - before) <= STANDARD_ERRORS * _standard_error(before, after, n, m)
        if not is_chance and not 1 / MIN_GROWTH < factor < MIN_GROWTH:
            kind, title = "grew" if after > before else "shrank", second.titles[b]
            text = f"Cluster {title} {kind} from {before:.1%} to {after:.1%} of the rows."
            events.append(Event(kind, (first.titles[a],), (title,), text))
    return events


def _move_events(first: Grouping, second: Grouping, pairs: list[tuple[int, int]], X: Any) -> list[Event]:
    """Return clusters whose columns changed."""
    sides = _traits(first, None), _traits(second, X)
    columns = [(trait, other) for trait in sides[0] for other in sides[1]
               if trait.name == other.name and (trait.kind == "category") == (other.kind == "category")]  # fmt: skip
    events = []
    for a, b in pairs:
        rows, others = np.flatnonzero(first.labels == a), np.flatnonzero(second.labels == b)
        differences = [change for trait, other in columns for change in _change(trait, other, rows, others)]
        if differences:
            differences.sort(key=lambda difference: -difference.size)
            text = f"Cluster {second.titles[b]} moved: {in_words(differences, words=' to ')}."
            events.append(Event("moved", (first.titles[a],), (second.titles[b],), text, tuple(differences)))
    return events


def _change(trait: Trait, other: Trait, rows: Array, others: Array) -> list[Difference]:
    """Return the difference of a column between the rows of a cluster before and after, if it is large."""
    values = np.concatenate([trait.values[rows], other.values[others]])
    joined = trait._replace(values=values, kind=other.kind)
    known = ~joined.missing
    n, m = int(known[: len(rows)].sum()), int(known[len(rows) :].sum())
    if not n or not m:
        return []
    if joined.kind != "category":
        one, two = trait.values[rows], other.values[others]
        with np.errstate(all="ignore"):
            within = float(np.sqrt((np.nanvar(one) * n + np.nanvar(two) * m) / (n + m)))
        joined = joined._replace(spread=within if within > 1e-9 * trait.spread else trait.spread)
    chance = STANDARD_ERRORS * np.sqrt(1 / n + 1 / m)
    changes = compare_groups([joined], np.arange(len(rows)), np.arange(len(rows), len(values)))
    return [change for change in changes if change.size >= max(MIN_MOVE, chance)]


def _traits(side: Grouping, table: Any) -> list[Trait]:
    """Return the columns of one side: of its table, or as its model stores them."""
    n, clustering = len(side.labels), side.clustering
    if table is not None and not issparse(table):
        names, columns = (None, None) if clustering is None else (clustering.feature_names, clustering.columns)
        traits = read_traits(table, names, columns)
        if not traits or len(traits[0].values) != n:
            raise ValueError(f"X must have the {n:,} rows of the clustering.")
        return traits
    return [] if clustering is None or side.model is None else fitted_traits(clustering, np.arange(n))
