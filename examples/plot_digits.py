"""
Handwritten digits
==================

This example clusters the 1,797 digits of scikit-learn, 8 x 8 pixels each. All pixels have the same unit, so the example
uses ``scale=None``. ``X, y = gitcluster.datasets.load("mnist")`` downloads the 60,000 digits of MNIST.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.metrics import match_labels, matched_f1

digits = load_digits()
X, y = digits.data, digits.target
model = GIT(n_clusters=10, scale=None).fit(X)
kmeans = KMeans(10, n_init=10, random_state=0).fit_predict(X)
for name, labels in {"GIT": model.labels_, "k-means": kmeans}.items():
    print(f"{name:8} F1 {matched_f1(y, labels):.3f}  adjusted Rand index {adjusted_rand_score(y, labels):.3f}")

# %%
# Each cluster is named after a digit, by the one-to-one matching with the most correct samples. Each row shows one
# cluster: the samples of highest intensity, and on the right the samples of lowest membership.
named = match_labels(y, model.labels_)
probability, intensity = model.probabilities_, model.log_intensity_
figure, axes = plt.subplots(10, 14, figsize=(8.4, 6.4), gridspec_kw={"wspace": 0.08, "hspace": 0.12})
for cluster, row in enumerate(axes):
    members = np.flatnonzero(model.labels_ == cluster)
    typical = members[np.argsort(-intensity[members])][:7]
    doubtful = members[np.argsort(probability[members])][:6]
    digit = named[members[0]]
    for ax, sample in zip(row, [*typical, None, *doubtful], strict=True):
        ax.set_axis_off()
        if sample is not None:
            wrong = sample in doubtful and y[sample] != digit
            ax.imshow(digits.images[sample], cmap="Oranges" if wrong else "Blues")
    row[0].text(-3, 4, digit if digit >= 0 else "-", ha="right", va="center", fontsize=13)
figure.text(0.31, 0.9, "typical", ha="center", fontsize=11)
figure.text(0.73, 0.9, "doubtful (orange: another digit)", ha="center", fontsize=11)
plt.show()

# %%
# Compare several numbers of clusters. Cuts are nested, so one fit serves all of them.
numbers = np.arange(2, 21)
scores = [adjusted_rand_score(y, model.cut(n_clusters=int(number))) for number in numbers]
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(numbers, scores, marker="o", color="#0072B2")
ax.axvline(10, color="#D55E00", linestyle=":")
ax.set(xlabel="number of clusters", ylabel="adjusted Rand index", ylim=(0, 1), xticks=numbers[::2])
ax.spines[["top", "right"]].set_visible(False)
plt.show()
