"""`Monitor`: what an iterative learner reports, step by step."""

from __future__ import annotations

from time import perf_counter
from typing import Any


class Monitor:
    """Records of an iteration, one dictionary per step.

    Every record has ``"iteration"``, counted from 1 unless given, and ``"seconds"``
    since the monitor was made; the other values are the learner's own.

    Attributes
    ----------
    trace : list of dict
        The records so far, in order.

    Examples
    --------
    >>> monitor = Monitor()
    >>> monitor.record(objective=3.0, gradient_norm=1.0)
    >>> monitor.record(objective=2.0, gradient_norm=0.1)
    >>> [(step["iteration"], step["objective"]) for step in monitor.trace]
    [(1, 3.0), (2, 2.0)]
    """

    def __init__(self) -> None:
        self.trace: list[dict[str, Any]] = []
        self._start = perf_counter()

    def record(self, **values: Any) -> None:
        """Add one record; `values` are its entries."""
        first = {"iteration": len(self.trace) + 1}
        last = {"seconds": perf_counter() - self._start}
        self.trace.append({**first, **values, **({} if "seconds" in values else last)})
