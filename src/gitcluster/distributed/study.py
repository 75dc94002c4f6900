"""Before stage 1 on many machines: some samples are studied here, as one machine does, to choose a representation.

Where there are no more samples than one machine studies, the study chooses everything, and the cells only repeat the
view that was chosen.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gitcluster.distributed.plan import Plan
from gitcluster.distributed.source import Picked, Source, pick_samples
from gitcluster.inputs import MOST_STUDIED, Points
from gitcluster.inputs.preparing import Ready
from gitcluster.inputs.representations import Representation, name_of, represent
from gitcluster.pipeline import describe_ways, look_at, study_samples
from gitcluster.selection import Selection
from gitcluster.selection.numbers import Table, intrinsic_dimension


class Asked(NamedTuple):
    """What the clusters are to be like."""

    n_clusters: int | None
    prior: NDArray[np.float64] | None
    fixed: list[int] | None
    """The number of neighbours, where it was given."""


class Study(NamedTuple):
    """What some samples, or all, tell."""

    picked: Picked
    representations: Table
    way: Representation
    """The representation that was chosen."""
    dimension: float
    selection: Selection | None
    """What was chosen, where these are all samples."""
    n_neighbors: int
    """Of the view that was chosen."""


def study_source(source: Source, plan: Plan, asked: Asked, scale: ArrayLike | str | None) -> Study:
    """Choose a representation, and all else if there are few samples."""
    picked = pick_samples(source, MOST_STUDIED)
    samples = Points(picked.values)
    auto = isinstance(scale, str) and scale == "auto" and source.scaling is not None
    if auto and source.scaling is not None:
        ways = represent(picked.values, source.scaling)
    else:
        ways = [Representation(name_of(scale), source.scaling)]
    look = partial(look_at, recipe=plan.recipe, search="exact")
    views, ways = study_samples(Ready(samples, None, None), look, ways, fixed=asked.fixed)
    dimension = intrinsic_dimension(views.found[0][0].near)
    whole = len(picked.rows) == source.n_samples
    add_finest = views.add_finest if whole and asked.fixed is None else None
    selection = views.select(n_clusters=asked.n_clusters, prior=asked.prior, dimension=dimension, add_finest=add_finest)
    found, stages = views.found[selection.chosen.view]
    told = describe_ways(ways, selection.table)
    return Study(picked, told, found.way, dimension, selection if whole else None, stages.n_neighbors)
