"""DaskGIT beside GIT: all that both find must be equal to the last bit."""

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
    """The GIT that DaskGIT has to equal."""
    return GIT(search="exact", **options).fit(X)


def chunked(X, chunks=3):
    """A Dask array in ``chunks`` parts, or in chunks of the sizes given."""
    sizes = chunks if isinstance(chunks, tuple) else max(1, -(-len(X) // chunks))
    return da.from_array(X, chunks=(sizes, -1))


def fit(X, *, chunks=3, **options):
    """A DaskGIT of an array or of any Dask collection."""
    return DaskGIT(**options).fit(chunked(X, chunks) if isinstance(X, np.ndarray) else X)


def columns_of(model):
    """Everything about the samples, as arrays."""
    found = dask.compute(*(getattr(model, name) for name in COLUMNS))
    return dict(zip(COLUMNS, found, strict=True))


def assert_same(found, expected):
    """All attributes of a DaskGIT and a GIT, or of two DaskGITs, are equal."""
    ours, theirs = columns_of(found), columns_of(expected)
    for name in COLUMNS:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
        assert ours[name].dtype == theirs[name].dtype or ours[name].dtype.kind == "i", name
    for name in NUMBERS:
        assert getattr(found, name) == getattr(expected, name), name
    for name in ARRAYS:
        assert hasattr(found, name) == hasattr(expected, name), name
        np.testing.assert_array_equal(getattr(found, name, 0), getattr(expected, name, 0), err_msg=name)
    for name in TABLES:
        ours, theirs = getattr(found, name, {}), getattr(expected, name, {})
        assert list(ours) == list(theirs), name
        for column in ours:
            np.testing.assert_array_equal(ours[column], theirs[column], err_msg=f"{name}, {column}")
    for name in ("topo_graph_", "edge_cut_"):
        for ours, theirs in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


def check(X, *, chunks=3, cell_size="auto", **options):
    """A fitted DaskGIT that equals GIT."""
    model = fit(X, chunks=chunks, cell_size=cell_size, **options)
    assert_same(model, on_one_machine(X, **options))
    return model
