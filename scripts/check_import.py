"""Check the cost of ``import gitcluster``: nothing is compiled, no optional package is loaded, and it is fast.

``python scripts/check_import.py`` checks the first two in this interpreter, which must be a fresh one; with ``--time``
it also measures the third beside scikit-learn, each in interpreters of its own.
"""

import importlib
import os
import subprocess
import sys
import tempfile
from unittest.mock import patch

REQUIRED = (
    "joblib",
    "narwhals.stable.v2",
    "numba",
    "numpy",
    "scipy",
    "sklearn.cluster",
    "sklearn.neighbors",
    "threadpoolctl",
)
MOST_SECONDS = 0.5
REPEATS = 7


def check_modules() -> None:
    """Nothing comes from outside the standard library and the required packages, and no function is compiled."""
    for name in REQUIRED:
        importlib.import_module(name)
    event = importlib.import_module("numba.core.event")
    before = set(sys.modules)
    with event.install_recorder("numba:compile") as compilations:
        importlib.import_module("gitcluster")
    if compilations.buffer:
        raise SystemExit(f"import gitcluster compiles {compilations.buffer[0][1].data['dispatcher']}")
    known = {name.partition(".")[0] for name in before} | set(sys.stdlib_module_names) | {"gitcluster"}
    strangers = {name.partition(".")[0] for name in sys.modules} - known
    if strangers:
        raise SystemExit(
            f"import gitcluster loads {', '.join(sorted(strangers))}: import them inside the functions that use them"
        )
    print("import gitcluster loads nothing optional and compiles nothing")


def import_seconds(module: str) -> float:
    """The shortest of several imports, each in a new interpreter, in processor time: other work here does not count."""
    code = f"from time import process_time; start = process_time(); import {module}; print(process_time() - start)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(REPEATS))


def check_time() -> None:
    """Gitcluster beside the part of scikit-learn that any other clusterer needs."""
    ours, theirs = import_seconds("gitcluster"), import_seconds("sklearn.cluster")
    print(f"import gitcluster {ours:.2f} s, sklearn.cluster {theirs:.2f} s, difference {ours - theirs:.2f} s")
    if ours - theirs > MOST_SECONDS:
        raise SystemExit(f"import gitcluster takes more than {MOST_SECONDS} s over scikit-learn")


if __name__ == "__main__":
    # what was compiled and kept earlier would hide what is compiled now
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, NUMBA_CACHE_DIR=folder):
        check_modules()
    if "--time" in sys.argv[1:]:
        check_time()
