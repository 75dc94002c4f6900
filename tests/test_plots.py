"""The pictures: what they draw is there, colours agree, texts do not overlap, and nothing global changes."""

import functools
import importlib
import inspect
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import nasty_sets
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.quiver import Quiver
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT, plots
from gitcluster.cli.demo import PRIOR, make_example
from gitcluster.fitted import places as places_module
from gitcluster.fitted.clustering import clustering_of
from gitcluster.fitted.places import lay_out, place_samples
from gitcluster.plots._coarse import coarsen
from gitcluster.plots._colours import HUES, NOISE, colours_of, local_colours, readable_on
from gitcluster.plots._points import find_pixels, paint
from gitcluster.plots.graph import drawn_edges
from gitcluster.plots.layers import arrange
from gitcluster.plots.samples import own_places

SAMPLES = ("plot_intensity", "plot_local_clusters", "plot_clusters", "plot_topo_graph")
CHOICES = ("plot_hierarchy", "plot_condensed_tree", "plot_memberships")
PLANE = make_blobs(200, 2, centers=3, cluster_std=0.7, random_state=3)[0]
SPACE = make_blobs(200, 5, centers=3, cluster_std=0.7, random_state=3)[0]
CROWD = make_blobs(600, 2, centers=30, cluster_std=0.3, random_state=3)[0]
SPARSE = csr_array(np.where(np.abs(SPACE) > 2, SPACE, 0))
DISTANCES = pairwise_distances(PLANE)
GRAPH = kneighbors_graph(SPACE, 12, mode="distance")
LINE = np.random.default_rng(0).normal([0, 2, 7], 0.4, size=(60, 3)).reshape(-1, 1)
EXAMPLE = make_example()
KINDS = {
    "two features": (GIT(3), PLANE, PLANE),
    "five features": (GIT(3), SPACE, SPACE),
    "one feature": (GIT(2, n_neighbors=20), LINE, None),
    "one cluster": (GIT(1), PLANE, PLANE),
    "noise": (GIT(3, noise=0.1), PLANE, PLANE),
    "prior": (GIT(proportions=PRIOR), EXAMPLE, EXAMPLE),
    "number unknown": (GIT(), PLANE, None),
    "many clusters": (GIT(30, n_neighbors=5), CROWD, None),
    "weighted": (GIT(3), PLANE, None),
    "repeated": (GIT(3), PLANE, PLANE),
    "sparse": (GIT(3), SPARSE, SPARSE),
    "distances": (GIT(3, metric="precomputed"), DISTANCES, DISTANCES),
    "graph": (GIT(3, metric="precomputed_graph"), GRAPH, GRAPH),
    "paper": (GIT(3, variant="paper"), PLANE, PLANE),
    "authors": (GIT(3, variant="authors"), PLANE, PLANE),
    "ten samples": (GIT(2), PLANE[:10], PLANE[:10]),
}
"""A model, what it is fitted on, and what is passed to be drawn."""
WEIGHTS = {"weighted": np.linspace(0.5, 2, len(PLANE)), "repeated": np.arange(len(PLANE)) % 3}
WITH_HIERARCHY = sorted(set(KINDS) - {"paper", "authors"})

OF_A_MODEL = [name for name in plots.__all__ if name != "plot_explanation"]


@functools.cache
def fitted(kind):
    """A fitted model of a kind, and the samples to draw."""
    model, given, drawn = KINDS[kind]
    return model.fit(given, sample_weight=WEIGHTS.get(kind)), drawn


@pytest.fixture(autouse=True)
def _nothing_global_changes():
    plt.switch_backend("agg")
    before = dict(matplotlib.rcParams)
    plt.close("all")
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == before


def new_axes():
    return Figure(figsize=(5, 4), dpi=60).subplots()


def render(fig):
    """The pixels of a figure."""
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def check_picture(*axes):
    """Something is drawn inside the axes, and no two texts there overlap."""
    image = render(axes[0].figure.figure)
    for ax in axes:
        box = ax.get_window_extent()
        top = image.shape[0] - int(box.y1)
        inside = image[top + 3 : top + int(box.height) - 3, int(box.x0) + 3 : int(box.x1) - 3, :3]
        assert len(np.unique(inside.astype(np.int64) @ [65536, 256, 1])) > 3
        boxes = [text.get_window_extent() for text in ax.texts if text.get_visible()]
        assert not any(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i])


def points_of(ax):
    """Places and colours of the largest scatter."""
    scatters = [c for c in ax.collections if isinstance(c, PathCollection)]
    largest = max(scatters, key=lambda c: len(c.get_offsets()))
    return np.asarray(largest.get_offsets()), largest.get_facecolors()[:, :3]


def colour_at(ax, place):
    """Colour of the sample at a place."""
    places, colours = points_of(ax)
    return colours[np.abs(places - place).sum(axis=1).argmin()]


def enlarge(model, X, times):
    """A model of many more samples: every one repeated with a little noise."""
    row = np.tile(np.arange(len(X)), times)
    names = ("labels", "local_labels", "log_intensity", "parents")
    large = replace(model.clustering_, **{name: getattr(model.clustering_, name)[row] for name in names})
    return large, X[row] + np.random.default_rng(0).normal(scale=0.02, size=(len(row), X.shape[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_samples(kind):
    model, X = fitted(kind)
    for name in SAMPLES:
        ax = new_axes()
        assert getattr(plots, name)(model, X, ax=ax, legend=True) is ax
        assert len(points_of(ax)[0]) == len(model.labels_)
        check_picture(ax)
        assert not plt.get_fignums()


@pytest.mark.parametrize("kind", WITH_HIERARCHY)
def test_pictures_of_choices(kind):
    model, X = fitted(kind)
    for name in CHOICES:
        ax = new_axes()
        assert getattr(plots, name)(model, X, ax=ax) is ax
        check_picture(ax)
        assert not plt.get_fignums()


def test_new_figures_are_those_of_pyplot():
    model, X = fitted("prior")
    for name in OF_A_MODEL:
        if name in ("plot_n_clusters", "plot_layers"):
            continue
        fig = getattr(plots, name)(model, X).figure
        assert plt.get_fignums() == [fig.number], name
        plt.close(fig)


def test_one_signature():
    for name in OF_A_MODEL:
        function = getattr(plots, name)
        assert inspect.getdoc(function)
        parameters = list(inspect.signature(function).parameters.values())
        assert [p.name for p in parameters[:2]] == ["model", "X"]
        assert parameters[1].default is None
        assert all(p.kind is p.KEYWORD_ONLY for p in parameters[2:])


@pytest.mark.parametrize(
    "name",
    [
        "duplicates",
        "collinear",
        "huge offset",
        "huge scale",
        "one far outlier",
        "5000 dimensions",
        "two samples",
        "rounded",
    ],
)
def test_nasty_samples(name):
    X = nasty_sets()[name]
    model = GIT().fit(X)
    for draw in (plots.plot_intensity, plots.plot_local_clusters, plots.plot_clusters, plots.plot_topo_graph):
        check_picture(draw(model, X, ax=new_axes()))
    for choice in CHOICES:
        check_picture(getattr(plots, choice)(model, ax=new_axes()))


def test_clusters_have_one_colour_everywhere():
    model, X = fitted("noise")
    alone = plots.plot_clusters(model, X, ax=new_axes())
    other, _ = fitted("two features")
    np.testing.assert_array_equal(colours_of([0]), colours_of(np.arange(20))[:1])
    for sample in range(0, len(X), 7):
        expected = NOISE if model.labels_[sample] < 0 else colours_of(model.labels_[sample])
        np.testing.assert_allclose(colour_at(alone, X[sample]), expected)
    graph = plots.plot_topo_graph(model, X, ax=new_axes())
    nodes = graph.collections[-1]
    for place, colour in zip(nodes.get_offsets(), nodes.get_facecolors()[:, :3], strict=True):
        local = int(np.abs(X[model.peaks_] - place).sum(axis=1).argmin())
        np.testing.assert_allclose(colour, colours_of(model.edge_cut_.labels[local]))
    lines = {matplotlib.colors.to_hex(line.get_color()) for line in plots.plot_hierarchy(other, ax=new_axes()).lines}
    assert lines >= {matplotlib.colors.to_hex(c) for c in colours_of(np.arange(3))}


def test_connected_local_clusters_differ():
    for kind in ("prior", "many clusters", "five features"):
        model, _ = fitted(kind)
        colours, edges = local_colours(model.topo_graph_), model.topo_graph_.edges
        assert len(edges) > 5
        assert (np.abs(colours[edges[:, 0]] - colours[edges[:, 1]]).sum(axis=1) > 0).all()
    model, X = fitted("prior")
    ax = plots.plot_local_clusters(model, X, ax=new_axes(), arrows=False)
    colours = local_colours(model.topo_graph_)
    for sample in range(0, len(X), 50):
        np.testing.assert_allclose(colour_at(ax, X[sample]), colours[model.local_labels_[sample]])
    before = plots.plot_topo_graph(model, X, ax=new_axes(), when="before").collections[-1]
    order = np.argsort(-model.topo_graph_.sizes, kind="stable")
    np.testing.assert_allclose(before.get_facecolors()[:, :3], colours[order])


def test_hues_differ_for_the_colour_blind():
    """Simulated by the matrices of Machado et al. (2009), compared in CIE Lab; 2.3 is just noticeable."""
    blind = {
        "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
        "none": np.eye(3),
    }
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    colours = np.vstack([HUES, NOISE])
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    for kind, matrix in blind.items():
        xyz = np.clip(light @ np.transpose(matrix), 0, 1) @ to_xyz.T / to_xyz.sum(axis=1)
        root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
        lab = np.column_stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])])
        assert pdist(lab).min() > 10, kind


@pytest.mark.parametrize("kind", ["prior", "five features", "graph", "paper"])
def test_cut_edges_are_dashed(kind):
    model, X = fitted(kind)
    kept = model.edge_cut_.kept
    for layout in ("position", "force"):
        ax = plots.plot_topo_graph(model, X, ax=new_axes(), layout=layout)
        lines = {c.get_label(): c for c in ax.collections if isinstance(c, LineCollection)}
        assert len(lines["cut"].get_paths()) == (~kept).sum() > 0
        assert len(lines["kept"].get_paths()) == kept.sum()
        assert lines["cut"].get_linestyles()[0][1] is not None
        assert lines["kept"].get_linestyles()[0][1] is None
    (edges,) = (
        c
        for c in plots.plot_topo_graph(model, X, ax=new_axes(), when="before").collections
        if isinstance(c, LineCollection)
    )
    assert len(edges.get_paths()) == len(kept)
    assert edges.get_linestyles()[0][1] is None


def test_sizes_and_widths():
    model, X = fitted("prior")
    graph = model.topo_graph_
    ax = plots.plot_topo_graph(model, X, ax=new_axes(), when="before")
    nodes, edges = ax.collections[-1], next(c for c in ax.collections if isinstance(c, LineCollection))
    np.testing.assert_allclose(np.diff(nodes.get_sizes()) <= 0, True)
    largest = np.argmax(graph.sizes)
    np.testing.assert_allclose(nodes.get_offsets()[0], X[model.peaks_[largest]])
    width = dict(
        zip((tuple(np.sort(p.vertices.ravel())) for p in edges.get_paths()), edges.get_linewidths(), strict=True)
    )
    ends = X[model.peaks_[graph.edges]].reshape(-1, 4)
    found = np.array([width[tuple(np.sort(end))] for end in ends])
    real = graph.pairs > 0
    assert (np.diff(found[real][np.argsort(graph.log_weights[real])]) >= -1e-9).all()
    assert found[real].max() > 3 * found[~real].max()


def test_of_very_many_edges_the_strongest_are_drawn(monkeypatch):
    model, X = fitted("prior")
    monkeypatch.setattr("gitcluster.plots.graph.MOST_EDGES", 100)
    graph, labels = model.topo_graph_, model.edge_cut_.labels
    drawn = drawn_edges(model.clustering_)
    assert len(drawn) < len(graph.edges)
    rank = np.empty(len(graph.edges))
    rank[np.lexsort((-graph.log_weights, graph.pairs == 0))] = np.arange(len(rank))
    for node in range(len(graph.sizes)):
        own = np.flatnonzero((graph.edges == node).any(axis=1))
        assert set(own[np.argsort(rank[own])][:3]) <= set(drawn)
    pairs = {tuple(pair) for pair in np.sort(labels[graph.edges], axis=1)}
    assert pairs == {tuple(pair) for pair in np.sort(labels[graph.edges[drawn]], axis=1)}
    assert "strongest" in plots.plot_topo_graph(model, X, ax=new_axes()).get_title()


def test_texts_find_room():
    model, X = fitted("many clusters")
    ax = plots.plot_clusters(model, X, ax=new_axes(), legend=True)
    check_picture(ax)
    assert 15 <= sum(text.get_visible() for text in ax.texts) <= 30
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(entries) == 12
    assert entries[-1] == "and 19 more"
    box = ax.get_legend().get_window_extent()
    assert box.x0 >= ax.get_window_extent().x1
    small = Figure(figsize=(1.5, 1.2)).subplots()
    check_picture(plots.plot_topo_graph(model, X, ax=small, n_labels=30))
    assert 1 <= sum(text.get_visible() for text in small.texts) < 30


def test_many_samples_are_an_image():
    model, X = enlarge(*fitted("prior"), times=200)
    for name in SAMPLES:
        ax = getattr(plots, name)(model, X, ax=new_axes())
        assert len(ax.images) == 1
        scatters = [c for c in ax.collections if isinstance(c, PathCollection)]
        assert all(len(c.get_offsets()) == len(model.peaks) for c in scatters)
        check_picture(ax)
        left, right, bottom, top = ax.axis()
        assert left < X[:, 0].min() < X[:, 0].max() < right
        assert bottom < X[:, 1].min() < X[:, 1].max() < top
    image = plots.plot_clusters(model, X, ax=new_axes()).images[0].get_array()
    seen = np.unique(np.round(image[image[..., 3] > 0][:, :3], 4), axis=0)
    for colour in colours_of(np.arange(4)):
        assert np.abs(seen - colour).sum(axis=1).min() < 1e-3


def test_pixels_mix_colours_and_show_counts():
    xy = np.array([[0.0, 0.0]] * 2 + [[1.0, 1.0]] * 50)
    colours = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]] + [[0.0, 1.0, 0.0]] * 50)
    image = paint(find_pixels(xy, n_total=52), colours)
    np.testing.assert_allclose(image[0, 0, :3], [0.5, 0, 0.5])
    np.testing.assert_allclose(image[-1, -1], [0, 1, 0, 1], atol=0.02)
    assert 0.3 < image[0, 0, 3] < 0.7
    assert (image[..., 3] > 0).sum() == 2


def test_arrows_lead_uphill():
    model, X = fitted("prior")
    ax = plots.plot_local_clusters(model, X, ax=new_axes())
    (flow,) = (c for c in ax.collections if isinstance(c, Quiver))
    climbing = model.parents_ != np.arange(len(X))
    np.testing.assert_allclose(np.column_stack([flow.U, flow.V]), (X[model.parents_] - X)[climbing])
    large, places = enlarge(model, X, times=30)
    (mean,) = (c for c in plots.plot_local_clusters(large, places, ax=new_axes()).collections if isinstance(c, Quiver))
    assert 100 < mean.N < 900


def test_places():
    model, X = fitted("two features")
    np.testing.assert_array_equal(place_samples(model.clustering_, X).xy, X)
    np.testing.assert_allclose(place_samples(model.clustering_).xy, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-9)
    model, X = fitted("five features")
    found, expected = place_samples(model.clustering_, X), PCA(2).fit_transform(X / X.std(axis=0))
    np.testing.assert_allclose(pdist(found.xy) / found.xy.std(), pdist(expected) / expected.std(), rtol=1e-6)
    assert found.names[0].startswith("PCA 1 (")
    np.testing.assert_array_equal(place_samples(model.clustering_, X, embedding=X[:, :2]).xy, X[:, :2])
    model, distances = fitted("distances")
    found = place_samples(model.clustering_, distances).xy
    np.testing.assert_allclose(pdist(found) / pdist(found).max(), pdist(PLANE) / pdist(PLANE).max(), atol=1e-9)
    model, _ = fitted("graph")
    np.testing.assert_array_equal(place_samples(model.clustering_).xy, place_samples(model.clustering_, GRAPH).xy)
    named = pytest.importorskip("pandas").DataFrame(PLANE, columns=["wide", "high"])
    assert plots.plot_clusters(GIT(3).fit(named), named, ax=new_axes()).get_xlabel() == "wide"


def test_one_scale_for_similar_ranges_only():
    model, X = fitted("two features")
    assert plots.plot_clusters(model, X, ax=new_axes()).get_aspect() == 1
    assert plots.plot_clusters(model, X * [1, 50], ax=new_axes()).get_aspect() == "auto"
    assert plots.plot_clusters(*fitted("five features"), ax=new_axes()).get_aspect() == "auto"


def test_force_layout():
    for kind in ("prior", "many clusters"):
        model, _ = fitted(kind)
        graph, kept = model.topo_graph_, model.edge_cut_.kept
        places = lay_out(graph, kept)
        np.testing.assert_array_equal(places, lay_out(graph, kept))
        length = np.linalg.norm(places[graph.edges[:, 0]] - places[graph.edges[:, 1]], axis=1)
        assert np.median(length[kept]) < 0.3 * np.median(pdist(places))
        assert pdist(places).min() > 0


@pytest.mark.parametrize("kind", ["prior", "many clusters", "one cluster", "ten samples"])
def test_the_cut_crosses_every_cluster_once(kind):
    model, _ = fitted(kind)
    ax = plots.plot_hierarchy(model, ax=new_axes())
    *links, cut = ax.lines
    assert len(links) == min(39, len(model.peaks_) - 1)
    level = cut.get_ydata()[0]
    sides = [(y[a], y[b]) for y in (link.get_ydata() for link in links) for a, b in ((0, 1), (3, 2))]
    crossings = sum(low < level < high for low, high in sides) or int(level > max(high for _, high in sides))
    assert crossings == model.n_clusters_
    counts = [int(tick.get_text().replace(",", "")) for tick in ax.get_xticklabels()]
    assert sum(counts) == len(model.labels_)


def test_a_sweep_is_no_cut_of_the_hierarchy():
    model, _ = fitted("prior")
    labels = model.edge_cut_.labels.copy()
    labels[0], labels[-1] = labels[-1], labels[0]
    assert (labels != model.edge_cut_.labels).any()
    other = replace(model.clustering_, edge_cut=model.edge_cut_._replace(labels=labels))
    ax = plots.plot_hierarchy(other, ax=new_axes())
    assert len(ax.lines) == 39
    assert "no single cut" in ax.get_title()


def test_choices_show_the_tables():
    model, _ = fitted("number unknown")
    table = model.n_clusters_scores_
    for quantity in ("score", "agreement"):
        ax = plots.plot_n_clusters(model, ax=new_axes(), quantity=quantity)
        np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], table[quantity])
        hues = {hue: [i + 1 for i, bar in enumerate(ax.patches) if np.allclose(bar.get_facecolor()[:3], HUES[hue])]
                for hue in (0, 5)}  # fmt: skip
        next_best = table["n_clusters"][(table["rank"] > 1) & (table["confidence"] > 0)].tolist()
        assert (hues[0], hues[5]) == ([model.n_clusters_], next_best)
        assert {model.n_clusters_, *next_best} <= set(ax.get_xticks().tolist())
        check_picture(ax)
    with pytest.raises(ValueError, match="quantity must be one of"):
        plots.plot_n_clusters(model, quantity="entropy")


def test_representations_have_a_bar_or_a_reason():
    model, _ = fitted("two features")
    ax = plots.plot_representations(model, ax=new_axes())
    score, reason = model.representations_["score"], model.representations_["reason"]
    tried = ~np.isnan(score)
    assert 0 < tried.sum() < len(score)
    np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], score[tried])
    assert [text.get_text().strip() for text, done in zip(ax.texts, tried, strict=True) if not done] == [
        why for why, done in zip(reason, tried, strict=True) if not done
    ]
    check_picture(ax)
    with pytest.raises(ValueError, match="scale='auto'"):
        plots.plot_representations(GIT(3, scale="std", variant="paper").fit(PLANE))


@pytest.mark.parametrize("kind", ["prior", "many clusters", "one cluster", "weighted"])
@pytest.mark.parametrize("min_size", [None, 1, 30])
def test_a_condensed_tree_is_as_wide_as_its_samples(kind, min_size):
    model, _ = fitted(kind)
    ax = plots.plot_condensed_tree(model, ax=new_axes(), min_size=min_size)
    check_picture(ax)
    boxes = np.array([(*bar.get_xy(), bar.get_width(), bar.get_height()) for bar in ax.patches])
    assert boxes[:, 2].max() == pytest.approx(len(model.labels_))
    widest = {}
    for bar in ax.patches:
        colour = tuple(np.round(bar.get_facecolor()[:3], 6))
        widest[colour] = max(widest.get(colour, 0.0), bar.get_width())
    sizes = model.proportions_ * len(model.labels_)
    if min_size is None:  # every chosen cluster is there, as wide as it is
        for c, size in enumerate(sizes):
            assert widest[tuple(np.round(colours_of(c), 6))] == pytest.approx(size, rel=1e-3)
    else:
        assert boxes[:, 2].min() >= min(min_size, len(model.labels_)) * 0.99
    for level in np.linspace(0.05, 1.0, 13) * boxes[:, 1:4:2].sum(axis=1).max():  # no branch lies over another
        there = boxes[(boxes[:, 1] < level) & (level < boxes[:, 1] + boxes[:, 3])]
        there = there[np.argsort(there[:, 0])]
        assert (there[1:, 0] >= there[:-1, 0] + there[:-1, 2] - 1e-9).all()


def test_memberships_are_those_of_the_model():
    model, _ = fitted("noise")
    ax = plots.plot_memberships(model, ax=new_axes())
    for c, steps in enumerate(ax.patches):
        values = steps.get_data().values
        np.testing.assert_allclose(values, np.sort(model.probabilities_[model.labels_ == c])[::-1])
    assert len(ax.patches) == model.n_clusters_


@pytest.mark.parametrize("kind", ["prior", "many clusters", "five features"])
def test_the_coarser_view_keeps_clusters_and_samples(kind):
    model, X = fitted(kind)
    whole = clustering_of(model)
    few = coarsen(whole, 15)
    most = max(15, model.n_clusters_)
    if kind == "prior":
        assert len(few.peaks) == min(most, len(whole.peaks))
    assert len(few.peaks) < len(whole.peaks)
    np.testing.assert_allclose(np.bincount(few.local_labels), few.topo_graph.sizes)
    np.testing.assert_array_equal(few.edge_cut.labels[few.local_labels], whole.edge_cut.labels[whole.local_labels])
    real, all_real = few.topo_graph.real, whole.topo_graph.real
    ends = np.sort(few.local_labels[whole.peaks[whole.topo_graph.edges]], axis=1)
    for edge, (i, j) in enumerate(few.topo_graph.edges):
        behind = all_real & (ends == (i, j)).all(axis=1)
        assert real[edge] == behind.any()
        if real[edge]:
            assert few.topo_graph.pairs[edge] == whole.topo_graph.pairs[behind].sum()
            assert few.topo_graph.log_sums[edge] == pytest.approx(
                np.log(np.exp(whole.topo_graph.log_sums[behind]).sum())
            )
    assert coarsen(whole, None) is whole
    assert f"in {len(few.peaks)} groups" in plots.plot_topo_graph(model, X, ax=new_axes(), max_nodes=15).get_title()
    with pytest.raises(ValueError, match="max_nodes"):
        plots.plot_topo_graph(model, X, max_nodes=0)


def test_numbers_stand_where_their_own_samples_prevail():
    rng = np.random.default_rng(0)
    xy = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal(0, 0.1, (30, 2)), rng.normal([4, 0], 0.3, (60, 2))])
    labels = np.repeat([0, 1, 2], [300, 30, 60])
    height = np.zeros(390)
    height[[310, 389]] = 1  # the peak of cluster 0 is the first of all
    xy[0] = [4, 0]  # drawn in the middle of cluster 2
    height[0] = 2
    areas = own_places(xy, labels, height)
    assert (areas[0][:, 0] < 2.5).all()
    np.testing.assert_array_equal(areas[2][0], xy[389])
    lost = labels.copy()
    lost[5] = 3  # one sample among many has no area
    assert sorted(own_places(xy, lost, height)) == [0, 1, 2]
    ax = plots.plot_clusters(*fitted("prior"), ax=new_axes())
    for text in ax.texts:
        np.testing.assert_allclose(text.get_color(), readable_on(ax, colours_of(int(text.get_text()))))


def test_layers_are_drawn_without_crossings():
    model, _ = fitted("number unknown")
    ax = plots.plot_layers(model, n_clusters=[2, 5, 9], ax=new_axes())
    check_picture(ax)
    layers = model.layers([2, 5, 9])
    assert [len(nodes.get_offsets()) for nodes in ax.collections] == [layer.n_clusters for layer in layers]
    for layer, x in zip(layers[1:], arrange(layers)[1:], strict=True):
        parents = layer.parents[np.argsort(x)]
        assert (np.diff(parents) != 0).sum() == len(set(parents)) - 1  # parts of one cluster are side by side
    with pytest.raises(ValueError, match=r"layers\(\[3, 8\]\)"):
        plots.plot_layers(fitted("prior")[0])


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_errors_of_every_function(name):
    draw = getattr(plots, name)
    with pytest.raises(NotFittedError):
        draw(GIT())
    with pytest.raises(TypeError, match="model must be a fitted GIT, got str"):
        draw("model")
    model, X = fitted("prior")
    with pytest.raises(TypeError, match=r"ax must be plain .* got ndarray"):
        draw(model, X, ax=np.zeros(2))
    with pytest.raises(TypeError, match="got polar axes"):
        draw(model, X, ax=Figure().add_subplot(projection="polar"))
    assert not plt.get_fignums()


def test_errors_of_places():
    model, X = fitted("two features")
    for given, message in (
        ({"X": X[:-1]}, "X has 199 samples, the model was fitted on 200"),
        ({"embedding": X[:-1]}, r"embedding must have shape \(200, 2\), .* got \(199, 2\)"),
        ({"embedding": SPACE}, r"got \(200, 5\)"),
        ({"embedding": np.full((200, 2), np.nan)}, "embedding must be finite"),
        ({"embedding": "here"}, r"numbers of shape \(200, 2\)"),
        ({"labels": model.labels_[:5]}, "labels must be 200 integers"),
    ):
        with pytest.raises(ValueError, match=message):
            plots.plot_clusters(model, **given)
    with pytest.raises(ValueError, match=r"X or embedding must be given: .*metric='precomputed'"):
        plots.plot_clusters(fitted("distances")[0])
    check_picture(plots.plot_topo_graph(fitted("distances")[0], layout="force", ax=new_axes()))
    with pytest.raises(ValueError, match=r"X must be given: .* sample_weight"):
        plots.plot_clusters(fitted("repeated")[0])
    for given in ({"when": "now"}, {"layout": "round"}):
        with pytest.raises(ValueError, match="must be one of"):
            plots.plot_topo_graph(model, X, **given)
    assert not plt.get_fignums()


def test_errors_of_choices():
    for name in ("plot_hierarchy", "plot_condensed_tree"):
        with pytest.raises(ValueError, match=r"variant='paper' makes no hierarchy.*variant='adaptive'"):
            getattr(plots, name)(fitted("paper")[0])
    with pytest.raises(ValueError, match="n_clusters='auto'"):
        plots.plot_n_clusters(fitted("prior")[0])
    assert not plt.get_fignums()


def test_missing_matplotlib_names_the_extra():
    code = "import sys; sys.modules['matplotlib'] = None; import gitcluster.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'gitcluster[plot]'" in done.stderr


def test_the_page_has_every_picture():
    page = (Path(__file__).parents[1] / "docs" / "plots.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    assert {name for name in plots.__all__ if f"plots.{name}(" in "".join(blocks)} == set(plots.__all__)
    for image in page.split("](images/")[1:]:
        assert (Path(__file__).parents[1] / "docs" / "images" / image.split(")")[0]).stat().st_size < 120_000


def test_stored_pictures_are_those_drawn_now(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "docs")
    images = importlib.import_module("images")
    stale = [name for name in images.PICTURES if images.is_stale(name)]
    assert not stale, f"python -m docs.images {' '.join(stale)} draws them again"
    pages = "".join((Path(images.__file__).parent / page).read_text() for page in ("plots.md", "reproduce.md"))
    shown = set(re.findall(r"\(images/(\w+)\.png\)", pages))
    assert shown == set(images.PICTURES) - {"cells_resolution"}


@pytest.mark.parametrize("pair", [(0, None), (0, 1), (0, 150)])
def test_an_explanation_is_drawn(pair):
    X, _ = make_blobs(200, centers=3, random_state=1)
    X = X[np.argsort(GIT(3).fit_predict(X), kind="stable")]
    model = GIT(3).fit(X)
    found = model.explain(*pair)
    ax = found.plot(X, ax=Figure().subplots(), legend=True)
    texts = [text.get_text() for text in ax.texts]
    assert texts == [str(i) for i in pair if i is not None]
    drawn = {lines.get_label(): len(lines.get_segments()) for lines in ax.collections if hasattr(lines, "get_segments")}
    if pair[1] is not None:
        assert drawn.get("cut", 0) == found.cut.sum()
        assert drawn.get("strongest way", 0) == (~found.cut).sum()


@pytest.mark.parametrize("given", [GIT(2), KINDS, "why", SimpleNamespace(clustering="none")])
def test_only_an_explanation_is_drawn_as_one(given):
    message = rf"explanation must come from model\.explain, got {type(given).__name__}\. Pass model\.explain\(i\)"
    with pytest.raises(TypeError, match=message):
        plots.plot_explanation(given)
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    "name", [r"$\frac{$", "$x$", "$", r"a\$b", "100 %_#&", "\x1b[31m", "line\nline", "n" * 5000, "$" * 99, "\u202e"]
)
def test_names_of_columns_are_never_formulas(name, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=[name, "other"])
    model = GIT(2).fit(X)
    line = X[[name]]
    for figure in (
        plots.plot_clusters(model, X).figure,
        plots.plot_clusters(GIT(2).fit(line), line).figure,
        plots.plot_clusters(model, embedding=X).figure,
    ):
        figure.savefig(tmp_path / "p.png", bbox_inches="tight")
        plt.close(figure)
    figure.savefig(tmp_path / "p.pdf", bbox_inches="tight")
    figure.savefig(tmp_path / "p.svg", bbox_inches="tight")
    ElementTree.parse(tmp_path / "p.svg")


@pytest.mark.parametrize("n", [4, 7, 40, 300])
def test_places_where_nothing_differs(n):
    zeros = GIT(metric="precomputed", scale=None).fit(np.zeros((n, n)))
    assert np.isfinite(place_samples(clustering_of(zeros), np.zeros((n, n))).xy).all()
    equal = 1.0 - np.eye(n)
    places = place_samples(clustering_of(GIT(metric="precomputed", scale=None).fit(equal)), equal)
    assert np.isfinite(places.xy).all()
    pairs = csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(n, n))
    alone = GIT(metric="precomputed_graph", scale=None).fit(pairs)
    assert np.isfinite(place_samples(clustering_of(alone)).xy).all()
    plt.close(plots.plot_clusters(zeros, np.zeros((n, n))).figure)
    plt.close(plots.plot_topo_graph(alone).figure)


def test_the_largest_eigenvectors_without_arpack(monkeypatch):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 2)) * [5, 1]
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    monkeypatch.setattr(places_module, "eigsh", lambda *_, **__: (_ for _ in ()).throw(places_module.ArpackError(-9)))
    xy = places_module._scale_distances(distances)
    found = np.linalg.norm(xy[:, None] - xy, axis=2)
    assert np.corrcoef(found.ravel(), distances.ravel())[0, 1] > 0.99


def test_contours_lie_behind_the_samples_and_need_two_features():
    X = np.random.default_rng(0).normal(size=(80, 2))
    ax = plots.plot_local_clusters(GIT(2).fit(X), X, ax=new_axes(), contours=True)
    without = plots.plot_local_clusters(GIT(2).fit(X), X, ax=new_axes())
    assert len(ax.collections) == len(without.collections) + 1
    assert ax.get_xlim() == without.get_xlim()
    lines = plots.plot_intensity(GIT(2).fit(X), X, ax=new_axes(), contours=True)
    assert len(lines.collections) == len(plots.plot_intensity(GIT(2).fit(X), X, ax=new_axes()).collections) + 1
    wide = np.random.default_rng(0).normal(size=(80, 3))
    for draw in (plots.plot_local_clusters, plots.plot_intensity):
        with pytest.raises(ValueError, match="two features"):
            draw(GIT(2).fit(wide), wide, ax=new_axes(), contours=True)


@pytest.mark.parametrize("n_features", [2, 5])
@pytest.mark.parametrize("n_samples", [60, 25_000])
def test_one_far_sample_does_not_squash_a_picture(n_features, n_samples):
    samples = make_blobs(n_samples, n_features, centers=3, random_state=0)[0]
    samples[7, 0] = 1e6
    fitted = GIT(3, n_neighbors=8).fit(samples)
    ax = plots.plot_clusters(fitted, samples, ax=Figure().subplots())
    places = place_samples(fitted.clustering_, samples).xy
    usual = np.delete(places, 7, axis=0)
    for (low, high), column in zip((ax.get_xlim(), ax.get_ylim()), usual.T, strict=True):
        assert high - low < 3 * np.ptp(column)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    shown = (places >= [left, bottom]).all(axis=1) & (places <= [right, top]).all(axis=1)
    notes = [text.get_text() for text in ax.texts if "outside" in text.get_text()]
    assert notes == ([] if shown.all() else ["1 sample outside"])
    assert n_features > 2 or not shown.all()
    samples[7, 0] = 0.0
    calm = plots.plot_clusters(GIT(3, n_neighbors=8).fit(samples), samples, ax=Figure().subplots())
    assert not any("outside" in text.get_text() for text in calm.texts)
