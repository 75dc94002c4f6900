"""
Single cells, with AnnData
==========================

Call ``gitcluster.integrations.scanpy.git`` like a tool of scanpy. The counts here are simulated: 1,500 cells of six
types, one of them rare, each type with its own marker genes, at different sequencing depths. For your own data, replace
the simulation by ``adata = anndata.read_h5ad("cells.h5ad")`` and the preparation by scanpy.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score

import gitcluster.integrations.scanpy

rng = np.random.default_rng(0)
types = ["T cell", "B cell", "monocyte", "NK cell", "dendritic", "platelet"]
sizes = [600, 300, 250, 200, 100, 50]
n_genes = 400
cell_type = np.repeat(np.arange(6), sizes)
level = np.tile(rng.gamma(0.6, 1.0, n_genes), (6, 1))
for k in range(6):
    level[k, 30 * k : 30 * (k + 1)] += rng.gamma(2.0, 1.2, 30)
depth = rng.lognormal(0, 0.35, len(cell_type))
counts = rng.poisson(level[cell_type] * depth[:, None]).astype(np.float32)
adata = anndata.AnnData(csr_array(counts), obs=pd.DataFrame(index=[f"cell {i}" for i in range(len(counts))]))

# %%
# Prepare the counts as usual: equal depth for every cell, logarithms, principal components. In scanpy, these are
# ``normalize_total``, ``log1p`` and ``pca``.
normal = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))
adata.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(normal)

# %%
# One call adds labels and memberships as columns of ``adata.obs``. GIT selects the number of clusters.
gitcluster.integrations.scanpy.git(adata)
gitcluster.integrations.scanpy.git(adata, n_clusters=6, key_added="git_6")
print("types found without a number:", adata.obs["git"].nunique())
print(f"adjusted Rand index, six asked for: {adjusted_rand_score(cell_type, adata.obs['git_6'].astype(int)):.3f}")
print(pd.crosstab(np.array(types)[cell_type], adata.obs["git_6"].to_numpy(), rownames=[""], colnames=[""]).to_string())

# %%
# Plot the clusters in a t-SNE map, and their marker genes: the mean of every gene in a cluster relative to all cells.
place = TSNE(random_state=0, init="pca", perplexity=30, max_iter=500).fit_transform(adata.obsm["X_pca"])
clusters = adata.obs["git_6"].astype(int).to_numpy()
colours = np.array(["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"])
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.scatter(*place.T, s=6, c=colours[clusters], linewidths=0)
for cluster in range(6):
    members = clusters == cluster
    name = types[np.bincount(cell_type[members]).argmax()]
    text = left.text(*np.median(place[members], axis=0), name, ha="center", va="center", fontsize=11)
    text.set_path_effects([withStroke(linewidth=3, foreground="white")])
left.set_title("Clusters, named by their commonest type", fontsize=11, loc="left")
left.set_axis_off()
means = np.array([normal[clusters == cluster].mean(axis=0) for cluster in range(6)])
shown = right.imshow(means[:, :180] - normal.mean(axis=0)[:180], aspect="auto", cmap="RdBu_r", vmin=-1.5, vmax=1.5)
right.set(xlabel="gene", ylabel="cluster")
right.set_title("Expression against the mean of all cells", fontsize=11, loc="left")
figure.colorbar(shown, ax=right, fraction=0.04)
plt.show()
