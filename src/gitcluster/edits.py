"""Edits of clusters by hand, as the explorer saves them: read the file, and apply them to another fit.

A file lists the rows that the page showed, their clusters before the first edit, and the edits in their order. In
another fit, a cluster of the file is the cluster with most of its rows. On the fitted data this gives exactly the
clusters of the page. On other data an edit is skipped, with a warning, if its rows are gone or in several clusters.
Rows that the file does not list follow the majority of the listed rows in their local cluster. Edits take precedence
over links, partial labels and bounds on sizes.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gitcluster._support.arrays import Array
from gitcluster._support.names import count_of
from gitcluster.constraints import Constraints, LinkConstraints
from gitcluster.fitted.clustering import Clustering, check_name
from gitcluster.fitted.cutting import cut_again
from gitcluster.pipeline import git_clusters
from gitcluster.preprocessing.representations import Representation
from gitcluster.preprocessing.sources import Points, Source

FORMAT, VERSION = "gitcluster-edits", 1
FIELDS: dict[str, dict[str, Any]] = {
    "merge": {"clusters": list, "into": int},
    "split": {"cluster": int, "rows": list, "into": int},
    "move": {"rows": list, "into": int},
    "rename": {"cluster": int, "name": str},
}
"""Fields of every kind of edit, with their types."""


class EditsFileError(ValueError):
    """The file is damaged, is no file of edits, or belongs to another table."""


class Edits(NamedTuple):
    """The content of a file of edits."""

    name: str
    rows: list[Any]
    """Labels of the rows as texts, or their positions."""
    labels: Array
    """(n,) cluster of every row before the first edit."""
    n_samples: int
    n_clusters: int | None
    """Number of clusters of the cut that was edited; None for the fitted clusters."""
    edits: list[dict[str, Any]]

    def steps(self) -> Iterator[tuple[dict[str, Any], Array]]:
        """Yield every edit with the clusters of the rows before it."""
        labels = self.labels.copy()
        for edit in self.edits:
            yield edit, labels
            if edit["kind"] == "merge":
                labels[np.isin(labels, edit["clusters"])] = edit["into"]
            elif edit["kind"] != "rename":
                labels[edit["rows"]] = edit["into"]


def read_edits(source: Any) -> Edits:
    """Return the edits in a file, or in a dict of the same content; everything is checked."""
    name = "edits" if isinstance(source, dict) else str(source)
    text = "" if isinstance(source, dict) else Path(source).read_text(encoding="utf-8-sig", errors="replace")
    try:
        content = source if isinstance(source, dict) else json.loads(text)
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(f"its format must be {FORMAT}, version {VERSION}")
        rows, labels, n_samples = content["rows"], content["labels"], content["n_samples"]
        if not _are_different(rows, str) and not (_are_different(rows, int) and max(rows) < n_samples):
            raise ValueError("rows must be different texts or positions")
        if len(labels) != len(rows) or {type(label) for label in labels} != {int}:
            raise ValueError("labels must be integers, one per row")
        n_clusters = content.get("n_clusters")
        if type(n_samples) is not int or not (n_clusters is None or (type(n_clusters) is int and n_clusters > 0)):
            raise ValueError("n_samples and n_clusters must be integers")
        edits = Edits(name, rows, np.array(labels, np.int64), n_samples, n_clusters, list(content["edits"]))
        for number, (edit, own) in enumerate(edits.steps(), 1):
            if not _is_valid(edit, own):
                raise ValueError(f"edit number {number} has wrong fields, or refers to rows or clusters it cannot have")
            check_name(edit.get("name", ""))
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise EditsFileError(f"{name} is damaged or not a file of edits: {error}.") from None
    return edits


def _are_different(items: list[Any], kind: type) -> bool:
    """Return whether all items are of this type and different, and none is negative."""
    return (
        {type(item) for item in items} == {kind} and len(set(items)) == len(items) and (kind is str or min(items) >= 0)
    )


def _is_valid(edit: dict[str, Any], own: Array) -> bool:
    """Return whether an edit of rows in these clusters has the right fields, rows and clusters."""
    kind = edit["kind"]
    fields = FIELDS[kind]
    if edit.keys() != {"kind", *fields} or any(type(edit[field]) is not type_ for field, type_ in fields.items()):
        return False
    known, rows, into = set(own[own >= 0].tolist()), edit.get("rows", [0]), edit.get("into", 0)
    clusters = edit.get("clusters", [edit["cluster"]] if "cluster" in edit else [])
    if not _are_different(rows, int) or max(rows) >= len(own) or not known.issuperset(clusters) or into < 0:
        return False
    if kind == "merge":
        return len(set(clusters)) > 1 and into in clusters
    return kind != "split" or (into not in known and set(own[rows].tolist()) == set(clusters))


class Replay:
    """Edits on the clusters of a fit: apply the files in their order, then read the results."""

    def __init__(self, clustering: Clustering) -> None:
        self.clustering, self.local = clustering, np.asarray(clustering.local_labels)
        self.labels = np.array(clustering.to_ids(clustering.labels))
        """(n,) number of the cluster of every sample, -1 for noise."""
        self.names = dict(clustering.cluster_names)
        self.applied: list[str] = []
        """The edits that were applied, in words."""
        self.skipped: list[str] = []
        """Those that were not, with the reasons."""

    def apply(self, edits: Edits) -> None:
        """Apply the edits of a file."""
        if edits.n_clusters is not None:
            cut = cut_again(self.clustering, edits.n_clusters, None)
            self.labels, self.names = np.where(self.labels < 0, -1, cut[self.local]), {}
        at = _find_rows(edits, self.clustering)
        changes = {"merge": self._merge, "split": self._move, "move": self._move, "rename": self._rename}
        for edit, own in edits.steps():
            words = _describe(edit)
            try:
                changes[edit["kind"]](edit, own, at)
                self.applied.append(words)
            except LookupError as reason:
                self.skipped.append(f"{words}: {reason}")
        self.names = {number: name for number, name in self.names.items() if (self.labels == number).any()}

    def _locate(self, rows: Array) -> int:
        """Return the cluster that has most of these rows; raise a LookupError if no cluster has any."""
        numbers, counts = np.unique(self.labels[rows[rows >= 0]], return_counts=True)
        if not len(numbers):
            raise LookupError("its rows are gone")
        best = int(counts.argmax())
        if 2 * counts[best] <= counts.sum() or numbers[best] < 0:
            raise LookupError("its rows are now in several clusters")
        return int(numbers[best])

    def _merge(self, edit: dict[str, Any], own: Array, at: Array) -> None:
        homes = [self._locate(at[own == cluster]) for cluster in edit["clusters"]]
        into = self._locate(at[own == edit["into"]])
        self.labels[np.isin(self.labels, homes)] = into

    def _rename(self, edit: dict[str, Any], own: Array, at: Array) -> None:
        home = self._locate(at[own == edit["cluster"]])
        listed = own[(at >= 0) & (self.labels[at] == home)]
        if 2 * (listed == edit["cluster"]).sum() <= len(listed):
            raise LookupError("it is now part of a larger cluster")
        others = {number: name for number, name in self.names.items() if number != home}
        if edit["name"] in others.values():
            raise LookupError("another cluster has this name")
        self.names = others | ({home: edit["name"]} if edit["name"] else {})

    def _move(self, edit: dict[str, Any], own: Array, at: Array) -> None:
        chosen = np.zeros(len(own), bool)
        chosen[edit["rows"]] = True
        moved = at[chosen & (at >= 0)]
        if not len(moved):
            raise LookupError("its rows are gone")
        if (own == edit["into"]).any():
            into = self._locate(at[own == edit["into"]])
        else:
            clustering = self.clustering
            used = {*self.labels.tolist(), *clustering.cluster_ids.tolist(), clustering.next_id - 1}
            into = edit["into"] if edit["into"] not in used else max(used) + 1
            if edit["kind"] == "split":  # the fit may have separated these rows already
                with suppress(LookupError):
                    home, rest = self._locate(moved), self._locate(at[(own == edit["cluster"]) & ~chosen])
                    into = into if home == rest else home
        # Rows that are not listed follow the listed rows of the same local cluster and cluster.
        is_listed, is_moved = np.zeros((2, len(self.labels)), bool)
        is_listed[at[at >= 0]], is_moved[moved] = True, True
        part = self.local * (self.labels.max() + 2) + self.labels + 1
        n_listed, n_moved = (np.bincount(part[rows], minlength=part.max() + 1) for rows in (is_listed, is_moved))
        follows = ~is_listed & (self.labels >= 0) & (2 * n_moved > n_listed)[part]
        self.labels[is_moved | follows] = into


def _find_rows(edits: Edits, clustering: Clustering) -> Array:
    """Return the position of every row of a file in the data, -1 if it is gone."""
    if isinstance(edits.rows[0], int):
        if edits.n_samples != clustering.n_samples:
            raise EditsFileError(
                f"{edits.name} numbers the rows of a table with {edits.n_samples:,} rows, the data have "
                f"{clustering.n_samples:,}. Give every row an id: the index of the data frame, or --id."
            )
        return np.array(edits.rows, np.int64)
    position = {} if clustering.index is None else {str(row): i for i, row in enumerate(clustering.index.tolist())}
    at = np.array([position.get(row, -1) for row in edits.rows])
    if (at < 0).all():
        raise EditsFileError(
            f"{edits.name} belongs to another table: the data have no row with an id such as {edits.rows[0]!r}. Fit a "
            "data frame with these ids as its index, or use --id."
        )
    return at


def _describe(edit: dict[str, Any]) -> str:
    """Return an edit in words, with the numbers of clusters in the file."""
    shown = {name: count_of(len(value), "row") if name == "rows" else repr(value) for name, value in edit.items()}
    return f"{edit['kind']} " + ", ".join(f"{name}: {text}" for name, text in shown.items() if name != "kind")


def refit_edited(source: Source, clustering: Clustering, replay: Replay, **options: Any) -> Clustering:
    """Return a fit whose clusters are the edited ones, in the representation and with the neighbours of a fit.

    Stages 3 to 5 run again with the edited clusters as constraints, so that no local cluster has rows of two of them.
    """
    ids, groups = np.unique(replay.labels[replay.labels >= 0], return_inverse=True)
    of_rows = np.full(len(replay.labels), -1)
    of_rows[replay.labels >= 0] = groups
    scaling = clustering.source.scaling if isinstance(clustering.source, Points) else None
    fit = git_clusters(
        source,
        n_clusters=len(ids),
        n_neighbors=clustering.n_neighbors,
        scale=(Representation(clustering.representation, scaling),),
        constraints=Constraints(of_rows, np.empty((0, 2), np.int64), np.arange(len(ids)), 0.0, 1.0),
        **options,
    )
    homes = fit.edge_cut.labels[fit.local_labels]
    number_of = np.full(fit.n_clusters, -1)
    number_of[homes[of_rows >= 0]] = of_rows[of_rows >= 0]
    training = fit.fitted
    n_local = len(fit.peaks)
    free = LinkConstraints(
        np.empty((0, 2), np.int64), np.empty((0, 2), np.int64), np.full(n_local, -1), 0.0, 1.0,
        np.asarray(fit.topo_graph.sizes, np.float64),
    )  # fmt: skip
    labels = of_rows.copy()
    fitted_labels = training.labels.copy()
    copies = np.arange(len(labels)) if training.copies is None else training.copies
    fitted_labels[copies[copies >= 0]] = np.argsort(number_of)[labels[copies >= 0]]
    fitted_labels[copies[(copies >= 0) & (labels < 0)]] = -1
    edited = replace(
        fit,
        labels=np.where(labels < 0, -1, np.argsort(number_of)[labels]),
        training=replace(training, labels=fitted_labels),
        links=free,
        selection=clustering.selection,
        n_clusters_scores=None,
        representations=clustering.representations,
        prior=None,
        n_requested=clustering.n_requested,
        edits=tuple(replay.applied),
    )
    next_id = max(clustering.next_id, int(ids.max()) + 1)
    return edited.numbered(ids[number_of], replay.names, next_id)


def read_all(edits: Any) -> list[Edits]:
    """Return the edits in one or several files."""
    several = list(edits) if isinstance(edits, (list, tuple)) else [] if edits is None else [edits]
    if not all(isinstance(one, (str, os.PathLike, dict)) for one in several):
        raise TypeError(f"edits must be a file, a dict, or a list of them, got {edits!r}.")
    return [read_edits(one) for one in several]
