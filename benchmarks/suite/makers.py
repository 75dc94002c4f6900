"""Parametric data sets (grids, moons, rings, spirals, ...), put together from ``shapes``."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.suite.shapes import (
    Labelled,
    arc,
    gaussian,
    lifted,
    shell,
    spiral,
    spread_centers,
    stroke,
    together,
)


def grid(rng: Generator, sizes: list[int], columns: int, pitch: float, jitter: float = 0.0) -> Labelled:
    """Blobs of deviation 1 on a square grid."""
    places = [divmod(i, columns) for i in range(len(sizes))]
    centers = pitch * np.array(places) + jitter * rng.uniform(-1, 1, (len(sizes), 2))
    return together(*(gaussian(rng, n, c) for n, c in zip(sizes, centers, strict=True)))


def moons(rng: Generator, sizes: tuple[int, int], noise: float) -> Labelled:
    """Two interleaved half circles."""
    return together(
        arc(rng, sizes[0], turns=(0, 0.5), noise=noise),
        arc(rng, sizes[1], (1, 0.5), turns=(0.5, 1), noise=noise),
    )


def rings(rng: Generator, sizes: list[int], radii: list[float], noise: float) -> Labelled:
    """Concentric circles."""
    return together(*(shell(rng, n, (0, 0), r, noise) for n, r in zip(sizes, radii, strict=True)))


def spirals(rng: Generator, arms: int, n: int, turns: float, noise: float, evenness: float = 0.5) -> Labelled:
    """Interleaved spiral arms of n points each."""
    return together(*(spiral(rng, n, turns, arm / arms, noise, evenness) for arm in range(arms)))


def stripes(rng: Generator, sizes: list[int], gap: float, noise: float, length: float = 10) -> Labelled:
    """Parallel line segments, one above the other."""
    return together(*(stroke(rng, n, [(0, i * gap), (length, i * gap)], noise) for i, n in enumerate(sizes)))


def student(rng: Generator, sizes: list[int], gap: float, dimension: int, freedom: float) -> Labelled:
    """Clouds with heavy tails (multivariate Student t)."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    tails = [np.sqrt(freedom / rng.chisquare(freedom, size=(n, 1))) for n in sizes]
    return together(*(c + rng.normal(size=(len(t), dimension)) * t for c, t in zip(centers, tails, strict=True)))


def subspaces(rng: Generator, sizes: list[int], dimension: int, inner: int, gap: float) -> Labelled:
    """Clusters that are flat: each lies near its own random subspace of ``inner`` dimensions."""
    centers = spread_centers(rng, len(sizes), dimension, gap)
    flat = [together(rng.normal(size=(n, inner))) for n in sizes]
    clouds = [lifted(rng, cloud, dimension, noise=0.1)[0] for cloud in flat]
    return together(*(cloud + center for cloud, center in zip(clouds, centers, strict=True)))


def families(rng: Generator, n: int, outer: int, inner: int, reach: float, dimension: int = 2) -> Labelled:
    """Clusters of clusters: ``outer`` groups of ``inner`` blobs of n points each."""
    middles = spread_centers(rng, outer, dimension, reach)
    centers = [m + spread_centers(rng, inner, dimension, 6.0) for m in middles]
    return together(*(gaussian(rng, n, c) for c in np.vstack(centers)))


def profiles(rng: Generator, sizes: list[int], dimension: int, flip: float) -> Labelled:
    """Binary questionnaires: every cluster has its pattern, answers are flipped by chance."""
    patterns = rng.integers(0, 2, size=(len(sizes), dimension))
    answers = [p ^ (rng.random((n, dimension)) < flip) for n, p in zip(sizes, patterns, strict=True)]
    return together(*(np.asarray(a, dtype=float) for a in answers))


def counts(rng: Generator, sizes: list[int], dimension: int) -> Labelled:
    """Poisson counts whose rates differ between clusters."""
    rates = rng.choice([2.0, 8.0, 20.0], size=(len(sizes), dimension))
    clouds = [rng.poisson(r, size=(n, dimension)) for n, r in zip(sizes, rates, strict=True)]
    return together(*(cloud.astype(float) for cloud in clouds))


def log_normal(rng: Generator, sizes: list[int]) -> Labelled:
    """Skewed clouds with a long tail to the right."""
    corners = [(0, 0), (7, 1), (2, 7)]
    clouds = zip(sizes, corners, strict=True)
    return together(*(np.array(c) + rng.lognormal(-0.3, 0.6, (n, 2)) for n, c in clouds))
