"""The data of a page: what the fit found, as arrays in base64 inside JSON.

Weights go as the float64 they are, and what a re-cut needs of them (the order of the edges, the log sums) is worked out
here, so that the browser repeats the arithmetic of :meth:`GIT.cut` on the same numbers.
"""

from base64 import b64encode
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import inverse_order
from gitcluster.explorer.window import fit_window
from gitcluster.fitted.attributes import agreement_words, number_words
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.memberships import leaving_shares
from gitcluster.fitted.places import place_samples
from gitcluster.fitted.prediction import describe_fitted
from gitcluster.intensity import rounding_step

TYPES = ("u1", "u2", "i4")
"""Of whole numbers, the first that holds them all; else float64."""


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
    n_samples = len(found.labels)
    rows = choose_samples(found.local_labels, found.peaks, max_samples, random_state)
    places = place_samples(found, X, embedding=embedding)
    window = fit_window(places.xy[rows])
    if names is not None:
        names = [str(name) for name in names]
        if len(names) != n_samples:
            raise ValueError(f"names must have {n_samples} entries, one per sample, got {len(names)}.")
        names = [names[row] for row in rows.tolist()]
    return {
        "title": "GIT explorer" if title is None else str(title),
        "n_samples": n_samples,
        "variant": found.recipe.name,
        "recut": found.ties is None,
        "prior": None if found.prior is None else found.prior.tolist(),
        "firmness": describe_firmness(found),
        "axes": [
            {"name": name, "centre": centre, "unit": unit}
            for name, centre, unit in zip(places.names, window.centre, window.unit, strict=True)
        ],
        "names": names,
        "columns": [_pack_column(str(name), values, rows, n_samples) for name, values in _columns(columns)],
        "samples": {"place": pack(window.coordinates.ravel()), **_pack_samples(found, rows)},
        "graph": _pack_graph(found, rows),
    }


def describe_firmness(found: Clustering) -> list[str]:
    """How firm the clustering is, and its number of clusters where it was chosen; nothing where it is not known."""
    words = []
    if found.selection is not None:
        words.append(agreement_words(float(found.selection["agreement"][found.selection["chosen"]][0])))
    if found.n_clusters_scores is not None:
        words.append(f"Number of clusters: {number_words(found.n_clusters_scores)}.")
    return words


def pack(values: Any) -> dict[str, str]:
    """A typed array: whole numbers in as few bytes as hold them, floats as they are."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fits = [t for t in TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max]
        array = array.astype(fits[0] if fits else "f8")
    kind = array.dtype.str[1:]
    return {"type": kind, "data": b64encode(array.astype(f"<{kind}").tobytes()).decode("ascii")}


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
        "leaving": pack(leaving_shares(found, describe_fitted(found, rows)).astype(np.float32)),
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


def _columns(columns: Any) -> list[tuple[Any, Any]]:
    if columns is None:
        return []
    if hasattr(columns, "columns"):
        return [(name, columns[name]) for name in columns.columns]
    if not hasattr(columns, "items"):
        raise TypeError(f"columns must be a dict or a DataFrame, got {type(columns).__name__}. Use {{'name': values}}.")
    return list(columns.items())


def _pack_column(name: str, values: Any, rows: NDArray[np.int64], n_samples: int) -> dict[str, Any]:
    array = np.asarray(values)
    if array.shape != (n_samples,):
        raise ValueError(f"columns[{name!r}] must have shape ({n_samples},), one value per sample, got {array.shape}.")
    array = array[rows]
    if array.dtype.kind == "O" and all(_is_missing(value) or _is_number(value) for value in array):
        array = np.array([np.nan if _is_missing(value) else float(value) for value in array])
    if array.dtype.kind in "iuf":
        return {"name": name, "values": pack(array.astype(np.float64) if array.dtype.kind == "f" else array)}
    known = np.array([not _is_missing(value) for value in array.tolist()], dtype=bool)
    words = np.array([str(value) for value in array.tolist()], dtype=object)
    found, codes, counts = np.unique(words[known].astype(str), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")  # the most frequent has the first colour
    all_codes = np.full(len(array), -1, np.int64)
    all_codes[known] = inverse_order(order)[codes]
    return {"name": name, "values": pack(all_codes), "categories": found[order].tolist()}


def _is_missing(value: Any) -> bool:
    """None, NaN, or what pandas has for them, which does not compare."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
