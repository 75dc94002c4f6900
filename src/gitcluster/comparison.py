"""Compare two clusterings: which clusters are the same, and what happened to the others.

**The same cluster.** Every row of the second clustering that the first one has as well keeps its first cluster. If
these are fewer than half of the rows, the first model predicts the clusters of the others, but for outliers. Pairs of
clusters are then matched by the number of common rows, the largest first; of equal numbers, the lower number of the
first cluster, then of the second. A pair matches if its common rows are more than half of either cluster, and no
cluster matches twice. If one model continues the numbers of the other, directly or through others, equal numbers match.

**Changes.** A cluster splits into the clusters that consist mostly of its rows, and clusters merge into the one that
has most of their rows. Both need a tenth of the rows of the larger cluster on each side. Shares and centres change if
the difference is large, and larger than chance explains.
"""

import os
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.memberships import NEAR_BOUNDARY, own_shares
from gitcluster.fitted.prediction import SamplePrediction
from gitcluster.fitted.traits import Difference, Trait, compare_groups, fitted_traits, in_words, read_traits
from gitcluster.preprocessing.tables import as_frame, column_names, row_labels

MIN_PART = 0.1
"""Share of a cluster that a part needs, for a split or a merge."""
MIN_GROWTH = 1.25
"""Factor by which the share of a cluster changes if it grew or shrank."""
MIN_MOVE = 0.5
"""Difference of means in standard deviations of the cluster, or of shares by Cohen's h: medium by his convention."""
STANDARD_ERRORS = 4.0
"""Standard errors beyond which a difference is not chance. Dozens of clusters and columns are compared at once."""
MIN_SHARE_GAIN = 0.01
"""Gain in the share of outliers or boundary rows that is worth a sentence."""
MAX_LISTED = 10


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
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return len(self.ids)

    @property
    def sizes(self) -> Array:
        """Return the number of rows of every cluster."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)


def _read_model(model: Any) -> Grouping:
    clustering = clustering_of(model)
    rows = None if clustering.index is None else clustering.index.astype(str)
    titles = [clustering.title_of(c) for c in range(clustering.n_clusters)]
    return Grouping(rows, np.asarray(clustering.labels), clustering.cluster_ids.tolist(), titles, clustering, model)


def _read_ids(name: str, frame: Any, id_column: str) -> Array:
    """Return a column of ids as texts."""
    if id_column not in column_names(frame):
        raise ValueError(f"id must be a column of {name}, got {id_column!r}. It has {list_of(column_names(frame))}.")
    ids = frame.get_column(id_column).to_list()
    if any(row is None or row != row for row in ids):
        raise ValueError(f"The ids of {name} must not be missing, but {id_column!r} has gaps. Remove these rows.")
    return np.array([str(row) for row in ids], dtype=object)


def read_grouping(name: str, given: Any, id_column: str | None) -> Grouping | None:
    """Return one side of a comparison: a model, labels, or a frame with a column "cluster"; None for another table."""
    if isinstance(given, Clustering) or hasattr(type(given), "fit"):
        return _read_model(given)
    frame, rows, column = as_frame(given), None, given
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} must be a model, labels or a table, got a path. Use GIT.load({given!r}).")
    if frame is not None:
        names = column_names(frame)
        if "cluster" not in names:
            return None
        column = frame.get_column("cluster").to_list()
        if id_column is not None:
            rows = _read_ids(name, frame, id_column)
    elif np.ndim(given) == 2 or issparse(given):
        return None
    elif np.ndim(given) != 1:
        raise TypeError(f"{name} must be a model, labels or a table, got {type(given).__name__}.")
    if rows is None and hasattr(given, "index") and not callable(given.index) and len(given):
        index = given.index
        plain = np.asarray(index).dtype.kind in "iu" and np.array_equal(np.asarray(index), np.arange(len(index)))
        rows = None if plain else np.array([str(row) for row in index], dtype=object)
    if rows is not None and len(set(rows.tolist())) < len(rows):
        twice = next(row for row in rows.tolist() if rows.tolist().count(row) > 1)
        raise ValueError(f"The ids of {name} must be unique, got {twice!r} twice. Remove one of these rows.")
    cells = [None if value is None or value != value else value for value in list(column)]
    is_noise = np.array([cell is None or cell in (-1, "-1", "noise") for cell in cells], bool)
    if not len(is_noise):
        raise ValueError(f"{name} must have labels of clusters, got no rows.")
    if is_noise.all():
        raise ValueError(f"{name} must have labels of clusters, got noise only.")
    whole = [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
    clusters = sorted(
        {cell for cell, noise in zip(whole, is_noise, strict=True) if not noise}, key=lambda c: (str(type(c)), c)
    )
    position = {cluster: i for i, cluster in enumerate(clusters)}
    labels = np.array([-1 if noise else position[cell] for cell, noise in zip(whole, is_noise, strict=True)])
    return Grouping(rows, labels, clusters, [escape_control(str(cluster)) for cluster in clusters])


def find_rows(first: Grouping, second: Grouping, X: Any = None, *, is_new: bool = False) -> Array:
    """Return the position of every row of the second side on the first, -1 if it is new.

    If one side has no ids and those of the other are integers, its rows are counted from 0. Without ids, rows are
    matched by their positions, unless two models store other values there. Rows of a table X may be predicted.
    """
    sides, n = [first.rows, second.rows], len(second.labels)
    can_predict = is_new or (first.model is not None and X is not None)
    for side, own in enumerate((first, second)):
        others = sides[1 - side]
        if sides[side] is None and others is not None and all(str(row).isdigit() for row in others.tolist()):
            sides[side] = np.arange(len(own.labels)).astype(str)
    if sides[0] is not None and sides[1] is not None:
        position = {row: i for i, row in enumerate(sides[0].tolist())}
        at = np.array([position.get(row, -1) for row in sides[1].tolist()])
        if (at >= 0).any() or can_predict:
            return at
        raise ValueError("before and after must have common rows, but no id of one is in the other. Pass X, the table "
                         "of after, to predict its rows with the model before.")  # fmt: skip
    if not is_new and len(first.labels) == n and _may_be_same_rows(first.clustering, second.clustering):
        return np.arange(n)
    if not can_predict:
        raise ValueError(
            f"Rows of before ({len(first.labels):,}) and after ({n:,}) cannot be matched without ids. Use ids (the "
            "index of a data frame, id='...' or --id), or pass X, the table of after."
        )
    return np.full(n, -1)


def labels_before(first: Grouping, at: Array, X: Any) -> Array:
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
    table = np.zeros((n_before + 1, second.n_clusters + 1), np.int64)
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
    at, earlier = find_rows(first, second, X), clustering_of(previous)
    try:
        labels = labels_before(first, at, X)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "previous must be a model of these rows, recognised by the index of a data frame, or of the same columns, "
            f"to predict them: {error}"
        ) from None
    if (labels < 0).all():
        raise ValueError(
            "previous must be a model of similar data, but it has none of these rows, or all are outliers."
        )
    match = match_clusters(count_rows(labels, first.n_clusters, second))
    ids = np.where(match >= 0, earlier.cluster_ids[match], earlier.next_id + np.cumsum(match < 0) - 1)
    given = {int(ids[np.searchsorted(clustering.cluster_ids, c)]): name for c, name in clustering.cluster_names.items()}
    names = {c: name for c, name in earlier.cluster_names.items() if c in ids and name not in given.values()} | given
    return clustering.numbered(ids, names, max(earlier.next_id, int(ids.max()) + 1), earlier)


class Event(NamedTuple):
    """Something that happened to clusters."""

    kind: str
    """"born", "died", "split", "merged", "grew", "shrank", "moved", "outliers" or "boundary"."""
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
    titles: tuple[tuple[str, ...], tuple[str, ...]]
    """Names or numbers of the clusters before and after."""
    sizes: tuple[Array, Array]
    """Rows of every cluster before and after."""
    n_rows: tuple[int, int]
    match: Array
    """(n_after,) position of the earlier cluster that every cluster continues, -1 for none."""
    flow: Array
    """(n_before + 2, n_after + 2) rows by cluster before and after; the last two are noise, and rows of one side."""
    agreement: float
    """Adjusted Rand index of the common rows; NaN if there are none."""
    rows: dict[str, Array]
    """Rows that changed: ``id``, ``before`` and ``after``, with "noise", or "" if one side does not have the row."""
    events: tuple[Event, ...]
    outliers: tuple[float, float] | None = None
    """Share of outliers among the fitted and the new rows, if new rows were compared with a model."""
    boundary: tuple[float, float] | None = None
    """Share of rows near the boundary of their cluster, likewise."""
    note: str = ""
    """What to know about the comparison; or empty."""

    @property
    def n_common(self) -> int:
        """Return the number of rows on both sides."""
        return int(self.flow[:-1, :-1].sum())

    @property
    def n_changed(self) -> int:
        """Return the number of common rows that are in another cluster than before."""
        both = (self.rows["before"] != "") & (self.rows["after"] != "")
        return int(both.sum())

    def sentences(self) -> list[str]:
        """Return the comparison in sentences."""
        before, after = self.n_rows
        rows = f"{count_of(before, 'row')} before, {after:,} after"
        if self.n_common:
            rows += f"; {self.n_common:,} on both sides, {after - self.n_common:,} new, {before - self.n_common:,} lost"
        lines = [f"{rows}."]
        if self.n_common:
            changed = f"{count_of(self.n_changed, 'row')} changed" if self.n_changed else "No row changed"
            lines.append(f"{changed} cluster (agreement {self.agreement:.2f} of 1).")
        if self.outliers is not None and self.boundary is not None:
            lines.append(
                f"Outliers: {self.outliers[1]:.1%} of the new rows, {self.outliers[0]:.1%} of the fitted ones. "
                f"Near a boundary: {self.boundary[1]:.1%}, {self.boundary[0]:.1%} of the fitted ones."
            )
        lines += [self.note] if self.note else []
        return [*lines, *([event.text for event in self.events] or ["No cluster changed."])]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def cluster_rows(self) -> list[tuple[str, str, int, int, float, float, str]]:
        """Return one row per cluster: before, after, rows and shares on both sides, kinds of events."""
        titles, sizes = self.titles, self.sizes
        pairs = [(int(a), b) for b, a in enumerate(self.match)]
        pairs += [(a, -1) for a in range(len(titles[0])) if a not in self.match]
        rows = []
        for a, b in sorted(pairs, key=lambda pair: (pair[0] < 0, pair)):
            one, other = titles[0][a] if a >= 0 else "", titles[1][b] if b >= 0 else ""
            n, m = int(sizes[0][a]) if a >= 0 else 0, int(sizes[1][b]) if b >= 0 else 0
            own = [event.kind for event in self.events if (a >= 0 and one in event.before) or other in event.after]
            shares = n / max(1, self.n_rows[0]), m / max(1, self.n_rows[1])
            rows.append((one, other, n, m, *shares, ", ".join(dict.fromkeys(own))))
        return rows

    def to_frame(self) -> Any:
        """Return one row per cluster as a pandas data frame: its rows and shares before and after, and its events.

        If new rows are compared with a model, outliers are not counted.
        """
        pandas = require("pandas", extra="export", purpose="to_frame")
        names = ["before", "after", "rows_before", "rows_after", "share_before", "share_after", "events"]
        return pandas.DataFrame(self.cluster_rows(), columns=names)

    def rows_frame(self) -> Any:
        """Return the rows that changed cluster, are new or lost as a pandas data frame: before and after by id."""
        pandas = require("pandas", extra="export", purpose="rows_frame")
        columns = {name: values for name, values in self.rows.items() if name != "id"}
        return pandas.DataFrame(columns, index=pandas.Index(self.rows["id"], name="id"))

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the flow of rows between the clusters, see :func:`gitcluster.plots.plot_flow`."""
        from gitcluster.plots import plot_flow

        return plot_flow(self, ax=ax)

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in self.sentences())
        head = "".join(f"<th>{name}</th>" for name in ("before", "after", "rows before", "after", "share", "after", ""))
        body = "".join(
            f"<tr><td>{escape(one)}</td><td>{escape(other)}</td><td>{n:,}</td><td>{m:,}</td><td>{before:.1%}</td>"
            f"<td>{after:.1%}</td><td>{escape(events)}</td></tr>"
            for one, other, n, m, before, after, events in self.cluster_rows()
        )
        return f"<div>{lines}<table><tr>{head}</tr>{body}</table></div>"


def compare(before: Any, after: Any, X: Any = None, *, id: str | None = None) -> Comparison:
    """Compare two clusterings of the same or of similar rows, or new rows with a model.

    Parameters
    ----------
    before, after : GIT, array-like of shape (n_samples,) or data frame
        Fitted models; labels, where -1 is noise; or data frames with a column "cluster". Rows are matched by ``id``, or
        by the index of the data frame or series. Rows without ids are matched by position. If ``before`` is a model,
        ``after`` may also be a table of new rows with the columns of the fit: do they still fit the model?
    X : array-like, data frame or pair of them, default=None
        The columns in which clusters are compared: the rows of ``after``, or a pair of tables. By default the values
        that the models store.
    id : str, default=None
        Column of data frames that identifies the rows.

    Returns
    -------
    comparison : Comparison
        ``print`` it; ``events``, ``to_frame()``, ``rows_frame()`` and ``plot()`` have the details.

    Examples
    --------
    >>> print(compare([0, 0, 0, 1, 1, 1], [0, 0, 2, 1, 1, 1]))
    6 rows before, 6 after; 6 on both sides, 0 new, 0 lost.
    1 row changed cluster (agreement 0.71 of 1).
    Cluster 0 split into 0 (2 rows) and 2 (1 row).
    """
    from sklearn.metrics import adjusted_rand_score  # slow to import

    first = read_grouping("before", before, id)
    if first is None:
        raise TypeError(
            "before must be a model, labels, or a data frame with a column 'cluster'. Fit one: GIT().fit(X)."
        )
    is_feature = "cluster" in getattr(first.model, "feature_names_in_", ())
    second = None if is_feature and as_frame(after) is not None else read_grouping("after", after, id)
    prediction, note = None, ""
    if first.model is None and X is not None and not (isinstance(X, tuple) and len(X) == 2):
        raise ValueError("X must be a pair of tables, those of before and after, if labels are compared.")
    tables = X if isinstance(X, tuple) and len(X) == 2 else (None, X)
    if second is None:
        if first.model is None or first.clustering is None or not hasattr(first.model, "predict_samples"):
            raise TypeError("after must be a model or labels, got a table. New rows can be compared with a model only.")
        rows, frame = row_labels(after), as_frame(after)
        if id is not None and frame is not None:
            rows, after = _read_ids("after", frame, id), frame.drop(id).to_native()
        prediction, tables = first.model.predict_samples(after), (tables[0], after)
        positions = np.searchsorted(first.clustering.cluster_ids, prediction.labels)
        labels = np.where(prediction.labels < 0, -1, positions)
        second = first._replace(rows=None if rows is None else rows.astype(str), labels=labels, model=None)
    else:
        tables = _align(tables[0], first), _align(tables[1], second)
    if None not in (first.model, second.model):
        _check_models(first.model, second.model)
    at = find_rows(first, second, tables[1], is_new=prediction is not None)
    if prediction is None:
        if 2 * (at >= 0).sum() < len(at) and tables[1] is None and first.model is not None:
            note = "Few rows are on both sides. With X, the table of after, the earlier model predicts the others."
        labels, match = labels_before(first, at, tables[1]), None
        a, b = first.clustering, second.clustering
        if a is not None and b is not None and a.shares_numbers_with(b):
            position = {number: i for i, number in enumerate(first.ids)}
            match = np.array([position.get(number, -1) for number in second.ids])
        common = count_rows(labels, first.n_clusters, second)
        match = match_clusters(common) if match is None else match
        events, steady = _structure_events(first, second, match, common)
    else:
        match, events = np.arange(first.n_clusters), []
        steady = [(c, c) for c in range(first.n_clusters)]
    outliers = boundary = None
    if prediction is not None and first.clustering is not None:
        outliers, boundary, events = _fit_events(first.clustering, prediction)
        limit, scores = first.clustering.fitted.far_out, (first.clustering.outlier_scores, prediction.outlier_scores)
        first_rows, second_rows = (  # outliers would seem to move their clusters
            side._replace(labels=np.where(some > limit, -1, side.labels))
            for side, some in zip((first, second), scores, strict=True)
        )
    else:
        first_rows, second_rows = first, second
    events += _size_events(first_rows, second_rows, steady)
    events += _move_events(first_rows, second_rows, steady, tables)
    both = np.flatnonzero((at >= 0) & (np.where(at >= 0, first.labels[at], -1) >= 0) & (second.labels >= 0))
    return Comparison(
        ids=(first.ids, second.ids),
        titles=(tuple(first.titles), tuple(second.titles)),
        sizes=(first_rows.sizes, second_rows.sizes),
        n_rows=(len(first.labels), len(second.labels)),
        match=match,
        flow=_flow(first, second, at),
        agreement=float(adjusted_rand_score(first.labels[at[both]], second.labels[both]))
        if len(both)
        else float("nan"),
        rows=_changed_rows(first, second, at, match),
        events=tuple(events),
        outliers=outliers,
        boundary=boundary,
        note=note,
    )


def _check_models(before: Any, after: Any) -> None:
    """Raise a ValueError if two models cannot be compared."""
    metrics = [getattr(model, "metric", "euclidean") for model in (before, after)]
    if metrics[0] != metrics[1]:
        raise ValueError(
            f"before and after must have the same metric, got {metrics[0]!r} and {metrics[1]!r}. Compare their labels: "
            "compare(before.labels_, after.labels_)."
        )


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


def _may_be_same_rows(before: Clustering | None, after: Clustering | None) -> bool:
    """Return False if two models of as many rows store other values in most of them."""
    if before is None or after is None:
        return True
    some = np.unique(np.linspace(0, before.n_samples - 1, 200).astype(np.int64))
    columns = {trait.name: trait for trait in fitted_traits(before, some)}
    same = [
        np.array([a == b or (isinstance(a, float) and np.isclose(a, b, rtol=1e-4)) for a, b in zip(
            columns[trait.name].values.tolist(), trait.values.tolist(), strict=True)])
        for trait in fitted_traits(after, some) if trait.name in columns
    ]  # fmt: skip
    return not same or bool(np.mean(same) > 0.5)


def _flow(first: Grouping, second: Grouping, at: Array) -> Array:
    """Return the rows by cluster before and after; the last two rows and columns are noise, and rows of one side."""
    flow = np.zeros((first.n_clusters + 2, second.n_clusters + 2), np.int64)
    before = np.where(at >= 0, first.labels[at], first.n_clusters + 1)
    np.add.at(flow, (np.where(before < 0, first.n_clusters, before),
                     np.where(second.labels < 0, second.n_clusters, second.labels)), 1)  # fmt: skip
    lost = first.labels[np.setdiff1d(np.arange(len(first.labels)), at)]
    flow[:-1, -1] = np.bincount(np.where(lost < 0, first.n_clusters, lost), minlength=first.n_clusters + 1)
    return flow


def _changed_rows(first: Grouping, second: Grouping, at: Array, match: Array) -> dict[str, Array]:
    """Return the rows that changed cluster, then those that are new, then those that are lost."""
    before_titles, after_titles = [*first.titles, "noise"], [*second.titles, "noise"]
    names = [np.arange(len(s.labels)).astype(str) if s.rows is None else s.rows for s in (first, second)]
    old = np.where(at >= 0, first.labels[at], -1)
    continued = np.append(match, -1)[second.labels]
    changed = np.flatnonzero((at >= 0) & ~((continued == old) & ((old >= 0) | (second.labels < 0))))
    new = np.flatnonzero(at < 0) if second.rows is not None else np.empty(0, np.int64)
    lost = np.setdiff1d(np.arange(len(first.labels)), at) if first.rows is not None and (at >= 0).any() else new[:0]
    new = new if (at >= 0).any() else new[:0]
    return {
        "id": np.concatenate([names[1][changed], names[1][new], names[0][lost]]).astype(object),
        "before": np.array([before_titles[c] for c in old[changed]] + [""] * len(new)
                           + [before_titles[c] for c in first.labels[lost]], dtype=object),
        "after": np.array([after_titles[c] for c in second.labels[[*changed, *new]]] + [""] * len(lost), dtype=object),
    }  # fmt: skip


def _structure_events(
    first: Grouping, second: Grouping, match: Array, common: Array
) -> tuple[list[Event], list[tuple[int, int]]]:
    """Return splits, merges, births and deaths, and the pairs of clusters without any of these.

    ``common`` are the numbers of rows that :func:`count_rows` returns.
    """
    inside = common[:-1, :-1]
    of_before, of_after = common[:-1].sum(axis=1)[:, None], common[:, :-1].sum(axis=0)
    comes_from = (2 * inside > of_after) & (inside >= MIN_PART * of_before) & (inside > 0)
    goes_to = (2 * inside > of_before) & (inside >= MIN_PART * of_after) & (inside > 0)
    continues = np.arange(first.n_clusters)[:, None] == match
    events: list[Event] = []
    involved: tuple[set[int], set[int]] = set(), set()

    def named(side: Grouping, clusters: Array) -> str:
        sizes = side.sizes
        return list_of([f"{side.titles[c]} ({count_of(int(sizes[c]), 'row')})" for c in clusters.tolist()], MAX_LISTED)

    def add(kind: str, before: Array, after: Array, text: str) -> None:
        involved[0].update(before.tolist())
        involved[1].update(after.tolist())
        titles = tuple(first.titles[a] for a in before.tolist()), tuple(second.titles[b] for b in after.tolist())
        events.append(Event(kind, *titles, text))

    nobody = np.empty(0, np.int64)
    for a in range(first.n_clusters):
        parts = np.flatnonzero(comes_from[a] | continues[a])
        if len(parts) > 1:
            parts = parts[np.argsort(-second.sizes[parts], kind="stable")]
            add("split", np.array([a]), parts, f"Cluster {first.titles[a]} split into {named(second, parts)}.")
    for b in range(second.n_clusters):
        parts, here = np.flatnonzero(goes_to[:, b] | continues[:, b]), np.array([b])
        if len(parts) > 1:
            add("merged", parts, here, f"Clusters {named(first, parts)} merged into {named(second, here)}.")
    for b in np.flatnonzero(match < 0).tolist():
        if b not in involved[1]:
            share, source = common[:, b].max() / max(1, of_after[b]), int(common[:, b].argmax())
            origin = f"{share:.0%} of its rows were in "
            origin += "no cluster before" if source == first.n_clusters else f"cluster {first.titles[source]}"
            here = np.array([b])
            add("born", nobody, here, f"Cluster {named(second, here)} is new: {origin}.")
    for a in np.setdiff1d(np.arange(first.n_clusters), match).tolist():
        if a not in involved[0]:
            share, target = inside[a].max(initial=0) / max(1, first.sizes[a]), int(inside[a].argmax())
            gone = f"{share:.0%} of its rows are in cluster {second.titles[target]} now"
            gone = gone if share >= MIN_PART else "its rows are gone"
            here = np.array([a])
            add("died", here, nobody, f"Cluster {named(first, here)} no longer exists: {gone}.")
    pairs = [(int(a), b) for b, a in enumerate(match) if a >= 0 and a not in involved[0] and b not in involved[1]]
    return events, pairs


def _size_events(first: Grouping, second: Grouping, pairs: list[tuple[int, int]]) -> list[Event]:
    """Return clusters whose share of the rows changed."""
    n, m = len(first.labels), len(second.labels)
    events = []
    for a, b in pairs:
        before, after = float((first.labels == a).mean()), float((second.labels == b).mean())
        mean = (before * n + after * m) / (n + m)
        error = np.sqrt(mean * (1 - mean) * (1 / n + 1 / m))
        factor = after / before if before else np.inf
        if abs(after - before) > STANDARD_ERRORS * error and not 1 / MIN_GROWTH < factor < MIN_GROWTH:
            kind, title = "grew" if after > before else "shrank", second.titles[b]
            text = f"Cluster {title} {kind} from {before:.1%} to {after:.1%} of the rows."
            events.append(Event(kind, (first.titles[a],), (title,), text))
    return events


def _move_events(
    first: Grouping, second: Grouping, pairs: list[tuple[int, int]], tables: tuple[Any, Any]
) -> list[Event]:
    """Return clusters whose columns changed."""
    sides = [_traits(side, table) for side, table in zip((first, second), tables, strict=True)]
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
    joined = trait._replace(values=values, kind=other.kind if trait.kind != other.kind else trait.kind)
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
    n = len(side.labels)
    if table is not None and not issparse(table):
        columns = None if side.clustering is None else side.clustering.columns
        names = None if side.clustering is None else side.clustering.feature_names
        traits = read_traits(table, names, columns)
        if traits and len(traits[0].values) == n:
            return traits
        raise ValueError(
            f"X must have the {n:,} rows of the clustering, got {len(traits[0].values) if traits else 0:,}."
        )
    if side.clustering is None or side.clustering.n_samples != n or side.model is None:
        return []
    return fitted_traits(side.clustering, np.arange(n))


def _fit_events(
    clustering: Clustering, prediction: SamplePrediction
) -> tuple[tuple[float, float], tuple[float, float], list[Event]]:
    """Return the shares of outliers and of boundary rows among fitted and new rows, and what is unusual in them."""
    limit = clustering.fitted.far_out
    fitted, new = np.asarray(clustering.outlier_scores) > limit, prediction.outlier_scores > limit
    near, new_near = own_shares(clustering) < NEAR_BOUNDARY, own_shares(clustering, prediction) < NEAR_BOUNDARY
    results, events = [], []
    for kind, usual, now in (("outliers", fitted, new), ("boundary", near & ~fitted, new_near & ~new)):
        before, after, n, m = float(usual.mean()), float(now.mean()), len(usual), len(now)
        results.append((before, after))
        mean = (usual.sum() + now.sum() + 1) / (n + m + 2)
        error = np.sqrt(mean * (1 - mean) * (1 / n + 1 / m))
        if after - before > max(MIN_SHARE_GAIN, STANDARD_ERRORS * error):
            what = "are outliers" if kind == "outliers" else "are near the boundary of their cluster"
            text = f"The new rows do not fit the model: {after:.1%} {what}, usually {before:.1%}."
            events.append(Event(kind, (), (), text))
    return results[0], results[1], events
