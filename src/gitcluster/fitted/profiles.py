"""A profile of all clusters in the columns of the user's own table: as text, page, data frame and picture.

In: a fitted model and its table. Out: :class:`Profile`, whose ``str`` is for people.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitcluster._support.names import count_of
from gitcluster._support.optional import require
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.contrasts import ClusterProfile, Contrast, compare_clusters
from gitcluster.fitted.profile_page import SCALE, profile_html
from gitcluster.fitted.traits import describe_unused


@dataclass(frozen=True, repr=False)
class Profile:
    """What sets every cluster apart; ``print`` it, or see it in a notebook."""

    clusters: tuple[ClusterProfile, ...]
    """Noise is the last, if there is any."""
    n_rows: int
    note: str = ""
    """Names the columns that were not used for clustering, if there are any."""

    def __iter__(self) -> Iterator[ClusterProfile]:
        return iter(self.clusters)

    def __len__(self) -> int:
        return len(self.clusters)

    def __getitem__(self, cluster: int) -> ClusterProfile:
        return {found.cluster: found for found in self.clusters}[cluster]

    def __str__(self) -> str:
        head = f"{count_of(self.n_rows, 'row')}. {SCALE}"
        return "\n\n".join(["\n".join(filter(None, [head, self.note])), *map(str, self.clusters)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return profile_html(self.clusters, self.n_rows, self.note)

    def to_frame(self) -> Any:
        """One row per cluster and column (per value of a category) as a pandas data frame."""
        pandas = require("pandas", extra="export", purpose="to_frame")
        fields = ["cluster", "nearest", *Contrast._fields]
        rows = [
            (found.cluster, -1 if found.nearest is None else found.nearest, *contrast)
            for found in self.clusters
            for contrast in found.contrasts
        ]
        return pandas.DataFrame(rows, columns=fields)

    def rules_frame(self) -> Any:
        """One row per rule as a pandas data frame: cluster, rule, coverage, precision."""
        pandas = require("pandas", extra="export", purpose="rules_frame")
        rows = [
            (found.cluster, str(rule), rule.coverage, rule.precision)
            for found in self.clusters
            for rule in found.rules.rules
        ]
        return pandas.DataFrame(rows, columns=["cluster", "rule", "coverage", "precision"])

    def plot(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw the differences; the parameters are those of ``gitcluster.plots.plot_profile``."""
        from gitcluster.plots import plot_profile

        return plot_profile(self, ax=ax, **options)


def profile(model: Any, X: Any = None, *, rules: bool = True) -> Profile:
    """What sets the clusters of a fitted model apart.

    Parameters
    ----------
    model : GIT or Clustering
        A fitted model.
    X : data frame or array-like of shape (n_samples, n_columns), default=None
        A table with the fitted rows; by default the fitted features, as the model keeps them. Of a data frame, only
        columns that the clustering used are compared, and the others are named. A table without any of these columns
        is described as it is.
    rules : bool, default=True
        Whether to learn rules as well.

    Examples
    --------
    >>> import numpy as np
    >>> from gitcluster import git_clusters
    >>> X = np.array([[0.0, 5.0], [1.0, 2.0], [1.5, 4.0], [8.0, 4.5], [8.5, 2.5], [9.5, 3.5]])
    >>> found = profile(git_clusters(X, n_clusters=2, scale=[1.0, 0.1]), X)
    >>> print(found[0])
    Cluster 0: 3 rows (50.0%)
      feature 0: 8.67, elsewhere 0.833 (+2.0)
      Rule: feature 0 > 5 (covers 100% of the cluster, 100% precise)
    """
    found = clustering_of(model)
    return Profile(compare_clusters(found, X, rules=rules), found.n_samples, describe_unused(found.columns, X))
