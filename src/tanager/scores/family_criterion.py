"""`Criterion`: what a family scores, given its counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from tanager.types import FloatArray

SCORE_BITS = 40
"""Binary digits of a mean difference per row that count."""


@dataclass(frozen=True)
class Criterion:
    """How counts of a variable and its parents become a score.

    Parameters
    ----------
    total : float
        Weight of all rows.
    penalty : float, default=0.0
        Cost of a free parameter.
    sample_size : float, default=0.0
        If above 0, the score is the logarithm of the Dirichlet marginal likelihood with
        this much prior weight, spread evenly over the table.
    cell_weight : float, default=0.0
        If above 0, the same with this much prior weight on every cell.
    n_described : int, default=0
        If above 0, the number of variables among which parents are named, at a cost.
    """

    total: float
    penalty: float = 0.0
    sample_size: float = 0.0
    cell_weight: float = 0.0
    n_described: int = 0

    def graph_cost(self, n_parents: int) -> float:
        """Nats to tell how many parents a variable has, and which.

        Examples
        --------
        >>> cost = Criterion(100.0, n_described=5).graph_cost(2)
        >>> round(float(np.exp(cost)))  # 5 numbers of parents, 10 pairs
        50
        """
        n = self.n_described
        if n == 0:
            return 0.0
        ways = lgamma(n + 1) - lgamma(n_parents + 1) - lgamma(n - n_parents + 1)
        return log(n) + ways

    def rounded(self, scores: FloatArray) -> FloatArray:
        """Scores without the digits that the order of summation decides.

        Equal ones are equal then, and sums and differences of them are exact.
        """
        bits = SCORE_BITS - np.frexp(self.total)[1]
        out: FloatArray = np.ldexp(np.rint(np.ldexp(scores, bits)), -bits)
        return out
