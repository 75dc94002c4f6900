"""Tables of the distributed experiment in Markdown, from stored or given lines."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, read_lines

RESULTS = FOLDER / "distributed.jsonl"


def _of(lines: Sequence[Line] | None, experiment: str) -> list[Line]:
    lines = read_lines(RESULTS) if lines is None else lines
    last = {line["case"]: line for line in lines if line["experiment"] == experiment}
    return [line for line in last.values() if "skipped" not in line]


def identical_table(lines: Sequence[Line] | None = None) -> str:
    """Values that differ between DaskGIT and GIT."""
    rows = [
        [line["case"], f"{line['n']:,}", str(line["d"]), ", ".join(map(str, line["cells"])),
         *(str(line["differing"][what]) for what in ("labels", "local clusters", "intensities"))]
        for line in _of(lines, "identical")
    ]  # fmt: skip
    header = ["set", "samples", "features", "cells", "labels that differ", "local clusters", "intensities"]
    return markdown(header, rows)


def workers_table(lines: Sequence[Line] | None = None) -> str:
    """Seconds by stage with one and two workers."""
    found = {line["workers"]: line for line in _of(lines, "workers")}
    if set(found) != {1, 2}:
        return ""
    stages = [*found[1]["stages"], "all"]
    seconds = {n: line["stages"] | {"all": line["seconds"]} for n, line in found.items()}
    rows = [
        [stage, *(f"{seconds[n][stage]:.1f}" for n in (1, 2)), f"{seconds[1][stage] / max(seconds[2][stage], 0.1):.2f}"]
        for stage in stages
    ]
    return markdown(["seconds, 1M x 10, k = 20, exact", "1 worker", "2 workers", "ratio"], rows)


def large_table(lines: Sequence[Line] | None = None) -> str:
    """Seconds and memory of large fits."""
    rows = []
    for line in _of(lines, "large"):
        search = f"{line['stages']['search']:.0f}" if "stages" in line else ""
        memory = [" / ".join(f"{value:.1f}" for value in line.get(name, ())) for name in ("peak GB", "spilled GB")]
        rows.append([line["case"], f"{line['seconds']:.0f}", search, str(line.get("cells", "")), *memory])
    return markdown(["data and fit", "seconds", "search", "cells", "peak GB per worker", "GB on disk"], rows)


TABLES = {"identical": identical_table, "workers": workers_table, "large": large_table}
