"""Log joints and expected counts of incomplete rows, for learners.

Compiled from the layout alone, so that a learner can change the tables at every step.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from tanager.errors import CapabilityError, TableSizeError
from tanager.inference.forest import is_forest, parents_first
from tanager.inference.junction_tree import JunctionTree
from tanager.inference.log_joint_tables import PaddedLayout
from tanager.model.layout import FamilyLayout
from tanager.model.schema import Schema
from tanager.types import CodeArray, FloatArray, IntArray, LabelArray


class Expectations(ABC):
    """The log joint of incomplete rows, and its derivative by every table cell.

    With L[m, c] = log P(c, e_m), e_m being the evidence of row m, the derivative of
    L[m, c] by the logarithm of the cell (x, f) of a family's table is the posterior
    P(x, f | e_m, c). One pass from the leaves to the roots gives L, one back to the
    leaves all posteriors [1]_.

    References
    ----------
    .. [1] Koller, Friedman (2009), Probabilistic graphical models.
    """

    layout: FamilyLayout

    @abstractmethod
    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """Log joint of every row's evidence with every class, (n_rows, n_classes).

        `log_theta` (layout.n_cells,) are log probabilities. In `codes`, (n_rows,
        n_columns) in Fortran order, the number of states of a variable means missing.
        """

    @abstractmethod
    def add_expected(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        class_weights: FloatArray,
        out: FloatArray,
        *,
        barren: bool = True,
    ) -> None:
        """Add ``sum_m class_weights[m, c] P(x, f | e_m, c)`` to `out`, (n_cells,).

        `class_weights` (n_rows, n_classes) are P(c | e, label) for expected counts, or
        the derivative of a loss by the log joint, for its derivative by `log_theta`. A
        class under which a row is impossible adds nothing. `barren` says whether
        features with nothing observed below them count: their part of a gradient
        vanishes once tables are normalised, so gradients leave them out.
        """


class ExactExpectations(Expectations):
    """`Expectations` in which missing features are marginalised exactly."""

    @property
    @abstractmethod
    def _kernels(self) -> ModuleType:
        """The kernels `add_expected` and `expect`, imported when first needed."""

    @abstractmethod
    def _prepare(
        self, log_theta: FloatArray, codes: CodeArray, labels: LabelArray | None = None
    ) -> tuple[object, ...]:
        """Arguments of the kernels that describe the network."""

    def add_expected(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        class_weights: FloatArray,
        out: FloatArray,
        *,
        barren: bool = True,
    ) -> None:
        """See `Expectations.add_expected`."""
        self._kernels.add_expected(
            codes.T, *self._prepare(log_theta, codes), class_weights, barren, out
        )

    def expect(
        self,
        log_theta: FloatArray,
        codes: CodeArray,
        labels: LabelArray,
        weights: FloatArray | None,
        out: FloatArray,
    ) -> float:
        """Log likelihood and expected counts of families with a missing member.

        Returns ``sum_m v_m log P(e_m, c_m)`` with weights v, all one for None, and adds
        the counts to `out`. A label equal to the number of classes is missing; such
        rows count with log P(e_m). A family whose members are all observed, label
        included, is in neither: its count does not change with the tables, so learners
        count it once, and its part of the log likelihood is that count times
        `log_theta`. Missing features with nothing observed below them sum to one and
        are in neither.
        """
        value: float = self._kernels.expect(
            codes.T, labels, np.empty(0) if weights is None else weights, log_theta,
            *self._prepare(log_theta, codes, labels), out,
        )  # fmt: skip
        return value


def exact_expectations(
    layout: FamilyLayout, schema: Schema | None = None
) -> ExactExpectations:
    """Exact expectations for tables of any structure.

    Raises `TableSizeError` if the structure is no forest and its junction tree is too
    large; the message names variables by `schema`.
    """
    if is_forest(layout) and len(layout.class_tables) == layout.n_tables:
        return ForestExpectations.of(layout)
    return JunctionExpectations.of(layout, schema)


def expectations_of(layout: FamilyLayout, schema: Schema | None = None) -> Expectations:
    """Exact expectations, or `ObservedFamilies` if the junction tree is too large.

    The latter are for conditional likelihoods where the class is the root and a parent
    of every feature, and come with a warning; other structures are refused as in
    `exact_expectations`.
    """
    try:
        return exact_expectations(layout, schema)
    except TableSizeError as error:
        if len(layout.class_tables) < layout.n_tables:
            raise
        warnings.warn(
            "Families with a missing member are left out of incomplete samples, as "
            "missing features cannot be marginalised exactly; the result is therefore "
            f"approximate. {error}",
            UserWarning,
            stacklevel=4,
        )
        return ObservedFamilies.of(layout)


@dataclass(frozen=True, eq=False)
class ForestExpectations(ExactExpectations):
    """Expectations of a forest: rows cost O(r^2) per missing feature and class.

    `JunctionExpectations` covers forests, too. These kernels remain because they are
    faster: log joints 1.6 to 9 times, expected counts 4 to 26 times (20 to 50 features,
    5 % to 50 % missing values).
    """

    layout: FamilyLayout
    compiled: tuple[object, ...]

    @classmethod
    def of(cls, layout: FamilyLayout) -> ForestExpectations:
        """Compile a layout whose features form a forest below the class."""
        target = layout.target
        all_have_class = len(layout.class_tables) == layout.n_tables
        if target is None or not (is_forest(layout) and all_have_class):
            raise CapabilityError(
                "ForestExpectations needs a root class that is a parent of every "
                "feature, and at most one feature parent per feature. Use "
                "JunctionExpectations for other structures."
            )
        n = len(layout.n_states)
        parent: IntArray = np.full(n, -1, dtype=np.int64)
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
        forest = (
            np.array(layout.n_states, dtype=np.int64), compiled.n_classes,
            np.array(order, dtype=np.int64), parent, offset, stride, parent_stride,
            int(offset[target]),
        )  # fmt: skip
        return cls(layout, forest)

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """See `Expectations.log_joint`."""
        out = np.empty((codes.shape[0], self.layout.compiled.n_classes))
        self._kernels.log_joint(
            codes.T, log_theta, *self._prepare(log_theta, codes), out
        )
        return out

    @property
    def _kernels(self) -> ModuleType:
        from tanager.inference import _forest_kernels

        return _forest_kernels

    def _prepare(
        self,
        log_theta: FloatArray,
        codes: CodeArray,  # noqa: ARG002 - rows are visited as they come
        labels: LabelArray | None = None,  # noqa: ARG002
    ) -> tuple[object, ...]:
        return np.exp(log_theta), *self.compiled


@dataclass(frozen=True, eq=False)
class JunctionExpectations(ExactExpectations):
    """Expectations of any network, by its junction tree."""

    layout: FamilyLayout
    junction: JunctionTree

    @classmethod
    def of(
        cls, layout: FamilyLayout, schema: Schema | None = None
    ) -> JunctionExpectations:
        """Compile a layout; raises `TableSizeError` if a clique is too large."""
        return cls(layout, JunctionTree.of(layout, schema))

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """See `Expectations.log_joint`."""
        potentials = self.junction.potentials(log_theta)
        return self.junction.log_joint(codes, potentials, lambda: potentials.log_values)

    @property
    def _kernels(self) -> ModuleType:
        from tanager.inference import _junction_kernels

        return _junction_kernels

    def _prepare(
        self, log_theta: FloatArray, codes: CodeArray, labels: LabelArray | None = None
    ) -> tuple[object, ...]:
        junction = self.junction
        order = junction.row_order(codes, labels)
        potentials = junction.potentials(log_theta)
        return order, junction.arrays, *potentials, junction.walk()


@dataclass(frozen=True, eq=False)
class ObservedFamilies(Expectations):
    """Log joint of rows over the families whose members are all observed.

    A missing feature with nothing observed below it sums to one, so leaving its family
    out is exact. The evidence of an observed feature with a missing parent is lost:
    this is an approximation for structures whose junction tree is too large.
    """

    layout: FamilyLayout
    padded: PaddedLayout

    @classmethod
    def of(cls, layout: FamilyLayout) -> ObservedFamilies:
        """Compile a layout in which every table has the class."""
        if len(layout.class_tables) < layout.n_tables:
            raise CapabilityError(
                "Learning from samples with missing features needs a network in which "
                "the class is a root and a parent of every feature; this one is not."
            )
        return cls(layout, PaddedLayout.of(layout))

    def log_joint(self, log_theta: FloatArray, codes: CodeArray) -> FloatArray:
        """See `Expectations.log_joint`."""
        from tanager.inference import _kernels

        n_classes = self.layout.compiled.n_classes
        out = np.empty((codes.shape[0], n_classes))
        _kernels.add_tables(
            codes.T, self.padded.pad(log_theta), *self._tables, self.layout.n_tables,
            n_classes, out,
        )  # fmt: skip
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
        """See `Expectations.add_expected`; `barren` must be False."""
        from tanager.inference import _kernels

        if barren:
            raise CapabilityError(
                "ObservedFamilies has no expected counts of missing features."
            )
        padded = self.padded.pad(out)
        _kernels.add_to_tables(
            codes.T, class_weights, *self._tables, self.layout.compiled.n_classes,
            padded,
        )  # fmt: skip
        out[:] = padded[self.padded.cells]

    @property
    def _tables(self) -> tuple[IntArray, ...]:
        table = self.padded.layout.compiled
        return table.offsets, table.start, table.axis_variable, table.axis_stride
