"""Constraint-based structure learning by conditional independence tests."""

from tanager.structure.constraint_based.constraint_based_learner import ConstraintBased
from tanager.structure.constraint_based.edge_explanation import EdgeRecord, Explanation
from tanager.structure.constraint_based.independence_tests import (
    DataTest,
    IndependenceTest,
    Outcome,
)

__all__ = [
    "ConstraintBased",
    "DataTest",
    "EdgeRecord",
    "Explanation",
    "IndependenceTest",
    "Outcome",
]
