"""GIT from top to bottom: prepare the samples, run the five stages, return the results in the given order."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.memory import give_back
from gitcluster._support.validation import check_choice, check_n_jobs, check_n_neighbors
from gitcluster.configurations import (
    Configuration,
    Crossing,
    SampleStatistics,
    count_crossings,
    crossing_reach,
    highest_peaks,
    neighborhood_sizes,
)
from gitcluster.constraints import Constraints, LinkConstraints, link_local_clusters
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut, equal_shares, resolve_proportions
from gitcluster.fitted.clustering import Clustering, TrainingSamples
from gitcluster.fitted.outliers import check_noise, highest_in, mark_noise, noise_threshold, score_outliers
from gitcluster.fitted.prediction import predict_samples, predict_training
from gitcluster.hierarchy import Hierarchy
from gitcluster.intensity import distance_unit, find_components, intensity_in_units
from gitcluster.kernels import limit_threads, run_threads
from gitcluster.local_clusters import LocalClusters, find_local_clusters
from gitcluster.neighbors import SEARCHES, Neighbors, measure_neighbors
from gitcluster.preprocessing.representations import MAX_FEATURES, Representation
from gitcluster.preprocessing.sources import Points, Source, check_source
from gitcluster.referees import MAX_REFEREED, MIN_DIMENSION, REPRESENTATIONS, Referees
from gitcluster.samples import (
    MAX_STUDIED,
    Samples,
    add_noise,
    are_independent,
    are_mostly_discrete,
    find_representations,
    find_steps,
    prepare,
    subsample,
    without_clusters,
)
from gitcluster.selection import Selection, Table, hierarchy_of, intrinsic_dimension, select
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph
from gitcluster.variants import Variant, find_variant

Report = Callable[[str], None]
"""Called with the name of every stage when it begins."""
N_REPORTS = 4
"""Number of stages that are reported."""


class Settings(NamedTuple):
    """The checked parameters that several stages need."""

    variant: Variant
    scale: Any = "auto"
    search: str = "exact"
    n_neighbors: list[int] | None = None
    """Numbers of neighbours to try; None if they depend on the number of samples."""
    n_clusters: int | None = None
    prior: NDArray[np.float64] | None = None
    second_opinion: bool = True
    n_jobs: int | None = None
    report: Report = lambda stage: None

    def sizes(self, samples: Samples) -> list[int]:
        """Return the numbers of neighbours to try on some samples."""
        return self.n_neighbors or neighborhood_sizes(samples.n_samples)


def git_clusters(
    X: Any,
    *,
    n_clusters: int | str | None = "auto",
    proportions: ArrayLike | str | None = None,
    n_neighbors: int | str = "auto",
    variant: str = "adaptive",
    metric: str = "euclidean",
    scale: ArrayLike | str | tuple[Representation, ...] | None = "auto",
    search: str = "auto",
    noise: float | str | None = None,
    sample_weight: ArrayLike | None = None,
    constraints: Constraints | None = None,
    second_opinion: bool = True,
    n_jobs: int | None = None,
    report: Report | None = None,
) -> Clustering:
    """Cluster samples: ``GIT.fit`` without names of columns and rows; the parameters are those of ``GIT``.

    Parameters
    ----------
    X : as in :class:`gitcluster.GIT`, or a ``Source``, which has been checked before
    scale : as in :class:`gitcluster.GIT`, or a tuple of Representation
    constraints : Constraints, default=None
        Adaptive variant only.
    second_opinion : bool, default=True
        Whether other methods vote if the candidates disagree, which takes as long as a few fits.
    report : callable, default=None
        Called with the name of every stage when it begins.
    """
    chosen_variant, report = find_variant(variant), report or (lambda stage: None)
    check_n_jobs(n_jobs)
    check_noise(noise)
    check_choice("search", search, SEARCHES)
    source = X if isinstance(X, Source) else check_source(X, metric)
    number, prior = resolve_proportions(n_clusters, proportions, n_samples=source.n_samples)

    report("scale")
    by_linkage = chosen_variant.has_hierarchy
    samples = prepare(source, sample_weight=sample_weight, constraints=constraints, sort=by_linkage, n_jobs=n_jobs)
    chosen_variant.check(n_clusters=number, constrained=constraints is not None, fractions=samples.weights is not None)
    sizes = sizes_to_try(chosen_variant, n_neighbors, samples.n_samples, n_given=source.n_samples)
    is_set = not (by_linkage and isinstance(n_neighbors, str))
    settings = Settings(
        chosen_variant, scale, search, sizes if is_set else None, number, prior, second_opinion, n_jobs, report
    )
    if by_linkage:
        study = fit_adaptive(samples, settings)
        fit, stages, selection = study.fit, study.stages, study.selection
        cut = describe_cut(stages.topo_graph, selection.chosen.labels, selection.chosen.merged, prior)
        hierarchy, links = hierarchy_of(study.configuration, selection.chosen), study.configuration.links
        return build_clustering(fit, stages, cut, settings, noise, selection, hierarchy=hierarchy, links=links)
    scale = "std" if isinstance(scale, str) and scale == "auto" else scale
    representation = find_representations(samples, scale, n_jobs=n_jobs)[0]
    fit = fit_representation(samples, representation, sizes, settings)
    report("merge")
    graph, shares = fit.stages[0].topo_graph, equal_shares(number or 1) if prior is None else prior
    cut = cut_edges(graph, proportions=shares, leftover=chosen_variant.leftover)
    return build_clustering(fit, fit.stages[0], cut, settings, noise)


def sizes_to_try(variant: Variant, n_neighbors: Any, n_samples: int, *, n_given: int = 0) -> list[int]:
    """Return the numbers of neighbours to try; ``n_given`` samples may have been repeated or merged."""
    if not (isinstance(n_neighbors, str) and n_neighbors == "auto"):
        return [min(check_n_neighbors(n_neighbors, max(n_given, n_samples)), n_samples - 1)]
    if variant.n_neighbors is None:
        return neighborhood_sizes(n_samples)
    return [min(variant.n_neighbors, n_samples - 1)]


class Stages(NamedTuple):
    """Results of stages 2 to 4 for one number of neighbours."""

    n_neighbors: int
    log_intensity: NDArray[np.float64]
    local_clusters: LocalClusters
    topo_graph: TopoGraph
    units: NDArray[np.float64]
    """(m,) unit of the intensity in every local cluster."""


class RepresentationFit(NamedTuple):
    """Results of stages 1 to 4 in one representation of the features."""

    representation: Representation
    samples: Samples
    points: Source
    """The samples in this representation, in the order of ``samples``."""
    near: Neighbors
    stages: list[Stages]
    """One for every number of neighbours."""


def fit_representation(
    samples: Samples, representation: Representation, sizes: list[int], settings: Settings
) -> RepresentationFit:
    """Run stages 1 to 4 in one representation of the features, for several numbers of neighbours."""
    n_jobs, report = settings.n_jobs, settings.report
    report("search")
    source, rows = samples.source, samples.rows
    points = source.transform(representation, rows, is_sorted=samples.is_sorted, n_jobs=n_jobs)
    k = max(settings.variant.reach(sizes[-1], samples.n_samples - 1))
    large = samples.n_samples > MAX_STUDIED
    if large:
        give_back()
    near = points.neighbors(k, search=settings.search, n_jobs=n_jobs)
    if large:
        give_back()

    report("local clusters")
    fit = RepresentationFit(representation, samples, points, near, [])
    stages = run_threads(lambda k: compute_stages(fit, k, settings), sizes, n_jobs)
    return fit._replace(stages=stages)


def compute_stages(fit: RepresentationFit, n_neighbors: int, settings: Settings) -> Stages:
    """Run stages 2 to 4 with the ``n_neighbors`` nearest neighbours of a search."""
    samples, near, variant, n_jobs = fit.samples, fit.near, settings.variant, settings.n_jobs
    measured = near
    if variant.unscaled and isinstance(samples.source, Points) and samples.source.metric == "euclidean":
        measured = measure_neighbors(samples.values(), near, n_jobs=n_jobs)
    reach = variant.reach(n_neighbors, near.indices.shape[1])
    options: dict[str, Any] = {"weights": samples.weights, "n_jobs": n_jobs}

    units = distance_unit(near, kernel=variant.kernel, n_features=fit.points.n_features, n_neighbors=reach.intensity)
    log_intensity = intensity_in_units(near, units, kernel=variant.kernel, n_neighbors=reach.intensity, **options)
    local_clusters = find_local_clusters(
        measured if "climb" in variant.unscaled else near,
        log_intensity,
        strict=variant.strict,
        n_neighbors=reach.climb,
        groups=None if samples.constraints is None else samples.constraints.groups,
        **options,
    )
    topo_graph = build_topo_graph(
        measured,
        local_clusters,
        log_intensity=log_intensity,
        similarity=variant.similarity,
        boundary=variant.boundary,
        n_neighbors=reach.boundary,
        **options,
    )
    if variant.leftover == "connected":  # all parts must be able to merge
        topo_graph = bridge_components(topo_graph, fit.points)
    return Stages(n_neighbors, log_intensity, local_clusters, topo_graph, units[local_clusters.peaks])


class Study(NamedTuple):
    """A selected clustering and the fit behind it."""

    selection: Selection
    fit: RepresentationFit
    stages: Stages
    configuration: Configuration
    dimension: float
    labels: Array
    """Clusters of the samples that serve to compare clusterings."""
    is_final: bool
    """Whether all samples were studied, and as they are, so that this is the clustering of the model."""


def fit_adaptive(samples: Samples, settings: Settings) -> Study:
    """Run stages 1 to 5 by linkage: return the clustering that most configurations agree on.

    If there are many samples, a subsample decides on the representation and the number of clusters, and its clustering
    has half of the vote on that of all samples. If many rows are equal, copies with noise decide, and the given samples
    get the clustering that agrees best with the decision.
    """
    some = subsample(samples, MAX_STUDIED, n_jobs=settings.n_jobs)
    studied = samples if some is None else samples.take(some)
    study = study_samples(studied, samples, settings, is_all=some is None)
    if study.is_final:
        return study
    target: Array | None = study.labels
    if samples.constraints is not None:  # which hold for all samples only
        target = None
    elif settings.n_clusters is None:
        settings = settings._replace(n_clusters=study.selection.n_clusters)
    candidates = ConfigurationSet(settings, compared=some)
    candidates.add(fit_representation(samples, study.fit.representation, settings.sizes(samples), settings))
    give_back()
    settings.report("merge")
    candidates.refine()
    final = candidates.choose(dimension=study.dimension, constraints=samples.constraints, target=target)
    decided = final.selection if target is None else study.selection._replace(chosen=final.selection.chosen)
    return final._replace(selection=decided._replace(representations=study.selection.representations))


def study_samples(studied: Samples, samples: Samples, settings: Settings, *, is_all: bool = True) -> Study:
    """Compare the clusterings of all representations of at most ``MAX_STUDIED`` of the ``samples``.

    With scale="auto", rounded features get noise, another one in each representation; columns that do not depend on one
    another have one cluster; and referees vote for a ``second_opinion``.
    """
    source, scale, n_jobs = samples.source, settings.scale, settings.n_jobs
    compares = isinstance(scale, str) and scale == "auto" and samples.base is not None and samples.constraints is None
    compares = compares and isinstance(source, Points) and source.metric == "euclidean"
    asks = compares and samples.weights is None
    steps = find_steps(studied) if compares else None
    learned = studied if steps is None else add_noise(studied, steps, 0)
    sizes, is_final = settings.sizes(studied), is_all and steps is None
    quiet = settings._replace(search="exact", report=lambda stage: None)  # few samples, which need no other search
    representations = find_representations(samples, scale, learned, n_jobs=n_jobs)
    candidates, tried = fit_representations(studied, representations, sizes, settings if is_final else quiet, steps)
    if is_final:
        settings.report("merge")
    if is_all:
        candidates.refine()
    dimension, referees = candidates.dimension, None
    if asks and settings.second_opinion and dimension >= MIN_DIMENSION:
        referees = invite_referees(studied, candidates)

    def fit_twin() -> tuple[SampleStatistics, Referees]:
        """Return candidates and referees of samples that are like the given ones, but have no clusters."""
        twin = without_clusters(learned)
        fitted, _ = fit_representations(twin, find_representations(twin, "auto", n_jobs=n_jobs), sizes, quiet)
        return fitted, invite_referees(twin, fitted)

    study = candidates.choose(
        dimension=dimension,
        constraints=studied.constraints,
        referees=referees,
        fit_twin=fit_twin if source.n_features <= MAX_FEATURES else None,  # the cost is cubic
        is_independent=asks and settings.n_clusters is None and are_independent(studied),
    )
    described = describe_representations(tried, study.selection.table)
    return study._replace(selection=study.selection._replace(representations=described), is_final=is_final)


def fit_representations(
    samples: Samples,
    representations: list[Representation],
    sizes: list[int],
    settings: Settings,
    steps: NDArray[np.float64] | None = None,
) -> tuple["ConfigurationSet", list[Representation]]:
    """Return the configurations of all representations, and the representations with the reasons of failures."""
    first = next((some for some in representations if not some.reason), None)
    quiet = settings._replace(report=lambda stage: None)  # report every stage once

    def try_representation(draw: int) -> RepresentationFit | ValueError | None:
        representation = representations[draw]
        if representation.reason:
            return None
        own = samples if steps is None else add_noise(samples, steps, draw)
        try:
            return fit_representation(own, representation, sizes, settings if representation is first else quiet)
        except ValueError as error:
            return error

    with limit_threads(1):  # the fits run in threads, and have threads of their own
        results = run_threads(try_representation, range(len(representations)), settings.n_jobs)
    candidates, tried, problems = ConfigurationSet(settings), [], []
    for representation, result in zip(representations, results, strict=True):
        if isinstance(result, RepresentationFit):
            candidates.add(result)
        if isinstance(result, ValueError):
            problems.append(result)
            representation = representation._replace(reason=str(result))
        tried.append(representation)
    if problems and not candidates.configurations:
        raise problems[0]
    return candidates, tried


class ConfigurationSet(SampleStatistics):
    """Configurations of all representations and numbers of neighbours that are compared."""

    def __init__(self, settings: Settings, compared: Array | None = None) -> None:
        self.settings, self.compared = settings, compared
        """``compared`` are the samples that serve to compare clusterings; None for all."""
        self.configurations: list[Configuration] = []
        self.fits: list[tuple[RepresentationFit, Stages]] = []
        """The fit behind every configuration."""

    def add(self, fit: RepresentationFit) -> None:
        """Add all configurations of one representation."""
        samples, known = fit.samples, len(self.configurations)
        for stages in fit.stages:
            local, links = stages.local_clusters, None
            if samples.constraints is not None:
                links = link_local_clusters(samples.constraints, local.labels, len(local.peaks), samples.weights)
            peaks, name = stages.log_intensity[local.peaks], fit.representation.name
            self.configurations.append(
                Configuration(stages.n_neighbors, len(local.labels), stages.topo_graph, peaks, links, name)
            )
            self.fits.append((fit, stages))
        if samples.constraints is None:
            # Computed in threads and cached, for the selection.
            run_threads(lambda configuration: configuration.merges, self.configurations[known:], self.settings.n_jobs)

    def refine(self) -> None:
        """Add a configuration with as few neighbours as possible if all others have too few local clusters."""
        most, number = max(some.max_clusters for some in self.configurations), self.settings.n_clusters
        if self.settings.n_neighbors is None and number is not None and most < number:
            fit = self.fits[0][0]
            stages = compute_stages(fit, min(2, fit.samples.n_samples - 1), self.settings)
            self.add(fit._replace(stages=[stages]))

    @property
    def dimension(self) -> float:
        """Return the intrinsic dimension of the samples."""
        return intrinsic_dimension(self.fits[0][0].near)

    def local_labels(self, i: int) -> Array:
        """Return the local cluster, in a configuration, of every sample that serves to compare clusterings."""
        labels = self.fits[i][1].local_clusters.labels
        return labels if self.compared is None else labels[self.compared]

    def count_crossing(self, cuts: Sequence[tuple[int, Array]]) -> list[Crossing]:
        """Return the crossing links of cuts, each a configuration and the clusters of its local clusters."""
        crossings: dict[int, Crossing] = {}
        for i in {i for i, _ in cuts}:
            own = {number: labels for number, (j, labels) in enumerate(cuts) if j == i}
            pairs = [(labels, highest_peaks(self.configurations[i], labels)) for labels in own.values()]
            (fit, stages), k = self.fits[i], crossing_reach(*self.fits[i][0].near.indices.shape)
            counted = count_crossings(
                fit.near.indices,
                k,
                stages.local_clusters.labels,
                stages.log_intensity,
                pairs,
                n_jobs=self.settings.n_jobs,
            )
            crossings.update(zip(own, counted, strict=True))
        return [crossings[number] for number in range(len(cuts))]

    def choose(self, *, dimension: float, **options: Any) -> Study:
        """Return the selected clustering, see :func:`gitcluster.selection.select`."""
        settings = self.settings
        selection = select(self, n_clusters=settings.n_clusters, prior=settings.prior, dimension=dimension, **options)
        winner = selection.chosen.configuration
        labels = selection.chosen.labels[self.local_labels(winner)]
        return Study(selection, *self.fits[winner], self.configurations[winner], dimension, labels, is_final=True)


def invite_referees(samples: Samples, candidates: ConfigurationSet) -> Referees:
    """Return referees of some of the samples, in the representations of the candidates."""
    n_samples = samples.n_samples  # in canonical order, so that equal steps select the same ones in any given order
    rows = np.linspace(0, n_samples - 1, min(n_samples, MAX_REFEREED)).round().astype(np.int64)
    points: dict[str, Any] = {fit.representation.name: fit.points for fit, _ in candidates.fits}
    used = {name: points[name].values[rows].astype(np.float64) for name in REPRESENTATIONS if name in points}
    # There is no density between categories, so that other methods may see more.
    return Referees(rows, used, may_win=are_mostly_discrete(samples))


def describe_representations(representations: list[Representation], table: Table) -> Table:
    """Return a table of all representations with the scores of their best clusterings, or the reasons of failures."""
    scores = [table["score"][table["representation"] == some.name] for some in representations]
    chosen = table["representation"][table["chosen"]]
    return {
        "representation": np.array([some.name for some in representations]),
        "score": np.array([own.max(initial=-np.inf) if len(own) else np.nan for own in scores]),
        "chosen": np.array([some.name in chosen for some in representations]),
        "reason": np.array([some.reason for some in representations]),
    }


def build_clustering(
    fit: RepresentationFit,
    stages: Stages,
    edge_cut: EdgeCut,
    settings: Settings,
    noise: float | str | None,
    selection: Selection | None = None,
    *,
    hierarchy: Hierarchy | None = None,
    links: LinkConstraints | None = None,
) -> Clustering:
    """Return all results, for the samples in the order in which they were given."""
    variant, n_jobs = settings.variant, settings.n_jobs
    samples, local, near = fit.samples, stages.local_clusters, fit.near
    copies, k = samples.copies, min(stages.n_neighbors, near.indices.shape[1])
    widths, scores = score_outliers(near, k, n_jobs=n_jobs)
    labels = clusters = edge_cut.labels[local.labels]
    threshold = 1.0
    if noise is not None:
        threshold = noise_threshold(scores, noise)
        highest = highest_in(clusters, stages.log_intensity, len(edge_cut.sizes))
        labels = mark_noise(clusters, stages.log_intensity, scores, above=threshold, highest=highest)
    training = TrainingSamples(
        variant=variant,
        n_neighbors=stages.n_neighbors,
        source=fit.points.stored(np.arange(len(labels)) if copies is None else copies[copies >= 0]),
        units=stages.units,
        log_intensity=stages.log_intensity,
        parents=local.parent,
        local_labels=local.labels,
        clusters=edge_cut.labels,
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=threshold,
        weights=samples.weights,
        rows=samples.rows,
        copies=copies,
    )
    given = predict_training(training, copies)
    if copies is not None and (copies < 0).any():  # samples of weight 0 are predicted
        missing = np.flatnonzero(copies < 0)
        predicted = predict_samples(training, training.source.as_new(samples.source, missing), n_jobs=n_jobs)
        for column, values in zip(tuple[Any, ...](given), tuple[Any, ...](predicted), strict=True):
            column[missing] = values
    counts = np.bincount(labels + 1, samples.weights, minlength=len(edge_cut.sizes) + 1)[1:]
    return Clustering(
        variant=variant,
        n_neighbors=stages.n_neighbors,
        labels=given.labels,
        local_labels=given.local_labels,
        parents=training.given(given.parents),
        log_intensity=given.log_intensity,
        outlier_scores=given.outlier_scores,
        proportions=counts / (len(labels) if samples.weights is None else samples.weights.sum()),
        topo_graph=stages.topo_graph._replace(peaks=training.given(local.peaks)),
        edge_cut=edge_cut,
        selection=None if selection is None else selection.table,
        n_clusters_scores=None if selection is None else selection.n_clusters_scores,
        representations=None if selection is None else selection.representations,
        representation=fit.representation.name,
        recall=near.recall,
        n_connected_components=int(find_components(near.indices, k, len(labels))[1]),
        training=training,
        hierarchy=hierarchy,
        links=links,
        n_requested=settings.n_clusters,
        prior=settings.prior,
    )
