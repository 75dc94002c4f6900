"""Compare DaskGIT with GIT: all results must be equal to the last bit."""

import dask
import dask.array as da
import numpy as np

from gitcluster import GIT
from gitcluster.distributed import DaskGIT

COLUMNS = ("labels_", "local_labels_", "log_intensity_", "parents_", "outlier_scores_")
ARRAYS = ("peaks_", "proportions_", "hierarchy_")
NUMBERS = ("representation_", "n_clusters_", "n_neighbors_", "n_connected_components_")
TABLES = ("selection_", "n_clusters_scores_", "representations_")


def on_one_machine(X, **options):
    """Return the GIT that DaskGIT has to equal."""
    return GIT(search="exact", **options).fit(X)


def chunked(X, chunks=3):
    """Return a Dask array of ``chunks`` parts, or with chunks of the given sizes."""
    sizes = chunks if isinstance(chunks, tuple) else max(1, -(-len(X) // chunks))
    return da.from_array(X, chunks=(sizes, -1))


def fit(X, *, chunks=3, **options):
    """Fit DaskGIT to an array or a Dask collection."""
    return DaskGIT(**options).fit(chunked(X, chunks) if isinstance(X, np.ndarray) else X)


def columns_of(model):
    """Return all columns of the samples as arrays."""
    return dict(zip(COLUMNS, dask.compute(*(getattr(model, name) for name in COLUMNS)), strict=True))


def assert_same(model, expected):
    """Assert that all attributes of two models are equal."""
    ours, theirs = columns_of(model), columns_of(expected)
    for name in COLUMNS:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
        assert ours[name].dtype == theirs[name].dtype or ours[name].dtype.kind == "i", name
    for name in NUMBERS:
        assert getattr(model, name) == getattr(expected, name), name
    for name in ARRAYS:
        assert hasattr(model, name) == hasattr(expected, name), name
        np.testing.assert_array_equal(getattr(model, name, 0), getattr(expected, name, 0), err_msg=name)
    for name in TABLES:
        ours, theirs = getattr(model, name, {}), getattr(expected, name, {})
        assert list(ours) == list(theirs), name
        for column in ours:
            np.testing.assert_array_equal(ours[column], theirs[column], err_msg=f"{name}, {column}")
    for name in ("topo_graph_", "edge_cut_"):
        for ours, theirs in zip(getattr(model, name), getattr(expected, name), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


def check(X, *, chunks=3, cell_size="auto", **options):
    """Fit DaskGIT, compare it with GIT, and return it."""
    model = fit(X, chunks=chunks, cell_size=cell_size, **options)
    assert_same(model, on_one_machine(X, **options))
    return model
