"""scikit-learn's callbacks, where the installed version has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Leave the method as it is: there are no callbacks to tear down."""
        return method


STAGES = ("encode", "structure", "parameters")


class Progress:
    """Tells an estimator's callbacks about the stages of its fit.

    Parameters
    ----------
    estimator : object
        The estimator being fitted.
    X, y : object
        The training data, as the callbacks expect them.
    sample_weight : object
        Weights of the rows, or None.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._estimator = estimator
        self._given = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        start = getattr(estimator, "_init_callback_context", None)
        self._context = None if start is None else start(max_subtasks=len(STAGES))
        if self._context is not None:
            self._context.call_on_fit_task_begin(estimator=estimator, **self._given)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One of the stages, told of when it begins and ends."""
        if self._context is None:
            yield
            return
        inner = self._context.subcontext(task_name=name)
        inner.call_on_fit_task_begin(estimator=self._estimator, **self._given)
        yield
        inner.call_on_fit_task_end(estimator=self._estimator, **self._given)

    def end(self) -> None:
        """Tell that the estimator is fitted."""
        if self._context is not None:
            self._context.call_on_fit_task_end(
                estimator=self._estimator,
                reconstruction_attributes={},
                **self._given,
            )


@contextmanager
def stage(
    progress: Progress | None, name: str, seconds: dict[str, float]
) -> Iterator[None]:
    """One stage of a fit: told to the callbacks, if any, and timed."""
    started = perf_counter()
    with nullcontext() if progress is None else progress.stage(name):
        yield
    seconds[name] = perf_counter() - started
