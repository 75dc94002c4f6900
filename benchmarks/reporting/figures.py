"""Figures of the paper's experiments, drawn from stored results: pictures of shapes, curves of noise and scale.

Colours are those of Okabe and Ito, and beyond eight clusters of Tol: colour-blind readers tell them apart too.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.accuracy import load_set
from benchmarks.experiments.robustness import DRAWN, METHODS
from benchmarks.methods.contenders import COMPETITORS
from benchmarks.reporting.accuracy_tables import COVERED, GROUPS
from benchmarks.reporting.published import CURVES
from benchmarks.running import Line, Store
from benchmarks.scoring import unpack_labels
from gitcluster.metrics import match_labels

matplotlib.use("Agg")
from matplotlib import pyplot

SHORT = {
    "GIT authors": "GIT", "GIT": "GIT", "DPA": "DPA", "FSFDP": "FSF", "HDBSCAN": "HDB", "Quickshift++": "QSP",
    "SpectACl": "SA", "spectral": "SC", "k-means++": "KM",
}  # fmt: skip
CLUSTERS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#882255", "#999933", "#332288",
    "#AA4499", "#44AA99", "#DDCC77", "#117733", "#CC6677", "#88CCEE",
)  # fmt: skip
NO_CLASS, NO_CLUSTER = "#222222", "#CCCCCC"
STYLES = {
    "GIT authors": ("#000000", "o", "GIT, authors' variant"),
    "GIT": ("#000000", "o", "GIT"),
    "GIT paper": ("#0072B2", "s", "GIT, paper's text"),
    "GIT shares": ("#0072B2", "s", "GIT told the shares"),
    "GIT one more": ("#E69F00", "P", "GIT told one cluster more"),
    "SpectACl": ("#D55E00", "^", "SpectACl"),
    "Quickshift++": ("#009E73", "v", "Quickshift++"),
    "HDBSCAN": ("#CC79A7", "D", "HDBSCAN"),
}
TIE = 0.005
PROJECTION = np.array([[1.0, 0.0], [0.0, 1.0], [0.45, 0.3]])
"""How the rings of three dimensions are looked at."""


def draw_shapes(store: Store, folder: Path) -> None:
    """Every toy set and the results of its three best methods, with published parameters and untuned."""
    for setting, git, counting in (("published", "GIT authors", "published"), ("untuned", "GIT", "optimal")):
        sets = [name for name in GROUPS["shapes"] if (name, git, setting) in store.lines]
        figure, panels = pyplot.subplots(4, len(sets), figsize=(1.75 * len(sets), 7.6), layout="constrained")
        for name, column in zip(sets, panels.T, strict=True):
            X, y = load_set(name)
            X = X @ PROJECTION if X.shape[1] == 3 else X
            scatter(column[0], X, y, name.removeprefix("toy_"))
            lines = [store.lines.get((name, method, setting)) for method in (git, *COMPETITORS)]
            places = rank(lines, counting)[:3]
            for place, panel in enumerate(column[1:]):
                if place < len(places):
                    score, tied = places[place]
                    title = f"{join([SHORT[line['method']] for line in tied])}\n{score:.3f}"
                    scatter(panel, X, match_labels(y, unpack_labels(tied[0]["labels"])), title)
                else:
                    panel.axis("off")
        for panel, text in zip(panels[:, 0], ("classes", "best", "second", "third"), strict=True):
            panel.set_ylabel(text, fontsize=10)
        save(figure, folder / f"shapes_{setting}.png")


def rank(lines: list[Line | None], counting: str) -> list[tuple[float, list[Line]]]:
    """Methods by F1, best first; those within .005 of the first of a place share it."""
    found = [
        line for line in lines if line and "labels" in line and (counting == "optimal" or line["cover"] >= COVERED)
    ]
    places: list[tuple[float, list[Line]]] = []
    for line in sorted(found, key=lambda line: -line[counting][0]):
        if places and places[-1][0] - line[counting][0] <= TIE:
            places[-1][1].append(line)
        else:
            places.append((line[counting][0], [line]))
    return places


def join(names: list[str], width: int = 16) -> str:
    """Names with commas, on two lines where they are long."""
    text = ", ".join(names)
    half = (len(names) + 1) // 2
    return text if len(text) <= width else ", ".join(names[:half]) + ",\n" + ", ".join(names[half:])


def scatter(panel: Any, X: NDArray[Any], labels: NDArray[np.int64], title: str) -> None:
    """Samples in the colour of their class, noise pale, clusters without a class black."""
    colours = np.array([*CLUSTERS, NO_CLASS, NO_CLUSTER])
    chosen = np.where(labels >= 0, labels % len(CLUSTERS), labels)  # -2 and -1 are the last two colours
    panel.scatter(*X.T, s=1.2, c=colours[chosen], linewidths=0, rasterized=True)
    panel.set_title(title, fontsize=9)
    panel.set_xticks([])
    panel.set_yticks([])
    for side in panel.spines.values():
        side.set_color("#DDDDDD")


def draw_curves(store: Store, path: Path) -> None:
    """F1 along the three curves: published parameters and counting above, untuned below."""
    figure, rows = pyplot.subplots(2, len(DRAWN), figsize=(12, 6.6), sharey=True, layout="constrained")
    for (setting, methods), row in zip(METHODS.items(), rows, strict=True):
        counting = "published" if setting == "published" else "optimal"
        for (name, curve), panel in zip(DRAWN.items(), row, strict=True):
            for method in methods:
                lines = [store.lines.get((name, level, method, setting)) for level in curve.levels]
                points = [(line["level"], *_band(line[counting])) for line in lines if line]
                if points:
                    draw_band(panel, np.array(points), method)
            if setting == "published" and name in CURVES:
                levels, figures = zip(*((level, scores[0]) for level, scores in CURVES[name].items()), strict=True)
                panel.plot(levels, figures, "x", color="#999999", markersize=7, zorder=1, label="GIT in the paper")
            panel.set_xlabel(curve.axis)
            panel.grid(alpha=0.3)
            panel.set_ylim(0, 1.03)
        row[0].set_ylabel("F1, published protocol" if setting == "published" else "F1, untuned, optimal matching")
        named = {
            label: line for panel in row[::-1] for line, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        row[0].legend(named.values(), named, fontsize=8, loc="lower left")
    save(figure, path)


def _band(scores: list[float]) -> tuple[float, float]:
    return float(np.mean(scores)), float(np.std(scores))


def draw_band(panel: Any, points: NDArray[np.float64], method: str) -> None:
    """Mean as a line, one standard deviation each way as a band."""
    level, mean, spread = points.T
    colour, marker, label = STYLES[method]
    panel.plot(level, mean, color=colour, marker=marker, markersize=4, linewidth=1.6, label=label)
    panel.fill_between(
        level, np.maximum(mean - spread, 0), np.minimum(mean + spread, 1), color=colour, alpha=0.15, lw=0
    )


def save(figure: Any, path: Path) -> None:
    """Save with a palette of 128 colours, a third of the size."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    figure.savefig(buffer, dpi=100)
    pyplot.close(figure)
    Image.open(buffer).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
