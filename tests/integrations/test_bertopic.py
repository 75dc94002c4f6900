"""Topics of BERTopic by GIT, against the real package."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from gitcluster import GIT
from gitcluster.integrations.bertopic import topic_probabilities
from tests.integrations.documents import THEMES, make_documents

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages that come with it
bertopic = pytest.importorskip("bertopic", reason="BERTopic is not installed: pip install bertopic")
dimensionality = pytest.importorskip("bertopic.dimensionality")
DOCUMENTS, EMBEDDINGS, THEME = make_documents()


def topics_of(model, y=None, **options):
    topic_model = bertopic.BERTopic(
        umap_model=dimensionality.BaseDimensionalityReduction(), hdbscan_model=model, **options
    )
    topics, probabilities = topic_model.fit_transform(DOCUMENTS, embeddings=EMBEDDINGS, y=y)
    return topic_model, np.array(topics), probabilities


def test_topics_are_the_themes_and_no_document_is_left_out():
    topic_model, topics, probabilities = topics_of(GIT())
    assert adjusted_rand_score(THEME, topics) > 0.95
    assert topics.min() == 0
    np.testing.assert_array_equal(probabilities, topic_model.hdbscan_model.probabilities_)
    for topic in range(4):
        words = {word for word, _ in topic_model.get_topic(topic)}
        assert any(words <= set(theme.split()) for theme in THEMES)


def test_new_documents_have_topics_and_probabilities():
    topic_model, topics, _ = topics_of(GIT(4))
    new, _ = topic_model.transform(DOCUMENTS[::7], embeddings=EMBEDDINGS[::7] + 1e-4)
    np.testing.assert_array_equal(new, topics[::7])
    shares = topic_probabilities(topic_model, EMBEDDINGS[::7])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), topics[::7])


def test_reduced_topics_share_their_probabilities():
    topic_model, _, _ = topics_of(GIT(4))
    topic_model.reduce_topics(DOCUMENTS, nr_topics=3)
    shares = topic_probabilities(topic_model, EMBEDDINGS)
    assert shares.shape == (len(DOCUMENTS), 3)
    np.testing.assert_array_equal(shares.argmax(axis=1), topic_model.topics_)


def test_labels_of_some_documents_are_kept_to():
    known = np.where(np.arange(len(THEME)) % 10 == 0, THEME // 2, -1)  # two themes are one topic
    _, topics, _ = topics_of(GIT(2), y=known)
    assert adjusted_rand_score(THEME // 2, topics) > 0.95


def test_noise_is_the_topic_of_outliers():
    topic_model, topics, _ = topics_of(GIT(4, noise=0.05))
    assert (topics == -1).sum() == round(0.05 * len(THEME))
    assert topic_probabilities(topic_model, EMBEDDINGS).shape == (len(THEME), 4)
