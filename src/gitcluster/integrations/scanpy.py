"""GIT for single-cell data, called as scanpy's own tools are: ``git(adata)``.

It takes the principal components that ``scanpy.pp.pca`` left in ``adata.obsm["X_pca"]``, as they are, or the graph of
``scanpy.pp.neighbors``, and writes ``adata.obs["git"]``. What :func:`cut` and :func:`plot_resolution` need is in
``adata.obs`` and ``adata.uns`` and survives a file. Neither scanpy nor anndata is imported: what looks like AnnData is
taken.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.optional import require
from gitcluster._support.validation import check_integer
from gitcluster.estimator import GIT
from gitcluster.fitted.clustering import Clustering
from gitcluster.hierarchy import Hierarchy, cut_hierarchy
from gitcluster.preprocessing.representations import Representation
from gitcluster.preprocessing.scaling import Scaling
from gitcluster.topo_graph import TopoGraph

COMPONENTS = (10, 20)
"""Leading principal components that are looked at, beside all of them."""
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
        Cluster by ``adata.obsm[use_rep]`` ("X" for ``adata.X``) as it is. By default by "X_pca" where it is there: the
        first 10, the first 20 and all components are looked at, and the clusters are kept that these agree on best.
    neighbors_key : str, default=None
        Cluster by the graph of neighbours that ``adata.uns[neighbors_key]`` names, as ``scanpy.tl.leiden`` does;
        "neighbors" is that of ``scanpy.pp.neighbors`` without a key. So it is done where there is no "X_pca".
    restrict_to : tuple (column, categories), default=None
        Cluster only cells of these categories of ``adata.obs[column]``, whose new names are "old,0", "old,1", ...
    layers : bool or iterable of int, default=False
        Whether to write the few numbers of clusters that the data support, or these numbers, as columns
        ``<key>_4``, ``<key>_9``, ..., nested.
    key_added : str, default=None
        Name of the new column of ``adata.obs``, by default "git", or "git_R" with ``restrict_to``. Memberships go to
        ``<key>_probability``, local clusters, from which :func:`cut` makes others, to ``<key>_local``, and parameters,
        proportions, scores and merges to ``adata.uns[key]``.
    copy : bool, default=False
        Whether to return a changed copy instead.
    **parameters
        Of :class:`gitcluster.GIT`.

    Returns
    -------
    adata : AnnData or None
        None where ``adata`` itself was changed.
    """
    adata = adata.copy() if copy else adata
    key = key_added or ("git" if restrict_to is None else "git_R")
    rows = _restricted(adata, restrict_to)
    X, options = _find_input(adata, rows, use_rep, neighbors_key)
    options |= parameters
    model = GIT(n_clusters, **options).fit(X)
    found = model.clustering_
    told = {name: value for name, value in options.items() if isinstance(value, (str, int, float))}
    adata.uns[key] = {
        "params": {"n_clusters": n_clusters, "use_rep": use_rep or "", "neighbors_key": neighbors_key or ""} | told,
        "proportions": found.proportions,
        "n_neighbors": found.n_neighbors,
        "representation": found.representation,
    } | _state(found, restrict_to)
    _write_column(adata, key, rows, found.labels, restrict_to)
    adata.obs[f"{key}_probability"] = _spread(adata, rows, model.probabilities_, np.nan)
    adata.obs[f"{key}_local"] = _spread(adata, rows, found.local_labels, -1)
    if layers:
        for layer in model.layers(None if layers is True else layers):
            _write_column(adata, f"{key}_{layer.n_clusters}", rows, layer.labels, restrict_to)
    return adata if copy else None


def cut(adata: Any, n_clusters: int, *, key: str = "git", key_added: str | None = None) -> None:
    """Another number of clusters from what :func:`git` left, without a new fit; of a part of the cells too.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int
    key : str, default="git"
        What :func:`git` was told as ``key_added``.
    key_added : str, default=None
        Name of the new column of ``adata.obs``, by default ``<key>_<n_clusters>``.
    """
    kept = _kept(adata, key)
    if "merges" not in kept:
        raise ValueError("This variant makes no hierarchy, so it cannot be cut again. Use variant='adaptive'.")
    pairs, sizes = np.asarray(kept["merges"]).reshape(-1, 2), np.asarray(kept["sizes"])
    edges, none = np.arange(len(pairs)), np.zeros(len(pairs))
    graph = TopoGraph(sizes, np.arange(len(sizes)), pairs, none, edges)
    hierarchy = Hierarchy(np.empty((0, 4)), edges, none, edges)
    clusters = cut_hierarchy(hierarchy, graph, n_clusters=check_integer("n_clusters", n_clusters, low=1))
    local = adata.obs[f"{key}_local"].to_numpy()
    rows = np.flatnonzero(local >= 0)
    noise = adata.obs[key].astype(str).str.split(",").str[-1].to_numpy()[rows] == "noise"
    labels = np.where(noise, -1, clusters[local[rows]])
    column, *categories = map(str, kept.get("restrict_to", [""]))
    restrict_to = (column, categories) if column else None
    _write_column(adata, key_added or f"{key}_{n_clusters}", rows, labels, restrict_to)


def plot_resolution(adata: Any, *, key: str = "git", ax: Any = None) -> Any:
    """Draw the score of every number of clusters, from what :func:`git` left; returns the axes."""
    from gitcluster.plots.choices import draw_scores

    kept = _kept(adata, key)
    if "scores" not in kept:
        raise ValueError("git was told the number of clusters and has no scores of others. Run it without n_clusters.")
    table = {name: np.asarray(column) for name, column in kept["scores"].items()}
    return draw_scores(table, len(kept["proportions"]), ax=ax)


def _state(found: Clustering, restrict_to: RestrictTo | None) -> dict[str, Any]:
    """What is needed to cut again and to show scores, as arrays that a file can hold."""
    state: dict[str, Any] = {"sizes": found.topo_graph.sizes}
    if found.hierarchy is not None:
        state["merges"] = found.topo_graph.edges[found.hierarchy.edges]
    if found.n_clusters_scores is not None:
        state["scores"] = dict(found.n_clusters_scores)
    if restrict_to is not None:
        state["restrict_to"] = np.array([restrict_to[0], *map(str, restrict_to[1])])
    return state


def _kept(adata: Any, key: str) -> Any:
    if key not in adata.uns or f"{key}_local" not in adata.obs:
        raise ValueError(f"adata has no clusters of the key {key!r}. Run gitcluster.integrations.scanpy.git first.")
    return adata.uns[key]


def _restricted(adata: Any, restrict_to: RestrictTo | None) -> NDArray[np.int64]:
    """The cells that are clustered."""
    if restrict_to is None:
        return np.arange(adata.n_obs)
    column, categories = restrict_to
    if column not in adata.obs:
        raise ValueError(f"restrict_to names {column!r}, which is not in adata.obs.")
    missing = {str(name) for name in categories} - set(adata.obs[column].astype(str))
    if isinstance(categories, str) or missing:
        raise ValueError(f"restrict_to must be (column, list of categories); not among them: {sorted(missing)}.")
    return np.flatnonzero(adata.obs[column].astype(str).isin([str(name) for name in categories]))


def _find_input(
    adata: Any, rows: NDArray[np.int64], use_rep: str | None, neighbors_key: str | None
) -> tuple[Any, dict[str, Any]]:
    """What is clustered, and how."""
    if use_rep is None and (neighbors_key is not None or "X_pca" not in adata.obsm):
        graph = _graph(adata, neighbors_key or "neighbors")
        return graph[rows][:, rows] if len(rows) < adata.n_obs else graph, {"metric": "precomputed_graph"}
    X = _representation(adata, use_rep or "X_pca")
    X = X[rows] if len(rows) < adata.n_obs else X
    return X, {"scale": None if use_rep else leading_components(X.shape[1])}


def leading_components(n_components: int) -> tuple[Representation, ...]:
    """Ways to look at principal components as they are: the first ones, and all.

    Examples
    --------
    >>> [way.name for way in leading_components(50)]
    ['first 10', 'first 20', 'given']
    """
    none = np.empty(0)
    numbers = [number for number in COMPONENTS if number < n_components]
    scalings = [Scaling(np.arange(number), none, none, none, none, np.ones(number)) for number in numbers]
    leading = [Representation(f"first {len(scaling.features)}", scaling) for scaling in scalings]
    return (*leading, Representation("given", None))


def _graph(adata: Any, neighbors_key: str) -> Any:
    described = adata.uns.get(neighbors_key)
    if described is None and neighbors_key != "neighbors":
        raise ValueError(f"neighbors_key={neighbors_key!r} is not in adata.uns. Run scanpy.pp.neighbors with it.")
    key = "distances" if described is None else described.get("distances_key", "distances")
    if key not in adata.obsp:
        raise ValueError(
            f"adata has neither 'X_pca' in obsm nor {key!r} in obsp. Run scanpy.pp.pca(adata), or give use_rep."
        )
    return adata.obsp[key]


def _representation(adata: Any, use_rep: str) -> Any:
    if use_rep == "X":
        return adata.X
    if use_rep not in adata.obsm:
        raise ValueError(f"use_rep={use_rep!r} is not in adata.obsm, which has {sorted(adata.obsm.keys())}.")
    return adata.obsm[use_rep]


def _write_column(
    adata: Any, key: str, rows: NDArray[np.int64], labels: NDArray[Any], restrict_to: RestrictTo | None
) -> None:
    """Labels of some cells as a column of categories, those of the others as they were."""
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


def _spread(adata: Any, rows: NDArray[np.int64], values: NDArray[Any], other: Any) -> NDArray[Any]:
    """Values of some cells, and ``other`` for the rest."""
    spread = np.full(adata.n_obs, other, dtype=np.result_type(values, type(other)))
    spread[rows] = values
    return spread
