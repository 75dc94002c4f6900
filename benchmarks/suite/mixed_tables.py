"""Data frames with columns of several kinds and known classes: from packages, from the data folder, and generated.

Every second column of scikit-learn's measurements is put into words. The sets of the data folder have yes/no answers
coded as numbers. Generated tables are the same in every run. :func:`add_noise` adds columns that are independent of the
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from benchmarks.suite.datasets import load_set

Labels = NDArray[np.int64]


class Table(NamedTuple):
    """A data frame and the class of every row."""

    name: str
    frame: pd.DataFrame
    y: Labels


def mixed_tables(names: list[str] | None = None) -> Iterator[Table]:
    """Yield the tables, or those named."""
    for name, make in TABLES.items():
        if names is None or name in names:
            frame, classes = make()
            yield Table(name, frame.reset_index(drop=True), np.unique(classes, return_inverse=True)[1].astype(np.int64))


def add_noise(table: Table, kind: str, count: int) -> pd.DataFrame:
    """Return the frame with ``count`` columns of noise: of one kind, or "all" kinds in turn."""
    rng, frame = np.random.default_rng(crc32(f"{table.name} {kind}".encode())), table.frame.copy()
    kinds = list(NOISE) if kind == "all" else [kind]
    for i in range(count):
        frame[f"extra {i}"] = NOISE[kinds[i % len(kinds)]](rng, len(frame))
    return frame


NOISE: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "yes/no": lambda rng, n: rng.choice(["yes", "no"], n),
    "category": lambda rng, n: rng.choice(list("abcde"), n),
    "integer": lambda rng, n: rng.integers(0, 100, n),
    "identifier": lambda rng, n: rng.integers(1, 9000) + np.arange(n),
}


def _cars() -> tuple[pd.DataFrame, Any]:
    frame = import_module("vega_datasets").local_data.cars()
    return frame.drop(columns="Origin"), frame["Origin"]


def _weather() -> tuple[pd.DataFrame, Any]:
    frame = import_module("vega_datasets").local_data.seattle_weather()
    return frame.drop(columns="weather"), frame["weather"]


def _statsmodels(name: str) -> pd.DataFrame:
    return import_module("statsmodels.api").datasets.__dict__[name].load_pandas().data


def _journeys() -> tuple[pd.DataFrame, Any]:
    frame = _statsmodels("modechoice")
    chosen = frame["choice"].map({0: "no", 1: "yes"})
    return frame.drop(columns=["mode", "individual"]).assign(choice=chosen), frame["mode"]


def _voters() -> tuple[pd.DataFrame, Any]:
    frame = _statsmodels("anes96")
    words = {name: frame[name].map("class {:.0f}".format) for name in ("PID", "educ")}
    return frame.drop(columns=["vote", "logpopul"]).assign(**words), frame["vote"]


def _measured(load: Callable[..., Any]) -> tuple[pd.DataFrame, Any]:
    """Return measurements, every second one in words: low, middle or high."""
    frame, y = load(return_X_y=True, as_frame=True)
    words = {name: pd.qcut(frame[name], 3, labels=["low", "middle", "high"]).astype(str) for name in frame.columns[::2]}
    return frame.assign(**words), y


def _answers(name: str) -> tuple[pd.DataFrame, Any]:
    """Return a set of the data folder; columns of two or three numbers are answers, the middle of three is missing."""
    X, y = load_set(name)
    frame = pd.DataFrame({f"column {i}": X[:, i] for i in range(X.shape[1])})
    for column, values in frame.items():
        levels = np.unique(values)
        if len(levels) <= 3:
            words = {levels[0]: "no", levels[-1]: "yes"}
            frame[column] = values.map(words)
    return frame, y


def _with_gaps(rng: np.random.Generator, frame: pd.DataFrame, share: float) -> pd.DataFrame:
    return frame.mask(rng.random(frame.shape) < share)


def _one_of(rng: np.random.Generator, own: list[str], group: Labels, sure: float) -> NDArray[Any]:
    """Return the value of the own group with probability ``sure``, else any."""
    words = np.array(own)
    return np.where(rng.random(len(group)) < sure, words[group], rng.choice(words, len(group)))


def _customers() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(1)
    group = rng.choice(4, 1200, p=[0.4, 0.3, 0.2, 0.1])
    n = len(group)
    frame = pd.DataFrame(
        {
            "age": (np.array([28, 45, 62, 38])[group] + 6 * rng.normal(size=n)).round(),
            "income": np.exp(np.array([10.0, 10.9, 10.4, 11.6])[group] + 0.25 * rng.normal(size=n)).round(),
            "visits": rng.poisson(np.array([12, 4, 2, 7])[group]),
            "plan": _one_of(rng, ["free", "family", "basic", "gold"], group, 0.8),
            "city": rng.choice(["Rome", "Oslo", "Bern", "Paris", "Lima", "Cairo"], n),
            "newsletter": np.where(rng.random(n) < np.array([0.2, 0.5, 0.7, 0.6])[group], "yes", "no"),
            "since": pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D"),
        }
    )
    frame = _with_gaps(rng, frame, 0.03)
    frame.insert(0, "customer", [f"C{i:05d}" for i in range(n)])
    return frame, group


def _patients() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(2)
    group = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
    n = len(group)
    severity = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "age": (np.array([50, 64, 41])[group] + 9 * rng.normal(size=n)).round(),
            "pressure": np.array([125, 150, 118])[group] + 5 * severity + 5 * rng.normal(size=n),
            "glucose": np.exp(np.array([4.5, 4.7, 5.4])[group] + 0.1 * severity + 0.1 * rng.normal(size=n)),
            "smoker": np.where(rng.random(n) < np.array([0.2, 0.6, 0.3])[group], "yes", "no"),
            "thirst": np.where(rng.random(n) < np.array([0.1, 0.1, 0.8])[group], "yes", "no"),
            "dizzy": np.where(rng.random(n) < np.array([0.1, 0.7, 0.2])[group], "yes", "no"),
            "sex": rng.choice(["f", "m"], n),
            "blood group": rng.choice(["0", "A", "B", "AB"], n, p=[0.45, 0.4, 0.11, 0.04]),
        }
    )
    return _with_gaps(rng, frame, 0.05), group


def _sensors() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    state = np.repeat([0, 1, 0, 2, 1, 3, 0, 4, 1, 2], 150)
    n = len(state)
    frame = pd.DataFrame(
        {
            "time": pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(n), "min"),
            "temperature": np.array([40, 65, 66, 90, 22])[state] + 2.5 * rng.normal(size=n),
            "vibration": np.exp(np.array([0.0, 0.6, 2.2, 1.8, -2.5])[state] + 0.3 * rng.normal(size=n)),
            "flow": np.array([10, 18, 17, 9, 0])[state] + rng.normal(size=n),
            "mode": _one_of(rng, ["idle", "run", "run", "hot", "off"], state, 0.95),
            "alarm": np.where(rng.random(n) < np.array([0.01, 0.02, 0.6, 0.8, 0.01])[state], "on", "off"),
            "line": rng.choice(["A", "B", "C"], n),
        }
    )
    return frame, state


def _survey() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(4)
    group = rng.integers(0, 4, 800)
    words = ["never", "seldom", "often", "always"]
    frame = pd.DataFrame({f"question {i}": _one_of(rng, list(rng.permutation(words)), group, 0.55) for i in range(10)})
    frame["age"] = rng.integers(18, 80, len(group))
    return frame, group


def _roads() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    coordinates, road = sklearn_datasets.make_moons(1000, noise=0.07, random_state=5)
    frame = pd.DataFrame(
        {
            "east": 10 + 4 * coordinates[:, 0],
            "north": 50 + 4 * coordinates[:, 1],
            "vehicle": _one_of(rng, ["lorry", "car"], road, 0.5),
            "paid": rng.choice(["cash", "card", "pass"], len(road)),
            "speed": (80 + 15 * rng.normal(size=len(road))).round(),
        }
    )
    return frame, road


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, Any]]] = {
    "cars": _cars,
    "weather": _weather,
    "journeys": _journeys,
    "voters": _voters,
    "wine": lambda: _measured(sklearn_datasets.load_wine),
    "breast cancer": lambda: _measured(sklearn_datasets.load_breast_cancer),
    "hepatitis": lambda: _answers("hepatitis"),
    "zoo": lambda: _answers("bench/real_zoo"),
    "votes": lambda: _answers("bench/real_votes"),
    "dna": lambda: _answers("bench/real_dna"),
    "customers": _customers,
    "patients": _patients,
    "sensors": _sensors,
    "survey": _survey,
    "roads": _roads,
}
