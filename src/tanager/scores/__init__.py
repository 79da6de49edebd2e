"""Discriminative and generative scores of structures."""

from tanager.scores.base import MoveScorer, Score
from tanager.scores.decomposable_scores import (
    BIC,
    K2,
    MDL,
    BDe,
    DecomposableScore,
    LogLikelihood,
)
from tanager.scores.discriminative_scores import (
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    CustomScore,
    DiscriminativeScore,
)
from tanager.scores.family_changes import Best, Moves
from tanager.scores.family_scores import FamilyScores
from tanager.scores.score_names import score_from

__all__ = [
    "BIC",
    "K2",
    "MDL",
    "BDe",
    "Best",
    "CappedMargin",
    "ClassificationRate",
    "ConditionalLogLikelihood",
    "CustomScore",
    "DecomposableScore",
    "DiscriminativeScore",
    "FamilyScores",
    "LogLikelihood",
    "MoveScorer",
    "Moves",
    "Score",
    "score_from",
]
