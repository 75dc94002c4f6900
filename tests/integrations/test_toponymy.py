"""Layers of topics for Toponymy, against the real package."""

import numpy as np
import pytest

from gitcluster import GIT
from gitcluster.integrations.toponymy import GITClusterer
from tests.integrations.documents import make_documents

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages that come with it
EMBEDDINGS = make_documents()[1]


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("gitcluster._support.optional.find_spec", lambda package: None)
    with pytest.raises(ImportError, match=r"pip install 'gitcluster\[toponymy\]'"):
        GITClusterer().fit(EMBEDDINGS, EMBEDDINGS)


def test_layers_are_those_of_the_model_the_finest_first(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would look for prices on the network
    clustering = pytest.importorskip("toponymy.clustering", reason="not installed: pip install toponymy")
    clusterer = GITClusterer(layers=[2, 4, 8])
    layers, tree = clusterer.fit_predict(EMBEDDINGS, EMBEDDINGS)
    assert isinstance(clusterer, clustering.Clusterer)
    expected = GIT().fit(EMBEDDINGS).layers([2, 4, 8])
    for layer, there in zip(layers, expected[::-1], strict=True):
        np.testing.assert_array_equal(layer.cluster_labels, there.labels)
        np.testing.assert_allclose(layer.centroid_vectors[0], EMBEDDINGS[there.labels == 0].mean(axis=0))
    for cluster, parent in enumerate(expected[1].parents):
        assert (1, cluster) in tree[2, parent]
    assert set(tree[3, 0]) == {(2, 0), (2, 1)}
