"""The suite: sets are the same in every run, and simulated tables and images are as hard as public ones."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from benchmarks.suite.datasets import generated_datasets, make_noisy_moons, make_scaled_circles
from benchmarks.suite.designs import KINDS
from benchmarks.suite.kinds import labelled_sets, structureless_sets
from gitcluster import scale_features

OLD = ("data-like", "mixtures")
"""Families whose difficulty was not chosen."""
NEW = [family for kind in ("tables", "images") for family in KINDS[kind] if family not in OLD]


@pytest.fixture(scope="module")
def sets_by_name():
    return {data.name: data for data in generated_datasets(families=NEW)}


def test_names_and_families_are_unique():
    families = [family for kind in KINDS.values() for family in kind]
    names = [name for kind in KINDS.values() for designs in kind.values() for name, _, _ in designs]
    assert len(set(families)) == len(families)
    assert len(set(names)) == len(names) == 330


def test_sets_are_the_same_in_every_run_and_differ_between_draws(sets_by_name):
    some = ("small-tables", "embeddings")
    for again, other in zip(generated_datasets(0, some), generated_datasets(1, some), strict=True):
        np.testing.assert_array_equal(again.X, sets_by_name[again.name].X)
        np.testing.assert_array_equal(again.y, sets_by_name[again.name].y)
        assert other.name == f"{again.name}/1"
        assert other.X.shape != again.X.shape or not np.array_equal(other.X, again.X)


def test_the_curves_of_the_paper_have_its_points():
    """The sum of all absolute values, and one value."""
    moons, circles = make_noisy_moons(0.2, random_state=2021)[0], make_scaled_circles(50)[0]
    np.testing.assert_allclose([np.abs(moons).sum(), moons[7, 0]], [5977.980698774102, 2.014837795353042], rtol=1e-9)
    np.testing.assert_allclose([np.abs(circles).sum(), circles[7, 0]], [302478.0616008121, 1.1640708172395753])


def test_sets_are_whole(sets_by_name):
    for data in sets_by_name.values():
        assert np.isfinite(data.X).all()
        assert 60 <= len(data.X) <= 2500
        assert (np.unique(data.y) == np.arange(data.y.max() + 1)).all()
        assert data.y.max() >= 1


@pytest.mark.parametrize("family", NEW)
def test_classes_touch_as_those_of_public_sets(sets_by_name, family):
    """On public tables and images up to 15,000 samples the share is .49 to .99, with a mean of .84."""
    shares = []
    for X, y in ((data.X, data.y) for data in sets_by_name.values() if data.family == family):
        near = NearestNeighbors(n_neighbors=10).fit(scale_features(X)).kneighbors(return_distance=False)
        shares.append(np.mean(y[near] == y[:, None]))
    assert 0.78 < np.mean(shares) < 0.97
    assert min(shares) > 0.49


def test_what_a_family_is_named_for_is_there(sets_by_name):
    def of(family):
        return [data for data in sets_by_name.values() if data.family == family]

    assert all((data.X.round() == data.X).all() or "rounded-4" in data.name for data in of("whole-numbers"))
    assert np.mean([1 - len(np.unique(data.X, axis=0)) / len(data.X) for data in of("duplicates")]) > 0.3
    assert all(np.bincount(data.y).min() <= 15 for data in of("far-classes"))
    assert all(np.bincount(data.y).min() > 15 for data in of("far-strays"))
    for data in of("dense-beside-sparse"):
        spread = [data.X[data.y == i].std(axis=0) for i in range(data.y.max() + 1)]
        assert all(np.median(other / spread[0]) > 1.3 for other in spread[1:])


def test_sets_by_kind_are_the_same_in_every_run_and_have_several_classes(data):
    sets = [*labelled_sets(), *structureless_sets()]
    assert len({(some.kind, some.name) for some in sets}) == len(sets)
    for some in sets[4::9]:
        (X, y), (again, _) = some.make(), some.make()
        assert len(X) == len(y)
        assert np.array_equal(X, again)
        assert (len(np.unique(y)) == 1) == (some in sets[-85:])
