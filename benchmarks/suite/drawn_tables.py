"""Tables drawn at random, every one another: groups that show in numbers and categories, or in answers on a scale.

Nothing is chosen on single draws; rules for tables are judged by the mean over many, see ``experiments.drawn``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Labels = NDArray[np.int64]
SIZES = (120, 150, 200, 300, 600, 1000)


def draw_groups(seed: int) -> tuple[pd.DataFrame, Labels]:
    """Two to five groups in one to six numbers and one to six categories."""
    rng = np.random.default_rng(seed)
    n_rows, n_groups = int(rng.choice(SIZES)), int(rng.integers(2, 6))
    group = rng.choice(n_groups, n_rows, p=rng.dirichlet(np.full(n_groups, 6.0)))
    columns: dict[str, Any] = {}
    for i in range(rng.integers(1, 7)):
        values = rng.permutation(n_groups)[group] * rng.uniform(0.8, 3) + rng.normal(size=n_rows)
        columns[f"number {i}"] = [np.exp(values / 2), np.round(5 * values), values, values][rng.integers(0, 4)]
    for i in range(rng.integers(1, 7)):
        n_values = int(rng.integers(2, 6))
        shares = rng.dirichlet(np.full(n_values, rng.uniform(0.2, 1.0)), size=n_groups)
        columns[f"category {i}"] = [f"value {rng.choice(n_values, p=shares[own])}" for own in group]
    return pd.DataFrame(columns), group


def add_numbers(frame: pd.DataFrame, seed: int, count: int) -> pd.DataFrame:
    """The table with numbers that have nothing to do with it, of one shape or of all."""
    rng, noisy = np.random.default_rng(10**6 + seed), frame.copy()
    chosen = int(rng.integers(0, len(NUMBERS) + 1))
    for i in range(count):
        shape = chosen if chosen < len(NUMBERS) else int(rng.integers(0, len(NUMBERS)))
        noisy[f"extra {i}"] = NUMBERS[shape](rng, len(frame))
    return noisy


NUMBERS: tuple[Callable[[np.random.Generator, int], Any], ...] = (
    lambda rng, n: rng.integers(0, 100, n),
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.exponential(size=n).round(2),
    lambda rng, n: rng.poisson(4, n),
    lambda rng, n: rng.uniform(size=n),
    lambda rng, n: rng.integers(1, 8, n),
)


def draw_answers(seed: int) -> tuple[pd.DataFrame, Labels]:
    """Two to four groups in up to four numbers, a category, and two to seven columns of whole numbers: 0 to 2, to 6."""
    rng = np.random.default_rng(9000 + seed)
    n_rows, n_groups = int(rng.choice([200, 400, 800])), int(rng.integers(2, 5))
    group = rng.integers(0, n_groups, n_rows)

    def values() -> NDArray[np.float64]:
        return np.asarray(rng.permutation(n_groups)[group] * rng.uniform(1, 3) + rng.normal(size=n_rows))

    columns: dict[str, Any] = {f"number {i}": values() for i in range(rng.integers(0, 5))}
    for i in range(rng.integers(2, 8)):
        asked = values()
        limits = np.sort(rng.uniform(asked.min(), asked.max(), int(rng.integers(2, 7))))
        columns[f"answer {i}"] = np.searchsorted(limits, asked)
    columns["category"] = np.where(rng.random(n_rows) < 0.6, np.array(list("abcd"))[group], "e")
    return pd.DataFrame(columns), group
