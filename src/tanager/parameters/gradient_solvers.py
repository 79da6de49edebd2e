"""Solvers of `ELR` and `APN`: an optimiser and the parameters that it moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tanager.errors import InputError, unknown_name
from tanager.model.layout import FamilyLayout
from tanager.optim import conjugate_gradient, lbfgs
from tanager.parameters.simplex_layout import SimplexLayout
from tanager.parameters.softmax_objective import Coordinates, SoftmaxLayout
from tanager.types import FloatArray

SOLVERS = ("cg", "lbfgs", "cg-theta")
"""Names of the solvers."""


@dataclass(frozen=True, eq=False)
class GradientSolver:
    """The parameters of CPTs and the optimiser that moves them.

    `minimise` takes an objective, a start, `max_iter`, `tol` and `callback`, as
    `conjugate_gradient` does, and returns the last vector and the number of steps.
    """

    coordinates: Coordinates
    minimise: Callable[..., tuple[FloatArray, int]]


def make_solver(name: str, layout: FamilyLayout) -> GradientSolver:
    """Return a solver by its name: "cg", "lbfgs" or "cg-theta"."""
    if name == "cg-theta":
        simplex = SimplexLayout(layout)
        confined = partial(conjugate_gradient, project=simplex.project)
        return GradientSolver(simplex, confined)
    optimiser = conjugate_gradient if name == "cg" else lbfgs
    return GradientSolver(SoftmaxLayout(layout), optimiser)


def check_solver(name: Any, hint: str = "") -> None:
    """Raise `InputError` for an unknown solver, with a hint after the message."""
    if not isinstance(name, str) or name not in SOLVERS:
        raise InputError(f"{unknown_name('solver', name, SOLVERS)}{hint}")
