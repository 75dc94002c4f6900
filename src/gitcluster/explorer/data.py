"""The data of a page: what the fit found, as arrays in base64 inside JSON.

Weights go as the float64 they are, and what a re-cut needs of them (the order of the edges, the log sums) is worked out
here, so that the browser repeats the arithmetic of :meth:`GIT.cut` on the same numbers.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster.explorer.columns import pack_columns
from gitcluster.explorer.packing import pack
from gitcluster.explorer.views import make_views, pack_view
from gitcluster.fitted.attributes import agreement_words, number_words
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.memberships import leaving_shares
from gitcluster.fitted.prediction import predict_fitted
from gitcluster.intensity import rounding_step


def pack_model(
    found: Clustering,
    X: Any,
    *,
    embedding: ArrayLike | None,
    columns: Any,
    names: Any,
    title: str | None,
    max_samples: int,
    random_state: int,
) -> dict[str, Any]:
    """Everything that the page shows."""
    rows = choose_samples(found.local_labels, found.peaks, max_samples, random_state)
    views = make_views(found, X, embedding)  # checks X
    packed, left_out = pack_columns(found, X, columns, rows)
    return {
        "title": "GIT explorer" if title is None else str(title),
        "n_samples": found.n_samples,
        "variant": found.variant.name,
        "recut": found.links is None,
        "prior": None if found.prior is None else found.prior.tolist(),
        "firmness": describe_firmness(found),
        "scores": _pack_scores(found),
        "views": [pack_view(view, found, rows) for view in views],
        "names": _names(found, names, rows),
        "columns": packed,
        "columns_left_out": left_out,
        "samples": _pack_samples(found, rows),
        "graph": _pack_graph(found, rows),
    }


def _names(found: Clustering, names: Any, rows: NDArray[np.int64]) -> list[str] | None:
    """What the shown samples are called: as asked for, else by the index of the data frame."""
    names = found.index if names is None else names
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a sequence, one name per sample, got {type(names).__name__}.")
    listed: Any = names if hasattr(names, "shape") else list(names)
    shape = getattr(listed, "shape", (len(listed),))
    if shape != (found.n_samples,):
        raise ValueError(f"names must have shape ({found.n_samples},), one per sample, got {shape}.")
    names = list(listed)
    return [str(names[row]) for row in rows.tolist()]


def _pack_scores(found: Clustering) -> dict[str, Any] | None:
    """Scores of numbers of clusters, the recommended numbers first to last; None where the number was given."""
    table = found.n_clusters_scores
    if table is None:
        return None
    ranked = sorted((rank, i) for i, rank in enumerate(table["rank"].tolist()) if rank > 0)
    best = [i for rank, i in ranked if rank == 1 or table["confidence"][i] > 0]
    return {
        "n_clusters": table["n_clusters"].tolist(),
        "score": np.nan_to_num(table["score"]).round(6).tolist(),
        "recommended": table["n_clusters"][best].tolist(),
    }


def describe_firmness(found: Clustering) -> list[str]:
    """How firm the clustering is, and its number of clusters where it was chosen; nothing where it is not known."""
    words = []
    if found.selection is not None:
        words.append(agreement_words(float(found.selection["agreement"][found.selection["chosen"]][0])))
    if found.n_clusters_scores is not None:
        words.append(f"Number of clusters: {number_words(found.n_clusters_scores)}.")
    return words


def choose_samples(local_labels: Any, peaks: Any, most: int, random_state: int) -> NDArray[np.int64]:
    """All samples, or ``most`` of them in rising order: the same share of every local cluster, and every peak."""
    n_samples, peaks = len(local_labels), np.unique(peaks)
    if n_samples <= most:
        return np.arange(n_samples)
    if most < len(peaks):
        raise ValueError(
            f"max_samples={most} is less than the {len(peaks)} local clusters, whose peaks are always shown. "
            f"Use max_samples >= {len(peaks)}."
        )
    rng = np.random.default_rng(random_state)
    order = np.lexsort((rng.random(n_samples), local_labels))
    order = order[~np.isin(order, peaks)]
    n_others = most - len(peaks)
    taken = order[np.arange(n_others) * len(order) // max(n_others, 1)]
    return np.sort(np.concatenate([peaks, taken])).astype(np.int64)


def _pack_samples(found: Clustering, rows: NDArray[np.int64]) -> dict[str, Any]:
    n_samples = len(found.labels)
    position = np.full(n_samples, -1, np.int64)
    position[rows] = np.arange(len(rows))
    parents, steps = _climb(np.asarray(found.parents), rows, position >= 0)
    packed = {
        "local": pack(found.local_labels[rows]),
        "noise": pack(found.labels[rows] < 0),
        "intensity": pack(found.log_intensity[rows].astype(np.float32)),
        "leaving": pack(leaving_shares(found, predict_fitted(found, rows)).astype(np.float32)),
        "outlier": pack(np.asarray(found.outlier_scores)[rows].astype(np.float32)),
        "parent": pack(position[parents]),
    }
    if len(rows) < n_samples:
        packed |= {"row": pack(rows), "steps": pack(steps)}
    return packed


def _climb(
    parents: NDArray[np.int64], rows: NDArray[np.int64], shown: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The next shown sample uphill of every shown one, and the steps to the end of its climb."""
    upward, steps, at = parents[rows], np.zeros(len(rows), np.int64), rows
    for _ in range(len(parents)):
        following = parents[at]
        if (following == at).all():
            break
        steps += following != at
        at = following
        upward = np.where(shown[upward], upward, parents[upward])
    return np.where(shown[upward], upward, rows), steps


def _pack_graph(found: Clustering, rows: NDArray[np.int64]) -> dict[str, Any]:
    graph, hierarchy = found.topo_graph, found.hierarchy
    weights = graph.log_weights if hierarchy is None else graph.log_widths
    order = np.argsort(-np.rint(weights / rounding_step(np.float64)), kind="stable")
    there = found.labels >= 0
    return {
        "sizes": pack(graph.sizes),
        "members": pack(np.bincount(found.local_labels[there], minlength=len(graph.sizes))),
        "peaks": pack(np.searchsorted(rows, found.peaks)),
        "edges": pack(graph.edges.ravel()),
        "pairs": pack(graph.pairs),
        "log_weights": pack(graph.log_weights),
        "cut_order": pack(order[graph.real[order]]),
        "cut_sums": pack(graph._replace(log_weights=weights).log_sums),
        "labels": pack(found.edge_cut.labels),
        "merges": None if hierarchy is None else pack(hierarchy.edges),
    }
