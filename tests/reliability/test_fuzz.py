"""Random combinations of hostile data and parameters: the same in every run, others with HYPOTHESIS_PROFILE=random."""

import os

import numpy as np
from conftest import nasty_sets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from .checks import check_fit, extreme_sets

SETS = {**extreme_sets(), **{name: X for name, X in nasty_sets().items() if X.shape[1] < 100}}
METRICS = ["manhattan", "chebyshev", "cosine", "canberra", "braycurtis", "correlation"]
FLOATS = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e-16, 1.0, 1.0 + 2**-52, -1.0, 3.0, 1e8, 1e16, -1e12, 1e150, -1.7e308]
LENGTHS = [0.0, 5e-324, 1e-300, 0.5, 1.0, 1.0, 2.0, 1e12, 1e300]

tables = st.tuples(st.integers(2, 14), st.integers(1, 3)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from(FLOATS) | st.floats(-4, 4, width=16))
)
named_tables = st.sampled_from(sorted(SETS)).map(SETS.__getitem__)
options = st.fixed_dictionaries(
    {},
    optional={
        "n_clusters": st.integers(1, 6) | st.just("auto"),
        "n_neighbors": st.integers(1, 12) | st.just("auto"),
        "variant": st.sampled_from(["adaptive", "adaptive", "paper", "authors"]),
        "noise": st.sampled_from([None, "auto", 0, 0.1, 0.5, 0.999]),
        "min_cluster_size": st.sampled_from([None, None, 1, 2, 5]),
        "max_cluster_size": st.sampled_from([None, None, 1, 10, 30]),
        "proportions": st.sampled_from([None, "equal", [1, 1], [9, 1], [1e-9, 1, 5]]),
        "n_jobs": st.sampled_from([None, 2]),
    },
)


def examples(number):
    """Return settings for a number of examples."""
    factor = 8 if os.environ.get("HYPOTHESIS_PROFILE") == "random" else 1
    return settings(max_examples=number * factor, suppress_health_check=list(HealthCheck))


@st.composite
def fit_params(draw, n, chosen):
    """Draw links, partial labels and weights, each in some of the examples."""
    drawn = {}
    pairs = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=4)
    for name in ("must_link", "cannot_link"):
        if draw(st.integers(0, 3)) == 0:
            drawn[name] = draw(pairs)
    if draw(st.integers(0, 3)) == 0:
        drawn["y"] = draw(st.lists(st.sampled_from([-1, -1, -1, 0, 1]), min_size=n, max_size=n))
    # With weights, the authors' variant may put copies of one sample into two clusters.
    if chosen.get("variant") != "authors" and draw(st.integers(0, 2)) == 0:
        weights = draw(st.sampled_from([[0.0, 0.5, 1.7], [1e-12, 1.0], [0, 0, 0.3], [0, 1, 2], [1e12, 1.0], [1]]))
        drawn["sample_weight"] = draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n))
    return drawn


@examples(75)
@given(st.data(), named_tables, options, st.sampled_from(["auto", "std", None]))
def test_named_sets(data, X, chosen, scale):
    check_fit(X, data.draw(fit_params(len(X), chosen)), scale=scale, **chosen)


@examples(150)
@given(st.data(), tables, options, st.sampled_from(["double", "single", "csr", "csc", "coo"]))
def test_tables(data, X, chosen, kind):
    if kind == "single":
        X = np.clip(X, -3e38, 3e38).astype(np.float32)
    elif kind != "double":
        X = getattr(sparse, f"{kind}_array")(X)
    check_fit(X, data.draw(fit_params(X.shape[0], chosen)), **chosen)


@examples(50)
@given(tables, options, st.sampled_from(METRICS))
def test_metrics(X, chosen, metric):
    check_fit(X, metric=metric, **chosen)


@examples(50)
@given(st.data(), st.integers(2, 14), options)
def test_matrices_of_distances(data, n, chosen):
    D = np.triu(data.draw(arrays(np.float64, (n, n), elements=st.sampled_from(LENGTHS))), 1)
    check_fit(D + D.T, data.draw(fit_params(n, chosen)), metric="precomputed", **chosen)


@examples(75)
@given(st.data(), st.integers(2, 25), options)
def test_graphs(data, n, chosen):
    shape = (n, data.draw(st.integers(0, 5)))
    indices = data.draw(arrays(np.int64, shape, elements=st.integers(-1, n - 1)))
    distances = data.draw(arrays(np.float64, shape, elements=st.sampled_from([*LENGTHS, np.inf])))
    check_fit((indices, distances), data.draw(fit_params(n, chosen)), metric="precomputed_graph", **chosen)
