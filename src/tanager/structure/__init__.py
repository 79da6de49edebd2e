"""Structure learners: from data to the parents of every variable."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "KDB",
    "ChowLiu",
    "ConstraintBased",
    "Constraints",
    "FactorSearch",
    "Fixed",
    "GreedyKTree",
    "GumbelTree",
    "HillClimbing",
    "NaiveBayes",
    "OrderBased",
    "RandomTree",
    "ResidualTree",
    "StructureLearner",
    "StructureResult",
    "SuperParent",
]

if TYPE_CHECKING:
    from tanager.structure.base import StructureLearner, StructureResult
    from tanager.structure.constraint_based.constraint_based_learner import (
        ConstraintBased,
    )
    from tanager.structure.constraints import Constraints
    from tanager.structure.factor_search import FactorSearch
    from tanager.structure.fixed import Fixed
    from tanager.structure.gumbel.gumbel_tree import GumbelTree
    from tanager.structure.orders.kdb import KDB
    from tanager.structure.residual.residual_tree import ResidualTree
    from tanager.structure.search.greedy_k_tree import GreedyKTree
    from tanager.structure.search.hill_climbing import HillClimbing
    from tanager.structure.search.ordered_parents import OrderBased
    from tanager.structure.search.superparent import SuperParent
    from tanager.structure.trees.chow_liu import ChowLiu
    from tanager.structure.trees.naive_bayes import NaiveBayes
    from tanager.structure.trees.random_tree import RandomTree
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".base": ("StructureLearner", "StructureResult"),
            ".constraint_based.constraint_based_learner": ("ConstraintBased",),
            ".constraints": ("Constraints",),
            ".factor_search": ("FactorSearch",),
            ".fixed": ("Fixed",),
            ".gumbel.gumbel_tree": ("GumbelTree",),
            ".orders.kdb": ("KDB",),
            ".residual.residual_tree": ("ResidualTree",),
            ".search.greedy_k_tree": ("GreedyKTree",),
            ".search.hill_climbing": ("HillClimbing",),
            ".search.ordered_parents": ("OrderBased",),
            ".search.superparent": ("SuperParent",),
            ".trees.chow_liu": ("ChowLiu",),
            ".trees.naive_bayes": ("NaiveBayes",),
            ".trees.random_tree": ("RandomTree",),
        },
    )  # fmt: skip
