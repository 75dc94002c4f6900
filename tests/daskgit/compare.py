"""Compare DaskGIT with GIT: all results must be equal to the last bit."""

import dask
import dask.array as da
import numpy as np

from gitcluster import GIT
from gitcluster.distributed import DaskGIT

COLUMNS = ("labels_", "local_labels_", "log_intensity_")
OTHERS = ("peaks_", "proportions_", "hierarchy_", "representation_", "n_neighbors_", "n_connected_components_")
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
    pairs = {name: (values, getattr(expected, name)) for name, values in columns_of(model).items()}
    for name in OTHERS:
        assert hasattr(model, name) == hasattr(expected, name), name
        pairs[name] = getattr(model, name, 0), getattr(expected, name, 0)
    for name in TABLES:
        ours, theirs = getattr(model, name, {}), getattr(expected, name, {})
        assert list(ours) == list(theirs), name
        pairs |= {f"{name} {column}": (ours[column], theirs[column]) for column in ours}
    for name in ("topo_graph_", "edge_cut_"):
        fields = zip(getattr(model, name)._fields, getattr(model, name), getattr(expected, name), strict=True)
        pairs |= {f"{name} {field}": (ours, theirs) for field, ours, theirs in fields}
    for name, (ours, theirs) in pairs.items():
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def check(X, *, chunks=3, cell_size="auto", **options):
    """Fit DaskGIT, compare it with GIT, and return it."""
    model = fit(X, chunks=chunks, cell_size=cell_size, **options)
    assert_same(model, on_one_machine(X, **options))
    return model
