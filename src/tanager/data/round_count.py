"""`RoundCount`: how many passes over the samples a learner makes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RoundCount:
    """Rounds of a learner: passes over the samples, or messages to all partitions.

    Parameters
    ----------
    once : int, default=0
        Rounds that do not depend on the data, at most.
    repeated : tuple of (int, str), default=()
        Rounds for every unit of work, at most, and the unit.

    Examples
    --------
    >>> print(RoundCount(6, ((2, "step"), (1, "evaluation"))))
    6, 2 for every step, 1 for every evaluation
    >>> print(RoundCount(), RoundCount(1))
    none 1
    """

    once: int = 0
    repeated: tuple[tuple[int, str], ...] = ()

    def __str__(self) -> str:
        parts = [str(self.once)] if self.once else []
        parts += [f"{number} for every {unit}" for number, unit in self.repeated]
        return ", ".join(parts) or "none"
