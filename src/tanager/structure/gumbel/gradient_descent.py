"""`GumbelDescent`: tables and structure weights that follow a gradient together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tanager.losses import Loss, check_loss
from tanager.losses.base import closed_form
from tanager.optim import Adam
from tanager.parameters.loss_minimizer import SCORED_ROWS
from tanager.parameters.training_samples import LabelledRows
from tanager.structure.gumbel.candidate_tables import CandidateTables
from tanager.structure.gumbel.forest_distribution import (
    forest_entropy,
    forest_marginals,
)
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.threads import one_blas_thread

NOISE = 1_000_000
"""Random numbers that are drawn at once."""


class Room(NamedTuple):
    """Arrays that a step works in, in the order in which `descend` unpacks them."""

    codes: CodeArray
    labels: IntArray
    weights: FloatArray
    cells: IntArray
    log_joint: FloatArray
    by_joint: FloatArray
    entry_row: IntArray
    entry_class: IntArray
    entry_value: FloatArray
    sums: FloatArray
    slopes: FloatArray
    total: FloatArray
    shift: FloatArray
    steps: FloatArray


class GumbelDescent:
    """Steps on tables of candidate families and on the weights to choose among them.

    Parameters
    ----------
    tables : CandidateTables
        Where the steps start from; changed in place.
    rows : LabelledRows
        All rows.
    learned : ndarray of int
        Those to learn from.
    loss : object
        What to make small.
    batch_size : int
        Rows per step.
    relaxed : bool
        Whether all tables count, by their share, instead of the chosen ones.
    free : bool
        Whether the features have no order, so that choices must be kept from cycles.
    look_ahead : bool, default=True
        Whether to save the steps of tables that were not taken; see Notes.

    Attributes
    ----------
    log_phi : ndarray of float64, shape (n_tables,)
        Log probabilities of the tables, up to a constant per feature.
    steps : int
        Steps taken so far.

    Notes
    -----
    [1]_, section 3.2. A step draws Gumbel noise e and for every feature takes the table
    of the largest ``log_phi + e``. The derivative by the log joint goes to the tables
    taken and, by way of ``softmax((log_phi + e) / tau)``, to `log_phi`, for which the
    log probabilities of all tables count (straight-through). Both are moved by Adam.

    Without an order the forest of the largest sum of ``log_phi + e`` is taken, which is
    free of cycles; the derivative is the same. (Perturbed maxima of this kind follow a
    distribution near the one in which a forest is as probable as the product of its
    weights.)

    Adam moves tables on that were not taken, by their momentum, which dies out within
    some tens of steps. To do so in every step would be most of the work. A table taken
    is therefore moved at once by all that its momentum is going to bring, and when it
    is taken again what it has not had until then is taken back first. So tables that
    are taken, and those of the result, are where Adam on all tables has them, at rates
    that change, too, but for epsilon, which shrinks with the mean square while a table
    is not taken. Only the derivative by `log_phi` reads tables that were not taken some
    steps ahead. With ``look_ahead=False`` every table is moved in every step.

    That by `log_phi` also leaves out derivatives by the log joint below 1e-9 of the
    largest of their row.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.
    """

    def __init__(
        self,
        tables: CandidateTables,
        rows: LabelledRows,
        learned: IntArray,
        loss: Any,
        *,
        batch_size: int,
        relaxed: bool,
        free: bool,
        look_ahead: bool = True,
    ) -> None:
        self.tables = tables
        self.rows = rows
        self.learned = learned
        self.size = min(batch_size, len(learned))
        self.relaxed = relaxed
        self.free = free
        self.look_ahead = look_ahead and not relaxed
        self.steps = 0
        self.loss = loss
        self._loss: Loss = check_loss(loss)
        self._closed = closed_form(loss)
        self._adam = Adam(0)
        n_tables = tables.n_tables
        self.log_phi: FloatArray = np.zeros(n_tables)
        self._mean: FloatArray = np.zeros(n_tables)
        self._square: FloatArray = np.zeros(n_tables)
        states = tables.n_states[:-1]
        self.has_gaps = bool((rows.codes >= states).any())
        self._weights = np.empty(0) if rows.weights is None else rows.weights
        self._make_room()

    @property
    def n_batches(self) -> int:
        """Number of steps in an epoch."""
        return -(-len(self.learned) // self.size)

    @property
    def state(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays that change, by name; to be saved, or written to to go on."""
        tables = self.tables
        return {
            "log_theta": tables.log_theta,
            "theta": tables.theta,
            "mean": tables.mean,
            "root": tables.root,
            "kept": tables.kept,
            "kept_root": tables.kept_root,
            "ahead": tables.ahead,
            "moved": tables.moved,
            "scale": tables.scale,
            "log_phi": self.log_phi,
            "phi_mean": self._mean,
            "phi_square": self._square,
        }

    def epoch(
        self, rate: float, weight_rate: float, tau: float, random: np.random.Generator
    ) -> dict[str, float]:
        """One step per batch of rows; means over the batches as they came."""
        total = self.rows.total(self.learned)
        # One factor for all batches: in the mean, steps follow the mean loss of a row.
        factor = len(self.learned) / (self.size * total)
        order = random.permutation(self.learned)
        n_batches = self.n_batches
        at_once = max(1, NOISE // self.tables.n_tables)
        objective = error = 0.0
        go = self._by_kernel if self._closed is not None else self._by_loss
        for begin in range(0, n_batches, at_once):
            noise = random.gumbel(
                size=(min(at_once, n_batches - begin), self.tables.n_tables)
            )
            part = order[begin * self.size : (begin + len(noise)) * self.size]
            more, wrong = go(part, noise, factor, rate, weight_rate, tau)
            objective += more
            error += wrong
            self.steps += len(noise)
        self.tables.renew()
        return {"objective": objective / total, "train_error": error / total}

    def most_probable(self) -> list[int]:
        """Number of the most probable table of every feature, free of cycles."""
        self._draw(np.zeros(self.tables.n_tables), 1.0, hard=True)
        return [int(t) for t in self._chosen]

    def settle(self, *, everything: bool = True) -> None:
        """Bring tables, those drawn or all, to where Adam has them at this step."""
        from tanager.structure.gumbel._table_kernels import settle_tables

        tables, room = self.tables, self._room
        settle_tables(
            self._shares, everything, self.has_gaps, tables.theta, tables.log_theta,
            tables.mean, tables.root, tables.ahead, tables.moved, tables.scale,
            tables.n_states, tables.offsets, tables.first, self._adam.epsilon,
            room.steps, room.total, room.shift,
        )  # fmt: skip

    def entropy(self) -> float:
        """Mean entropy of the features' choices, in nats.

        Without an order it is that of the forest, a share of it for every feature, in
        the distribution in which forests are as probable as the product of their
        weights.
        """
        n_features = len(self.tables.first) - 1
        if n_features == 0:
            return 0.0
        if self.free:
            child, parent, *_ = self._forest
            weights = np.where(self.tables.is_open, self.log_phi[:-1], -np.inf)
            with one_blas_thread():
                found = forest_marginals(weights, child, parent, n_features)
            return forest_entropy(weights, *found) / n_features
        self._draw(np.zeros(self.tables.n_tables), 1.0, hard=True)
        soft = self._soft[self._soft > 0.0]
        return float(max(0.0, -(soft * np.log(soft)).sum() / n_features))

    def error(self, watched: IntArray) -> float:
        """Error of the most probable structure on some rows."""
        self._draw(np.zeros(self.tables.n_tables), 1.0, hard=True)
        self.settle(everything=False)
        wrong = 0.0
        for begin in range(0, len(watched), SCORED_ROWS):
            part = watched[begin : begin + SCORED_ROWS]
            wrong += self.rows.error(self._scores(part), part)
        return wrong / self.rows.total(watched)

    def _scores(self, part: IntArray) -> FloatArray:
        """Log joint of some rows under the present shares."""
        codes = np.ascontiguousarray(self.rows.codes[part].T)
        out = np.empty((len(part), int(self.tables.n_states[-1])))
        self._forward(codes, len(part), np.empty(len(part), dtype=np.int64), out)
        return out

    def _forward(
        self,
        codes: CodeArray,
        n_batch: int,
        cells: IntArray,
        out: FloatArray,
    ) -> None:
        from tanager.structure.gumbel import _candidate_kernels as kernels

        tables = self.tables
        kernels.forward(
            self._shares, codes, n_batch, self.has_gaps, tables.log_theta,
            tables.n_states, tables.offsets, tables.first, tables.parents,
            tables.strides, cells, out,
        )  # fmt: skip

    def _draw(self, noise: FloatArray, tau: float, *, hard: bool = False) -> None:
        from tanager.structure.gumbel import _candidate_kernels as kernels

        kernels.draw(
            self.log_phi, noise, tau, self.relaxed and not hard, self.free,
            self.tables.first, self.tables.is_open, self._forest, self._soft,
            self._shares,
        )  # fmt: skip

    def _by_kernel(
        self,
        order: IntArray,
        noise: FloatArray,
        factor: float,
        rate: float,
        weight_rate: float,
        tau: float,
    ) -> tuple[float, float]:
        """Batches of a loss that kernels know: all in one."""
        from tanager.structure.gumbel import _candidate_kernels as kernels

        adam = (self._adam.beta1, self._adam.beta2, self._adam.epsilon)
        objective, error = kernels.descend(
            self.rows.codes, self.rows.labels, self._weights, order, self.size, factor,
            self.has_gaps, noise, tau, self.relaxed, self.free, self.look_ahead, rate,
            weight_rate, self.steps, adam, self._closed, self._shape, self._tables,
            self._choice, self._forest, self._room,
        )  # fmt: skip
        return float(objective), float(error)

    def _by_loss(
        self,
        order: IntArray,
        noise: FloatArray,
        factor: float,
        rate: float,
        weight_rate: float,
        tau: float,
    ) -> tuple[float, float]:
        """Batches of any loss: it is asked between two kernels."""
        from tanager.structure.gumbel import _candidate_kernels as kernels

        adam, rows, tables, room = self._adam, self.rows, self.tables, self._room
        objective = error = 0.0
        for number, drawn in enumerate(noise):
            part = order[number * self.size : (number + 1) * self.size]
            kernels.take_batch(
                rows.codes, rows.labels, self._weights, part, room.codes, room.labels,
                room.weights,
            )  # fmt: skip
            self._draw(drawn, tau)
            self.settle(everything=not self.look_ahead)
            self._forward(room.codes, len(part), room.cells, room.log_joint)
            scores = room.log_joint[: len(part)]
            value, by_joint = self._loss.value_and_gradient(
                scores, rows.labels[part], rows.weights_of(part)
            )
            objective += value
            error += rows.error(scores, part)
            adam.steps = self.steps + number
            factors = adam.advance()
            kernels.backward(
                self._shares, self.look_ahead, room.codes, len(part), self.has_gaps,
                by_joint * factor, *self._tables, tables.n_states, tables.offsets,
                tables.first, tables.parents, tables.strides, rate, adam.beta1,
                adam.beta2, adam.epsilon, *factors, room.cells, room.entry_row,
                room.entry_class, room.entry_value, room.sums, room.slopes, room.total,
                room.shift, self._by_share,
            )  # fmt: skip
            kernels.step_weights(
                self._by_share, self._soft, tau, tables.first, self.log_phi,
                self._mean, self._square, weight_rate, adam.beta1, adam.beta2,
                adam.epsilon, *factors,
            )  # fmt: skip
        return objective, error

    def _make_room(self) -> None:
        """Make all arrays that a step needs, in the groups that `descend` takes."""
        from tanager.structure.trees._arborescence_kernels import forest_workspace

        tables, size = self.tables, self.size
        n_tables, n_classes = tables.n_tables, int(tables.n_states[-1])
        n_features = len(tables.first) - 1
        sizes = np.diff(tables.offsets)
        # The tables of one feature together, and a table without the owner's axis.
        most = int(np.diff(tables.offsets[tables.first]).max(initial=n_classes))
        width = int(
            max(1, (sizes[:-1] // tables.n_states[tables.owner]).max(initial=1))
        )
        self._shape = (
            tables.n_states, tables.offsets, tables.first, tables.parents,
            tables.strides, tables.is_open,
        )  # fmt: skip
        self._tables = (
            tables.theta, tables.log_theta, tables.mean, tables.root, tables.kept,
            tables.kept_root, tables.ahead, tables.moved, tables.scale,
        )  # fmt: skip
        self._soft, self._shares = np.zeros(n_tables), np.zeros(n_tables)
        self._by_share = np.zeros(n_tables)
        self._choice = (
            self.log_phi, self._mean, self._square, self._soft, self._shares,
            self._by_share,
        )  # fmt: skip
        single = [parents[0] if parents else -1 for parents in tables.sets]
        self._chosen = np.zeros(n_features, dtype=np.int64)
        self._forest = (
            tables.owner, np.array(single, dtype=np.int64), np.empty(n_tables - 1),
            self._chosen, forest_workspace(n_features, n_tables - 1),
        )  # fmt: skip
        self._room = Room(
            codes=np.zeros((n_features, size), dtype=self.rows.codes.dtype),
            labels=np.zeros(size, dtype=np.int64),
            weights=np.zeros(size),
            cells=np.zeros(size, dtype=np.int64),
            log_joint=np.zeros((size, n_classes)),
            by_joint=np.zeros((size, n_classes)),
            entry_row=np.zeros(size * n_classes, dtype=np.int64),
            entry_class=np.zeros(size * n_classes, dtype=np.int64),
            entry_value=np.zeros(size * n_classes),
            sums=np.zeros(n_classes),
            slopes=np.zeros(most),
            total=np.zeros(width),
            shift=np.zeros(width),
            steps=np.zeros(int(sizes.max())),
        )
