"""GIT in Toponymy, whose topics are in layers: ``Toponymy(..., clusterer=GITClusterer())``.

Toponymy is imported by the first fit.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from gitcluster._support.optional import require
from gitcluster.estimator import GIT


class GITClusterer:
    """A ``Clusterer`` for Toponymy.

    Parameters
    ----------
    layers : iterable of int, default=None
        Numbers of clusters of the layers, by default those that :meth:`gitcluster.GIT.layers` chooses. All layers are
        cuts of one hierarchy, so topics are nested.
    **parameters
        Parameters of :class:`gitcluster.GIT`.

    Attributes
    ----------
    model_ : GIT
    cluster_layers_ : list of ClusterLayer
        The finest layer is first, as Toponymy expects.
    cluster_tree_ : dict
        The parts of every cluster, as pairs (layer, cluster).
    """

    def __init__(self, layers: Iterable[int] | None = None, **parameters: Any) -> None:
        self.layers, self.parameters = layers, parameters

    def fit(
        self,
        clusterable_vectors: ArrayLike,
        embedding_vectors: ArrayLike,
        layer_class: Any = None,
        verbose: bool | None = None,
        show_progress_bar: bool | None = None,
        **layer_kwargs: Any,
    ) -> Self:
        """Cluster ``clusterable_vectors``; the centres of topics are means of ``embedding_vectors``."""
        require("toponymy", extra="toponymy", purpose="gitcluster.integrations.toponymy")
        from toponymy.cluster_layer import ClusterLayerText
        from toponymy.clustering import Clusterer, build_cluster_tree, centroids_from_labels

        Clusterer.register(type(self))
        self.model_ = GIT(**self.parameters).fit(clusterable_vectors)
        labels = [layer.labels.astype(np.int64) for layer in self.model_.layers(self.layers)[::-1]]
        self.cluster_tree_ = build_cluster_tree(labels)
        layer_kwargs |= {"verbose": bool(verbose), "show_progress_bar": bool(show_progress_bar)}
        layer_class, vectors = layer_class or ClusterLayerText, np.asarray(embedding_vectors)
        self.cluster_layers_ = [
            layer_class(some, centroids_from_labels(some, vectors), layer_id=i, **layer_kwargs)
            for i, some in enumerate(labels)
        ]
        return self

    def fit_predict(self, *arguments: Any, **options: Any) -> tuple[list[Any], dict[Any, Any]]:
        """Fit, and return the layers and the tree."""
        self.fit(*arguments, **options)
        return self.cluster_layers_, self.cluster_tree_
