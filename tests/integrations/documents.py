"""Short documents of four themes, and embeddings that need no model to be loaded."""

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

THEMES = (
    "ball goal team match player coach league win score season",
    "bread cheese soup salt oven cook sugar butter variant taste",
    "star orbit rocket planet moon galaxy launch probe comet telescope",
    "bank loan market price stock trade bond interest tax profit",
)


def make_documents(n_each=60):
    """Return documents, their embeddings and their themes."""
    rng = np.random.default_rng(0)
    theme = np.repeat(np.arange(len(THEMES)), n_each)
    documents = [" ".join(rng.choice(THEMES[t].split(), 12)) for t in theme]
    vectors = TfidfVectorizer().fit_transform(documents)
    return documents, TruncatedSVD(20, random_state=0).fit_transform(vectors), theme
