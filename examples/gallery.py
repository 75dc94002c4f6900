"""Draw all plots of ``gitcluster.plots`` for the embedded example, a line, the toy sets, frogs and MNIST.

    python examples/gallery.py FOLDER [SET ...]

writes ``FOLDER/SET/PICTURE.png``. Data sets are read from the folder named by GITCLUSTER_DATA; missing ones are
skipped with a message.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from sklearn.decomposition import PCA

from gitcluster import GIT, plots
from gitcluster.cli.demo import PRIOR, make_example

TOYS = ("circles", "moons", "impossible", "s-set", "smile", "chainlink", "complex8", "complex9")
SETS = ("example", "line", *(f"toy_{name}" for name in TOYS), "frogs", "mnist")
COLOURS = ("cluster", "intensity", "membership", "outlier")


def load(name: str) -> tuple[Any, Any]:
    """Samples and the expected proportions of their clusters."""
    if name == "example":
        return make_example(), PRIOR
    if name == "line":
        rng = np.random.default_rng(0)
        parts = [rng.normal(at, width, n) for at, width, n in ((0.0, 0.5, 150), (1.8, 0.4, 120), (5.0, 0.6, 130))]
        return np.concatenate(parts)[:, None], [270, 130]
    with np.load(Path(os.environ["GITCLUSTER_DATA"]) / f"{name}.npz") as data:
        X, y = data["X"].astype(np.float32 if name == "mnist" else np.float64), data["y"]
    if name == "mnist":
        X = PCA(20, random_state=0).fit_transform(X / 255)
    return X, np.unique(y, return_counts=True)[1]


def fit(name: str, X: Any, shares: Any) -> GIT:
    """Fit a model with known proportions."""
    k = 40 if name == "line" else "auto"
    return GIT(proportions=shares, scale=None if name == "mnist" else "std", n_neighbors=k).fit(X)


def pictures(name: str, model: GIT, X: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names of pictures, and how each is drawn."""
    for color in COLOURS:
        yield color, lambda color=color: plots.plot_clusters(model, X, color=color)
    yield "hierarchy", lambda: plots.plot_hierarchy(model)
    yield "topo_graph", lambda: plots.plot_topo_graph(model, X)
    yield "topo_graph_force", lambda: plots.plot_topo_graph(model, layout="force")
    if name != "mnist":  # the number of digits is known
        asked = GIT().fit(X)
        yield "n_clusters", lambda: plots.plot_n_clusters(asked)
        yield "layers", lambda: plots.plot_layers(asked, n_clusters=[2, 5, 12])
        yield "noise", lambda: plots.plot_clusters(GIT(model.n_clusters_, noise=0.05).fit(X), X)


def main() -> None:
    """Draw what the command line asks for."""
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or SETS
    matplotlib.use("agg")
    for name in chosen:
        try:
            X, shares = load(name)
        except (KeyError, FileNotFoundError) as error:
            print(f"{name}: left out, no data ({error!r}); GITCLUSTER_DATA names the folder that has them")
            continue
        (folder / name).mkdir(parents=True, exist_ok=True)
        model = fit(name, X, shares)
        for picture, draw in pictures(name, model, X):
            start = time.perf_counter()
            fig = draw().figure
            fig.savefig(folder / name / f"{picture}.png", dpi=110)
            matplotlib.pyplot.close(fig)
            print(f"{name}/{picture}.png  {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
