"""Families that are sums of log tables: visited, never written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tanager.core.layout import FamilyLayout

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FamilySum:
    """The tables of one variable, added up configuration by configuration.

    Memory is that of the tables and of one table over the other members of the family;
    time that of the full table, which is not made.

    Parameters
    ----------
    outer : tuple of int
        Members of the family without the owner and the class, in the order of axes.
    shape : tuple of int
        Their states, then those of the class, 1 if no table has it.
    n_states : int
        States of the owner.
    offsets, strides, own, inner : int arrays
        The tables, as the kernels take them.

    Examples
    --------
    Two tables, over (x0, x1) and over x0 alone; x1 is the owner:

    >>> layout = FamilyLayout((2, 2), ((0,), (0, 1), (0,)), (0, 1, 1), None)
    >>> family = FamilySum.of(layout, 1)
    >>> values = np.log([0.5, 0.5, 1.0, 3.0, 2.0, 2.0, 0.25, 0.25])
    >>> np.exp(family.log_sums(values))  # (1 + 3) / 4, (2 + 2) / 4
    array([[1.],
           [1.]])
    """

    outer: tuple[int, ...]
    shape: tuple[int, ...]
    n_states: int
    offsets: npt.NDArray[np.int64]
    strides: npt.NDArray[np.int64]
    own: npt.NDArray[np.int64]
    inner: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, layout: FamilyLayout, variable: int, outer: tuple[int, ...] | None = None
    ) -> FamilySum:
        """Compile the tables that `variable` owns.

        Parameters
        ----------
        layout : FamilyLayout
            All tables.
        variable : int
            The owner.
        outer : tuple of int or None, default=None
            The other members without the class, in the order of the axes asked for;
            None means those of the tables as they come.
        """
        tables = layout.tables_of(variable)
        target = layout.target if variable != layout.target else None
        if outer is None:
            found = dict.fromkeys(v for t in tables for v in layout.axes[t])
            outer = tuple(v for v in found if v not in (variable, target))
        members = (*outer, variable, target)
        steps = np.zeros((len(tables), len(members)), dtype=np.int64)
        for row, t in enumerate(tables):
            stride = 1
            for v in reversed(layout.axes[t]):
                steps[row, members.index(v)] = stride
                stride *= layout.n_states[v]
        with_class = target is not None and bool(steps[:, -1].any())
        last = layout.n_states[target] if with_class and target is not None else 1
        return cls(
            outer,
            (*(layout.n_states[v] for v in outer), last),
            layout.n_states[variable],
            layout.offsets[list(tables)],
            np.ascontiguousarray(steps[:, : len(outer)]),
            np.ascontiguousarray(steps[:, -2]),
            np.ascontiguousarray(steps[:, -1]),
        )

    def log_sums(self, values: FloatArray) -> FloatArray:
        """Log of the sum over the owner's states, shape `shape`."""
        from tanager.inference import _family_kernels

        out = np.empty((int(np.prod(self.shape[:-1])), self.shape[-1]))
        _family_kernels.log_sums(values, *self._compiled, out)
        return out.reshape(self.shape)

    def add_shares(
        self, log_theta: FloatArray, above: FloatArray, out: FloatArray
    ) -> None:
        """Add the joint probability of the family to the cells it touches.

        Parameters
        ----------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Log tables of a proper family.
        above : ndarray of float64, of shape `shape`
            Joint probability of the members without the owner.
        out : ndarray of float64, shape (layout.n_cells,)
            Gains, in every table of the family, the marginals of its members.
        """
        from tanager.inference import _family_kernels

        rows = np.ascontiguousarray(above).reshape(-1, self.shape[-1])
        _family_kernels.add_shares(log_theta, rows, *self._compiled, out)

    @property
    def _compiled(self) -> tuple[object, ...]:
        sizes = np.array(self.shape[:-1], dtype=np.int64)
        return (
            self.offsets, self.strides, self.own, self.inner, sizes, self.n_states,
        )  # fmt: skip
