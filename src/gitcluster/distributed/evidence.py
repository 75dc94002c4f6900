"""Stage 5: local clusters are merged here, as on one machine; what has to be counted on samples is asked of cells."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.distributed.exchange import Around, Ground, Region
from gitcluster.distributed.stages import Climbed, Stages, build_stages, count_roots, merge_counts
from gitcluster.distributed.tasks import call_each, fetch, merge_tree, share
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut
from gitcluster.hierarchy import Hierarchy, build_hierarchy
from gitcluster.prior.proportions import equal_shares
from gitcluster.selection import Overlap, Selection, View, count_crossing, highest_peaks, leak_among, select


class Merged(NamedTuple):
    """What stage 5 made of the views."""

    stages: Stages
    chosen: int
    """The view that was chosen."""
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: Selection | None = None


def merge_stages(
    ground: Ground, stages: Stages, n_clusters: int | None, prior: NDArray[np.float64] | None, *, more: bool
) -> Merged:
    """Stage 5. With ``more``, a view with more local clusters is added where all have fewer than ``n_clusters``."""
    recipe = stages.plan.recipe
    if not recipe.has_hierarchy:
        shares = equal_shares(n_clusters or 1) if prior is None else prior
        return Merged(stages, 0, cut_edges(stages.views[0].topo_graph, proportions=shares, leftover=recipe.leftover))
    evidence = CellEvidence(ground, stages)
    add_finest = evidence.add_finest if more else None
    selection = select(evidence.views, evidence, n_clusters=n_clusters, prior=prior, add_finest=add_finest)
    chosen = selection.chosen
    view = evidence.views[chosen.view]
    cut = describe_cut(view.topo_graph, chosen.labels, chosen.merged, prior)
    return Merged(evidence.stages, chosen.view, cut, view.hierarchy, selection)


class CellEvidence:
    """Evidence from samples that are in cells on many machines."""

    def __init__(self, ground: Ground, stages: Stages) -> None:
        self.ground, self.stages = ground, stages
        self.views: list[View] = [self._view(s) for s in range(len(stages.views))]
        self.shared = count_all_shared(stages)

    def _view(self, s: int) -> View:
        plan, (graph, peak_intensity, _) = self.stages.plan, self.stages.views[s]
        return View(plan.sizes[s], plan.n_samples, graph, build_hierarchy(graph), peak_intensity)

    def add_finest(self) -> None:
        """Add one more view, with the most peaks there are."""
        plan = self.stages.plan
        self.stages = build_stages(self.ground, plan._replace(sizes=[*plan.sizes, min(2, plan.n_samples - 1)]))
        self.shared = count_all_shared(self.stages)
        self.views.append(self._view(len(plan.sizes)))

    def overlap(self, i: int, j: int) -> Overlap:
        """The samples that local clusters of two views share."""
        return self.shared[i, j]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[NDArray[np.int64]]:
        """What crosses between the clusters of a view, for views with labels."""
        asked = []
        for s, labels in cuts:
            numbering = self.stages.views[s].numbering
            by_id = labels[numbering.local].astype(np.int16)
            asked.append(Cut(s, numbering.ids, by_id, highest_peaks(self.views[s], labels)))
        k = leak_among(self.stages.plan.n_samples, self.stages.plan.n_found)
        around = self.ground.exchange(self.stages.roots)
        tasks = call_each(count_leaks, self.ground.regions, self.stages.climbed, around, share(tuple(asked)), k)
        return list(fetch([merge_tree(sum, tasks)])[0])


def count_all_shared(stages: Stages) -> dict[tuple[int, int], Overlap]:
    """For every two views, local clusters of the one and the other, and the number of samples that have both."""
    pairs = list(combinations(range(len(stages.views)), 2))
    if not pairs:
        return {}
    (counted,) = fetch([merge_tree(merge_counts, call_each(count_roots, stages.roots, 2))])
    shared = {}
    for (i, j), (ids, counts) in zip(pairs, counted, strict=True):
        first, second = (stages.views[s].numbering.find(ids[:, column]) for column, s in enumerate((i, j)))
        order = np.lexsort((second, first))
        shared[i, j] = first[order], second[order], counts[order]
    return shared


class Cut(NamedTuple):
    """Clusters of one view."""

    view: int
    ids: NDArray[np.int64]
    """(m,) ids of the peaks, ascending."""
    labels: NDArray[np.int16]
    """(m,) clusters of the peaks."""
    peaks: NDArray[np.float64]
    """(c,) log intensity of the highest peak of every cluster."""


def count_leaks(
    region: Region, climbed: Climbed, around: Around, cuts: tuple[Cut, ...], k: int
) -> list[NDArray[np.int64]]:
    """For every cut, what crosses between its clusters."""
    root_ids = around.with_halo()[0]
    views = {cut.view: cut.ids for cut in cuts}
    numbers = {s: np.searchsorted(ids, root_ids[:, s]) for s, ids in views.items()}
    levels = {s: np.ascontiguousarray(climbed.log_intensity[:, s]) for s in views}
    return [
        count_crossing(
            region.graph.indices, k, cut.labels[numbers[cut.view]], levels[cut.view], peaks=cut.peaks, n_jobs=1
        )
        for cut in cuts
    ]
