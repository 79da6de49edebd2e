"""From log-linear weights to normalised tables with the same P(c | x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.structure import Structure
from tanager.counts.coded import CodedData
from tanager.optim import lbfgs

FloatArray = npt.NDArray[np.float64]

GAUGE_TOL = 1e-3
GAUGE_STEPS = 50
"""When the tables are close enough to the features: what is left is of no use."""


@dataclass(frozen=True, eq=False)
class Normaliser:
    """Turns log-linear weights of a structure without fill-in into proper tables.

    Every feature's normaliser is a function of its parents and the class. The parents
    are joined to each other, so the last of them has all others as its own parents:
    its table takes the normaliser up, and those of the roots go to the class.

    Parameters
    ----------
    structure : Structure
        Class-rooted, the feature parents of every feature joined pairwise.
    layout : FamilyLayout
        Its tables.

    Notes
    -----
    Greiner, Su, Shen, Zhou (2005), section 7.1, asks for such a form.
    """

    structure: Structure
    layout: FamilyLayout

    @cached_property
    def _steps(self) -> tuple[npt.NDArray[np.int64], ...]:
        """For every feature's table, children before parents, where it hands up to.

        Arrays `tables`, `ups`, `states`, `starts` and `rows`: the normaliser of table
        t goes to table `up`, whose cell k takes that of row
        ``rows[start + k]`` of t, a configuration of t's parents and the class.
        """
        layout = self.layout
        order = self.structure.topological_order
        rank = {v: place for place, v in enumerate(order)}
        table_of = {owner: t for t, owner in enumerate(layout.owners)}
        target = layout.target
        assert target is not None
        tables, ups, states, starts, rows = [], [], [], [0], []
        for v in reversed(order):
            if v == target:
                continue
            parents = self.structure.feature_parents[v]
            above = max(parents, key=rank.__getitem__, default=target)
            t, up = table_of[v], table_of[above]
            mine = [u for u in layout.axes[t] if u != v]
            shape = [layout.n_states[u] for u in mine]
            numbers = np.arange(int(np.prod(shape))).reshape(shape)
            theirs = layout.axes[up]
            numbers = numbers.transpose([mine.index(u) for u in theirs if u in mine])
            numbers = numbers.reshape(
                [layout.n_states[u] if u in mine else 1 for u in theirs]
            )
            tables.append(t)
            ups.append(up)
            states.append(layout.n_states[v])
            rows.append(np.broadcast_to(numbers, layout.shapes[up]).ravel())
            starts.append(starts[-1] + layout.sizes[up])
        return (
            np.array(tables, dtype=np.int64),
            np.array(ups, dtype=np.int64),
            np.array(states, dtype=np.int64),
            np.array(starts[:-1], dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *rows]),
        )

    @cached_property
    def _shape(self) -> tuple[npt.NDArray[np.int64], int, int]:
        """Ends of the tables, the class table and the number of classes."""
        ends = np.append(self.layout.offsets, self.layout.n_cells)
        target = self.layout.target
        assert target is not None
        return ends, self.layout.owners.index(target), self.layout.n_states[target]

    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Log tables with the same P(c | x), and the logarithm of what they sum to.

        Parameters
        ----------
        weights : ndarray of float64, shape (layout.n_cells,)
            Log-linear weights.

        Returns
        -------
        log_theta : ndarray of float64, shape (layout.n_cells,)
            Proper tables.
        log_sum : float
            Log of the sum of ``exp(total weight)`` over all configurations and classes.
        """
        from tanager.parameters import _normalising_kernels

        log_theta = weights.astype(np.float64)
        log_sum = _normalising_kernels.hand_up(log_theta, *self._steps, *self._shape)
        return log_theta, float(log_sum)

    def centred(self, log_theta: FloatArray) -> FloatArray:
        """Weights with the same P(c | x) as given tables, none larger than need be.

        Undoes what normalising does: rows of tables have mean zero, and what they had
        goes to the parents.
        """
        from tanager.parameters import _normalising_kernels

        weights = log_theta.astype(np.float64)
        ends, _, n_classes = self._shape
        _normalising_kernels.means_up(weights, *self._steps, ends, n_classes)
        prior = self.layout.table(weights, self._shape[1])
        prior -= prior.mean()
        return weights

    def family_shares(self, log_theta: FloatArray) -> FloatArray:
        """Joint probability of every cell's family and class, flat as the tables."""
        from tanager.parameters import _normalising_kernels

        joint = np.exp(log_theta)
        ends, _, n_classes = self._shape
        _normalising_kernels.hand_down(joint, *self._steps, ends, n_classes)
        return joint

    def likeliest(
        self, weights: FloatArray, shares: Sequence[FloatArray]
    ) -> Parameters:
        """Of all tables with the same P(c | x), those that fit the features best.

        Parameters
        ----------
        weights : ndarray of float64, shape (layout.n_cells,)
            Log-linear weights.
        shares : sequence of ndarray
            For every table of a feature the distribution of its family in the data,
            without the class axis, all above zero; not looked at for the class.

        Returns
        -------
        tables : Parameters
            Proper tables.

        Notes
        -----
        A number added to a cell in all classes alike changes no P(c | x), but it does
        change P(x), and with it what is inferred when features are missing. With such
        numbers b the log likelihood of the features is
        ``sum_t <shares_t, b_t> - log Z(b)`` per row, which is concave; its gradient
        is the shares less the model's own. A few steps of L-BFGS on tables, not rows,
        find its maximum.
        """
        layout = self.layout
        n_classes = self._shape[2]
        # Every cell of a feature's table, in all classes alike, by number of its b.
        features = [t for t, v in enumerate(layout.owners) if v != layout.target]
        cells = np.concatenate(
            [np.arange(layout.sizes[t]) + layout.offsets[t] for t in features]
        )
        target = np.concatenate([shares[t].ravel() for t in features])
        # The second derivative by b is about the share of its cell: scaled by the
        # root, all cells are alike.
        scale = 1.0 / np.sqrt(target)

        def shifted(u: FloatArray) -> FloatArray:
            moved = weights.copy()
            moved[cells] += np.repeat(scale * u, n_classes)
            return moved

        def misfit(u: FloatArray) -> tuple[float, FloatArray]:
            log_theta, log_sum = self.normalise(shifted(u))
            model = self.family_shares(log_theta)[cells].reshape(-1, n_classes)
            slope = scale * (model.sum(axis=1) - target)
            return log_sum - float(target @ (scale * u)), slope

        u, _ = lbfgs(misfit, np.zeros(len(target)), max_iter=GAUGE_STEPS, tol=GAUGE_TOL)
        return Parameters(layout, self.normalise(shifted(u))[0])


def family_shares(structure: Structure, data: CodedData) -> list[FloatArray]:
    """Smoothed distribution of every family in the data, without the class."""
    counts = data.count(structure.families)
    shares = []
    for t in range(counts.layout.n_tables):
        table = counts.table(t).sum(axis=-1)
        # One more row, spread evenly: nothing is impossible.
        shares.append((table + 1.0 / table.size) / (table.sum() + 1.0))
    return shares
