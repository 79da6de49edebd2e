"""Learning from incomplete rows without sums: families with a gap are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.errors import CapabilityError
from tanager.model.layout import FamilyLayout
from tanager.types import CodeArray, FloatArray


@dataclass(frozen=True, eq=False)
class WholeFamilies:
    """Log joint of rows over the families that are observed whole.

    Has the methods of `ForestExpectations` that gradients need.

    Parameters
    ----------
    layout : FamilyLayout
        The tables; every one has the class.

    Notes
    -----
    A missing feature below which nothing is observed sums to one, so leaving its family
    out is exact. What an observed feature tells through a missing parent is lost: the
    price where the junction tree for exact sums is too large.

    Examples
    --------
    >>> layout = FamilyLayout.of_families((2, 2), ((1, 0), (1,)), 1)
    >>> log_theta = np.log([0.5, 0.1, 0.5, 0.9, 0.7, 0.3])
    >>> row = np.array([[2]], dtype=np.uint8, order="F")  # the feature is missing
    >>> np.exp(WholeFamilies.of(layout).log_joint(log_theta, row))
    array([[0.7, 0.3]])
    """

    layout: FamilyLayout

    @classmethod
    def of(cls, layout: FamilyLayout) -> WholeFamilies:
        """Check that every table has the class."""
        if layout.target is None or not all(
            layout.target in axes for axes in layout.axes
        ):
            raise CapabilityError(
                "Learning from rows with missing features needs a network in which the "
                "class is a root and a parent of every feature; this one is another."
            )
        return cls(layout)

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """Sum of the cells of whole families, for every row and class.

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
        from tanager.inference import _observed_family_kernels

        out = np.zeros((codes.shape[0], self.layout.compiled.n_classes))
        _observed_family_kernels.add_cells(codes.T, log_theta, *self._compiled, out)
        return out

    def add_expected(
        self,
        log_theta: FloatArray,  # noqa: ARG002 - the derivative does not depend on it
        codes: CodeArray,
        class_weights: FloatArray,
        out: FloatArray,
        *,
        barren: bool = False,
    ) -> None:
        """Add the derivative of a loss by `log_theta` to `out`.

        Parameters
        ----------
        log_theta, codes
            As in `log_joint`.
        class_weights : ndarray of float64, shape (n_rows, n_classes)
            Derivative of the loss by the log joint.
        out : ndarray of float64, shape (layout.n_cells,)
            Gains the weights at the cells that rows touch.
        barren : bool, default=False
            Must be False: what is missing is not filled in.
        """
        from tanager.inference import _observed_family_kernels

        if barren:
            raise CapabilityError("WholeFamilies has no counts of what is missing.")
        _observed_family_kernels.add_to_cells(
            codes.T, class_weights, *self._compiled, out
        )

    @property
    def _compiled(self) -> tuple[object, ...]:
        compiled = self.layout.compiled
        return (
            np.array(self.layout.n_states, dtype=np.int64), compiled.n_classes,
            compiled.offsets, compiled.start, compiled.axis_variable,
            compiled.axis_stride,
        )  # fmt: skip
