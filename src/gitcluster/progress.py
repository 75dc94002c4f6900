"""Which stage a fit has reached, for scikit-learn's callbacks (its progress bar) and for ``verbose``."""

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
    """Tells callbacks and the reader of ``verbose`` which stage has begun."""

    def __init__(self, model: Any, n_stages: int) -> None:
        self.model, self.lock, self.start = model, Lock(), perf_counter()
        self.stage: Any = None
        self.context = None
        if hasattr(model, "_init_callback_context"):
            self.context = model._init_callback_context(max_subtasks=n_stages)
            self.context.call_on_fit_task_begin(estimator=model)

    def begin(self, stage: str) -> None:
        """A stage begins, the one before ends."""
        with self.lock:
            self._end_stage()
            if callable(self.model.verbose):
                self.model.verbose(stage)
            elif self.model.verbose:
                print(f"[GIT] {perf_counter() - self.start:8.2f} s  {stage}", file=sys.stderr)
            if self.context is not None:
                self.stage = self.context.subcontext(task_name=stage)
                self.stage.call_on_fit_task_begin(estimator=self.model)

    def end(self) -> None:
        """The fit ends."""
        self._end_stage()
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model)
        if self.model.verbose and not callable(self.model.verbose):
            print(f"[GIT] {perf_counter() - self.start:8.2f} s  done", file=sys.stderr)

    def _end_stage(self) -> None:
        if self.stage is not None:
            self.stage.call_on_fit_task_end(estimator=self.model)
            self.stage = None
