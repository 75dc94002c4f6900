"""A clustering from a file: every part that does not fit the others is refused and named."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from gitcluster import git_clusters
from gitcluster.fitted.checking import check_clustering
from gitcluster.prior.constraints import gather_constraints
from gitcluster.recipes import RECIPES

X = make_blobs(120, 2, centers=4, random_state=0)[0]


@pytest.fixture(scope="module")
def found():
    constraints = gather_constraints(120, cannot_link=[(0, 1)], max_cluster_size=80, n_clusters=4)
    return git_clusters(X, n_clusters=4, constraints=constraints).kept()


def put(values, place, value):
    """A copy with another value at a place."""
    changed = np.array(values)
    changed[place] = value
    return changed


def in_graph(found, **parts):
    return replace(found, topo_graph=found.topo_graph._replace(**parts))


def in_cut(found, **parts):
    return replace(found, edge_cut=found.edge_cut._replace(**parts))


def in_hierarchy(found, **parts):
    return replace(found, hierarchy=found.hierarchy._replace(**parts))


def in_reference(found, **parts):
    return replace(found, reference=replace(found.reference, **parts))


def in_source(found, **parts):
    return in_reference(found, source=replace(found.source, **parts))


def in_scaling(found, **parts):
    return in_source(found, scaling=found.source.scaling._replace(**parts))


BROKEN = {
    "sizes are out of range": lambda f: in_graph(f, sizes=put(f.topo_graph.sizes, 0, 0)),
    "peaks are out of range": lambda f: in_graph(f, peaks=put(f.peaks, 0, 120)),
    "edges are out of range": lambda f: in_graph(f, edges=put(f.topo_graph.edges, 0, -1)),
    "edges are not pairs of local clusters": lambda f: in_graph(f, edges=f.topo_graph.edges[:, ::-1]),
    "boundary pairs are not integers": lambda f: in_graph(f, pairs=f.topo_graph.pairs * 1.0),
    "weights are not finite": lambda f: in_graph(f, log_weights=put(f.topo_graph.log_weights, 0, np.nan)),
    "clusters are out of range": lambda f: in_cut(f, labels=put(f.edge_cut.labels, 0, 4)),
    "clusters are empty": lambda f: in_cut(f, labels=np.zeros_like(f.edge_cut.labels)),
    "kept edges are not": lambda f: in_cut(f, kept=~f.edge_cut.kept),
    "EdgeCut belongs": lambda f: replace(f, edge_cut=f.topo_graph, labels=f.labels),
    "merges are not a tree": lambda f: in_hierarchy(f, edges=np.zeros_like(f.hierarchy.edges)),
    "linkage is not a tree": lambda f: in_hierarchy(f, linkage=put(f.hierarchy.linkage, (0, 0), 1e6)),
    "strengths are not numbers": lambda f: in_hierarchy(f, log_strength=f.hierarchy.log_strength[1:]),
    "hierarchy does not belong": lambda f: replace(f, recipe=RECIPES["paper"]),
    "links are out of range": lambda f: replace(f, ties=f.ties._replace(apart=f.ties.apart + 1000)),
    "bounds of sizes": lambda f: replace(f, ties=f.ties._replace(smallest=2.0)),
    "labels are out of range": lambda f: replace(f, labels=put(f.labels, 0, -2)),
    "local clusters are out of range": lambda f: replace(f, local_labels=put(f.local_labels, 0, 10**6)),
    "intensities are not finite": lambda f: replace(f, log_intensity=put(f.log_intensity, 0, np.inf)),
    "outlier scores are not numbers": lambda f: replace(f, outlier_scores=f.outlier_scores[:-1]),
    "ways uphill do not end": lambda f: replace(f, parents=np.roll(np.arange(120), 1)),
    "units of distance are not above 0": lambda f: in_reference(f, units=put(f.reference.units, 0, 0.0)),
    "threshold of noise": lambda f: in_reference(f, noise_above=np.nan),
    "weights of samples are not": lambda f: in_reference(f, weights=np.ones(3)),
    "repeated rows are out of range": lambda f: in_reference(f, rows=np.full(120, 120), copies=np.zeros(120, int)),
    "labels for other samples than it holds": lambda f: in_source(f, values=f.source.values[1:]),
    "samples are not those of its features": lambda f: in_source(f, given_features=3),
    "scale is that of other features": lambda f: in_scaling(f, mean=f.source.scaling.mean[1:]),
    "scaled features are out of range": lambda f: in_scaling(f, features=f.source.scaling.features + 1),
    "proportions are not numbers": lambda f: replace(f, proportions=f.proportions[1:]),
    "prior does not hold shares": lambda f: replace(f, prior=np.array([1.0, 0.0])),
    "numbers of neighbours": lambda f: replace(f, n_neighbors=0),
    "recall is not a share": lambda f: replace(f, recall=2.0),
    "names of features are not texts": lambda f: replace(f, feature_names=(1, 2)),
    "columns of different lengths": lambda f: replace(f, selection={"a": np.ones(2), "b": np.ones(3)}),
}


def test_a_clustering_of_a_fit_is_accepted(found):
    check_clustering(found, 2)
    check_clustering(git_clusters(X, n_clusters=3, variant="paper"), 2)
    check_clustering(git_clusters(X, sample_weight=np.arange(120) % 3), 2)


def test_every_broken_part_is_named(found):
    for message, change in BROKEN.items():
        with pytest.raises(ValueError, match=message):
            check_clustering(change(found), 2)


def test_the_number_of_features_is_that_of_the_samples(found):
    with pytest.raises(ValueError, match="samples are not those of its features"):
        check_clustering(found, 3)
