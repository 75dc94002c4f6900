"""GIT for single-cell data, called as scanpy's own tools are: ``git(adata, n_clusters=8)``.

It takes the graph of neighbours that ``scanpy.pp.neighbors`` left in ``adata.obsp["distances"]``, or a representation
of the cells, and writes ``adata.obs["git"]``. Neither scanpy nor anndata is imported: what looks like AnnData is taken.
"""

from typing import Any

import numpy as np

from gitcluster._support.optional import require
from gitcluster.estimator import GIT


def git(
    adata: Any,
    n_clusters: int | str = "auto",
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str = "git",
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of an AnnData object.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int or "auto", default="auto"
    use_rep : str, default=None
        Cluster by ``adata.obsm[use_rep]`` ("X" for ``adata.X``), as it is, instead of the graph of neighbours.
    neighbors_key : str, default=None
        ``adata.uns[neighbors_key]`` says where the graph is, as for ``scanpy.tl.leiden``; by default
        ``adata.obsp["distances"]``.
    key_added : str, default="git"
        Name of the new column of ``adata.obs``; memberships go to ``<key>_probability``, parameters and proportions to
        ``adata.uns[key]``.
    copy : bool, default=False
        Whether to return a changed copy instead.
    **parameters
        Of :class:`gitcluster.GIT`.

    Returns
    -------
    adata : AnnData or None
        None where ``adata`` itself was changed.
    """
    pandas = require("pandas", extra="export", purpose="gitcluster.integrations.scanpy")
    adata = adata.copy() if copy else adata
    X = _graph(adata, neighbors_key) if use_rep is None else _representation(adata, use_rep)
    options: dict[str, Any] = {"metric": "precomputed_graph"} if use_rep is None else {"scale": None}
    options |= parameters
    model = GIT(n_clusters, **options).fit(X)
    names = [str(label) for label in range(model.n_clusters_)]
    labels = np.where(model.labels_ < 0, "noise", model.labels_.astype(str))
    names += ["noise"] if (model.labels_ < 0).any() else []
    adata.obs[key_added] = pandas.Categorical(labels, categories=names)
    adata.obs[f"{key_added}_probability"] = model.probabilities_
    told = {name: value for name, value in options.items() if isinstance(value, (str, int, float))}
    adata.uns[key_added] = {
        "params": {"n_clusters": n_clusters, "use_rep": use_rep or "", "neighbors_key": neighbors_key or ""} | told,
        "proportions": model.proportions_,
        "n_neighbors": model.n_neighbors_,
    }
    return adata if copy else None


def _graph(adata: Any, neighbors_key: str | None) -> Any:
    key = "distances"
    if neighbors_key is not None:
        if neighbors_key not in adata.uns:
            raise ValueError(f"neighbors_key={neighbors_key!r} is not in adata.uns. Run scanpy.pp.neighbors with it.")
        key = adata.uns[neighbors_key]["distances_key"]
    if key not in adata.obsp:
        raise ValueError(
            f"adata.obsp has no {key!r}. Run scanpy.pp.neighbors(adata), or give use_rep='X_pca' to cluster by that."
        )
    return adata.obsp[key]


def _representation(adata: Any, use_rep: str) -> Any:
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        raise ValueError(f"use_rep={use_rep!r} is not in adata.obsm, which has {sorted(adata.obsm.keys())}.")
    return adata.obsm[use_rep]
