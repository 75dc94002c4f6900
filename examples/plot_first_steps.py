"""
First steps
===========

Four groups of very different kind: two half rings that reach into each other, a broad cloud and a small dense one.
We cluster them with all that one may know of them: nothing, their number, their proportions.
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
# Knowing nothing, the number of clusters is chosen. ``n_clusters_scores_`` keeps the score of every number.
model = GIT().fit(X)
print("clusters:", model.n_clusters_, " shares:", model.proportions_.round(2))

# %%
# Knowing the number or the proportions is one argument more. A fitted model can also be cut again without a new search.
by_number = GIT(n_clusters=4).fit(X)
by_shares = GIT(proportions=[50, 30, 15, 5]).fit(X)
again = model.cut(n_clusters=2)
print("shares, proportions given:", by_shares.proportions_.round(2))

# %%
# Colours that colour-blind readers can tell apart, one for each cluster.
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
# The peaks, and the graph between the local clusters around them, are what the clusters are made of. Cut edges are
# dashed.
plots.plot_topo_graph(by_number, X)
plt.show()

# %%
# And why are a sample of the upper ring and one of the lower apart?
print(by_number.explain(0, 500))
