"""Optimisers, and tools of iterative learners: monitor, checkpoint, folds."""

from tanager.optim.adam import Adam, exponential_decay
from tanager.optim.checkpoint import (
    Checkpoint,
    checksum,
    generator_state,
    restore_generator,
)
from tanager.optim.conjugate_gradient import conjugate_gradient
from tanager.optim.cross_tuning import select_iterations
from tanager.optim.folds import hold_out, stratified_folds, stratified_subsample
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
    "hold_out",
    "lbfgs",
    "restore_generator",
    "select_iterations",
    "stratified_folds",
    "stratified_subsample",
    "warn_not_converged",
]
