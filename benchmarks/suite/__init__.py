"""The recipes of the generated data sets, one table a family: name, clear or not, how to make it.

Where a set is marked clear its clusters are separable by density or shape; the others (overlaps,
hierarchies, crossings) are there for their labels only.
"""

from __future__ import annotations

from benchmarks.suite import crowded_clusters, drawn_clusters, round_clusters, spatial_clusters
from benchmarks.suite.recipes import Recipe

SUITE = [
    Recipe(name, family, clear, make)
    for module in (round_clusters, drawn_clusters, spatial_clusters, crowded_clusters)
    for family, table in module.TABLES.items()
    for name, clear, make in table
]
