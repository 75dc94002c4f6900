"""
Images through UMAP
===================

Distances between images of many pixels are not very informative, so images are reduced first. The script uses UMAP if
it is installed (``pip install umap-learn``), otherwise principal components. GIT clusters the result without scaling
and selects the number of clusters.

The images are the 1,797 digits that come with scikit-learn. For larger images,
``X, y = gitcluster.datasets.load("fmnist")`` downloads 60,000 images of clothing.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT

digits = load_digits()
X, y = digits.data, digits.target
if find_spec("umap"):
    from umap import UMAP

    name, reduction = "UMAP", UMAP(n_components=2, min_dist=0.0, random_state=0, n_jobs=1)
else:
    name, reduction = "PCA", PCA(2)
place = reduction.fit_transform(X)

# %%
# GIT selects the number of clusters. Five to ten dimensions often separate kinds of images better than two.
model = GIT(scale=None).fit(place)
print(f"through {name}: {model.n_clusters_} clusters, adjusted Rand index {adjusted_rand_score(y, model.labels_):.3f}")
pixels = GIT(10, scale=None).fit_predict(X)
print(f"on the pixels, ten asked for: adjusted Rand index {adjusted_rand_score(y, pixels):.3f}")

# %%
# Plot the embedding, with the image at the highest peak of every cluster.
colours = np.array(
    ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A1F5C", "#A3A13B", "#00446B", "#8A5F00"]
)
figure, ax = plt.subplots(figsize=(7.5, 5.2), layout="constrained")
ax.scatter(*place.T, s=9, c=colours[model.labels_ % 10], linewidths=0)
for cluster in range(model.n_clusters_):
    peak = model.peaks_[model.labels_[model.peaks_] == cluster][0]
    image = OffsetImage(digits.images[peak], zoom=3, cmap="gray_r")
    frame = {"edgecolor": colours[cluster % 10], "linewidth": 2}
    beside = AnnotationBbox(image, place[peak], xybox=(26, 22), boxcoords="offset points", pad=0.1, bboxprops=frame)
    ax.add_artist(beside)
ax.margins(0.1)
ax.set_title(f"{name} of {len(X):,} images, one of each cluster", fontsize=11, loc="left")
ax.set_axis_off()
plt.show()

# %%
# List the digits that make up at least 5 % of each cluster.
table = np.array([np.bincount(y[model.labels_ == cluster], minlength=10) for cluster in range(model.n_clusters_)])
for cluster, counts in enumerate(table):
    shown = [f"{digit}: {counts[digit]}" for digit in np.argsort(-counts) if counts[digit] > 0.05 * counts.sum()]
    print(f"cluster {cluster:2}  {',  '.join(shown)}")
