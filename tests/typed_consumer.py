"""A program that uses the public names: mypy checks it strictly against the installed wheel, and it runs.

``assert_type`` fails where the library promises another type, or none. ``scripts/check-release`` does both.
"""

import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from gitcluster import (
    GIT,
    EdgeCut,
    Hierarchy,
    LocalClusters,
    Neighbors,
    TopoGraph,
    bridge_components,
    build_hierarchy,
    build_topo_graph,
    cut_edges,
    cut_hierarchy,
    estimate_intensity,
    find_local_clusters,
    find_neighbors,
    proportion_distance,
    scale_features,
)
from gitcluster.metrics import matched_f1

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def use_estimator(X: Floats) -> Integers:
    """Fit, predict, cut again, save and load."""
    model = assert_type(GIT(n_clusters=2).fit(X), GIT)
    assert_type(model.predict(X[:5]), Integers)
    assert_type(model.predict_proba(X[:5]), Floats)
    assert_type(model.score_samples(X[:5]), Floats)
    assert_type(model.cut(proportions=[2, 1]), Integers)
    assert_type(model.labels_, Integers)
    assert_type(model.intensity_, Floats)
    assert_type(model.topo_graph_, TopoGraph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        model.save(path)
        assert_type(GIT.load(path), GIT)
    return assert_type(GIT(n_clusters=2).fit_predict(X), Integers)


def use_stages(X: Floats) -> float:
    """Call the stages one by one."""
    points = scale_features(X)
    neighbors = assert_type(find_neighbors(points, n_neighbors=8), Neighbors)
    log_intensity = assert_type(estimate_intensity(neighbors), Floats)
    local_clusters = assert_type(find_local_clusters(neighbors, log_intensity), LocalClusters)
    graph = bridge_components(build_topo_graph(neighbors, local_clusters, log_intensity=log_intensity), points)
    hierarchy = assert_type(build_hierarchy(assert_type(graph, TopoGraph)), Hierarchy)
    cut_hierarchy(hierarchy, graph, n_clusters=2)
    cut = assert_type(cut_edges(graph, n_clusters=2), EdgeCut)
    return assert_type(proportion_distance(cut.sizes / len(X), [0.5, 0.5]), float)


def main() -> None:
    """Print the scores of two groups."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(100, 2)), rng.normal(8, 1, size=(100, 2))])
    score = assert_type(matched_f1(np.repeat([0, 1], 100), use_estimator(X)), float)
    print(f"matched F1 {score:.2f}, distance to the proportions {use_stages(X):.2f}")


if __name__ == "__main__":
    main()
