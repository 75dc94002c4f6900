"""Kill workers on purpose: the first calls of a function end the processes that they run in."""

import importlib
import os
import signal
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin


class Deadly(WorkerPlugin):
    """Make ``function``, a "module.name" in ``gitcluster.distributed``, deadly for its first ``deaths`` calls."""

    name = "deadly"

    def __init__(self, function: str, folder: Path, deaths: int = 1) -> None:
        self.module, self.function = function.split(".")
        self.folder, self.deaths = folder, deaths

    def setup(self, worker: Any) -> None:
        module = importlib.import_module(f"gitcluster.distributed.{self.module}")
        self.harmless = getattr(module, self.function)
        setattr(module, self.function, self.call)

    def teardown(self, worker: Any) -> None:
        setattr(importlib.import_module(f"gitcluster.distributed.{self.module}"), self.function, self.harmless)

    def call(self, *arguments: Any) -> Any:
        for death in range(self.deaths):
            try:
                (self.folder / f"{death}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return self.harmless(*arguments)
