"""`FamilyScores`: scores of variables given parents, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log, prod
from threading import Lock

import numpy as np
import numpy.typing as npt

from tanager.data.coded_data import CodedData, columns_of
from tanager.data.counts import group_starts
from tanager.errors import InputError, TableSizeError
from tanager.model.layout import MAX_CELLS
from tanager.scores.scoring_data import exact_weights
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.progress import check_stop
from tanager.utils.threads import map_threads, n_threads

Family = tuple[int, tuple[int, ...]]

GROUP_WIDTH = 64
"""Most joint states of the further parents that are counted at once."""

GROUP_CELLS = 8192
"""Most cells of a table for that: more would not fit into the cache."""

LARGE_CELLS = 1_000_000
"""Cells above which only one table exists at a time."""

SCORE_BITS = 40
"""Binary digits of a mean difference per sample that count."""


@dataclass(frozen=True)
class Criterion:
    """The score of a family, given its counts, for data of weight `total`.

    `penalty` is the cost of a free parameter. If `sample_size` is above 0, the score is
    the log marginal likelihood under a Dirichlet prior of this weight, spread evenly
    over the CPT; `cell_weight` above 0 puts this prior weight on every cell. If
    `n_described` is above 0, naming the parents among this many variables costs extra.
    """

    total: float
    penalty: float = 0.0
    sample_size: float = 0.0
    cell_weight: float = 0.0
    n_described: int = 0

    def graph_cost(self, n_parents: int) -> float:
        """Nats to encode how many parents a variable has, and which."""
        n = self.n_described
        if n == 0:
            return 0.0
        ways = lgamma(n + 1) - lgamma(n_parents + 1) - lgamma(n - n_parents + 1)
        return log(n) + ways

    def round(self, scores: FloatArray) -> FloatArray:
        """Drop the digits that the order of summation decides.

        Ties are then exact, and so are sums and differences.
        """
        bits = SCORE_BITS - np.frexp(self.total)[1]
        out: FloatArray = np.ldexp(np.rint(np.ldexp(scores, bits)), -bits)
        return out


@dataclass(frozen=True, eq=False)
class FamilyData:
    """The samples with the class as one more column.

    `codes` has the shape (n_variables, n_rows), every variable contiguous, the class
    last. Sums of any of the `weights`, shape (n_rows,), or (0,) for ones, are exact.
    """

    codes: npt.NDArray[np.unsignedinteger]
    weights: FloatArray
    n_states: IntArray
    names: tuple[str, ...]
    n_jobs: int | None

    @classmethod
    def of(cls, data: CodedData, total: float | None = None) -> FamilyData:
        """Gather the samples of positive weight.

        `total` is the weight of all parts, if the data are one of several.
        """
        states = data.schema.n_states.astype(np.int64)
        codes, weights = columns_of(data)
        if len(weights):
            weights = exact_weights(weights, total)
            seen = weights > 0
            codes, weights = np.ascontiguousarray(codes[:, seen]), weights[seen]
        if not codes.shape[1] and total is None:
            raise no_samples_error()
        return cls(codes, weights, states, tuple(data.schema.names), data.n_jobs)

    @cached_property
    def total(self) -> float:
        """Weight of all samples."""
        return float(self.weights.sum() if len(self.weights) else self.codes.shape[1])

    @cached_property
    def widths(self) -> IntArray:
        """States of the variables, with "missing" where it occurs."""
        missing = self.codes.max(axis=1, initial=0) >= self.n_states
        widths: IntArray = self.n_states + missing
        return widths

    @cached_property
    def groups(self) -> tuple[IntArray, IntArray, npt.NDArray[np.unsignedinteger]]:
        """Starts of groups of consecutive variables, their widths and joint codes."""
        from tanager.data import _kernels

        starts = group_starts(self.widths, GROUP_WIDTH)
        widths = np.multiply.reduceat(self.widths, starts[:-1])
        if len(widths) == len(self.widths):
            return starts, widths, self.codes
        shape = (len(widths), self.codes.shape[1])
        joint = np.empty(shape, np.min_scalar_type(int(widths.max()) - 1))
        map_threads(
            lambda g: _kernels.join_codes(
                self.codes, self.widths, starts[g], starts[g + 1], joint[g]
            ),
            range(len(widths)),
            self.n_jobs,
        )
        return starts, widths, joint


def no_samples_error() -> InputError:
    """Make the error for data without a sample of positive weight."""
    return InputError(
        "There is no sample with a weight above 0 to score structures by. Give "
        "samples, or a structure that needs none."
    )


class FamilyScores:
    """Scores of families, each computed once.

    Parameters
    ----------
    rows : FamilyData
        The samples. A missing parent is a state of its own; samples in which a variable
        is missing do not count for it, so that all parents of a variable are compared
        on the same samples.
    criterion : Criterion
        The score of a family.
    allowed : ndarray of bool, shape (n_variables, n_variables), or None, default=None
        ``allowed[i, j]``: i may become a parent of j; None allows all.

    Examples
    --------
    The second variable is a copy of the first:

    >>> from tanager import Schema, Variable
    >>> from tanager.data import ArrayData
    >>> from tanager.scores import BIC
    >>> schema = Schema((Variable("x", (0, 1)), Variable("y", (0, 1))), target=1)
    >>> x = np.array([0, 1] * 8, dtype=np.uint8)
    >>> scores = BIC().families(ArrayData(schema, x[:, None], x))
    >>> round(scores.of(1, ()), 2), round(scores.of(1, (0,)), 2)
    (-12.48, -2.77)
    """

    def __init__(
        self, rows: FamilyData, criterion: Criterion, allowed: BoolArray | None = None
    ) -> None:
        self.rows = rows
        self.criterion = criterion
        shape = (self.n_variables, self.n_variables)
        self.allowed = np.ones(shape, dtype=np.bool_) if allowed is None else allowed
        self._turn = Lock()
        self._known: dict[Family, float] = {}
        self._further: dict[Family, FloatArray] = {}

    @property
    def n_variables(self) -> int:
        """Number of variables, the class included."""
        return len(self.rows.n_states)

    def of(self, child: int, parents: Sequence[int]) -> float:
        """Score a variable given its parents, in any order."""
        given = tuple(sorted(parents))
        family = (child, given)
        if family not in self._known:
            for parent in given:
                fewer = tuple(p for p in given if p != parent)
                column = self._further.get((child, fewer))
                if column is not None and not np.isnan(column[parent]):
                    self._known[family] = float(column[parent])
                    break
            else:
                self._known[family] = self._score(child, given)
        return self._known[family]

    def further(self, families: Sequence[Family]) -> list[FloatArray]:
        """Score families with each of the other variables as one more parent.

        Parameters
        ----------
        families : sequence of (child, parents)
            The present families.

        Returns
        -------
        list of ndarray of float64, shape (n_variables,)
            One for every family; NaN for variables that are in it, not allowed, or
            would make a table of more cells than a network may have.
        """
        asked = [(child, tuple(sorted(parents))) for child, parents in families]
        self._find([family for family in asked if family not in self._further])
        return [self._further[family] for family in asked]

    def _find(self, families: Sequence[Family]) -> None:
        """Compute and store what `further` asks for."""
        if not families:
            return
        starts, widths, _ = self.rows.groups
        group_of = np.repeat(np.arange(len(widths)), np.diff(starts))
        # The work on few families is split by groups of further parents.
        n_parts = min(len(widths), -(-n_threads(self.rows.n_jobs) // len(families)))
        columns = [np.full(self.n_variables, np.nan) for _ in families]
        work = [
            (family, column, np.arange(part, len(widths), n_parts))
            for family, column in zip(families, columns, strict=True)
            for part in range(n_parts)
        ]

        def score(item: tuple[Family, FloatArray, IntArray]) -> None:
            (child, parents), column, groups = item
            chosen = np.zeros(len(widths), dtype=np.bool_)
            chosen[groups] = True
            wanted = self.allowed[:, child] & chosen[group_of]
            wanted[[child, *parents]] = False
            self._count(child, parents, wanted, groups, column)

        map_threads(score, work, self.rows.n_jobs)
        for family, column in zip(families, columns, strict=True):
            self._further[family] = self._finish(column, len(family[1]) + 1)

    def _count(
        self,
        child: int,
        parents: tuple[int, ...],
        wanted: BoolArray,
        groups: IntArray,
        out: FloatArray,
    ) -> None:
        """Write the scores with every variable of some groups that is wanted."""
        from tanager.scores import _family_score_kernels

        if not wanted.any():
            return
        rows = self.rows
        joint, n_joint = self._joint(child, parents)
        wanted = wanted & (rows.widths <= MAX_CELLS // n_joint)
        cells = n_joint * int(np.where(wanted, rows.widths, 0).max())
        starts, widths, grouped = rows.groups
        kind = np.float64 if len(rows.weights) else np.uint32
        scratch = max(4 * _family_score_kernels.LANE_CELLS, GROUP_CELLS)
        with self._turn if cells > LARGE_CELLS else nullcontext():
            _family_score_kernels.further_scores(
                rows.codes, grouped, rows.weights, joint, n_joint, rows.widths[child],
                rows.n_states[child], wanted, rows.widths, starts, widths, groups,
                GROUP_CELLS, self._numbers, np.empty(scratch, kind),
                np.empty(max(scratch, cells), kind), out,
            )  # fmt: skip

    def _score(self, child: int, parents: tuple[int, ...]) -> float:
        """Score one family."""
        from tanager.scores import _family_score_kernels

        check_stop()
        rows = self.rows
        joint, n_joint = self._joint(child, parents)
        width = int(rows.widths[child])
        kind = np.float64 if len(rows.weights) else np.uint32
        table = np.empty(max(4 * _family_score_kernels.LANE_CELLS, n_joint), kind)
        score = _family_score_kernels.family_score(
            joint, rows.weights, n_joint // width, width, rows.n_states[child],
            self._numbers, table,
        )  # fmt: skip
        return float(self._finish(np.array([score]), len(parents))[0])

    def _joint(
        self, child: int, parents: tuple[int, ...]
    ) -> tuple[npt.NDArray[np.unsignedinteger], int]:
        """Joint codes of a family, the child fastest, and how many there can be."""
        rows = self.rows
        n_joint = self.size_of(child, parents, rows.widths)
        return join_family(rows.codes, rows.widths, parents, child, n_joint), n_joint

    def size_of(self, child: int, parents: tuple[int, ...], widths: IntArray) -> int:
        """Number of cells of a family; `TableSizeError` if they are too many."""
        names = self.rows.names
        n_joint: int = prod(widths[[*parents, child]].tolist())
        if n_joint > MAX_CELLS:
            raise TableSizeError(
                f"The CPT of {names[child]!r} given {[names[p] for p in parents]} "
                f"would have {n_joint:,} cells, more than the {MAX_CELLS:,} allowed. "
                "Use a smaller max_parents, fewer bins (a coarser encoder), group rare "
                "categories of these columns, or forbid arcs between them."
            )
        return n_joint

    @cached_property
    def _numbers(self) -> FloatArray:
        """The criterion as kernels read it."""
        given = self.criterion
        return np.array([given.penalty, given.sample_size, given.cell_weight])

    def _finish(self, scores: FloatArray, n_parents: int) -> FloatArray:
        """Subtract the cost of naming the parents, and round."""
        cost = self.criterion.graph_cost(n_parents)
        return self.criterion.round(scores - cost)


def join_family(
    codes: npt.NDArray[np.unsignedinteger],
    widths: IntArray,
    parents: Sequence[int],
    child: int,
    n_joint: int,
) -> npt.NDArray[np.unsignedinteger]:
    """Joint codes of a family, of which there can be `n_joint`, the child fastest."""
    from tanager.scores import _family_score_kernels

    joint = np.empty(codes.shape[1], np.min_scalar_type(n_joint - 1))
    of = np.array(parents, dtype=np.int64)
    _family_score_kernels.join_family(codes, widths, of, child, joint)
    return joint
