"""The variants of the method: one row says what every stage does and how many neighbours it looks at.

Fit, predict, explain and the distributed fit all read their row here, so that a new kernel, similarity or variant is an
entry in this file and nothing else.
"""

from typing import NamedTuple

from gitcluster._support.validation import check_choice


class Kernel(NamedTuple):
    """Stage 2, how a neighbour counts in the intensity: exp(-d^power / unit)."""

    power: int
    unit: str
    """"one", "features" (their number), or "component" (mean neighbour distance of the connected component, to the
    same power: a kernel without a scale of its own)."""


KERNELS = {
    "exponential": Kernel(1, "one"),
    "gaussian": Kernel(2, "features"),
    "relative": Kernel(1, "component"),
}


class Similarity(NamedTuple):
    """Stage 4, similarity of a boundary pair: exp(-rate d) (min(f(x), f(y)) / min(f(peak i), f(peak j)))^valley."""

    rate: float
    valley: float
    of_intensity: bool = False
    """Whether d is such that exp(-d) = ((f(x) + f(y)) / 2)^2, as Algorithm 2 of the paper has it."""


SIMILARITIES = {
    "distance": Similarity(rate=1.0, valley=0.0),
    "relative": Similarity(rate=0.0, valley=2.0),
    "intensity": Similarity(rate=1.0, valley=0.0, of_intensity=True),
}


class Reach(NamedTuple):
    """How many neighbours every stage looks at."""

    intensity: int
    climb: int
    boundary: int


class Recipe(NamedTuple):
    """One variant."""

    name: str
    kernel: str
    """How a neighbour counts in the intensity, by its name in ``KERNELS``."""
    climb: float
    """Neighbours to climb among, as a share of n_neighbors."""
    strict: bool
    """Whether a parent must be higher, even on a plateau or among duplicates, which tears these apart."""
    boundary: str
    """Which neighbours are boundary pairs: "mutual" ones, or those "uphill"."""
    boundary_reach: float
    """Neighbours among which boundary pairs are looked for, relative to n_neighbors."""
    similarity: str
    """How similar a boundary pair is, by its name in ``SIMILARITIES``."""
    unscaled: tuple[str, ...]
    """Stages whose distances are of the features as they were given, not as they were scaled: "climb", "similarity"."""
    merge: str
    """"linkage" chooses among several n_neighbors and needs no prior; "sweep" is the paper's last stage."""
    leftover: str
    """What the sweep does with clusters beyond those asked for: join what they are "connected" to, or follow "cut"
    edges."""
    n_neighbors: int | None
    """Default number of neighbours; None where several are tried."""

    def reach(self, n_neighbors: int, n_found: int | None = None) -> Reach:
        """How many neighbours every stage looks at, of the ``n_found`` that were searched.

        Examples
        --------
        >>> RECIPES["adaptive"].reach(7)
        Reach(intensity=7, climb=3, boundary=14)
        """
        wanted = (n_neighbors, max(1, int(self.climb * n_neighbors)), int(self.boundary_reach * n_neighbors))
        return Reach(*(k if n_found is None else min(k, n_found) for k in wanted))

    @property
    def has_hierarchy(self) -> bool:
        """Whether local clusters are merged by linkage, which takes constraints and can be cut anywhere."""
        return self.merge == "linkage"

    @property
    def needs_bridges(self) -> bool:
        """Whether the parts of a topo-graph that nothing connects are tied, so that all of them can merge."""
        return self.leftover == "connected"

    def check(self, *, n_clusters: int | None, constrained: bool, fractions: bool) -> None:
        """Raise where something is asked for that this variant cannot do."""
        if self.has_hierarchy:
            return
        if constrained:
            raise ValueError(f"variant={self.name!r} takes no constraints on samples or sizes. Use variant='adaptive'.")
        if n_clusters is None:
            raise ValueError(f"variant={self.name!r} needs a prior. Give n_clusters as an integer, or proportions.")
        if fractions and self.strict:
            raise ValueError(f"variant={self.name!r} takes whole numbers as sample_weight only. Use another variant.")


_ADAPTIVE = Recipe(
    name="adaptive",
    kernel="relative",
    climb=0.5,
    strict=False,
    boundary="mutual",
    boundary_reach=2.0,
    similarity="relative",
    unscaled=(),
    merge="linkage",
    leftover="connected",
    n_neighbors=None,
)
_PAPER = _ADAPTIVE._replace(
    name="paper",
    kernel="exponential",
    climb=1.0,
    boundary_reach=1.0,
    similarity="distance",
    merge="sweep",
    n_neighbors=8,
)
_AUTHORS = _PAPER._replace(
    name="authors", kernel="gaussian", strict=True, boundary="uphill", unscaled=("similarity",), leftover="cut"
)
RECIPES = {recipe.name: recipe for recipe in (_ADAPTIVE, _PAPER, _AUTHORS)}
"""Ours, which needs no tuning; the paper's method with every distance scaled; the code behind the published figures."""
VARIANTS = tuple(RECIPES)
_READINGS = (
    _PAPER._replace(name="paper-literal", unscaled=("climb", "similarity")),
    _PAPER._replace(name="paper-algorithm2", similarity="intensity"),
)
READINGS = {recipe.name: recipe for recipe in _READINGS}
"""Readings of the paper that are there to be compared: Eq. 4 and Eq. 10 as they are printed, of unscaled distances (new
samples climb by scaled ones all the same); the weight of Algorithm 2, which contradicts Eq. 10."""


def find_recipe(variant: str) -> Recipe:
    """The recipe of a variant or of a reading, by its name."""
    if isinstance(variant, str) and variant in READINGS:
        return READINGS[variant]
    return RECIPES[check_choice("variant", variant, RECIPES)]
