"""The paper's autoencoder, which embeds images before they are clustered.

encoder: x -> relu(... relu(x W1 + b1) ...) Wm + bm, from n_features over the hidden layers to n_components;
decoder: the same layers in reverse. Trained by Adam on the mean squared error between x and decoded x. Needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

HIDDEN = (512, 256, 128)
"""Widths of the layers between samples and embedding, as in the paper."""
LEARNING_RATE = 0.001
BATCH_SIZE = 256
HELD_OUT = 0.1
"""Share of the samples that is held out to decide when to stop."""
TOLERANCE = 0.001
"""An epoch is better if it lowers the best held-out loss by more than this share of it."""
PATIENCE = 5
"""Epochs without a better one after which training stops."""
ROWS = 4096
"""Samples encoded or measured at a time."""

Weights = list[NDArray[np.float32]]


class Encoding(NamedTuple):
    """An embedding and how its network was trained."""

    points: NDArray[Any]
    """(n_samples, n_components) in the precision of the samples."""
    n_epochs: int
    loss: float
    """Mean squared error of the kept weights on the held-out samples."""


def encode(
    X: NDArray[Any], n_components: int, *, hidden: Sequence[int] = HIDDEN, max_epochs: int = 100, seed: int = 0
) -> Encoding:
    """Train on ``X``, whose values lie between 0 and 1, and return its embedding.

    Training runs in one thread, because the last digits of the weights depend on their number.
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
    return Encoding(apply(X, best[: len(best) // 2]), len(losses), min(losses))


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
    """Return coefficients and offsets of every layer, uniform within 1 / sqrt(width before)."""
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
    """Return the mean squared error of a batch; there is no relu after the embedding and the last layer."""
    import torch

    target = torch.from_numpy(batch)
    layer, half = target, len(weights) // 4
    for i, (coef, offset) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
        layer = torch.addmm(offset, layer if i in (0, half) else torch.relu(layer), coef)
    return torch.mean((layer - target) ** 2)


def apply(X: NDArray[Any], weights: Weights) -> NDArray[Any]:
    """Apply one half of the network, in double precision so that a row's result does not depend on its batch."""
    result = np.empty((len(X), len(weights[-1])), X.dtype)
    doubles = [array.astype(np.float64) for array in weights]
    with threadpool_limits(1, user_api="blas"):
        for rows in batches(np.arange(len(X)), ROWS):
            layer = X[rows].astype(np.float64)
            for i, (coef, offset) in enumerate(zip(doubles[::2], doubles[1::2], strict=True)):
                layer = (np.maximum(layer, 0.0) if i else layer) @ coef + offset
            result[rows] = layer
    return result
