"""Simulated tables, images and embeddings: classes differ in few hidden factors, which many columns show.

``measured`` is the base of the tables. Other functions turn its columns into skewed ones, counts, answers on a scale or
coarse readings. Columns have standard deviation 1 before that, so parameters are in standard deviations.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.suite.shapes import (
    Labelled,
    Points,
    gaussian,
    mixture,
    random_rotation,
    rotation,
    spread_centers,
    stack,
)


def measured(rng: Generator, sizes: Sequence[int], gap: float, columns: int, *, factors: int = 3) -> Labelled:
    """Return classes that differ in hidden factors, seen through correlated columns.

    Classes are at least ``gap`` from each other. One more factor, of deviation 2, is independent of the class.
    """
    hidden, labels = mixture(rng, sizes, gap, factors, 2.0)
    hidden = np.hstack([hidden, 2.0 * rng.normal(size=(len(hidden), 1))])
    seen = standardized(hidden @ rng.normal(size=(factors + 1, columns)))
    return standardized(seen + 0.3 * rng.normal(size=seen.shape)), labels


def standardized(points: Points) -> Points:
    """Return columns with mean 0 and deviation 1."""
    return (points - points.mean(axis=0)) / points.std(axis=0)


def skewed(rng: Generator, table: Labelled, share: float, strength: float = 0.8) -> Labelled:
    """Return the table with a share of log-normal columns, and every column in its own unit around its own level."""
    points, labels = table
    bent = np.where(rng.random(points.shape[1]) < share, np.expm1(strength * points), points)
    return (bent + rng.uniform(0, 10, points.shape[1])) * 10 ** rng.uniform(-2, 3, points.shape[1]), labels


def counted(rng: Generator, table: Labelled, mean: float, strength: float = 0.7) -> Labelled:
    """Return Poisson counts whose rates are log-normal."""
    points, labels = table
    rates = mean * rng.lognormal(0, 0.7, points.shape[1]) * np.exp(strength * points)
    return rng.poisson(rates).astype(float), labels


def graded(table: Labelled, step: float) -> Labelled:
    """Return grades from 1 to 10; samples near 0 have the lowest, and many healthy samples are duplicates."""
    points, labels = table
    return np.clip(np.round(1 + points / step), 1, 10), labels


def coarse(table: Labelled, step: float) -> Labelled:
    """Return readings in steps, which causes duplicates if samples are dense."""
    return np.round(standardized(table[0]) / step) * step, table[1]


def patients(
    rng: Generator, healthy: int, sick: Sequence[int], columns: int, *, severity: float, wide: float = 1.5
) -> Labelled:
    """Return healthy samples, dense and alike, and sick ones scattered in a direction of each disease."""
    common = rng.normal(size=(2, columns)) * 0.5
    clouds = [_alike(rng, healthy, common)]
    for n in sick:
        direction = np.abs(rng.normal(1, 0.5, columns)) * rng.choice([-1, 1, 1], columns)
        ill = severity * rng.gamma(2.5, 0.4, (n, 1)) * direction * rng.lognormal(0, 0.4, (n, columns))
        clouds.append(wide * _alike(rng, n, common) + ill)
    return stack(*clouds)


def _alike(rng: Generator, n: int, common: Points) -> Points:
    return rng.normal(size=(n, len(common))) @ common + 0.6 * rng.normal(size=(n, common.shape[1]))


def far_groups(rng: Generator, table: Labelled, sizes: Sequence[int], away: float, *, role: str) -> Labelled:
    """Return small groups far off. By ``role`` they are classes, part of the nearest class, or of any class."""
    points, labels = standardized(table[0]), table[1]
    centers = np.array([points[labels == i].mean(axis=0) for i in range(labels.max() + 1)])
    for i, n in enumerate(sizes):
        direction = rng.normal(size=points.shape[1])
        centre = away * np.sqrt(len(direction)) * direction / np.linalg.norm(direction)
        points = np.vstack([points, gaussian(rng, n, centre, 0.25)])
        nearest = np.linalg.norm(centers - centre, axis=1).argmin()
        own = {"classes": len(centers) + i, "nearest": nearest, "any": rng.integers(0, len(centers), n)}[role]
        labels = np.concatenate([labels, np.broadcast_to(own, n)])
    return points, labels


def signs_by_hand(rng: Generator, sizes: Sequence[int], side: int, *, wobble: float) -> Labelled:
    """Return grey images of ``side`` x ``side`` pixels: a class is a bent line with variations."""
    clouds = []
    for n in sizes:
        line = rng.uniform(-0.7, 0.7, (5, 2))
        careless = wobble * rng.uniform(0.6, 1.6)
        drawn = [_drawn(rng, line + careless * rng.normal(size=line.shape), careless, side) for _ in range(n)]
        clouds.append(np.round(16 * np.array(drawn)))
    return stack(*clouds)


def _drawn(rng: Generator, line: Points, careless: float, side: int) -> Points:
    """Return the ink of a line that is turned, stretched and moved, by the distance of each pixel to it."""
    turned = line @ rotation(0.3 * careless * rng.normal()).T * rng.lognormal(0, 0.6 * careless, 2)
    times, ends = np.linspace(0, 1, 40), np.linspace(0, 1, len(line))
    path = np.column_stack([np.interp(times, ends, axis) for axis in turned.T]) + 0.4 * careless * rng.normal(size=2)
    grid = np.linspace(-1, 1, side)
    pixels = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 1, 2)
    distance = np.linalg.norm(pixels - path, axis=2).min(axis=1)
    return np.exp(-((distance / rng.uniform(0.15, 0.3)) ** 2))


def encoded(rng: Generator, sizes: Sequence[int], columns: int, *, gap: float, inner: int, depth: int = 8) -> Labelled:
    """Return hidden variables passed through a random network: classes are sheets of ``inner`` dimensions.

    Classes are ``gap`` from each other in ``depth`` hidden variables, dense in their middle and of unequal spread. Two
    random layers turn these into ``columns``.
    """
    hidden = []
    for n in sizes:
        middle, spread = gap * rng.normal(size=depth) / np.sqrt(2 * depth), rng.uniform(0.4, 1.2)
        sheet = rng.normal(size=(n, inner)) * rng.gamma(4, 0.25, (n, 1)) @ random_rotation(rng, depth)[:inner]
        hidden.append(middle + spread * sheet)
    points, labels = stack(*hidden)
    layer = np.tanh(points @ rng.normal(size=(depth, 4 * depth)) / np.sqrt(depth) + 0.5 * rng.normal(size=4 * depth))
    seen = layer @ rng.normal(size=(4 * depth, columns)) / np.sqrt(4 * depth)
    return seen + 0.1 * rng.normal(size=seen.shape), labels


def topics(rng: Generator, sizes: Sequence[int], columns: int, *, purity: float) -> Labelled:
    """Return texts as directions: each mixes the topic of its class with some others; similar topics share words."""
    areas = rng.normal(size=(max(2, len(sizes) // 3), columns))
    own = np.array([areas[i % len(areas)] + rng.normal(size=columns) for i in range(len(sizes))])
    clouds = []
    for i, n in enumerate(sizes):
        others = rng.dirichlet(np.full(len(sizes), 0.15), n) @ own
        share = rng.beta(4 * purity, 4 * (1 - purity), (n, 1))
        words = share * own[i] + (1 - share) * others + 0.25 * rng.normal(size=(n, columns))
        clouds.append(words / np.linalg.norm(words, axis=1, keepdims=True))
    return stack(*clouds)


def cells(rng: Generator) -> Labelled:
    """Return 30 principal components of overdispersed gene counts: types of cells in a few families."""
    n_genes = 1500
    n_types, n_cells = int(rng.integers(4, 14)), int(rng.choice([700, 1500, 2500]))
    common = rng.lognormal(0, 1.2, n_genes)
    families = [_change(rng, common, share=0.08, size=1.0) for _ in range(max(2, n_types // 3))]
    types = np.array([_change(rng, families[j % len(families)], share=0.06, size=1.1) for j in range(n_types)])
    y = rng.choice(n_types, n_cells, p=rng.dirichlet(np.full(n_types, 2.0)))
    means = (types / types.sum(axis=1, keepdims=True))[y] * rng.lognormal(np.log(2000), 0.35, (n_cells, 1))
    counts = rng.poisson(means * rng.gamma(2.0, 0.5, means.shape))
    logs = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4)
    logs = logs[:, np.argsort(-logs.var(axis=0))[:500]]
    left, values, _ = np.linalg.svd(logs - logs.mean(axis=0), full_matrices=False)
    return left[:, :30] * values[:30], y


def _change(rng: Generator, genes: Points, *, share: float, size: float) -> Points:
    """Return a share of the genes more or less active than before."""
    return genes * np.exp(rng.normal(0, size, len(genes)) * (rng.random(len(genes)) < share))


def composed_classes(rng: Generator, classes: int, parts: int, n: int, dimension: int, gap: float) -> Labelled:
    """Return classes that are several blobs each, near each other, on a coarse grid of integers."""
    middles = spread_centers(rng, classes, dimension, gap)
    clouds = [
        np.vstack([gaussian(rng, n // parts, middle + 1.2 * rng.normal(size=dimension), 1.2) for _ in range(parts)])
        for middle in middles
    ]
    return stack(*(np.round(cloud) for cloud in clouds))


def component_scores(rng: Generator, sizes: list[int], dimension: int, gap: float) -> Labelled:
    """Return clusters in a few strong components, followed by weaker ones that are noise."""
    informative = len(sizes)
    centers = spread_centers(rng, len(sizes), informative, gap)
    fading = 1 / np.sqrt(1 + np.arange(dimension))
    clouds = []
    for n, center in zip(sizes, centers, strict=True):
        cloud = rng.normal(size=(n, dimension)) * fading
        cloud[:, :informative] += center * fading[:informative]
        clouds.append(cloud)
    return stack(*clouds)
