"""Write a fitted model as one interactive HTML page, which needs neither server nor network.

The page is built from the TypeScript sources in ``explorer/`` (``scripts/build-explorer``) and ships as ``page.html``.
This package adds the data of one model. All cuts are computed here; the page only shows them.
"""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from gitcluster._support.files import atomic_write
from gitcluster._support.validation import check_integer
from gitcluster.explorer.payload import build_payload, choose_samples
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
) -> Path:
    """Write a fitted model as an interactive page.

    Parameters
    ----------
    model : GIT or Clustering
        A fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The fitted samples; by default the scaled samples of the model. Two features are shown directly, more by two
        principal components. The page contains all columns of a table, including those not used for clustering.
    path : str or path, default="explorer.html"
        An existing file is replaced.
    embedding : array-like of shape (n_samples, 2), default=None
        Coordinates of the first view (UMAP, a map). By default, graphs use a force layout and distances classical
        scaling.
    columns : dict or DataFrame, default=None
        More columns to show and to colour by: numbers, dates or categories.
    names : sequence of n_samples, default=None
        Names of the samples; by default the index of the fitted data frame.
    title : str, default=None
    max_samples : int, default=100_000
        Larger sets are reduced to this number: the same share of every local cluster, and all peaks.

    Returns
    -------
    path : Path
        The written file.

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
    clustering = clustering_of(model)
    X = clustering.align(X)
    rows = choose_samples(clustering, check_integer("max_samples", max_samples, low=1))
    payload = {"title": "GIT explorer" if title is None else str(title)}
    payload |= build_payload(clustering, X, rows, embedding=embedding, columns=columns, names=names)
    # Without "<", no HTML parser can take a name for the end of the script.
    data = json.dumps(payload, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    page = files("gitcluster.explorer").joinpath("page.html").read_text(encoding="utf-8")
    with atomic_write(path) as file:
        file.write(page.replace(PLACEHOLDER, data).encode())
    return Path(path)
