"""The variants are rows of one table, and everything reads them there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

import gitcluster
from gitcluster import GIT

X, _ = make_moons(300, noise=0.07, random_state=0)
PAGE = Path(__file__).parents[1] / "docs" / "contributing.md"


CHECKS = """
import dask.array as da, numpy as np, pandas as pd, sys
from click.testing import CliRunner
from sklearn.datasets import make_moons
from gitcluster import GIT
from gitcluster.cli.commands import app
from gitcluster.distributed import DaskGIT

# The kernel, in fit, predict, explain and the distributed fit.
samples = np.random.default_rng(0).normal(size=(300, 2))
model = GIT(2, n_neighbors=10).fit(samples)
scaled = (samples - samples.mean(axis=0)) / samples.std(axis=0)
distances = np.sort(np.linalg.norm(scaled[:, None] - scaled, axis=2), axis=1)[:, 1:11]
expected = np.log(np.exp(-((distances / distances.mean()) ** 2)).mean(axis=1))
np.testing.assert_allclose(model.log_intensity_, expected, atol=1e-9)
np.testing.assert_array_equal(model.predict(samples), model.labels_)
assert model.explain(0, 1).clusters == (model.labels_[0], model.labels_[1])
moons = make_moons(300, noise=0.07, random_state=0)[0]
labels = DaskGIT(2).fit(da.from_array(moons, chunks=(100, 2))).labels_.compute(scheduler="sync")
np.testing.assert_array_equal(labels, GIT(2, search="exact").fit(moons).labels_)

# The merge criterion and the score of the number of clusters.
model = GIT().fit(moons)
assert "pairs" in model.selection_["merge"]
scores = {name: values[1:] for name, values in model.n_clusters_scores_.items()}
assert (scores["score"] <= scores["agreement"] ** 3 * np.log(scores["n_clusters"]) + 1e-9).all()

# The metric.
shares = np.random.default_rng(1).dirichlet(np.ones(3), 100)
labels = GIT(2, metric="hellinger").fit(shares).labels_
expected = GIT(2, scale=None, search="exact").fit(np.sqrt(shares)).labels_
np.testing.assert_array_equal(labels, expected)

# The command-line option.
pd.DataFrame(moons, columns=["x", "y"]).to_csv(sys.argv[1], index=False)
result = CliRunner().invoke(app, ["fit", sys.argv[1], "--search", "exact", "-q"])
assert result.exit_code == 0, result.exception
"""


def test_the_diffs_for_contributors_work(tmp_path):
    """Every diff on the page applies to the package, and the changed package does what the page says."""
    source = Path(gitcluster.__file__).parent
    copy = shutil.copytree(source, tmp_path / "gitcluster", ignore=shutil.ignore_patterns("__pycache__"))
    diffs = [part.split("```")[0] for part in PAGE.read_text().split("```diff\n")[1:]]
    assert len(diffs) == 5
    for diff in diffs:
        files = diff.split("--- a/")[1:]
        assert len(files) <= 2, "a change touches at most two files"
        for part in files:
            path = copy / part.splitlines()[0].removeprefix("src/gitcluster/")
            for hunk in part.split("@@ ")[1:]:
                lines = hunk.splitlines()[1:]
                old = "\n".join(line[1:] for line in lines if line[:1] in " -")
                new = "\n".join(line[1:] for line in lines if line[:1] in " +")
                assert path.read_text().count(old) == 1, f"{old!r} must occur once in {path.name}"
                path.write_text(path.read_text().replace(old, new))
    command = [sys.executable, "-W", "ignore", "-c", CHECKS, str(tmp_path / "moons.csv")]
    run = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


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
