"""Ways to look at a fitted model: explanations, tables, graphs, the interactive page.

They lie above the estimator and some need packages that not everyone has, so each is loaded when it is asked for.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike


class ViewsMixin:
    """Methods of a fitted model that show it."""

    def explain(self, i: int, j: int | None = None, *, X: Any = None) -> Any:
        """Why sample ``i`` is in its cluster, or why ``i`` and ``j`` are together or apart.

        Parameters
        ----------
        i, j : int
            Samples, as rows of what was fitted.
        X : array-like, default=None
            What was fitted: needed for the boundary pairs of a pair with ``metric="precomputed"`` alone.

        Returns
        -------
        explanation : SampleExplanation or PairExplanation
            ``print`` it; ``to_pandas()`` and ``plot(X)`` show it as a table and a picture.
        """
        return import_module("gitcluster.explanation").explain(self, i, j, X=X)

    def explore(
        self,
        X: Any = None,
        path: str | os.PathLike[str] = "explorer.html",
        *,
        embedding: ArrayLike | None = None,
        columns: Any = None,
        names: Any = None,
        title: str | None = None,
        max_samples: int = 100_000,
    ) -> Path:
        """Write one self-contained HTML page that shows samples and topo-graph, cuts again and explains.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            What was fitted; the model's own, scaled samples by default.
        path : str or path, default="explorer.html"
        embedding : array-like of shape (n_samples, 2), default=None
            Where to draw the samples; by default as they are in two features, by principal components in more.
        columns : dict or data frame, default=None
            More to colour by and to show of every sample.
        names : array-like of shape (n_samples,), default=None
            A name for every sample.
        title : str, default=None
        max_samples : int, default=100_000
            Beyond it a sample of every local cluster is shown.

        Returns
        -------
        path : Path
        """
        written: Path = import_module("gitcluster.explorer").write_explorer(
            self, X, path, embedding=embedding, columns=columns, names=names, title=title, max_samples=max_samples
        )
        return written

    def to_pandas(self) -> Any:
        """Data frames ``samples``, ``local_clusters`` and ``edges`` of a fitted model, as one named tuple."""
        return import_module("gitcluster.exports").to_pandas(self)

    def to_networkx(self) -> Any:
        """The topo-graph as a :class:`networkx.Graph` with what is known of nodes and edges."""
        return import_module("gitcluster.exports").to_networkx(self)

    def to_graphml(self, path: str | os.PathLike[str]) -> Path:
        """Write the topo-graph as GraphML, for Gephi, Cytoscape or yEd."""
        written: Path = import_module("gitcluster.exports").to_graphml(self, path)
        return written
