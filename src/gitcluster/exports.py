"""A fitted model for other tools: data frames, a networkx graph, GraphML.

A node is a local cluster, with its final cluster, size, and the sample and log intensity of its peak; an edge has its
log strength, its boundary pairs (0 for a bridge), and whether it is cut.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from gitcluster._files import write_aside
from gitcluster._optional import require
from gitcluster.estimator import GIT


class Frames(NamedTuple):
    """A fitted model as pandas data frames."""

    samples: Any
    local_clusters: Any
    edges: Any


def to_pandas(model: GIT) -> Frames:
    """Samples, local clusters and edges of a fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> model = GIT(2).fit(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]))
    >>> to_pandas(model).samples.cluster.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    check_is_fitted(model)
    frame = require("pandas", extra="export", purpose="to_pandas").DataFrame
    samples = {
        "cluster": model.labels_, "probability": model.probabilities_, "local_cluster": model.local_labels_,
        "parent": model.parents_, "log_intensity": model.log_intensity_, "outlier_score": model.outlier_scores_,
    }  # fmt: skip
    return Frames(frame(samples), frame(_nodes(model)), frame(_edges(model)))


def to_networkx(model: GIT) -> Any:
    """The topo-graph with attributes of plain Python types.

    Examples
    --------
    >>> import numpy as np
    >>> model = GIT(2).fit(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]))
    >>> to_networkx(model).nodes[1]["cluster"]
    1
    """
    check_is_fitted(model)
    graph = require("networkx", extra="export", purpose="to_networkx").Graph()
    nodes, edges = _nodes(model), _edges(model)
    graph.add_nodes_from(enumerate(_records(nodes)))
    ends = zip(edges.pop("source").tolist(), edges.pop("target").tolist(), strict=True)
    graph.add_edges_from((i, j, record) for (i, j), record in zip(ends, _records(edges), strict=True))
    return graph


def to_graphml(model: GIT, path: str | os.PathLike[str]) -> Path:
    """Write the topo-graph as GraphML; a file that is there stays as it is until the new one is complete."""
    graph = to_networkx(model)
    write_graphml = require("networkx", extra="export", purpose="to_graphml").write_graphml
    with write_aside(path) as file:
        write_graphml(graph, file)
    return Path(path)


def _nodes(model: GIT) -> dict[str, Any]:
    graph = model.topo_graph_
    return {
        "cluster": model.edge_cut_.labels,
        "size": graph.sizes,
        "peak": model.peaks_,
        "log_intensity": model.log_intensity_[model.peaks_],
    }


def _edges(model: GIT) -> dict[str, Any]:
    graph = model.topo_graph_
    return {
        "source": graph.edges[:, 0],
        "target": graph.edges[:, 1],
        "log_strength": graph.log_weights,
        "boundary_pairs": graph.pairs,
        "cut": ~model.edge_cut_.kept,
    }


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
