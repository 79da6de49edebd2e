"""Learning from incomplete rows: how a log joint changes with every table cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.errors import CapabilityError
from tanager.inference.tree import is_forest, parents_first
from tanager.model.layout import FamilyLayout
from tanager.types import CodeArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ForestExpectations:
    """Sums over missing features of a forest, and the posteriors of its families.

    Made from the layout alone, so that a learner can change the tables at every step.

    Notes
    -----
    With L[m, c] = log P(c, e_m), e_m what is observed of row m, the derivative of
    L[m, c] by the logarithm of the cell (x, f, c) of a family's table is the posterior
    P(x, f | e_m, c). One pass from the leaves to the roots gives L, one back to the
    leaves all posteriors; rows cost O(r^2) per missing feature and class.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    >>> log_theta = np.log([0.5, 0.1, 0.5, 0.9, 0.7, 0.3])
    >>> row = np.array([[2]], dtype=np.uint8, order="F")  # the feature is missing
    >>> forest = ForestExpectations.of(layout)
    >>> np.exp(forest.log_joint(log_theta, row))
    array([[0.7, 0.3]])
    >>> counts = np.zeros(6)
    >>> forest.add_expected(log_theta, row, np.array([[1.0, 0.0]]), counts)
    >>> counts
    array([0.5, 0. , 0.5, 0. , 1. , 0. ])
    """

    layout: FamilyLayout
    n_states: IntArray
    order: IntArray
    parent: IntArray
    offset: IntArray
    stride: IntArray
    parent_stride: IntArray
    prior: int

    @classmethod
    def of(cls, layout: FamilyLayout) -> ForestExpectations:
        """Compile a layout whose features form a forest below the class."""
        target = layout.target
        if (
            target is None
            or not is_forest(layout)
            or not all(target in axes for axes in layout.axes)
        ):
            raise CapabilityError(
                "ForestExpectations is for a root class above a forest of features: "
                "the class a parent of each, and at most one feature parent. This "
                "structure is another; use JunctionExpectations."
            )
        n = len(layout.n_states)
        parent = np.full(n, -1, dtype=np.int64)
        offset = np.zeros(n, dtype=np.int64)
        stride = np.ones(n, dtype=np.int64)
        parent_stride = np.zeros(n, dtype=np.int64)
        compiled = layout.compiled
        for t, owner in enumerate(layout.owners):
            offset[owner] = layout.offsets[t]
            for a in range(compiled.start[t], compiled.start[t + 1]):
                if compiled.axis_variable[a] == owner:
                    stride[owner] = compiled.axis_stride[a]
                else:
                    parent[owner] = compiled.axis_variable[a]
                    parent_stride[owner] = compiled.axis_stride[a]
        order = [j for j in reversed(parents_first(parent)) if j != target]
        return cls(
            layout,
            np.array(layout.n_states, dtype=np.int64),
            np.array(order, dtype=np.int64),
            parent,
            offset,
            stride,
            parent_stride,
            int(offset[target]),
        )

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """Log joint of every row's evidence with every class.

        Parameters
        ----------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Log probabilities.
        codes : ndarray of unsigned int, shape (n_rows, n_columns), Fortran order
            The number of states of a variable means missing.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
        """
        from tanager.inference import _tree_expectation_kernels

        out = np.empty((codes.shape[0], self.layout.compiled.n_classes))
        _tree_expectation_kernels.forest_log_joint(
            codes.T, log_theta, np.exp(log_theta), *self._compiled, out
        )
        return out

    def add_expected(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        class_weights: FloatArray,
        out: FloatArray,
        *,
        barren: bool = True,
    ) -> None:
        """Add the posterior of every family, weighted by class, to `out`.

        Parameters
        ----------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Log probabilities.
        codes : ndarray of unsigned int, shape (n_rows, n_columns), Fortran order
            As in `log_joint`.
        class_weights : ndarray of float64, shape (n_rows, n_classes)
            P(c | e, label) for expected counts; the derivative of a loss by the log
            joint for the derivative of the loss by `log_theta`.
        out : ndarray of float64, shape (layout.n_cells,)
            Gains ``sum_m class_weights[m, c] P(x, f | e_m, c)``.
        barren : bool, default=True
            Whether features with nothing observed below them count. Their share of a
            gradient vanishes once tables are normalised, so gradients leave them out.
        """
        from tanager.inference import _tree_expectation_kernels

        _tree_expectation_kernels.forest_add_expected(
            codes.T, np.exp(log_theta), *self._compiled, class_weights, barren, out
        )

    def expect(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray | None,
        out: FloatArray,
    ) -> float:
        """Log likelihood of what is observed, and expected counts of what is not.

        Parameters
        ----------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Log probabilities.
        codes : ndarray of unsigned int, shape (n_rows, n_columns), Fortran order
            As in `log_joint`.
        labels : ndarray of int, shape (n_rows,)
            Class codes; the number of classes means missing.
        weights : ndarray of float64, shape (n_rows,), or None
            Row weights; None means all one.
        out : ndarray of float64, shape (layout.n_cells,)
            Gains the expected counts.

        Returns
        -------
        float
            ``sum_m v_m log P(e_m, c_m)``, without the class in rows that have no label.

        Notes
        -----
        A family that is observed whole, label included, is in neither: its count does
        not change with the tables, so it is counted once and for all, and its share of
        the log likelihood is that count times `log_theta`. Missing features with
        nothing observed below them are in neither, as they sum to one.
        """
        from tanager.inference import _tree_expectation_kernels

        value: float = _tree_expectation_kernels.forest_expect(
            codes.T, labels, np.empty(0) if weights is None else weights, log_theta,
            np.exp(log_theta), *self._compiled, out,
        )  # fmt: skip
        return value

    @property
    def _compiled(self) -> tuple[object, ...]:
        return (
            self.n_states, self.layout.compiled.n_classes, self.order, self.parent,
            self.offset, self.stride, self.parent_stride, self.prior,
        )  # fmt: skip
