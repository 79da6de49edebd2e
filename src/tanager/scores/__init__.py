"""Discriminative and generative scores of structures."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

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

if TYPE_CHECKING:
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
    from tanager.scores.family_scores import FamilyScores
    from tanager.scores.moves import Best, Moves
    from tanager.scores.score_names import score_from
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".base": ("MoveScorer", "Score"),
            ".decomposable_scores": (
                "BIC", "K2", "MDL", "BDe", "DecomposableScore", "LogLikelihood",
            ),
            ".discriminative_scores": (
                "CappedMargin", "ClassificationRate", "ConditionalLogLikelihood",
                "CustomScore", "DiscriminativeScore",
            ),
            ".moves": ("Best", "Moves"),
            ".family_scores": ("FamilyScores",),
            ".score_names": ("score_from",),
        },
    )  # fmt: skip
