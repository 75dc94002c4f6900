"""A model seen by pandas, networkx and GraphML readers."""

import networkx
import numpy as np
import pandas
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from gitcluster import GIT

X = make_blobs(200, centers=4, random_state=2)[0]


@pytest.fixture(scope="module")
def model():
    return GIT(3, noise=0.05).fit(X)


def test_frames_hold_the_model(model):
    samples, local_clusters, edges = model.to_pandas()
    np.testing.assert_array_equal(samples["cluster"], model.labels_)
    np.testing.assert_array_equal(local_clusters["cluster"], model.edge_cut_.labels)
    assert samples["local_cluster"].map(local_clusters["peak"]).tolist() == model.peaks_[model.local_labels_].tolist()
    assert edges["cut"].sum() == (~model.edge_cut_.kept).sum()


def test_samples_keep_the_index_of_the_table():
    table = pandas.DataFrame(X, columns=["a", "b"], index=[f"row {i}" for i in range(len(X))])
    samples = GIT(3).fit(table).to_pandas().samples
    assert samples.index.tolist() == table.index.tolist()
    assert table.join(samples)["cluster"].notna().all()


def test_networkx_holds_the_graph(model):
    graph = model.to_networkx()
    assert graph.number_of_nodes() == len(model.peaks_)
    assert graph.number_of_edges() == len(model.topo_graph_.edges)
    graph.remove_edges_from([(i, j) for i, j, cut in graph.edges(data="cut") if cut])
    for component in networkx.connected_components(graph):
        assert len({graph.nodes[node]["cluster"] for node in component}) == 1


def test_graphml_can_be_read_back(model, tmp_path):
    path = model.to_graphml(tmp_path / "graph.graphml")
    again = networkx.read_graphml(path, node_type=int)
    assert {n: d["size"] for n, d in again.nodes(data=True)} == dict(enumerate(model.topo_graph_.sizes.tolist()))
    assert all(isinstance(cut, bool) for *_, cut in again.edges(data="cut"))


def test_graphml_leaves_no_half_a_file(model, tmp_path):
    with pytest.raises(FileNotFoundError):
        model.to_graphml(tmp_path / "missing" / "graph.graphml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        model.to_graphml(tmp_path / "folder")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


@pytest.mark.parametrize("way", ["to_pandas", "to_networkx"])
def test_only_a_fitted_model_is_exported(way):
    with pytest.raises(NotFittedError):
        getattr(GIT(2), way)()
