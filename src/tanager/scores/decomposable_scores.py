"""Scores that decompose over families: log likelihood, BIC, MDL, BDe and K2."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import log

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.scores.base import MoveScorer, Score
from tanager.scores.family_scores import Criterion, FamilyData, FamilyScores
from tanager.scores.family_tables import count_sets, set_places, set_widths
from tanager.scores.incremental_scorer import BLOCK_CELLS
from tanager.scores.moves import Best, Moves
from tanager.scores.partitioned_family_scores import (
    PartitionedFamilyScores,
    WholeFamilies,
)
from tanager.scores.partitioned_scorer import PartitionedRows
from tanager.scores.scoring_data import ScoringData
from tanager.scores.scoring_part import count_blocks
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.threads import map_threads
from tanager.utils.validation import check_number


class FamilyScorer(MoveScorer):
    """Sum over the features of a score of their families.

    A missing parent is a state of its own; samples in which the child is missing do not
    count for it.
    """

    def __init__(
        self, rows: ScoringData, parents: Sequence[Sequence[int]], criterion: Criterion
    ) -> None:
        self.rows = rows
        self.criterion = criterion
        self.parents = [tuple(of) for of in parents]
        self._parts = [
            float(self._scores(child, np.array([of], dtype=np.int64))[0])
            for child, of in enumerate(self.parents)
        ]
        self.value = sum(self._parts)

    def best(self, moves: Moves, *, above: float) -> Best:
        """Find the best move above a score; see `MoveScorer`."""
        if not len(moves):
            return Best(None, -np.inf, 0, 0)
        scores = self.value + self._differences(moves)
        index = int(scores.argmax())
        score = float(scores[index])
        return self._found(index if score > above else None, score, len(moves))

    def best_together(self, moves: Moves, groups: Sequence[Sequence[int]]) -> Best:
        """Find the best group of moves; see `MoveScorer`."""
        differences = self._differences(moves)
        scores = [self.value + differences[list(group)].sum() for group in groups]
        index = int(np.argmax(scores))
        return self._found(index, float(scores[index]), len(groups))

    def apply(self, child: int, parents: Sequence[int], score: float | None) -> None:
        """Give a feature new parents; see `MoveScorer`."""
        self.parents[child] = tuple(parents)
        sets = np.array([parents], dtype=np.int64)
        self._parts[child] = float(self._scores(child, sets)[0])
        self.value = sum(self._parts) if score is None else score

    def _found(self, index: int | None, score: float, candidates: int) -> Best:
        return Best(index, score, candidates, candidates * len(self.rows.labels))

    def _differences(self, moves: Moves) -> FloatArray:
        """Gain of every move, without digits that the order of summation decides."""
        out = np.empty(len(moves))

        def fill(group: tuple[int, IntArray]) -> None:
            child, numbers = group
            size = int(moves.sizes[numbers[0]])
            sets = np.ascontiguousarray(moves.parents[numbers, :size])
            out[numbers] = self._scores(child, sets) - self._parts[child]

        map_threads(fill, moves.groups(), self.rows.n_jobs)
        return self.criterion.round(out)

    def _scores(self, child: int, sets: IntArray) -> FloatArray:
        """Score a feature given every set of parents."""
        from tanager.scores import _family_table_kernels

        rows, criterion = self.rows, self.criterion
        states = int(rows.n_states[child])
        cells = set_widths(rows, sets) * (states * rows.n_classes)
        borders = np.flatnonzero(np.diff(np.cumsum(cells) // BLOCK_CELLS)) + 1
        scores = []
        for some in np.split(sets, borders):
            counts, offsets, starts = self._count_sets(
                child, np.ascontiguousarray(some)
            )
            out = np.empty(len(some))
            _family_table_kernels.family_scores(
                counts, offsets, starts, states, rows.n_classes, criterion.penalty,
                criterion.sample_size, criterion.cell_weight, out,
            )  # fmt: skip
            scores.append(out)
        # The class is a parent, too.
        return np.concatenate(scores) - criterion.graph_cost(sets.shape[1] + 1)

    def _count_sets(
        self, child: int, sets: IntArray
    ) -> tuple[FloatArray, IntArray, IntArray]:
        return count_sets(self.rows, child, sets)


class PartitionedFamilyScorer(FamilyScorer):
    """The same for samples in parts."""

    def __init__(
        self,
        parts: PartitionedRows,
        parents: Sequence[Sequence[int]],
        criterion: Criterion,
    ) -> None:
        self._placed = parts.placed
        super().__init__(parts.rows, parents, criterion)

    def _count_sets(
        self, child: int, sets: IntArray
    ) -> tuple[FloatArray, IntArray, IntArray]:
        (counts,) = self._placed.sum(count_blocks, [(child, sets)])
        return counts, *set_places(self.rows, child, sets)


class DecomposableScore(Score):
    """Base of scores that are a sum over families.

    They suit searches in which the class is a parent of every feature, and searches in
    which it is a variable as any other.
    """

    @abstractmethod
    def criterion(self, total: float, n_variables: int) -> Criterion:
        """Return the score of a family, given its counts.

        Parameters
        ----------
        total : float
            Weight of all samples.
        n_variables : int
            Number of variables, the class included.
        """

    def scorer(
        self,
        data: CodedData,
        parents: Sequence[Sequence[int]],
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> MoveScorer:
        """Make a scorer; see `Score.scorer`."""
        if data.in_parts:
            parts = PartitionedRows(data, None)
            criterion = self.criterion(parts.total, len(data.schema))
            return PartitionedFamilyScorer(parts, parents, criterion)
        rows = ScoringData.of(data, None)
        total = float(rows.score_weights.sum())
        return FamilyScorer(rows, parents, self.criterion(total, len(data.schema)))

    def families(
        self, data: CodedData, *, allowed: BoolArray | None = None
    ) -> FamilyScores:
        """Make the scores of families; see `Score.families`."""
        if data.in_parts:
            whole = WholeFamilies(data)
            criterion = self.criterion(whole.total, len(data.schema))
            return PartitionedFamilyScores(whole, criterion, allowed)
        rows = FamilyData.of(data)
        criterion = self.criterion(rows.total, len(data.schema))
        return FamilyScores(rows, criterion, allowed)


class LogLikelihood(DecomposableScore):
    """Maximum log likelihood of the features given the class.

    Of all variables, where the class is a variable as any other.

    Examples
    --------
    >>> from tanager.structure import GreedyKTree
    >>> GreedyKTree(score=LogLikelihood())
    GreedyKTree(score=LogLikelihood())
    """

    def criterion(self, total: float, n_variables: int) -> Criterion:  # noqa: ARG002
        """See `DecomposableScore.criterion`."""
        return Criterion(total)


class BIC(DecomposableScore):
    """Log likelihood minus half the log number of samples per free parameter (BIC).

    Notes
    -----
    Schwarz (1978), Estimating the dimension of a model; also the MDL score of Friedman,
    Geiger, Goldszmidt (1997), Bayesian network classifiers.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> from tanager.structure import GreedyKTree
    >>> X = [["a", "u"], ["b", "v"]] * 20
    >>> model = BayesNetClassifier(structure=GreedyKTree(score=BIC()))
    >>> model.fit(X, [0, 0, 1, 1] * 10).network_.edges[-1]
    ('x0', 'x1')
    """

    def criterion(self, total: float, n_variables: int) -> Criterion:  # noqa: ARG002
        """See `DecomposableScore.criterion`."""
        return Criterion(total, penalty=0.5 * log(max(total, 1.0)))


class MDL(DecomposableScore):
    """Minus the description length of the network and the data, in nats (MDL).

    Notes
    -----
    `BIC` minus the length of the graph: a variable with k parents among n variables
    costs log n, for the number k, and log C(n, k), for which they are (Friedman and
    Goldszmidt 1996, Learning Bayesian networks with local structure; Lam and Bacchus
    1994 take k log n instead). Greater is better.

    Examples
    --------
    >>> from tanager.structure import HillClimbing
    >>> HillClimbing(score=MDL())
    HillClimbing(score=MDL())
    """

    def criterion(self, total: float, n_variables: int) -> Criterion:
        """See `DecomposableScore.criterion`."""
        penalty = 0.5 * log(max(total, 1.0))
        return Criterion(total, penalty=penalty, n_described=n_variables)


class BDe(DecomposableScore):
    """Logarithm of the marginal likelihood under a uniform Dirichlet prior (BDeu).

    Parameters
    ----------
    sample_size : float, default=1.0
        Weight of the prior, in samples.

    Notes
    -----
    Heckerman, Geiger, Chickering (1995), Learning Bayesian networks: the combination of
    knowledge and statistical data. Markov equivalent structures have the same score on
    complete data.

    Examples
    --------
    >>> BDe(sample_size=10.0)
    BDe(sample_size=10.0)
    """

    def __init__(self, *, sample_size: float = 1.0) -> None:
        self.sample_size = sample_size

    def criterion(self, total: float, n_variables: int) -> Criterion:  # noqa: ARG002
        """See `DecomposableScore.criterion`."""
        check_number("sample_size", self.sample_size, above=0)
        return Criterion(total, sample_size=float(self.sample_size))


class K2(DecomposableScore):
    """Logarithm of the marginal likelihood under a prior of one sample per cell (K2).

    Parameters
    ----------
    weight : float, default=1.0
        Weight of the prior in every cell, in samples. With 0.5 it is the score that
        WEKA calls Bayes.

    Notes
    -----
    Cooper, Herskovits (1992), A Bayesian method for the induction of probabilistic
    networks from data. The prior weighs more for larger CPTs: unlike `BDe`, this score
    differs between both directions of a single arc.

    Examples
    --------
    >>> from tanager.structure import HillClimbing
    >>> HillClimbing(score=K2())
    HillClimbing(score=K2())
    """

    def __init__(self, *, weight: float = 1.0) -> None:
        self.weight = weight

    def criterion(self, total: float, n_variables: int) -> Criterion:  # noqa: ARG002
        """See `DecomposableScore.criterion`."""
        check_number("weight", self.weight, above=0)
        return Criterion(total, cell_weight=float(self.weight))
