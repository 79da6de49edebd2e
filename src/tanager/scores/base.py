"""`Score` of a structure, and `MoveScorer`, the score after changes of it."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError
from tanager.scores.family_scores import FamilyScores
from tanager.scores.moves import Best, Moves
from tanager.types import BoolArray


class MoveScorer(metaclass=ABCMeta):
    """The score of a structure that changes one family at a time.

    Attributes
    ----------
    value : float
        The score of the present structure.
    parents : list of tuple of int
        Feature parents of every feature.
    """

    value: float
    parents: list[tuple[int, ...]]

    @abstractmethod
    def best(self, moves: Moves, *, above: float) -> Best:
        """Find the best move with a score greater than `above`; ties go to the first.

        Moves add parents to the present ones of their child.
        """

    @abstractmethod
    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """Find the best group of moves made together; ties go to the first.

        A group holds numbers of `moves`, each of another child.
        """

    def best_superparent(
        self,
        moves: Moves,
        groups: Sequence[Sequence[int]],
        parents: Sequence[int],  # noqa: ARG002
    ) -> Best:
        """As `best_together`, where group g adds the parent ``parents[g]`` to many.

        The parents are distinct. A search calls this in every step, so a scorer may
        cache what it found for a parent.
        """
        return self.best_together(moves, groups)

    def release(self) -> None:  # noqa: B027 - most keep nothing
        """Release what is cached, at the end of a search."""

    @abstractmethod
    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; `score` is the score then, if known."""


class Score(BaseEstimator, metaclass=ABCMeta):
    """Base of scores of a structure; greater is better."""

    @property
    def order_matters(self) -> bool:
        """Whether the score depends on the order of the samples."""
        return False

    @abstractmethod
    def scorer(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        *,
        random_state: np.random.Generator | None = None,
    ) -> MoveScorer:
        """Make a scorer that starts from a structure.

        Parameters
        ----------
        data : CodedData
            Coded samples.
        parents : sequence of sequences of int
            Feature parents of every feature; the class is a parent of all.
        random_state : numpy Generator or None, default=None
            Source of randomness of learners that need one.
        """

    def families(
        self,
        data: CodedData,  # noqa: ARG002
        *,
        allowed: BoolArray | None = None,  # noqa: ARG002
    ) -> FamilyScores:
        """Make the scores of families, the class a variable as any other.

        Only for decomposable scores.

        Parameters
        ----------
        data : CodedData
            Coded samples.
        allowed : ndarray of bool, shape (n_variables, n_variables), or None
            ``allowed[i, j]``: i may become a parent of j; None allows all.
        """
        raise self.no_families_error()

    def no_families_error(self) -> CapabilityError:
        """Make the error for a score that does not decompose over families."""
        return CapabilityError(
            f"{self!r} scores whole classifiers, but this search needs a score that "
            "decomposes over families, such as BDe() or 'bic'."
        )
