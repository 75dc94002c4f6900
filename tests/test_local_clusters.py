"""Stage 3: the steepest way uphill, by hand and for random neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcluster import Neighbors, estimate_intensity, find_local_clusters, find_neighbors

SEEDS = st.integers(0, 10_000)


def on_a_line(places, heights, k=None, **options):
    """Local clusters of samples on a line with given intensities."""
    near = find_neighbors(np.array(places, dtype=float)[:, None], n_neighbors=k or len(places) - 1)
    return find_local_clusters(near, np.log(heights), **options)


def lattice(seed, n_samples=40):
    """Samples with many links and duplicates, their neighbours and intensities."""
    points = np.random.default_rng(seed).integers(0, 5, (n_samples, 2)).astype(float)
    near = find_neighbors(points, n_neighbors=6)
    return near, estimate_intensity(near)


def test_the_steepest_neighbour_is_the_parent_not_the_nearest_or_the_highest():
    assert on_a_line([0, 1, 3], [1, 2, 3.9]).parent.tolist() == [1, 2, 2]  # slopes 1 and 0.97
    assert on_a_line([0, 1, 3], [1, 2, 6]).parent.tolist() == [2, 2, 2]  # slopes 1 and 1.67
    assert on_a_line([0, 1, 3], [1, 2, 6], n_neighbors=1).parent.tolist() == [1, 1, 2]  # only the nearest is asked


def test_local_clusters_are_numbered_by_their_peaks():
    local = on_a_line([0, 1, 2, 10, 11, 12], [2, 3, 2, 4, 5, 4], k=2)
    assert local.peaks.tolist() == [4, 1]
    assert local.labels.tolist() == [1, 1, 1, 0, 0, 0]
    assert local.sizes.tolist() == [3, 3]


def test_equal_slopes_go_to_the_lower_index():
    assert on_a_line([-1, 0, 1], [2, 1, 2]).parent.tolist() == [0, 0, 0]
    assert on_a_line([1, 0, -1], [2, 1, 2], k=1).parent.tolist() == [0, 0, 2]


def test_a_duplicate_is_the_steepest_of_all():
    near = find_neighbors(np.array([[0.0], [0.1], [0.0]]), n_neighbors=2)
    log_f = np.log([1.0, 100.0, 1.0])
    assert find_local_clusters(near, log_f).parent.tolist() == [1, 1, 0]
    assert find_local_clusters(near, log_f, strict=True).parent.tolist() == [1, 1, 1]


def test_a_plateau_is_one_local_cluster_unless_parents_must_be_higher():
    heights = np.ones(8)
    assert on_a_line(range(8), heights, k=2).peaks.tolist() == [0]
    assert on_a_line(range(8), heights, k=2, strict=True).peaks.tolist() == list(range(8))


@given(SEEDS, st.booleans())
def test_parents_are_higher_and_end_at_peaks(seed, strict):
    near, log_f = lattice(seed)
    local = find_local_clusters(near, log_f, strict=strict)
    rank = np.empty(len(log_f), int)
    rank[np.lexsort((np.arange(len(log_f)), -log_f))] = np.arange(len(log_f))
    climbs = local.parent != np.arange(len(log_f))
    assert (rank[local.parent] < rank)[climbs].all()
    if strict:
        assert (log_f[local.parent] > log_f)[climbs].all()
    assert all(local.parent[x] in near.indices[x] for x in np.flatnonzero(climbs))
    top = local.parent
    for _ in log_f:
        top = local.parent[top]
    np.testing.assert_array_equal(top, local.peaks[local.labels])
    assert (np.diff(rank[local.peaks]) > 0).all()
    np.testing.assert_array_equal(local.sizes, np.bincount(local.labels))


@given(SEEDS)
def test_local_clusters_grow_with_the_super_level_sets_as_the_recursion_says(seed):
    near, log_f = lattice(seed)
    local = find_local_clusters(near, log_f)
    grown = {}  # C_i(t) by the peak
    for x in np.lexsort((np.arange(len(log_f)), -log_f)):  # the threshold falls
        born = local.parent[x] == x
        home = [members for members in grown.values() if local.parent[x] in members]
        assert len(home) == (0 if born else 1)
        if born:
            grown[x] = {x}
        else:
            home[0].add(x)
    assert grown == {peak: set(np.flatnonzero(local.labels == i)) for i, peak in enumerate(local.peaks)}


@given(SEEDS)
def test_no_local_cluster_holds_two_groups(seed):
    near, log_f = lattice(seed)
    groups = np.random.default_rng(seed).integers(-3, 3, len(log_f)).clip(-1)
    free, parted = (find_local_clusters(near, log_f, groups=g) for g in (None, groups))
    for label in range(len(parted.peaks)):
        assert len(set(groups[parted.labels == label]) - {-1}) <= 1
    mixed = [len(set(groups[free.labels == label]) - {-1}) > 1 for label in range(len(free.peaks))]
    for x, (before, after) in enumerate(zip(free.parent, parted.parent, strict=True)):
        assert after == (x if mixed[free.labels[x]] and groups[x] >= 0 else before)


def test_sizes_count_weights_in_thousandths_of_their_mean():
    weights = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 4.0])
    local = on_a_line([0, 1, 2, 10, 11, 12], [2, 3, 2, 4, 5, 4], k=2, weights=weights)
    assert local.sizes.tolist() == [3000, 3000]
    tiny = on_a_line([0, 1, 10, 11], [3, 2, 5, 4], k=1, weights=np.array([0.0, 0.0, 1.0, 1.0]))
    assert tiny.sizes.tolist() == [4000, 1]  # no size is 0


def test_single_precision_rounds_slopes_more_coarsely():
    near = Neighbors(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, 1.0 + 1e-5], [1.0, 2.0], [1.0, 2.0]]))
    heights = np.log([1.0, 2.0, 2.0 + 2e-5])
    single = near._replace(distances=near.distances.astype(np.float32))
    assert find_local_clusters(near, heights).parent[0] == 2
    assert find_local_clusters(single, heights).parent[0] == 1  # a tie, within the precision


def test_more_neighbours_than_were_searched_are_refused():
    with pytest.raises(ValueError, match="n_neighbors"):
        on_a_line([0, 1, 3], [1, 2, 6], n_neighbors=3)
