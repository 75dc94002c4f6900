"""Find out what GIT and its peers can do by trying: ``python -m benchmarks features [--only peer=GIT]``.

A feature is a probe on tiny data. A probe returns a remark or nothing if the call works and the result is as promised,
and raises otherwise. Every peer is used by its own documentation, or else by scikit-learn's conventions. Every probe is
a process with a time limit: a crash or a hang is a result too.

The cells: ``yes``; ``no``: refused, ignored or missing; ``wrong``: accepted, but the result is not as promised;
``crash`` of the process or by an exception that is no refusal; ``timeout``; ``not installed``.
"""

from __future__ import annotations

import argparse
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from benchmarks.methods.feature_peers import PEERS, AbsentError, Array, Peer, count
from benchmarks.reporting.tables import markdown
from benchmarks.runner import Line, Store, Task, run_in_process

FIELDS = ("peer", "feature")
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
SECONDS = 60
CHECKS = "scikit-learn's estimator checks, passed/failed"
REFUSALS = (AttributeError, ImportError, NotImplementedError, TypeError, ValueError)
Probe = Callable[[Peer], str | None]
FEATURES: dict[str, Probe] = {}
UNPROMISED: set[str] = set()
"""Features that no call requests, so that a peer without them is not wrong."""


class BrokenError(Exception):
    """A peer accepts the call, and its result is not as requested."""


def expect(holds: Any, otherwise: str) -> None:
    """Raise with a reason unless a condition holds."""
    if not holds:
        raise BrokenError(otherwise)


def expect_change(labels: Any, plain: Any, otherwise: str) -> None:
    """Raise with a reason if a request that is not met has changed nothing."""
    if same(labels, plain):
        raise AbsentError(f"{otherwise}, the same as without the request")


def blobs(sizes: Sequence[int] = (100, 80, 60), spread: float = 0.5) -> tuple[Array, Array]:
    """Return groups around far corners of a cube: clear by distance and by direction."""
    corners = np.array([[5, 5, 0, 0], [0, 5, 5, 0], [0, 0, 5, 5], [5, 0, 0, 5]], float)[: len(sizes)]
    y = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(0).normal(scale=spread, size=(len(y), 8))
    return np.hstack([corners, corners])[y] + noise, y


def chain() -> Array:
    """Return four groups in a row, of 50, 100, 100 and 50 samples, that nearly touch."""
    y = np.repeat(np.arange(4), (50, 100, 100, 50))
    return arc(7, (0, 30, 60, 90))[y] + np.random.default_rng(0).normal(size=(len(y), 4))


def nested() -> tuple[Array, Array]:
    """Return two pairs of groups, and the four groups."""
    y = np.repeat(np.arange(4), 50)
    return arc(20, (0, 16, 74, 90))[y] + np.random.default_rng(0).normal(size=(len(y), 4)), y


def arc(radius: float, degrees: Sequence[float]) -> Array:
    """Return places on an arc in four features: what is near is near in direction too."""
    angles = np.radians(degrees)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)] * 2)


def scattered() -> tuple[Array, Array]:
    """Return the clear groups and a tenth of samples strewn around them, labelled -1."""
    X, y = blobs()
    far = np.random.default_rng(1).uniform(-6, 11, size=(24, X.shape[1]))
    return np.vstack([X, far]), np.append(y, np.full(24, -1))


def overlapping() -> Array:
    """Return groups that overlap."""
    return make_blobs(300, centers=3, n_features=4, cluster_std=3.5, random_state=0)[0]


def same(a: Any, b: Any) -> bool:
    """Return whether labels are the same up to renaming, noise being a label."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and len(np.unique(np.column_stack([a, b]), axis=0)) == len(np.unique(a)) == len(
        np.unique(b)
    )


def expect_groups(y: Array, labels: Any) -> None:
    """Raise unless labels are nearly the groups."""
    score = adjusted_rand_score(y, labels)
    expect(score > 0.9, f"{count(labels)} clusters, ARI {score:.2f} where the groups are clear")


def feature(name: str, *, promised: bool = True) -> Callable[[Probe], Probe]:
    """Register a probe; it returns a remark or nothing, and raises if the feature is missing."""

    def register(probe: Probe) -> Probe:
        FEATURES[name] = probe
        UNPROMISED.update(() if promised else (name,))
        return probe

    return register


@feature("requested number of clusters is returned")
def _number(peer: Peer) -> None:
    numbers = [count(peer.number(blobs()[0], k)) for k in (2, 3, 5)]
    expect(numbers == [2, 3, 5], f"requested 2, 3 and 5 clusters, got {numbers}")


@feature("proportions or sizes of clusters can be given")
def _shares(peer: Peer) -> None:
    for shares in ((1 / 2, 1 / 2), (5 / 6, 1 / 6)):
        labels = peer.shares(chain(), shares)
        sizes = -np.sort(-np.bincount(labels[labels >= 0])) / len(labels)
        if len(sizes) != 2 or abs(sizes - shares).max() > 0.05:
            text = f"{np.round(shares, 2)} gives {sizes.round(2)}"
            expect_change(labels, peer.number(chain(), 2), text)
            raise BrokenError(text)


@feature("works without a number", promised=False)
def _automatic(peer: Peer) -> None:
    X, y = blobs()
    expect_groups(y, peer.labels(X) if "n_clusters" not in peer.usual else peer.default_labels(X))


@feature("every sample labelled by default", promised=False)
def _all_labelled(peer: Peer) -> None:
    share = np.mean(np.asarray(peer.default_labels(scattered()[0])) < 0)
    expect(share == 0, f"{share:.0%} noise")


@feature("noise on request")
def _noise(peer: Peer) -> None:
    X, y = scattered()
    labels = peer.noise(X)
    if not (labels == -1).any():
        expect_change(labels, peer.labels(X), "no noise")
    expect((labels == -1).any() and count(labels), f"{np.mean(labels == -1):.0%} noise, {count(labels)} clusters")
    strewn, grouped = (np.mean(labels[chosen] == -1) for chosen in (y < 0, y >= 0))
    expect(strewn > grouped, f"{strewn:.0%} of strewn samples are noise and {grouped:.0%} of the others")


@feature("predicts new samples, and on training data `labels_`")
def _predict(peer: Peer) -> None:
    X, y = blobs()
    chosen = np.random.default_rng(0).permutation(len(X))
    train, new = chosen[:200], chosen[200:]
    expect_groups(y[new], peer.predict(peer.fit(X[train]), X[new]))
    X = overlapping()
    model = peer.fit(X)
    differ = int(np.sum(peer.predict(model, X) != np.asarray(model.labels_)))
    expect(differ == 0, f"{differ} of {len(X)} training samples of an overlapping set get another label than `labels_`")


@feature("membership probabilities of new samples, summing to 1")
def _memberships(peer: Peer) -> None:
    X, _ = blobs()
    model = peer.fit(X[::2])
    shares = peer.memberships(model, X[1::2])
    expect(shares.shape == (len(X[1::2]), count(model.labels_)), f"shape {shares.shape}")
    total = shares.sum(axis=1)
    expect(np.isfinite(total).all() and (shares >= 0).all(), "not finite or negative")
    expect(np.allclose(total, 1), f"rows sum to {total.min():.2f} to {total.max():.2f}")


@feature("outlier scores from 0 to 1")
def _outlier_scores(peer: Peer) -> None:
    X, y = scattered()
    scores = peer.outlier_scores(X)
    expect(scores.shape == y.shape and np.isfinite(scores).all(), f"shape {scores.shape} or not finite")
    expect(scores.min() >= 0 and scores.max() <= 1, f"scores from {scores.min():.2f} to {scores.max():.2f}")
    expect(np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.9), "strewn samples do not stand out")


@feature("sample weights act as repetition")
def _weights(peer: Peer) -> None:
    X, y = blobs((100, 80, 3))
    weights = np.where(y == 2, 30, 1)
    plain = peer.weighted(X, None)
    ones = peer.weighted(X, np.ones(len(X)))
    expect(same(plain, ones), f"weights of 1 change the labels, noise from {np.sum(plain < 0)} to {np.sum(ones < 0)}")
    weighted = peer.weighted(X, weights.astype(float))
    expect_change(weighted, plain, "a weight of 30 on a small group")
    first = np.cumsum(weights) - weights
    again = peer.weighted(np.repeat(X, weights, axis=0), None)
    score = adjusted_rand_score(again[first], weighted)
    expect(score > 0.95, f"ARI {score:.2f} with the labels of repeated samples")


@feature("must-link pairs")
def _must(peer: Peer) -> None:
    X, y = blobs()
    pair = np.array([[np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]]])
    labels = peer.must(X, pair)
    if not labels[pair[0, 0]] == labels[pair[0, 1]] >= 0:
        expect_change(labels, peer.labels(X), "the pair is apart")
        raise BrokenError("the pair is apart")
    expect(np.sum(labels == labels[pair[0, 0]]) > 2, "the pair is a cluster of its own")


@feature("cannot-link pairs")
def _cannot(peer: Peer) -> None:
    X, y = blobs()
    group = np.flatnonzero(y == 0)
    near = pairwise_distances(X[group]).mean(axis=1).argsort()[:2]
    pair = group[near][None, :]
    labels = peer.cannot(X, pair)
    one, other = labels[pair[0]]
    if one == other >= 0:
        expect_change(labels, peer.labels(X), "the pair is in one cluster")
        raise BrokenError("the pair is in one cluster")
    expect(np.mean(labels >= 0) > 0.5, f"{np.mean(labels < 0):.0%} noise")


@feature("partial labels")
def _partial(peer: Peer) -> None:
    X, fine = nested()
    known = np.random.default_rng(0).random(len(X)) < 0.2
    for truth in (fine, fine // 2):
        labels = peer.partial(X, np.where(known, truth, -1))
        if not same(labels[known], truth[known]):
            text = f"samples of {len(np.unique(truth))} known classes are in {count(labels[known])} clusters"
            expect_change(labels, peer.labels(X), text)
            raise BrokenError(text)


@feature("bounds on cluster sizes, both ways")
def _bounds(peer: Peer) -> None:
    X, _ = nested()
    for least, most in ((40, 60), (80, 120)):
        labels = peer.bounded(X, least, most)
        sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
        text = f"sizes {sizes.tolist()} where {least} and {most} are the bounds"
        if not (count(labels) and least <= sizes.min() and sizes.max() <= most and np.mean(labels >= 0) > 0.8):
            expect_change(labels, peer.labels(X), text)
            raise BrokenError(text)


@feature("cosine metric")
def _cosine(peer: Peer) -> None:
    X, y = blobs()
    lengths = np.random.default_rng(0).uniform(0.05, 10, size=(len(X), 1))
    expect_groups(y, peer.metric(X * lengths, "cosine"))


@feature("haversine metric")
def _haversine(peer: Peer) -> None:
    places = np.radians([[10.0, 180.0], [40.0, 20.0], [-30.0, -60.0]])
    y = np.repeat(np.arange(3), 80)
    X = places[y] + np.random.default_rng(0).normal(scale=0.03, size=(len(y), 2))
    X[:, 1] = (X[:, 1] + np.pi) % (2 * np.pi) - np.pi
    expect_groups(y, peer.metric(X, "haversine"))


@feature("matrix of distances")
def _distances(peer: Peer) -> None:
    X, y = blobs()
    expect_groups(y, peer.metric(pairwise_distances(X), "precomputed"))


@feature("sparse graph of neighbours in several components")
def _graph(peer: Peer) -> None:
    X, y = blobs()
    graph = csr_matrix(kneighbors_graph(X, 15, mode="distance"))
    graph = csr_matrix(graph.maximum(graph.T))
    expect(connected_components(graph)[0] == 3, "the probe is wrong: not three components")
    expect_groups(y, peer.graph(graph))


@feature("neighbours from any index, as arrays")
def _neighbors(peer: Peer) -> None:
    X, y = blobs()
    distances, indices = NearestNeighbors(n_neighbors=15).fit(X).kneighbors()
    expect_groups(y, peer.neighbors(indices, distances))


@feature("sparse features")
def _sparse(peer: Peer) -> None:
    X, y = blobs()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    labels = peer.labels(csr_matrix(X))
    expect_groups(y, labels)
    expect(same(labels, peer.labels(X)), "other labels than of the dense array")


@feature("pandas frame, `feature_names_in_`")
def _pandas(peer: Peer) -> None:
    X, _ = blobs()
    names = [f"feature {number}" for number in range(X.shape[1])]
    model = peer.fit(import_module("pandas").DataFrame(X, columns=names))
    expect(list(model.feature_names_in_) == names, "other names")


@feature("saved and loaded without pickle")
def _save(peer: Peer) -> None:
    X, _ = blobs()
    model, labels = peer.fit(X), peer.labels(X)
    barred = {name: mock.Mock(side_effect=BrokenError("pickle is used")) for name in ("dump", "dumps", "load", "loads")}
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(pickle, **barred):
        expect(np.array_equal(peer.save(model, Path(folder) / "model.npz"), labels), "other labels are read back")


@feature("cut again at another number without a new fit")
def _cut(peer: Peer) -> None:
    X = chain()
    model = peer.fit(X)
    numbers = [count(peer.cut(model, X, k)) for k in (2, 4)]
    expect(numbers == [2, 4], f"requested 2 and 4 clusters, got {numbers}")


@feature("hierarchy as a scipy linkage")
def _linkage(peer: Peer) -> str | None:
    X = overlapping()
    linkage = peer.linkage(peer.fit(X))
    is_valid_linkage(linkage, throw=True)
    expect((np.diff(linkage[:, 2]) >= 0).all(), "heights are not monotone")
    expect(len(np.unique(fcluster(linkage, 2, "maxclust"))) == 2, "scipy does not cut it in two")
    return None if len(linkage) == len(X) - 1 else f"of {len(linkage) + 1} local clusters"


@feature("same labels after shuffling rows", promised=False)
def _shuffle(peer: Peer) -> None:
    for name, X in {"iris": load_iris().data, "an overlapping set": overlapping()}.items():
        labels = peer.labels(X)
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(X))
            again = peer.labels(X[order])
            score = adjusted_rand_score(labels[order], again)
            expect(same(labels[order], again), f"ARI {score:.3f} with the labels before, on {name}")


@feature("clear groups survive a feature of noise times 1000", promised=False)
def _rescale(peer: Peer) -> None:
    X, _ = blobs()
    X = np.column_stack([X, np.random.default_rng(1).normal(size=len(X))])
    score = adjusted_rand_score(peer.labels(X), peer.labels(X * np.append(np.ones(8), 1000.0)))
    expect(score == 1, f"ARI {score:.2f} with the labels before")


@feature("duplicates share a label", promised=False)
def _duplicates(peer: Peer) -> None:
    generator = np.random.default_rng(0)
    places = np.unique(generator.integers(0, 20, size=(30, 4)), axis=0)
    of_place = generator.permutation(np.repeat(np.arange(len(places)), 10))
    labels = peer.labels(places[of_place].astype(float))
    split = sum(len(np.unique(labels[of_place == place])) > 1 for place in range(len(places)))
    expect(split == 0, f"{split} of {len(places)} places are split")


@feature("all samples equal: one cluster or a clear error", promised=False)
def _equal(peer: Peer) -> str | None:
    try:
        labels = peer.labels(np.ones((60, 4)))
    except ValueError as error:
        return f"error: {error}"
    expect(count(labels) == 1 and (labels >= 0).all(), f"{count(labels)} clusters, {np.mean(labels < 0):.0%} noise")
    return None


@feature(CHECKS)
def _checks(peer: Peer) -> str:
    checks = import_module("sklearn.utils.estimator_checks")
    model = type(peer.make())()
    results = checks.check_estimator(model, on_skip=None, on_fail=None)
    passed, failed = (sum(result["status"] == status for result in results) for status in ("passed", "failed"))
    names = [result["check_name"] for result in results if result["status"] == "failed"]
    return f"{passed}/{failed}" + (f" ({', '.join(names)})" if names else "")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every peer and feature; ``--quick`` yields three features of GIT."""
    for name in ["GIT"] if options.quick else PEERS:
        about = {"peer": name, "package": PEERS[name].package, "version": PEERS[name].version}
        for title in list(FEATURES)[: 3 if options.quick else None]:
            yield about | {"feature": title}, partial(try_feature, name, title)


def try_feature(name: str, title: str) -> Line:
    """Return outcome and reason of one probe in a process of its own."""
    if PEERS[name].version is None:
        return {"ok": False, "outcome": "not installed", "reason": ""}
    seconds = 2 * SECONDS if title == CHECKS else SECONDS
    line = run_in_process(probe, name, title, seconds=seconds, gigabytes=1000, **ONE_THREAD)
    if "error" in line:
        line = {"outcome": "timeout" if line["error"].startswith(">") else "crash", "reason": line["error"]}
    return line | {"ok": line["outcome"] not in ("no", "wrong", "crash", "timeout")}


def probe(name: str, title: str) -> Line:
    """Return outcome and reason of one probe, with all output suppressed."""
    silent, peer = os.open(os.devnull, os.O_WRONLY), PEERS[name]
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    warnings.simplefilter("ignore")
    try:
        remark = FEATURES[title](peer)
    except AbsentError as error:
        return {"outcome": "no", "reason": str(error)}
    except BrokenError as error:
        return {"outcome": "no" if title in UNPROMISED else "wrong", "reason": str(error)}
    except Exception as error:  # any failure is a result
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:160]
        return {"outcome": "no" if isinstance(error, REFUSALS) else "crash", "reason": reason}
    outcome = remark.split()[0] if remark and title == CHECKS else "yes"
    return {"outcome": outcome, "reason": remark or peer.remarks.get(title, "")}


def table() -> str:
    """Return the outcomes, a row for each feature and a column for each peer."""
    lines = Store("features", FIELDS).lines
    rows = [[title, *(lines.get((peer, title), {}).get("outcome", "") for peer in PEERS)] for title in FEATURES]
    versions = [lines[peer, CHECKS]["version"] or "" for peer in PEERS]
    return markdown(
        ["feature", *(f"{peer} {version}".strip() for peer, version in zip(PEERS, versions, strict=True))], rows
    )


TABLES = {"features": table}
