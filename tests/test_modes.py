"""Whether numbers gather in one place or in several."""

import numpy as np
import pytest

from gitcluster.preprocessing.dependence import is_multimodal, measure_dip

ONE_MODE = {
    "even": lambda rng, n: rng.uniform(size=n),
    "whole": lambda rng, n: rng.integers(0, 100, n),
    "grades": lambda rng, n: rng.integers(1, 7, n),
    "bell": lambda rng, n: rng.normal(size=n),
    "counts": lambda rng, n: rng.poisson(4, n),
    "skewed": lambda rng, n: np.exp(2 * rng.normal(size=n)),
    "many zeros": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
}


@pytest.mark.parametrize("name", ONE_MODE)
@pytest.mark.parametrize("n_rows", [100, 400, 6000])
def test_numbers_in_one_place_hardly_ever_have_modes(name, n_rows):
    rng = np.random.default_rng(0)
    draws = [is_multimodal(ONE_MODE[name](rng, n_rows).astype(float)) for _ in range(60)]
    assert np.mean(draws) <= 0.05


@pytest.mark.parametrize(
    ("n_rows", "distance", "share"), [(150, 6, 0.5), (300, 5, 0.5), (1000, 5, 0.2), (5000, 3, 0.5)]
)
def test_numbers_in_two_places_have_modes(n_rows, distance, share):
    rng = np.random.default_rng(0)
    draws = [is_multimodal(rng.normal(size=n_rows) + distance * (rng.random(n_rows) < share)) for _ in range(40)]
    assert np.mean(draws) > 0.9


def test_neither_order_nor_unit_nor_sign_changes_the_dip():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=300), 4 + rng.integers(0, 3, 200)])
    dip = measure_dip(values)
    for other in (rng.permutation(values), -values, 1000 * values, values + 64):
        assert measure_dip(other) == pytest.approx(dip, rel=1e-9)


def test_the_dip_by_its_definition():
    """The least height, over all modes, above a convex line before the mode and below a concave one after it."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = np.sort(rng.choice(40, rng.integers(4, 12), replace=False)).astype(float)
        between = (values[1:] + values[:-1]) / 2
        ends = np.concatenate([[2 * values[0] - between[0]], between, [2 * values[-1] - between[-1]]])
        shares = np.arange(len(ends)) / (len(ends) - 1)
        assert measure_dip(values) == pytest.approx(min(_height(ends, shares, m) for m in range(len(ends))) / 2)


def _height(ends, shares, mode):
    def chords(i, places, sign):
        """The extreme line over pairs of places around i."""
        lines = [
            shares[a] + (shares[b] - shares[a]) * (ends[i] - ends[a]) / (ends[b] - ends[a])
            for a in places for b in places if a <= i <= b and a < b
        ]  # fmt: skip
        return max((sign * (shares[i] - line) for line in lines), default=0.0)

    before, after = range(mode + 1), range(mode, len(ends))
    return max(max(chords(i, before, 1) for i in before), max(chords(i, after, -1) for i in after))
