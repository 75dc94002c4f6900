"""Figures of stored results: shapes, noise and scale, embeddings, numbers of neighbours, speed.

``python -m benchmarks report`` writes those of ``DRAWINGS``, with the digest of their result files. Colours are those
of Okabe and Ito, and beyond eight clusters those of Tol, which colour-blind readers can distinguish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import product
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import accuracy, dimension_reduction, pictures, robustness, sensitivity, speed, stability
from benchmarks.experiments.accuracy import COVERED, GROUPS
from benchmarks.experiments.robustness import DRAWN, METHODS
from benchmarks.reporting.published import COMPETITORS, CURVES, PUBLISHED_SIZES, PUBLISHED_SPEED
from benchmarks.runner import Key, Line, Store
from benchmarks.scoring import unpack_labels
from benchmarks.suite.datasets import load_set
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, WIDTHS
from gitcluster.metrics import match_labels

matplotlib.use("Agg")
from matplotlib import pyplot

SHORT = {
    "GIT authors": "GIT", "DPA": "DPA", "FSFDP": "FSF", "HDBSCAN": "HDB", "Quickshift++": "QSP",
    "SpectACl": "SA", "spectral": "SC", "k-means++": "KM",
}  # fmt: skip
CLUSTERS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#882255", "#999933", "#332288",
    "#AA4499", "#44AA99", "#DDCC77", "#117733", "#CC6677", "#88CCEE",
)  # fmt: skip
NO_CLASS, NO_CLUSTER = "#222222", "#CCCCCC"
STYLES = {
    "GIT authors": ("#000000", "o", "GIT, authors' variant"),
    "GIT paper": ("#0072B2", "s", "GIT, the paper's method"),
    "GIT": ("#E69F00", "P", "GIT, default"),
    "SpectACl": ("#D55E00", "^", "SpectACl"),
    "Quickshift++": ("#009E73", "v", "Quickshift++"),
    "HDBSCAN": ("#CC79A7", "D", "HDBSCAN"),
}
TIE = 0.005
PROJECTION = np.array([[1.0, 0.0], [0.0, 1.0], [0.45, 0.3]])
"""Projection of the rings in three dimensions."""
TITLES = {"GIT authors": "GIT, published k", "GIT": "GIT, default"}


def draw_shapes() -> Any:
    """Draw every toy set and the results of its three best methods, with published parameters and counting."""
    stored, sets = accuracy.stored(), GROUPS["shapes"]
    figure, panels = pyplot.subplots(4, len(sets), figsize=(1.75 * len(sets), 7.6), layout="constrained")
    for name, column in zip(sets, panels.T, strict=True):
        X, y = load_set(name)
        X = X @ PROJECTION if X.shape[1] == 3 else X
        scatter(column[0], X, y, name.removeprefix("toy_"))
        lines = [stored.get((name, method, "published")) for method in ("GIT authors", *COMPETITORS)]
        for panel, (score, tied) in zip(column[1:], rank(lines), strict=False):
            title = fill(", ".join(SHORT[line["method"]] for line in tied), 16) + f"\n{score:.3f}"
            scatter(panel, X, match_labels(y, unpack_labels(tied[0]["labels"])), title)
    for panel, text in zip(panels[:, 0], ("classes", "best", "second", "third"), strict=True):
        panel.set_ylabel(text, fontsize=10)
    return figure


def draw_noise_and_scale(lines: dict[Key, Line]) -> Any:
    """Draw the paper's table of pictures: the classes, then the results of the methods."""
    figure, panels = pyplot.subplots(len(pictures.SCENES), 5, figsize=(10.5, 8.6), layout="constrained")
    for (name, scene), row in zip(pictures.SCENES.items(), panels, strict=True):
        X, y = scene.make()
        X = X / np.where(y >= 2, 100, 1)[:, None] if name == "scaled circles" else X
        scatter(row[0], X, y, "classes")
        row[0].set_ylabel(scene.title, fontsize=9)
        for method, panel in zip(pictures.METHODS, row[1:], strict=True):
            line = lines[name, method]
            labels = unpack_labels(line["labels"])
            title = f"GIT, best k ({line['k']})" if line.get("k") else TITLES.get(method, method)
            title += f"\n{line['f1']:.3f}"
            scatter(panel, X, match_labels(np.where(y < 0, y.max() + 1, y), labels), title)
    return figure


def draw_images(lines: dict[Key, Line]) -> Any:
    """Draw MNIST and FMNIST in the five numbers of an autoencoder, laid out by UMAP, by class and by cluster."""
    columns = len(pictures.EMBEDDED_METHODS) + 1
    figure, panels = pyplot.subplots(2, columns, figsize=(2.5 * columns, 5.8), layout="constrained")
    for dataset, row in zip(SETS, panels, strict=True):
        layout = lines[dataset, "UMAP"]
        X, y = unpack_labels(layout["points"]).reshape(-1, 2), unpack_labels(layout["classes"])
        scatter(row[0], X, y, f"{dataset.upper()}\nclasses")
        for method, panel in zip(pictures.EMBEDDED_METHODS, row[1:], strict=True):
            line = lines[dataset, method]
            title = f"{TITLES.get(method, method)}\n{line['f1']:.3f}"
            scatter(panel, X, match_labels(y, unpack_labels(line["labels"])), title)
    return figure


def rank(lines: Iterable[Line | None]) -> list[tuple[float, list[Line]]]:
    """Return F1 and methods by F1, best first; methods within .005 of the first of a rank share it."""
    known = [line for line in lines if line and "labels" in line and line["cover"] >= COVERED]
    ranks: list[tuple[float, list[Line]]] = []
    for line in sorted(known, key=lambda line: -line["published"][0]):
        if ranks and ranks[-1][0] - line["published"][0] <= TIE:
            ranks[-1][1].append(line)
        else:
            ranks.append((line["published"][0], [line]))
    return ranks


def scatter(panel: Any, X: NDArray[Any], labels: NDArray[np.int64], title: str) -> None:
    """Draw samples in the colour of their class, noise pale, clusters without a class black."""
    colours = np.array([*CLUSTERS, NO_CLASS, NO_CLUSTER])
    chosen = np.where(labels >= 0, labels % len(CLUSTERS), labels)  # -2 and -1 are the last two colours
    panel.scatter(*X.T, s=1.2, c=colours[chosen], linewidths=0, rasterized=True)
    panel.set_title(title, fontsize=9)
    panel.set_xticks([])
    panel.set_yticks([])
    for side in panel.spines.values():
        side.set_color("#DDDDDD")


def draw_curves(stored: dict[Key, Line]) -> Any:
    """Draw F1 along the three curves."""
    figure, panels = pyplot.subplots(1, len(DRAWN), figsize=(12, 3.7), sharey=True, layout="constrained")
    for (name, curve), panel in zip(DRAWN.items(), panels, strict=True):
        for method in METHODS:
            lines = [stored.get((name, level, method)) for level in curve.levels]
            points = [(x["level"], np.mean(x["published"]), np.std(x["published"])) for x in lines if x]
            level, mean, spread = np.array(points).T
            colour, marker, label = STYLES[method]
            panel.plot(level, mean, color=colour, marker=marker, markersize=4, linewidth=1.6, label=label)
            panel.fill_between(level, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)
        if name in CURVES:
            levels, figures = zip(*((level, scores[0]) for level, scores in CURVES[name].items()), strict=True)
            panel.plot(levels, figures, "x", color="#999999", markersize=7, zorder=1, label="GIT in the paper")
        panel.set_xlabel(curve.axis)
        panel.grid(alpha=0.3)
        panel.set_ylim(0, 1.03)
    panels[0].set_ylabel("F1, counted as published")
    panels[0].legend(fontsize=8, loc="lower left")
    return figure


def save(figure: Any, path: Path, digest: str) -> None:
    """Save with a palette of 256 colours, a third of the size, and the digest of the results."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    buffer, about = BytesIO(), PngInfo()
    figure.savefig(buffer, dpi=100)
    pyplot.close(figure)
    about.add_text("results", digest)
    small = Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True, pnginfo=about)


def draw_embeddings() -> Any:
    """Draw F1 over the width of the embedding, here as lines, published as open marks."""
    figures = dimension_reduction.published_figures()
    figure, panels = pyplot.subplots(1, 4, figsize=(13, 3.9), sharey=True, layout="constrained")
    styles = STYLES | {"k-means": ("#0072B2", "s", "k-means++")}
    for (kind, dataset), panel in zip(product(("pca", "ae"), SETS), panels, strict=True):
        names = [f"{kind}{width}" for width in WIDTHS]
        for method in ("GIT authors", *dimension_reduction.PEERS):
            here, published = zip(*(figures[dataset, name][method] for name in names), strict=True)
            colour, marker, label = styles[method]
            panel.plot(names, here, color=colour, marker=marker, markersize=5, label=label)
            panel.plot(names, published, color=colour, marker=marker, markersize=8, mfc="none", lw=0.8, ls=":")
        panel.set_title(f"{dataset.upper()}, {'principal components' if kind == 'pca' else 'autoencoder'}", fontsize=10)
        panel.set_xticks(names, [str(width) for width in WIDTHS])
        panel.set_xlabel("numbers per image")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("F1, counted as published")
    panels[0].plot([], [], color="0.4", marker="o", markersize=8, mfc="none", lw=0.8, ls=":", label="published")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def draw_sensitivity() -> Any:
    """Draw F1 over k: a row for each set, a column for each embedding."""
    curves, shape = sensitivity.read_curves(), (len(SETS), len(EMBEDDINGS))
    figure, panels = pyplot.subplots(*shape, figsize=(15, 4.8), sharex=True, sharey=True, layout="constrained")
    for place, panel in zip(product(SETS, EMBEDDINGS), panels.ravel(), strict=True):
        curve = curves[place]
        panel.plot(PUBLISHED_SIZES, curve["published"], "o--", color="0.55", markersize=3, label="published")
        panel.plot(PUBLISHED_SIZES, curve["here"], "s-", color="tab:orange", markersize=3, label='variant="authors"')
        panel.axhline(curve["k-means"][1], color="black", linewidth=1.2, linestyle="--", label="k-means++")
        panel.set_title(f"{place[0].upper()} {place[1]}", fontsize=10)
        panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("k")
    figure.supylabel("F1")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def draw_sweeps() -> Any:
    """Draw log-log curves of the three sweeps of the speed experiment."""
    figure, panels = pyplot.subplots(1, 3, figsize=(14, 4.8), sharey=True, layout="constrained")
    colours = {m: pyplot.get_cmap("tab10")(i) for i, m in enumerate(speed.SWEPT["n"])}
    titles = {"n": "samples (d = 10, k = 20)", "d": "features (n = 50,000, k = 20)", "k": "neighbours (100,000 x 10)"}
    for sweep, panel in zip("ndk", panels, strict=True):
        for (of, method), points in speed.read_sweeps().items():
            if of == sweep:
                width = 2.5 if method.startswith(("GIT", "search")) else 1.2
                draw_sweep(panel, points, method, "o--" if method == "search k" else "o-", colours[method], width)
        panel.set_xlabel(titles[sweep])
        ticks = [shape["ndk".index(sweep)] for shape in speed.SWEEPS[sweep]]
        panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks], minor=False)
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, title="method (exponent)", title_fontsize=8)
    panels[0].set_ylabel("seconds, 2 cores")
    return figure


def draw_sweep(panel: Any, points: speed.Sweep, label: str, style: str, colour: Any, width: float = 1.5) -> None:
    """Draw seconds over sizes in logarithmic scales, with the exponent in the legend."""
    label = f"{label} ({speed.exponent(points):.2f})"
    panel.loglog(*zip(*points, strict=True), style, color=colour, markersize=4, linewidth=width, label=label)


def draw_paper_sweeps() -> Any:
    """Draw CPU seconds along the sweeps of the paper, the published seconds, and n log n, d and k."""
    figure, panels = pyplot.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
    styles = {
        "GIT paper k": ("GIT, the paper's method", "o-", "#0072B2"),
        "GIT authors k": ("GIT, authors' variant", "s-", "#000000"),
        "search k": ("search alone", "^--", "#999999"),
    }
    sweeps = speed.read_sweeps("cpu")
    for axis, name, panel in zip("ndk", ("samples", "features", "neighbours"), panels, strict=True):
        for method, style in styles.items():
            if (f"paper {axis}", method) in sweeps:
                draw_sweep(panel, sweeps[f"paper {axis}", method], *style)
        draw_sweep(panel, list(PUBLISHED_SPEED[axis].items()), "published, 32 cores", "x:", "#D55E00")
        sizes, seconds = np.transpose(sweeps[f"paper {axis}", "GIT paper k"])
        law = sizes * np.log(sizes) if axis == "n" else sizes
        label = "n log n" if axis == "n" else axis
        panel.loglog(sizes, seconds[0] * law / law[0], color="#CCCCCC", linewidth=5, zorder=0, label=label)
        panel.set_xlabel(name)
        panel.grid(alpha=0.3)
        panel.set_ylim(top=panel.get_ylim()[1] * (8 if axis == "k" else 1))  # space for the legend above the curves
        panel.legend(fontsize=7.5, title="(exponent)", title_fontsize=7.5, loc="upper left")
    panels[0].set_ylabel("seconds of CPU")
    return figure


def draw_stability() -> Any:
    """Draw how often the number of clusters is right by the share of half-samples with it, with 95 % intervals."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    left.plot([0, 1], [0, 1], color="#999999", linestyle=":", label="perfectly calibrated")
    parts = (
        ("generated and public sets, first half", stability.stored("calibration", 0), "#0072B2", "o"),
        ("generated and public sets, second half", stability.stored("calibration", 1), "#E69F00", "s"),
        ("120 other sets", stability.stored("check"), "#000000", "^"),
    )
    for i, (name, lines, colour, marker) in enumerate(parts):
        stated = np.array([line["same_number"] for line in lines])
        number = np.minimum(np.digitize(stated, stability.BINS) - 1, len(stability.BINS) - 2)
        bins = [
            (stated[number == b], [line for line, n in zip(lines, number, strict=True) if n == b]) for b in set(number)
        ]
        x = np.array([shares.mean() for shares, _ in bins]) + 0.006 * (i - 1)
        y = np.array([np.mean([stability.has_right_number(line) for line in some]) for _, some in bins])
        n, z = np.array([len(some) for _, some in bins]), 1.96
        centre, width = (
            (y + z**2 / (2 * n)) / (1 + z**2 / n),
            z * np.sqrt(y * (1 - y) / n + z**2 / (4 * n**2)) / (1 + z**2 / n),
        )
        errors = np.maximum([y - centre + width, centre + width - y], 0)  # Wilson's interval
        order = np.argsort(x)
        left.errorbar(
            x[order], y[order], errors[:, order], color=colour, marker=marker, capsize=3, label=name, linewidth=1.2
        )
    left.set(xlabel="share of half-samples with the same number", ylabel="share of right numbers", ylim=(-0.03, 1.03))
    figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside lower left", ncols=2)
    styles = {"clear": ("#009E73", "-"), "overlapping": ("#E69F00", "--"), "without structure": ("#CC79A7", "-.")}
    for kind, (colour, style) in styles.items():
        values = np.sort([line["agreement"] for line in stability.stored("check") if line["kind"] == kind])
        below = np.arange(len(values) + 1) / max(len(values), 1)
        label = f"{kind} ({len(values)})"
        right.step(np.append(values, 1.0), below, where="post", color=colour, linestyle=style, label=label)
    right.set(xlabel="agreement of half-samples with the fit", ylabel="share of sets below", xlim=(0, 1.01))
    right.legend(frameon=False, fontsize=8, loc="upper left")
    for panel in (left, right):
        panel.spines[["top", "right"]].set_visible(False)
    return figure


DRAWINGS: dict[str, Callable[[], Any]] = {
    "stability": draw_stability,
    "shapes_published": draw_shapes,
    "robustness": lambda: draw_curves(Store("robustness", robustness.FIELDS).lines),
    "noise_and_scale": lambda: draw_noise_and_scale(Store("pictures", pictures.FIELDS).lines),
    "dimension_reduction": draw_embeddings,
    "images_umap": lambda: draw_images(Store("pictures", pictures.FIELDS).lines),
    "sensitivity": draw_sensitivity,
    "speed": draw_sweeps,
    "speed_paper": draw_paper_sweeps,
}
