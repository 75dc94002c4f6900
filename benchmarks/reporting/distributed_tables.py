"""Tables of the distributed experiment, of stored or given lines: each function gives one table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, read_lines

RESULTS = FOLDER / "distributed.jsonl"
SENT = {
    "cells": ("cells",), "search": ("search",), "labels": ("labels",),
    "local clusters and topo-graph": ("intensity", "uphill", "topo-graph"),
}  # fmt: skip
"""What is sent in the stages that take time."""
BILLION, MANY = 1_000_000_000, 64


def _of(lines: Sequence[Line] | None, experiment: str) -> list[Line]:
    lines = read_lines(RESULTS) if lines is None else lines
    last = {line["case"]: line for line in lines if line["experiment"] == experiment}
    return [line for line in last.values() if "skipped" not in line]


def identical_table(lines: Sequence[Line] | None = None) -> str:
    """What differs between DaskGIT and GIT."""
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
    """Ten million on two workers of 4 GB."""
    rows = []
    for line in _of(lines, "large"):
        stages = line.get("stages", {})
        shuffle, search = (f"{stages[name]:.0f}" if stages else "" for name in ("cells", "search"))
        cpu = " / ".join(f"{value:.0f}" for value in line.get("CPU seconds", ()))
        names = ("peak GB", "spilled GB", "written GB", "sent GB")
        memory = [" / ".join(f"{value:.1f}" for value in line.get(name, ())) for name in names]
        rows.append([line["case"], f"{line['seconds']:.0f}", shuffle, search, cpu, str(line.get("cells", "")), *memory])
    header = [
        "data and fit", "seconds", "of them cells", "search", "CPU seconds of the workers", "cells", "peak GB",
        "most GB on disk", "GB written", "GB sent",
    ]  # fmt: skip
    return markdown(header, rows)


def costs_table(lines: Sequence[Line] | None = None) -> str:
    """What a sample costs in every stage of the largest fit, and a billion of them on paper."""
    lines = [line for line in _of(lines, "large") if "stages" in line]
    if not lines:
        return ""
    line = max(lines, key=lambda line: line["n"])
    rows, total = [], 0.0
    for stage, seconds in line["stages"].items():
        sent = sum(line["bytes moved"][name] for name in SENT.get(stage, ())) / line["n"]
        serial = stage == "merge"  # here, on one core
        minutes = seconds * BILLION / line["n"] * (1 if serial else line["workers"] / MANY) / 60
        total += minutes
        each = seconds * (1 if serial else line["workers"]) * 1e6 / line["n"]
        rows.append([stage, f"{each:.2f}", f"{sent:,.0f}" if sent else "", f"{minutes:.1f}"])
    rows.append(["all", "", f"{sum(line['bytes moved'].values()) / line['n']:,.0f}", f"{total:.0f}"])
    header = ["stage", "worker seconds a million", "bytes sent a sample", f"minutes of a billion, {MANY} workers"]
    return markdown(header, rows)


TABLES = {
    "identical": identical_table,
    "workers": workers_table,
    "large": large_table,
    "costs": costs_table,
}
