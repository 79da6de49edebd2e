"""Scores of structures: how well they classify, or how likely they make the rows."""

from tanager.scores.base import MoveScorer, Score
from tanager.scores.by_name import score_from
from tanager.scores.decomposable import BIC, BDe, LogLikelihood
from tanager.scores.discriminative import (
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    OwnScore,
    RowScore,
)
from tanager.scores.moves import Best, Moves

__all__ = [
    "BIC",
    "BDe",
    "Best",
    "CappedMargin",
    "ClassificationRate",
    "ConditionalLogLikelihood",
    "LogLikelihood",
    "MoveScorer",
    "Moves",
    "OwnScore",
    "RowScore",
    "Score",
    "score_from",
]
