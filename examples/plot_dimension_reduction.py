"""
Dimension reduction in a pipeline
=================================

GIT can follow any scikit-learn transformer in a pipeline. This example clusters the 1,797 handwritten digits of
scikit-learn without a reduction, after PCA, and after UMAP. UMAP is skipped if it is not installed
(``pip install umap-learn``).

These images of 8 x 8 pixels are small, so a reduction changes the result only a little. Images of hundreds of pixels
benefit much more.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from gitcluster import GIT
from gitcluster.metrics import matched_f1

digits = load_digits()
X, y = digits.data / 16, digits.target

# %%
# The pipeline reduces the features and then clusters them. With ``scale=None`` GIT uses the coordinates unscaled, so
# the first principal component counts more than the last one.
for clusterer in (GIT(10), GIT(10, scale=None)):
    labels = make_pipeline(PCA(20), clusterer).fit_predict(X)
    print(f"{clusterer}: F1 {matched_f1(y, labels):.3f}, adjusted Rand index {adjusted_rand_score(y, labels):.3f}")

# %%
# Compare all reductions, and the unreduced images.
reductions = {"pixels": FunctionTransformer(), "PCA(20)": PCA(20)}
if find_spec("umap"):
    from umap import UMAP

    reductions["UMAP(10)"] = UMAP(n_components=10, min_dist=0.0, random_state=0, n_jobs=1)

scores = {}
for name, reduction in reductions.items():
    model = make_pipeline(reduction, GIT(10, scale=None)).fit(X)
    labels = model[-1].labels_
    scores[name] = matched_f1(y, labels), adjusted_rand_score(y, labels)
    print(f"{name:16} F1 {scores[name][0]:.3f}, adjusted Rand index {scores[name][1]:.3f}")

# %%
# Plot both scores.
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for i, score in enumerate(("F1", "adjusted Rand index")):
    places = [place + 0.4 * i for place in range(len(scores))]
    bars = axes.bar(places, [values[i] for values in scores.values()], 0.38, label=score)
    axes.bar_label(bars, fmt="%.2f", fontsize=9)
axes.set_xticks([place + 0.2 for place in range(len(scores))], scores)
axes.set_ylim(0, 1)
axes.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=2, frameon=False)
axes.set_title("Handwritten digits, ten clusters asked for", fontsize=11)
plt.show()
