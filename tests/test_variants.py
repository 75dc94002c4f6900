"""The variants are rows of one table, and everything reads them there."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons

from gitcluster import GIT, variants
from gitcluster.variants import VARIANTS, Reach, find_variant

X, _ = make_moons(300, noise=0.07, random_state=0)
PAGE = Path(__file__).parents[1] / "docs" / "contributing.md"


@pytest.mark.parametrize(
    ("variant", "n_found", "reach"),
    [
        ("adaptive", None, Reach(8, 4, 16)),
        ("adaptive", 10, Reach(8, 4, 10)),
        ("paper", None, Reach(8, 8, 8)),
        ("authors", 5, Reach(5, 5, 5)),
    ],
)
def test_reach(variant, n_found, reach):
    assert find_variant(variant).reach(8, n_found) == reach
    assert find_variant(variant).reach(1).climb == 1


def test_a_variant_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"variant must be one of \['adaptive', 'authors', 'paper'\], got 'other'"):
        find_variant("other")


def apply_diff(source, diff):
    """Source after a diff whose every hunk has lines that stand there once."""
    for hunk in diff.split("@@ ")[1:]:
        lines = hunk.splitlines()[1:]
        old = "\n".join(line[1:] for line in lines if line[:1] in " -")
        new = "\n".join(line[1:] for line in lines if line[:1] in " +")
        assert source.count(old) == 1, f"{old} is not there once"
        source = source.replace(old, new)
    return source


@pytest.fixture
def changed_recipes(monkeypatch):
    """The tables of variants.py as the diff on the page for contributors leaves them."""
    diff = PAGE.read_text().split("```diff\n")[1].split("```")[0]
    assert diff.count("+++ ") == 1, "the diff is of one file"
    space = {"__name__": "gitcluster.variants"}
    exec(apply_diff(Path(variants.__file__).read_text(), diff), space)
    for name in ("KERNELS", "VARIANTS"):
        for key, value in space[name].items():
            monkeypatch.setitem(getattr(variants, name), key, value)


def test_the_kernel_of_the_page_for_contributors_works_everywhere(changed_recipes):
    assert VARIANTS["adaptive"].kernel == "smooth"
    samples = np.random.default_rng(0).normal(size=(300, 2))
    model = GIT(2, n_neighbors=10).fit(samples)
    scaled = (samples - samples.mean(axis=0)) / samples.std(axis=0)
    distances = np.sort(np.linalg.norm(scaled[:, None] - scaled, axis=2), axis=1)[:, 1:11]
    expected = np.log(np.exp(-((distances / distances.mean()) ** 2)).mean(axis=1))
    np.testing.assert_allclose(model.log_intensity_, expected, atol=1e-9)
    np.testing.assert_array_equal(model.predict(samples), model.labels_)
    near = np.sort(np.linalg.norm(scaled - (0.3 - samples.mean(axis=0)) / samples.std(axis=0), axis=1))[:10]
    log_intensity = np.log(np.exp(-((near / distances.mean()) ** 2)).mean())
    np.testing.assert_allclose(model.score_samples([[0.3, 0.3]]), [log_intensity], atol=1e-9)
    assert model.explain(0, 1).clusters == (model.labels_[0], model.labels_[1])


def test_the_kernel_of_the_page_for_contributors_works_on_dask(changed_recipes):
    da = pytest.importorskip("dask.array")
    from gitcluster.distributed import DaskGIT

    labels = DaskGIT(2).fit(da.from_array(X, chunks=(100, 2))).labels_.compute(scheduler="sync")
    np.testing.assert_array_equal(labels, GIT(2, search="exact").fit(X).labels_)


def test_the_literal_reading_measures_slopes_and_similarities_in_raw_units():
    stretched = X * [1.0, 40.0]
    models = {name: GIT(2, n_neighbors=8, variant=name).fit(stretched) for name in ("paper", "paper-literal")}
    literal = models["paper-literal"]
    np.testing.assert_allclose(literal.log_intensity_, models["paper"].log_intensity_)
    higher = literal.log_intensity_[None] > literal.log_intensity_[:, None]
    scaled = stretched / stretched.std(axis=0)
    near = np.argsort(np.linalg.norm(scaled[:, None] - scaled, axis=2), axis=1)[:, 1:9]
    height = np.exp(literal.log_intensity_)
    for x, row in enumerate(near):
        up = row[higher[x, row]]
        if len(up):
            slopes = (height[up] - height[x]) / np.linalg.norm(stretched[up] - stretched[x], axis=1)
            assert literal.parents_[x] == up[np.argmax(slopes)]
    assert (literal.parents_ != models["paper"].parents_).any()


def test_algorithm_2_weighs_a_boundary_pair_by_its_mean_intensity():
    model = GIT(2, n_neighbors=8, variant="paper-algorithm2").fit(X)
    height, local = np.exp(model.log_intensity_), model.local_labels_
    scaled = X / X.std(axis=0)
    near = np.argsort(np.linalg.norm(scaled[:, None] - scaled, axis=2), axis=1)[:, 1:9]
    sums = {}
    for x, row in enumerate(near):
        for y in row[(row > x) & (local[row] != local[x])]:
            if x in near[y]:
                edge = tuple(sorted((int(local[x]), int(local[y]))))
                sums[edge] = sums.get(edge, 0.0) + ((height[x] + height[y]) / 2) ** 2
    graph = model.topo_graph_
    expected = [sums[tuple(edge)] / graph.sizes[edge].prod() for edge in graph.edges[graph.real]]
    assert len(sums) == graph.real.sum() > 0
    np.testing.assert_allclose(graph.weights[graph.real], expected)
