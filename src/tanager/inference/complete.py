"""Scoring rows by adding the cells they touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.jit import use_kernels
from tanager.core.layout import CompiledLayout
from tanager.core.parameters import Parameters
from tanager.core.schema import CodeArray


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """Tables whose touched cells add up to the log joint of a row.

    Tables with the class axis come first, then those without. Every table has at least
    one axis: a table over the class alone gets one with stride 0.
    """

    values: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    axis_variable: npt.NDArray[np.int64]
    axis_stride: npt.NDArray[np.int64]
    n_class_tables: int
    n_classes: int

    @classmethod
    def of_layout(
        cls, compiled: CompiledLayout, values: npt.NDArray[np.float64]
    ) -> ScoreTables:
        """Order the tables of a layout for scoring."""
        order = np.argsort(~compiled.has_class, kind="stable")
        variables: list[int] = []
        strides: list[int] = []
        start = [0]
        # Any feature column will do under stride 0; the class has none in the codes.
        some_feature = (
            int(compiled.axis_variable[0]) if len(compiled.axis_variable) else 0
        )
        for t in order:
            axes = slice(compiled.start[t], compiled.start[t + 1])
            variables += compiled.axis_variable[axes].tolist() or [some_feature]
            strides += compiled.axis_stride[axes].tolist() or [0]
            start.append(len(variables))
        return cls(
            values,
            compiled.offsets[order],
            np.array(start, dtype=np.int64),
            np.array(variables, dtype=np.int64),
            np.array(strides, dtype=np.int64),
            int(compiled.has_class.sum()),
            compiled.n_classes,
        )

    @classmethod
    def of(cls, parameters: Parameters) -> ScoreTables:
        """The tables of a network, for complete rows."""
        return cls.of_layout(parameters.layout.compiled, parameters.log_theta)

    def log_joint(self, codes: CodeArray) -> npt.NDArray[np.float64]:
        """Log joint of every row and class.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_rows, n_variables), Fortran order
            Every code must be an index of its tables.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
        """
        n_rows = codes.shape[0]
        if use_kernels(n_rows * len(self.offsets)):
            from tanager.inference import _kernels

            out = np.empty((n_rows, self.n_classes))
            _kernels.add_tables(
                codes.T, self.values, self.offsets, self.start, self.axis_variable,
                self.axis_stride, self.n_class_tables, self.n_classes, out,
            )  # fmt: skip
            return out
        return self._log_joint_by_gather(codes)

    def _log_joint_by_gather(self, codes: CodeArray) -> npt.NDArray[np.float64]:
        """Score in NumPy; sums in the order of the kernel, so the bits are the same."""
        steps = codes[:, self.axis_variable].astype(np.int64) * self.axis_stride
        cells = np.add.reduceat(steps, self.start[:-1], axis=1) + self.offsets
        with_class = cells[:, : self.n_class_tables]
        out = np.zeros((codes.shape[0], self.n_classes))
        classes = np.arange(self.n_classes)
        for cell in with_class.T:
            out += self.values[cell[:, None] + classes]
        if self.n_class_tables < len(self.offsets):
            shared = np.zeros(codes.shape[0])
            for cell in cells[:, self.n_class_tables :].T:
                shared += self.values[cell]
            out += shared[:, None]
        return out
