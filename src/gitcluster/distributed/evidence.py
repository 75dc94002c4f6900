"""Stage 5: local clusters are merged here, as on one machine; what has to be counted on samples is asked of cells."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster.distributed.exchange import Around, Ground, Region
from gitcluster.distributed.partition import Cell
from gitcluster.distributed.stages import Climbed, Roots, Stages, build_stages
from gitcluster.distributed.study import Asked, Study
from gitcluster.distributed.tasks import call_each, fetch, merge_tree, share
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut
from gitcluster.hierarchy import Hierarchy
from gitcluster.prior.proportions import equal_shares
from gitcluster.selection import Selection, select
from gitcluster.selection.candidates import hierarchy_of
from gitcluster.selection.views import Crossing, View, add_crossings, count_crossings, highest_peaks, leak_among


class Merged(NamedTuple):
    """What stage 5 made of the views."""

    stages: Stages
    chosen: int
    """The view that was chosen, by its place in the stages."""
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: Selection | None = None


def merge_stages(ground: Ground, stages: Stages, asked: Asked, study: Study | None) -> Merged:
    """Stage 5."""
    recipe, prior = stages.plan.recipe, asked.prior
    if study is None:
        shares = equal_shares(asked.n_clusters or 1) if prior is None else prior
        return Merged(stages, 0, cut_edges(stages.views[0].topo_graph, proportions=shares, leftover=recipe.leftover))
    evidence = CellEvidence(ground, stages, study)
    if study.selection is not None:  # all samples were studied
        selection, place = study.selection, 0
        chosen = selection.chosen._replace(view=0)
    else:
        add_finest = None if asked.fixed else evidence.add_finest
        selection = select(
            evidence.views, evidence, n_clusters=asked.n_clusters, prior=prior, dimension=study.dimension,
            add_finest=add_finest,
        )  # fmt: skip
        chosen, place = selection.chosen, selection.chosen.view
    view = evidence.views[chosen.view]
    cut = describe_cut(view.topo_graph, chosen.labels, chosen.merged, prior)
    selection = selection._replace(representations=study.representations)
    return Merged(evidence.stages, place, cut, hierarchy_of(view, chosen), selection)


class CellEvidence:
    """Evidence from samples that are in cells on many machines."""

    def __init__(self, ground: Ground, stages: Stages, study: Study) -> None:
        self.ground, self.stages, self.study = ground, stages, study
        self.views: list[View] = [self._view(s) for s in range(len(stages.views))]
        self.compared = self._look_up()

    def _view(self, s: int) -> View:
        plan, (graph, peak_intensity, _) = self.stages.plan, self.stages.views[s]
        return View(plan.sizes[s], plan.n_samples, graph, peak_intensity, representation=self.study.way.name)

    def _look_up(self) -> Array:
        """Ids of the peaks of the studied samples, one column per view of all samples."""
        if self.study.selection is not None:
            return np.empty((0, 0), np.int64)
        rows = np.sort(self.study.picked.rows)
        found = fetch(call_each(find_studied, self.ground.cells, self.stages.roots, share(rows)))
        order, roots = (np.concatenate(columns) for columns in zip(*found, strict=True))
        compared = np.empty_like(roots)
        compared[order] = roots
        return np.asarray(compared[np.searchsorted(rows, self.study.picked.rows)])

    def add_finest(self) -> None:
        """Add one more view, with the most peaks there are."""
        plan = self.stages.plan
        self.stages = build_stages(self.ground, plan._replace(sizes=[*plan.sizes, min(2, plan.n_samples - 1)]))
        self.views.append(self._view(len(plan.sizes)))
        self.compared = self._look_up()

    def rows(self, i: int) -> Array:
        """Local cluster, in a view, of every studied sample."""
        return self.stages.views[i].numbering.find(self.compared[:, i])

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """What crosses between the clusters of a view, for views with labels."""
        asked = []
        for s, labels in cuts:
            numbering = self.stages.views[s].numbering
            by_id = labels[numbering.local].astype(np.int16)
            asked.append(Cut(s, numbering.ids, by_id, highest_peaks(self.views[s], labels)))
        k = leak_among(self.stages.plan.n_samples, self.stages.plan.n_found)
        around = self.ground.exchange(self.stages.roots)
        tasks = call_each(count_leaks, self.ground.regions, self.stages.climbed, around, share(tuple(asked)), k)
        return list(fetch([merge_tree(add_crossings, tasks)])[0])


def find_studied(cell: Cell, roots: Roots, rows: Array) -> tuple[Array, Array]:
    """Which of the studied rows, ascending, are in a cell, and the ids of their peaks."""
    place = np.minimum(np.searchsorted(rows, cell.rows), len(rows) - 1)
    own = np.flatnonzero(rows[place] == cell.rows)
    return place[own], roots.ids[own]


class Cut(NamedTuple):
    """Clusters of one view."""

    view: int
    ids: NDArray[np.int64]
    """(m,) ids of the peaks, ascending."""
    labels: NDArray[np.int16]
    """(m,) clusters of the peaks."""
    peaks: NDArray[np.float64]
    """(c,) log intensity of the highest peak of every cluster."""


def count_leaks(region: Region, climbed: Climbed, around: Around, cuts: tuple[Cut, ...], k: int) -> list[Crossing]:
    """For every cut, what crosses between its clusters."""
    root_ids = around.with_halo()[0]
    views = {cut.view: cut.ids for cut in cuts}
    numbers = {s: np.searchsorted(ids, root_ids[:, s]) for s, ids in views.items()}
    levels = {s: np.ascontiguousarray(climbed.log_intensity[:, s]) for s in views}
    found: dict[int, Crossing] = {}
    for s in views:
        asked = {place: (cut.labels, cut.peaks) for place, cut in enumerate(cuts) if cut.view == s}
        counted = count_crossings(region.graph.indices, k, numbers[s], levels[s], list(asked.values()), n_jobs=1)
        found.update(zip(asked, counted, strict=True))
    return [found[place] for place in range(len(cuts))]
