"""Makers of sets like everyday tables: classes differ in a few hidden factors that many columns tell of.

``measured`` is the common ground. What follows it makes columns out of what was measured: skewed ones, counts, answers
on a scale, coarse readings. Columns have deviation 1 before that, so that parameters are in deviations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.suite.shapes import Labelled, Points, gaussian, mixture, together, with_noise_features


def measured(
    rng: Generator, sizes: Sequence[int], gap: float, columns: int, *, factors: int = 3, stretch: float = 2.0,
    other: float = 2.0, noise: float = 0.3, useless: int = 0,
) -> Labelled:  # fmt: skip
    """Classes at least ``gap`` apart in hidden factors, seen through correlated columns and ``useless`` others.

    One more factor, of deviation ``other``, says nothing about the class, as size may about a kind of bean.
    """
    hidden, labels = mixture(rng, sizes, gap, factors, stretch)
    hidden = np.hstack([hidden, other * rng.normal(size=(len(hidden), 1))])
    seen = standardized(hidden @ rng.normal(size=(factors + 1, columns)))
    return with_noise_features(rng, (standardized(seen + noise * rng.normal(size=seen.shape)), labels), useless)


def standardized(points: Points) -> Points:
    """Columns with mean 0 and deviation 1."""
    return (points - points.mean(axis=0)) / points.std(axis=0)


def skewed(rng: Generator, table: Labelled, share: float, strength: float = 0.8) -> Labelled:
    """A share of the columns log-normal, and every column in its own unit, around its own level."""
    points, labels = table
    bent = np.where(rng.random(points.shape[1]) < share, np.expm1(strength * points), points)
    return (bent + rng.uniform(0, 10, points.shape[1])) * 10 ** rng.uniform(-2, 3, points.shape[1]), labels


def counted(rng: Generator, table: Labelled, mean: float, strength: float = 0.7) -> Labelled:
    """Poisson counts whose rates are log-normal."""
    points, labels = table
    rates = mean * rng.lognormal(0, 0.7, points.shape[1]) * np.exp(strength * points)
    return rng.poisson(rates).astype(float), labels


def answered(table: Labelled, levels: int) -> Labelled:
    """Answers on a scale of 1, 2, ..., which ends where opinions do not."""
    points, labels = table
    return np.clip(np.round((levels + 1) / 2 + points * levels / 4), 1, levels), labels


def graded(table: Labelled, step: float) -> Labelled:
    """Grades 1 to 10, of which samples near 0 have the lowest: many are duplicates, all of them healthy."""
    points, labels = table
    return np.clip(np.round(1 + points / step), 1, 10), labels


def coarse(table: Labelled, step: float) -> Labelled:
    """Readings in steps, which makes duplicates where samples are dense."""
    return np.round(standardized(table[0]) / step) * step, table[1]


def recorded(rng: Generator, table: Labelled, n: int) -> Labelled:
    """As many rows as asked for, most of them a copy of another: what was recorded again and again."""
    points, labels = table
    often = rng.pareto(1.5, len(points)) + 0.2
    rows = np.concatenate([np.arange(len(points)), rng.choice(len(points), n - len(points), p=often / often.sum())])
    return points[rows], labels[rows]


def yes_or_no(rng: Generator, sizes: Sequence[int], columns: int, told: float) -> Labelled:
    """Yes/no columns, each with its own chance of yes in every class; ``told`` is how far apart these are."""
    chances = 1 / (1 + np.exp(-rng.normal(0, 0.7, columns) - told * rng.normal(size=(len(sizes), columns))))
    return together(
        *((rng.random((n, columns)) < chance).astype(float) for n, chance in zip(sizes, chances, strict=True))
    )


def patients(
    rng: Generator, healthy: int, sick: Sequence[int], columns: int, *, severity: float, wide: float = 1.5
) -> Labelled:
    """Healthy samples, dense and alike; the sick ones scattered from among them in a direction of each disease."""
    common = rng.normal(size=(2, columns)) * 0.5
    clouds = [_alike(rng, healthy, common)]
    for n in sick:
        direction = np.abs(rng.normal(1, 0.5, columns)) * rng.choice([-1, 1, 1], columns)
        ill = severity * rng.gamma(2.5, 0.4, (n, 1)) * direction * rng.lognormal(0, 0.4, (n, columns))
        clouds.append(wide * _alike(rng, n, common) + ill)
    return together(*clouds)


def _alike(rng: Generator, n: int, common: Points) -> Points:
    return rng.normal(size=(n, len(common))) @ common + 0.6 * rng.normal(size=(n, common.shape[1]))


def far_groups(rng: Generator, table: Labelled, sizes: Sequence[int], away: float, *, are: str) -> Labelled:
    """Small groups far off. They ``are`` classes, part of the nearest class, or of any class, by chance."""
    points, labels = standardized(table[0]), table[1]
    centers = np.array([points[labels == i].mean(axis=0) for i in range(labels.max() + 1)])
    for i, n in enumerate(sizes):
        direction = rng.normal(size=points.shape[1])
        place = away * np.sqrt(len(direction)) * direction / np.linalg.norm(direction)
        points = np.vstack([points, gaussian(rng, n, place, 0.25)])
        nearest = np.linalg.norm(centers - place, axis=1).argmin()
        own = {"classes": len(centers) + i, "nearest": nearest, "any": rng.integers(0, len(centers), n)}[are]
        labels = np.concatenate([labels, np.broadcast_to(own, n)])
    return points, labels
