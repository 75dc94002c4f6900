"""The interactive page: samples and topo-graph side by side in one HTML file that needs no server and no network.

The page is built from the sources in ``explorer/`` at the root of the repository (``scripts/build-explorer``) and ships
as ``page.html``; here it is given the data of one fitted model. Nothing beyond the core packages is needed.
"""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from gitcluster._support.files import write_aside
from gitcluster._support.validation import check_integer
from gitcluster.explorer.data import pack_model
from gitcluster.fitted.clustering import clustering_of

__all__ = ["write_explorer"]

PLACEHOLDER = "@@PAYLOAD@@"


def write_explorer(
    model: Any,
    X: Any = None,
    path: str | os.PathLike[str] = "explorer.html",
    *,
    embedding: ArrayLike | None = None,
    columns: Any = None,
    names: Any = None,
    title: str | None = None,
    max_samples: int = 100_000,
    random_state: int = 0,
) -> Path:
    """Write a fitted model as an interactive page.

    Parameters
    ----------
    model : GIT or Clustering
        A fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The samples that were fitted, by default as the model holds them, scaled. Samples of two features are shown as
        they are, others by two principal components, and by the two directions that part the clusters most. The
        columns are there to show and to colour by, also such that were not clustered by.
    path : str or path, default="explorer.html"
        Where to write; a file that is there is replaced, whole or not at all.
    embedding : array-like of shape (n_samples, 2), default=None
        Where to show the samples at first instead (UMAP, a map). A graph is laid out by force, distances given as X by
        classical scaling.
    columns : dict or DataFrame, default=None
        More about every sample, to show and to colour by: numbers and dates, or anything else as categories.
    names : sequence of n_samples, default=None
        What to call the samples, by default the index of the data frame that was fitted.
    title : str, default=None
    max_samples : int, default=100_000
        If there are more samples, some of them are shown: the same share of every local cluster, and all peaks.
    random_state : int, default=0
        Decides which samples are shown.

    Returns
    -------
    path : Path
        The file written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from sklearn.datasets import make_moons
    >>> from gitcluster import GIT
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = GIT(n_clusters=2).fit(X)
    >>> write_explorer(model, X, Path(mkdtemp(), "moons.html"), columns={"moon": y}).name
    'moons.html'
    """
    payload = pack_model(
        clustering_of(model), X, embedding=embedding, columns=columns, names=names, title=title,
        max_samples=check_integer("max_samples", max_samples, low=1),
        random_state=check_integer("random_state", random_state, low=0),
    )  # fmt: skip
    page = files("gitcluster.explorer").joinpath("page.html").read_text(encoding="utf-8")
    before, after = page.split(PLACEHOLDER)
    with write_aside(path) as file:
        file.write((before + as_json(payload) + after).encode())
    return Path(path)


def as_json(payload: dict[str, Any]) -> str:
    """JSON that no HTML parser takes for the end of a script: without any ``<``."""
    return json.dumps(payload, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
