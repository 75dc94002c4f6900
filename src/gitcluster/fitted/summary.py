"""A fitted model in one paragraph: rows and columns, the groups, how sure they are, and what to check next."""

import numpy as np

from gitcluster._support.names import count_of, escape_control, list_of
from gitcluster.fitted.clustering import Clustering, Table
from gitcluster.fitted.stability import STABLE
from gitcluster.preprocessing.sources import Points

WELL, WEAKLY = 0.8, 0.5
"""Agreement above which the candidates agree well, and below which the answer is weak."""
MAX_NAMED = 6
"""Columns and clusters that are listed."""


def summarize(clustering: Clustering, *, advice: bool = True) -> str:
    """Return the result of a fit in plain sentences.

    Parameters
    ----------
    clustering : Clustering
    advice : bool, default=True
        Whether to end with the next step in Python.

    Examples
    --------
    >>> from gitcluster.pipeline import git_clusters
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> summarize(git_clusters(X, n_clusters=2), advice=False)[:77]
    '2 groups in 6 rows and 1 feature: 3 and 3 rows. The number was requested. The'
    """
    sentences = [*_groups(clustering), *_number(clustering), *_how_sure(clustering), clustering.describe_referee()]
    if advice:
        sentences.append(_next_step(clustering))
    return " ".join(filter(None, sentences))


def _groups(clustering: Clustering) -> list[str]:
    """Return the number of groups, their sizes, and the rows and columns used."""
    columns, n_clusters, labels = clustering.columns, clustering.n_clusters, np.asarray(clustering.labels)
    data = count_of(clustering.n_samples, "row")
    if columns is not None:
        used = [escape_control(column.name) for column in columns.used]
        share = f"{len(used)} of {len(columns)} columns" if len(used) < len(columns) else count_of(len(used), "column")
        data += f" and {share} ({list_of(used, MAX_NAMED)})"
    elif clustering.training is not None and isinstance(clustering.source, Points):
        data += f" and {count_of(clustering.source.n_features, 'feature')}"
    noise = int((labels < 0).sum())
    rest = [f"Noise: {count_of(noise, 'row')}."] if noise else []
    if n_clusters == 1:
        return [f"{'One group' if clustering.n_requested else 'No convincing groups'} in {data}.", *rest]
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).tolist()
    shown = f"{list_of([f'{n:,}' for n in sizes], MAX_NAMED)} rows"
    if clustering.cluster_names:
        shown = list_of([f"{clustering.title_of(c)} ({count_of(n, 'row')})" for c, n in enumerate(sizes)], MAX_NAMED)
    return [f"{n_clusters} groups in {data}: {shown}.", *rest]


def _number(clustering: Clustering) -> list[str]:
    """Return how the number of clusters was determined, and the next best numbers."""
    if clustering.edits:
        return [f"The clusters were edited by hand ({count_of(len(clustering.edits), 'change')})."]
    if clustering.n_requested is not None:
        return [f"The {'number was' if clustering.prior is None else 'proportions were'} requested."]
    scores = clustering.n_clusters_scores
    if scores is None or len(scores["n_clusters"]) == 1:
        return []
    if clustering.n_clusters > 1:
        others = [str(number) if number > 1 else "no groups" for number in ranked_numbers(scores)[1:]]
        rest = f"; next best: {' or '.join(others)}" if others else ""
        return [f"The number was selected from the data{rest}."]
    score = scores["score"]
    best = int(score[1:].argmax()) + 1
    return [
        f"The best division has {best + 1} groups and a score of {score[best]:.2f}; data without groups score up to "
        f"{score[0]:.2f}."
    ]


def ranked_numbers(scores: Table) -> list[int]:
    """Return the best numbers of clusters, the best first.

    Examples
    --------
    >>> ranked_numbers({"n_clusters": np.array([1, 2, 5]), "rank": np.array([0, 2, 1])})
    [5, 2]
    """
    ranked = np.flatnonzero(scores["rank"] > 0)
    return np.asarray(scores["n_clusters"][ranked[np.argsort(scores["rank"][ranked])]]).tolist()  # type: ignore[no-any-return]


def _how_sure(clustering: Clustering) -> list[str]:
    """Return sentences about the stability of the clusters, or about the agreement of the candidates."""
    if clustering.stability is not None:
        return clustering.stability.sentences()
    if clustering.selection is None or clustering.n_clusters == 1 or clustering.edits:
        return []
    agreement = float(clustering.selection["agreement"][clustering.selection["chosen"]][0])
    how = "agree well" if agreement >= WELL else "agree in part" if agreement >= WEAKLY else "hardly agree"
    return [f"The candidate clusterings {how} ({agreement:.2f} of 1)."]


def _next_step(clustering: Clustering) -> str:
    """Return what to do next, in Python."""
    stability = clustering.stability
    if clustering.n_clusters == 1:
        return "If you expect groups, set n_clusters or proportions, or leave out columns unrelated to them."
    if stability is None and not clustering.edits:
        return "Next: model.stability(X) shows whether half of the rows form the same groups."
    if stability is not None and (stability.clusters < STABLE).any():
        return "Next: fit again with fewer groups, or treat the rows as one group."
    return "Next: model.profile() shows the columns in which the groups differ."
