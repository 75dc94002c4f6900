"""Stability: how well half-samples of the data reproduce a clustering."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster._support.arrays import Array
from gitcluster._support.names import list_of
from gitcluster._support.optional import require

CONFIDENCE = (-1.0, 2.3)
"""Log odds that a number of clusters is right if no half-sample has it, and their gain if all have it. Fitted on half
of the sets of ``python -m benchmarks stability``."""
MIN_GAIN = 0.1
"""Clusters are better than chance if their agreement exceeds that of shuffled tables by this much."""
MAX_NUMBERS = 4
"""Other numbers of clusters that are listed."""
STABLE, DISSOLVED = 0.75, 0.5
"""Hennig's limits of the Jaccard coefficient: from .75 on a cluster is stable, below a half it is another cluster."""


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Clusters of a fit, compared with those of half-samples of its data; ``print`` it. See :meth:`GIT.stability`.

    With one cluster, there is nothing to compare but the numbers of clusters, and the other values are NaN.
    """

    draw_size: int
    """Rows of every draw."""
    is_chosen: bool
    """Whether every draw selected its number of clusters; otherwise it was given."""
    sizes: Array
    """(n_clusters,) rows of every cluster."""
    numbers: Array
    """(n_draws,) number of clusters of every draw."""
    agreement: NDArray[np.float64]
    """(n_draws,) adjusted Rand index of every draw and the fit."""
    clusters: NDArray[np.float64]
    """(n_clusters,) mean Jaccard coefficient of every cluster and the most similar cluster of each draw; NaN if no draw
    contains the cluster."""
    dissolved: NDArray[np.float64]
    """(n_clusters,) share of the draws in which this coefficient is below a half."""
    samples: NDArray[np.float64]
    """(n_samples,) share of the draws in which a sample is in the cluster most similar to its own."""
    edges: NDArray[np.float64]
    """(n_edges,) share of the draws that separate the two local clusters of an edge; NaN if none contains both."""
    null_agreement: NDArray[np.float64]
    """(n_null,) adjusted Rand index of a shuffled table and half of it, both in the fit's number of clusters; empty if
    the columns are unknown."""
    ids: Array
    """(n_clusters,) number of every cluster."""
    titles: tuple[str, ...]
    """(n_clusters,) name or number of every cluster."""

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters of the fit."""
        return len(self.sizes)

    @property
    def n_draws(self) -> int:
        """Return the number of draws."""
        return len(self.numbers)

    @property
    def same_number(self) -> float:
        """Return the share of draws with as many clusters as the fit."""
        return float((self.numbers == self.n_clusters).mean())

    @property
    def confidence(self) -> float:
        """Return how often a number this stable was right in tests; NaN if the number was given.

        A number that all half-samples share may be wrong, because overlapping groups look like one.
        """
        start, gain = CONFIDENCE
        return float(1 / (1 + np.exp(-start - gain * self.same_number))) if self.is_chosen else float("nan")

    def number_counts(self) -> dict[int, int]:
        """Return how many draws have each number of clusters, the most frequent first."""
        numbers, counts = np.unique(self.numbers, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return dict(zip(numbers[order].tolist(), counts[order].tolist(), strict=True))

    def sentences(self) -> list[str]:
        """Return the numbers of clusters of the draws, their agreement with the fit, and the unstable clusters."""
        n_clusters, sentences = self.n_clusters, []
        if self.is_chosen:
            others = [str(number) for number in self.number_counts() if number != n_clusters]
            rest = f"; others have {list_of(others[:MAX_NUMBERS])}" if others else ""
            groups = "no groups" if n_clusters == 1 else f"{n_clusters} groups"
            same = int((self.numbers == n_clusters).sum())
            sentences.append(f"Of {self.n_draws} half-samples, {same} have {groups}{rest}.")
            doubt = ", so it is doubtful" if self.same_number < 0.5 else ""
            sentences.append(f"In tests, a number this stable was right {self.confidence:.0%} of the time{doubt}.")
        if n_clusters == 1:
            return sentences
        agreement, chance = self.agreement.mean(), ""
        if len(self.null_agreement):
            by_chance = self.null_agreement.mean()
            hardly = ", hardly less" if agreement < by_chance + MIN_GAIN else ""
            chance = f" (shuffled columns: {by_chance:.2f}{hardly})"
        sentences.append(f"Agreement of the half-samples with these groups: {agreement:.2f} of 1{chance}.")
        for title, similarity in zip(self.titles, self.clusters.tolist(), strict=True):
            if np.isnan(similarity):
                sentences.append(f"No half-sample contains cluster {title}.")
        unstable = [
            f"cluster {title}" for title, share in zip(self.titles, self.clusters, strict=True) if share < STABLE
        ]
        words = f"Unstable: {list_of(unstable)}." if unstable else "No cluster is unstable."
        return [*sentences, words]

    def __str__(self) -> str:
        head = f"{self.n_draws} half-samples of {self.draw_size:,} rows"
        lines = [head, *self.sentences()]
        if self.n_clusters > 1:
            width = max(7, *map(len, self.titles))
            lines.append(f"{'cluster':>{width}}    rows  stability  dissolved")
            columns = self.titles, self.sizes.tolist(), self.clusters.tolist(), self.dissolved.tolist()
            lines += [f"{c:>{width}} {n:>7,} {s:>10.2f} {d:>10.0%}" for c, n, s, d in zip(*columns, strict=True)]
        return "\n".join(lines)

    __repr__ = __str__

    def to_frame(self) -> Any:
        """Return one row per cluster as a pandas data frame: rows, stability, dissolved."""
        pandas = require("pandas", extra="export", purpose="to_frame")
        columns = {"rows": self.sizes, "stability": self.clusters, "dissolved": self.dissolved}
        return pandas.DataFrame(columns, index=pandas.Index(self.ids, name="cluster"))
