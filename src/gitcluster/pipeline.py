"""GIT from top to bottom: the five stages in order."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array, inverse_order
from gitcluster._support.memory import give_back
from gitcluster._support.validation import check_choice, check_n_jobs, check_n_neighbors
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut
from gitcluster.fitted.clustering import Clustering, Reference
from gitcluster.fitted.outliers import check_noise, highest_in, mark_noise, noise_threshold, score_outliers
from gitcluster.fitted.prediction import describe_samples
from gitcluster.hierarchy import Hierarchy
from gitcluster.hierarchy.constrained import Ties, tie_local_clusters
from gitcluster.inputs import MOST_STUDIED, Input, check_input
from gitcluster.inputs.preparing import Ready, prepare_samples
from gitcluster.inputs.representations import Representation
from gitcluster.intensity import distance_unit, find_components, intensity_in_units
from gitcluster.kernels import limit_threads, run_threads
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import SEARCHES, Neighbors
from gitcluster.prior.constraints import Constraints
from gitcluster.prior.proportions import equal_shares, resolve_proportions
from gitcluster.recipes import Recipe, find_recipe
from gitcluster.selection import Selection, select
from gitcluster.selection.candidates import hierarchy_of
from gitcluster.selection.numbers import Table, intrinsic_dimension
from gitcluster.selection.views import SampleEvidence, View, find_merges, neighborhood_sizes
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph

Report = Callable[[str], None]
"""Told the name of every stage when it begins."""
N_REPORTS = 4
"""Stages that are reported."""


class Stages(NamedTuple):
    """What stages 2 to 4 found with one number of neighbours."""

    n_neighbors: int
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    units: NDArray[np.float64]
    """What the intensity divides distances by, in every local cluster."""

    def restore(self, order: Array, place: Array) -> "Stages":
        """The same of samples as they were given, where these are of the given ones in another order."""
        parent, labels, peaks, sizes = self.local_clusters
        order = order.astype(parent.dtype)
        local = LocalClusters(order[parent][place], labels[place], order[peaks], sizes)
        graph = self.topo_graph._replace(peaks=order[peaks])
        return self._replace(log_intensity=self.log_intensity[place], local_clusters=local, topo_graph=graph)


class Look(NamedTuple):
    """What stages 1 to 4 found in one representation of the features."""

    way: Representation
    ready: Ready
    near: Neighbors
    stages: list[Stages]
    build: Callable[[int], Stages]
    """Stages 2 to 4 for another number of neighbours."""


class Merged(NamedTuple):
    """What stage 5 made of it."""

    look: Look
    stages: Stages
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: Selection | None = None
    ties: Ties | None = None


def git_clusters(
    X: Any,
    *,
    n_clusters: int | str | None = "auto",
    proportions: ArrayLike | str | None = None,
    n_neighbors: int | str = "auto",
    variant: str = "adaptive",
    metric: str = "euclidean",
    scale: ArrayLike | str | None = "auto",
    search: Any = "auto",
    noise: float | str | None = None,
    sample_weight: ArrayLike | None = None,
    constraints: Constraints | None = None,
    n_jobs: int | None = None,
    report: Report | None = None,
) -> Clustering:
    """Cluster samples by the graph of their intensity topology.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) distances, or Input
        What is clustered; an ``Input`` has been checked before.
    n_clusters : int or "auto", default="auto"
    proportions : array-like of shape (n_clusters,) or "equal", default=None
    n_neighbors : int or "auto", default="auto"
        k, not counting the sample itself.
    variant : {"adaptive", "paper", "authors"}, default="adaptive"
        Our merge, which needs no tuning; the paper's method with every distance scaled; the code its published figures
        come from.
    metric : str, default="euclidean"
        "precomputed" for a matrix of distances, "precomputed_graph" for a sparse one or (indices, distances).
    scale : {"auto", "std"}, None, array-like of shape (n_features,) or tuple of Representation, default="auto"
        How to look at the features, see ``inputs.representations``; with the metric "euclidean" alone. The published
        variants divide them by their standard deviations.
    search : {"auto", "exact", "approximate"} or object, default="auto"
        How to search, see :func:`find_neighbors`.
    noise : float or "auto", default=None
        Samples to be labelled -1.
    sample_weight : array-like of shape (n_samples,), default=None
        How often a sample counts in intensities, sizes and connections.
    constraints : Constraints, default=None
        Adaptive variant only.
    n_jobs : int, default=None
    report : callable, default=None
        Called with the name of every stage when it begins.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [1.5], [8.0], [8.5], [9.5]])
    >>> git_clusters(X, n_clusters=2).labels
    array([0, 0, 0, 1, 1, 1])
    """
    recipe, report = find_recipe(variant), report or (lambda stage: None)
    check_n_jobs(n_jobs)
    check_noise(noise)
    if isinstance(search, type) or not hasattr(search, "kneighbors"):
        check_choice("search", search, SEARCHES)
    given = X if isinstance(X, Input) else check_input(X, metric)
    number, prior = resolve_proportions(n_clusters, proportions, n_samples=given.n_samples)

    report("scale")
    ready = prepare_samples(
        given, sample_weight=sample_weight, constraints=constraints, sort=recipe.has_hierarchy, n_jobs=n_jobs
    )
    recipe.check(n_clusters=number, constrained=constraints is not None, fractions=ready.weights is not None)
    sizes = sizes_to_try(recipe, n_neighbors, ready.data.n_samples, n_given=given.n_samples)
    look = partial(look_at, recipe=recipe, search=search, n_jobs=n_jobs)
    if recipe.has_hierarchy:
        fixed = None if isinstance(n_neighbors, str) else sizes
        merged = choose_clusters(
            ready, look, scale=scale, fixed=fixed, n_clusters=number, prior=prior, report=report, n_jobs=n_jobs
        )
    else:
        published = "std" if isinstance(scale, str) and scale == "auto" else scale
        ways = ready.data.represented(published, None, order=ready.waiting, n_jobs=n_jobs)
        found = look(ready, ways[0], sizes, report=report)
        report("merge")
        shares = equal_shares(number or 1) if prior is None else prior
        cut = cut_edges(found.stages[0].topo_graph, proportions=shares, leftover=recipe.leftover)
        merged = Merged(found, found.stages[0], cut)
    result = conclude(merged, recipe, given=given, noise=noise, n_jobs=n_jobs)
    return replace(result, n_wanted=number, prior=prior)


def sizes_to_try(recipe: Recipe, n_neighbors: Any, n_samples: int, *, n_given: int = 0) -> list[int]:
    """The numbers of neighbours to try; of ``n_given`` samples some may have been repeated or put together."""
    if not (isinstance(n_neighbors, str) and n_neighbors == "auto"):
        return [min(check_n_neighbors(n_neighbors, max(n_given, n_samples)), n_samples - 1)]
    if recipe.n_neighbors is None:
        return neighborhood_sizes(n_samples)
    return [min(recipe.n_neighbors, n_samples - 1)]


def look_at(
    ready: Ready,
    way: Representation,
    sizes: list[int],
    *,
    recipe: Recipe,
    search: Any = "auto",
    n_jobs: int | None = None,
    report: Report = lambda stage: None,
) -> Look:
    """Stages 1 to 4 in one representation of the features, for several numbers of neighbours."""
    report("search")
    source = ready.data.under(way, order=ready.waiting, n_jobs=n_jobs)
    again, k = ready.data.made_again(way, order=ready.waiting), max(recipe.reach(sizes[-1], source.n_samples - 1))
    tidy = give_back if source.n_samples > MOST_STUDIED else lambda: None  # else there is hardly anything
    tidy()
    near = source.neighbors(k, search=search, n_jobs=n_jobs, again=again)
    measured = ready.data.unscaled_neighbors(near, n_jobs=n_jobs) if recipe.unscaled else near
    ready = ready._replace(data=source, waiting=None)
    tidy()

    report("local clusters")
    build = partial(build_stages, ready, near, recipe, measured=measured, n_jobs=n_jobs)
    return Look(way, ready, near, run_threads(build, sizes, n_jobs), build)


def build_stages(
    ready: Ready,
    near: Neighbors,
    recipe: Recipe,
    n_neighbors: int,
    *,
    measured: Neighbors,
    n_jobs: int | None = None,
) -> Stages:
    """Stages 2 to 4 with the nearest ``n_neighbors`` of a search that may have found more.

    ``measured`` are the same neighbours with the distances of stages that the recipe calls unscaled.
    """
    reach = recipe.reach(n_neighbors, near.indices.shape[1])
    options: dict[str, Any] = {"weights": ready.weights, "n_jobs": n_jobs}
    units = distance_unit(near, kernel=recipe.kernel, n_features=ready.data.n_features, n_neighbors=reach.intensity)
    log_intensity = intensity_in_units(near, units, kernel=recipe.kernel, n_neighbors=reach.intensity, **options)
    groups = None if ready.constraints is None else ready.constraints.groups
    local = find_local_clusters(
        measured if "climb" in recipe.unscaled else near,
        log_intensity,
        strict=recipe.strict,
        n_neighbors=reach.climb,
        groups=groups,
        **options,
    )
    graph = build_topo_graph(
        measured,
        local,
        log_intensity=log_intensity,
        similarity=recipe.similarity,
        boundary=recipe.boundary,
        n_neighbors=reach.boundary,
        symmetric=ready.data.symmetric and not recipe.unscaled,  # others than those of the search are not in order
        **options,
    )
    if recipe.needs_bridges:
        graph = bridge_components(graph, ready.data)
    return Stages(n_neighbors, log_intensity, local, graph, units[local.peaks])


def choose_clusters(
    ready: Ready,
    look: Callable[..., Look],
    *,
    scale: Any,
    fixed: list[int] | None,
    n_clusters: int | None,
    prior: NDArray[np.float64] | None,
    report: Report,
    n_jobs: int | None,
) -> Merged:
    """Stages 1 to 5 by linkage: the clustering that most ways to look at the samples agree on.

    Where there are many samples, some of them decide on the representation. ``fixed`` is the number of neighbours,
    where it was given.
    """
    rows = ready.data.some_rows(MOST_STUDIED, order=ready.waiting, n_jobs=n_jobs)
    some = ready if rows is None else ready.take(rows)._replace(constraints=None)
    asked: dict[str, Any] = {"n_clusters": n_clusters, "prior": prior}
    whole = partial(look, report=report)
    quick = whole if rows is None else partial(look, search="exact")  # few samples, and no index of the user's
    ways = ready.data.represented(scale, rows, order=ready.waiting, n_jobs=n_jobs)
    views, ways = study_samples(some, quick, ways, fixed=fixed, n_jobs=n_jobs)
    asked["dimension"] = intrinsic_dimension(views.found[0][0].near)
    told = None
    if rows is not None:
        choice = views.select(**asked)
        told, winner = describe_ways(ways, choice.table), choice.chosen.view
        way, views = views.found[winner][0].way, Views(n_jobs, rows)
        del some
        views.add(whole(ready, way, fixed or neighborhood_sizes(ready.data.n_samples)))
        give_back()
    report("merge")
    finest = None if fixed else views.add_finest
    selection = views.select(**asked, constraints=ready.constraints, add_finest=finest)
    (found, stages), view = views.found[selection.chosen.view], views.views[selection.chosen.view]
    cut = describe_cut(view.topo_graph, selection.chosen.labels, selection.chosen.merged, prior)
    selection = selection._replace(representations=told or describe_ways(ways, selection.table))
    return Merged(found, stages, cut, hierarchy_of(view, selection.chosen), selection, view.ties)


class Views:
    """Views of samples, in every representation and with every number of neighbours that is tried."""

    def __init__(self, n_jobs: int | None, rows: Array | None = None) -> None:
        self.rows, self.n_jobs = rows, n_jobs
        """The samples by which clusterings are compared; None for all."""
        self.views: list[View] = []
        self.evidence = SampleEvidence(self.views, n_jobs)
        self.found: list[tuple[Look, Stages]] = []
        """What stands behind every view."""

    def add(self, look: Look) -> None:
        """All views of one representation."""
        constraints, n_known = look.ready.constraints, len(self.views)
        for stages in look.stages:
            graph, local = stages.topo_graph, stages.local_clusters
            ties = None
            if constraints is not None:
                ties = tie_local_clusters(constraints, local.labels, len(local.peaks), look.ready.weights)
            peaks = stages.log_intensity[local.peaks]
            self.views.append(View(stages.n_neighbors, len(local.labels), graph, peaks, ties, look.way.name))
            self.evidence.add(look.near, local.labels, stages.log_intensity, self.rows)
            self.found.append((look, stages))
        if constraints is None:
            find_merges(self.views[n_known:], self.n_jobs)

    def add_finest(self) -> None:
        """One more view, with the most local clusters there are."""
        first = self.found[0][0]
        self.add(first._replace(stages=[first.build(min(2, self.views[0].n_samples - 1))]))

    def select(self, **asked: Any) -> Selection:
        """The clustering that they agree on."""
        return select(self.views, self.evidence, **asked)


def study_samples(
    ready: Ready,
    look: Callable[..., Look],
    ways: list[Representation],
    *,
    fixed: list[int] | None = None,
    n_jobs: int | None = None,
) -> tuple[Views, list[Representation]]:
    """Views of samples in all representations that can be formed, and what became of each of these."""
    sizes = fixed or neighborhood_sizes(ready.data.n_samples)
    first = next((way for way in ways if not way.reason), None)

    def try_way(way: Representation) -> Look | ValueError | None:
        begun = {} if way is first else {"report": lambda stage: None}  # the others begin no stage
        try:
            return None if way.reason else look(ready, way, sizes, **begun)
        except ValueError as error:
            return error

    with limit_threads(1):  # the ways have threads, and threads of their own
        found = run_threads(try_way, ways, n_jobs)
    views, tried = Views(n_jobs), []
    for way, one in zip(ways, found, strict=True):
        if isinstance(one, Look):
            views.add(one)
        tried.append(way._replace(reason=str(one)) if isinstance(one, ValueError) else way)
    problems = [one for one in found if isinstance(one, ValueError)]
    if problems and not views.views:
        raise problems[0]
    return views, tried


def describe_ways(ways: list[Representation], table: Table) -> Table:
    """Every representation with the score of its best clustering, or the reason why there is none."""
    scores = [table["score"][table["representation"] == way.name] for way in ways]
    chosen = table["representation"][table["chosen"]]
    return {
        "representation": np.array([way.name for way in ways]),
        "score": np.array([some.max(initial=-np.inf) if len(some) else np.nan for some in scores]),
        "chosen": np.array([way.name in chosen for way in ways]),
        "reason": np.array([way.reason for way in ways]),
    }


def conclude(
    merged: Merged,
    recipe: Recipe,
    *,
    given: Input,
    noise: float | str | None,
    n_jobs: int | None,
) -> Clustering:
    """All that was found, for the samples in the order in which they were given."""
    near, order = merged.look.near, merged.look.ready.order
    k = min(merged.stages.n_neighbors, near.indices.shape[1])
    widths, scores = score_outliers(near, k, n_jobs=n_jobs)
    ready, stages = merged.look.ready, merged.stages
    if order is not None:
        place = inverse_order(order)
        ready, stages = ready.put_back(place), stages.restore(order, place)
        widths, scores = widths[place], scores[place]
    local, cut = stages.local_clusters, merged.edge_cut
    clusters, threshold = cut.labels[local.labels], 1.0
    labels = clusters
    if noise is not None:
        threshold = noise_threshold(scores, noise)
        highest = highest_in(clusters, stages.log_intensity, len(cut.sizes))
        labels = mark_noise(clusters, stages.log_intensity, scores, above=threshold, highest=highest)
    copies = ready.copies
    reference = Reference(
        recipe=recipe,
        n_neighbors=stages.n_neighbors,
        source=ready.data.kept(np.arange(len(labels)) if copies is None else copies[copies >= 0], ready.order),
        units=stages.units,
        log_intensity=stages.log_intensity,
        parents=local.parent,
        local_labels=local.labels,
        clusters=cut.labels,
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=threshold,
        weights=ready.weights,
        rows=ready.rows,
        copies=copies,
    )
    described: Any = reference
    if ready.rows is not None:
        described = describe_samples(reference, reference.source.as_new(given), n_jobs=n_jobs)
    counts = np.bincount(labels + 1, ready.weights, minlength=len(cut.sizes) + 1)[1:]
    selection = merged.selection
    return Clustering(
        recipe=recipe,
        n_neighbors=stages.n_neighbors,
        labels=described.labels,
        local_labels=described.local_labels,
        parents=reference.given(described.parents),
        log_intensity=described.log_intensity,
        outlier_scores=described.outlier_scores,
        proportions=counts / (len(labels) if ready.weights is None else ready.weights.sum()),
        topo_graph=stages.topo_graph._replace(peaks=reference.given(local.peaks)),
        edge_cut=cut,
        hierarchy=merged.hierarchy,
        ties=merged.ties,
        selection=None if selection is None else selection.table,
        n_clusters_scores=None if selection is None else selection.n_clusters_scores,
        representation=merged.look.way.name,
        representations=None if selection is None else selection.representations,
        recall=near.recall,
        n_connected_components=int(find_components(near.indices, k, len(labels))[1]),
        reference=reference,
    )
