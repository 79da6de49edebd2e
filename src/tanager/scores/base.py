"""`Score`: how good a structure is, and `MoveScorer`: what changing it would bring."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.base import BaseEstimator

from tanager.data.coded_data import CodedData
from tanager.errors import CapabilityError
from tanager.scores.family_scores import FamilyScores, go_on
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

    pause: Callable[[], None] = staticmethod(go_on)
    """Called between portions of work; a search puts in what ends it by raising."""

    @abstractmethod
    def best(self, moves: Moves, *, above: float) -> Best:
        """The best move with a score greater than `above`; of equal ones the first.

        Moves add parents to those their child has.
        """

    @abstractmethod
    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """The best group of moves made together; of equal ones the first.

        Every group holds numbers of `moves`, each of another child.
        """

    def best_superparent(
        self,
        moves: Moves,
        groups: Sequence[Sequence[int]],
        parents: Sequence[int],  # noqa: ARG002
    ) -> Best:
        """As `best_together`, where group g adds the parent ``parents[g]`` to many.

        No two groups add the same. It is asked for again and again while moves are
        made, so a scorer may keep what it found for a parent.
        """
        return self.best_together(moves, groups)

    def release(self) -> None:  # noqa: B027 - most keep nothing
        """Give up what is kept for further moves: the search is over."""

    @abstractmethod
    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; `score`, if known, is the score then."""


class Score(BaseEstimator, metaclass=ABCMeta):
    """Base of scores of a structure; greater is better."""

    @property
    def order_matters(self) -> bool:
        """Whether the score depends on the order of the rows."""
        return False

    @abstractmethod
    def scorer(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        *,
        random_state: np.random.Generator | None = None,
    ) -> MoveScorer:
        """Begin with a structure.

        Parameters
        ----------
        data : CodedData
            Coded rows.
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
        """Scores of any variable under any parents, the class among them.

        Only of scores that are a sum over families.

        Parameters
        ----------
        data : CodedData
            Coded rows.
        allowed : ndarray of bool, shape (n_variables, n_variables), or None
            ``allowed[i, j]``: i may be asked for as a further parent of j. None means
            that all may.
        """
        raise self.no_families_error()

    def no_families_error(self) -> CapabilityError:
        """The error for a score that is no sum over families, where one is needed."""
        return CapabilityError(
            f"{self!r} scores whole classifiers; where the class is a variable like "
            "any other, a score is needed that is a sum over families, such as BDe() "
            "or 'bic'."
        )
