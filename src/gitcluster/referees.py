"""Referees: other clustering methods, which vote if the candidates of a selection disagree.

In many dimensions neighbourhoods are wide, density is estimated badly, and the candidates of one method may share its
mistakes. Ward's linkage, k-means and a Gaussian mixture make other mistakes, so that agreement between all families of
methods is a sign of structure. They cluster the same representations of at most ``MAX_REFEREED`` samples. Nothing is
random: k-means starts from the clusters of Ward's linkage, and the mixture from those of k-means.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from gitcluster._support.arrays import Array
from gitcluster.hierarchy import lloyd
from gitcluster.kernels import limit_threads

METHODS = ("Ward", "k-means", "Gaussian mixture")
MAX_REFEREED = 1000
"""Samples that referees cluster. The cost of Ward's linkage is quadratic, and an adjusted Rand index of 1,000 samples
has a standard error of about .02."""
REPRESENTATIONS = ("std", "power", "balanced", "factors")
"""Representations that differ enough from each other to have a vote each."""
MIN_DIMENSION = 3.0
"""Intrinsic dimension from which on referees are asked. In fewer dimensions, neighbourhoods are small, density is
estimated well, and clusters have shapes that no referee can find."""
SAMPLES_PER_FEATURE = 5
"""Samples per cluster and feature from which on a full covariance matrix is estimated."""
MIXTURE_STEPS = 20
"""Steps of expectation maximisation at most; they start from k-means, so that few are needed."""
MIXTURE_TOLERANCE = 1e-3
"""Gain in the mean log likelihood below which a mixture has converged."""
MIXTURE_FLOOR = 1e-3
"""Variance that is added in every direction, beside one of a feature."""


class Opinion(NamedTuple):
    """A clustering by a referee."""

    method: str
    representation: str
    labels: Array


class Referees:
    """Methods that cluster some of the samples in several representations."""

    def __init__(self, rows: Array, points: dict[str, NDArray[np.float64]], *, may_win: bool = False) -> None:
        self.rows, self.may_win = rows, may_win
        """Positions of the samples among all that are compared, and whether a clustering by a referee may be chosen."""
        self.points = {name: values - values.mean(axis=0) for name, values in points.items()}
        self._trees: dict[str, NDArray[np.float64]] = {}
        self._opinions: dict[int, list[Opinion]] = {}

    @property
    def has_categories(self) -> bool:
        """Return whether the samples have columns without values in between."""
        return "balanced" in self.points

    def cluster(self, n_clusters: int) -> list[Opinion]:
        """Return the clusterings of all methods in all representations."""
        if n_clusters not in self._opinions:
            with limit_threads(1):  # sums that do not depend on the number of threads
                self._opinions[n_clusters] = [
                    Opinion(method, name, labels)
                    for name in self.points
                    for method, labels in self._cluster_points(name, n_clusters).items()
                ]
        return self._opinions[n_clusters]

    def _cluster_points(self, name: str, n_clusters: int) -> dict[str, Array]:
        points = self.points[name]
        if name not in self._trees:
            self._trees[name] = linkage(points, "ward")
        ward = fcluster(self._trees[name], n_clusters, "maxclust") - 1
        means = np.array([points[ward == cluster].mean(axis=0) for cluster in range(ward.max() + 1)])
        clusters = np.unique(lloyd(points, np.ones(len(points)), means), return_inverse=True)[1]
        opinions = {"Ward": ward, "k-means": clusters}
        mixture = fit_mixture(points, clusters)
        return opinions if mixture is None else opinions | {"Gaussian mixture": mixture}


def fit_mixture(points: NDArray[np.float64], start: Array) -> Array | None:
    """Return the clusters of a Gaussian mixture that starts from some clusters; None if it cannot be fitted.

    The steps are those of scikit-learn's GaussianMixture, for all clusters at once, which is several times faster.
    """
    n_clusters, (n_samples, n_features) = int(start.max()) + 1, points.shape
    full, squares = n_samples >= SAMPLES_PER_FEATURE * n_clusters * n_features, points**2
    shares, fit, converged = np.eye(n_clusters)[start].T, -np.inf, False
    for _ in range(MIXTURE_STEPS + 1):
        sizes = shares.sum(axis=1, keepdims=True) + 1e-15  # an empty cluster has no mean
        means = shares @ points / sizes
        if full:
            centred = points - means[:, None]
            covariances = (centred * shares[:, :, None]).transpose(0, 2, 1) @ centred / sizes[:, :, None]
            try:
                roots = np.linalg.cholesky(covariances + MIXTURE_FLOOR * np.eye(n_features))
            except np.linalg.LinAlgError:
                return None
            distances = ((centred @ np.linalg.inv(roots).transpose(0, 2, 1)) ** 2).sum(axis=2)
            volumes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        else:  # with many features, a matrix of covariances would not fit into memory
            variances = np.maximum(shares @ squares / sizes - means**2, 0) + MIXTURE_FLOOR
            distances = (means**2 / variances).sum(axis=1)[:, None]
            distances = distances - 2 * (means / variances) @ points.T + (1 / variances) @ squares.T
            volumes = np.log(variances).sum(axis=1) / 2
        densities = np.log(sizes / n_samples) - volumes[:, None] - distances / 2
        highest = densities.max(axis=0)
        shares = np.exp(densities - highest)
        totals = shares.sum(axis=0)
        shares /= totals
        if converged:
            break
        before, fit = fit, float((np.log(totals) + highest).mean())
        converged = abs(fit - before) < MIXTURE_TOLERANCE
    return np.asarray(densities.argmax(axis=0))


def vote(agreement: NDArray[np.float64], families: Sequence[str], *, leading: str | None = None) -> NDArray[np.float64]:
    """Return the mean agreement of every clustering with the others, each family of methods with the same weight.

    Parameters
    ----------
    agreement : ndarray of shape (n, n)
        Adjusted Rand indices.
    families : sequence of str
        Family of every clustering.
    leading : str, default=None
        A family that has half of the vote.
    """
    names, others = np.array(families), agreement - np.eye(len(agreement))
    votes: dict[str, NDArray[np.float64]] = {}
    for name in sorted(set(families)):
        members = names == name
        count = members.sum() - members
        votes[name] = np.where(count > 0, others[:, members].sum(axis=1) / np.maximum(count, 1), np.nan)
    if leading is None:
        return np.asarray(np.nanmean(list(votes.values()), axis=0))
    first = votes.pop(leading)
    return np.asarray(np.nanmean([first, np.nanmean(list(votes.values()), axis=0)], axis=0))


def agreement_of_families(agreement: NDArray[np.float64], families: Sequence[str]) -> float:
    """Return the mean agreement of clusterings of different families, each pair of families with the same weight."""
    names = np.array(families)
    kinds = sorted(set(families))
    pairs = [(a, b) for i, a in enumerate(kinds) for b in kinds[i + 1 :]]
    return float(np.mean([agreement[np.ix_(names == a, names == b)].mean() for a, b in pairs])) if pairs else 0.0
