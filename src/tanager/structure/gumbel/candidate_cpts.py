"""`CandidateCPTs`: a CPT for every set of parents that a feature may have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import TableSizeError
from tanager.model.layout import MAX_CELLS, FamilyLayout, Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.parameters.frequency import Frequency
from tanager.structure.gumbel.parent_candidates import ParentCandidates
from tanager.types import FloatArray, IntArray


class CandidateCPTs:
    """CPTs of all candidate families, one after the other, and their Adam state.

    The last CPT is that of the class. `sets` and `owner` are feature parents and
    feature of every other one, `is_open` whether it may be selected, `first` the first
    CPT of every feature, and in the end that of the class. The first CPT of a feature
    has no feature parents, be it a candidate or not: samples in which a parent is
    missing use it.

    `log_theta` and `theta`, (n_cells,), are the CPTs, normalised. Axes are the owner,
    then the parents, then the class, so that the kernels work on contiguous cells.
    `mean` and `root` are Adam's running mean of the gradient, and root of that of its
    square, at the last gradient of the CPT that was not zero. Per CPT, `kept` and
    `kept_root` are the factors by which they have decayed since, `ahead` and `moved`
    how far it was moved in advance then and how far Adam has moved it by now, in units
    of `scale`.
    """

    def __init__(self, schema: Schema, candidates: ParentCandidates) -> None:
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
        n_cells, self.n_tables = self.layout.n_cells, self.layout.n_tables
        if n_cells > MAX_CELLS:
            raise TableSizeError(
                f"The CPTs of all {len(self.sets)} candidate families would have "
                f"{n_cells:,} cells, more than the {MAX_CELLS:,} allowed. Use a "
                "smaller n_candidates or k, or fewer bins (a coarser encoder)."
            )
        self.offsets = np.append(self.layout.offsets, n_cells)
        self.parents, self.strides = self._axes()
        self.log_theta, self.mean, self.root = np.zeros((3, n_cells))
        self.theta: FloatArray = np.empty(n_cells)
        self.kept, self.ahead, self.moved = np.zeros((3, self.n_tables))
        self.kept_root, self.scale = np.ones((2, self.n_tables))

    def start_from(self, log_theta: FloatArray) -> None:
        """Set all CPTs to the softmax of an array of shape (n_cells,)."""
        self.log_theta[...] = log_theta
        self.normalise()

    def start_from_frequencies(self, data: CodedData, alpha: float) -> None:
        """Set all CPTs to relative frequencies with the pseudo-count `alpha`."""
        target = len(self.n_states) - 1
        frequency = Frequency(alpha=alpha)
        # One family per feature at a time, because counts of one owner are summed.
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
        self.normalise()

    def normalise(self) -> None:
        """Normalise `log_theta` and compute `theta` from it.

        Steps update both, and over thousands of steps rounding errors add up.
        """
        from tanager.parameters import _softmax_kernels as kernels

        states = np.append(self.n_states[self.owner], self.n_states[-1])
        widths = np.diff(self.offsets) // states
        kernels.normalise(self.theta, self.log_theta, self.offsets, states, widths)

    def network(self, chosen: Sequence[int]) -> tuple[Structure, Parameters]:
        """Return structure and parameters for one CPT, by number, of every feature."""
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
        """Set a CPT; the axis of its owner, the last but the class, becomes first."""
        begin, end = self.offsets[t], self.offsets[t + 1]
        turned = np.moveaxis(table, self.layout.owner_axis(t), 0)
        self.log_theta[begin:end] = turned.ravel()

    def _axes(self) -> tuple[IntArray, IntArray]:
        """Return the parents in every CPT, and strides of the owner and the parents."""
        most = max((len(parents) for parents in self.sets), default=0)
        parents = np.full((self.n_tables, most), -1, dtype=np.int64)
        strides = np.zeros((self.n_tables, most + 1), dtype=np.int64)
        for t, own in enumerate(self.sets):
            stride = int(self.n_states[-1])
            for a in reversed(range(len(own))):
                parents[t, a] = own[a]
                strides[t, a + 1] = stride
                stride *= int(self.n_states[own[a]])
            strides[t, 0] = stride
        return parents, strides
