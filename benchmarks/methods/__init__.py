"""One adapter a competitor: a file that lists its ``METHODS``.

An adapter turns scaled samples (every feature divided by its standard deviation, the same for all)
and what may be known about the answer into labels. A label below 0 is noise.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Known = Literal["nothing", "number", "proportions"]


class Method(NamedTuple):
    """A clustering method as the experiments see it.

    ``fit_predict(X, n_clusters)`` gives labels. Where ``known`` is "nothing" it must not look at
    its second argument; where it is "proportions" the second argument is the list of true shares.
    """

    name: str
    fit_predict: Callable[[NDArray[np.float64], Any], NDArray[np.int64]]
    requires: str
    known: Known = "number"

    @property
    def uses_n_clusters(self) -> bool:
        """Whether the number of clusters is told to the method."""
        return self.known != "nothing"


def load_methods(names: Iterable[str] | None = None) -> dict[str, Method]:
    """Return the methods whose packages are installed, all or those named.

    Raises
    ------
    ValueError
        When a name belongs to no installed method.
    """
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    found = {m.name: m for module in modules for m in module.METHODS if _is_installed(m.requires)}
    wanted = list(found if names is None else names)
    unknown = sorted(set(wanted) - set(found))
    if unknown:
        raise ValueError(f"methods={unknown} are not among the installed ones: {', '.join(found)}")
    return {name: found[name] for name in wanted}


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
