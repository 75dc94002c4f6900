"""The stages of a fit: for ``verbose``, for scikit-learn's callbacks (its progress bar), and their seconds."""

import sys
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar, cast

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Support no callbacks."""

    def _with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "Counter", "Progress", "with_callbacks"]

Method = TypeVar("Method")


def with_callbacks(method: Method) -> Method:
    """Decorate a method by scikit-learn's decorator, which has no types."""
    return cast(Method, _with_callbacks(method))


class Progress:
    """Report the stages of a fit to ``verbose`` and to scikit-learn's callbacks.

    ``context`` is scikit-learn's callback context of the whole fit. ``seconds`` are those of every finished stage.
    """

    def __init__(self, model: Any, context: Any = None) -> None:
        self.model, self.context, self.lock = model, context, Lock()
        self.start = self.stage_start = perf_counter()
        self.stage = ""
        self.task: Any = None
        self.seconds: dict[str, float] = {}
        if context is not None:
            context.call_on_fit_task_begin(estimator=model)

    def begin(self, stage: str) -> None:
        """End the current stage and begin another."""
        with self.lock:
            self._end_stage()
            self.stage = stage
            self._report(stage)
            if self.context is not None:
                self.task = self.context.subcontext(task_name=stage)
                self.task.call_on_fit_task_begin(estimator=self.model)

    def end(self) -> None:
        """End the fit."""
        self._end_stage()
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model)
        self._report("done")

    def _report(self, stage: str) -> None:
        if callable(self.model.verbose):
            self.model.verbose(stage)
        elif self.model.verbose:
            seconds = perf_counter() - self.start
            print(f"[{type(self.model).__name__}] {seconds:8.2f} s  {stage}", file=sys.stderr)

    def _end_stage(self) -> None:
        now = perf_counter()
        if self.stage:
            self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.stage_start
        self.stage, self.stage_start = "", now
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.model)
            self.task = None


class Counter:
    """Report repeated fits to ``verbose``: one line that is written again, or a call with a text."""

    def __init__(self, model: Any, name: str) -> None:
        self.model, self.name = model, name

    def __call__(self, done: int, total: int) -> None:
        """Report that some of the fits are done."""
        text = f"{self.name}: {done} of {total} fits"
        if callable(self.model.verbose):
            self.model.verbose(text)
        elif self.model.verbose:
            end = "\n" if done == total else "\r"
            print(f"[{type(self.model).__name__}] {text}", end=end, file=sys.stderr, flush=True)
