"""Which stage a fit has reached, for ``verbose``, for scikit-learn's callbacks (its progress bar), and in seconds."""

import sys
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar, cast

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def _with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

Method = TypeVar("Method")


def with_callbacks(method: Method) -> Method:
    """scikit-learn's decorator, which has no types, with the type of the method."""
    return cast(Method, _with_callbacks(method))


class Progress:
    """Tells which stage has begun: a reader of ``verbose``, a function given as ``verbose``, scikit-learn's callbacks.

    ``context`` is scikit-learn's, of the whole fit.
    """

    def __init__(self, model: Any, context: Any = None) -> None:
        self.model, self.context, self.lock = model, context, Lock()
        self.start = self.since = perf_counter()
        self.stage = ""
        self.task: Any = None
        self.seconds: dict[str, float] = {}
        """Of every stage that has ended."""
        if context is not None:
            context.call_on_fit_task_begin(estimator=model)

    def begin(self, stage: str) -> None:
        """A stage begins, the one before ends."""
        with self.lock:
            self._end_stage()
            self.stage = stage
            self._tell(stage)
            if self.context is not None:
                self.task = self.context.subcontext(task_name=stage)
                self.task.call_on_fit_task_begin(estimator=self.model)

    def end(self) -> None:
        """The fit ends."""
        self._end_stage()
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model)
        self._tell("done")

    def _tell(self, stage: str) -> None:
        if callable(self.model.verbose):
            self.model.verbose(stage)
        elif self.model.verbose:
            passed = perf_counter() - self.start
            print(f"[{type(self.model).__name__}] {passed:8.2f} s  {stage}", file=sys.stderr)

    def _end_stage(self) -> None:
        now = perf_counter()
        if self.stage:
            self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.stage, self.since = "", now
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.model)
            self.task = None
