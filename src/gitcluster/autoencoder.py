"""The paper's autoencoder as a scikit-learn transformer, to embed images and the like before they are clustered.

encoder: x -> relu(... relu(x W1 + b1) ...) Wm + bm, from n_features over the hidden layers to n_components;
decoder: the same layers the other way round. Trained by Adam on the mean squared error between x and decoded x.

Only :meth:`Autoencoder.fit` needs torch (extra ``[autoencoder]``): the weights are kept as numpy arrays, and numpy
encodes and decodes.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from numbers import Real
from types import ModuleType
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from gitcluster._support.optional import require
from gitcluster._support.validation import check_integer, check_n_jobs

Weights = list[NDArray[np.float32]]
ROWS = 4096
"""Samples encoded or measured at a time."""
FLOATS = [np.float64, np.float32]


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Neural network that squeezes samples through a narrow layer and learns to restore them.

    The defaults are those of the GIT paper, whose images lie between 0 and 1. Features are taken as they are: bring
    them to a similar scale first.

    Parameters
    ----------
    n_components : int, default=10
        Width of the narrow layer, the features of the embedding.
    hidden_layer_sizes : sequence of int, default=(512, 256, 128)
        Widths of the layers between samples and embedding; the decoder has them in reverse. May be empty.
    learning_rate : float, default=0.001
        Step of Adam.
    max_epochs : int, default=100
        Passes through the samples at most.
    batch_size : int, default=256
        Samples a step.
    validation_fraction : float, default=0.1
        Share of the samples that is held out to decide when to stop; 0 holds out none and goes by the training loss.
    tol : float, default=0.001
        An epoch is better if it lowers the best loss by more than this share of it.
    patience : int, default=5
        Epochs without a better one after which training stops.
    n_jobs : int, default=None
        Threads, with scikit-learn's meaning. The last digits of the weights depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the first weights, the held-out samples and the batches.
    verbose : bool, default=False
        Whether to write the loss of every epoch to the standard error stream.

    Attributes
    ----------
    coefs_, intercepts_ : list of float32 ndarrays
        Weights of shape (width before, width after) and offsets of every layer, encoder first: those of the epoch
        with the lowest loss.
    loss_curve_, validation_loss_curve_ : list of float
        Mean squared error after every epoch, on the batches as they were seen and on the held-out samples.
    best_loss_ : float
        Loss of the weights that are kept.
    n_epochs_ : int
        Epochs trained.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data / 16
    >>> model = Autoencoder(2, hidden_layer_sizes=(32,), max_epochs=5, random_state=0)
    >>> embedding = model.fit_transform(X)  # doctest: +SKIP
    >>> embedding.shape  # doctest: +SKIP
    (1797, 2)
    >>> model.loss_curve_[-1] < model.loss_curve_[0]  # doctest: +SKIP
    True
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        hidden_layer_sizes: Sequence[int] = (512, 256, 128),
        learning_rate: float = 0.001,
        max_epochs: int = 100,
        batch_size: int = 256,
        validation_fraction: float = 0.1,
        tol: float = 0.001,
        patience: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Train on ``X`` of shape (n_samples, n_features); ``y`` is ignored."""
        torch = require("torch", extra="autoencoder", purpose="Autoencoder.fit")
        widths = self._check_parameters()
        samples = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        samples = _single(samples)
        random = check_random_state(self.random_state)
        widths = [samples.shape[1], *widths]
        weights = _first_weights([*widths, *widths[-2::-1]], random)
        threads = torch.get_num_threads()
        torch.set_num_threads(effective_n_jobs(self.n_jobs))
        try:
            self._train(torch, samples, weights, random)
        finally:
            torch.set_num_threads(threads)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Embedding of ``X``, of shape (n_samples, n_components) and the precision of ``X``."""
        check_is_fitted(self, "coefs_")
        samples = validate_data(self, X, dtype=FLOATS, reset=False)
        half = len(self.coefs_) // 2
        return self._apply(samples, self.coefs_[:half], self.intercepts_[:half])

    def inverse_transform(self, X: ArrayLike) -> NDArray[Any]:
        """Samples restored from an embedding, of shape (n_samples, n_features)."""
        check_is_fitted(self, "coefs_")
        embedding = check_array(X, dtype=FLOATS)
        if embedding.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {embedding.shape[1]} features, but the embedding has {self._n_features_out}. "
                "Pass what transform returns."
            )
        half = len(self.coefs_) // 2
        return self._apply(embedding, self.coefs_[half:], self.intercepts_[half:])

    def _check_parameters(self) -> list[int]:
        """Widths of the layers up to the embedding."""
        for name in ("max_epochs", "batch_size", "patience"):
            check_integer(name, getattr(self, name), low=1)
        for name, low, high in (
            ("learning_rate", 1e-12, 1.0),
            ("validation_fraction", 0.0, 0.9),
            ("tol", 0.0, 0.9),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
                raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {name}={value!r}.")
        check_n_jobs(self.n_jobs)
        if isinstance(self.hidden_layer_sizes, str) or not hasattr(self.hidden_layer_sizes, "__iter__"):
            raise TypeError(
                f"hidden_layer_sizes must be a sequence of integers such as (512, 256, 128), "
                f"got {self.hidden_layer_sizes!r}."
            )
        hidden = [check_integer("hidden_layer_sizes", width, low=1) for width in self.hidden_layer_sizes]
        return [*hidden, check_integer("n_components", self.n_components, low=1)]

    def _train(
        self, torch: ModuleType, samples: NDArray[np.float32], weights: Weights, random: np.random.RandomState
    ) -> None:
        """Epochs until the loss gets no better; keep the best weights."""
        order = random.permutation(len(samples))
        n_held = min(ceil(self.validation_fraction * len(samples)), len(samples) - 1)
        held, used = order[:n_held], order[n_held:]
        tensors = [torch.tensor(array, requires_grad=True) for array in weights]
        adam = torch.optim.Adam(tensors, lr=float(self.learning_rate))
        curves: tuple[list[float], list[float]] = [], []
        lowest, target, waited = np.inf, np.inf, 0
        while len(curves[0]) < self.max_epochs and waited < self.patience:
            loss = _train_epoch(torch, adam, tensors, samples, _batches(random.permutation(used), self.batch_size))
            curves[0].append(loss)
            if n_held:
                loss = _held_out_loss(torch, tensors, samples, held)
                curves[1].append(loss)
            self._check_loss(len(curves[0]), loss)
            if loss < lowest:
                lowest, best = loss, [tensor.detach().numpy().copy() for tensor in tensors]
            target, waited = (loss, 0) if loss < target * (1 - self.tol) else (target, waited + 1)
        self.n_epochs_, self.best_loss_ = len(curves[0]), lowest
        self.loss_curve_, self.validation_loss_curve_ = curves
        self.coefs_, self.intercepts_ = best[::2], best[1::2]

    def _check_loss(self, epoch: int, loss: float) -> None:
        if not np.isfinite(loss):
            raise ValueError(
                f"The loss is {loss} after epoch {epoch}. Scale the features, or lower "
                f"learning_rate={self.learning_rate!r}."
            )
        if self.verbose:
            print(f"[Autoencoder] epoch {epoch}: loss {loss:.6g}", file=sys.stderr)

    def _apply(self, X: NDArray[Any], coefs: Weights, intercepts: Weights) -> NDArray[Any]:
        """Half of the network, in double precision so that a row has one result in whatever company."""
        result = np.empty((len(X), coefs[-1].shape[1]), X.dtype)
        doubles = [(c.astype(np.float64), b.astype(np.float64)) for c, b in zip(coefs, intercepts, strict=True)]
        with threadpool_limits(effective_n_jobs(self.n_jobs), user_api="blas"):
            for rows in _batches(np.arange(len(X)), ROWS):
                layer = X[rows].astype(np.float64)
                for i, (coef, intercept) in enumerate(doubles):
                    layer = (np.maximum(layer, 0.0) if i else layer) @ coef + intercept
                result[rows] = layer
        return result

    @property
    def _n_features_out(self) -> int:
        return int(self.coefs_[len(self.coefs_) // 2].shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _single(samples: NDArray[Any]) -> NDArray[np.float32]:
    """Samples in single precision, or an error where they do not fit."""
    with np.errstate(over="ignore"):
        single = np.asarray(samples, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError("X has values too large for float32, in which the network is trained. Scale the features.")
    return single


def _first_weights(widths: Sequence[int], random: np.random.RandomState) -> Weights:
    """Coefficients and offsets of every layer, uniform within 1 / sqrt(width before)."""
    weights = []
    for before, after in pairwise(widths):
        bound = 1 / np.sqrt(before)
        weights += [random.uniform(-bound, bound, shape).astype(np.float32) for shape in ((before, after), (after,))]
    return weights


def _batches(rows: NDArray[Any], size: int) -> Iterator[NDArray[Any]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _error(torch: ModuleType, weights: Sequence[Any], batch: NDArray[np.float32]) -> Any:
    """Mean squared error of a batch, as a tensor; no relu after the embedding and the last layer."""
    target = torch.from_numpy(batch)
    layer, half = target, len(weights) // 4
    for i, (coef, intercept) in enumerate(zip(weights[::2], weights[1::2], strict=True)):
        layer = torch.addmm(intercept, layer if i in (0, half) else torch.relu(layer), coef)
    return torch.mean((layer - target) ** 2)


def _train_epoch(
    torch: ModuleType, adam: Any, weights: Sequence[Any], samples: NDArray[np.float32], batches: Any
) -> float:
    """A step for every batch; the mean loss before each step."""
    total, seen = 0.0, 0
    for rows in batches:
        error = _error(torch, weights, samples[rows])
        adam.zero_grad()
        error.backward()
        adam.step()
        total, seen = total + error.item() * len(rows), seen + len(rows)
    return total / seen


def _held_out_loss(torch: ModuleType, weights: Sequence[Any], samples: NDArray[np.float32], held: Any) -> float:
    with torch.no_grad():
        parts = [(len(rows), _error(torch, weights, samples[rows]).item()) for rows in _batches(held, ROWS)]
    return float(sum(size * error for size, error in parts) / len(held))
