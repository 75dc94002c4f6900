"""
Customer segments with known shares
===================================

A shop knows the shares of its customer segments: about 45 % buy occasionally, 30 % are regulars, 20 % are inactive and
5 % spend very much. It does not know the segment of each customer. ``GIT(proportions=...)`` finds segments in about
these proportions.

The customers are simulated, with three common measures: days since the last purchase, purchases per year, and money
spent per year. For your own data, read a table: ``pandas.read_csv("customers.csv")``.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.metrics import match_labels

rng = np.random.default_rng(3)
segments = {  # share, days since the last purchase, purchases a year, money a purchase
    "occasional": (0.45, 60, 5, 30),
    "regular": (0.30, 12, 22, 28),
    "asleep": (0.20, 300, 2, 35),
    "big spender": (0.05, 15, 18, 260),
}
parts = []
for name, (share, days, purchases, money) in segments.items():
    n = int(2000 * share)
    bought = purchases * rng.lognormal(0, 0.3, n)
    parts.append(
        pd.DataFrame(
            {
                "recency": days * rng.lognormal(0, 0.45, n),
                "frequency": bought,
                "spend": bought * money * rng.lognormal(0, 0.4, n),
                "truth": name,
            }
        )
    )
customers = pd.concat(parts, ignore_index=True)

# %%
# Amounts of money and times between purchases are skewed, and ratios matter more than differences. Logarithms make the
# columns comparable. No scaling is needed, because GIT scales the columns.
X = np.log(customers[["recency", "frequency", "spend"]])
model = GIT(proportions=[45, 30, 20, 5]).fit(X)
print("shares found:", model.proportions_.round(3))

# %%
# Compare the medians of the segments. Cluster 0 is the largest, and ``feature_names_in_`` holds the column names.
profile = customers.drop(columns="truth").groupby(model.labels_).median().round(0)
profile["customers"] = np.bincount(model.labels_)
print(profile.to_string())

# %%
# The true segments are known here. Match the clusters to them to name the clusters.
truth, names = pd.factorize(customers.truth)
print(f"adjusted Rand index: {adjusted_rand_score(truth, model.labels_):.3f}")
found = names[match_labels(truth, model.labels_)]
print(pd.crosstab(customers.truth, found, rownames=["truth"], colnames=["cluster"]).to_string())

# %%
# Proportions guide the result but do not force it. A wrong prior, here equal shares, still changes the segments.
wrong = GIT(4, proportions="equal").fit(X)
print("proportions with an equal prior:", wrong.proportions_.round(3))

# %%
# Customers with the lowest memberships are between two segments.
unsure = np.argsort(model.probabilities_)[:5]
table = customers.loc[unsure].round(0).assign(cluster=found[unsure], membership=model.probabilities_[unsure].round(2))
print(table.to_string())

# %%
# Plot the segments in pairs of measures.
colours = dict(zip(segments, ["#0072B2", "#E69F00", "#009E73", "#D55E00"], strict=True))
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, column in zip(axes, ["recency", "spend"], strict=True):
    for name, colour in colours.items():
        mine = found == name
        label = f"{name}  {mine.sum():,}"
        ax.scatter(customers.frequency[mine], customers[column][mine], s=9, c=colour, label=label, linewidths=0)
    ax.set(xscale="log", yscale="log", xlabel="purchases a year")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("days since the last purchase")
axes[1].set_ylabel("money a year")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False, markerscale=2)
plt.show()
