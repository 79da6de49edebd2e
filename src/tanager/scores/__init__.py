"""Scores of structures: how well they classify, or how likely they make the rows."""

from tanager.scores.base import MoveScorer, Score
from tanager.scores.by_name import score_from
from tanager.scores.decomposable import (
    BIC,
    K2,
    MDL,
    BDe,
    FamilyScore,
    LogLikelihood,
)
from tanager.scores.discriminative import (
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    OwnScore,
    RowScore,
)
from tanager.scores.families import FamilyScores
from tanager.scores.moves import Best, Moves

__all__ = [
    "BIC",
    "K2",
    "MDL",
    "BDe",
    "Best",
    "CappedMargin",
    "ClassificationRate",
    "ConditionalLogLikelihood",
    "FamilyScore",
    "FamilyScores",
    "LogLikelihood",
    "MoveScorer",
    "Moves",
    "OwnScore",
    "RowScore",
    "Score",
    "score_from",
]
