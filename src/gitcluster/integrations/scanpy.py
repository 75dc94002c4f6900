"""GIT for single-cell data, called like scanpy's tools: ``git(adata)``.

The input is the principal components of ``scanpy.pp.pca`` in ``adata.obsm["X_pca"]``, or the graph of
``scanpy.pp.neighbors``. The clusters are written to ``adata.obs["git"]``. :func:`cut` and :func:`plot_resolution` use
only ``adata.obs`` and ``adata.uns``, so they also work on loaded files. Neither scanpy nor anndata is imported.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.optional import require
from gitcluster._support.validation import check_integer
from gitcluster.estimator import GIT
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.preprocessing.representations import Representation
from gitcluster.preprocessing.scaling import Scaling
from gitcluster.topo_graph import TopoGraph

COMPONENTS = (10, 20)
"""Numbers of leading principal components that are compared with all of them."""
RestrictTo = tuple[str, Sequence[str]]


def git(
    adata: Any,
    n_clusters: int | str = "auto",
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    restrict_to: RestrictTo | None = None,
    layers: bool | Iterable[int] = False,
    key_added: str | None = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of an AnnData object.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int or "auto", default="auto"
    use_rep : str, default=None
        Cluster ``adata.obsm[use_rep]`` ("X" for ``adata.X``) without scaling. The default is "X_pca" if it exists: the
        first 10, the first 20 and all components are compared, and the clusters that they agree on best are kept.
    neighbors_key : str, default=None
        Cluster the graph of neighbours that ``adata.uns[neighbors_key]`` names, as ``scanpy.tl.leiden`` does;
        "neighbors" is that of ``scanpy.pp.neighbors`` without a key. This is the default if there is no "X_pca".
    restrict_to : tuple (column, categories), default=None
        Cluster only the cells of these categories of ``adata.obs[column]``. Their new names are "old,0", "old,1", ...
    layers : bool or iterable of int, default=False
        Whether to write several nested numbers of clusters as columns ``<key>_4``, ``<key>_9``, ...: the few numbers
        that the data support, or the given ones.
    key_added : str, default=None
        Name of the new column of ``adata.obs``, by default "git", or "git_R" with ``restrict_to``. Memberships are
        written to ``<key>_probability``, local clusters to ``<key>_local``, and parameters, proportions, scores and
        merges to ``adata.uns[key]``.
    copy : bool, default=False
        Whether to return a changed copy.
    **parameters
        Parameters of :class:`gitcluster.GIT`.

    Returns
    -------
    adata : AnnData or None
        None unless ``copy`` is true.
    """
    adata = adata.copy() if copy else adata
    key = key_added or ("git" if restrict_to is None else "git_R")
    rows = _restricted_rows(adata, restrict_to)
    X, options = _find_input(adata, use_rep, neighbors_key)
    if len(rows) < adata.n_obs:
        X = X[rows][:, rows] if "metric" in options else X[rows]
    options |= parameters
    model = GIT(n_clusters, **options).fit(X)
    clustering = model.clustering_
    simple = {name: value for name, value in options.items() if isinstance(value, (str, int, float))}
    state: dict[str, Any] = {
        "params": {"n_clusters": n_clusters, "use_rep": use_rep or "", "neighbors_key": neighbors_key or ""} | simple,
        "proportions": clustering.proportions,
        "n_neighbors": clustering.n_neighbors,
        "representation": clustering.representation,
        "sizes": clustering.topo_graph.sizes,
    }
    if clustering.hierarchy is not None:
        state["merges"] = clustering.topo_graph.edges[clustering.hierarchy.edges]
    if clustering.n_clusters_scores is not None:
        state["scores"] = dict(clustering.n_clusters_scores)
    if restrict_to is not None:
        state["restrict_to"] = np.array([restrict_to[0], *map(str, restrict_to[1])])
    adata.uns[key] = state
    _write_column(adata, key, rows, clustering.labels, restrict_to)
    for name, values, fill in (("probability", model.probabilities_, np.nan), ("local", clustering.local_labels, -1)):
        column = np.full(adata.n_obs, fill, dtype=np.result_type(values, type(fill)))
        column[rows] = values
        adata.obs[f"{key}_{name}"] = column
    if layers:
        for layer in model.layers(None if layers is True else layers):
            _write_column(adata, f"{key}_{layer.n_clusters}", rows, layer.labels, restrict_to)
    return adata if copy else None


def cut(adata: Any, n_clusters: int, *, key: str = "git", key_added: str | None = None) -> None:
    """Write another number of clusters from the results of :func:`git`, without a new fit.

    ``adata`` may also be a part of the cells.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int
    key : str, default="git"
        The ``key_added`` of :func:`git`.
    key_added : str, default=None
        Name of the new column of ``adata.obs``, by default ``<key>_<n_clusters>``.
    """
    state = _stored_state(adata, key)
    if "merges" not in state:
        raise ValueError("cut needs a hierarchy. Call git with variant='adaptive'.")
    pairs, sizes = np.asarray(state["merges"]).reshape(-1, 2), np.asarray(state["sizes"])
    edges, zeros = np.arange(len(pairs)), np.zeros(len(pairs))
    graph = TopoGraph(sizes, np.arange(len(sizes)), pairs, zeros, edges)
    hierarchy = Hierarchy(np.empty((0, 4)), edges, zeros, edges)
    clusters = cut_hierarchy(hierarchy, graph, n_clusters=check_integer("n_clusters", n_clusters, low=1))
    local = adata.obs[f"{key}_local"].to_numpy()
    rows = np.flatnonzero(local >= 0)
    noise = adata.obs[key].astype(str).str.split(",").str[-1].to_numpy()[rows] == "noise"
    labels = np.where(noise, -1, clusters[local[rows]])
    column, *categories = map(str, state.get("restrict_to", [""]))
    restrict_to = (column, categories) if column else None
    _write_column(adata, key_added or f"{key}_{n_clusters}", rows, labels, restrict_to)


def plot_resolution(adata: Any, *, key: str = "git", ax: Any = None) -> Any:
    """Draw the score of every number of clusters from the results of :func:`git`, and return the axes."""
    from gitcluster.plots.choices import draw_scores

    state = _stored_state(adata, key)
    if "scores" not in state:
        raise ValueError("plot_resolution needs the scores of several numbers. Call git without n_clusters.")
    table = {name: np.asarray(column) for name, column in state["scores"].items()}
    return draw_scores(table, len(state["proportions"]), ax=ax)


def leading_components(n_components: int) -> tuple[Representation, ...]:
    """Return representations of principal components without scaling: the first ones, and all.

    Examples
    --------
    >>> [representation.name for representation in leading_components(50)]
    ['first 10', 'first 20', 'given']
    """
    leading = (
        Representation(f"first {number}", Scaling(np.arange(number), weights=np.ones(number)))
        for number in COMPONENTS
        if number < n_components
    )
    return (*leading, Representation("given", None))


def _stored_state(adata: Any, key: str) -> Any:
    """Return the results of :func:`git` in ``adata.uns``."""
    if key not in adata.uns or f"{key}_local" not in adata.obs:
        raise ValueError(f"adata has no clusters with key={key!r}. Call gitcluster.integrations.scanpy.git first.")
    return adata.uns[key]


def _restricted_rows(adata: Any, restrict_to: RestrictTo | None) -> NDArray[np.int64]:
    """Return the cells to cluster."""
    if restrict_to is None:
        return np.arange(adata.n_obs)
    column, categories = restrict_to
    if column not in adata.obs:
        raise ValueError(f"restrict_to must name a column of adata.obs, got {column!r}.")
    missing = {str(name) for name in categories} - set(adata.obs[column].astype(str))
    if isinstance(categories, str) or missing:
        raise ValueError(f"restrict_to must be (column, list of its categories), got unknown {sorted(missing)}.")
    return np.flatnonzero(adata.obs[column].astype(str).isin([str(name) for name in categories]))


def _find_input(adata: Any, use_rep: str | None, neighbors_key: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the samples or the graph to cluster, and the parameters of GIT for them."""
    if use_rep == "X":
        return adata.X, {"scale": None}
    if use_rep is not None:
        if use_rep not in adata.obsm:
            raise ValueError(f"use_rep must be 'X' or one of {sorted(adata.obsm.keys())}, got {use_rep!r}.")
        return adata.obsm[use_rep], {"scale": None}
    if neighbors_key is None and "X_pca" in adata.obsm:
        X = adata.obsm["X_pca"]
        return X, {"scale": leading_components(X.shape[1])}
    neighbors = adata.uns.get(neighbors_key or "neighbors", {})
    if neighbors_key not in (None, "neighbors", *adata.uns):
        raise ValueError(
            f"neighbors_key must be in adata.uns, got {neighbors_key!r}. Call scanpy.pp.neighbors with it."
        )
    distances = neighbors.get("distances_key", "distances")
    if distances not in adata.obsp:
        raise ValueError(f"adata must have obsm['X_pca'] or obsp[{distances!r}]. Call scanpy.pp.pca, or set use_rep.")
    return adata.obsp[distances], {"metric": "precomputed_graph"}


def _write_column(
    adata: Any, key: str, rows: NDArray[np.int64], labels: NDArray[Any], restrict_to: RestrictTo | None
) -> None:
    """Write labels of some cells as a categorical column; the other cells keep their category."""
    pandas = require("pandas", extra="export", purpose="gitcluster.integrations.scanpy")
    before = "" if restrict_to is None else "-".join(map(str, restrict_to[1])) + ","
    numbers = [f"{before}{label}" for label in range(int(labels.max(initial=-1)) + 1)]
    noise = [f"{before}noise"] if (labels < 0).any() else []
    names = np.array([*numbers, f"{before}noise"], dtype=object)[labels]  # -1 is the last
    if restrict_to is None and len(rows) == adata.n_obs:
        adata.obs[key] = pandas.Categorical(names, categories=numbers + noise)
        return
    others = np.full(adata.n_obs, np.nan, object) if restrict_to is None else adata.obs[restrict_to[0]].astype(str)
    values = np.array(others, dtype=object)
    values[rows] = names
    adata.obs[key] = pandas.Categorical(values, categories=[*sorted(set(values) - set(names)), *numbers, *noise])
