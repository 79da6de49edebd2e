"""`KDB`: the k-dependence Bayesian classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tanager.data.coded_data import CodedData, RowBlock
from tanager.data.information import class_information, conditional_information
from tanager.data.partitioned_data import same_part
from tanager.data.round_count import RoundCount
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import ArcMasks, Constraints, check_constraints
from tanager.structure.orders.feature_orders import (
    first_best,
    known_precedence,
    order_by,
)
from tanager.types import BoolArray, FloatArray, IntArray
from tanager.utils.threads import map_threads
from tanager.utils.validation import check_flag, check_number, check_whole, is_whole


class KDB(StructureLearner):
    """k-dependence Bayesian classifier (KDB), optionally selective.

    Parameters
    ----------
    k : int, default=2
        Greatest number of feature parents; 0 is naive Bayes.
    select : bool, default=False
        Whether to drop features from the end of the order to maximise the leave-one-out
        accuracy; ties go to the shortest order. A dropped feature stays a variable
        without arcs, independent of the class. Features with required arcs stay.
    alpha : float, default=1.0
        For `select`: pseudo-count of every cell, as in `Frequency`.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.

    Notes
    -----
    Features are ordered by decreasing I(C; X), and each takes the k earlier ones with
    the largest I(X_i; X_j | C) as parents [1]_, or all if there are fewer. Ties go to
    the lowest position. A feature or pair is counted over the samples in which it is
    observed. A feature comes after its required parents and after the features of
    earlier tiers.

    `select` needs one more pass over the samples [2]_: each is classified from the
    counts without it, by the first 0, 1, 2, ... features of the order. A sample of
    weight w above 1 counts w times, each time without one copy of itself. A family with
    a missing member does not count. The frequencies are smoothed by `alpha`; the
    parameter learner has no effect on them. In [2]_ the same pass also chooses k.
    `ConditionalLikelihood` needs the class as a parent of every feature; to use it,
    leave the dropped features, which the trace names, out of the data.

    With ``k <= 1`` and without `select` the counts of pairs suffice, so there is
    `partial_fit`.

    References
    ----------
    .. [1] Sahami (1996), Learning limited dependence Bayesian classifiers.
    .. [2] Martinez, Webb, Chen, Zaidi (2016), Scalable learning of Bayesian network
       classifiers (selective KDB).

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u", "p"], ["a", "v", "p"], ["b", "u", "q"], ["b", "v", "p"]]
    >>> model = BayesNetClassifier(structure=KDB(k=1)).fit(X, [0, 0, 1, 1])
    >>> [edge for edge in model.network_.edges if edge[0] != "class"]
    [('x2', 'x1'), ('x0', 'x2')]
    """

    def __init__(
        self,
        *,
        k: int = 2,
        select: bool = False,
        alpha: float = 1.0,
        constraints: Constraints | None = None,
    ) -> None:
        self.k = k
        self.select = select
        self.alpha = alpha
        self.constraints = constraints

    @property
    def rounds(self) -> RoundCount:
        """Rounds; see `StructureLearner`."""
        return RoundCount(4 if self.select else 2)

    @property
    def needs(self) -> Literal["counts", "rows"]:  # type: ignore[override]
        """Pair counts suffice for at most one feature parent."""
        simple = is_whole(self.k) and self.k <= 1 and not self.select
        return "counts" if simple else "rows"

    def learn(
        self,
        data: CodedData,
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Order the features and choose their parents; see `StructureLearner.learn`."""
        schema = data.schema
        constraints, before = self._check_arguments(schema)
        information = class_information(data)
        # Drop the digits that the order of summation decides.
        weights = np.round(conditional_information(data), 12)
        order = order_by(information, before)
        parents: list[tuple[int, ...]] = [()] * len(schema)
        for place, child in enumerate(order.tolist()):
            # Required parents, then those of greatest weight.
            possible = order[:place][constraints.allowed[order[:place], child]]
            required = constraints.required[possible, child]
            ranking = np.lexsort((possible, -weights[possible, child], ~required))
            parents[child] = tuple(possible[ranking[: self.k]].tolist())
        target = len(schema) - 1
        structure = Structure.class_rooted(parents, target)
        trace = [
            {
                "child": schema[child].name,
                "parents": [schema[parent].name for parent in parents[child]],
                "information": float(information[child]),
                "weights": [float(weights[parent, child]) for parent in parents[child]],
            }
            for child in order.tolist()
        ]
        if self.select:
            rates = rates_by_prefix(data, structure, order, self.alpha)
            asked_for = np.flatnonzero(constraints.required[:, order].any(axis=0))
            least = int(asked_for.max(initial=-1)) + 1
            n_kept = least + first_best(rates[least:])
            kept = {target, *order[:n_kept].tolist()}
            structure = Structure(
                tuple(
                    of if child in kept else ()
                    for child, of in enumerate(structure.parents)
                ),
                target,
            )
            for place, entry in enumerate(trace):
                entry |= {"rate": float(rates[place + 1]), "kept": place < n_kept}
        return StructureResult(structure, tuple(trace))

    def check(self, schema: Schema) -> None:
        """Refuse invalid arguments and constraints."""
        self._check_arguments(schema)

    def statistics(self, schema: Schema) -> tuple[Sequence[Sequence[int]], bool]:
        """Counts of single features and of all pairs, given the class."""
        return super().statistics(schema)[0], True

    def _check_arguments(self, schema: Schema) -> tuple[ArcMasks, BoolArray]:
        """Check the arguments; return the constraints and the precedence."""
        check_whole("k", self.k, 0)
        check_flag("select", self.select)
        check_number("alpha", self.alpha, least=0)
        constraints = check_constraints(self.constraints).compile(
            schema, max_parents=self.k
        )
        return constraints, known_precedence(schema, self.constraints)


def rates_by_prefix(
    data: CodedData, structure: Structure, order: IntArray, alpha: float = 1.0
) -> FloatArray:
    """Leave-one-out accuracy with the first 0, 1, ... features of an order.

    The structure is class-rooted, with parents before their children in `order`;
    `alpha` is the pseudo-count of every cell. The result, shape (n_features + 1,), is
    the fraction of the weight that is classified correctly from the counts without the
    sample; ties go to the lowest class.

    Leaving out a sample changes one cell and its total in every CPT, all of its own
    class: only that class is computed again.
    """
    counts = data.count(structure.families)
    layout, compiled = counts.layout, counts.layout.compiled
    log_theta = Frequency(alpha=alpha).log_tables(counts)
    # Totals with axes (parents, class), of every table.
    totals = [
        counts.table(t).sum(axis=layout.owner_axis(t)).ravel()
        for t in range(layout.n_tables)
    ]
    row_offsets = np.cumsum([0, *map(len, totals[:-1])], dtype=np.int64)
    all_totals = np.concatenate(totals)

    rules = (
        data.schema.n_states, compiled.n_classes, order, compiled.offsets,
        compiled.start, compiled.axis_variable, compiled.axis_stride, row_offsets,
        counts.values, all_totals, log_theta, float(alpha),
    )  # fmt: skip
    sums = data.place(same_part).sum(_count_correct, rules)
    weight = float(sums[-1])
    rates: FloatArray = sums[:-1] / (weight if weight > 0 else 1.0)
    return rates


def _count_correct(part: CodedData, rules: tuple[Any, ...]) -> FloatArray:
    """Weight that is classified correctly, by the number of features, and in all."""
    from tanager.structure.orders import _leave_one_out_kernels

    order = rules[2]

    def correct(block: RowBlock) -> FloatArray:
        out = np.zeros(len(order) + 2)
        _leave_one_out_kernels.correct_by_prefix(
            block.codes.T, block.labels,
            np.empty(0) if block.weights is None else block.weights, *rules, out,
        )  # fmt: skip
        return out

    parts = map_threads(correct, part.blocks(), part.n_jobs)
    sums: FloatArray = np.sum([np.zeros(len(order) + 2), *parts], axis=0)
    return sums
