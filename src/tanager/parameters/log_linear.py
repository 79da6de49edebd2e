"""Log-linear weights: conditional likelihood without normalised tables, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, logsumexp

from tanager.core.errors import CapabilityError
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.core.threads import map_threads
from tanager.counts.coded import CodedData, RowBlock
from tanager.inference.merged import MergedTables

LANES = 16
"""Partial gradients that are added up in order, whatever the number of threads."""

LANE_CELLS = 8_000_000
"""Cells of all partial gradients together; large tables have fewer of them."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """Penalised negative conditional log likelihood of log-linear weights.

    ``f(w) = C sum_m v_m (-log P(c_m | x_m)) + |w|^2 / 2`` with
    ``P(c | x)`` proportional to ``exp(sum of the cells that x touches in class c)``.
    The weights of the class table, which every row touches, are not penalised.

    Parameters
    ----------
    layout : FamilyLayout
        The tables; every one has the class.
    blocks : tuple of RowBlock
        The rows.
    C : float
        Weight of the data against the penalty, as in scikit-learn's
        `LogisticRegression`.
    n_jobs : int or None
        Threads over blocks; the value does not depend on it.
    """

    layout: FamilyLayout
    blocks: tuple[RowBlock, ...]
    C: float
    n_jobs: int | None = None

    @classmethod
    def of(
        cls, structure: Structure, data: CodedData, C: float, n_jobs: int | None
    ) -> ConditionalLikelihood:
        """The objective for a class-rooted structure."""
        layout = FamilyLayout.of_structure(data.schema, structure)
        return cls(layout, tuple(data.blocks()), C, n_jobs)

    def value_and_gradient(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """The objective and its gradient, shapes () and (layout.n_cells,)."""
        from tanager.parameters import _kernels

        merged = self.merged
        values = merged.spread(weights)
        most = max(1, min(LANES, LANE_CELLS // merged.n_cells))
        lanes = min(most, len(self.blocks))

        def lane(number: int) -> tuple[float, FloatArray]:
            gradient = np.zeros(merged.n_cells)
            loss = 0.0
            for block in self.blocks[number::lanes]:
                loss += _kernels.conditional_loss(
                    block.codes.T,
                    block.labels,
                    np.empty(0) if block.weights is None else block.weights,
                    values, merged.offsets, merged.start, merged.axis_variable,
                    merged.axis_stride, self.layout.compiled.n_classes, gradient,
                )  # fmt: skip
            return loss, gradient

        parts = map_threads(lane, range(lanes), self.n_jobs)
        loss = sum(part[0] for part in parts)
        gradient = parts[0][1]
        for part in parts[1:]:
            gradient += part[1]
        gradient = merged.collect(gradient)
        penalised = weights * self.penalised
        value = self.C * loss + 0.5 * float(penalised @ penalised)
        return value, self.C * gradient + penalised

    @cached_property
    def merged(self) -> MergedTables:
        """The tables as the kernel reads them."""
        return MergedTables.of(self.layout)

    @cached_property
    def penalised(self) -> FloatArray:
        """1 for every weight that is penalised, 0 for those of the class table."""
        mask = np.ones(self.layout.n_cells)
        for t, axes in enumerate(self.layout.axes):
            if axes == (self.layout.target,):
                self.layout.table(mask, t)[...] = 0.0
        return mask


def normalised(layout: FamilyLayout, weights: FloatArray) -> Parameters:
    """Normalised tables with the same P(c | x) as log-linear weights.

    Parameters
    ----------
    layout : FamilyLayout
        Tables of a class-rooted forest.
    weights : ndarray of float64, shape (layout.n_cells,)
        Log-linear weights.

    Returns
    -------
    tables : Parameters
        Proper tables: every feature's normaliser, a function of its parent and the
        class, is handed to the parent's table, those of the roots to the class.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), section 7.1, asks for such a form. Exact because
    given the class a forest needs no fill-in.
    """
    target = layout.target
    table_of = {owner: t for t, owner in enumerate(layout.owners)}
    parent = {
        owner: next((v for v in axes if v not in (owner, target)), None)
        for owner, axes in zip(layout.owners, layout.axes, strict=True)
    }
    if target is None or any(len(axes) > 3 for axes in layout.axes):
        raise CapabilityError(
            "Log-linear weights are turned into tables for forests only: at most one "
            "feature parent per feature."
        )
    log_theta = weights.astype(np.float64)
    for v in _leaves_first(parent):
        if v == target:
            continue
        table = layout.table(log_theta, table_of[v])
        axis = layout.owner_axis(table_of[v])
        total = logsumexp(table, axis=axis, keepdims=True)
        table -= total
        above = parent[v]
        left = np.squeeze(total, axis=axis)
        up = layout.table(log_theta, table_of[target if above is None else above])
        if above is None:
            up += left
        else:
            # (parent, class): along the parent's own axis and the class of its table.
            place = layout.owner_axis(table_of[above])
            shape = [1] * up.ndim
            shape[place], shape[-1] = left.shape
            up += left.reshape(shape)
    prior = layout.table(log_theta, table_of[target])
    prior[...] = log_softmax(prior)
    return Parameters(layout, log_theta)


def _leaves_first(parent: dict[int, int | None]) -> list[int]:
    """Variables with every child before its parent."""

    def depth(v: int) -> int:
        steps, above = 0, parent[v]
        while above is not None:
            steps, above = steps + 1, parent[above]
        return steps

    return sorted(parent, key=lambda v: (-depth(v), v))
