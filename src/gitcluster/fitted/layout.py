"""Two coordinates of every sample, for plots and the explorer.

Two features are taken as they are. More features are reduced to their principal components. One feature has its log
intensity as second coordinate. A matrix of distances is embedded by classical scaling. A graph without features is laid
out by force, which is also the alternative for features.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse
from sklearn.decomposition import PCA, KernelPCA
from sklearn.manifold import spectral_embedding
from sklearn.utils import check_array

from gitcluster._support.arrays import inverse_order, starts_of
from gitcluster.fitted.clustering import Clustering
from gitcluster.preprocessing.sources import Distances, NeighborGraph, Points
from gitcluster.topo_graph import TopoGraph

PCA_ROWS = 20_000
"""Rows that principal components are learnt from."""
MAX_REPELLING = 250
"""Nodes that repel each node in one round of the force layout."""
N_ROUNDS = 120
SIMILAR = 3.0
"""Two features whose ranges differ by less than this factor are drawn in one scale."""
NEARLY_ALL = 0.99
"""Share of the samples whose range is compared with that of all."""
FAR = 2.5
"""Samples are outside of a plot if they are farther from its middle than this multiple of the range of nearly all."""
FEWEST = 20
"""Plots of fewer samples show all of them."""

Window = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The lowest and the highest coordinates that a plot shows."""


class SampleLayout(NamedTuple):
    """Two coordinates of every sample, and the names of the axes."""

    xy: NDArray[np.float64]
    names: tuple[str, str]
    as_given: bool
    """Whether the coordinates are the two features themselves."""

    def has_one_scale(self, window: Window) -> bool:
        """Return whether both axes of a plot can have one scale."""
        ranges = window[1] - window[0]
        return bool(self.as_given and ranges.min() > 0 and ranges.max() <= SIMILAR * ranges.min())


def usual_range(values: NDArray[Any]) -> Window:
    """Return the lowest and highest value to show of every column: of all values, or without a few far ones.

    Otherwise one wrong cell (an age of 999) would squash everything else into a corner. At least one value at each end
    is ignored when the range of nearly all is measured, so that this also works for small tables.
    """
    low, high = (np.asarray(end, dtype=np.float64) for end in (values.min(axis=0), values.max(axis=0)))
    if len(values) < FEWEST:
        return low, high
    share = (1 - NEARLY_ALL) / 2
    near = np.quantile(values, share, axis=0, method="higher").astype(np.float64)
    far = np.quantile(values, 1 - share, axis=0, method="lower").astype(np.float64)
    half, middle = far / 2 - near / 2, near / 2 + far / 2  # halves do not overflow near the largest float
    wide = (half > 0) & (high / 2 - low / 2 > FAR * half)
    least, most = np.where(wide, middle - FAR * half, low), np.where(wide, middle + FAR * half, high)
    return (
        np.where(values >= least, values, np.inf).min(axis=0).astype(np.float64),
        np.where(values <= most, values, -np.inf).max(axis=0).astype(np.float64),
    )


def inside(values: NDArray[Any], window: Window) -> NDArray[np.bool_]:
    """Return which rows lie within the lowest and highest values of a window."""
    return np.asarray(((values >= window[0]) & (values <= window[1])).all(axis=1))


def usual_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values with extreme ones, such as log intensities without neighbours, clipped to the range of others."""
    usual = values[np.abs(values) < 1e29]
    return np.clip(values, usual.min(), usual.max()) if len(usual) else np.zeros_like(values)


def layout_samples(clustering: Clustering, X: Any = None, *, embedding: Any = None) -> SampleLayout:
    """Return the coordinates of the fitted samples ``X``, by default as the model scaled them, or the ``embedding``."""
    n_samples, source = clustering.n_samples, clustering.source
    if embedding is not None:
        xy = check_array(embedding, dtype=np.float64, input_name="embedding")
        if xy.shape != (n_samples, 2):
            raise ValueError(f"embedding must have shape ({n_samples}, 2), got {xy.shape}.")
        first, second = map(str, getattr(embedding, "columns", ("embedding 1", "embedding 2")))
        return SampleLayout(xy, (first, second), False)
    X = clustering.encode(clustering.align(X))
    is_graph = X is None or isinstance(X, tuple) or (issparse(X) and X.shape[0] == X.shape[1])
    if isinstance(source, NeighborGraph) and is_graph:
        return SampleLayout(spread_samples(clustering), ("", ""), False)
    points, names = _read_samples(clustering, X)
    if isinstance(source, Distances) and points.shape == (n_samples, n_samples):
        # Classical scaling: the leading components of the negative squared distances as a kernel, which is centred.
        kernel = -0.5 * (points / (points.max() or 1.0)) ** 2
        xy = np.zeros((n_samples, 2))
        if kernel.any():
            xy[:] = KernelPCA(2, kernel="precomputed", random_state=0).fit_transform(kernel)
        return SampleLayout(xy, ("MDS 1", "MDS 2"), False)
    if points.shape[1] > 2:
        # samples with the fitted features are scaled like them, others stay as they are
        scaled = X is not None and isinstance(source, Points) and points.shape[1] == source.n_features
        return _principal_components(source.check_new(X, check_array) if scaled else points)
    dense = (points.toarray() if issparse(points) else np.asarray(points)).astype(np.float64)
    if points.shape[1] == 2:
        return SampleLayout(dense, (names[0], names[1]), True)
    x = dense[:, 0] if points.shape[1] else np.zeros(n_samples)
    name = names[0] if names else "samples"
    return SampleLayout(np.column_stack([x, usual_values(clustering.log_intensity)]), (name, "log intensity"), False)


def _read_samples(clustering: Clustering, X: Any) -> tuple[Any, list[str]]:
    """Return the samples that are given, or the fitted ones, and the names of their features."""
    source, names = clustering.source, clustering.feature_names
    if X is not None:
        points = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        if points.shape[0] != clustering.n_samples:
            raise ValueError(f"X must have the {clustering.n_samples} samples that were fitted, got {points.shape[0]}.")
        names = getattr(X, "columns", names)
        if names is None or len(names) != points.shape[1]:
            names = tuple(f"feature {i}" for i in range(points.shape[1]))
        return points, list(map(str, names))
    if not isinstance(source, Points):
        raise ValueError("X or embedding must be given: the model stores no distances. Pass the samples or distances.")
    if source.n_samples != clustering.n_samples:
        raise ValueError("X must be given, because the model was fitted with integers as sample_weight.")
    scaling, points, copies = source.scaling, source.values, clustering.fitted.copies
    points = points if copies is None else points[copies]
    features = np.arange(points.shape[1]) if scaling is None else np.sort(scaling.features)
    if scaling is not None and points.shape[1] == len(features) and not scaling.rotation.size:
        points = points[:, np.argsort(scaling.features)]  # in the order of the table
    unit = "" if scaling is None or (scaling.weights.size and (scaling.weights == 1).all()) else ", scaled"
    return points, [f"{f'feature {i}' if names is None else names[i]}{unit}" for i in features[: points.shape[1]]]


def _principal_components(points: Any) -> SampleLayout:
    """Return the two directions in which the samples vary most."""
    if points.shape[1] < 2:  # constant features were dropped
        dense = points.toarray() if issparse(points) else points
        points = np.column_stack([dense, np.zeros((len(dense), 2 - dense.shape[1]))])
    if issparse(points) and points.shape[0] * points.shape[1] < 10**7:
        points = points.toarray()
    learn_from = points[:: -(-points.shape[0] // PCA_ROWS)]
    if not issparse(points):
        unit = np.abs(points).max() or 1.0  # squares of huge values would be infinite
        points, learn_from = points / unit, learn_from / unit
        usual = inside(learn_from, usual_range(learn_from))  # one far value would turn a component towards it
        learn_from = learn_from[usual] if 2 * usual.sum() > len(usual) else learn_from
    model = PCA(2, random_state=0)
    with np.errstate(all="ignore"):  # equal samples have no variance
        shares = np.nan_to_num(model.fit(learn_from).explained_variance_ratio_)
    xy = np.asarray(model.transform(points), dtype=np.float64)
    return SampleLayout(xy, (f"PCA 1 ({shares[0]:.0%})", f"PCA 2 ({shares[1]:.0%})"), False)


def layout_graph(graph: TopoGraph, kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return (m, 2) coordinates of nodes by forces: edges attract, cut ones less, and all nodes repel each other.

    The layout starts from the spectral layout, which untangles the graph, and is always the same for a model.
    """
    m, edges = len(graph.sizes), graph.edges
    rng = np.random.default_rng(0)
    pull = np.where(kept, 1.0, 0.08)
    angle = 2.4 * np.arange(m)  # nearly the golden angle: points on a circle that do not coincide
    xy = np.column_stack([np.cos(angle), np.sin(angle)])
    if m >= 6:
        ends = edges.astype(np.int32)  # scikit-learn requires this type
        adjacency = coo_array((pull, (ends[:, 0], ends[:, 1])), shape=(m, m))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a graph of neighbours may not be connected
            xy = spectral_embedding((adjacency + adjacency.T).tocsr(), n_components=2, random_state=0)
        xy = xy / (np.abs(xy).max(axis=0) + 1e-12)
    xy = xy + 0.01 * rng.normal(size=(m, 2))
    length = 1.0 / np.sqrt(m)  # of an edge at which attraction and repulsion are in balance
    for step in range(N_ROUNDS):
        others = np.arange(m) if m <= MAX_REPELLING else rng.choice(m, MAX_REPELLING, replace=False)
        between = xy[:, None] - xy[others]
        square = np.maximum((between**2).sum(axis=2), 1e-6)
        move = (between * (length**2 / square)[..., None]).sum(axis=1) * (m / len(others))
        along = xy[edges[:, 0]] - xy[edges[:, 1]]
        force = along * (pull * np.linalg.norm(along, axis=1) / length)[:, None]
        np.subtract.at(move, edges[:, 0], force)
        np.add.at(move, edges[:, 1], force)
        move -= 0.5 * xy  # keeps unconnected nodes from flying off
        size = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-12)
        xy += move / size * np.minimum(size, 0.1 * (1 - step / N_ROUNDS))
    return np.asarray(xy - xy.mean(axis=0))


def spread_samples(clustering: Clustering) -> NDArray[np.float64]:
    """Return coordinates of samples around the nodes of the topo-graph: the peak in the middle, the lowest outside."""
    centres = layout_graph(clustering.topo_graph, clustering.edge_cut.kept)
    labels, n_samples = clustering.local_labels, len(clustering.labels)
    order = np.lexsort((-clustering.log_intensity, labels))
    starts = starts_of(np.bincount(labels, minlength=len(centres)))
    rank = inverse_order(order) - starts[labels]
    span = np.ptp(centres, axis=0).max() or 1.0
    radius = 0.3 * span * np.sqrt(rank / n_samples)
    angle = np.pi * (3 - np.sqrt(5)) * rank  # the golden angle fills a disc evenly
    return np.asarray(centres[labels] + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
