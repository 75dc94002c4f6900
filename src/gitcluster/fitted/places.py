"""Where samples lie on a picture: as they are in two dimensions, else their principal components, or a given embedding.

Samples in one dimension have their log intensity as height. A graph without features is laid out by force: local
clusters that are connected attract each other, and the samples of each lie around its peak.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import erf
from sklearn.decomposition import PCA
from sklearn.utils import check_array

from gitcluster._support.arrays import inverse_order, starts_of
from gitcluster.fitted.clustering import Clustering
from gitcluster.preprocessing.sources import Distances, NeighborGraph, Points
from gitcluster.topo_graph import TopoGraph

MOST_FOR_PCA = 20_000
"""Rows from which principal components are learnt."""
MOST_FOR_DISCRIMINANT = 5_000
"""Rows from which directions that part the clusters are learnt."""
MOST_DIRECTIONS = 60
"""Features among which the clusters are parted; of more, as many principal components."""
RIDGE = 0.05
"""Share of the mean variance inside clusters that is added to every direction, so that few samples do not mislead."""
MOST_RIVALS = 250
"""Nodes that each node keeps away from at a time."""
SIMILAR = 3.0
"""Ranges of two features up to this ratio are drawn in one scale."""
NEARLY_ALL = 0.99
"""Share of the samples whose range is compared with that of all."""
FAR = 2.5
"""Samples lie outside a picture if they are farther from its middle than this multiple of the reach of nearly all."""
FEWEST = 20
"""Samples from which on some may lie outside; of fewer, gaps as wide are usual."""


class Places(NamedTuple):
    """Places of samples, and what the two directions are."""

    xy: NDArray[np.float64]
    names: tuple[str, str]
    as_given: bool
    """Whether the directions are the two features themselves."""

    @property
    def window(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest place that a picture shows."""
        return usual_range(self.xy)

    @property
    def n_outside(self) -> int:
        """Number of samples outside the window."""
        return int((~inside(self.xy, self.window)).sum())

    @property
    def one_scale(self) -> bool:
        """Whether both directions may have one scale."""
        ranges = np.subtract(*self.window[::-1])
        return bool(self.as_given and ranges.min() > 0 and ranges.max() <= SIMILAR * ranges.min())

    @property
    def ratio(self) -> float:
        """Height of a picture that suits, relative to its width."""
        width, height = np.subtract(*self.window[::-1])
        return float(np.clip(height / width, 0.5, 1.1)) if self.one_scale else 0.75


def usual_range(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and highest value to show of every column: all values, or nearly all if a few are far away.

    One wrong cell (an age of 999) would otherwise squash everything else into a corner. At each end at least one value
    does not count, so that the range is robust in small tables as well.

    Examples
    --------
    >>> low, high = usual_range(np.append(np.arange(100.0), 9999.0)[:, None])
    >>> low, high
    (array([0.]), array([99.]))
    """
    low, high = (np.asarray(end, dtype=np.float64) for end in (values.min(axis=0), values.max(axis=0)))
    share = (1 - NEARLY_ALL) / 2
    near = np.quantile(values, share, axis=0, method="higher").astype(np.float64)
    far = np.quantile(values, 1 - share, axis=0, method="lower").astype(np.float64)
    half = far / 2 - near / 2  # halves, for values near the largest float
    wide = (half > 0) & (high / 2 - low / 2 > FAR * half) & (len(values) >= FEWEST)
    middle = near / 2 + far / 2
    least, most = np.where(wide, middle - FAR * half, low), np.where(wide, middle + FAR * half, high)
    return (
        np.where(values >= least, values, np.inf).min(axis=0).astype(np.float64),
        np.where(values <= most, values, -np.inf).max(axis=0).astype(np.float64),
    )


def inside(values: NDArray[Any], window: tuple[NDArray[np.float64], NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Return which rows lie within the lowest and highest values of a window."""
    return np.asarray(((values >= window[0]) & (values <= window[1])).all(axis=1))


def _usual_rows(points: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have no far value in any feature; all rows if most of them have one."""
    usual = inside(points, usual_range(points))
    return usual if 2 * usual.sum() > len(points) else np.ones(len(points), np.bool_)


def place_samples(found: Clustering, X: Any = None, *, embedding: Any = None) -> Places:
    """Places of the fitted samples.

    Parameters
    ----------
    found : Clustering
    X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
        The samples; by default the fitted ones, scaled.
    embedding : array-like of shape (n_samples, 2), default=None
        Places to use instead.
    """
    n_samples, source = found.n_samples, found.source
    if embedding is not None:
        xy = _check_embedding(embedding, n_samples)
        first, second = map(str, getattr(embedding, "columns", ("embedding 1", "embedding 2")))
        return Places(xy, (first, second), False)
    X = found.encode(X)
    graph_again = X is None or isinstance(X, tuple) or (issparse(X) and X.shape[0] == X.shape[1])
    if isinstance(source, NeighborGraph) and graph_again:
        return Places(spread_samples(found), ("", ""), False)
    points = _check_samples(found, X)
    if isinstance(source, Distances) and points.shape == (n_samples, n_samples):
        return Places(_scale_distances(points), ("MDS 1", "MDS 2"), False)
    names = _feature_names(found, X, points.shape[1])
    if points.shape[1] > 2:
        return _principal_components(_scaled(found, X, points))
    dense = (points.toarray() if issparse(points) else np.asarray(points)).astype(np.float64)
    if points.shape[1] == 2:
        return Places(dense, (names[0], names[1]), True)
    x = dense[:, 0] if points.shape[1] else np.zeros(n_samples)
    name = names[0] if names else "samples"
    return Places(np.column_stack([x, usual_values(found.log_intensity)]), (name, "log intensity"), False)


def _check_embedding(embedding: Any, n_samples: int) -> NDArray[np.float64]:
    try:
        xy = np.array(embedding, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"embedding must be numbers of shape ({n_samples}, 2), got {type(embedding).__name__}."
        ) from None
    if xy.shape != (n_samples, 2):
        raise ValueError(f"embedding must have shape ({n_samples}, 2), one place per fitted sample, got {xy.shape}.")
    if not np.isfinite(xy).all():
        raise ValueError("embedding must be finite, got missing or infinite places.")
    return xy


def _check_samples(found: Clustering, X: Any) -> Any:
    if X is not None:
        points = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        if points.shape[0] != found.n_samples:
            raise ValueError(
                f"X has {points.shape[0]} samples, the model was fitted on {found.n_samples}. Pass the fitted ones."
            )
        return points
    if not isinstance(found.source, Points):
        raise ValueError(
            "X or embedding must be given: the model was fitted on distances (metric='precomputed') and knows no "
            "places. Pass the samples or the matrix of distances as X, or places of shape (n_samples, 2) as embedding."
        )
    if found.source.n_samples != found.n_samples:
        raise ValueError("X must be given: the model was fitted with whole numbers as sample_weight, as repeated rows.")
    scaling, values, copies = found.source.scaling, found.source.values, found.fitted.copies
    values = values if copies is None else values[copies]
    if scaling is None or values.shape[1] != len(scaling.features) or scaling.rotation.size:
        return values
    return values[:, np.argsort(scaling.features)]  # as they were given


def _feature_names(found: Clustering, X: Any, n_features: int) -> list[str]:
    """Names of columns where they have some."""
    names = [f"feature {i}" for i in range(n_features)]
    known = getattr(X, "columns", found.feature_names)
    if X is not None:
        return [str(name) for name in known] if known is not None and len(known) == n_features else names
    scaling = found.source.scaling if isinstance(found.source, Points) else None
    kept = range(n_features) if scaling is None else np.sort(scaling.features)
    fitted = [f"feature {i}" if known is None else str(known[i]) for i in kept]
    as_given = scaling is None or (scaling.weights.size and (scaling.weights == 1).all())
    return fitted if as_given else [f"{name}, scaled" for name in fitted]


def _scaled(found: Clustering, X: Any, points: Any) -> Any:
    """Samples as the model scaled them, if they are those of the fit; other views of them are taken as they are."""
    source = found.source
    if X is None or not isinstance(source, Points) or points.shape[1] != source.n_features:
        return points
    return source.check_new(X, check_array)


def _principal_components(points: Any) -> Places:
    """The two directions in which the samples vary most."""
    if points.shape[1] < 2:  # features that are always the same were left out
        dense = points.toarray() if issparse(points) else points
        points = np.column_stack([dense, np.zeros((len(dense), 2 - dense.shape[1]))])
    if issparse(points) and points.shape[0] * points.shape[1] < 10**7:
        points = points.toarray()
    if not issparse(points):
        points = points / (np.abs(points).max() or 1.0)  # squares of huge values would be infinite
    learn_from = points[:: -(-points.shape[0] // MOST_FOR_PCA)]
    if not issparse(points):
        learn_from = learn_from[_usual_rows(learn_from)]  # one far value would turn a direction towards it
    with np.errstate(all="ignore"):  # samples that are all alike have no variance to explain
        model = PCA(2, random_state=0).fit(learn_from)
        shares = np.nan_to_num(model.explained_variance_ratio_)
    xy = np.asarray(model.transform(points), dtype=np.float64)
    return Places(xy, (f"PCA 1 ({shares[0]:.0%})", f"PCA 2 ({shares[1]:.0%})"), False)


def part_clusters(found: Clustering, X: Any = None) -> Places | None:
    """The two directions that part the clusters best, relative to how far they spread: a discriminant analysis.

    Pairs of clusters that are near to each other count more than those that any picture parts (Loog, Duin and
    Haeb-Umbach 2001). None where there is nothing to gain: for two features or fewer, for a single cluster, and for
    sparse samples.

    Examples
    --------
    >>> from gitcluster import git_clusters
    >>> X = np.array([[0.0, 5, 1], [1, 2, 3], [1.5, 4, 2], [8, 4.5, 2], [8.5, 2.5, 1], [9.5, 3.5, 3]])
    >>> part_clusters(git_clusters(X, n_clusters=2), X).names
    ('discriminant 1', 'discriminant 2')
    """
    X = found.encode(X)
    points = _check_samples(found, X)
    if points.shape[1] < 3 or found.n_clusters < 2 or issparse(points):
        return None
    points = _scaled(found, X, points)
    if points.shape[1] < 3:
        return None
    points = points / (np.abs(points).max() or 1.0)
    there = np.flatnonzero(np.asarray(found.labels) >= 0)
    there = there[:: -(-len(there) // MOST_FOR_DISCRIMINANT)]
    usual = there[_usual_rows(points[there])]
    there = usual if len(np.unique(np.asarray(found.labels)[usual])) == found.n_clusters else there
    if points.shape[1] > MOST_DIRECTIONS:
        model = PCA(min(MOST_DIRECTIONS, len(there)), random_state=0).fit(points[there])
        points = model.transform(points)
    directions = _discriminants(points[there].astype(np.float64), np.asarray(found.labels)[there])
    return Places(np.asarray(points @ directions, np.float64), ("discriminant 1", "discriminant 2"), False)


def _discriminants(points: NDArray[np.float64], labels: NDArray[Any]) -> NDArray[np.float64]:
    """(d, 2) directions; the second one is where samples spread most beside the first, where there are two clusters."""
    codes, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    means = np.stack([points[codes == code].mean(axis=0) for code in range(len(counts))])
    inside = points - means[codes]
    within = inside.T @ inside / len(points)
    within += np.eye(len(within)) * (RIDGE * np.trace(within) / len(within) + 1e-12)
    values, vectors = np.linalg.eigh(within)
    whiten = vectors / np.sqrt(values)  # clusters are round and of spread 1 then
    first, second = np.triu_indices(len(counts), 1)
    apart = (means[first] - means[second]) @ whiten
    distance = np.maximum(np.linalg.norm(apart, axis=1), 1e-9)
    weight = counts[first] * counts[second] * erf(distance / np.sqrt(8)) / distance**2
    between = (apart * weight[:, None]).T @ apart
    if len(counts) == 2:
        beside = np.eye(len(within)) - np.outer(apart[0], apart[0]) / distance[0] ** 2
        spread = beside @ np.cov((points @ whiten).T, bias=True) @ beside
        directions = np.column_stack([apart[0] / distance[0], np.linalg.eigh(spread)[1][:, -1]])
    else:
        directions = np.linalg.eigh(between)[1][:, :-3:-1]
    directions = directions * np.where(directions[np.abs(directions).argmax(axis=0), [0, 1]] < 0, -1, 1)
    return np.asarray(whiten @ directions)


def _scale_distances(distances: NDArray[Any]) -> NDArray[np.float64]:
    """Classical scaling: places whose distances are as near to the given ones as two dimensions allow."""
    squares = (distances / (distances.max() or 1.0)) ** 2
    squares = (squares + squares.T) / 2
    means = squares.mean(axis=0)
    products = -(squares - means - means[:, None] + means.mean()) / 2
    if len(products) <= 3:
        values, vectors = np.linalg.eigh(products)
    else:
        values, vectors = _largest_eigenvectors(products, 2, np.ones(len(products)) + np.arange(len(products)))
    return np.asarray(vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0.0)))


def _largest_eigenvectors(matrix: Any, k: int, start: NDArray[np.float64]) -> tuple[Any, Any]:
    """The k largest eigenvalues of a symmetric matrix, ascending, and their vectors.

    ARPACK fails where all distances are zero, a graph has no edges, or many eigenvalues are equal; then a few rounds of
    power iteration give directions that are as good for a picture.
    """
    try:
        return tuple(eigsh(matrix, k=k, which="LA", v0=start))
    except ArpackError:
        pass
    shift = float(np.abs(matrix).sum(axis=1).max())  # no eigenvalue is below -shift
    vectors = np.linalg.qr(np.column_stack([start, np.random.default_rng(0).normal(size=(len(start), k - 1))]))[0]
    for _ in range(100):
        vectors = np.linalg.qr(matrix @ vectors + shift * vectors + 1e-12 * vectors)[0]
    values, turn = np.linalg.eigh(vectors.T @ (matrix @ vectors))
    return values, vectors @ turn


def lay_out(graph: TopoGraph, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(m, 2) places of nodes by force: edges pull, cut ones less, and all nodes keep apart.

    The same model is always laid out the same way. It starts from the slowest vibrations of the graph, which
    untangles it; the forces then give every node room.
    """
    m, edges = len(graph.sizes), graph.edges
    rng = np.random.default_rng(0)
    pull = np.where(kept, 1.0, 0.08)
    places = _vibrations(m, edges, pull) + 0.01 * rng.normal(size=(m, 2))
    ideal = 1.0 / np.sqrt(m)
    n_rounds = 120
    for step in range(n_rounds):
        rivals = np.arange(m) if m <= MOST_RIVALS else rng.choice(m, MOST_RIVALS, replace=False)
        apart = places[:, None] - places[rivals]
        square = np.maximum((apart**2).sum(axis=2), 1e-6)
        move = (apart * (ideal**2 / square)[..., None]).sum(axis=1) * (m / len(rivals))
        along = places[edges[:, 0]] - places[edges[:, 1]]
        force = along * (pull * np.linalg.norm(along, axis=1) / ideal)[:, None]
        for axis in range(2):
            move[:, axis] -= np.bincount(edges[:, 0], force[:, axis], minlength=m)
            move[:, axis] += np.bincount(edges[:, 1], force[:, axis], minlength=m)
        move -= 0.5 * places  # what nothing connects must not fly off
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        places += move / length * np.minimum(length, 0.1 * (1 - step / n_rounds))
    return np.asarray(places - places.mean(axis=0))


def _vibrations(m: int, edges: NDArray[Any], pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """The second and third eigenvector of the random walk on a graph."""
    turn = 2.4 * np.arange(m)
    if m < 6:
        return np.column_stack([np.cos(turn), np.sin(turn)])
    adjacency = coo_array((pull, (edges[:, 0], edges[:, 1])), shape=(m, m))
    adjacency = (adjacency + adjacency.T).tocsr()
    degree = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1e-3)
    root = np.sqrt(degree)
    walk = adjacency.multiply(1 / root[:, None]).multiply(1 / root[None, :]).tocsr()
    _, vectors = _largest_eigenvectors(walk, 3, np.cos(turn) + 2.0)
    shape = vectors[:, :2] / root[:, None]
    return np.asarray(shape / (np.abs(shape).max(axis=0) + 1e-12))


def spread_samples(found: Clustering) -> NDArray[np.float64]:
    """Samples of a graph around the nodes of its topo-graph: the peak in the middle, the lowest outside."""
    centres = lay_out(found.topo_graph, found.edge_cut.kept)
    labels, n_samples = found.local_labels, len(found.labels)
    order = np.lexsort((-found.log_intensity, labels))
    starts = starts_of(np.bincount(labels, minlength=len(centres)))
    rank = inverse_order(order) - starts[labels]
    span = np.ptp(centres, axis=0).max() or 1.0
    radius = 0.3 * span * np.sqrt(rank / n_samples)
    turn = np.pi * (3 - np.sqrt(5)) * rank
    return np.asarray(centres[labels] + radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]))


def usual_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values with those beyond reason, such as the log intensity of samples without neighbours, moved to the others."""
    reasonable = np.abs(values) < 1e29
    low = values[reasonable].min() if reasonable.any() else 0.0
    high = values[reasonable].max() if reasonable.any() else 0.0
    return np.clip(values, low, high)
