"""Cells of scanpy's users."""

import anndata
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.integrations.scanpy import git

X = make_blobs(200, centers=4, random_state=2)[0]


@pytest.fixture
def cells():
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["X_pca"] = X
    adata.obsp["distances"] = kneighbors_graph(X, 15, mode="distance")
    return adata


def test_cells_are_clustered_by_their_graph(cells):
    assert git(cells, 4) is None
    expected = GIT(4, metric="precomputed_graph").fit_predict(cells.obsp["distances"])
    assert cells.obs["git"].cat.categories.tolist() == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(cells.obs["git"].astype(int), expected)
    assert cells.obs["git_probability"].between(0, 1).all()
    assert cells.uns["git"]["params"]["n_clusters"] == 4


def test_cells_are_clustered_by_a_representation(cells):
    changed = git(cells, 4, use_rep="X_pca", key_added="mine", copy=True, noise=0.1)
    assert "mine" not in cells.obs
    assert changed.obs["mine"].cat.categories.tolist() == ["0", "1", "2", "3", "noise"]
    git(cells, 4, use_rep="X")
    assert len(cells.obs["git"].cat.categories) == 4


def test_another_graph_has_a_key(cells):
    cells.obsp["other_distances"] = kneighbors_graph(X, 10, mode="distance")
    cells.uns["other"] = {"distances_key": "other_distances"}
    git(cells, 4, neighbors_key="other")
    assert cells.uns["git"]["params"]["neighbors_key"] == "other"


def test_a_written_object_can_be_read_back(cells, tmp_path):
    git(cells, 4)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").obs["git"].tolist() == cells.obs["git"].tolist()


def test_what_is_missing_is_named(cells):
    with pytest.raises(ValueError, match=r"neighbors_key='none' is not in adata.uns"):
        git(cells, neighbors_key="none")
    with pytest.raises(ValueError, match=r"use_rep='X_umap' is not in adata.obsm"):
        git(cells, use_rep="X_umap")
    del cells.obsp["distances"]
    with pytest.raises(ValueError, match=r"scanpy.pp.neighbors"):
        git(cells)
