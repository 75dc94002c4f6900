"""GIT from top to bottom: prepare the samples, run the five stages, return the results in the given order."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.memory import give_back
from gitcluster._support.validation import check_choice, check_n_jobs, check_n_neighbors
from gitcluster.configurations import Configuration, LocalStatistics, neighborhood_sizes
from gitcluster.constraints import Constraints, LinkConstraints, link_local_clusters
from gitcluster.edge_cutting import EdgeCut, cut_edges, describe_cut, equal_shares, resolve_proportions
from gitcluster.fitted.clustering import Clustering, TrainingSamples
from gitcluster.fitted.outliers import check_noise, highest_in, mark_noise, noise_threshold, score_outliers
from gitcluster.fitted.prediction import SamplePrediction, predict_samples, predict_training
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
from gitcluster.selection import Families, Selection, Table, hierarchy_of, intrinsic_dimension, select
from gitcluster.topo_graph import TopoGraph, bridge_components, build_topo_graph
from gitcluster.variants import Variant, find_variant

Report = Callable[[str], None]
"""Called with the name of every stage when it begins."""
N_REPORTS = 4
"""Number of stages that are reported."""


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
    samples = prepare(
        source,
        sample_weight=sample_weight,
        constraints=constraints,
        sort=chosen_variant.has_hierarchy,
        n_jobs=n_jobs,
    )
    chosen_variant.check(n_clusters=number, constrained=constraints is not None, fractions=samples.weights is not None)
    sizes = sizes_to_try(chosen_variant, n_neighbors, samples.n_samples, n_given=source.n_samples)
    if chosen_variant.has_hierarchy:
        result = fit_adaptive(
            samples,
            chosen_variant,
            scale=scale,
            search=search,
            n_neighbors=None if isinstance(n_neighbors, str) else sizes,
            n_clusters=number,
            prior=prior,
            second_opinion=second_opinion,
            report=report,
            n_jobs=n_jobs,
        )
    else:
        scale = "std" if isinstance(scale, str) and scale == "auto" else scale
        representation = find_representations(samples, scale, n_jobs=n_jobs)[0]
        fitted = fit_representation(
            samples, representation, sizes, variant=chosen_variant, search=search, n_jobs=n_jobs, report=report
        )
        report("merge")
        shares = equal_shares(number or 1) if prior is None else prior
        cut = cut_edges(fitted.stages[0].topo_graph, proportions=shares, leftover=chosen_variant.leftover)
        result = MergeResult(fitted, fitted.stages[0], cut)
    return build_clustering(result, samples, chosen_variant, noise=noise, n_clusters=number, prior=prior, n_jobs=n_jobs)


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
    samples: Samples,
    representation: Representation,
    sizes: list[int],
    *,
    variant: Variant,
    search: str = "auto",
    n_jobs: int | None = None,
    report: Report = lambda stage: None,
) -> RepresentationFit:
    """Run stages 1 to 4 in one representation of the features, for several numbers of neighbours."""
    report("search")
    source, rows = samples.source, samples.rows
    points = source.transform(representation, rows, is_sorted=samples.is_sorted, n_jobs=n_jobs)
    k = max(variant.reach(sizes[-1], samples.n_samples - 1))
    large = samples.n_samples > MAX_STUDIED
    if large:
        give_back()
    near = points.neighbors(k, search=search, n_jobs=n_jobs)
    if large:
        give_back()

    report("local clusters")
    fit = RepresentationFit(representation, samples, points, near, [])
    stages = run_threads(lambda k: compute_stages(fit, variant, k, n_jobs=n_jobs), sizes, n_jobs)
    return fit._replace(stages=stages)


def compute_stages(fit: RepresentationFit, variant: Variant, n_neighbors: int, *, n_jobs: int | None = None) -> Stages:
    """Run stages 2 to 4 with the ``n_neighbors`` nearest neighbours of a search."""
    samples, near = fit.samples, fit.near
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
        symmetric=fit.points.symmetric and not variant.unscaled,  # unscaled distances need not ascend
        **options,
    )
    if variant.needs_bridges:
        topo_graph = bridge_components(topo_graph, fit.points)
    return Stages(n_neighbors, log_intensity, local_clusters, topo_graph, units[local_clusters.peaks])


class MergeResult(NamedTuple):
    """Results of stage 5."""

    fit: RepresentationFit
    stages: Stages
    edge_cut: EdgeCut
    hierarchy: Hierarchy | None = None
    selection: Selection | None = None
    links: LinkConstraints | None = None


class ConfigurationSet:
    """Configurations of all representations and numbers of neighbours that are compared."""

    def __init__(self, n_jobs: int | None, compared: Array | None = None) -> None:
        self.compared, self.n_jobs = compared, n_jobs
        """The samples that serve to compare clusterings; None for all."""
        self.configurations: list[Configuration] = []
        self.statistics = LocalStatistics(self.configurations, n_jobs)
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
            self.statistics.add(fit.near, local.labels, stages.log_intensity, self.compared)
            self.fits.append((fit, stages))
        if samples.constraints is None:
            # Computed in threads and cached, for the selection.
            run_threads(lambda configuration: configuration.merges, self.configurations[known:], self.n_jobs)

    def add_finest(self, variant: Variant) -> None:
        """Add a configuration with as few neighbours, and so as many local clusters, as possible."""
        fit = self.fits[0][0]
        stages = compute_stages(fit, variant, min(2, fit.samples.n_samples - 1), n_jobs=self.n_jobs)
        self.add(fit._replace(stages=[stages]))

    @property
    def max_clusters(self) -> int:
        """Return the largest number of clusters that a configuration has."""
        return max(configuration.max_clusters for configuration in self.configurations)

    @property
    def dimension(self) -> float:
        """Return the intrinsic dimension of the samples."""
        return intrinsic_dimension(self.fits[0][0].near)


class Study(NamedTuple):
    """Decisions of the samples that all representations are compared on."""

    selection: Selection
    fit: RepresentationFit
    """The chosen fit and, in it, the chosen stages and configuration."""
    stages: Stages
    configuration: Configuration
    dimension: float
    labels: Array
    """Clusters of the studied samples."""
    is_final: bool
    """Whether all samples were studied, and as they are, so that the chosen configuration is that of the model."""


def study_samples(
    samples: Samples,
    variant: Variant,
    representations: list[Representation],
    *,
    steps: NDArray[np.float64] | None = None,
    search: str = "exact",
    n_neighbors: list[int] | None = None,
    n_clusters: int | None = None,
    prior: NDArray[np.float64] | None = None,
    is_all: bool = True,
    asks: bool = False,
    second_opinion: bool = True,
    n_jobs: int | None = None,
    report: Report = lambda stage: None,
) -> Study:
    """Compare the clusterings of all representations.

    ``samples`` are at most ``MAX_STUDIED``, and ``is_all`` tells whether these are all. Features with ``steps`` are
    rounded and get noise, another one in each representation. If ``asks``, columns that do not depend on one another
    have one cluster and, for a ``second_opinion``, referees vote.
    """
    sizes = n_neighbors or neighborhood_sizes(samples.n_samples)
    options: dict[str, Any] = {"steps": steps, "search": search, "n_jobs": n_jobs, "report": report}
    candidates, tried = fit_representations(samples, variant, representations, sizes, **options)
    report("merge")
    if is_all and n_neighbors is None and n_clusters is not None and candidates.max_clusters < n_clusters:
        candidates.add_finest(variant)
    dimension = candidates.dimension
    referees = twin = None
    if asks and second_opinion and dimension >= MIN_DIMENSION:
        referees = invite_referees(samples, candidates)
        if n_clusters is None and samples.source.n_features <= MAX_FEATURES:  # the cost is cubic
            twin = partial(study_twin, samples, variant, sizes, steps=steps, n_jobs=n_jobs)
    selection = select(
        candidates.configurations,
        candidates.statistics,
        n_clusters=n_clusters,
        prior=prior,
        dimension=dimension,
        constraints=samples.constraints,
        referees=referees,
        twin=twin,
        is_independent=asks and n_clusters is None and are_independent(samples),
    )
    selection = selection._replace(representations=describe_representations(tried, selection.table))
    winner = selection.chosen.configuration
    fit, stages = candidates.fits[winner]
    labels = selection.chosen.labels[candidates.statistics.local_labels(winner)]
    is_final = is_all and steps is None
    configuration = candidates.configurations[winner]
    return Study(selection, fit, stages, configuration, candidates.dimension, labels, is_final)


def fit_representations(
    samples: Samples,
    variant: Variant,
    representations: list[Representation],
    sizes: list[int],
    *,
    steps: NDArray[np.float64] | None = None,
    search: Any = "exact",
    n_jobs: int | None = None,
    report: Report = lambda stage: None,
) -> tuple[ConfigurationSet, list[Representation]]:
    """Return the configurations of all representations, and the representations with the reasons of failures."""
    first = next((some for some in representations if not some.reason), None)

    def try_representation(draw: int) -> RepresentationFit | ValueError | None:
        representation = representations[draw]
        quiet = report if representation is first else lambda stage: None  # report every stage once
        own = samples if steps is None else add_noise(samples, steps, draw)
        options: dict[str, Any] = {"variant": variant, "search": search, "n_jobs": n_jobs, "report": quiet}
        try:
            return None if representation.reason else fit_representation(own, representation, sizes, **options)
        except ValueError as error:
            return error

    with limit_threads(1):  # the fits run in threads, and have threads of their own
        results = run_threads(try_representation, range(len(representations)), n_jobs)
    candidates, tried = ConfigurationSet(n_jobs), []
    for representation, result in zip(representations, results, strict=True):
        if isinstance(result, RepresentationFit):
            candidates.add(result)
        failed = isinstance(result, ValueError)
        tried.append(representation._replace(reason=str(result)) if failed else representation)
    problems = [result for result in results if isinstance(result, ValueError)]
    if problems and not candidates.configurations:
        raise problems[0]
    return candidates, tried


def invite_referees(samples: Samples, candidates: ConfigurationSet) -> Referees:
    """Return referees of some of the samples, in the representations of the candidates."""
    n_samples = samples.n_samples  # in canonical order, so that equal steps select the same ones in any given order
    rows = np.linspace(0, n_samples - 1, min(n_samples, MAX_REFEREED)).round().astype(np.int64)
    points: dict[str, Any] = {fit.representation.name: fit.points for fit, _ in candidates.fits}
    used = {name: points[name].values[rows].astype(np.float64) for name in REPRESENTATIONS if name in points}
    # There is no density between categories, so that other methods may see more.
    return Referees(rows, used, may_win=are_mostly_discrete(samples))


def study_twin(
    samples: Samples, variant: Variant, sizes: list[int], *, steps: NDArray[np.float64] | None, n_jobs: int | None
) -> Families:
    """Return the families of methods on samples that are like the given ones, but have no clusters."""
    twin = without_clusters(samples if steps is None else add_noise(samples, steps, 0))
    representations = find_representations(twin, "auto", n_jobs=n_jobs)
    candidates, _ = fit_representations(twin, variant, representations, sizes, n_jobs=n_jobs)
    return Families(candidates.configurations, candidates.statistics, invite_referees(twin, candidates))


def fit_adaptive(
    samples: Samples,
    variant: Variant,
    *,
    scale: Any,
    search: str,
    n_neighbors: list[int] | None,
    n_clusters: int | None,
    prior: NDArray[np.float64] | None,
    second_opinion: bool,
    report: Report,
    n_jobs: int | None,
) -> MergeResult:
    """Run stages 1 to 5 by linkage: return the clustering that most configurations agree on.

    If there are many samples, a subsample decides on the representation and the number of clusters, and its clustering
    has half of the vote on that of all samples. If many rows are equal, copies with noise decide, and the given samples
    get the clustering that agrees best with the decision. ``n_neighbors`` is None unless the user set it.
    """
    some = subsample(samples, MAX_STUDIED, n_jobs=n_jobs)
    studied = samples if some is None else samples.take(some)
    compares = isinstance(scale, str) and scale == "auto" and samples.base is not None and samples.constraints is None
    compares = compares and isinstance(samples.source, Points) and samples.source.metric == "euclidean"
    steps = find_steps(studied) if compares else None
    learned = studied if steps is None else add_noise(studied, steps, 0)
    study = study_samples(
        studied,
        variant,
        find_representations(samples, scale, learned, n_jobs=n_jobs),
        steps=steps,
        search=search if some is None and steps is None else "exact",  # few samples, which need no index of the user's
        n_neighbors=n_neighbors,
        n_clusters=n_clusters,
        prior=prior,
        is_all=some is None,
        asks=compares and samples.weights is None,
        second_opinion=second_opinion,
        n_jobs=n_jobs,
        report=report if some is None and steps is None else lambda stage: None,
    )
    fitted, stages, configuration, selection = study.fit, study.stages, study.configuration, study.selection
    chosen = selection.chosen
    if not study.is_final:
        sizes = n_neighbors or neighborhood_sizes(samples.n_samples)
        candidates = ConfigurationSet(n_jobs, some)
        candidates.add(
            fit_representation(
                samples, fitted.representation, sizes, variant=variant, search=search, n_jobs=n_jobs, report=report
            )
        )
        give_back()
        report("merge")
        target: Array | None = study.labels
        if samples.constraints is None:
            n_clusters = selection.n_clusters if n_clusters is None else n_clusters
        else:  # which hold for all samples only
            target = None
        if n_neighbors is None and n_clusters is not None and candidates.max_clusters < n_clusters:
            candidates.add_finest(variant)
        final = select(
            candidates.configurations,
            candidates.statistics,
            n_clusters=n_clusters,
            prior=prior,
            dimension=study.dimension,
            constraints=samples.constraints,
            target=target,
        )
        chosen = final.chosen
        fitted, stages = candidates.fits[chosen.configuration]
        configuration = candidates.configurations[chosen.configuration]
        if target is None:
            selection = final._replace(representations=selection.representations)
    cut = describe_cut(configuration.topo_graph, chosen.labels, chosen.merged, prior)
    return MergeResult(fitted, stages, cut, hierarchy_of(configuration, chosen), selection, configuration.links)


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
    result: MergeResult,
    samples: Samples,
    variant: Variant,
    *,
    noise: float | str | None,
    n_clusters: int | None,
    prior: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> Clustering:
    """Return all results, for the samples in the order in which they were given."""
    fit, stages, cut, selection = result.fit, result.stages, result.edge_cut, result.selection
    local, near, copies = stages.local_clusters, fit.near, samples.copies
    k = min(stages.n_neighbors, near.indices.shape[1])
    widths, scores = score_outliers(near, k, n_jobs=n_jobs)
    labels = clusters = cut.labels[local.labels]
    threshold = 1.0
    if noise is not None:
        threshold = noise_threshold(scores, noise)
        highest = highest_in(clusters, stages.log_intensity, len(cut.sizes))
        labels = mark_noise(clusters, stages.log_intensity, scores, above=threshold, highest=highest)
    training = TrainingSamples(
        variant=variant,
        n_neighbors=stages.n_neighbors,
        source=fit.points.stored(np.arange(len(labels)) if copies is None else copies[copies >= 0]),
        units=stages.units,
        log_intensity=stages.log_intensity,
        parents=local.parent,
        local_labels=local.labels,
        clusters=cut.labels,
        labels=labels,
        widths=widths.astype(np.float32),
        outlier_scores=scores.astype(np.float32),
        noise_above=threshold,
        weights=samples.weights,
        rows=samples.rows,
        copies=copies,
    )
    given = to_input_order(training, samples.source, n_jobs=n_jobs)
    counts = np.bincount(labels + 1, samples.weights, minlength=len(cut.sizes) + 1)[1:]
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
        edge_cut=cut,
        hierarchy=result.hierarchy,
        links=result.links,
        selection=None if selection is None else selection.table,
        n_clusters_scores=None if selection is None else selection.n_clusters_scores,
        representation=fit.representation.name,
        representations=None if selection is None else selection.representations,
        recall=near.recall,
        n_connected_components=int(find_components(near.indices, k, len(labels))[1]),
        n_requested=n_clusters,
        prior=prior,
        training=training,
    )


def to_input_order(training: TrainingSamples, source: Source, *, n_jobs: int | None = None) -> SamplePrediction:
    """Return the results of the given samples in their order; those of weight 0 are predicted."""
    copies = training.copies
    results = predict_training(training, copies)
    if copies is not None and (copies < 0).any():
        missing = np.flatnonzero(copies < 0)
        predicted = predict_samples(training, training.source.as_new(source, missing), n_jobs=n_jobs)
        for column, values in zip(tuple[Any, ...](results), tuple[Any, ...](predicted), strict=True):
            column[missing] = values
    return results
