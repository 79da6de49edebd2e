"""`GumbelTree` (TAN-Gumbel): structure and CPTs by one gradient descent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.folds import hold_out
from tanager.data.information import conditional_information
from tanager.data.round_count import RoundCount
from tanager.errors import InputError, unknown_name
from tanager.losses import HybridLoss, Loss, check_loss, set_margin
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.optim import Monitor
from tanager.parameters.loss_minimizer import MAX_RATE, LossMinimizer
from tanager.parameters.margin_scale import typical_margin
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import (
    Arc,
    Constraints,
    arc_positions,
    never_observed,
)
from tanager.structure.gumbel.candidate_cpts import CandidateCPTs
from tanager.structure.gumbel.candidate_options import CYCLIC, CandidateOptions
from tanager.structure.gumbel.cyclic_factors import make_factors
from tanager.structure.gumbel.gradient_descent import GumbelDescent
from tanager.structure.gumbel.parent_candidates import find_candidates
from tanager.structure.gumbel.training_loop import (
    CPT_STEPS,
    STRUCTURE_STEPS,
    Schedule,
    TrainingLoop,
    open_checkpoint,
    select_rate,
)
from tanager.types import IntArray
from tanager.utils.progress import watch
from tanager.utils.validation import check_flag, check_known, check_number, check_whole

FRACTION_WITH_MISSING = 0.1
"""Epochs that marginalise missing values, as a fraction of the epochs before."""


class GumbelTree(StructureLearner):
    """Tree, or network of few parents, learned with its CPTs by gradient descent.

    Every feature has candidate parents, among features before it in an order; there is
    a CPT for each of them, and a distribution over them. Each mini-batch samples a
    structure, and the gradient of any loss updates the sampled CPTs and the
    distribution. The result is the most probable structure with its CPTs.

    Parameters
    ----------
    loss : Loss, object with `value_and_gradient`, or None, default=None
        Loss to minimise; see `tanager.losses.Loss`. None means
        ``HybridLoss(gamma=None)``, whose margin is set from the data.
    order : str, sequence of all names, or None, default="random"
        Candidates come before their children in it: "random"; "omi", "omisp", "ocr" and
        "min-omi" as in `OrderBased`; "chow-liu": parents before children in the tree of
        `ChowLiu`; for pixels "rows", "diagonal" and "centre" (outward); or all names.
        None: no order, every feature may be a candidate of every other; each sample is
        the maximum-weight forest under the noise, and so is the result. "cyclic": no
        order, and every feature selects its parent regardless of the others
        (pseudo-TAN); see `Notes`.
    candidates : {"random", "nearest", "information"} or mapping, default="random"
        Which of the earlier features are candidates: "random" ones, where those of a
        smaller `n_candidates` are among those of a larger one; the "nearest" pixels;
        those with the largest "information", I(X_i; X_j | C); or a mapping from names
        to lists of names of any length. A feature without an observed value is no
        candidate.
    n_candidates : int or None, default=8
        Maximum number of candidates of a feature; None means all.
    k : int, default=1
        Maximum number of feature parents of a feature; more than one needs an order
        other than "cyclic". There is a CPT for every set of up to k candidates.
    image_shape : (int, int) or None, default=None
        Height and width, where features are pixels, row by row; None means a square.
    estimator : {"straight-through", "relaxed"}, default="straight-through"
        "straight-through": CPTs are sampled, the distribution gets the gradient of the
        relaxed sample. "relaxed": all CPTs are mixed by their relaxed probabilities;
        without an order the mixture may have cycles, the result has none.
    epochs : int, default=300
        Number of passes over the samples.
    batch_size : int or None, default=100
        Samples per step; None means all.
    rate : float or None, default=None
        Initial learning rate of the CPTs; at most 0.5. None means 300 divided by the
        number of all steps, between 0.01 and 0.1.
    decay : float, default=1e-3
        Factor by which the rate falls, exponentially, until the last epoch.
    structure_rate : float or None, default=None
        Learning rate of the structure distribution. None means 30 divided by the number
        of all steps, between 0.001 and 0.1.
    temperature : (float, float), default=(10.0, 0.1)
        Temperature of the relaxed samples in the first and the last epoch, exponential
        in between.
    start : {"random", "frequency"}, default="random"
        Initial CPTs: softmax of uniform random numbers between -0.1 and 0.1 as in
        [1]_, or relative frequencies.
    alpha : float, default=1.0
        Pseudo-count of every cell where the initial CPTs are frequencies; above 0.
    prefer : {"information"}, collection of (parent, child) names, or None, default=None
        Arcs that are more probable initially: these, or all by their I(X_i; X_j | C).
        Use it for knowledge that the data may overrule, or to start from the structure
        of another learner; `constraints` cannot be overruled.
    preference : float, default=2.0
        Initial log odds of preferred arcs against others; with "information", of the
        most informative one.
    held_out : float or None, default=None
        Fraction of the samples to hold out; every epoch reports their error.
    constraints, max_seconds, verbose
        As in `GreedyKTree`; the order respects required arcs and tiers. At least one
        epoch is run.
    checkpoint : str, path or None, default=None
        A file to which the state is saved about every half minute, less often if that
        takes long. If the file exists, training resumes from it, with the same result
        as without the break. It is deleted at the end. Data, arguments and
        `random_state` must be the same; only `max_seconds` and `verbose` may change. So
        the classifier needs a `random_state`, and every fit a file of its own: do not
        use `checkpoint` in a cross-validation.

    Notes
    -----
    [1]_, section 3: TAN All is ``n_candidates=None``, TAN Subset the default, TAN
    Heuristic one of the orders of pixels with ``candidates="nearest"``. There
    ``epochs=500``, ``rate`` is 0.003 or 0.03, ``structure_rate=1e-3``, and lambda and
    gamma are tuned. To keep the CPTs give ``parameters="keep"``, as the names
    ``TAN-Gumbel-HYB`` do; any other parameter learner estimates new CPTs for the
    structure.

    ``order="cyclic"`` is the pseudo-TAN of section 4.5, whose arcs may form cycles.
    There is no joint distribution of the features then: the result is a
    `LogLinearNetwork`, which classifies, explains and is saved, with one factor for
    every arc. It takes ``parameters="keep"`` (or "auto") only. A feature whose parent
    is missing has the CPT without feature parents, in training and in prediction.

    A sample with a missing parent uses the CPT without feature parents, and a missing
    feature is ignored. Such samples are classified by marginalising the missing values,
    so where there are any, `LossMinimizer` continues to train the CPTs with exact
    marginals, for a tenth of the epochs.

    The trace has for every epoch "iteration"; "objective", the mean loss, and
    "train_error", both over the batches and the sampled structures; "entropy" of the
    structure distribution, per feature in nats; "temperature"; "rate"; "seconds"; with
    `held_out` the "held_out_error" of the most probable structure.

    Results depend on `random_state` and on the order of the samples.

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

    Without the condition that there is no cycle:

    >>> model = BayesNetClassifier(structure=GumbelTree(order="cyclic"), random_state=0)
    >>> model.fit(X, y).network_
    <LogLinearNetwork: 3 variables, 1 factors, 5 parameters>
    """

    gives_tables: ClassVar[bool] = True
    order_matters = True
    # Class of the default loss, whose weights a hyperparameter search sets.
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
        prefer: str | Collection[Arc] | None = None,
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
    def gives_factors(self) -> bool:  # type: ignore[override]
        """Whether the arcs may form cycles, so that the model is no `Network`."""
        return isinstance(self.order, str) and self.order.lower() == CYCLIC

    @property
    def rounds(self) -> RoundCount:
        """Rounds; see `StructureLearner`.

        The samples are read, and again for missing values or factors; the margin takes
        two passes, what is never observed one, the order up to three, the ranking of
        the candidates and `prefer` one each.
        """
        epochs = (1, "epoch (a tenth more of them if values are missing)")
        if self.start == "random":
            return RoundCount(10, (epochs,))
        return RoundCount(11, ((1, "set of candidate parents of a feature"), epochs))

    def check(self, schema: Schema) -> None:
        """Check the arguments; see `StructureLearner.check`."""
        if self.loss is not None:
            check_loss(self.loss)
        for name, known in (
            ("estimator", ["straight-through", "relaxed"]),
            ("start", ["frequency", "random"]),
        ):
            check_known(name, getattr(self, name), known)
        check_whole("epochs", self.epochs, 1)
        check_whole("batch_size", self.batch_size, 1, none=True)
        check_number("rate", self.rate, above=0, most=MAX_RATE, none=True)
        check_number("decay", self.decay, above=0, most=1)
        check_number(
            "structure_rate", self.structure_rate, least=0, most=MAX_RATE, none=True
        )
        self._temperatures()
        reason = ": a CPT entry of zero has no gradient"
        check_number("alpha", self.alpha, above=0, why=reason)
        if isinstance(self.prefer, str):
            if self.prefer != "information":
                raise unknown_name("prefer", self.prefer, ["information"])
        elif isinstance(self.prefer, Collection):
            for parent, child in arc_positions(schema, self.prefer, "prefer"):
                if child == len(schema) - 1:
                    raise InputError(
                        f"prefer has ({schema[parent].name!r}, {schema[child].name!r})"
                        ", but the class has no parents here."
                    )
        elif self.prefer is not None:
            raise InputError(
                "prefer must be None, 'information' or a list of (parent, child) pairs "
                f"of names, got {self.prefer!r}."
            )
        check_number("preference", self.preference, least=0)
        check_number("held_out", self.held_out, above=0, below=1, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        self._options().resolve(schema)

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Run all epochs; see `StructureLearner.learn`.

        When the time is up, or on Ctrl-C, a warning is issued and the result is the
        current structure; a checkpoint remains, to resume from.
        """
        self.check(data.schema)
        random = np.random.default_rng(random_state)
        with watch(self, self.max_seconds, verbose=self.verbose, every=True):
            return self._learn(data, random)

    def _learn(self, data: CodedData, random: np.random.Generator) -> StructureResult:
        began = perf_counter()
        rows = LabelledSamples.of(data, self)
        checkpoint = None
        if self.checkpoint is not None:
            checkpoint = open_checkpoint(self, data.schema, rows, random)
        learned, validation = np.arange(len(rows.labels)), np.empty(0, dtype=np.intp)
        if self.held_out is not None:
            learned, validation = hold_out(rows.labels, self.held_out, random)
        # Held-out samples affect neither order nor candidates nor initial weights.
        training = rows.take(data.schema, learned)
        counted = data if self.held_out is None else training
        loss = HybridLoss(gamma=None) if self.loss is None else self.loss
        loss = set_margin(loss, partial(typical_margin, training))
        empty = never_observed(counted, np.arange(len(data.schema) - 1))
        tables = CandidateCPTs(
            data.schema, find_candidates(counted, self._options(), random, empty=empty)
        )
        if self.start == "random":
            tables.start_from(random.uniform(-0.1, 0.1, len(tables.log_theta)))
        else:
            tables.start_from_frequencies(training, float(self.alpha))
        descent = GumbelDescent(
            tables,
            rows,
            learned,
            loss,
            batch_size=len(learned) if self.batch_size is None else self.batch_size,
            relaxed=self.estimator == "relaxed",
            unordered=self.order is None,
        )
        self._prefer(descent, counted)
        del training, counted  # copies of samples, which steps do not need
        monitor = Monitor(self, self.epochs, unit="epoch")
        steps = self.epochs * descent.n_batches
        schedule = Schedule(
            self.epochs,
            select_rate(self.rate, steps, *CPT_STEPS),
            float(self.decay),
            select_rate(self.structure_rate, steps, *STRUCTURE_STEPS),
            *self._temperatures(),
        )
        loop = TrainingLoop(descent, schedule, validation, random, monitor, checkpoint)
        loop.run(began)
        return self._finish(loop, loss, learned, rows, data.schema)

    def _finish(
        self,
        loop: TrainingLoop,
        loss: Loss,
        learned: IntArray,
        rows: LabelledSamples,
        schema: Schema,
    ) -> StructureResult:
        """The most probable structure and its CPTs, after the epochs."""
        descent, trace = loop.descent, tuple(loop.monitor.trace)
        tables, schedule = descent.tables, loop.schedule
        descent.retract()
        tables.normalise()
        chosen = descent.most_probable()
        if self.gives_factors:
            return StructureResult(
                Structure.class_rooted([()] * len(schema), len(schema) - 1),
                trace,
                factors=make_factors(schema, tables, chosen, rows, learned),
            )
        structure, parameters = tables.network(chosen)
        if descent.has_missing and loop.is_done:
            # The epochs used the CPT without parents where a parent is missing, but
            # the classifier marginalises the parent: train with that, too.
            minimizer = LossMinimizer(
                loss=loss,
                epochs=max(1, round(self.epochs * FRACTION_WITH_MISSING)),
                batch_size=self.batch_size,
                rate=schedule.rate,
                decay=schedule.decay,
            )
            parameters = minimizer.learn(
                structure,
                rows.take(schema, learned),
                start=parameters,
                random_state=loop.random,
            )
        return StructureResult(structure, trace, parameters)

    def _options(self) -> CandidateOptions:
        return CandidateOptions(
            order=self.order,
            candidates=self.candidates,
            n_candidates=self.n_candidates,
            k=self.k,
            image_shape=self.image_shape,
            constraints=self.constraints,
        )

    def _temperatures(self) -> tuple[float, float]:
        """Return the temperatures of the first and the last epoch."""
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
        """Set the initial structure weights of preferred arcs."""
        if self.prefer is None:
            return
        n_features = len(data.schema) - 1
        # The last row, of zeros, is for the padding of parents by -1.
        bonus = np.zeros((n_features + 1, n_features))
        if isinstance(self.prefer, str):
            # Rounded as for candidates, so that rounding errors are no information.
            information = np.round(conditional_information(data), 12)
            scale = self.preference / information.max(initial=1e-300)
            bonus[:-1] = information * scale
        else:
            for parent, child in arc_positions(data.schema, self.prefer, "prefer"):
                if parent < n_features:  # arcs from the class always exist
                    bonus[parent, child] = self.preference
        parents, owner = descent.tables.parents[:-1], descent.tables.owner[:, None]
        descent.log_phi[:-1] = bonus[parents, owner].sum(axis=1)
