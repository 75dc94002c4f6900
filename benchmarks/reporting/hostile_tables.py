"""The table of hostile use, from the last run of every kind and range of cases."""

from __future__ import annotations

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, read_lines


def table() -> str:
    """What was tried, how often, and what became of it."""
    lines = [line for line in read_lines(FOLDER / "hostile.jsonl") if "command" in line]
    last = {(line["what"], line["first"]): line for line in lines}
    rows = []
    for (what, _), line in sorted(last.items()):
        outcome = "; ".join(f"{name} {count:,}" for name, count in sorted(line["outcome"].items()))
        rows.append([what, f"{line['count']:,}", outcome, f"`{line['command']}`"])
    return markdown(["what", "tried", "what became of it", "command"], rows)
