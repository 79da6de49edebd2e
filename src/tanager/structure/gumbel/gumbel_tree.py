"""`GumbelTree` (TAN-Gumbel): structure and tables by one gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.information import conditional_information
from tanager.errors import InputError, unknown_name
from tanager.losses import HybridLoss, Loss, check_loss
from tanager.model.schema import Schema
from tanager.optim import Monitor
from tanager.parameters.class_margins import typical_margin
from tanager.parameters.loss_minimizer import MAX_RATE, LossMinimizer
from tanager.parameters.training_samples import LabelledRows, hold_out
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import (
    Arc,
    Constraints,
    arc_positions,
    check_constraints,
    never_observed,
)
from tanager.structure.gumbel.candidate_tables import CandidateTables
from tanager.structure.gumbel.gradient_descent import GumbelDescent
from tanager.structure.gumbel.parent_candidates import candidates_of, check_candidates
from tanager.structure.gumbel.training_loop import GumbelRun, Schedule, checkpoint_of
from tanager.structure.orders.feature_orders import known_precedence
from tanager.structure.search.search_loop import warn_interrupted, warn_out_of_time
from tanager.utils.validation import check_flag, check_number, check_whole

SHARE_WITH_GAPS = 0.1
"""Epochs with sums over missing values, as a share of those before."""

SHARE_OF_MARGIN = 0.5
"""The margin asked for, as a share of a typical one, where no loss is given."""

GO_ON = "The same call goes on from '{}'."

FREE_PARAMETERS = ("checkpoint", "max_seconds", "verbose")
"""Arguments that may be others when a run goes on from a checkpoint."""


class GumbelTree(StructureLearner):
    """Tree or network of few parents, learned together with its tables by a gradient.

    Every feature has candidates for its feature parents, among features before it in an
    order; there is a table for each of them and a distribution over them. Each
    mini-batch draws a structure, and the gradient of any loss moves the tables drawn
    and the distribution. In the end the most probable structure is kept, with its
    tables.

    Parameters
    ----------
    loss : Loss, object with `value_and_gradient`, or None, default=None
        What to make small; see `tanager.losses.Loss`. None is `HybridLoss` with
        ``lambda_=100`` and gamma half of `typical_margin`, from the data.
    order : str, sequence of all names, or None, default="random"
        Candidates come before their children in it: "random"; "omi", "omisp", "ocr" and
        "min-omi" as in `OrderBased`; "chow-liu": parents before children in the tree of
        `ChowLiu`; for pixels "rows", "diagonal" and "centre" (outward); or all names.
        None: no order, every feature may be a candidate of every other; each draw is
        the best forest under the noise, and so is the result.
    candidates : {"random", "nearest", "information"} or mapping, default="random"
        Which features before are candidates: "random" ones, those of a smaller
        `n_candidates` among those of a larger; the "nearest" pixels; those of greatest
        "information", I(X_i; X_j | C); or a mapping from names to lists of names,
        whatever their number. A feature without any value is no candidate.
    n_candidates : int or None, default=8
        Candidates of a feature, at most; None is all.
    k : int, default=1
        Feature parents of a feature, at most; more than one needs an order. There is a
        table for every set of up to k candidates.
    image_shape : (int, int) or None, default=None
        Height and width, where features are pixels, row by row; None is a square.
    estimator : {"straight-through", "relaxed"}, default="straight-through"
        "straight-through": tables are drawn, the distribution gets the gradient of its
        softened draw. "relaxed": all tables count by their softened share; without an
        order these shares may have cycles, the result has none.
    epochs : int, default=300
        How often the rows are gone through.
    batch_size : int or None, default=100
        Rows per step; None takes all of them at once.
    rate : float or None, default=None
        Size of the first steps of log probabilities; at most 0.5. None is 300 by the
        number of all steps, between 0.01 and 0.1: short runs on few rows get far, too.
    decay : float, default=1e-3
        Factor by which the rate has fallen, exponentially, in the last epoch.
    structure_rate : float or None, default=None
        Size of the steps of the distribution's log probabilities. None is 30 by the
        number of all steps, between 0.001 and 0.1.
    temperature : (float, float), default=(10.0, 0.1)
        Of the softened draw, in the first and the last epoch, exponentially in between.
    start : {"random", "frequency"}, default="random"
        First tables: softmax of uniform numbers between -0.1 and 0.1 as in [1]_, or
        relative frequencies.
    alpha : float, default=1.0
        Pseudo-count of every cell when the first tables are frequencies; above 0.
    prefer : {"information"}, sequence of (parent, child) names, or None, default=None
        Arcs that are more probable in the beginning: these, or all by their
        I(X_i; X_j | C).
    preference : float, default=2.0
        What preferred arcs have in log probability before others; of "information" the
        most informative one.
    held_out : float or None, default=None
        Share of the rows to hold out, whose error is reported in every epoch.
    constraints, max_seconds, verbose
        As in `GreedyKTree`; the order keeps to the arcs and tiers. There is one epoch
        at least.
    checkpoint : str, path or None, default=None
        A file to which the state is saved about every half minute, less often if that
        takes long. If the file is there already, learning goes on from it, with the
        same result as without the break. It is removed in the end. The same data,
        arguments and `random_state` are asked for, so the classifier needs a
        `random_state`, and every fit a file of its own: no cross-validation. Other
        values of `max_seconds` and `verbose` will do.

    Notes
    -----
    [1]_, section 3: TAN All is ``n_candidates=None``, TAN Subset the default, TAN
    Heuristic one of the orders of pixels with ``candidates="nearest"``. There
    ``epochs=500``, ``rate`` is 0.003 or 0.03, ``structure_rate=1e-3``, and lambda and
    gamma are searched for. To keep the tables give ``parameters="keep"``, as the names
    ``TAN-Gumbel-HYB`` do; any other learner of parameters learns tables for the
    structure that was found.

    A row in which the parent is missing counts with the table without feature parents,
    a missing feature not at all. Such rows are classified by a sum over what is
    missing, so where there are any, the tables found are learned on with such sums, by
    `LossMinimizer`, for a tenth of the epochs.

    The trace has per epoch "iteration"; "objective", the mean loss of a row, and
    "train_error", both over the batches as they came and of the structures drawn;
    "entropy" of the features' choices, in nats, in the mean; "temperature"; "rate";
    "seconds"; with `held_out` the "held_out_error" of the most probable structure.

    Results depend on `random_state` and on the order of the rows.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 25
    >>> y = [0, 1, 1, 0] * 25
    >>> model = BayesNetClassifier(
    ...     structure=GumbelTree(), parameters="keep", random_state=0
    ... )
    >>> model.fit(X, y).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    >>> model.score(X, y)
    1.0
    """

    gives_tables: ClassVar[bool] = True
    # The kind of loss where none is given; a search of settings sets its weights.
    default_loss: ClassVar[type[Loss]] = HybridLoss

    def __init__(
        self,
        loss: Any = None,
        *,
        order: str | Sequence[str] | None = "random",
        candidates: str | Mapping[str, Sequence[str]] = "random",
        n_candidates: int | None = 8,
        k: int = 1,
        image_shape: tuple[int, int] | None = None,
        estimator: str = "straight-through",
        epochs: int = 300,
        batch_size: int | None = 100,
        rate: float | None = None,
        decay: float = 1e-3,
        structure_rate: float | None = None,
        temperature: tuple[float, float] = (10.0, 0.1),
        start: str = "random",
        alpha: float = 1.0,
        prefer: str | Sequence[Arc] | None = None,
        preference: float = 2.0,
        held_out: float | None = None,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        checkpoint: Any = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.order = order
        self.candidates = candidates
        self.n_candidates = n_candidates
        self.k = k
        self.image_shape = image_shape
        self.estimator = estimator
        self.epochs = epochs
        self.batch_size = batch_size
        self.rate = rate
        self.decay = decay
        self.structure_rate = structure_rate
        self.temperature = temperature
        self.start = start
        self.alpha = alpha
        self.prefer = prefer
        self.preference = preference
        self.held_out = held_out
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def order_matters(self) -> bool:
        """Whether the result depends on the order of the rows."""
        return True

    def check(self, schema: Schema) -> None:
        """Refuse arguments that cannot be; see `StructureLearner.check`."""
        if self.loss is not None:
            check_loss(self.loss)
        if self.estimator not in ("straight-through", "relaxed"):
            raise unknown_name(
                "estimator", self.estimator, ["straight-through", "relaxed"]
            )
        check_whole("k", self.k, 1)
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 1, none=True)
        check_number("rate", self.rate, above=0, most=MAX_RATE, none=True)
        check_number("decay", self.decay, above=0, most=1)
        check_number(
            "structure_rate", self.structure_rate, least=0, most=MAX_RATE, none=True
        )
        self._temperatures()
        if self.start not in ("frequency", "random"):
            raise unknown_name("start", self.start, ["frequency", "random"])
        reason = ": a table entry of zero has no gradient"
        check_number("alpha", self.alpha, above=0, why=reason)
        if isinstance(self.prefer, str):
            if self.prefer != "information":
                raise unknown_name("prefer", self.prefer, ["information"])
        elif self.prefer is None or isinstance(self.prefer, Iterable):
            for parent, child in arc_positions(schema, self.prefer or (), "prefer"):
                if child == len(schema) - 1:
                    raise InputError(
                        f"prefer has ({schema[parent].name!r}, {schema[child].name!r})"
                        ", but the class has no parents here."
                    )
        else:
            raise InputError(
                "prefer must be None, 'information' or a list of (parent, child) pairs "
                f"of names, got {self.prefer!r}."
            )
        check_number("preference", self.preference, least=0)
        check_number("held_out", self.held_out, above=0, below=1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        check_candidates(schema, **self._choices(schema))

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Go through the epochs; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, the structure so far is the result, and a
        warning says so; a checkpoint stays, to go on from.
        """
        began = perf_counter()
        self.check(data.schema)
        random = np.random.default_rng(random_state)
        rows = LabelledRows.needed_by(self, data)
        kept = None
        if self.checkpoint is not None:
            settings = self.get_params(deep=False)
            for name in FREE_PARAMETERS:
                del settings[name]
            kept = checkpoint_of(self.checkpoint, settings, data.schema, rows, random)
        learned, watched = np.arange(rows.n_rows), np.empty(0, dtype=np.intp)
        if self.held_out is not None:
            learned, watched = hold_out(rows.labels, self.held_out, random)
        # Rows that are held out say nothing about order, candidates and first weights.
        taught = rows.take(data.schema, learned)
        counted = data if self.held_out is None else taught
        choices = self._choices(data.schema)
        empty = never_observed(counted, np.arange(len(data.schema) - 1))
        choices["constraints"] = choices["constraints"].without_parents(empty)
        found = candidates_of(counted, **choices, random_state=random)
        loss = self.loss
        if loss is None:
            loss = HybridLoss(gamma=typical_margin(taught) * SHARE_OF_MARGIN)
        tables = CandidateTables(data.schema, found)
        if self.start == "random":
            tables.start_from(random.uniform(-0.1, 0.1, len(tables.log_theta)))
        else:
            tables.start_from_frequencies(taught, float(self.alpha))
        descent = GumbelDescent(
            tables,
            rows,
            learned,
            loss,
            batch_size=len(learned) if self.batch_size is None else self.batch_size,
            relaxed=self.estimator == "relaxed",
            free=self.order is None,
        )
        self._prefer(descent, counted)
        del taught, counted  # copies of rows, which steps do not need
        monitor = Monitor()
        schedule = Schedule.planned(
            self.epochs,
            descent.n_batches,
            rate=self.rate,
            decay=self.decay,
            structure_rate=self.structure_rate,
            temperatures=self._temperatures(),
        )
        run = GumbelRun(descent, schedule, watched, random, monitor, kept)
        ends = np.inf if self.max_seconds is None else began + self.max_seconds
        try:
            run.go(began, ends, verbose=self.verbose)
            if not run.is_done:
                more = {"advice": GO_ON.format(self.checkpoint)} if kept else {}
                warn_out_of_time(self, len(monitor.trace), unit="epochs", **more)
        except KeyboardInterrupt:
            # An epoch that was cut short is no state to save.
            warn_interrupted(self, len(monitor.trace), unit="epochs")
        descent.settle()
        tables.renew()
        structure, parameters = tables.network(descent.most_probable())
        if descent.has_gaps and run.is_done:
            # So far a row without the parent had the table without parents. Rows are
            # classified by a sum over the parent, and that is what is learned now.
            last = LossMinimizer(
                loss=loss,
                epochs=max(1, round(self.epochs * SHARE_WITH_GAPS)),
                batch_size=self.batch_size,
                rate=schedule.rate,
                decay=schedule.decay,
            )
            parameters = last.learn(
                structure,
                rows.take(data.schema, learned),
                start=parameters,
                random_state=random,
            )
        return StructureResult(structure, tuple(monitor.trace), parameters)

    def _choices(self, schema: Schema) -> dict[str, Any]:
        """What candidates are made from."""
        return {
            "order": self.order,
            "candidates": self.candidates,
            "n_candidates": self.n_candidates,
            "k": self.k,
            "image_shape": self.image_shape,
            "constraints": check_constraints(self.constraints).compile(
                schema,
                max_parents=self.k,
            ),
            "before": known_precedence(schema, self.constraints),
        }

    def _temperatures(self) -> tuple[float, float]:
        """Temperature of the first and of the last epoch."""
        try:
            first, last = self.temperature
        except (TypeError, ValueError):
            raise InputError(
                "temperature must be a pair, that of the first and of the last epoch, "
                f"such as (10.0, 0.1); got {self.temperature!r}."
            ) from None
        check_number("temperature", first, above=0)
        check_number("temperature", last, above=0)
        return float(first), float(last)

    def _prefer(self, descent: GumbelDescent, data: CodedData) -> None:
        """Give arcs their head start."""
        if self.prefer is None:
            return
        n_features = len(data.schema) - 1
        bonus = np.zeros((n_features, n_features))
        if isinstance(self.prefer, str):
            # As for candidates: what rounding leaves of no information is none.
            information = np.round(conditional_information(data), 12)
            bonus = information * (self.preference / information.max(initial=1e-300))
        else:
            for parent, child in arc_positions(data.schema, self.prefer, "prefer"):
                if parent < n_features:  # those of the class are there anyway
                    bonus[parent, child] = self.preference
        tables = descent.tables
        parents = tables.parents[:-1]  # padded by -1: the last bonus, zero
        bonus = np.vstack([bonus, np.zeros((1, n_features))])
        descent.log_phi[:-1] = bonus[parents, tables.owner[:, None]].sum(axis=1)
