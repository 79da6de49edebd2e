"""Explanations of fitted models as data: contributions, counterfactuals, importance."""

from tanager.explain.explanation import Explanation, explain_samples

__all__ = ["Explanation", "explain_samples"]
