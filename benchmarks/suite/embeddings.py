"""Embeddings of MNIST and FMNIST (the 60,000 training images / 255), computed once and stored in the cache folder.

``raw`` are the 784 pixels. ``pca5`` to ``pca30`` are the first principal components, brought to 0..1 by one minimum and
one maximum over all of them, as published. ``ae5`` to ``ae30`` come from the paper's autoencoder, which needs torch.
Everything random is seeded with 0.

The autoencoder is x -> relu(... relu(x W1 + b1) ...) Wm + bm, from the pixels over the hidden layers to the embedding,
and a decoder with the same layers in reverse. Adam minimises the mean squared error between x and decoded x.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from math import ceil
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from benchmarks.suite.datasets import load_set

SETS = ("mnist", "fmnist")
WIDTHS = (5, 10, 20, 30)
EMBEDDINGS = ("raw", *(f"pca{h}" for h in WIDTHS), *(f"ae{h}" for h in WIDTHS))
HIDDEN = (512, 256, 128)
"""Widths of the layers between samples and embedding, as in the paper."""
LEARNING_RATE = 0.001
BATCH_SIZE = 256
HELD_OUT = 0.1
"""Share of the samples that decides when training stops."""
TOLERANCE = 0.001
"""An epoch is better if it lowers the best held-out loss by more than this share of it."""
PATIENCE = 5
"""Epochs without a better one after which training stops."""
ROWS = 4096
"""Samples encoded or measured at a time."""
Weights = list[NDArray[np.float32]]


class Embedding(NamedTuple):
    """Coordinates of the samples, their true classes, the seconds of the embedding, and further details."""

    points: NDArray[Any]
    y: NDArray[np.int64]
    seconds: float
    details: dict[str, Any]


def is_available(name: str) -> bool:
    """Return whether an embedding can be computed with the installed packages."""
    return not name.startswith("ae") or find_spec("torch") is not None


def load_embedding(dataset: str, name: str, *, n_samples: int | None = None, max_epochs: int = 100) -> Embedding:
    """Return the stored embedding, or compute and store it; with ``n_samples``, of the first samples alone."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gitcluster" / "embeddings"
    path = cache / f"{dataset}-{name}{f'-{n_samples}' if n_samples else ''}.npz"
    if not path.exists():
        X, y = (part[:n_samples] for part in load_set(dataset))
        if name == "raw":
            return Embedding(X, y, 0.0, {})
        start, cpu = perf_counter(), process_time()
        points, details = embed(X, name, max_epochs)
        seconds, details["cpu"] = perf_counter() - start, round(process_time() - cpu, 1)
        cache.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}.npz")
        np.savez(new, points=points, y=y, seconds=seconds, details=json.dumps(details))
        new.replace(path)
    with np.load(path) as stored:
        return Embedding(stored["points"], stored["y"], float(stored["seconds"]), json.loads(str(stored["details"])))


def embed(X: NDArray[np.float32], name: str, max_epochs: int) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return coordinates and details of one embedding."""
    family = name.rstrip("0123456789")
    width = int(name.removeprefix(family))
    if family == "pca":
        points = PCA(width, svd_solver="covariance_eigh").fit_transform(X.astype(np.float64))
        return (points - points.min()) / (points.max() - points.min()), {}
    points, losses = encode(X, width, max_epochs=max_epochs)
    return points, {"epochs": len(losses), "held-out error": round(min(losses), 6)}


def encode(
    X: NDArray[Any], n_components: int, *, hidden: Sequence[int] = HIDDEN, max_epochs: int = 100, seed: int = 0
) -> tuple[NDArray[Any], list[float]]:
    """Train on ``X``, whose values lie between 0 and 1; return its embedding and the held-out loss of every epoch.

    Training runs in one thread, because the last digits of the weights depend on the number of threads.
    """
    import torch

    random = np.random.RandomState(seed)
    widths = [X.shape[1], *hidden, n_components]
    weights = first_weights([*widths, *widths[-2::-1]], random)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        best, losses = train(np.asarray(X, np.float32), weights, random, max_epochs)
    finally:
        torch.set_num_threads(threads)
    return apply(X, best[: len(best) // 2]), losses


def train(
    samples: NDArray[np.float32], weights: Weights, random: np.random.RandomState, max_epochs: int
) -> tuple[Weights, list[float]]:
    """Train until the held-out loss stops falling; return the best weights and the loss of every epoch."""
    import torch

    order = random.permutation(len(samples))
    n_held = ceil(HELD_OUT * len(samples))
    held, used = order[:n_held], order[n_held:]
    tensors = [torch.tensor(array, requires_grad=True) for array in weights]
    adam = torch.optim.Adam(tensors, lr=LEARNING_RATE)
    losses: list[float] = []
    lowest, target, waited, best = np.inf, np.inf, 0, weights
    while len(losses) < max_epochs and waited < PATIENCE:
        for rows in batches(random.permutation(used), BATCH_SIZE):
            error = measure_error(tensors, samples[rows])
            adam.zero_grad()
            error.backward()
            adam.step()
        with torch.no_grad():
            errors = [len(rows) * measure_error(tensors, samples[rows]).item() for rows in batches(held, ROWS)]
        loss = float(sum(errors) / n_held)
        losses.append(loss)
        if loss < lowest:
            lowest, best = loss, [tensor.detach().numpy().copy() for tensor in tensors]
        target, waited = (loss, 0) if loss < target * (1 - TOLERANCE) else (target, waited + 1)
    return best, losses


def first_weights(widths: Sequence[int], random: np.random.RandomState) -> Weights:
    """Return random coefficients and offsets of every layer, uniform within 1 / sqrt(width before)."""
    weights = []
    for before, after in pairwise(widths):
        bound = 1 / np.sqrt(before)
        weights += [random.uniform(-bound, bound, shape).astype(np.float32) for shape in ((before, after), (after,))]
    return weights


def batches(rows: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    """Yield ``size`` rows at a time."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def measure_error(weights: Sequence[Any], batch: NDArray[np.float32]) -> Any:
    """Return the mean squared error of a batch; no relu follows the embedding and the last layer."""
    import torch

    target = torch.from_numpy(batch)
    layer, half = target, len(weights) // 4
    for i, (coef, offset) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
        layer = torch.addmm(offset, layer if i in (0, half) else torch.relu(layer), coef)
    return torch.mean((layer - target) ** 2)


def apply(X: NDArray[Any], weights: Weights) -> NDArray[Any]:
    """Apply one half of the network in double precision, so that the result of a row does not depend on its batch."""
    result = np.empty((len(X), len(weights[-1])), X.dtype)
    doubles = [array.astype(np.float64) for array in weights]
    with threadpool_limits(1, user_api="blas"):
        for rows in batches(np.arange(len(X)), ROWS):
            layer = X[rows].astype(np.float64)
            for i, (coef, offset) in enumerate(zip(doubles[::2], doubles[1::2], strict=True)):
                layer = (np.maximum(layer, 0.0) if i else layer) @ coef + offset
            result[rows] = layer
    return result
