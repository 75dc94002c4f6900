"""GIT in BERTopic: ``BERTopic(hdbscan_model=GIT())`` works without this module.

BERTopic supports any model with ``fit``, ``labels_`` and ``predict``, but computes probabilities of all topics for
hdbscan only. :func:`topic_probabilities` returns them for GIT. BERTopic is not imported.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster.estimator import GIT


def topic_probabilities(topic_model: Any, embeddings: ArrayLike) -> NDArray[np.float64]:
    """Return the membership of every document in every topic; rows sum to 1.

    Topics that ``reduce_topics`` or ``merge_topics`` merged have one column.

    Parameters
    ----------
    topic_model : BERTopic
        A fitted model with a GIT as ``hdbscan_model``.
    embeddings : array-like of shape (n_documents, n_features)
        Embeddings of new or fitted documents, before their dimension is reduced.

    Returns
    -------
    probabilities : ndarray of shape (n_documents, n_topics)
        Assign them to ``topic_model.probabilities_`` to see them in BERTopic's plots of distributions.
    """
    model = topic_model.hdbscan_model
    if not isinstance(model, GIT):
        raise TypeError(
            f"topic_model.hdbscan_model must be a fitted GIT, got {type(model).__name__}. Use "
            "BERTopic(hdbscan_model=GIT())."
        )
    reduced = topic_model.umap_model.transform(np.asarray(embeddings))
    memberships = model.predict_proba(reduced)
    topics = topic_model.topic_mapper_.get_mappings(original_topics=True)
    shares = np.zeros((len(memberships), 1 + max(topics.values())))
    for cluster, topic in topics.items():
        if cluster >= 0 and topic >= 0:
            shares[:, topic] += memberships[:, cluster]
    return shares
