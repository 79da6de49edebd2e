"""Explanations of fitted models as data: contributions, counterfactuals, importance."""

from tanager.explain.counterfactual import Change, Counterfactual, find_counterfactual
from tanager.explain.explanation import Explanation, explain_samples

__all__ = [
    "Change",
    "Counterfactual",
    "Explanation",
    "explain_samples",
    "find_counterfactual",
]
