"""The suite: sets are the same in every run, and simulated tables and images are as hard as public ones."""

import numpy as np
import pytest

from benchmarks.experiments.robustness import noisy_moons, scaled_circles
from benchmarks.suite.datasets import generated_datasets
from benchmarks.suite.designs import KINDS
from benchmarks.suite.kinds import labelled_sets, structureless_sets


@pytest.fixture(scope="module")
def sets_by_name():
    return {data.name: data for data in generated_datasets(families=["small-tables", "embeddings", "shapes", "tiny"])}


def test_names_and_families_are_unique():
    families = [family for kind in KINDS.values() for family in kind]
    names = [name for kind in KINDS.values() for designs in kind.values() for name, _, _ in designs]
    assert len(set(families)) == len(families)
    assert len(set(names)) == len(names)


def test_sets_are_the_same_in_every_run_and_differ_between_draws(sets_by_name):
    some = ("small-tables", "embeddings")
    for again, other in zip(generated_datasets(0, some), generated_datasets(1, some), strict=True):
        np.testing.assert_array_equal(again.X, sets_by_name[again.name].X)
        np.testing.assert_array_equal(again.y, sets_by_name[again.name].y)
        assert other.name == f"{again.name}/1"
        assert other.X.shape != again.X.shape or not np.array_equal(other.X, again.X)


def test_the_curves_of_the_paper_have_its_points():
    """The sum of all absolute values, and one value."""
    moons, circles = noisy_moons(0.2, 2021)[0], scaled_circles(50, 2020)[0]
    np.testing.assert_allclose([np.abs(moons).sum(), moons[7, 0]], [5977.980698774102, 2.014837795353042], rtol=1e-9)
    np.testing.assert_allclose([np.abs(circles).sum(), circles[7, 0]], [302478.0616008121, 1.1640708172395753])


def test_sets_are_whole(sets_by_name):
    for data in sets_by_name.values():
        assert np.isfinite(data.X).all()
        assert (np.unique(data.y) == np.arange(data.y.max() + 1)).all()
        assert data.y.max() >= 1


def test_sets_by_kind_are_the_same_in_every_run_and_have_several_classes(data):
    sets = [*labelled_sets(), *structureless_sets()]
    assert len({(some.kind, some.name) for some in sets}) == len(sets)
    for some in sets[4::9]:
        (X, y), (again, _) = some.make(), some.make()
        assert len(X) == len(y)
        assert np.array_equal(X, again)
        assert (len(np.unique(y)) == 1) == (some in sets[-85:])
