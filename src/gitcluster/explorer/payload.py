"""The data of a page: one JSON object, with arrays as base64 text.

Numbers and dates are as in the table, everything else is a category. Integers, dates and numbers with few decimals are
exact, other numbers are float32. If the columns are too large for a page, it omits the last ones, unused columns first.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from gitcluster._support.arrays import Array, inverse_order
from gitcluster.constraints import UnmetConstraintsError
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.cutting import cut_again
from gitcluster.fitted.layout import SampleLayout, inside, layout_samples, spread_samples, usual_range
from gitcluster.fitted.memberships import leaving_shares
from gitcluster.fitted.prediction import predict_fitted
from gitcluster.fitted.summary import ranked_numbers, summarize
from gitcluster.fitted.traits import Trait, fitted_traits, read_traits
from gitcluster.hierarchy import build_hierarchy
from gitcluster.preprocessing.sources import Points
from gitcluster.preprocessing.tables import as_frame, column_names
from gitcluster.preprocessing.values import Format, Values, read_values
from gitcluster.topo_graph import bridge_components, rank_edges

FEWEST_CUTS, MOST_CUTS = 20, 60
"""Bounds on the numbers of clusters that the page offers, which is otherwise three times the recommended number."""
MOST_FOR_LAYOUT = 2_000
"""Local clusters up to which the force layout of the topo-graph is a view."""
TILES = 320
"""Tiles along each side of a view, which count samples if not all are drawn."""
UNEVEN = 4.0
"""Axes get separate scales if their ranges differ by more than this factor."""
MOST_CHARACTERS = 6_000_000
"""Size of all columns of a page, besides those in ``columns=``."""
MOST_DECIMALS = 6


def build_payload(
    clustering: Clustering, X: Any, rows: Array, *, embedding: ArrayLike | None, columns: Any, names: Any
) -> dict[str, Any]:
    """Return everything that the page shows, with some rows of the samples."""
    views = compute_views(clustering, X, embedding)  # validates X
    packed_columns, n_left_out = pack_columns(clustering, X, columns, rows)
    scores = None
    table, largest = clustering.n_clusters_scores, clustering.n_clusters
    if table is not None:
        scores = {name: np.nan_to_num(table[name]).round(6).tolist() for name in ("n_clusters", "score")}
        scores["recommended"] = ranked_numbers(table)
        largest = max(largest, *scores["recommended"])
    cuts = possible_cuts(clustering, min(len(clustering.peaks), MOST_CUTS, max(FEWEST_CUTS, 3 * largest)))
    sample_names = _sample_names(clustering, names, rows)
    labels = _sample_names(clustering, None, rows)  # those in a file of edits; the index is None if labels are equal
    return {
        "n_samples": clustering.n_samples,
        "summary": summarize(clustering, advice=False),
        "stability": _pack_stability(clustering, rows),
        "scores": scores,
        "views": [_pack_view(name, layout, clustering, rows) for name, layout in views.items()],
        "names": sample_names,
        "row_labels": None if labels is None else "names" if labels == sample_names else labels,
        "cluster_ids": clustering.cluster_ids.tolist(),
        "cluster_names": clustering.cluster_names,
        "next_id": clustering.next_id,
        "columns": packed_columns,
        "columns_left_out": n_left_out,
        "samples": _pack_samples(clustering, rows),
        "graph": _pack_graph(clustering, rows),
        "cut_numbers": list(cuts),
        "cuts": pack(np.concatenate(list(cuts.values()))),
    }


def possible_cuts(clustering: Clustering, most: int) -> dict[int, Array]:
    """Return the cluster of every local cluster in the cuts into 1, 2, ... clusters that meet the constraints."""
    cuts = {}
    for n_clusters in range(1, most + 1):
        try:
            labels = cut_again(clustering, n_clusters, None)
        except UnmetConstraintsError:
            continue
        if clustering.links is not None and labels.max() + 1 < n_clusters:
            break  # links join the local clusters of all further cuts
        cuts[n_clusters] = labels
    return cuts or {clustering.n_clusters: clustering.edge_cut.labels}


def choose_samples(clustering: Clustering, most: int) -> Array:
    """Return the rows to show, ascending: all, or the same share of every local cluster and every peak."""
    n_samples, peaks = clustering.n_samples, np.unique(clustering.peaks)
    if n_samples <= most:
        return np.arange(n_samples)
    if most < len(peaks):
        raise ValueError(f"max_samples must be at least {len(peaks)}, the number of local clusters, got {most}.")
    order = np.lexsort((np.random.default_rng(0).random(n_samples), clustering.local_labels))
    order = order[~np.isin(order, peaks)]
    n_others = most - len(peaks)
    return np.sort(np.concatenate([peaks, order[np.arange(n_others) * len(order) // max(n_others, 1)]]))


def _sample_names(clustering: Clustering, names: Any, rows: Array) -> list[str] | None:
    """Return the names of the shown samples: the given ones, else the index of the data frame."""
    names = clustering.index if names is None else names
    if names is None:
        return None
    if isinstance(names, str) or np.shape(names) != (clustering.n_samples,):
        raise ValueError(f"names must have shape ({clustering.n_samples},), got {np.shape(names)}.")
    return list(map(str, np.asarray(names, dtype=object)[rows]))


def compute_views(clustering: Clustering, X: Any, embedding: ArrayLike | None) -> dict[str, SampleLayout]:
    """Return the coordinates of all samples in every view; the page starts with the first."""
    views = {} if embedding is None else {"Embedding": layout_samples(clustering, X, embedding=embedding)}
    if not isinstance(clustering.source, Points):
        return views or {"Layout": layout_samples(clustering, X)}
    if views and X is None and clustering.source.n_samples != clustering.n_samples:
        return views  # the model holds no row per sample
    layout = layout_samples(clustering, X)
    if not layout.names[0].startswith("PCA"):
        return views | {"Features": layout}
    views["PCA"] = layout
    if len(clustering.peaks) <= MOST_FOR_LAYOUT:
        views["Graph layout"] = SampleLayout(spread_samples(clustering), ("force layout of the topo-graph", ""), False)
    return views


def _pack_view(name: str, layout: SampleLayout, clustering: Clustering, rows: Array) -> dict[str, Any]:
    """Return coordinates in which nearly all samples lie within -1 to 1, and the counts of all samples by tile."""
    low, high = usual_range(layout.xy)
    centre, unit = low / 2 + high / 2, high / 2 - low / 2  # halves, for values near the largest float
    unit = np.where(unit > 0, unit, unit.max() or 1.0)
    if unit.max() <= UNEVEN * unit.min():
        unit = np.full(2, unit.max())
    xy = ((layout.xy / 2 - centre / 2) / unit * 2).astype(np.float32)
    packed = {
        "name": name,
        "one_scale": layout.has_one_scale((low, high)) or name == "Embedding",
        "axes": list(layout.names),
        "extent": np.clip(np.abs(xy).max(axis=0, initial=0.0), 0.05, 1.0).astype(float).tolist(),
        "outside": int((~inside(layout.xy, (low, high))).sum()),
        "xy": pack(xy[rows].ravel()),
    }
    if len(rows) < clustering.n_samples:
        # Row by row from below. Samples beyond the window count in the nearest tile of its edge.
        column, row = np.clip((xy.astype(float) + 1) / 2 * TILES, 0, TILES - 1).astype(np.int64).T
        tile, n_local = row * TILES + column, len(clustering.peaks)
        pairs, counts = np.unique(tile * n_local + np.asarray(clustering.local_labels), return_counts=True)
        pairs = pairs[np.argsort(counts, kind="stable")]  # the most frequent local cluster of a tile comes last
        most = np.zeros(TILES * TILES, np.int64)
        most[pairs // n_local] = pairs % n_local
        counted = pack(np.bincount(tile, minlength=TILES * TILES))
        packed["density"] = {"side": TILES, "counts": counted, "locals": pack(most)}
    return packed


def _pack_samples(clustering: Clustering, rows: Array) -> dict[str, Any]:
    """Return what the fit computed for every shown sample."""
    parents, position = np.asarray(clustering.parents), np.full(clustering.n_samples, -1)
    position[rows] = np.arange(len(rows))
    # Follow the climbs of all shown samples at once: count steps, and skip parents that are not shown.
    parent, steps, at = parents[rows], np.zeros(len(rows), np.int64), rows
    while (parents[at] != at).any():
        steps += parents[at] != at
        at = parents[at]
        parent = np.where(position[parent] < 0, parents[parent], parent)
    packed = {
        "local": pack(clustering.local_labels[rows]),
        "noise": pack(clustering.labels[rows] < 0),
        "intensity": pack(clustering.log_intensity[rows].astype(np.float32)),
        "leaving": pack(leaving_shares(clustering, predict_fitted(clustering, rows)).astype(np.float32)),
        "outlier": pack(np.asarray(clustering.outlier_scores)[rows].astype(np.float32)),
        "parent": pack(position[parent]),
    }
    if len(rows) < clustering.n_samples:
        packed |= {"row": pack(rows), "steps": pack(steps)}
    return packed


def _pack_stability(clustering: Clustering, rows: Array) -> dict[str, Any] | None:
    """Return the stability of clusters, shown samples and edges, the last two in percent; -1 and 255 if unknown."""
    stability = clustering.stability
    if stability is None or clustering.n_clusters == 1:
        return None
    samples, edges = (
        pack(np.nan_to_num(np.rint(100 * shares), nan=255).astype(np.uint8))
        for shares in (stability.samples[rows], stability.edges)
    )
    return {"clusters": np.nan_to_num(stability.clusters, nan=-1).round(4).tolist(), "samples": samples, "edges": edges}


def _pack_graph(clustering: Clustering, rows: Array) -> dict[str, Any]:
    """Return the topo-graph, its hierarchy and the fitted clusters."""
    graph, n_local = clustering.topo_graph, len(clustering.peaks)
    # Shares of the neighbourhood of a local cluster that lead along each edge, in both directions; see memberships.
    real, ends = np.repeat(graph.real & np.isfinite(graph.log_weights), 2), graph.edges.ravel()
    log_sums, largest = np.repeat(graph.log_sums, 2), np.full(n_local, -np.inf)
    np.maximum.at(largest, ends[real], log_sums[real])
    leading = np.zeros(len(ends))
    leading[real] = np.exp(log_sums[real] - largest[ends[real]])
    leading /= np.maximum(np.bincount(ends, leading, minlength=n_local), 1.0)[ends]  # a sum is 0, or at least 1
    hierarchy = clustering.hierarchy
    if hierarchy is None:  # of the other variants, for drawing
        hierarchy = build_hierarchy(bridge_components(graph, None))
    leaves, splits = _leaf_order(hierarchy.linkage, n_local)
    return {
        "sizes": pack(graph.sizes),
        "members": pack(np.bincount(clustering.local_labels[clustering.labels >= 0], minlength=n_local)),
        "peaks": pack(np.searchsorted(rows, clustering.peaks)),
        "edges": pack(graph.edges.ravel()),
        "pairs": pack(graph.pairs),
        "log_weights": pack(graph.log_weights),
        "order": pack(np.argsort(-rank_edges(graph))),
        "leading": pack(leading.astype(np.float32)),
        "labels": pack(clustering.edge_cut.labels),
        "leaves": pack(leaves),
        "splits": pack(splits),
        "nested": clustering.hierarchy is not None and clustering.links is None,
        "editable": clustering.hierarchy is not None,
    }


def _leaf_order(linkage: NDArray[np.float64], n_local: int) -> tuple[Array, Array]:
    """Return the local clusters so that every cluster of every nested cut is a range, and where ranges split.

    ``splits[i]`` is the number of clusters from which on leaf i is not in the cluster of leaf i - 1.
    """
    start, splits = np.zeros(2 * n_local - 1, np.int64), np.ones(n_local, np.int64)
    counts = np.concatenate([np.ones(n_local), linkage[:, 3]]).astype(np.int64)
    for t in reversed(range(n_local - 1)):  # the merge t is undone by the cut into n_local - t clusters
        left, right = linkage[t, :2].astype(np.int64)
        start[left] = start[n_local + t]
        start[right] = start[left] + counts[left]
        splits[start[right]] = n_local - t
    return np.argsort(start[:n_local]), splits


def pack_columns(clustering: Clustering, X: Any, columns: Any, rows: Array) -> tuple[list[dict[str, Any]], int]:
    """Return the given columns and those of the table that fit into the page, and how many do not fit.

    The entry ``used`` of a column says whether the clustering used it.
    """
    given = {} if columns is None else _columns_by_name("columns", columns)
    for name, values in given.items():
        if np.shape(values) != (clustering.n_samples,):
            raise ValueError(f"columns[{name!r}] must have shape ({clustering.n_samples},), got {np.shape(values)}.")
    read = {name: read_values(_take(values, rows)) for name, values in given.items()}
    if X is None:
        table = {trait.name: _trait_values(trait) for trait in fitted_traits(clustering, rows)}
    elif as_frame(X) is not None:
        table = {name: read_values(_take(values, rows)) for name, values in _columns_by_name("X", X).items()}
    elif isinstance(clustering.source, Points) and not issparse(X):
        table = {trait.name: _trait_values(trait.take(rows)) for trait in read_traits(X, clustering.feature_names)}
    else:
        table = {}
    table = {name: values for name, values in table.items() if name not in given}
    fitted = None if clustering.columns is None else {column.name for column in clustering.columns.used}
    packed = {name: pack_values(name, values) | {"used": name in (fitted or ())} for name, values in read.items()}
    size, n_left_out = 0, 0
    for name in sorted(table, key=lambda name: fitted is not None and name not in fitted):  # used ones first
        column = pack_values(name, table[name]) | {"used": fitted is None or name in fitted}
        size += len(column["values"]["data"]) + sum(len(word) + 3 for word in column.get("categories", ()))
        if size <= MOST_CHARACTERS:
            packed[name] = column
        else:
            n_left_out += 1
    return [packed[name] for name in (*given, *table) if name in packed], n_left_out


def _columns_by_name(parameter: str, columns: Any) -> dict[str, Any]:
    """Return the columns of a data frame or a dict."""
    frame = as_frame(columns)
    if frame is not None:
        return dict(zip(column_names(frame), frame.iter_columns(), strict=True))
    if not isinstance(columns, Mapping):
        raise TypeError(f"{parameter} must be a dict or a DataFrame, got {type(columns).__name__}.")
    return {str(name): values for name, values in columns.items()}


def _take(column: Any, rows: Array) -> Any:
    """Return some rows of a column."""
    if hasattr(column, "iloc"):
        return column.iloc[rows]
    return column[rows] if hasattr(column, "dtype") else np.asarray(column)[rows]


def _trait_values(trait: Trait) -> Values:
    """Return a column of numbers or texts as it is read from a table."""
    if trait.kind == "category":
        return Values(Format("texts"), texts=trait.values)
    return Values(Format("dates" if trait.kind == "date" else "numbers"), trait.values)


def pack_values(name: str, values: Values) -> dict[str, Any]:
    """Return one column."""
    if values.numbers is None:
        texts, present = values.as_texts(), values.known
        words, codes, counts = np.unique(texts[present], return_inverse=True, return_counts=True)
        # Ordered categories keep their order. Of others, the most frequent comes first.
        order = np.argsort([values.order.index(word) for word in words] if values.order else -counts, kind="stable")
        integers = np.full(len(texts), len(words))
        integers[present] = inverse_order(order)[codes]
        categories = {"missing": len(words), "categories": words[order].tolist()}
        return {"name": name, "kind": "category", "values": pack(integers)} | categories
    column = {"name": name, "kind": "date" if values.nature == "dates" else "number"}
    missing = np.isnan(values.numbers)
    known = values.numbers[~missing]
    largest = np.abs(known).max(initial=0.0)
    with np.errstate(over="ignore"):
        decimals = next((d for d in range(MOST_DECIMALS + 1) if np.array_equal(np.round(known, d), known)), None)
    # float64 holds integers up to 2**53; scaled decimals must fit into int32.
    if decimals is not None and largest < (2**31 - 2 if decimals else 2**53 - 1) / 10**decimals:
        integers = np.rint(np.nan_to_num(values.numbers) * 10.0**decimals).astype(np.int64)
        code = int(integers.max()) + 1 if missing.any() else None
        integers[missing] = 0 if code is None else code
        return column | {"values": pack(integers), "decimals": decimals, "missing": code}
    # Identifiers and times need all digits.
    as_float32 = decimals != 0 and column["kind"] == "number" and largest < np.finfo(np.float32).max
    return column | {"values": pack(values.numbers.astype(np.float32 if as_float32 else np.float64))}


def pack(values: Any) -> dict[str, str]:
    """Return an array as base64: integers in as few bytes as hold them, floats unchanged."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        fitting = (t for t in ("u1", "u2", "i4") if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
        array = array.astype(next(fitting, "f8"))
    kind = array.dtype.str[1:]
    return {"type": kind, "data": b64encode(array.astype(f"<{kind}").tobytes()).decode("ascii")}
