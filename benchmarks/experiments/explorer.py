"""Measure the explorer in a browser: ``python -m benchmarks explorer [--picture]``.

Measured are the size of the page, the time to the first paint, and frames a second while panning, from a trace of
headless Chromium, which draws WebGL in software. If frames are late, the page draws a share of the samples until the
view rests. ``--picture`` draws ``docs/images/explorer.png`` from the example of ``docs/explorer.md``. Needs playwright
and a ``chromium`` on the path.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_wine, make_blobs

from benchmarks.reporting.tables import markdown
from benchmarks.runner import FOLDER, Line, Store, Task
from gitcluster import GIT
from gitcluster.explorer import write_explorer

FIELDS = ("part", "set", "samples")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
PICTURE = FOLDER.parents[1] / "docs" / "images" / "explorer.png"
OPENED = 4
"""Number of times that a page is opened; the fastest counts."""
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--picture", action="store_true", help="draw docs/images/explorer.png and nothing else")


def tasks(options: argparse.Namespace) -> Iterator[Task]:
    """Yield every size; ``--quick`` yields the smallest."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as tools:
        browser, path = tools.chromium.launch(executable_path=shutil.which("chromium")), Path(folder, "page.html")
        if options.picture:
            draw_picture(browser, path)
            return
        for n_samples in SIZES[:1] if options.quick else SIZES:
            yield {"part": "speed", "samples": n_samples}, lambda n=n_samples: measure(browser, n, path)
        browser.close()


def measure(browser: Any, n_samples: int, path: Path) -> Line:
    """Return the size of a page, the times to its first paint, and frames a second while panning."""
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
    """Open a page and wait until its samples are shown."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(path.as_uri())
    while None in page.evaluate(SHOWN):
        page.wait_for_timeout(50)
    return page


def draw_picture(browser: Any, path: Path) -> None:
    """Draw a wine beside a cluster that it is not in, for the documentation."""
    wines = load_wine(as_frame=True)
    model = GIT().fit(wines.data)
    model.explore(wines.data, path, columns={"cultivar": wines.target_names[wines.target]}, title="178 wines")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{path.as_uri()}#samples=3&cluster=1")
    page.wait_for_timeout(1000)
    page.screenshot(path=PICTURE)


def count_frames(browser: Any, page: Any) -> float:
    """Return the frames a second that reached the screen while panning."""
    browser.start_tracing(page=page, categories=["viz", "benchmark"])
    page.evaluate(PAN, PANNED)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    drawn = sum(event["name"] == "Graphics.Pipeline.DrawAndSwap" and event["ph"] == "b" for event in events)
    return round(drawn / PANNED, 1)


def speed_table() -> str:
    """Return size of a page, first paint, and frames a second."""
    rows = [
        [f"{line['samples']:,}", f"{line['local clusters']:,}", f"{line['page MB']:.2f}", str(line["first paint ms"]),
         str(line["first points ms"]), f"{line['frames a second']:.0f}", f"{line['share drawn']:.0%}",
         f"{line['frames a second, all drawn']:.0f}", f"{line['load']:.0f}"]
        for line in Store("explorer", FIELDS).lines.values()
    ]  # fmt: skip
    header = [
        "samples", "local clusters", "page, MB", "first paint, ms", "samples and graph shown, ms",
        "frames a second while panning", "samples drawn meanwhile", "frames a second with all drawn",
        "load of the machine",
    ]  # fmt: skip
    return markdown(header, rows)


TABLES = {"explorer_speed": speed_table}
