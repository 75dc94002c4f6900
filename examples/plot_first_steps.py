"""
First steps
===========

The data have four very different groups: two interlocking half rings, a broad cloud and a small dense cloud. The
example clusters them without prior knowledge, with their number, and with their proportions.
"""

import matplotlib.pyplot as plt
import numpy as np

from gitcluster import GIT, plots

rng = np.random.default_rng(7)
upper, lower = (np.pi * rng.random(n) for n in (500, 300))
X = np.concatenate(
    [
        np.column_stack([np.cos(upper), np.sin(upper)]) + 0.07 * rng.normal(size=(500, 2)),
        np.column_stack([1 - np.cos(lower), 0.4 - np.sin(lower)]) + 0.07 * rng.normal(size=(300, 2)),
        [3.0, 0.2] + 0.22 * rng.normal(size=(150, 2)),
        [3.0, 1.15] + 0.05 * rng.normal(size=(50, 2)),
    ]
)

# %%
# Without prior knowledge, GIT selects the number of clusters. ``n_clusters_scores_`` holds the score of every number.
model = GIT().fit(X)
print("clusters:", model.n_clusters_, " shares:", model.proportions_.round(2))

# %%
# Pass the number or the proportions if you know them. A fitted model can also be cut again without a new search.
by_number = GIT(n_clusters=4).fit(X)
by_shares = GIT(proportions=[50, 30, 15, 5]).fit(X)
again = model.cut(n_clusters=2)
print("shares, proportions given:", by_shares.proportions_.round(2))

# %%
# Plot the clusters, in colours that are safe for colour-blind readers.
colours = np.array(["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"])
shown = {
    "GIT()": model.labels_,
    "GIT(n_clusters=4)": by_number.labels_,
    "GIT(proportions=[50, 30, 15, 5])": by_shares.labels_,
    "model.cut(n_clusters=2)": again,
}
figure, axes = plt.subplots(2, 2, figsize=(9, 5.4), layout="constrained")
for ax, (title, labels) in zip(axes.flat, shown.items(), strict=True):
    ax.scatter(*X.T, s=7, c=colours[labels % len(colours)], linewidths=0)
    ax.set_title(title, fontsize=11, loc="left", family="monospace")
    ax.set_aspect("equal")
    ax.set_axis_off()
plt.show()

# %%
# Clusters consist of local clusters, each around one peak. The topo-graph connects them. Cut edges are dashed.
plots.plot_topo_graph(by_number, X)
plt.show()

# %%
# Explain why a sample of the upper ring and one of the lower ring are in different clusters.
print(by_number.explain(0, 500))
