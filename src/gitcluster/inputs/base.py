"""What every kind of input has in common: the interface of the method's first stage, and the checks of its values."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from gitcluster._support.arrays import Array
from gitcluster._support.validation import check_unmasked
from gitcluster.inputs.representations import Representation
from gitcluster.inputs.ways import Ways
from gitcluster.neighbors import Neighbors, RecomputeRows

SMALLEST = 1e10
"""Where the largest distance is below this many of the smallest floats, ratios of distances lose their digits."""

Validate = Callable[..., Any]
"""scikit-learn's ``check_array``, or ``validate_data`` of an estimator, which keeps the names of features as well."""


class Input(ABC):
    """What is clustered, checked."""

    repeatable: ClassVar[bool] = True
    """Whether a sample can be there several times."""
    symmetric: ClassVar[bool] = True
    """Whether d(x, y) = d(y, x) up to rounding."""

    @property
    def can_wait(self) -> bool:
        """Whether samples may be put in an order of their own when they are scaled, and not before: what is learned of
        them until then is the same in every order."""
        return False

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Features, or columns, of what was given."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples."""

    @abstractmethod
    def neighbors(
        self, n_neighbors: int, *, search: Any = "auto", n_jobs: int | None = None, again: RecomputeRows | None = None
    ) -> Neighbors:
        """Stage 1; ``again`` gives some of the samples again, so that a search may use the room of them."""

    @abstractmethod
    def nearest(self, new: Any, n_neighbors: int, *, n_jobs: int | None = None) -> Neighbors:
        """The nearest samples to new ones, which :meth:`check_new` has checked."""

    @abstractmethod
    def check_new(self, X: Any, validate: Validate) -> Any:
        """New samples, in the form that the other methods take."""

    @abstractmethod
    def matcher(self, *keys: Array) -> Callable[[Any], Array]:
        """A function that tells which sample every new one equals, -1 where there is none.

        Of several equal samples it is the one with the lowest keys, the last key first.
        """

    @abstractmethod
    def is_same(self, new: Any, members: Array) -> bool:
        """Whether new samples are exactly these of the samples."""

    @abstractmethod
    def rows(self, members: Array, X: Any = None) -> Any:
        """Some of the samples, as :meth:`nearest` takes them; ``X`` is what was fitted, where it was not kept."""

    @abstractmethod
    def repeat(self, rows: Array) -> Self:
        """Some of the samples, some of them more than once."""

    @abstractmethod
    def scaled(self, scale: Any) -> "Input":
        """As distances are measured."""

    def represented(
        self, scale: Any, rows: Array | None, *, order: Array | None = None, n_jobs: int | None = None
    ) -> list[Representation]:
        """The ways in which distances may be measured, from a look at some of the samples, or all; ``rows`` are places
        in an ``order``, where there is one."""
        return [Representation("given", None)]

    def under(self, way: Representation, *, order: Array | None = None, n_jobs: int | None = None) -> "Input":
        """As distances are measured in one of these ways, in an ``order`` where there is one; never the same array."""
        return self

    def made_again(self, way: Representation, *, order: Array | None = None) -> RecomputeRows | None:
        """A function that gives some of the samples as :meth:`under` has made them; None where it is of no use."""
        return None

    def some_rows(self, most: int, *, order: Array | None = None, n_jobs: int | None = None) -> Array | None:
        """``most`` of the samples, whatever their order and units, as places in an ``order`` where there is one; None
        where there are no more, or no such choice."""
        return None

    def put_in_order(self, order: Array) -> "Input":
        """The samples in another order; what :meth:`under` made is written over, and not used any more."""
        return self.repeat(order)

    def own_order(self, *, always: bool, n_jobs: int | None = None) -> Array | None:
        """Return an order of the samples that does not depend on how they were given, or None if there is none."""
        return None

    def first_equal(self, order: Array) -> Array:
        """The first sample, in an order, that every sample is equal to."""
        return np.arange(self.n_samples)

    def unscaled_neighbors(self, near: Neighbors, *, n_jobs: int | None = None) -> Neighbors:
        """The same neighbours, with their distances before anything was scaled."""
        return near

    def as_new(self, given: Any) -> Any:
        """All samples that were given, in the form that new ones have."""
        raise NotImplementedError("samples of this kind are not repeated")

    def kept(self, members: Array, order: Array | None) -> "Input":
        """What is kept after a fit: ``members`` are the samples that were given, each once, ``order`` their own one."""
        return self

    def ways_between(self, peaks: Array) -> Ways | None:
        """Finds short ways between some of the samples; None where there is nothing to measure them by."""
        return None


def as_floats(X: Any, validate: Validate, *, ensure_min_samples: int = 2, allow_nan: bool = False) -> Any:
    """Return what the user passes as a C-ordered array or CSR matrix of floats."""
    check_unmasked("X", X)
    if issparse(X) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X is a sparse matrix of complex numbers.")
    with np.errstate(invalid="ignore", over="ignore"):  # of sums that look for values that are not finite
        try:
            samples = validate(
                X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr",
                ensure_min_samples=ensure_min_samples, ensure_all_finite="allow-nan",
            )  # fmt: skip
        except OverflowError as error:
            raise ValueError(f"X has a value that is too large for a float: {error}") from None
        values = samples.data if issparse(samples) else samples
        # a sum is fast and NaN if any value is; check_array does the same
        if not allow_nan and np.isnan(values.sum()) and np.isnan(values).any():
            raise ValueError(
                f"Input X contains NaN in {int(np.isnan(values).sum()):,} cells. Pass a data frame, whose missing "
                "numbers are imputed from the nearest rows, or use sklearn.impute.KNNImputer first."
            )
    return samples


def check_distances_are_usable(distances: Array) -> None:
    """Raise where distances are so small that their ratios have lost their digits."""
    if 0 < distances.max() < SMALLEST * np.finfo(distances.dtype).tiny:
        raise ValueError(
            "The distances between samples are too small for floating point. Multiply X, or use scale='std'."
        )
