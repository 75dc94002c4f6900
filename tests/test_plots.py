"""Plots: they show the model, colours agree, texts do not overlap, and nothing global changes."""

import functools
import importlib
import inspect
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import nasty_sets
from matplotlib import pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from gitcluster import GIT, compare, plots
from gitcluster.cli.demo import PRIOR, make_example
from gitcluster.fitted.layout import layout_samples
from gitcluster.plots._drawing import HUES, NOISE, colours_of

DOCS = Path(__file__).parents[1] / "docs"
SAMPLES = ("plot_clusters", "plot_topo_graph")
OF_A_MODEL = [name for name in plots.__all__ if name != "plot_flow"]
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
"""A model, the samples it is fitted on, and the samples to draw."""
WEIGHTS = {"weighted": np.linspace(0.5, 2, len(PLANE)), "repeated": np.arange(len(PLANE)) % 3}


@functools.cache
def fitted(kind):
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


def check_plot(ax):
    """Check that something is drawn inside the axes, and that no two texts overlap."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    image, box = np.asarray(canvas.buffer_rgba()), ax.get_window_extent()
    top = image.shape[0] - int(box.y1)
    inside = image[top + 3 : top + int(box.height) - 3, int(box.x0) + 3 : int(box.x1) - 3, :3]
    assert len(np.unique(inside.astype(np.int64) @ [65536, 256, 1])) > 3
    boxes = [text.get_window_extent() for text in ax.texts if text.get_visible()]
    assert not any(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i])


def points_of(ax):
    """Return the coordinates and colours of the largest scatter."""
    scatters = [c for c in ax.collections if isinstance(c, PathCollection)]
    largest = max(scatters, key=lambda c: len(c.get_offsets()))
    return np.asarray(largest.get_offsets()), largest.get_facecolors()[:, :3]


def lines_of(ax):
    return {c.get_label(): c for c in ax.collections if isinstance(c, LineCollection)}


def enlarge(model, X, times):
    """Return a model of many more samples: each one repeated with a little noise."""
    row = np.tile(np.arange(len(X)), times)
    names = ("labels", "local_labels", "log_intensity", "parents")
    large = replace(model.clustering_, **{name: getattr(model.clustering_, name)[row] for name in names})
    return large, X[row] + np.random.default_rng(0).normal(scale=0.02, size=(len(row), X.shape[1]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_drawn_on_the_given_axes(kind):
    model, X = fitted(kind)
    for name in SAMPLES:
        ax = new_axes()
        assert getattr(plots, name)(model, X, ax=ax, legend=True) is ax
        assert len(points_of(ax)[0]) == len(model.labels_)
        check_plot(ax)
    if kind not in ("paper", "authors"):
        check_plot(plots.plot_hierarchy(model, ax=new_axes()))
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", ["duplicates", "collinear", "huge scale", "one far outlier", "two samples", "rounded"])
def test_degenerate_samples_are_drawn(name):
    X = nasty_sets()[name]
    model = GIT().fit(X)
    for name in (*SAMPLES, "plot_hierarchy"):
        check_plot(getattr(plots, name)(model, X, ax=new_axes()))
    check_plot(plots.plot_clusters(model, X, color="intensity", ax=new_axes()))


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_every_function_has_one_signature_and_checks_it(name):
    draw = getattr(plots, name)
    parameters = list(inspect.signature(draw).parameters.values())
    assert [p.name for p in parameters[:2]] == ["model", "X"]
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[2:])
    model, X = fitted("number unknown")[0], PLANE
    with pytest.raises(NotFittedError):
        draw(GIT())
    with pytest.raises(TypeError, match="model"):
        draw("model")
    for ax in (np.zeros(2), Figure().add_subplot(projection="polar")):
        with pytest.raises(TypeError, match="ax must be"):
            draw(model, X, ax=ax)
    assert not plt.get_fignums()
    assert [draw(model, X).figure.number] == plt.get_fignums()


def test_clusters_have_one_colour_everywhere():
    model, X = fitted("noise")
    coordinates, colours = points_of(plots.plot_clusters(model, X, ax=new_axes()))
    rows = pairwise_distances(coordinates, X).argmin(axis=1)
    np.testing.assert_allclose(colours, colours_of(model.labels_[rows]))
    np.testing.assert_allclose(colours_of(-1), NOISE)
    nodes = plots.plot_topo_graph(model, X, ax=new_axes()).collections[-1]
    locals_ = pairwise_distances(nodes.get_offsets(), X[model.peaks_]).argmin(axis=1)
    np.testing.assert_allclose(nodes.get_facecolors()[:, :3], colours_of(model.edge_cut_.labels[locals_]))
    links = plots.plot_hierarchy(model, ax=new_axes()).collections
    assert {to_hex(lines.get_color()[0]) for lines in links} >= {to_hex(c) for c in colours_of(np.arange(3))}


def test_hues_differ_for_the_colour_blind():
    """Simulated by the matrices of Machado et al. (2009), compared as relative luminance and chromaticity."""
    blind = [
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
        [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
    ]
    for matrix in [*blind, np.eye(3)]:
        assert pdist(np.clip(np.vstack([HUES, NOISE]) ** 2.2 @ np.transpose(matrix), 0, 1) ** (1 / 2.2)).min() > 0.1


@pytest.mark.parametrize("layout", ["position", "force"])
@pytest.mark.parametrize("kind", ["prior", "graph", "paper"])
def test_the_topo_graph_shows_nodes_and_edges(kind, layout):
    model, X = fitted(kind)
    kept = model.edge_cut_.kept
    ax = plots.plot_topo_graph(model, X, ax=new_axes(), layout=layout)
    lines = lines_of(ax)
    assert [len(lines[name].get_paths()) for name in ("cut", "kept")] == [(~kept).sum(), kept.sum()]
    assert [lines[name].get_linestyles()[0][1] is None for name in ("cut", "kept")] == [False, True]
    assert (np.diff(ax.collections[-1].get_sizes()) <= 0).all()


def test_of_very_many_edges_the_strongest_are_drawn():
    X = np.random.default_rng(0).normal(size=(5000, 8))
    model = GIT(6, n_neighbors=4).fit(X)
    assert len(model.topo_graph_.edges) > 3000
    ax = plots.plot_topo_graph(model, X, ax=new_axes(), layout="force", n_labels=0)
    assert "strongest" in ax.get_title()
    assert 0 < sum(len(lines.get_paths()) for lines in lines_of(ax).values()) < len(model.topo_graph_.edges)


@pytest.mark.parametrize("kind", ["prior", "many clusters", "five features"])
def test_max_nodes_draws_groups_of_local_clusters(kind):
    model, X = fitted(kind)
    ax = plots.plot_topo_graph(model, X, ax=new_axes(), max_nodes=15)
    n_groups = len(ax.collections[-1].get_offsets())
    assert n_groups == 15 if kind == "prior" else model.n_clusters_ <= n_groups < len(model.peaks_)
    assert f"in {n_groups} groups" in ax.get_title()
    with pytest.raises(ValueError, match="max_nodes"):
        plots.plot_topo_graph(model, X, max_nodes=0)


def test_texts_fit_or_are_hidden():
    model, X = fitted("many clusters")
    ax = plots.plot_clusters(model, X, ax=new_axes(), legend=True)
    check_plot(ax)
    assert 15 <= sum(text.get_visible() for text in ax.texts) <= 30
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert (len(entries), entries[-1]) == (12, "and 19 more")
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    small = Figure(figsize=(1.5, 1.2)).subplots()
    check_plot(plots.plot_topo_graph(model, X, ax=small, n_labels=30))
    assert 1 <= sum(text.get_visible() for text in small.texts) < 30


def test_of_many_samples_a_part_is_drawn():
    model, X = enlarge(*fitted("prior"), times=30)
    for name in SAMPLES:
        ax = getattr(plots, name)(model, X, ax=new_axes())
        assert len(points_of(ax)[0]) == 20_000
        assert [text.get_text() for text in ax.texts if "samples" in text.get_text()] == ["20,000 of 30,000 samples"]


def test_samples_have_the_colours_of_a_quantity():
    model, X = fitted("noise")
    quantities = {
        "intensity": model.log_intensity_,
        "membership": model.probabilities_,
        "outlier": model.outlier_scores_,
    }
    for color in (*quantities, X[:, 0]):
        ax = plots.plot_clusters(model, X, ax=new_axes(), color=color, legend=True)
        check_plot(ax)
        coordinates, _ = points_of(ax)
        rows = pairwise_distances(coordinates, X).argmin(axis=1)
        values = quantities[color] if isinstance(color, str) else color
        assert (np.diff(values[rows]) >= 0).all()  # the highest on top
        assert ax.child_axes  # the colour bar
    cut = model.cut(n_clusters=2)
    coordinates, colours = points_of(plots.plot_clusters(model, X, color=cut, ax=new_axes()))
    rows = pairwise_distances(coordinates, X).argmin(axis=1)
    np.testing.assert_allclose(colours, colours_of(cut[rows]))


def test_axes_are_features_embeddings_or_components():
    frame = pd.DataFrame(PLANE, columns=["wide", "high"])
    ax = plots.plot_clusters(GIT(3).fit(frame), frame, ax=new_axes())
    assert (ax.get_xlabel(), ax.get_aspect()) == ("wide", 1)
    np.testing.assert_allclose(np.sort(points_of(ax)[0], axis=0), np.sort(PLANE, axis=0))
    assert plots.plot_clusters(fitted("two features")[0], PLANE * [1, 50], ax=new_axes()).get_aspect() == "auto"
    model, _ = fitted("five features")
    shown = points_of(plots.plot_clusters(model, SPACE, embedding=SPACE[:, :2], ax=new_axes()))[0]
    np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(SPACE[:, :2], axis=0))
    ax = plots.plot_clusters(model, SPACE, ax=new_axes())
    assert ax.get_xlabel().startswith("PCA 1 (")
    shown, expected = (np.sort(pdist(xy)) for xy in (points_of(ax)[0], PCA(2).fit_transform(SPACE / SPACE.std(axis=0))))
    np.testing.assert_allclose(shown / shown[-1], expected / expected[-1], atol=1e-6)  # up to the unit


@pytest.mark.parametrize("n", [4, 300])
def test_equal_distances_and_unconnected_graphs_are_drawn(n):
    for distances in (np.zeros((n, n)), 1.0 - np.eye(n)):
        model = GIT(metric="precomputed", scale=None).fit(distances)
        assert np.isfinite(points_of(plots.plot_clusters(model, distances, ax=new_axes()))[0]).all()
    pairs = csr_array((np.ones(2), ([0, 1], [1, 0])), shape=(n, n))
    plots.plot_topo_graph(GIT(metric="precomputed_graph", scale=None).fit(pairs), ax=new_axes())


@pytest.mark.parametrize("n_features", [2, 5])
@pytest.mark.parametrize("n_samples", [60, 25_000])
def test_one_far_sample_does_not_squash_a_plot(n_features, n_samples):
    X = make_blobs(n_samples, n_features, centers=3, random_state=0)[0]
    for far in (1e6, 0.0):
        X[7, 0] = far
        model = GIT(3, n_neighbors=8).fit(X)
        ax = plots.plot_clusters(model, X, ax=Figure().subplots())
        xy = layout_samples(model.clustering_, X).xy
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert (np.array([right - left, top - bottom]) < 3 * np.ptp(np.delete(xy, 7, axis=0), axis=0)).all()
        outside = ((xy < [left, bottom]) | (xy > [right, top])).any(axis=1)
        assert outside.sum() == (1 if far and n_features == 2 else outside[7])
        notes = [line for text in ax.texts for line in text.get_text().splitlines() if "outside" in line]
        assert notes == ["1 sample outside"] * int(outside.any())


@pytest.mark.parametrize("kind", ["prior", "many clusters", "one cluster", "ten samples"])
def test_the_cut_crosses_every_cluster_once(kind):
    model, _ = fitted(kind)
    ax = plots.plot_hierarchy(model, ax=new_axes())
    links = [segment for lines in ax.collections for segment in lines.get_segments()]
    assert len(links) == min(39, len(model.peaks_) - 1)
    level = ax.lines[0].get_ydata()[0]
    sides = [(link[a, 1], link[b, 1]) for link in links for a, b in ((0, 1), (3, 2))]
    crossings = sum(low < level < high for low, high in sides) or int(level > max(high for _, high in sides))
    assert crossings == model.n_clusters_
    assert sum(int(tick.get_text().replace(",", "")) for tick in ax.get_xticklabels()) == len(model.labels_)
    labels = np.roll(model.edge_cut_.labels, 1)
    if (labels != model.edge_cut_.labels).any():  # clusters that are no cut of the hierarchy have no line
        other = replace(model.clustering_, edge_cut=model.edge_cut_._replace(labels=labels))
        assert not plots.plot_hierarchy(other, ax=new_axes()).lines


def test_scores_and_layers_are_those_of_the_model():
    model, _ = fitted("number unknown")
    table = model.n_clusters_scores_
    ax = plots.plot_n_clusters(model, ax=new_axes())
    check_plot(ax)
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], table["score"])
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert [n + 1 for n, c in enumerate(colours) if c == to_hex(HUES[0])] == [model.n_clusters_]
    next_best = table["n_clusters"][table["rank"] > 1].tolist()
    assert [n + 1 for n, c in enumerate(colours) if c == to_hex(HUES[5])] == next_best
    layers = model.layers([2, 5, 9])
    ax = plots.plot_layers(model, n_clusters=[2, 5, 9], ax=new_axes())
    check_plot(ax)
    for nodes, layer in zip(ax.collections, layers, strict=True):
        x = np.asarray(nodes.get_offsets())[:, 0]
        parents = layer.parents[np.argsort(x)]
        assert len(x) == layer.n_clusters
        assert (np.diff(parents) != 0).sum() == len(set(parents)) - 1  # lines do not cross


def test_every_row_is_in_a_flow():
    before, after = (fitted("prior")[0].cut(n_clusters=n) for n in (3, 6))
    ax = plots.plot_flow(compare(before, after), ax=new_axes())
    check_plot(ax)
    assert len(ax.patches) == 9
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(2)
    with pytest.raises(TypeError, match="comparison"):
        plots.plot_flow("comparison")


@pytest.mark.parametrize(
    ("kind", "name", "options", "parameter"),
    [
        ("two features", "plot_clusters", {"X": PLANE[:-1]}, "X"),
        ("two features", "plot_clusters", {"embedding": PLANE[:-1]}, "embedding"),
        ("two features", "plot_clusters", {"embedding": SPACE}, "embedding"),
        ("two features", "plot_clusters", {"embedding": np.full((200, 2), np.nan)}, "embedding"),
        ("two features", "plot_clusters", {"color": [0, 1]}, "color"),
        ("two features", "plot_clusters", {"color": "red"}, "color"),
        ("two features", "plot_clusters", {"color": np.full(200, -2)}, "color"),
        ("two features", "plot_topo_graph", {"layout": "round"}, "layout"),
        ("distances", "plot_clusters", {}, "X or embedding"),
        ("repeated", "plot_clusters", {}, "sample_weight"),
        ("paper", "plot_hierarchy", {}, "variant"),
        ("prior", "plot_n_clusters", {}, "n_clusters"),
        ("prior", "plot_layers", {}, "n_clusters"),
    ],
)
def test_errors_name_the_parameter(kind, name, options, parameter):
    with pytest.raises(ValueError, match=parameter):
        getattr(plots, name)(fitted(kind)[0], **options)
    assert not plt.get_fignums()


@pytest.mark.parametrize("name", [r"$\frac{$", "$x$", "100 %_#&", "\x1b[31m", "line\nline", "n" * 5000, "\u202e"])
def test_names_of_columns_are_never_formulas(name, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=[name, "other"])
    model, line = GIT(2).fit(X), X[[name]]
    for ax in (
        plots.plot_clusters(model, X),
        plots.plot_clusters(GIT(2).fit(line), line),
        plots.plot_clusters(model, embedding=X),
        plots.plot_profile(model, X),
    ):
        ax.figure.savefig(tmp_path / "p.svg", bbox_inches="tight")


def test_missing_matplotlib_names_the_extra():
    code = "import sys; sys.modules['matplotlib'] = None; import gitcluster.plots"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'gitcluster[plot]'" in done.stderr


def test_the_page_shows_every_plot_as_it_is_drawn_now(monkeypatch):
    page = (DOCS / "plots.md").read_text()
    assert {name for name in plots.__all__ if f"plots.{name}(" in page} == set(plots.__all__)
    monkeypatch.syspath_prepend(DOCS)
    images = importlib.import_module("images")
    stale = [name for name in images.PICTURES if images.is_stale(name)]
    assert not stale, f"python -m docs.images {' '.join(stale)} draws them again"
    pages = [page, *((DOCS / name).read_text() for name in ("reproduce.md", "history.md"))]
    shown = set(re.findall(r"\(images/(\w+)\.png\)", "".join(pages)))
    assert shown == set(images.PICTURES) - {"cells_resolution"}
