"""`LossMinimizer`: CPTs that minimise a loss."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.folds import hold_out
from tanager.data.round_count import RoundCount
from tanager.losses import ConditionalLikelihoodLoss, check_loss, set_margin
from tanager.model.layout import FamilyLayout, Parameters
from tanager.model.structure import Structure
from tanager.optim import Monitor, exponential_decay, warn_not_converged
from tanager.parameters.base import ParameterLearner
from tanager.parameters.epoch_descent import EpochDescent
from tanager.parameters.frequency import Frequency
from tanager.parameters.initial_cpts import (
    check_start,
    make_initial_cpts,
    make_random_cpts,
)
from tanager.parameters.margin_scale import typical_margin
from tanager.parameters.softmax_cpts import SoftmaxCPTs
from tanager.parameters.softmax_objective import LOWEST
from tanager.parameters.training_samples import LabelledSamples
from tanager.types import FloatArray
from tanager.utils.progress import keep_best, report
from tanager.utils.validation import check_number, check_whole

MAX_RATE = 0.5
"""Largest rate, a step of a log probability; steps may be seven times as large."""

KEPT_BYTES = 250_000_000
"""Size of the states of the epochs in a checkpoint, about; there may be fewer states
than epochs."""


class LossMinimizer(ParameterLearner):
    """CPTs that minimise a loss by stochastic gradient steps (Adam).

    Parameters
    ----------
    loss : Loss, object with `value_and_gradient`, or None, default=None
        The loss, a function of the log joint and the labels; see
        `tanager.losses.Loss`. None is `ConditionalLikelihoodLoss`.
    epochs : int, default=100
        Number of passes over the samples.
    batch_size : int or None, default=100
        Samples per step; None takes all of them at once.
    rate : float, default=0.03
        Size of the first steps, as a change of log probabilities; at most 0.5.
    decay : float, default=1e-3
        Factor by which the rate has fallen, exponentially, in the last epoch.
    early_stopping : float or None, default=None
        Fraction of the samples for a validation set. The CPTs with the lowest error on
        it are kept, and learning ends after `patience` epochs without a lower one.
    patience : int, default=20
        See `early_stopping`.
    start : {"frequency", "random"}, default="frequency"
        Initial CPTs: relative frequencies (those of `EM` for children of a variable
        that is never observed), or softmax of uniform random numbers between -0.1 and
        0.1 as in [1]_.
    alpha : float, default=1.0
        Pseudo-count of every cell when the initial CPTs are frequencies; above 0.

    Attributes
    ----------
    trace_ : list of dict
        Per epoch "iteration"; "objective", the mean loss, and "train_error", both over
        the batches as they were trained on; "rate"; "seconds"; with early stopping
        "held_out_error" and "held_out_objective".
    n_iter_ : int
        Number of epochs.

    Notes
    -----
    The CPTs are ``theta = softmax(beta)``; the chain rule leads from the derivative by
    the log joint, which the loss computes, over the cells of the samples to beta, and
    Adam moves beta. The structure may be any; missing features are marginalised
    exactly. If the junction tree for that would be too large, families with a missing
    member are left out where the class is a parent of every feature, with a warning;
    other structures raise an error. A loss of differences between the classes leaves
    CPTs without the class as they are if no feature is missing.

    ``LossMinimizer(loss=MarginLoss())`` (MM) maximises margins between the classes
    [2]_, ``LossMinimizer(loss=HybridLoss())`` (HYB) likelihood and margins together.
    The defaults are those with the lowest error on a quarter of the training samples of
    letter, satimage and usps, relative to that of frequencies, naive Bayes and Chow-Liu
    trees together. Letter (16 features) prefers a smaller margin, the others a larger
    one: ``HybridLoss(gamma=None)``, as in the names that end in ``-HYB``, takes it from
    the data. Tune `gamma` first, from 1 up to 100.

    Samples come in a new random order in every epoch, so results depend on
    `random_state`, and on the order of the samples unless `batch_size` is None.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, sections 2.3, 4 and 4.2.
    .. [2] Pernkopf, Wohlmayr, Tschiatschek (2012), Maximum margin Bayesian network
       classifiers.

    Examples
    --------
    A custom loss, the Brier score:

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

    order_matters = True
    # To read the samples, for the initial CPTs, and twice for the margin of a loss.
    rounds = RoundCount(4, ((1, "epoch"),))

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
        random = np.random.default_rng(random_state)
        rows = LabelledSamples.of(data, self)
        layout = FamilyLayout.of_structure(data.schema, structure)
        training, validation = np.arange(len(rows.labels)), np.empty(0, dtype=np.intp)
        taught = data
        if self.early_stopping is not None:
            training, validation = hold_out(rows.labels, self.early_stopping, random)
            taught = rows.take(data.schema, training)
        loss = check_loss(
            set_margin(
                self._loss(), lambda: typical_margin(rows.take(data.schema, training))
            )
        )
        if start is not None:
            start.check_start(layout)
            # No gradient leads away from a probability of zero.
            first = np.maximum(start.log_theta, LOWEST)
        elif self.start == "random":
            first = make_random_cpts(layout, random)
        else:
            first = make_initial_cpts(
                structure, taught, Frequency(alpha=self.alpha), random
            )
        cpts = SoftmaxCPTs(layout, first, rows.codes, data.schema)
        monitor = Monitor(self, self.epochs, unit="epoch")
        descent = EpochDescent(
            cpts, loss, self._loss(), rows, training, validation, self.batch_size,
            random, monitor,
        )  # fmt: skip
        log_theta = self._descend(descent, data)
        self.trace_ = monitor.trace
        self.n_iter_ = len(monitor.trace)
        self._warn_if_worse()
        return Parameters(layout, log_theta)

    def _loss(self) -> Any:
        """The loss to minimise."""
        return ConditionalLikelihoodLoss() if self.loss is None else self.loss

    def _descend(self, descent: EpochDescent, data: CodedData) -> FloatArray:
        """Run the epochs; the last CPTs, or the best on the validation set.

        Every call of `recall` gives a state that a checkpoint can keep.
        """
        rates = [
            exponential_decay(self.rate, self.decay, epoch, self.epochs)
            for epoch in range(self.epochs)
        ]
        state = descent.state
        # A checkpoint with the states of all epochs would be too large for many cells.
        size = max(1, -(-self.epochs * state.n_bytes // KEPT_BYTES))
        ended = False
        with keep_best(self, lambda: f"{descent.epoch} epochs"):
            report(self, 0, self.epochs, unit="epoch")
            while state.epoch < self.epochs and descent.waited(state) < self.patience:
                following = rates[state.epoch : state.epoch + size]
                state = data.recall(
                    "epochs", partial(descent.run, state, following, self.patience)
                )
                descent.restore(state)
            ended = True
        if not ended:
            descent.cpts.renew()
        return descent.log_theta

    def _warn_if_worse(self) -> None:
        """Warn where the loss rose: more epochs would not help, a lower rate would."""
        if not self.trace_:
            return
        first, last = (self.trace_[k]["objective"] for k in (0, -1))
        if last > first + 0.1 * abs(first):
            warn_not_converged(
                self,
                f"ended with a mean loss of {last:.4g}, above the {first:.4g} of its "
                "first epoch",
                f"lower rate={self.rate:g}",
            )

    def _check(self) -> None:
        check_loss(self._loss())
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 1, none=True)
        check_number("rate", self.rate, above=0, most=MAX_RATE)
        check_number("decay", self.decay, above=0, most=1)
        held_out = self.early_stopping
        check_number("early_stopping", held_out, above=0, below=1, none=True)
        check_whole("patience", self.patience, 1)
        reason = ": a probability of zero has no gradient"
        check_number("alpha", self.alpha, above=0, why=reason)
        check_start(self.start)
