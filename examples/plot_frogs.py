"""
Frogs' calls
============

The data are 7,195 calls of frogs and toads of ten species, each described by 22 coefficients of its sound. The most
frequent species has 3,478 calls, the rarest 68. After a year of recordings, these shares are roughly known.

``load("frogs")`` downloads the set from UCI once. If that fails, this page uses a random stand-in: ten groups of the
same sizes with as many features, each elongated in some directions. The output below names the set in use. Results on
the stand-in are not results on frogs; see the page about accuracy for those.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.datasets import DatasetError, load
from gitcluster.metrics import match_labels

sizes = [3478, 1121, 672, 542, 472, 310, 270, 148, 114, 68]
try:
    X, y = load("frogs")
    print("the calls of UCI")
except DatasetError:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), sizes)
    centres, widths = rng.normal(0, 0.8, (10, 22)), rng.gamma(3, 0.25, (10, 22))
    X = centres[y] + widths[y] * rng.normal(size=(len(y), 22))
    print("a stand-in for the calls")
print(X.shape, "class sizes", sizes)

# %%
# Fit with the number alone, then with the proportions.
by_number = GIT(n_clusters=10).fit(X)
by_shares = GIT(proportions=sizes).fit(X)
for told, model in {"number": by_number, "proportions": by_shares}.items():
    print(f"told the {told:12} adjusted Rand index {adjusted_rand_score(y, model.labels_):.3f}")

# %%
# Compare the shares of the clusters with the expected ones, and plot the calls on two principal components.
colours = np.array(
    ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A1F5C", "#A3A13B", "#00446B", "#8A5F00"]
)
place = PCA(2).fit_transform((X - X.mean(axis=0)) / X.std(axis=0))
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.scatter(*place.T, s=4, c=colours[by_shares.labels_ % 10], linewidths=0)
left.set_title("Clusters", fontsize=11, loc="left")
left.set_axis_off()
ranks = np.arange(10)
right.bar(ranks - 0.27, np.array(sizes) / len(X), 0.26, label="expected", color="#999999")
right.bar(ranks, by_number.proportions_, 0.26, label="found, number told", color="#56B4E9")
right.bar(ranks + 0.27, by_shares.proportions_, 0.26, label="found, proportions told", color="#0072B2")
right.set(yscale="log", xlabel="cluster, largest first", ylabel="share", xticks=ranks)
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, fontsize=9)
plt.show()

# %%
# The table shows which species are confused. Rows are species, columns are clusters, entries are shares of the species.
named = match_labels(y, by_shares.labels_)
table = np.array([[np.mean(named[y == species] == other) for other in range(10)] for species in range(10)])
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
shown = ax.imshow(table, cmap="Blues", vmin=0, vmax=1)
ax.set(xlabel="cluster of the species", ylabel="species", xticks=ranks, yticks=ranks)
figure.colorbar(shown, ax=ax, label="share of the calls", fraction=0.045)
plt.show()
