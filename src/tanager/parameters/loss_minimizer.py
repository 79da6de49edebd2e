"""`LossMinimizer`: the tables that make any loss small."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.errors import unknown_name
from tanager.losses import ConditionalLikelihoodLoss, Loss, check_loss
from tanager.losses.loss_checks import overflow_error
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.optim import Adam, Monitor, exponential_decay, warn_not_converged
from tanager.parameters.base import ParameterLearner, check_start
from tanager.parameters.initial_tables import first_tables
from tanager.parameters.network_likelihood import LOWEST
from tanager.parameters.softmax_tables import SoftmaxTables
from tanager.parameters.training_samples import LabelledRows, hold_out
from tanager.types import FloatArray, IntArray
from tanager.utils.validation import check_number, check_whole

MAX_RATE = 0.5
"""Largest rate: it is a step of a log probability, and steps may be seven times it."""

SCORED_ROWS = 4096
"""Held-out rows that are scored at once."""


class LossMinimizer(ParameterLearner):
    """Tables that make a loss small, by stochastic gradient steps (Adam).

    Parameters
    ----------
    loss : Loss, object with `value_and_gradient`, or None, default=None
        What to make small, a function of the log joint and the labels; see
        `tanager.losses.Loss`. None is `ConditionalLikelihoodLoss`.
    epochs : int, default=100
        How often the rows are gone through.
    batch_size : int or None, default=100
        Rows per step; None takes all of them at once.
    rate : float, default=0.03
        Size of the first steps, as a change of log probabilities; at most 0.5.
    decay : float, default=1e-3
        Factor by which the rate has fallen, exponentially, in the last epoch.
    early_stopping : float or None, default=None
        Share of the rows to hold out. The tables of least error on them are kept, and
        learning ends after `patience` epochs without a lower one.
    patience : int, default=20
        See `early_stopping`.
    start : {"frequency", "random"}, default="frequency"
        First tables: relative frequencies (those of `EM` for children of a variable
        that is never observed), or softmax of uniform numbers between -0.1 and 0.1 as
        in [1]_.
    alpha : float, default=1.0
        Pseudo-count of every cell when the first tables are frequencies; above 0.

    Attributes
    ----------
    trace_ : list of dict
        Per epoch "iteration"; "objective", the mean loss of a row, and "train_error",
        both over the batches as they came; "rate"; "seconds"; with early stopping
        "held_out_error" and "held_out_objective".
    n_iter_ : int
        Epochs gone through.

    Notes
    -----
    The tables are ``theta = softmax(beta)``; the chain rule goes from the derivative by
    the log joint, which the loss gives, over the cells that the rows touch to beta, and
    Adam moves beta. The structure may be any; a row with missing features is summed
    over them, exactly. If the junction tree for that would be too large, families with
    a missing member are left out where the class is a parent of every feature; other
    structures are refused. A loss that sees only differences between the classes leaves
    tables without the class as they are in complete rows.

    Rows come in a new random order in every epoch, so results depend on
    `random_state`, and on the order of the rows unless `batch_size` is None.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, sections 2.3 and 4.2.

    Examples
    --------
    A loss of one's own: squared distance of the probabilities from the truth.

    >>> from tanager import BayesNetClassifier
    >>> class Brier:
    ...     def value_and_gradient(self, log_joint, labels, weights):
    ...         p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    ...         p /= p.sum(axis=1, keepdims=True)
    ...         miss = p - np.eye(p.shape[1])[labels]
    ...         value = (miss**2).sum(axis=1)
    ...         slope = 2 * p * (miss - (miss * p).sum(axis=1, keepdims=True))
    ...         if weights is not None:
    ...             value, slope = value * weights, slope * weights[:, None]
    ...         return value.sum(), slope
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> learner = LossMinimizer(loss=Brier(), epochs=200, rate=0.1)
    >>> model = BayesNetClassifier(structure="nb", parameters=learner, random_state=0)
    >>> model = model.fit(X, [0, 0, 1, 1] * 5)
    >>> trace = model.parameters_.trace_
    >>> trace[0]["objective"] > 10 * trace[-1]["objective"]
    True
    """

    needs: ClassVar[Literal["counts", "rows"]] = "rows"
    order_matters = True

    def __init__(
        self,
        *,
        loss: Any = None,
        epochs: int = 100,
        batch_size: int | None = 100,
        rate: float = 0.03,
        decay: float = 1e-3,
        early_stopping: float | None = None,
        patience: int = 20,
        start: str = "frequency",
        alpha: float = 1.0,
    ) -> None:
        self.loss = loss
        self.epochs = epochs
        self.batch_size = batch_size
        self.rate = rate
        self.decay = decay
        self.early_stopping = early_stopping
        self.patience = patience
        self.start = start
        self.alpha = alpha

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Follow the gradient from `start`; see `ParameterLearner.learn`."""
        self._check()
        loss = check_loss(self._chosen_loss())
        random = np.random.default_rng(random_state)
        rows = LabelledRows.needed_by(self, data)
        layout = FamilyLayout.of_structure(data.schema, structure)
        learned, watched = np.arange(rows.n_rows), np.empty(0, dtype=np.intp)
        taught = data
        if self.early_stopping is not None:
            learned, watched = hold_out(rows.labels, self.early_stopping, random)
            taught = rows.take(data.schema, learned)
        if start is not None:
            check_start(start, layout)
            # No gradient leads away from a probability of zero.
            first = np.maximum(start.log_theta, LOWEST)
        elif self.start == "random":
            first = random.uniform(-0.1, 0.1, layout.n_cells)
        else:
            first = first_tables(structure, taught, self.alpha, random)
        tables = SoftmaxTables(layout, first, rows.codes, data.schema)
        monitor = Monitor()
        log_theta = self._descend(tables, loss, rows, learned, watched, random, monitor)
        self.trace_ = monitor.trace
        self.n_iter_ = len(monitor.trace)
        self._warn_if_worse()
        return Parameters(layout, log_theta)

    def _chosen_loss(self) -> Any:
        """The loss; learners with a loss of their own say which."""
        return ConditionalLikelihoodLoss() if self.loss is None else self.loss

    def _descend(
        self,
        tables: SoftmaxTables,
        loss: Loss,
        rows: LabelledRows,
        learned: IntArray,
        watched: IntArray,
        random: np.random.Generator,
        monitor: Monitor,
    ) -> FloatArray:
        """Go through the epochs; the last tables, or the best on the rows watched."""
        adam = Adam(tables.layout.n_cells)
        best, best_tables, best_epoch = (np.inf, np.inf), tables.log_theta, -1
        for epoch in range(self.epochs):
            rate = exponential_decay(self.rate, self.decay, epoch, self.epochs)
            report = self._epoch(tables, loss, rows, learned, adam, rate, random)
            self._check_finite(tables, adam)
            if len(watched) > 0:
                seen = _scores(tables, loss, rows, watched)
                report["held_out_error"], report["held_out_objective"] = seen
                if seen < best:
                    best, best_tables, best_epoch = seen, tables.log_theta.copy(), epoch
            monitor.record(**report)
            if len(watched) > 0 and epoch - best_epoch >= self.patience:
                break
        return best_tables if len(watched) > 0 else tables.log_theta

    def _epoch(
        self,
        tables: SoftmaxTables,
        loss: Loss,
        rows: LabelledRows,
        learned: IntArray,
        adam: Adam,
        rate: float,
        random: np.random.Generator,
    ) -> dict[str, float]:
        """One step per batch of rows; means over the batches as they came."""
        size = len(learned) if self.batch_size is None else self.batch_size
        size = min(size, len(learned))
        total = rows.total(learned)
        # One factor for all batches: in the mean, steps follow the mean loss of a row.
        factor = len(learned) / (size * total)
        # All rows at once need no order, and in their own give the same bits again.
        order = learned if self.batch_size is None else random.permutation(learned)
        objective = error = 0.0
        for begin in range(0, len(order), size):
            batch = order[begin : begin + size]
            log_joint = tables.forward(batch)
            value, by_joint = loss.value_and_gradient(
                log_joint, rows.labels[batch], rows.weights_of(batch)
            )
            tables.backward(by_joint * factor)
            tables.step(adam, rate)
            objective += value
            error += rows.error(log_joint, batch)
        tables.renew()
        return {
            "objective": objective / total,
            "train_error": error / total,
            "rate": rate,
        }

    def _check_finite(self, tables: SoftmaxTables, adam: Adam) -> None:
        """Refuse to go on where a gradient, finite itself, led out of the numbers."""
        if np.isfinite(tables.log_theta).all() and np.isfinite(adam.second).all():
            return
        raise overflow_error(self._chosen_loss())

    def _warn_if_worse(self) -> None:
        """Warn where steps led away: more epochs would not help, a lower rate would."""
        first, last = (self.trace_[k]["objective"] for k in (0, -1))
        if last > first + 0.1 * abs(first):
            warn_not_converged(
                self,
                f"ended with a mean loss of {last:.4g}, above the {first:.4g} of its "
                "first epoch",
                f"lower rate={self.rate:g}",
            )

    def _check(self) -> None:
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 1, none=True)
        check_number("rate", self.rate, above=0, most=MAX_RATE)
        check_number("decay", self.decay, above=0, most=1)
        share = self.early_stopping
        check_number("early_stopping", share, above=0, below=1, none=True)
        check_whole("patience", self.patience, 1)
        reason = ": a table entry of zero has no gradient"
        check_number("alpha", self.alpha, above=0, why=reason)
        if self.start not in ("frequency", "random"):
            raise unknown_name("start", self.start, ["frequency", "random"])


def _scores(
    tables: SoftmaxTables, loss: Loss, rows: LabelledRows, watched: IntArray
) -> tuple[float, float]:
    """Error and mean loss on held-out rows."""
    parts = [
        tables.forward(watched[begin : begin + SCORED_ROWS])
        for begin in range(0, len(watched), SCORED_ROWS)
    ]
    log_joint = np.concatenate(parts)
    value, _ = loss.value_and_gradient(
        log_joint, rows.labels[watched], rows.weights_of(watched)
    )
    total = rows.total(watched)
    return rows.error(log_joint, watched) / total, value / total
