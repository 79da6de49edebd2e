"""Scores by short name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from sklearn.base import clone

from tanager.errors import CapabilityError, unknown_name
from tanager.scores.base import Score
from tanager.scores.decomposable_scores import BIC, K2, MDL, BDe, LogLikelihood
from tanager.scores.discriminative_scores import (
    CappedMargin,
    ClassificationRate,
    ConditionalLogLikelihood,
    CustomScore,
)

SCORES: Mapping[str, Callable[[], Score]] = {
    "cr": ClassificationRate,
    "cl": ConditionalLogLikelihood,
    "margin": CappedMargin,
    "crcl": lambda: ClassificationRate(parameters="cl"),
    "crrcl": lambda: ClassificationRate(parameters="rcl"),
    "ll": LogLikelihood,
    "bic": BIC,
    "mdl": MDL,
    "bde": BDe,
    "bdeu": BDe,
    "k2": K2,
}


def score_from(part: object) -> Score:
    """Make a score from a short name, a score or a function.

    Parameters
    ----------
    part : str, Score or callable
        A function is called with log joint, labels and weights.

    Examples
    --------
    >>> score_from("cr")
    ClassificationRate()
    """
    if isinstance(part, str):
        if part.lower() in SCORES:
            return SCORES[part.lower()]()
        raise unknown_name("score", part, SCORES)
    if isinstance(part, Score):
        return cast("Score", clone(part))
    if callable(part) and not isinstance(part, type):
        return CustomScore(part)
    raise CapabilityError(
        f"score={part!r} is not a score; give a name such as 'cr', a Score such as "
        "ClassificationRate(folds=5), or a function of log joint, labels and weights."
    )
