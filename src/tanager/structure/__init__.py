"""Structure learners: from data to the parents of every variable."""

from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.chow_liu import ChowLiu
from tanager.structure.constraints import Constraints
from tanager.structure.fixed import Fixed
from tanager.structure.kdb import KDB
from tanager.structure.naive_bayes import NaiveBayes
from tanager.structure.random_tree import RandomTree

__all__ = [
    "KDB",
    "ChowLiu",
    "Constraints",
    "Fixed",
    "NaiveBayes",
    "RandomTree",
    "StructureLearner",
    "StructureResult",
]
