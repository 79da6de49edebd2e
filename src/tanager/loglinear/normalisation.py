"""From log-linear weights to normalised tables with the same P(c | x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.optim import lbfgs
from tanager.types import FloatArray, IntArray

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
    def _steps(self) -> tuple[IntArray, ...]:
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
    def _shape(self) -> tuple[IntArray, int, int]:
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
        from tanager.loglinear import _normalisation_kernels

        log_theta = weights.astype(np.float64)
        log_sum = _normalisation_kernels.hand_up(log_theta, *self._steps, *self._shape)
        return log_theta, float(log_sum)

    def centred(self, log_theta: FloatArray) -> FloatArray:
        """Weights with the same P(c | x) as given tables, none larger than need be.

        Undoes what normalising does: rows of tables have mean zero, and what they had
        goes to the parents.
        """
        from tanager.loglinear import _normalisation_kernels

        weights = log_theta.astype(np.float64)
        ends, _, n_classes = self._shape
        _normalisation_kernels.means_up(weights, *self._steps, ends, n_classes)
        prior = self.layout.table(weights, self._shape[1])
        prior -= prior.mean()
        return weights

    def family_shares(self, log_theta: FloatArray) -> FloatArray:
        """Joint probability of every cell's family and class, flat as the tables."""
        from tanager.loglinear import _normalisation_kernels

        joint = np.exp(log_theta)
        ends, _, n_classes = self._shape
        _normalisation_kernels.hand_down(joint, *self._steps, ends, n_classes)
        return joint

    def observed_shares(self, data: CodedData) -> list[FloatArray]:
        """Distribution of every family in the data, without the class axis.

        From conditional tables of the features alone, smoothed by one row spread over
        each: nothing is impossible, and families agree on what they share, though each
        may be observed in other rows.
        """
        layout = self.layout
        counts = data.count(self.structure.families)
        theta = np.empty(layout.n_cells)
        for t, owner in enumerate(layout.owners):
            table = layout.table(theta, t)
            if owner == layout.target:
                table[...] = 1.0 / table.size
            else:
                seen = counts.table(t).sum(axis=-1)
                seen += 1.0 / seen.size
                table[...] = (seen / seen.sum(axis=-1, keepdims=True))[..., None]
        joint = self.family_shares(np.log(theta))
        return [layout.table(joint, t).sum(axis=-1) for t in range(layout.n_tables)]

    def likeliest(
        self, weights: FloatArray, shares: Sequence[FloatArray]
    ) -> Parameters:
        """Of all tables with the same P(c | x), those that fit the features best.

        Parameters
        ----------
        weights : ndarray of float64, shape (layout.n_cells,)
            Log-linear weights.
        shares : sequence of ndarray
            As from `observed_shares`; that of the class is not looked at.

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
        features = [
            t for t, v in enumerate(self.layout.owners) if v != self.layout.target
        ]
        return fit_features(self, weights, features, [shares[t] for t in features])


class Normalising(Protocol):
    """What turns weights into proper tables, and tells their joint distribution."""

    @property
    def layout(self) -> FamilyLayout:
        """The tables."""
        ...

    def normalise(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Log tables with the same P(c | x), and the logarithm of what they sum to."""
        ...

    def family_shares(self, log_theta: FloatArray) -> FloatArray:
        """Joint probability of every cell's variables, flat as the tables."""
        ...


def fit_features(
    normaliser: Normalising,
    weights: FloatArray,
    tables: Sequence[int],
    shares: Sequence[FloatArray],
    *,
    max_iter: int = GAUGE_STEPS,
    ridge: float = 0.0,
) -> Parameters:
    """Of all tables with the same P(c | x), those that fit the features best.

    Parameters
    ----------
    normaliser : Normalising
        Turns weights into tables.
    weights : ndarray of float64, shape (layout.n_cells,)
        Log-linear weights.
    tables : sequence of int
        The tables that may change, in all classes alike; each has the class.
    shares : sequence of ndarray
        Of each of them the distribution of its features in the data, without the class.
    max_iter : int, default=GAUGE_STEPS
        Steps at most.
    ridge : float, default=0.0
        Weight of a penalty on the scaled changes; it is needed where `shares` do not
        agree on what they have in common, for then nothing else bounds the changes.

    Returns
    -------
    tables : Parameters
        Proper tables; see `Normaliser.likeliest`.
    """
    layout = normaliser.layout
    n_classes = layout.compiled.n_classes
    # Every cell of a feature's table, in all classes alike, by number of its b.
    cells = np.concatenate(
        [np.arange(layout.sizes[t]) + layout.offsets[t] for t in tables]
    )
    target = np.concatenate([share.ravel() for share in shares])
    # The second derivative by b is about the share of its cell: scaled by the root,
    # all cells are alike.
    scale = 1.0 / np.sqrt(target)

    def shifted(u: FloatArray) -> FloatArray:
        moved = weights.copy()
        moved[cells] += np.repeat(scale * u, n_classes)
        return moved

    def misfit(u: FloatArray) -> tuple[float, FloatArray]:
        log_theta, log_sum = normaliser.normalise(shifted(u))
        model = normaliser.family_shares(log_theta)[cells].reshape(-1, n_classes)
        slope = scale * (model.sum(axis=1) - target) + ridge * u
        value = log_sum - float(target @ (scale * u)) + ridge * float(u @ u) / 2
        return value, slope

    u, _ = lbfgs(misfit, np.zeros(len(target)), max_iter=max_iter, tol=GAUGE_TOL)
    return Parameters(layout, normaliser.normalise(shifted(u))[0])
