"""Optimisers, and tools of iterative learners: monitor, checkpoint."""

from tanager.optim.adam import Adam, exponential_decay
from tanager.optim.checkpoint_file import Checkpoint
from tanager.optim.conjugate_gradient import conjugate_gradient
from tanager.optim.cross_tuning import select_iterations
from tanager.optim.lbfgs import lbfgs
from tanager.optim.monitor import Monitor, warn_not_converged
from tanager.optim.newton_cg import NewtonObjective, newton_steps

__all__ = [
    "Adam",
    "Checkpoint",
    "Monitor",
    "NewtonObjective",
    "conjugate_gradient",
    "exponential_decay",
    "lbfgs",
    "newton_steps",
    "select_iterations",
    "warn_not_converged",
]
