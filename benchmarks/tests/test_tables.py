"""The tables with columns of several kinds, their columns of noise, and what peers get of them."""

import numpy as np
import pytest

from benchmarks.experiments.tables import METHODS, parts_of, run_method
from benchmarks.suite.mixed_tables import NOISE, add_noise, mixed_tables

DRAWN = ["customers", "patients", "sensors", "survey", "roads"]


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_tables_are_the_same_in_every_run(name):
    (one,), (other,) = mixed_tables([name]), mixed_tables([name])
    assert one.frame.equals(other.frame)
    np.testing.assert_array_equal(one.y, other.y)
    assert len(np.unique(one.y)) > 1


def test_noise_is_added_in_turn():
    (table,) = mixed_tables(["roads"])
    noisy = add_noise(table, "all", 10)
    assert noisy.iloc[:, : table.frame.shape[1]].equals(table.frame)
    assert noisy.shape[1] == table.frame.shape[1] + 10
    assert set(noisy["extra 0"]) == {"yes", "no"}
    assert noisy[f"extra {len(NOISE) - 1}"].is_monotonic_increasing


def test_peers_get_numbers_and_categories():
    (table,) = mixed_tables(["patients"])
    numbers, ranks, indicators = parts_of(table.frame)
    assert numbers.shape == (900, 3)
    np.testing.assert_allclose(numbers.std(axis=0), 1.0)
    assert ranks.shape == (900, 5)
    assert (ranks == -1).sum() == table.frame.iloc[:, 3:].isna().to_numpy().sum()
    assert indicators.shape[1] == 4 * 2 + 4


@pytest.mark.parametrize("method", ["GIT", "GIT numbers", "one-hot + k-means"])
def test_a_line_has_what_the_table_of_scores_needs(method):
    (table,) = mixed_tables(["roads"])
    line = run_method(table, method)
    assert method in METHODS
    assert line["ari"] > 0.3
    assert line["clusters"] == line["classes"] == 2
