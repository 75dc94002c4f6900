"""Count the files and functions of the package that common calls pass through: ``python scripts/walk.py``.

Imports and compiled loops are not counted. Needs the extras ``cli`` and ``dask``.
"""

import contextlib
import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import gitcluster
from gitcluster import GIT
from gitcluster.cli import main as run_command

PACKAGE = str(Path(gitcluster.__file__).parent)


def walk(name: str, call: Callable[[], object]) -> None:
    """Print how many files and functions a call passes through, the second time it is made."""
    seen: set[tuple[str, str]] = set()

    def profiler(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
            seen.add((code.co_filename, code.co_qualname if hasattr(code, "co_qualname") else code.co_name))

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        call()
        sys.setprofile(profiler)
        try:
            call()
        finally:
            sys.setprofile(None)
    print(f"{name:32} {len({file for file, _ in seen}):3} files {len(seen):4} functions")


def main() -> None:
    """Walk through six calls."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) + 6 * rng.integers(0, 3, (600, 1))
    frame = pd.DataFrame(X.round(2), columns=list("abcd")).assign(kind=rng.choice(["x", "y"], 600))
    model = GIT().fit(X)
    walk("GIT().fit(array)", lambda: GIT().fit(X))
    walk("GIT().fit(frame)", lambda: GIT().fit(frame))
    walk("predict", lambda: model.predict(X[:9] + 0.1))
    walk("explain", lambda: str(model.explain(0, 1)))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        frame.to_csv("file.csv", index=False)

        def fit_file() -> None:
            with contextlib.suppress(SystemExit):
                run_command(["fit", "file.csv", "-o", "labels.csv"])

        walk("gitcluster fit file.csv", fit_file)

    import dask

    from gitcluster.distributed import DaskGIT

    with dask.config.set(scheduler="synchronous"):
        walk("DaskGIT().fit(array)", lambda: DaskGIT(3, cell_size=200).fit(X).labels_.compute())


if __name__ == "__main__":
    main()
