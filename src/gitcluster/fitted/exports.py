"""Export a fitted model as data frames, as a networkx graph, or as GraphML.

A node is a local cluster, with its final cluster, its size, and the sample and log intensity of its peak. An edge has a
log strength, a number of boundary pairs (0 for a bridge), and a flag that tells whether it is cut.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from gitcluster._support.files import atomic_write
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import Clustering, clustering_of
from gitcluster.fitted.memberships import own_shares


class Frames(NamedTuple):
    """A fitted model as pandas data frames."""

    samples: Any
    local_clusters: Any
    edges: Any


def to_pandas(model: Any) -> Frames:
    """Return the samples, local clusters and edges of a fitted model as data frames.

    Samples have the index of the fitted data frame. Peaks and parents are row positions.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import git_clusters
    >>> model = git_clusters(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_clusters=2)
    >>> to_pandas(model).samples.cluster.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    clustering = clustering_of(model)
    frame = require("pandas", extra="export", purpose="to_pandas").DataFrame
    samples = {
        "cluster": clustering.to_ids(clustering.labels),
        "probability": own_shares(clustering),
        "local_cluster": clustering.local_labels,
        "parent": clustering.parents,
        "log_intensity": clustering.log_intensity,
        "outlier_score": clustering.outlier_scores,
    }
    return Frames(frame(samples, index=clustering.index), frame(_nodes(clustering)), frame(_edges(clustering)))


def to_networkx(model: Any) -> Any:
    """Return the topo-graph as a networkx graph, with attributes of plain Python types.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import git_clusters
    >>> model = git_clusters(np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]]), n_clusters=2)
    >>> to_networkx(model).nodes[1]["cluster"]
    1
    """
    clustering = clustering_of(model)
    graph = require("networkx", extra="export", purpose="to_networkx").Graph()
    nodes, edges = _nodes(clustering), _edges(clustering)
    graph.add_nodes_from(enumerate(_records(nodes)))
    ends = zip(edges.pop("source").tolist(), edges.pop("target").tolist(), strict=True)
    graph.add_edges_from((i, j, record) for (i, j), record in zip(ends, _records(edges), strict=True))
    return graph


def to_graphml(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write the topo-graph as GraphML; an existing file is replaced when the new one is complete."""
    graph = to_networkx(model)
    write_graphml = require("networkx", extra="export", purpose="to_graphml").write_graphml
    with atomic_write(path) as file:
        write_graphml(graph, file)
    return Path(path)


def _nodes(clustering: Clustering) -> dict[str, Any]:
    return {
        "cluster": clustering.to_ids(clustering.edge_cut.labels),
        "size": clustering.topo_graph.sizes,
        "peak": clustering.peaks,
        "log_intensity": clustering.log_intensity[clustering.peaks],
    }


def _edges(clustering: Clustering) -> dict[str, Any]:
    return {
        "source": clustering.topo_graph.edges[:, 0],
        "target": clustering.topo_graph.edges[:, 1],
        "log_strength": clustering.topo_graph.log_weights,
        "boundary_pairs": clustering.topo_graph.pairs,
        "cut": ~clustering.edge_cut.kept,
    }


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one dictionary of Python values per row."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
