"""What the stages do, and how many neighbours each of them looks at."""

from typing import Any, NamedTuple

import numpy as np

from gitcluster.pipeline import sizes_to_try
from gitcluster.recipes import Reach, Recipe, find_recipe


class Plan(NamedTuple):
    """The recipe and the reach of every stage, for several views of the data at once."""

    recipe: Recipe
    n_samples: int
    n_found: int
    """Neighbours that are searched for every sample."""
    sizes: list[int]
    """Number of neighbours in every view."""

    @property
    def reaches(self) -> list[Reach]:
        """Neighbours that every stage looks at, in every view."""
        return [self.recipe.reach(size, self.n_found) for size in self.sizes]

    @property
    def id_type(self) -> np.dtype[Any]:
        """Type of the ids of neighbours and of connected parts, of which there are many."""
        return np.dtype(np.int32 if self.n_samples < 2**31 else np.int64)


def make_plan(variant: str, n_neighbors: Any, n_samples: int) -> Plan:
    """The plan for the parameters of a fit."""
    recipe = find_recipe(variant)
    sizes = sizes_to_try(recipe, n_neighbors, n_samples)
    return Plan(recipe, n_samples, max(recipe.reach(sizes[-1], n_samples - 1)), sizes)
