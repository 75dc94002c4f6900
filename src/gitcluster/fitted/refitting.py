"""A fit that starts from an earlier one: its columns, its representations of the features, its graph of neighbours.

The numbers that features are scaled by, in every representation, stay those of the earlier fit, so that distances
between its samples stay as they are, and only what is new is searched. Everything else is chosen again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib

from gitcluster.fitted.clustering import Clustering
from gitcluster.fitted.warnings import warn_of_unseen_values
from gitcluster.inputs import Points, check_input
from gitcluster.neighbors.growing import KnownNeighbors


def read_again(found: Clustering, X: Any, validate: Callable[..., Any]) -> Points:
    """Samples as the earlier fit has read them."""
    source = found.source
    assert isinstance(source, Points)
    if found.columns is not None and found.columns.encoded:
        X, unseen = found.columns.encode(X)
        warn_of_unseen_values(unseen)
        data = check_input(X, source.metric)
    else:
        data = check_input(X, source.metric, validate=validate)
    assert isinstance(data, Points)
    return replace(data, named=source.named)


def describe_asked(metric: Any, scale: Any, columns: Any, weights: Any) -> str:
    """What is asked of features and distances, for comparison with what was asked before."""
    return str(joblib.hash([metric, scale, columns, weights]))


def can_start_from(found: Any, asked: str) -> bool:
    """Whether a fit has kept what the next one starts from, and the same is asked of features and distances."""
    kept = isinstance(found, Clustering) and found.neighbors is not None and bool(found.ways)
    return kept and found.asked == asked and isinstance(found.source, Points)


def known_neighbors(found: Clustering, search: Any, *, linked: bool) -> Any:
    """What the earlier fit has found of neighbours, or how to search where this cannot be used.

    Links tell equal samples apart, which are then in another order: all are searched then.
    """
    near, source = found.neighbors, found.source
    if near is None or linked or found.ties is not None or not isinstance(search, str):
        return search
    assert isinstance(source, Points)
    return KnownNeighbors(source.values, near.indices, near.distances, near.recall, search)
