"""Figures of stored results: shapes, noise and scale, embeddings, numbers of neighbours, speed.

``python -m benchmarks report`` writes those of ``DRAWINGS``, with the digest of their result files. Colours are those
of Okabe and Ito, and beyond eight clusters those of Tol, which colour-blind readers can distinguish.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments import accuracy, dimension_reduction, pictures, robustness, sensitivity, speed
from benchmarks.experiments.accuracy import COVERED, GROUPS
from benchmarks.experiments.robustness import DRAWN, METHODS
from benchmarks.reporting.published import COMPETITORS, CURVES, EMBEDDED, PUBLISHED_SIZES, PUBLISHED_SPEED
from benchmarks.runner import Key, Line, Store
from benchmarks.scoring import unpack_labels
from benchmarks.suite.datasets import load_set
from benchmarks.suite.embeddings import EMBEDDINGS, SETS, WIDTHS
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
    "GIT paper": ("#0072B2", "s", "GIT, the paper's method"),
    "GIT shares": ("#0072B2", "s", "GIT, shares given"),
    "GIT one more": ("#E69F00", "P", "GIT, one cluster more given"),
    "SpectACl": ("#D55E00", "^", "SpectACl"),
    "Quickshift++": ("#009E73", "v", "Quickshift++"),
    "HDBSCAN": ("#CC79A7", "D", "HDBSCAN"),
}
TIE = 0.005
PROJECTION = np.array([[1.0, 0.0], [0.0, 1.0], [0.45, 0.3]])
"""Projection of the rings in three dimensions."""
EMBEDDED_COLOURS = {
    "GIT": "tab:blue", "GIT equal": "deepskyblue", "GIT unscaled": "navy", "GIT authors": "tab:orange",
    "k-means": "tab:gray", "Quickshift++": "#009E73", "SpectACl": "#8C564B", "HDBSCAN": "#CC79A7",
    "spectral": "tab:purple",
}  # fmt: skip
TITLES = {
    "GIT authors": "GIT, published k", "Quickshift++ published": "Quickshift++", "SpectACl published": "SpectACl",
    "GIT": "GIT, default",
}  # fmt: skip


def draw_shapes(setting: str) -> Any:
    """Draw every toy set and the results of its three best methods, with published parameters or untuned."""
    stored = accuracy.stored()
    git, counting = ("GIT authors", "published") if setting == "published" else ("GIT", "optimal")
    sets = GROUPS["shapes"]
    figure, panels = pyplot.subplots(4, len(sets), figsize=(1.75 * len(sets), 7.6), layout="constrained")
    for name, column in zip(sets, panels.T, strict=True):
        X, y = load_set(name)
        X = X @ PROJECTION if X.shape[1] == 3 else X
        scatter(column[0], X, y, name.removeprefix("toy_"))
        lines = [stored.get((name, method, setting)) for method in (git, *COMPETITORS)]
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


def rank(lines: list[Line | None], counting: str) -> list[tuple[float, list[Line]]]:
    """Return methods by F1, best first; those within .005 of the first share its rank."""
    known = [
        line for line in lines if line and "labels" in line and (counting == "optimal" or line["cover"] >= COVERED)
    ]
    places: list[tuple[float, list[Line]]] = []
    for line in sorted(known, key=lambda line: -line[counting][0]):
        if places and places[-1][0] - line[counting][0] <= TIE:
            places[-1][1].append(line)
        else:
            places.append((line[counting][0], [line]))
    return places


def join(names: list[str], width: int = 16) -> str:
    """Return names with commas, on two lines if they are long."""
    text = ", ".join(names)
    half = (len(names) + 1) // 2
    return text if len(text) <= width else ", ".join(names[:half]) + ",\n" + ", ".join(names[half:])


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
    """Draw F1 along the three curves: published parameters and counting above, untuned below."""
    figure, rows = pyplot.subplots(2, len(DRAWN), figsize=(12, 6.6), sharey=True, layout="constrained")
    for (setting, methods), row in zip(METHODS.items(), rows, strict=True):
        counting = "published" if setting == "published" else "optimal"
        for (name, curve), panel in zip(DRAWN.items(), row, strict=True):
            for method in methods:
                lines = [stored.get((name, level, method, setting)) for level in curve.levels]
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
    return figure


def _band(scores: list[float]) -> tuple[float, float]:
    return float(np.mean(scores)), float(np.std(scores))


def draw_band(panel: Any, points: NDArray[np.float64], method: str) -> None:
    """Draw the mean as a line, and one standard deviation on each side as a band."""
    level, mean, spread = points.T
    colour, marker, label = STYLES[method]
    panel.plot(level, mean, color=colour, marker=marker, markersize=4, linewidth=1.6, label=label)
    panel.fill_between(
        level, np.maximum(mean - spread, 0), np.minimum(mean + spread, 1), color=colour, alpha=0.15, lw=0
    )


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
    """Draw F1 over the embeddings, a line for each method, broken between the kinds of embedding."""
    rows = dimension_reduction.group_lines()
    figure, panels = pyplot.subplots(1, 2, figsize=(14, 5), sharey=True, layout="constrained")
    for dataset, panel in zip(SETS, panels, strict=True):
        for method, colour in EMBEDDED_COLOURS.items():
            for kind in ("raw", "pca", "ae", "umap"):
                names = [name for name in EMBEDDINGS if name.startswith(kind)]
                lines = [(EMBEDDINGS.index(name), rows.get((dataset, name), {}).get(method)) for name in names]
                points = np.array([(place, line["f1"]) for place, line in lines if line and "f1" in line])
                own = method.startswith("GIT")
                panel.plot(
                    *points.reshape(-1, 2).T, color=colour, marker="o" if own else "s", markersize=6 if own else 4.5,
                    linewidth=2.2 if own else 1.1, label=method if kind == "pca" else None,
                    zorder=4 if method == "GIT" else 3,
                )  # fmt: skip
        published = [(EMBEDDINGS.index(name), row[1]) for (of, name), row in EMBEDDED.items() if of == dataset]
        panel.plot(*zip(*published, strict=True), "k_", markersize=16, label="GIT published, k tuned on labels")
        panel.set_xticks(range(len(EMBEDDINGS)), EMBEDDINGS, fontsize=9)
        panel.set_title(dataset.upper())
        panel.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("F1, optimal matching")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels) // 2 + 1, frameon=False)
    return figure


def draw_published_embeddings() -> Any:
    """Draw F1 over the width of the embedding, here as lines, published as open marks."""
    figures = dimension_reduction.published_figures()
    figure, panels = pyplot.subplots(1, 4, figsize=(13, 3.9), sharey=True, layout="constrained")
    styles = {"GIT authors": STYLES["GIT authors"], "k-means": ("#0072B2", "s", "k-means++")} | STYLES
    kinds = [(dataset, kind) for kind in ("pca", "ae") for dataset in SETS]
    for (dataset, kind), panel in zip(kinds, panels, strict=True):
        names = [f"{kind}{width}" for width in WIDTHS]
        for method in ("GIT authors", *dimension_reduction.PEERS):
            here, published, _ = zip(*(figures[dataset, name][method] for name in names), strict=True)
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
    """Draw F1 over k: two rows for each set, raw images and principal components above autoencoders."""
    curves = sensitivity.read_curves()
    columns = [[name for name in sensitivity.NAMES if name.startswith(kinds)] for kinds in (("raw", "pca"), "ae")]
    rows = [(dataset, names) for dataset in SETS for names in columns]
    width = max(map(len, columns))
    figure, panels = pyplot.subplots(
        len(rows), width, figsize=(12, 2.1 * len(rows)), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    for (dataset, names), row in zip(rows, panels, strict=True):
        for name, panel in zip([""] * (width - len(names)) + names, row, strict=True):
            if (dataset, name) in curves:
                drawn = draw_neighbors(panel, curves[dataset, name])
                panel.set_title(f"{dataset.upper()} {name}", fontsize=10)
                last = panel.get_subplotspec().is_last_row()
                panel.tick_params(labelbottom=last or name == "raw", labelleft=name in ("raw", "ae5"))
                panel.grid(alpha=0.3)
            else:
                panel.set_axis_off()
    panels[1, 0].legend(handles=drawn, loc="center", frameon=False, fontsize=9)
    figure.supxlabel("k")
    figure.supylabel("F1")
    return figure


def draw_neighbors(panel: Any, curve: dict[str, list[float]]) -> list[Any]:
    """Draw the curves of one embedding, and return their lines."""
    styles = {
        "published": ("o--", "0.55", "published"),
        "authors": ("s-", "tab:orange", 'variant="authors"'),
        "adaptive": ("o-", "tab:blue", "default, k given"),
    }
    lines = [
        panel.plot(PUBLISHED_SIZES, curve[source], style, color=colour, markersize=4, label=label)[0]
        for source, (style, colour, label) in styles.items()
    ]
    return [
        *lines,
        panel.axhline(curve["auto"][0], color="tab:blue", linewidth=1, linestyle=":", label="default, no k"),
        panel.axhline(curve["k-means"][0], color="black", linewidth=1.2, linestyle="--", label="k-means++"),
    ]


def draw_sweeps() -> Any:
    """Draw log-log curves of the three sweeps of the speed experiment."""
    figure, panels = pyplot.subplots(1, 3, figsize=(14, 4.8), sharey=True, layout="constrained")
    colours = {m: pyplot.get_cmap("tab10")(i) for i, m in enumerate(speed.SWEPT["n"])}
    titles = {"n": "samples (d = 10, k = 20)", "d": "features (n = 50,000, k = 20)", "k": "neighbours (100,000 x 10)"}
    of_sweep = dict(zip("ndk", panels, strict=True))
    for (sweep, method), points in speed.read_sweeps().items():
        if sweep not in of_sweep:
            continue
        own = method.startswith(("GIT", "search"))
        of_sweep[sweep].loglog(
            *zip(*points, strict=True), marker="o", markersize=4, color=colours[method],
            linewidth=2.5 if own else 1.2, linestyle="--" if method == "search k" else "-",
            label=f"{method}  ({speed.exponent(points):+.2f})",
        )  # fmt: skip
    for axis, (sweep, panel) in enumerate(of_sweep.items()):
        panel.set_xlabel(titles[sweep])
        ticks = [shape[axis] for shape in speed.SWEEPS[sweep]]
        panel.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(which="major", alpha=0.3)
        panel.legend(fontsize=8, title="method (exponent)", title_fontsize=8)
    panels[0].set_ylabel("seconds, 2 cores")
    return figure


def draw_paper_sweeps() -> Any:
    """Draw CPU seconds along the sweeps of the paper, the published seconds, and n log n, d and k."""
    figure, panels = pyplot.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained")
    styles = {
        "GIT paper k": ("o-", "#0072B2", "GIT, the paper's method"),
        "GIT authors k": ("s-", "#000000", "GIT, authors' variant"),
        "search k": ("^--", "#999999", "search alone"),
    }
    sweeps, laws = speed.read_sweeps("cpu"), {"n": lambda n: n * np.log(n), "d": lambda d: d, "k": lambda k: k}
    names = {"n": "samples", "d": "features", "k": "neighbours"}
    for axis, panel in zip("ndk", panels, strict=True):
        for method, (style, colour, label) in styles.items():
            points = sweeps.get((f"paper {axis}", method))
            if points is None:
                continue
            panel.loglog(
                *zip(*points, strict=True), style, color=colour, markersize=4,
                label=f"{label} ({speed.exponent(points):.2f})",
            )  # fmt: skip
        published = list(PUBLISHED_SPEED[axis].items())
        panel.loglog(
            *zip(*published, strict=True), "x:", color="#D55E00", markersize=6,
            label=f"published, 32 cores ({speed.exponent(published):.2f})",
        )  # fmt: skip
        first, law = sweeps[f"paper {axis}", "GIT paper k"], laws[axis]
        sizes = np.array([size for size, _ in first])
        panel.loglog(
            sizes, first[0][1] * law(sizes) / law(sizes[0]), color="#CCCCCC", linewidth=5, zorder=0,
            label={"n": "n log n", "d": "d", "k": "k"}[axis],
        )  # fmt: skip
        panel.set_xlabel(names[axis])
        panel.grid(alpha=0.3)
        panel.set_ylim(top=panel.get_ylim()[1] * (8 if axis == "k" else 1))  # space for the legend above the curves
        panel.legend(fontsize=7.5, title="(exponent)", title_fontsize=7.5, loc="upper left")
    panels[0].set_ylabel("seconds of CPU")
    return figure


DRAWINGS: dict[str, Callable[[], Any]] = {
    "shapes_published": lambda: draw_shapes("published"),
    "shapes_untuned": lambda: draw_shapes("untuned"),
    "robustness": lambda: draw_curves(Store("robustness", robustness.FIELDS).lines),
    "noise_and_scale": lambda: draw_noise_and_scale(Store("pictures", pictures.FIELDS).lines),
    "dimension_reduction": draw_embeddings,
    "dimension_reduction_published": draw_published_embeddings,
    "images_umap": lambda: draw_images(Store("pictures", pictures.FIELDS).lines),
    "sensitivity": draw_sensitivity,
    "speed": draw_sweeps,
    "speed_paper": draw_paper_sweeps,
}
