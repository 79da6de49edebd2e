"""Learning from incomplete rows of any network, by its junction tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.inference.junction_tree import JunctionTree
from tanager.model.layout import FamilyLayout
from tanager.types import CodeArray, FloatArray


@dataclass(frozen=True, eq=False)
class JunctionExpectations:
    """Sums over what is missing and posteriors of families, for any network.

    Has the methods of `ForestExpectations`, which is faster where it applies. Made from
    the layout alone, so that a learner can change the tables at every step.

    Notes
    -----
    With L[m, c] = log P(c, e_m), e_m what is observed of row m, the derivative of
    L[m, c] by the logarithm of a cell (x, f) of a family's table is the posterior
    P(x, f | e_m, c). Messages from the leaves of the junction tree to its root give L,
    those back all posteriors [1]_.

    References
    ----------
    .. [1] Koller, Friedman (2009), Probabilistic graphical models.

    Examples
    --------
    Two causes of one effect, the class being the effect:

    >>> layout = FamilyLayout.of_families((2, 2, 2), ((0,), (1,), (0, 1, 2)), 2)
    >>> log_theta = np.log([0.5, 0.5, 0.9, 0.1, 0.9, 0.1, 0.5, 0.5, 0.4, 0.6, 0.2, 0.8])
    >>> row = np.array([[1, 2]], dtype=np.uint8, order="F")  # the second is missing
    >>> tree = JunctionExpectations.of(layout)
    >>> np.exp(tree.log_joint(log_theta, row))
    array([[0.19, 0.31]])
    >>> counts = np.zeros(12)
    >>> tree.add_expected(log_theta, row, np.array([[1.0, 0.0]]), counts)
    >>> counts[2:4].round(4)  # 0.9 * 0.4 and 0.1 * 0.2, normalised
    array([0.9474, 0.0526])
    """

    junction: JunctionTree

    @classmethod
    def of(cls, layout: FamilyLayout) -> JunctionExpectations:
        """Compile a layout; `TableSizeError` if a clique is too large."""
        return cls(JunctionTree.of(layout))

    @property
    def layout(self) -> FamilyLayout:
        """The tables."""
        return self.junction.layout

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """Log joint of every row and class; see `ForestExpectations.log_joint`."""
        potentials = self.junction.potentials(log_theta)
        return self.junction.log_joint(codes, potentials, lambda: potentials.log_values)

    def add_expected(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        class_weights: FloatArray,
        out: FloatArray,
        *,
        barren: bool = True,
    ) -> None:
        """Add the posterior of every family; see `ForestExpectations.add_expected`.

        A class under which a row is impossible adds nothing.
        """
        from tanager.inference import _junction_kernels

        junction = self.junction
        _junction_kernels.add_expected(
            codes.T, junction.row_order(codes), junction.arrays,
            *junction.potentials(log_theta), junction.walk(), class_weights, barren,
            out,
        )  # fmt: skip

    def expect(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray | None,
        out: FloatArray,
    ) -> float:
        """Log likelihood, expected counts; see `ForestExpectations.expect`.

        A family without the class is observed whole in rows without a label, too.
        """
        from tanager.inference import _junction_kernels

        junction = self.junction
        value: float = _junction_kernels.expect(
            codes.T, labels, np.empty(0) if weights is None else weights,
            junction.row_order(codes, labels), log_theta, junction.arrays,
            *junction.potentials(log_theta), junction.walk(), out,
        )  # fmt: skip
        return value
