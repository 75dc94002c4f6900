"""GIT inside Toponymy: its topics come in layers, and GIT has them.

``Toponymy(..., clusterer=GITClusterer())``. Toponymy is imported when something is fitted.
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
        Numbers of clusters of the layers; by default those of :meth:`gitcluster.GIT.layers`, the few that the data
        support. Every layer is a cut of one hierarchy, so that topics are nested.
    **parameters
        Of :class:`gitcluster.GIT`.

    Attributes
    ----------
    model_ : GIT
    cluster_layers_ : list of ClusterLayer
        The finest first, as Toponymy has them.
    cluster_tree_ : dict
        The parts of every cluster; both are known by (layer, cluster).
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
        """Cluster by ``clusterable_vectors``; the centres of topics are means of ``embedding_vectors``."""
        require("toponymy", extra="toponymy", purpose="gitcluster.integrations.toponymy")
        from toponymy.cluster_layer import ClusterLayerText
        from toponymy.clustering import Clusterer, build_cluster_tree, centroids_from_labels

        Clusterer.register(type(self))
        self.model_ = GIT(**self.parameters).fit(clusterable_vectors)
        labels = [layer.labels.astype(np.int64) for layer in self.model_.layers(self.layers)[::-1]]
        self.cluster_tree_ = build_cluster_tree(labels)
        told = {"verbose": bool(verbose), "show_progress_bar": bool(show_progress_bar)}
        self.cluster_layers_ = [
            (layer_class or ClusterLayerText)(
                some, centroids_from_labels(some, np.asarray(embedding_vectors)), layer_id=i, **told, **layer_kwargs
            )
            for i, some in enumerate(labels)
        ]
        return self

    def fit_predict(self, *arguments: Any, **options: Any) -> tuple[list[Any], dict[Any, Any]]:
        """What :meth:`fit` found: layers and tree."""
        self.fit(*arguments, **options)
        return self.cluster_layers_, self.cluster_tree_
