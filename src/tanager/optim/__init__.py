"""Optimisers over a flat vector, what they report to, and files to go on from."""

from tanager.optim.adam import Adam, decayed
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
from tanager.optim.monitor import Monitor

__all__ = [
    "Adam",
    "Checkpoint",
    "Monitor",
    "checksum",
    "conjugate_gradient",
    "decayed",
    "generator_state",
    "lbfgs",
    "restore_generator",
    "some_of_each_class",
    "stratified_folds",
    "tuned_iterations",
]
