"""Structure learners: from data to the parents of every variable."""

from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.chow_liu import ChowLiu
from tanager.structure.constraint_based import ConstraintBased
from tanager.structure.constraints import Constraints
from tanager.structure.fixed import Fixed
from tanager.structure.greedy import GreedyKTree
from tanager.structure.gumbel import GumbelTree
from tanager.structure.hill_climbing import HillClimbing
from tanager.structure.kdb import KDB
from tanager.structure.naive_bayes import NaiveBayes
from tanager.structure.order_based import OrderBased
from tanager.structure.random_tree import RandomTree
from tanager.structure.residual import ResidualTree
from tanager.structure.superparent import SuperParent

__all__ = [
    "KDB",
    "ChowLiu",
    "ConstraintBased",
    "Constraints",
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
