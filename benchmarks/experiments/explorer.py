"""The explorer in a browser: ``python -m benchmarks explorer [--part speed|picture]``.

``speed``: size of the page, time to the first paint, and frames a second while panning, from a trace of
headless Chromium, which draws WebGL in software. Where frames come late the page draws a share of the samples until the
view rests; that share is stored, and the frames a second with everything drawn. ``picture``: draws
``docs/images/explorer.png`` again, from the example of ``docs/explorer.md``.

One line a data set or size goes to ``results/explorer.jsonl``; the last line of each counts. Needs playwright and a
``chromium`` on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_wine, make_blobs

from benchmarks.reporting.tables import markdown
from benchmarks.running import FOLDER, Line, read_lines, record
from gitcluster import GIT
from gitcluster.explorer import write_explorer

RESULTS = FOLDER / "explorer.jsonl"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
PICTURE = FOLDER.parents[1] / "docs" / "images" / "explorer.png"
OPENED = 4
"""A page is opened so many times, and the fastest counts."""
PANNED = 4.0
"""Seconds of panning."""
PAN = """(seconds) => new Promise((done) => {
  const start = performance.now(), size = document.getElementById("samples").getBoundingClientRect();
  const frame = (now) => {
    if (now - start > 1000 * seconds) return done();
    explorer.app.camera.pan(size, 4 * Math.cos(now / 300), 4 * Math.sin(now / 300));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""
SHOWN = """() => ["first-contentful-paint", "first-points"].map(
  (mark) => performance.getEntriesByName(mark)[0]?.startTime ?? null,
)"""
RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl");
  const names = gl && gl.getExtension("WEBGL_debug_renderer_info");
  return gl ? gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : "none";
}"""


def main(arguments: Sequence[str]) -> None:
    """Measure the page, or draw its picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks explorer", description=__doc__)
    parser.add_argument("--part", choices=("speed", "picture"), default="speed")
    part = parser.parse_args(arguments).part
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"))
        if part == "picture":
            draw_picture(browser, Path(folder, "page.html"))
        if part == "speed":
            for n_samples in SIZES:
                record(RESULTS, {"part": "speed"} | measure(browser, n_samples, Path(folder, "page.html")))
        browser.close()


def measure(browser: Any, n_samples: int, path: Path) -> Line:
    """Size of a page, times to its first paint, frames a second while panning."""
    X = make_blobs(n_samples, 2, centers=8, cluster_std=1.5, random_state=0)[0]
    model = GIT(8).fit(X)
    start = perf_counter()
    write_explorer(model, X, path)
    written = perf_counter() - start
    page, times = open_page(browser, path), []
    for _ in range(OPENED):
        page.close()
        page = open_page(browser, path)
        times.append(page.evaluate(SHOWN))
    paint, points = np.min(times, axis=0)
    page.evaluate(PAN, 1.0)  # warms up
    adapted = count_frames(browser, page)
    share = page.evaluate("explorer.frames.share")
    page.evaluate("explorer.frames.share = explorer.frames.least = 1")
    line = {
        "samples": n_samples,
        "local clusters": len(model.peaks_),
        "page MB": round(path.stat().st_size / 1e6, 2),
        "written s": round(written, 2),
        "first paint ms": round(float(paint)),
        "first points ms": round(float(points)),
        "frames a second": adapted,
        "share drawn": round(share, 3),
        "frames a second, all drawn": count_frames(browser, page),
        "load": round(os.getloadavg()[0], 1),
        "renderer": page.evaluate(RENDERER),
        "browser": f"Chromium {browser.version}, headless",
        "cores": os.cpu_count(),
    }
    page.close()
    return line


def open_page(browser: Any, path: Path) -> Any:
    """The page, when its samples are shown."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(path.as_uri())
    while None in page.evaluate(SHOWN):
        page.wait_for_timeout(50)
    return page


def draw_picture(browser: Any, path: Path) -> None:
    """A wine beside a cluster that it is not in, as the page of documentation shows it."""
    wines = load_wine(as_frame=True)
    model = GIT().fit(wines.data)
    model.explore(wines.data, path, columns={"cultivar": wines.target_names[wines.target]}, title="178 wines")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{path.as_uri()}#view=Discriminant&samples=3&cluster=1")
    page.wait_for_timeout(1000)
    page.screenshot(path=PICTURE)


def count_frames(browser: Any, page: Any) -> float:
    """Frames a second that reached the screen while panning."""
    browser.start_tracing(page=page, categories=["viz", "benchmark"])
    page.evaluate(PAN, PANNED)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    drawn = sum(event["name"] == "Graphics.Pipeline.DrawAndSwap" and event["ph"] == "b" for event in events)
    return round(drawn / PANNED, 1)


def _last(part: str, key: str) -> list[Line]:
    return list({line[key]: line for line in read_lines(RESULTS) if line["part"] == part}.values())


def speed_table() -> str:
    """Markdown: size of a page, first paint, frames a second."""
    rows = [
        [f"{line['samples']:,}", f"{line['local clusters']:,}", f"{line['page MB']:.2f}", str(line["first paint ms"]),
         str(line["first points ms"]), f"{line['frames a second']:.0f}", f"{line['share drawn']:.0%}",
         f"{line['frames a second, all drawn']:.0f}", f"{line['load']:.0f}"]
        for line in _last("speed", "samples")
    ]  # fmt: skip
    header = [
        "samples", "local clusters", "page, MB", "first paint, ms", "samples and graph shown, ms",
        "frames a second while panning", "samples drawn meanwhile", "frames a second with all drawn",
        "load of the machine",
    ]  # fmt: skip
    return markdown(header, rows)
