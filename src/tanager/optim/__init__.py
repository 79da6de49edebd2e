"""Optimisers over a flat vector, and the monitor that iterations report to."""

from tanager.optim.adam import Adam, decayed
from tanager.optim.conjugate_gradient import conjugate_gradient
from tanager.optim.cross_tuning import tuned_iterations
from tanager.optim.folds import stratified_folds
from tanager.optim.lbfgs import lbfgs
from tanager.optim.monitor import Monitor

__all__ = [
    "Adam",
    "Monitor",
    "conjugate_gradient",
    "decayed",
    "lbfgs",
    "stratified_folds",
    "tuned_iterations",
]
