"""The variants of the method: one row per variant says what every stage does.

Fit, predict, explain and the distributed fit read their row here, so that a new kernel, similarity or variant is one
entry in this file.
"""

from typing import NamedTuple

from gitcluster._support.validation import check_choice


class Kernel(NamedTuple):
    """Weight of a neighbour in the intensity (stage 2): ``exp(-d**power / unit)``."""

    power: int
    unit: str
    """"one", "features" (their number), or "component" (the mean neighbour distance of the connected component, to the
    same power, which makes the kernel scale-free)."""


KERNELS = {
    "exponential": Kernel(1, "one"),
    "gaussian": Kernel(2, "features"),
    "relative": Kernel(1, "component"),
}


class Similarity(NamedTuple):
    """Similarity of a boundary pair: ``exp(-rate d) (min(f(x), f(y)) / min(f(peak i), f(peak j)))**valley``."""

    rate: float
    valley: float
    of_intensity: bool = False
    """Whether d is defined by ``exp(-d) = ((f(x) + f(y)) / 2)**2``, as in Algorithm 2 of the paper."""


SIMILARITIES = {
    "distance": Similarity(rate=1.0, valley=0.0),
    "relative": Similarity(rate=0.0, valley=2.0),
    "intensity": Similarity(rate=1.0, valley=0.0, of_intensity=True),
}


class Reach(NamedTuple):
    """Number of neighbours that every stage uses."""

    intensity: int
    climb: int
    boundary: int


class Variant(NamedTuple):
    """One variant of the method."""

    name: str
    kernel: str
    """Kernel of the intensity, a key of ``KERNELS``."""
    climb: float
    """Neighbours to climb among, as a share of n_neighbors."""
    strict: bool
    """Whether a parent must have a higher intensity, which separates plateaus and duplicates."""
    boundary: str
    """Which neighbours are boundary pairs: "mutual" ones, or those "uphill"."""
    boundary_reach: float
    """Neighbours searched for boundary pairs, relative to n_neighbors."""
    similarity: str
    """Similarity of a boundary pair, a key of ``SIMILARITIES``."""
    unscaled: tuple[str, ...]
    """Stages that measure distances in the unscaled features: "climb", "similarity"."""
    merge: str
    """"linkage" compares several n_neighbors and needs no prior; "sweep" is the last stage of the paper."""
    leftover: str
    """How the sweep treats clusters beyond the requested number: they join what they are "connected" to, or follow
    "cut" edges."""
    n_neighbors: int | None
    """Default number of neighbours; None if several are tried."""

    def reach(self, n_neighbors: int, n_searched: int | None = None) -> Reach:
        """Return the number of neighbours of every stage, at most ``n_searched``.

        Examples
        --------
        >>> VARIANTS["adaptive"].reach(7)
        Reach(intensity=7, climb=3, boundary=14)
        """
        wanted = (n_neighbors, max(1, int(self.climb * n_neighbors)), int(self.boundary_reach * n_neighbors))
        return Reach(*(k if n_searched is None else min(k, n_searched) for k in wanted))

    @property
    def has_hierarchy(self) -> bool:
        """Whether local clusters are merged by linkage, which supports constraints and cuts into any number."""
        return self.merge == "linkage"

    def check(self, *, n_clusters: int | None, constrained: bool, fractions: bool) -> None:
        """Raise ValueError if the variant does not support what is requested."""
        if self.has_hierarchy:
            return
        if constrained:
            raise ValueError(
                f"variant={self.name!r} supports no constraints on samples or sizes. Use variant='adaptive'."
            )
        if n_clusters is None:
            raise ValueError(f"variant={self.name!r} needs a prior. Set n_clusters to an integer, or set proportions.")
        if fractions and self.strict:
            raise ValueError(f"variant={self.name!r} supports integers only as sample_weight. Use another variant.")


_ADAPTIVE = Variant(
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
VARIANTS = {variant.name: variant for variant in (_ADAPTIVE, _PAPER, _AUTHORS)}
"""The default, which needs no tuning; the paper's method with every distance scaled; the code behind the published
figures."""
_READINGS = (
    _PAPER._replace(name="paper-literal", unscaled=("climb", "similarity")),
    _PAPER._replace(name="paper-algorithm2", similarity="intensity"),
)
READINGS = {variant.name: variant for variant in _READINGS}
"""Other readings of the paper, for comparison. "paper-literal" uses unscaled distances in Eq. 4 and Eq. 10, as printed
(new samples climb by scaled ones). "paper-algorithm2" uses the weight of Algorithm 2, which contradicts Eq. 10."""


def find_variant(name: str) -> Variant:
    """Return a variant or a reading by its name."""
    if isinstance(name, str) and name in READINGS:
        return READINGS[name]
    return VARIANTS[check_choice("variant", name, VARIANTS)]
