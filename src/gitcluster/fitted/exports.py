"""A fitted model for other tools: data frames, a networkx graph, GraphML.

A node is a local cluster, with its final cluster, size, and the sample and log intensity of its peak; an edge has its
log strength, its boundary pairs (0 for a bridge), and whether it is cut.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from gitcluster._support.files import write_aside
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.memberships import own_shares


class Frames(NamedTuple):
    """A fitted model as pandas data frames."""

    samples: Any
    local_clusters: Any
    edges: Any


def to_pandas(model: Any) -> Frames:
    """Samples, local clusters and edges of a fitted model; samples have the index of the data frame that was fitted.

    Peaks and parents are rows, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import git_clusters
    >>> found = git_clusters(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_clusters=2)
    >>> to_pandas(found).samples.cluster.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    found = clustering_of(model)
    frame = require("pandas", extra="export", purpose="to_pandas").DataFrame
    samples = {
        "cluster": found.labels, "probability": own_shares(found), "local_cluster": found.local_labels,
        "parent": found.parents, "log_intensity": found.log_intensity, "outlier_score": found.outlier_scores,
    }  # fmt: skip
    return Frames(frame(samples, index=found.index), frame(_nodes(found)), frame(_edges(found)))


def to_networkx(model: Any) -> Any:
    """The topo-graph with attributes of plain Python types.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import git_clusters
    >>> found = git_clusters(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_clusters=2)
    >>> to_networkx(found).nodes[1]["cluster"]
    1
    """
    found = clustering_of(model)
    graph = require("networkx", extra="export", purpose="to_networkx").Graph()
    nodes, edges = _nodes(found), _edges(found)
    graph.add_nodes_from(enumerate(_records(nodes)))
    ends = zip(edges.pop("source").tolist(), edges.pop("target").tolist(), strict=True)
    graph.add_edges_from((i, j, record) for (i, j), record in zip(ends, _records(edges), strict=True))
    return graph


def to_graphml(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write the topo-graph as GraphML; a file that is there stays as it is until the new one is complete."""
    graph = to_networkx(model)
    write_graphml = require("networkx", extra="export", purpose="to_graphml").write_graphml
    with write_aside(path) as file:
        write_graphml(graph, file)
    return Path(path)


def _nodes(found: Clustering) -> dict[str, Any]:
    graph = found.topo_graph
    return {
        "cluster": found.edge_cut.labels,
        "size": graph.sizes,
        "peak": found.peaks,
        "log_intensity": found.log_intensity[found.peaks],
    }


def _edges(found: Clustering) -> dict[str, Any]:
    graph = found.topo_graph
    return {
        "source": graph.edges[:, 0],
        "target": graph.edges[:, 1],
        "log_strength": graph.log_weights,
        "boundary_pairs": graph.pairs,
        "cut": ~found.edge_cut.kept,
    }


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
