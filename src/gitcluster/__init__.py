"""GIT: clustering based on the graph of intensity topology."""

from gitcluster.comparison import compare
from gitcluster.edge_cutting import EdgeCut, cut_edges, proportion_distance
from gitcluster.estimator import GIT
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import Hierarchy, build_hierarchy, cut_hierarchy
from gitcluster.intensity import estimate_intensity
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import Neighbors, find_neighbors
from gitcluster.preprocessing.scaling import scale_features
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

__version__ = "0.1.0"

__all__ = [
    "GIT",
    "Clustering",
    "EdgeCut",
    "Hierarchy",
    "LocalClusters",
    "Neighbors",
    "TopoGraph",
    "bridge_components",
    "build_hierarchy",
    "build_topo_graph",
    "compare",
    "cut_edges",
    "cut_hierarchy",
    "estimate_intensity",
    "find_local_clusters",
    "find_neighbors",
    "proportion_distance",
    "scale_features",
]
