"""Data frames and networkx graphs of a model."""

import networkx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from gitcluster import GIT

X = make_blobs(200, centers=4, random_state=2)[0]


@pytest.fixture(scope="module")
def model():
    return GIT(3, noise=0.05).fit(pd.DataFrame(X, columns=["a", "b"], index=[f"row {i}" for i in range(len(X))]))


def test_frames_hold_the_model(model):
    samples, local_clusters, edges = model.to_pandas()
    assert samples.index[7] == "row 7"
    np.testing.assert_array_equal(samples["cluster"], model.labels_)
    np.testing.assert_array_equal(local_clusters["cluster"], model.edge_cut_.labels)
    assert samples["local_cluster"].map(local_clusters["peak"]).tolist() == model.peaks_[model.local_labels_].tolist()
    assert edges["cut"].sum() == (~model.edge_cut_.kept).sum()


def test_a_graph_can_be_written_and_its_kept_edges_join_the_clusters(model, tmp_path):
    graph = model.to_networkx()
    networkx.write_graphml(graph, tmp_path / "graph.graphml")  # plain types only
    assert [size for _, size in graph.nodes(data="size")] == model.topo_graph_.sizes.tolist()
    graph.remove_edges_from([(i, j) for i, j, cut in graph.edges(data="cut") if cut])
    for component in networkx.connected_components(graph):
        assert len({graph.nodes[node]["cluster"] for node in component}) == 1


def test_exports_need_a_fitted_model():
    for name in ("to_pandas", "to_networkx"):
        with pytest.raises(NotFittedError):
            getattr(GIT(2), name)()
