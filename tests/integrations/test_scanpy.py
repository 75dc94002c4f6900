"""Single cells: with anndata, and with scanpy if it is installed."""

import anndata
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT
from gitcluster.integrations.scanpy import cut, git, leading_components, plot_resolution

X = make_blobs(300, 25, centers=4, random_state=2)[0]


@pytest.fixture
def cells():
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["X_pca"] = X
    adata.obsp["distances"] = kneighbors_graph(X, 15, mode="distance")
    return adata


def test_cells_are_clustered_by_unscaled_components(cells):
    assert git(cells) is None
    expected = GIT(scale=leading_components(25)).fit(X)
    np.testing.assert_array_equal(cells.obs["git"].astype(int), expected.labels_)
    assert cells.obs["git"].cat.categories.tolist() == ["0", "1", "2", "3"]
    assert cells.obs["git_probability"].between(0, 1).all()
    assert cells.uns["git"]["representation"] in ("first 10", "first 20", "given")


def test_cells_are_clustered_by_a_graph(cells):
    expected = GIT(4, metric="precomputed_graph").fit_predict(cells.obsp["distances"])
    git(cells, 4, neighbors_key="neighbors")
    np.testing.assert_array_equal(cells.obs["git"].astype(int), expected)
    cells.obsp["other_distances"] = kneighbors_graph(X, 10, mode="distance")
    cells.uns["other"] = {"distances_key": "other_distances"}
    git(cells, 4, neighbors_key="other")
    assert cells.uns["git"]["params"]["neighbors_key"] == "other"
    del cells.obsm["X_pca"]
    git(cells, 4, key_added="without")
    np.testing.assert_array_equal(cells.obs["without"].astype(int), expected)


def test_cells_are_clustered_by_a_representation(cells):
    changed = git(cells, 4, use_rep="X_pca", key_added="mine", copy=True, noise=0.1)
    assert "mine" not in cells.obs
    assert changed.obs["mine"].cat.categories.tolist() == ["0", "1", "2", "3", "noise"]
    git(cells, 4, use_rep="X")
    assert len(cells.obs["git"].cat.categories) == 4


def test_cuts_after_reading_a_file(cells, tmp_path):
    git(cells, layers=[2, 4, 7], noise=0.02)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    for number in (2, 4, 7):
        cut(again, number, key_added="again")
        assert again.obs["again"].tolist() == cells.obs[f"git_{number}"].tolist()
    some = again[::3].copy()
    cut(some, 7)
    assert some.obs["git_7"].tolist() == cells.obs["git_7"].tolist()[::3]
    bars = plot_resolution(again, ax=Figure().subplots()).patches
    np.testing.assert_array_equal([bar.get_height() for bar in bars], again.uns["git"]["scores"]["score"])


def test_layers_are_nested_columns(cells):
    git(cells, layers=True)
    model = GIT(scale=leading_components(25)).fit(X)
    for layer in model.layers():
        np.testing.assert_array_equal(cells.obs[f"git_{layer.n_clusters}"].astype(int), layer.labels)


def test_restricted_categories_are_split(cells):
    git(cells, 4)
    git(cells, 3, restrict_to=("git", ["0", "2"]))
    inside = cells.obs["git"].isin(["0", "2"])
    assert set(cells.obs["git_R"][inside]) == {"0-2,0", "0-2,1", "0-2,2"}
    assert (cells.obs["git_R"][~inside].astype(str) == cells.obs["git"][~inside].astype(str)).all()
    assert cells.obs["git_R_probability"].isna().equals(~inside)
    cut(cells, 2, key="git_R")
    assert set(cells.obs["git_R_2"][inside]) == {"0-2,0", "0-2,1"}
    git(cells, 2, neighbors_key="neighbors", restrict_to=("git", ["1"]), key_added="of the graph")
    assert set(cells.obs["of the graph"]) == {"0", "2", "3", "1,0", "1,1"}


def test_errors_name_what_is_missing(cells):
    with pytest.raises(ValueError, match=r"neighbors_key.*'none'"):
        git(cells, neighbors_key="none")
    with pytest.raises(ValueError, match=r"use_rep.*'X_umap'"):
        git(cells, use_rep="X_umap")
    git(cells, 4)
    for wrong in (("git", ["9"]), ("other", ["9"])):
        with pytest.raises(ValueError, match=r"restrict_to must .*(9|other)"):
            git(cells, restrict_to=wrong)
    with pytest.raises(ValueError, match="scores"):
        plot_resolution(cells)
    with pytest.raises(ValueError, match="key='other'"):
        cut(cells, 3, key="other")
    git(cells, 4, variant="paper", key_added="paper")
    with pytest.raises(ValueError, match="variant"):
        cut(cells, 3, key="paper")
    del cells.obsp["distances"], cells.obsm["X_pca"]
    with pytest.raises(ValueError, match=r"scanpy.pp.pca"):
        git(cells)
