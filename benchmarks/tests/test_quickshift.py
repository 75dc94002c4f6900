"""Quickshift++ against its definition."""

from collections import deque

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from benchmarks.methods.quickshift import QuickshiftPP
from benchmarks.tests.conftest import blobs


def component(mutual, inside, start):
    """Samples that paths over mutual neighbours reach from ``start`` without leaving ``inside``."""
    reached, queue = {start}, deque([start])
    while queue:
        i = queue.popleft()
        new = set(np.flatnonzero(mutual[i] & inside)) - reached
        reached |= new
        queue.extend(new)
    return reached


@pytest.mark.parametrize(("seed", "k", "beta"), [(0, 5, 0.3), (1, 8, 0.5), (2, 4, 0.8), (3, 6, 0.0)])
def test_quickshift_by_definition(seed, k, beta):
    X = blobs(seed, n=15, gap=2.5)
    distances, n = squareform(pdist(X)), len(X)
    near = np.argsort(distances, axis=1)[:, :k]
    assert (near[:, 0] == np.arange(n)).all()  # the sample is its own first neighbour
    radii = distances[np.arange(n), near[:, -1]]
    knows = np.zeros((n, n), dtype=bool)
    knows[np.arange(n)[:, None], near] = True
    modal = np.full(n, -1)
    for i in np.argsort(radii):
        inside = radii**-2 >= (1 - beta) * radii[i] ** -2 * (1 - 1e-12)
        found = list(component(knows & knows.T, inside, i))
        if not inside.all() and (modal[found] < 0).all():
            modal[found] = modal.max() + 1
    labels = modal.copy()
    for i in np.argsort(radii):
        if labels[i] < 0:
            denser = np.flatnonzero(radii < radii[i])
            labels[i] = labels[denser[distances[i, denser].argmin()]]

    model = QuickshiftPP(k, beta).fit(X)
    np.testing.assert_allclose(model.radii_, radii)
    assert model.modal_sets_.tolist() == modal.tolist()
    assert modal.max() > 0
    assert model.labels_.tolist() == labels.tolist()


def test_quickshift_without_modal_sets_is_one_cluster():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert QuickshiftPP(2, 0.9).fit_predict(corners).tolist() == [0, 0, 0, 0]


def test_quickshift_far_from_any_denser_sample():
    X = np.concatenate([blobs(), [[1e6, 0.0], [1e6, 1.0], [1e6, 3.0]]])
    model = QuickshiftPP(3, 0.95).fit(X)
    assert model.labels_.min() == 0
    assert model.labels_.max() == model.modal_sets_.max()
