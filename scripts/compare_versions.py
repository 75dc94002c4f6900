"""Compare speed and peak memory with another checkout: ``python scripts/compare_versions.py OTHER [--runs 5]``.

Both versions take turns. Every run is a process of its own, fits once to load the compiled code, and is timed at the
second fit. Prints the ratio of the best runs, this checkout to the other.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

CASES = {
    "1,000 x 10": "X = blobs(1_000, 10); run = lambda: GIT(n_jobs=-1).fit(X)",
    "20,000 x 2": "X = blobs(20_000, 2); run = lambda: GIT(n_jobs=-1).fit(X)",
    "100,000 x 10": "X = blobs(100_000, 10); run = lambda: GIT(n_jobs=-1).fit(X)",
    "2,000 rows of a mixed table": "X = table(2_000); run = lambda: GIT(n_jobs=-1).fit(X)",
    "predict 50,000 x 5": "X = blobs(50_000, 5); model = GIT(8).fit(X); run = lambda: model.predict(X + 1e-3)",
    "paper, 20,000 x 5": "X = blobs(20_000, 5); run = lambda: GIT(8, variant='paper', n_jobs=-1).fit(X)",
}
PROGRAM = """
import json, resource, time, warnings
import numpy as np, pandas as pd
from gitcluster import GIT
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
def blobs(n, d):
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(8, d))[rng.integers(0, 8, n)]
def table(n):
    X = blobs(n, 4).round(2)
    return pd.DataFrame(X, columns=list("abcd")).assign(kind=rng.choice(["x", "y", "z"], n), day="2024-01-01")
{case}
run()
start = time.perf_counter()
run()
seconds = time.perf_counter() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def measure(checkout: Path, case: str) -> tuple[float, float]:
    """Return the seconds and the peak memory in MB of one run in a new process."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", PROGRAM.replace("{case}", case)]
    done = subprocess.run(command, env=environment, cwd=checkout, capture_output=True, text=True, check=True)
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


def main() -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="another checkout of the repository")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[1]
    for name, case in CASES.items():
        runs = [(measure(options.other.resolve(), case), measure(here, case)) for _ in range(options.runs)]
        (before, memory_before), (now, memory_now) = (
            tuple(min(run[side][what] for run in runs) for what in (0, 1)) for side in (0, 1)
        )
        print(
            f"{name:28} {before:7.3f} s -> {now:7.3f} s ({now / before:.2f})  "
            f"{memory_before:5.0f} MB -> {memory_now:5.0f} MB ({memory_now / memory_before:.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
