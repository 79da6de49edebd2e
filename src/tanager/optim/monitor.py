"""`Monitor`: trace of an iterative learner, and its convergence warnings."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from tanager.utils.progress import report


class Monitor:
    """Record the iterations of a learner, and report them.

    Parameters
    ----------
    who : object or str
        The learner.
    total : int or None, default=None
        Largest number of iterations, if it is known.
    unit : str, default="iteration"
        What they are called.
    goal : (str, float) or None, default=None
        A value that falls from record to record, and at which value the learner ends.

    Attributes
    ----------
    trace : list of dict
        One record per iteration. Every record has ``"iteration"``, counted from 1, and
        ``"seconds"`` since the monitor was created, unless the learner gives them.

    Examples
    --------
    >>> monitor = Monitor()
    >>> monitor.record(objective=3.0, gradient_norm=1.0)
    >>> monitor.record(objective=2.0, gradient_norm=0.1)
    >>> [(step["iteration"], step["objective"]) for step in monitor.trace]
    [(1, 3.0), (2, 2.0)]
    """

    def __init__(
        self,
        who: object = "",
        total: int | None = None,
        *,
        unit: str = "iteration",
        goal: tuple[str, float] | None = None,
    ) -> None:
        self.who = who
        self.total = total
        self.unit = unit
        self.goal = goal
        self.trace: list[dict[str, Any]] = []
        self._start = perf_counter()

    def record(self, **values: Any) -> None:
        """Append a record with these values; raises `StopFitError` as `report` does."""
        record = {"iteration": len(self.trace) + 1, **values}
        record.setdefault("seconds", perf_counter() - self._start)
        self.trace.append(record)
        report(
            self.who, record["iteration"], self.total, unit=self.unit, bound=True,
            goal=self.goal, note=record.get("step", ""), values=record,
        )  # fmt: skip


def warn_not_converged(
    learner: object, reason: str, remedy: str, *, stacklevel: int = 4
) -> None:
    """Issue a `ConvergenceWarning` that says how to make the learner converge.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_not_converged(Monitor(), "stopped after 5 steps", "raise max_iter")
    >>> print(caught[0].message)
    Monitor stopped after 5 steps; raise max_iter.
    """
    warnings.warn(
        f"{type(learner).__name__} {reason}; {remedy}.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
