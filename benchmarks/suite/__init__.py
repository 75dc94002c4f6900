"""The recipes of the generated data sets, one table a family: name, clear or not, how to make it.

Where a set is marked clear its clusters are separable by density or shape; the others (overlaps,
hierarchies, crossings) are there for their labels only.
"""

from __future__ import annotations

from benchmarks.suite import (
    crowded_clusters,
    drawn_clusters,
    image_like,
    round_clusters,
    spatial_clusters,
    table_like,
)
from benchmarks.suite.recipes import Recipe

KINDS = {
    "drawn": (round_clusters, drawn_clusters, spatial_clusters, crowded_clusters),
    "tables": (table_like,),
    "images": (image_like,),
}
"""Kinds of data and the modules that have their families: shapes, in any dimension; everyday tables; images and
embeddings."""
SUITE = [
    Recipe(name, family, clear, make)
    for modules in KINDS.values()
    for module in modules
    for family, table in module.TABLES.items()
    for name, clear, make in table
]
