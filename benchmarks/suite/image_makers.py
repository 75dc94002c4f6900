"""Makers of sets like images and embeddings: many columns, few degrees of freedom, curved classes that touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.suite.shapes import Labelled, Points, random_rotation, rotation, together


def signs_by_hand(
    rng: Generator, sizes: Sequence[int], side: int, *, wobble: float, corners: int = 5, levels: int = 16
) -> Labelled:
    """Grey images of ``side`` x ``side`` pixels: every class is a bent line, drawn each time a little differently."""
    clouds = []
    for n in sizes:
        line = rng.uniform(-0.7, 0.7, (corners, 2))
        careless = wobble * rng.uniform(0.6, 1.6)
        drawn = [_drawn(rng, line + careless * rng.normal(size=line.shape), careless, side) for _ in range(n)]
        clouds.append(np.round(levels * np.array(drawn)))
    return together(*clouds)


def _drawn(rng: Generator, line: Points, careless: float, side: int) -> Points:
    """Ink of a line that is turned, stretched and moved, by the distance of each pixel to it."""
    turned = line @ rotation(0.3 * careless * rng.normal()).T * rng.lognormal(0, 0.6 * careless, 2)
    place, ends = np.linspace(0, 1, 40), np.linspace(0, 1, len(line))
    path = np.column_stack([np.interp(place, ends, axis) for axis in turned.T]) + 0.4 * careless * rng.normal(size=2)
    grid = np.linspace(-1, 1, side)
    pixels = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 1, 2)
    distance = np.linalg.norm(pixels - path, axis=2).min(axis=1)
    return np.exp(-((distance / rng.uniform(0.15, 0.3)) ** 2))


def encoded(
    rng: Generator, sizes: Sequence[int], columns: int, *, gap: float, inner: int = 3, depth: int = 8,
    noise: float = 0.1, sphere: bool = False,
) -> Labelled:  # fmt: skip
    """What a network makes of hidden variables: classes are sheets of ``inner`` dimensions, bent alike.

    Classes are ``gap`` apart in ``depth`` hidden variables, dense in their middle and of unequal spread; two random
    layers make ``columns`` out of these, of length 1 with ``sphere``.
    """
    hidden = []
    for n in sizes:
        middle, spread = gap * rng.normal(size=depth) / np.sqrt(2 * depth), rng.uniform(0.4, 1.2)
        sheet = rng.normal(size=(n, inner)) * rng.gamma(4, 0.25, (n, 1)) @ random_rotation(rng, depth)[:inner]
        hidden.append(middle + spread * sheet)
    points, labels = together(*hidden)
    layer = np.tanh(points @ rng.normal(size=(depth, 4 * depth)) / np.sqrt(depth) + 0.5 * rng.normal(size=4 * depth))
    seen = layer @ rng.normal(size=(4 * depth, columns)) / np.sqrt(4 * depth)
    seen += noise * rng.normal(size=seen.shape)
    return (seen / np.linalg.norm(seen, axis=1, keepdims=True) if sphere else seen), labels


def topics(rng: Generator, sizes: Sequence[int], columns: int, *, purity: float) -> Labelled:
    """Texts as directions: each mixes the topic of its class with some others; similar topics share words."""
    areas = rng.normal(size=(max(2, len(sizes) // 3), columns))
    own = np.array([areas[i % len(areas)] + rng.normal(size=columns) for i in range(len(sizes))])
    clouds = []
    for i, n in enumerate(sizes):
        others = rng.dirichlet(np.full(len(sizes), 0.15), n) @ own
        share = rng.beta(4 * purity, 4 * (1 - purity), (n, 1))
        words = share * own[i] + (1 - share) * others + 0.25 * rng.normal(size=(n, columns))
        clouds.append(words / np.linalg.norm(words, axis=1, keepdims=True))
    return together(*clouds)


def cells(rng: Generator) -> Labelled:
    """Counts of genes: types of cells in a few families, overdispersed, of different depth; 30 principal components."""
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
    """A share of the genes more or less active than before."""
    return genes * np.exp(rng.normal(0, size, len(genes)) * (rng.random(len(genes)) < share))
