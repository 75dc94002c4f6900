"""Import, fit, predict, save, load, and ``python -m gitcluster``, as a user without a home who may write to one folder.

``python container_smoke.py FOLDER``; ``scripts/check-container`` calls it in such a place.
"""

import os
import runpy
import sys
from pathlib import Path


def check_place() -> None:
    """The user is nobody, and neither the packages nor a home can be written to."""
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    home = os.path.expanduser("~")
    writable = [path for path in (packages, home, os.getcwd()) if os.access(path, os.W_OK)]
    if os.getuid() == 0 or "HOME" in os.environ or writable:
        raise SystemExit(f"this is no such place: user {os.getuid()}, can write to {writable}")


def check_library(folder: Path) -> None:
    """A model is fitted, predicts its own labels, and is the same after it was in a file."""
    from gitcluster import GIT, datasets

    X, _ = datasets.load("iris")
    model = GIT(n_clusters=3).fit(X)
    if (model.predict(X) != model.labels_).any():
        raise SystemExit("predict does not return the labels of the fit")
    model.save(folder / "model.npz")
    if (GIT.load(folder / "model.npz").predict(X) != model.labels_).any():
        raise SystemExit("the model that was loaded predicts other labels")


if __name__ == "__main__":
    check_place()
    check_library(Path(sys.argv.pop()))
    runpy.run_module("gitcluster", run_name="__main__")  # here, because nothing that was compiled can be kept
