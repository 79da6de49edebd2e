"""`CandidateTables`: a table for every set of parents that a feature may have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import TableSizeError
from tanager.model.layout import MAX_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.structure.gumbel.parent_candidates import Candidates
from tanager.types import FloatArray, IntArray


class CandidateTables:
    """Tables of all candidate families, one after the other, with their momentum.

    Parameters
    ----------
    schema : Schema
        The variables, the class last.
    candidates : Candidates
        The sets of feature parents of every feature.

    Attributes
    ----------
    sets : list of tuple of int
        Feature parents in every table but the last, which is that of the class. The
        first table of a feature is without any, be it a candidate or not: rows in which
        a parent is missing use it.
    owner : ndarray of int64, shape (n_tables - 1,)
        The feature that every table but the last is of.
    first : ndarray of int64, shape (n_features + 1,)
        First table of every feature; the last entry is the table of the class.
    is_open : ndarray of bool, shape (n_tables - 1,)
        Which tables may be chosen.
    log_theta, theta : ndarray of float64, shape (n_cells,)
        The tables, normalised. The owner's axis comes first, then those of the parents,
        then the class: what is summed over is far apart, what is done alike side by
        side.
    mean, root : ndarray of float64, shape (n_cells,)
        Running mean of the gradient (of Adam), and root of that of its square, as of
        the table's last gradient that was not zero.
    kept, kept_root : ndarray of float64, shape (n_tables,)
        What is left of them since.
    ahead, moved, scale : ndarray of float64, shape (n_tables,)
        How far every table was moved ahead then, by momentum that steps without a
        gradient were still to bring, how far these have brought it by now, and the
        scale of both.
    """

    def __init__(self, schema: Schema, candidates: Candidates) -> None:
        target = len(schema) - 1
        self.n_states: IntArray = np.asarray(schema.n_states, dtype=np.int64)
        self.sets: list[tuple[int, ...]] = []
        owner: list[int] = []
        is_open: list[bool] = []
        self.first: IntArray = np.zeros(target + 1, dtype=np.int64)
        for j, sets in enumerate(candidates.sets):
            self.sets += [(), *(parents for parents in sets if parents)]
            is_open += [() in sets, *(True for parents in sets if parents)]
            owner += [j] * (len(self.sets) - len(owner))
            self.first[j + 1] = len(self.sets)
        self.owner: IntArray = np.array(owner, dtype=np.int64)
        self.is_open = np.array(is_open, dtype=np.bool_)
        families = [
            (target, *parents, j) for parents, j in zip(self.sets, owner, strict=True)
        ]
        self.layout = FamilyLayout.of_families(
            self.n_states.tolist(), [*families, (target,)], target
        )
        self._check_size()
        self.offsets = np.append(self.layout.offsets, self.layout.n_cells)
        self.parents, self.strides = self._axes()
        self.log_theta: FloatArray = np.zeros(self.layout.n_cells)
        self.theta: FloatArray = np.empty(self.layout.n_cells)
        self.mean: FloatArray = np.zeros(self.layout.n_cells)
        self.root: FloatArray = np.zeros(self.layout.n_cells)
        self.kept: FloatArray = np.zeros(self.n_tables)
        self.kept_root: FloatArray = np.ones(self.n_tables)
        self.ahead: FloatArray = np.zeros(self.n_tables)
        self.moved: FloatArray = np.zeros(self.n_tables)
        self.scale: FloatArray = np.ones(self.n_tables)

    @property
    def n_tables(self) -> int:
        """Number of tables, that of the class included."""
        return self.layout.n_tables

    def start_from(self, log_theta: FloatArray) -> None:
        """Set all tables to the softmax of what is given, in the order kept here."""
        self.log_theta[...] = log_theta
        self.renew()

    def start_from_frequencies(self, data: CodedData, alpha: float) -> None:
        """Set all tables to relative frequencies with the pseudo-count `alpha`."""
        target = len(self.n_states) - 1
        frequency = Frequency(alpha=alpha)
        # One family per feature at a time: counts of one owner's are else a sum.
        for place in range(int(np.diff(self.first).max(initial=0))):
            tables = self.first[:-1] + place
            tables = tables[tables < self.first[1:]]
            counts = data.count(
                [(target, *self.sets[t], int(self.owner[t])) for t in tables]
            )
            logs = frequency.log_tables(counts)
            for number, t in enumerate(tables):
                self._set(t, counts.layout.table(logs, number))
        counts = data.count([(target,)])
        self._set(self.n_tables - 1, frequency.log_tables(counts))
        self.renew()

    def renew(self) -> None:
        """Take `theta` from `log_theta` anew, both normalised to the last digit.

        A step changes them side by side; over thousands of steps rounding adds up.
        """
        from tanager.parameters import _softmax_kernels as kernels

        states = np.append(self.n_states[self.owner], self.n_states[-1])
        widths = np.diff(self.offsets) // states
        kernels.normalise(self.theta, self.log_theta, self.offsets, states, widths)

    def network(self, chosen: Sequence[int]) -> tuple[Structure, Parameters]:
        """The network of one table for every feature, given by their numbers."""
        target = len(self.n_states) - 1
        structure = Structure.class_rooted(
            [*(self.sets[t] for t in chosen), ()], target
        )
        layout = FamilyLayout.of_families(
            self.n_states.tolist(), structure.families, target
        )
        log_theta = np.empty(layout.n_cells)
        for v, t in enumerate((*chosen, self.n_tables - 1)):
            table = self.log_theta[self.offsets[t] : self.offsets[t + 1]]
            shape = self.layout.shapes[t]
            if v < target:
                axis = self.layout.owner_axis(t)
                shape = (shape[axis], *shape[:axis], *shape[axis + 1 :])
                table = np.moveaxis(table.reshape(shape), 0, axis)
            layout.table(log_theta, v)[...] = table
        return structure, Parameters(layout, log_theta)

    def _set(self, t: int, table: FloatArray) -> None:
        """Set a table; the owner's axis, the last but the class, becomes the first."""
        begin, end = self.offsets[t], self.offsets[t + 1]
        turned = np.moveaxis(table, self.layout.owner_axis(t), 0)
        self.log_theta[begin:end] = turned.ravel()

    def _axes(self) -> tuple[IntArray, IntArray]:
        """Parents in every table, and strides of the owner and of the parents."""
        most = max((len(parents) for parents in self.sets), default=0)
        parents = np.full((self.n_tables, most), -1, dtype=np.int64)
        strides = np.zeros((self.n_tables, most + 1), dtype=np.int64)
        n_classes = int(self.n_states[-1])
        for t, own in enumerate(self.sets):
            stride = n_classes
            for a in reversed(range(len(own))):
                parents[t, a] = own[a]
                strides[t, a + 1] = stride
                stride *= int(self.n_states[own[a]])
            strides[t, 0] = stride
        return parents, strides

    def _check_size(self) -> None:
        if self.layout.n_cells > MAX_CELLS:
            raise TableSizeError(
                f"The tables of all {len(self.sets)} candidate families would have "
                f"{self.layout.n_cells:,} cells, more than the {MAX_CELLS:,} allowed. "
                "Use a smaller n_candidates or k, or fewer bins (a coarser encoder)."
            )
