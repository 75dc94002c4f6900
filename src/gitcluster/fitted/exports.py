"""Export a fitted model as data frames, or as a networkx graph of its local clusters."""

from typing import Any, NamedTuple

from gitcluster._support.optional import require
from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.memberships import own_shares


class Frames(NamedTuple):
    """A fitted model as pandas data frames."""

    samples: Any
    local_clusters: Any
    edges: Any


def to_pandas(clustering: Clustering) -> Frames:
    """Return the samples, local clusters and edges as data frames.

    Samples have the index of the fitted data frame. Peaks and parents are row positions.
    """
    frame = require("pandas", extra="export", purpose="to_pandas").DataFrame
    graph, cut = clustering.topo_graph, clustering.edge_cut
    samples = {
        "cluster": clustering.to_ids(clustering.labels),
        "probability": own_shares(clustering),
        "local_cluster": clustering.local_labels,
        "parent": clustering.parents,
        "log_intensity": clustering.log_intensity,
        "outlier_score": clustering.outlier_scores,
    }
    local_clusters = {
        "cluster": clustering.to_ids(cut.labels),
        "size": graph.sizes,
        "peak": graph.peaks,
        "log_intensity": clustering.log_intensity[graph.peaks],
    }
    edges = {
        "source": graph.edges[:, 0],
        "target": graph.edges[:, 1],
        "log_strength": graph.log_weights,
        "boundary_pairs": graph.pairs,
        "cut": ~cut.kept,
    }
    return Frames(frame(samples, index=clustering.index), frame(local_clusters), frame(edges))


def to_networkx(clustering: Clustering) -> Any:
    """Return the topo-graph as a networkx graph, with attributes of plain Python types."""
    networkx = require("networkx", extra="export", purpose="to_networkx")
    _, local_clusters, edges = to_pandas(clustering)
    graph = networkx.Graph()
    graph.add_nodes_from(local_clusters.to_dict("index").items())
    graph.add_edges_from((edge.pop("source"), edge.pop("target"), edge) for edge in edges.to_dict("records"))
    return graph
