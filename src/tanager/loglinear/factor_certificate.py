"""Fits of factors to a certified bound of their objective."""

from __future__ import annotations

from dataclasses import dataclass

from tanager.loglinear.certified_objective import FactorObjective
from tanager.optim import newton_steps
from tanager.types import FloatArray
from tanager.utils.progress import keep_best, report

MAX_PASSES = 2000
"""Passes over the samples after which a search ends in any case, about."""

SPARE = 0.1
"""Fraction of the wanted optimality gap at which conjugate gradient ends."""


@dataclass(frozen=True)
class Certificate:
    """How far the tables of a fit are from the optimum.

    Parameters
    ----------
    objective : float
        The penalised objective f.
    gap : float
        The optimality gap: an upper bound on how far f is above its minimum.
    passes : int
        Number of passes over the samples: gradients, and products with the Hessian.
    end : {"converged", "max_passes", "stopped", "rounding"}
        What ended the search; "stopped": the time was up, or Ctrl-C was pressed.
    """

    objective: float
    gap: float
    passes: int
    end: str

    @property
    def relative_gap(self) -> float:
        """The optimality gap as a fraction of the objective."""
        return self.gap / self.objective if self.objective > 0.0 else 0.0


def minimise_certified(
    objective: FactorObjective,
    start: FloatArray,
    *,
    tol: float,
    max_passes: int,
) -> tuple[FloatArray, Certificate]:
    """Minimise until the optimality gap is at most `tol` times the objective.

    `start` has shape (n_cells, n_columns). About `max_passes` passes over the samples
    are made. Returns the tables with the certificate of these tables.

    Notes
    -----
    `newton_steps` has the Hessian M of the penalty as preconditioner. Steps on one
    table after the other, or a preconditioner of the curvature of every table alone,
    are slow where tables can do the work of others: a table over three features that of
    its pairs. Such changes leave the posteriors as they are, so that they differ in M
    only, and relative to M all of them have eigenvalue 1. Other eigenvalues are as many
    as the effective parameters. With the gradient g, ``g' M^-1 g / 2`` is the gap.
    """

    def is_enough(value: float, _: FloatArray, norm: float) -> bool:
        return 0.5 * norm <= SPARE * tol * value

    points = newton_steps(objective, start, is_enough, max_passes=max_passes)
    point = next(points)
    gap = objective.gap(point.gradient)
    end = "stopped"
    who = "FactorSearch"

    def done() -> str:
        return f"{point.passes} passes, up to {gap:.2g} above its minimum"

    with keep_best(who, done):
        while gap > tol * point.value:
            report(
                who, point.passes, max_passes, unit="pass", bound=True,
                goal=("gap", tol * point.value),
                values={"objective": point.value, "gap": gap},
            )  # fmt: skip
            if point.passes >= max_passes:
                end = "max_passes"
                break
            following = next(points, None)
            if following is None:
                end = "rounding"
                break
            point, gap = following, objective.gap(following.gradient)
        else:
            end = "converged"
    return point.w, Certificate(point.value, gap, point.passes, end)
