"""``gitcluster demo``: GIT on an embedded example, as a picture and a table in the terminal; needs no extra."""

import shutil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gitcluster import GIT, __version__

LETTERS = "ABCD"
PRIOR = (0.5, 0.3, 0.15, 0.05)


def make_example() -> NDArray[np.float64]:
    """Return two interleaved half rings, a broad cloud and a small dense one: 1,000 samples in the shares of PRIOR."""
    rng = np.random.default_rng(7)
    upper, lower = (np.pi * rng.random(n) for n in (500, 300))
    return np.concatenate(
        [
            np.column_stack([np.cos(upper), np.sin(upper)]) + 0.07 * rng.normal(size=(500, 2)),
            np.column_stack([1 - np.cos(lower), 0.4 - np.sin(lower)]) + 0.07 * rng.normal(size=(300, 2)),
            [3.0, 0.2] + 0.22 * rng.normal(size=(150, 2)),
            [3.0, 1.15] + 0.05 * rng.normal(size=(50, 2)),
        ]
    )


def draw(points: NDArray[Any], labels: NDArray[Any], *, width: int, height: int) -> str:
    """Return samples as letters: the most frequent cluster of every cell."""
    low, high = points.min(axis=0), points.max(axis=0)
    cells = ((points - low) / (high - low) * [width - 1, height - 1]).round().astype(int)
    votes = np.zeros((height, width, labels.max() + 1), dtype=int)
    np.add.at(votes, (height - 1 - cells[:, 1], cells[:, 0], labels), 1)
    return "\n".join("".join(LETTERS[cell.argmax()] if cell.any() else " " for cell in row).rstrip() for row in votes)


def show_demo() -> None:
    """Cluster the example with known proportions, and print the clusters."""
    X = make_example()
    model = GIT(proportions=PRIOR).fit(X)
    width = min(shutil.get_terminal_size().columns, 90)
    print(f"gitcluster {__version__}: 1,000 samples, expected in the proportions 50 : 30 : 15 : 5\n")
    print(draw(X, model.labels_, width=width, height=width // 4))
    print(f"\n{len(model.peaks_)} local clusters, {len(model.topo_graph_.edges)} edges between them, "
          f"{int((~model.edge_cut_.kept).sum())} of them cut\n")  # fmt: skip
    print("cluster  samples  share  expected")
    for letter, size, share, expected in zip(LETTERS, model.edge_cut_.sizes, model.proportions_, PRIOR, strict=True):
        print(f"{letter:>7}  {size:>7}  {share:>5.1%}  {expected:>8.1%}")
    print("\nIn Python:  GIT(proportions=[50, 30, 15, 5]).fit_predict(X)")
