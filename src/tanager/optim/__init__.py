"""Optimisers, and tools of iterative learners: monitor, checkpoint, folds."""

from tanager.optim.adam import Adam, exponential_decay
from tanager.optim.checkpoint import (
    Checkpoint,
    checksum,
    generator_state,
    restore_generator,
)
from tanager.optim.conjugate_gradient import conjugate_gradient
from tanager.optim.cross_tuning import tuned_iterations
from tanager.optim.folds import some_of_each_class, stratified_folds
from tanager.optim.lbfgs import lbfgs
from tanager.optim.monitor import Monitor, warn_not_converged

__all__ = [
    "Adam",
    "Checkpoint",
    "Monitor",
    "checksum",
    "conjugate_gradient",
    "exponential_decay",
    "generator_state",
    "lbfgs",
    "restore_generator",
    "some_of_each_class",
    "stratified_folds",
    "tuned_iterations",
    "warn_not_converged",
]
