"""The paper's figures of the method itself, which ``python -m docs.images`` draws.

They show the pipeline (Fig. 1), the idea in one dimension (Fig. 2), how local clusters grow as the intensity threshold
falls (Fig. 3), and the climb over lines of equal intensity (Fig. 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from gitcluster import GIT, plots
from gitcluster.plots.samples import coarsen

COLOURS = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#882255", "#999933"])
GREY, PALE = "#888888", "#D8D8D8"


def plot_pipeline(model: GIT, X: NDArray[Any]) -> Figure:
    """Draw six steps: samples, intensity, local clusters, topo-graph, cut edges, clusters.

    Local clusters that merge first are drawn as one, so that at most 20 remain.
    """
    figure = plt.figure(figsize=(10.5, 3.6), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    panels[0].scatter(*X.T, s=2, color=GREY, linewidths=0)
    plots.plot_clusters(model, X, ax=panels[1], color="intensity")
    coarse = coarsen(model.clustering_, 20)
    nodes = np.arange(len(coarse.peaks))
    uncut = replace(coarse, edge_cut=coarse.edge_cut._replace(labels=nodes, kept=coarse.edge_cut.kept | True))
    panels[2].scatter(*X.T, s=2, c=COLOURS[coarse.local_labels % len(COLOURS)], linewidths=0)
    panels[2].scatter(*X[coarse.peaks].T, s=12, marker="^", color="black", linewidths=0, zorder=4)
    plots.plot_topo_graph(uncut, X, ax=panels[3], n_labels=0)
    plots.plot_topo_graph(coarse, X, ax=panels[4], n_labels=0)
    plots.plot_clusters(model, X, ax=panels[5])
    titles = ("samples", "intensity", "local clusters", "topo-graph", "cut edges", f"{model.n_clusters_} clusters")
    for panel, letter, title in zip(panels, "abcdef", titles, strict=True):
        _frame(panel, X, f"({letter}) {title}")
    return figure


def plot_growth(model: GIT, X: NDArray[Any], *, thresholds: Sequence[float] = (0.6, 0.5, 0.4, 0.0)) -> Figure:
    """Draw how local clusters grow while the intensity threshold falls: the samples above it, in their colours."""
    figure = plt.figure(figsize=(13.5, 2.1), layout="constrained")
    panels = figure.subplots(1, len(thresholds) + 1)
    plots.plot_clusters(model, X, ax=panels[0], color="intensity")
    _frame(panels[0], X, "intensity")
    for panel, level in zip(panels[1:], thresholds, strict=True):
        above = model.intensity_ >= level
        panel.scatter(*X.T, s=2, color=PALE, linewidths=0)
        panel.scatter(*X[above].T, s=4, linewidths=0, c=COLOURS[model.local_labels_[above] % len(COLOURS)])
        n_born = int(above[model.peaks_].sum())
        _frame(panel, X, f"$\\lambda$ = {level:g}: {above.mean():.0%} of samples,\n{n_born} local clusters")
    return figure


def plot_motivation(model: GIT, X: NDArray[Any]) -> Figure:
    """Draw the idea on one feature: intensity and local clusters, the graph between them, and the cut edge.

    Local clusters are numbered from left to right. Their peaks are the roots r of the paper. The two samples x are the
    nearest pair of the strongest edge.
    """
    x, intensity, local, graph = X[:, 0], model.intensity_, model.local_labels_, model.topo_graph_
    figure = plt.figure(figsize=(7.0, 5.6), layout="constrained")
    curve, before, after = figure.subplots(3, 1, sharex=True, height_ratios=[3, 1.3, 1.3])
    roots, rank = x[model.peaks_], np.argsort(np.argsort(x[model.peaks_])) + 1
    for i, root in enumerate(roots):
        members = np.flatnonzero(local == i)[np.argsort(x[local == i])]
        curve.fill_between(x[members], intensity[members], color=COLOURS[i], alpha=0.55, linewidth=0)
        curve.annotate(f"$r_{rank[i]}$", (root, intensity[model.peaks_[i]]), (0, 6), textcoords="offset points")
        before.annotate(f"$v_{rank[i]}$", (root, 0), (0, 13), textcoords="offset points", ha="center")
    order = np.argsort(x)
    curve.plot(x[order], intensity[order], color="black", linewidth=1)
    curve.plot(roots, intensity[model.peaks_], "ko", markersize=4)
    curve.scatter(x, np.full(len(x), -0.06 * intensity.max()), c=COLOURS[model.labels_], marker="|", linewidths=0.8)
    first, second = (np.flatnonzero(local == i) for i in graph.edges[graph.weights.argmax()])
    distances = pairwise_distances(X[first], X[second])
    pair = [
        rows[i] for rows, i in zip((first, second), np.unravel_index(distances.argmin(), distances.shape), strict=True)
    ]
    curve.plot(x[pair], intensity[pair], "o", color="black", markerfacecolor="white", markersize=5)
    for name, row in zip(("$x_1$", "$x_2$"), sorted(pair, key=lambda row: x[row]), strict=True):
        curve.annotate(name, (x[row], intensity[row]), (-15 if name == "$x_1$" else 6, -13), textcoords="offset points")
    for panel, colours, kept in (
        (before, COLOURS[: len(roots)], np.ones(len(graph.edges), bool)),
        (after, COLOURS[model.edge_cut_.labels], model.edge_cut_.kept),
    ):
        for (i, j), weight, whole in zip(graph.edges, graph.weights, kept, strict=True):
            time = np.linspace(0, 1, 25)
            arc = abs(roots[i] - roots[j]) * time * (1 - time)
            width = 0.6 + 3 * weight / graph.weights.max()
            panel.plot(
                roots[i] + (roots[j] - roots[i]) * time, arc, "-" if whole else "--", color=GREY, linewidth=width
            )
        panel.scatter(roots, np.zeros(len(roots)), s=400, c=colours, zorder=3)
        panel.set(yticks=[], ylim=(-0.5, 1.6))
    n_cut = int((~model.edge_cut_.kept).sum())
    titles = ("(a) intensity, local clusters, their roots, a boundary pair", "(b) topo-graph", f"(c) {n_cut} edge cut")
    for panel, title in zip((curve, before, after), titles, strict=True):
        panel.set_title(title, fontsize="medium", loc="left")
        panel.spines[["top", "right"]].set_visible(False)
    curve.set(ylabel="intensity", ylim=(None, 1.15 * intensity.max()))
    return figure


def plot_ascent(model: GIT, X: NDArray[Any]) -> Axes:
    """Draw peaks and arrows uphill over lines of equal intensity, which is predicted on a grid."""
    ax = plots.plot_clusters(model, X, color=model.local_labels_, legend=False)
    ax.set_title(f"{len(model.peaks_)} local clusters")
    ax.quiver(
        *X.T, *(X[model.parents_] - X).T, angles="xy", scale_units="xy", scale=1.0, width=0.0018, headwidth=5,
        alpha=0.8, zorder=3,
    )  # fmt: skip
    ax.scatter(*X[model.peaks_].T, s=30, marker="^", color="black", zorder=4)
    across, up = ax.get_xlim(), ax.get_ylim()
    margin = np.ptp(X, axis=0) / 4
    sides = np.linspace(X.min(axis=0) - margin, X.max(axis=0) + margin, 160).T
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    height = model.score_samples(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    levels = np.linspace(*np.quantile(model.log_intensity_, (0.05, 1)), 10)[:-1]
    ax.contour(*sides, height, levels=levels, colors=GREY, linewidths=0.7, linestyles="solid", zorder=0)
    ax.set(xlim=across, ylim=up)
    return ax


def _frame(panel: Axes, X: NDArray[Any], title: str) -> None:
    """Set the limits of the samples, a thin frame without ticks, and a title."""
    low, high = X.min(axis=0) - np.ptp(X, axis=0) / 15, X.max(axis=0) + np.ptp(X, axis=0) / 15
    panel.set_aspect("equal", adjustable="box")
    panel.set(xticks=[], yticks=[], xlabel="", ylabel="", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    panel.spines[:].set(color="#CCCCCC", visible=True)
    panel.set_title(title, fontsize="medium")
