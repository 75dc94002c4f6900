"""The pictures of ``docs/images`` that show a fitted model: ``python -m docs.images`` draws them again.

A test draws them too and compares, so that none is older than what it shows. That of cells is drawn where scanpy is
installed. Pictures of the explorer, and maps that other packages draw, are made elsewhere.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_wine

from benchmarks.reporting.method_figures import plot_ascent, plot_growth, plot_motivation, plot_pipeline
from gitcluster import GIT, compare, plots
from gitcluster.cli.demo import PRIOR, make_example
from gitcluster.datasets import make_customers
from gitcluster.integrations.scanpy import git, plot_resolution

FOLDER = Path(__file__).parent / "images"
SIDE = 48
"""Width and height of the thumbnails that are compared."""


@cache
def example() -> tuple[GIT, Any]:
    """The samples of the page, told their proportions."""
    X = make_example()
    return GIT(proportions=PRIOR).fit(X), X


@cache
def untold() -> GIT:
    """The same, told nothing."""
    return GIT().fit(make_example())


def ascent() -> Any:
    """Few samples, so that each arrow is seen."""
    X = make_example()[::4]
    return plot_ascent(GIT(4, n_neighbors=20).fit(X), X)


def motivation() -> Any:
    """Three groups in one dimension."""
    line = np.random.default_rng(0).normal([0, 2, 6], 0.5, size=(80, 3)).reshape(-1, 1)
    return plot_motivation(GIT(2, n_neighbors=40).fit(line), line)


def profile() -> Any:
    """A table with names of columns."""
    wine = load_wine(as_frame=True).data
    names = [name.replace("_", " ") for name in wine.columns]
    frame = pd.DataFrame(wine.to_numpy(), columns=names)
    return plots.plot_profile(GIT(3).fit(frame), frame, columns=8)


def flow() -> Any:
    """Two months of customers, between which a group splits."""
    tables = [table for table, _ in make_customers(random_state=0)[3:5]]
    before = GIT().fit(tables[0])
    before.cluster_names_ = {0: "regular", 1: "gold", 2: "senior", 3: "families", 4: "students", 5: "platinum"}
    return compare(before, GIT().fit(tables[1], previous=before)).plot()


def cells() -> Any:
    """Cells of blood, which come with scanpy."""
    import scanpy

    adata = scanpy.datasets.pbmc68k_reduced()
    git(adata)
    return plot_resolution(adata)


PICTURES: dict[str, Callable[[], Any]] = {
    "pipeline": lambda: plot_pipeline(*example()),
    "growth": lambda: plot_growth(*example()),
    "ascent": ascent,
    "intensity": lambda: plots.plot_clusters(*example(), color="intensity"),
    "motivation": motivation,
    "topo_graph": lambda: plots.plot_topo_graph(example()[0], layout="force", max_nodes=40),
    "hierarchy": lambda: plots.plot_hierarchy(example()[0]),
    "n_clusters": lambda: plots.plot_n_clusters(untold()),
    "layers": lambda: plots.plot_layers(example()[0], n_clusters=[2, 4, 9]),
    "profile": profile,
    "flow": flow,
}
if find_spec("scanpy"):
    PICTURES["cells_resolution"] = cells


def draw(name: str) -> bytes:
    """A picture as the bytes of a PNG file, in few colours to keep it small."""
    drawn = PICTURES[name]()
    figure: Figure = getattr(drawn, "figure", drawn)
    whole, small = BytesIO(), BytesIO()
    figure.savefig(whole, format="png", dpi=110, bbox_inches="tight", facecolor="white")
    plt.close(figure)
    colours = Image.open(whole).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    colours.save(small, format="PNG", optimize=True)
    return small.getvalue()


def thumbnail(png: bytes) -> Any:
    """(side, side, 3) what a picture looks like from afar, from 0 to 1."""
    image = Image.open(BytesIO(png)).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.float64) / 255


def is_stale(name: str) -> bool:
    """Whether the stored picture is another than the one that is drawn now."""
    path = FOLDER / f"{name}.png"
    return not path.exists() or bool(np.abs(thumbnail(path.read_bytes()) - thumbnail(draw(name))).mean() > 0.02)


if __name__ == "__main__":
    plt.switch_backend("agg")
    for name in sys.argv[1:] or PICTURES:
        if is_stale(name):
            (FOLDER / f"{name}.png").write_bytes(draw(name))
            print(f"docs/images/{name}.png")
