"""Saved models, damaged byte by byte or forged value by value with right checksums.

A file gives the model that was saved, or an error that names it, or, forged, a model that answers.
"""

from __future__ import annotations

import io
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gitcluster import GIT


def damage_file(whole: bytes, rng: np.random.Generator) -> bytes:
    """A saved model with a few bytes changed, cut off, or overwritten."""
    text = bytearray(whole)
    way = rng.integers(3)
    if way == 0:
        return bytes(text[: rng.integers(0, len(text))])
    for place in rng.integers(0, len(text), [1, 64][way - 1]):
        text[place] ^= int(rng.integers(1, 256))
    return bytes(text)


def forge_file(whole: bytes, rng: np.random.Generator) -> bytes:
    """A saved model with an array replaced; the checksums are right."""
    with np.load(io.BytesIO(whole)) as file:
        arrays = {name: file[name] for name in file.files}
    header = arrays.pop("header")
    name = list(arrays)[rng.integers(len(arrays))]
    array = arrays[name].copy()
    if array.size:
        flat = array.reshape(-1)
        some = rng.integers(0, array.size, int(rng.integers(1, 4)))
        if array.dtype.kind in "iu":
            flat[some] = rng.choice([-1, 0, 1, int(array.max()), int(array.max()) + 1, 2**31 - 1], len(some))
        elif array.dtype.kind == "f":
            flat[some] = rng.choice([0.0, -1.0, 1e30, np.nan, np.inf], len(some))
        else:
            flat[some] = ~flat[some] if array.dtype.kind == "b" else flat[some]
        array = [array, array[:-1], rng.permutation(flat).reshape(array.shape)][rng.integers(3)]
    arrays[name] = array
    out = io.BytesIO()
    np.savez(out, header=header, **arrays)
    return out.getvalue()


@cache
def saved_models(seed: int) -> tuple[Any, list[tuple[Any, bytes]]]:
    """Samples, and models of them with their files."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(6, 1, (30, 2))])
    models = [
        GIT(2).fit(X),
        GIT(3, noise=0.1).fit(np.round(X, 1), sample_weight=rng.integers(0, 3, 70)),
        GIT(2, variant="paper").fit(X),
        GIT(3, min_cluster_size=4).fit(X, cannot_link=[(0, 1)]),
    ]
    return X, [(model, saved(model)) for model in models]


def saved(model: Any) -> bytes:
    """The file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.npz")
        model.save(path)
        return path.read_bytes()


def try_file(seed: int, number: int) -> Counter[str]:
    """What becomes of a damaged or forged file."""
    rng, (X, models) = np.random.default_rng([seed, number]), saved_models(seed)
    model, whole = models[number % len(models)]
    forged, outcome = bool(rng.integers(2)), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes((forge_file if forged else damage_file)(whole, rng))
        try:
            loaded = GIT.load(path)
        except ValueError:
            return Counter(["refused"])
    same = bool((loaded.predict(X) == model.predict(X)).all())
    outcome["the model that was saved" if same else "forged, answers" if forged else "SILENTLY OTHER"] += 1
    for sample in (0, 69):
        str(loaded.explain(sample))
        str(loaded.explain(sample, 30))
    for n_clusters in (1, 2, 5):
        try:
            loaded.cut(n_clusters=n_clusters)
        except ValueError:
            outcome["cut refused"] += 1
    return outcome
