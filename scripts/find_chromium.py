"""The browser in which the explorer's page is tested: the ``chromium`` on the path, or else the one of playwright.

``python scripts/find_chromium.py`` prints the command that installs it if it is missing.
"""

import os
import shutil
import sys
from importlib.util import find_spec


def find_chromium() -> str | None:
    """Path of a Chromium that playwright can drive from this interpreter, or None."""
    if find_spec("playwright") is None:
        return None
    if on_path := shutil.which("chromium"):
        return on_path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools:
        own = tools.chromium.executable_path
    return own if os.path.exists(own) else None


def install_line() -> str:
    """The line for a shell, in the root of a checkout, that installs what is missing; it needs no root."""
    python = os.path.relpath(sys.executable)
    python = python if not python.startswith("..") else sys.executable
    return f"{python} -m pip install --editable '.[browser]' && {python} -m playwright install chromium"


if __name__ == "__main__":
    if find_chromium() is None:
        print(f"No Chromium: tests of the explorer's page are skipped. To run them: {install_line()}")
