"""GIT inside BERTopic: ``BERTopic(hdbscan_model=GIT())`` needs nothing from here.

BERTopic takes any model with ``fit``, ``labels_`` and ``predict``. Probabilities of documents in all topics it takes
from models of hdbscan's own type alone; :func:`topic_probabilities` gives them for GIT, of fitted and of new documents.
BERTopic is not imported: what looks like one is taken.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster.estimator import GIT


def topic_probabilities(topic_model: Any, embeddings: ArrayLike) -> NDArray[np.float64]:
    """How much every document belongs to every topic; rows sum to 1.

    Topics that were merged since, by ``reduce_topics`` or ``merge_topics``, share one column.

    Parameters
    ----------
    topic_model : BERTopic
        Fitted, with a GIT as ``hdbscan_model``.
    embeddings : array-like of shape (n_documents, n_features)
        Embeddings of documents, new or fitted, before their dimension is reduced.

    Returns
    -------
    probabilities : ndarray of shape (n_documents, n_topics)
        ``topic_model.probabilities_ = topic_probabilities(topic_model, embeddings)`` makes BERTopic's own pictures
        of distributions show them.
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
