"""`FactorSearch`: factors over one to three features, without a tree constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tanager.data.coded_data import ArrayData, CodedData
from tanager.data.round_count import RoundCount
from tanager.errors import InputError
from tanager.loglinear.block_newton import FactorFit
from tanager.loglinear.factor_bagging import BAG_SWEEPS, FactorBags
from tanager.loglinear.factor_certificate import Certificate
from tanager.loglinear.factor_samples import FactorSamples, check_sample_weights
from tanager.loglinear.factor_selection import LAST_SWEEPS, FactorSelection
from tanager.loglinear.factor_statistics import FactorStatistics
from tanager.loglinear.factor_update import merge_factors, update_factors
from tanager.loglinear.fitted_factors import FactorTables
from tanager.loglinear.kept_samples import most_kept
from tanager.loglinear.partitioned_fit import GROUPS
from tanager.loglinear.partitioned_selection import (
    FEW_SAMPLES,
    PartitionedSelection,
)
from tanager.loglinear.selection_options import SelectionOptions
from tanager.model.schema import Schema
from tanager.model.structure import Structure
from tanager.optim import warn_not_converged
from tanager.scores.scoring_data import no_rows_error
from tanager.structure.base import StructureLearner, StructureResult
from tanager.structure.constraints import Constraints, check_constraints
from tanager.types import CodeArray, FloatArray, LabelArray
from tanager.utils.progress import keep_best, report, watch
from tanager.utils.text import pluralise
from tanager.utils.validation import check_flag, check_number, check_whole

MAX_ORDER = 3
"""Largest number of features of a factor."""

KEPT_WEIGHTS = 4_000_000
"""Log weights up to which statistics are kept for further batches."""

ENDS = {
    "max_passes": ("took its largest number of passes", "raise tol"),
    "rounding": ("was stopped by rounding", "raise tol"),
}
"""What ended a fit before `tol`, and what to do."""


class FactorSearch(StructureLearner):
    """Sum of small log tables over single features, pairs and triples.

    The model is ``P(c | x) = softmax(prior + sum of factors)``. Its features have no
    distribution of their own: the result is a `LogLinearNetwork`.

    Parameters
    ----------
    order : int, default=3
        Largest number of features of a factor, 1 to 3. With 1 every feature has one
        curve, and there are no interactions.
    max_factors : int or None, default=None
        Largest number of factors over several features in all. None is about 7 for
        every feature, 15 for fewer than 6,000 samples, and at most one for every
        sample.
    n_bags : int, default=1
        Number of bootstrap samples, in which every sample is a Poisson number of times
        with mean 1. With 2 and more, the factors and strengths found
        are fitted again to each of them, and the tables are averaged into one model.
        Its standard errors are then the standard deviations of the tables; see `Notes`.
    constraints : Constraints or None, default=None
        A required arc requires a factor over its two features. A pair of features is
        left out of all factors if arcs are forbidden in both directions.
    tol : float or None, default=None
        Relative optimality gap at which the fit of the chosen factors to all samples
        ends: the penalised objective is then at most this fraction above its minimum.
        None takes a few sweeps over the factors, which suffice for the predictions.
    max_seconds : float or None, default=None
        Time after which the result is the best so far, with a warning. The search takes
        at most 85 % of it; the factors so far are then fitted to all samples, if there
        is time, and last of all by `tol`. Ctrl-C has the same effect at once.
    verbose : bool, default=False
        Whether every stage is reported on standard error.

    Attributes
    ----------
    certificate_ : dict or None
        "objective"; "gap", an upper bound on how far it is above the minimum; and
        "passes" over the samples that it took. With bags it is that of the fit before
        them. None without `tol`.

    See Also
    --------
    ResidualTree : The same score tests under a tree constraint; gives a `Network`.
    LogLinearNetwork.to_network : Converts the factors to CPTs where their graph allows.

    Notes
    -----
    Every feature starts with a factor of its own. Neighbouring bins of a numeric
    feature are tied by a first-difference penalty, categories by a ridge penalty; the
    strength of each penalty is chosen by held-out loss and evidence. Then pairs, and
    triples that contain a chosen pair, are added in stages by score tests on the
    residuals, until the held-out loss stops falling. Factors whose effect vanishes are
    dropped at the end, unless they are required: a feature that is in none changes no
    prediction, and `LogLinearNetwork.unused_features` names it. `FactorSelection` and
    `FactorFit` in `tanager.loglinear` say how.

    The encoder "auto" makes up to 254 bins for this learner, and gives features with
    missing values a state for them. A factor with a feature that is missing at
    prediction, but never was in training, adds its mean weights; see `FactorTables`.

    The standard deviation over bags estimates by how much a weight would vary over
    training sets, for the same factors and strengths, including what correlated
    features take from each other. It does not include the bias by the penalty, nor the
    selection of the factors, and where there are no samples it is zero. The standard
    errors of one fit are those of a posterior: they hold the other factors fixed, but
    include the bias on average, so that bands of two standard errors cover about 95 %
    of a smooth curve; those of bags cover less.

    The method is this library's own. Incremental learning
    (`BayesNetClassifier.partial_fit`) keeps the bins of the first batch, and the
    factors once more than 16,384 samples have come; the tables are then updated
    (`FactorUpdate` in `tanager.loglinear`). Samples are held out by their position: the
    order of the samples changes the result slightly, and repeated samples, which are
    then in training and validation sets, weaken the penalty; give weights instead.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] * 10
    >>> model = BayesNetClassifier(structure=FactorSearch(order=2))
    >>> model = model.fit(X, [0, 0, 1, 1] * 10)
    >>> model.network_.interactions
    (('x0', 'x1'),)
    """

    online: ClassVar[bool] = True
    gives_tables: ClassVar[bool] = True
    gives_factors: ClassVar[bool] = True
    fine_bins: ClassVar[int | None] = 254

    def __init__(
        self,
        *,
        order: int = 3,
        max_factors: int | None = None,
        n_bags: int = 1,
        constraints: Constraints | None = None,
        tol: float | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.order = order
        self.max_factors = max_factors
        self.n_bags = n_bags
        self.constraints = constraints
        self.tol = tol
        self.max_seconds = max_seconds
        self.verbose = verbose

    @property
    def rounds(self) -> RoundCount:
        """Rounds after the search, whose samples are in memory; see `StructureLearner`.

        The search makes many passes over its samples. Fits to no more samples
        than it may have make no others.
        """
        sweeps = LAST_SWEEPS + (self.n_bags * BAG_SWEEPS if self.n_bags > 1 else 0)
        unit = (
            f"factor (at most {sweeps * GROUPS:,} on a cluster; "
            f"the search is on at most {FEW_SAMPLES:,} samples in memory)"
        )
        repeated = [(sweeps, unit)]
        if self.tol is not None:
            repeated.append((1, "pass of the certificate"))
        return RoundCount(6, tuple(repeated))

    @property
    def order_matters(self) -> bool:
        """Whether samples are held out by their position: always."""
        return True

    def sample_bytes(self, n_features: int, n_classes: int) -> int:  # noqa: ARG002
        """Memory per sample, besides its codes, that `learn` takes, about.

        Weight and posteriors in single precision, twice with bags; `tol` takes
        posteriors in double precision.
        """
        n_columns = 1 if n_classes == 2 else n_classes
        bags = 4 * n_columns + 8 if self.n_bags > 1 else 0
        exact = 8 * n_columns if self.tol is not None else 0
        return 4 * n_columns + 5 + max(bags, exact)

    def check(self, schema: Schema) -> None:
        """Raise for impossible arguments or constraints."""
        self._options(schema)

    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Find and fit the factors; see `StructureLearner.learn`."""
        options = self._options(data.schema)
        with watch(self, self.max_seconds, verbose=self.verbose, every=True):
            return self._learn(data, options, np.random.default_rng(random_state))

    def _learn(
        self, data: CodedData, options: SelectionOptions, random: np.random.Generator
    ) -> StructureResult:
        if data.in_parts and data.n_samples <= FEW_SAMPLES:
            data = data.stratified_sample(FEW_SAMPLES)  # all of them
        selection = _prepare_selection(data, options)
        fit = selection.run()
        deviations = None
        if self.n_bags > 1:
            bags = self._fill_bags(fit, random)
            if bags.n_bags > 1:
                fit, deviations = bags.mean(), bags.deviations()
        self.certificate_ = self._report_certificate(selection.certificate)
        statistics = FactorStatistics.of_fit(data.schema, fit)
        del fit  # and its posteriors
        trace = tuple(selection.monitor.trace)
        result = _make_result(statistics, selection.samples, trace, deviations)
        if data.in_parts:  # the samples of the search do not stand for all
            return replace(result, statistics=None)
        return result

    def learn_more(
        self,
        data: CodedData,
        so_far: FactorStatistics,
        *,
        random_state: np.random.Generator | None = None,
    ) -> StructureResult:
        """Update the tables by a batch; see `StructureLearner.learn_more`.

        The factors stay; see `FactorUpdate`. They are selected again when the number
        of samples has doubled since they were, or classes are new, as long as all
        samples so far are kept.
        """
        self._options(so_far.schema)
        codes, labels, weights = _labelled(data)
        kept = so_far.kept
        n_all = len(kept.labels) + len(labels)
        if (
            kept.complete
            and n_all >= 2 * so_far.n_selected
            and n_all <= most_kept(len(so_far.schema) - 1, so_far.n_classes)
        ):
            together = kept.join(codes, labels, weights)
            every = ArrayData(so_far.schema, *together, data.n_jobs)
            return self.learn(every, random_state=random_state)
        batch = FactorSamples.of(
            codes, labels, weights, so_far.n_classes, n_jobs=data.n_jobs
        )
        return _make_result(update_factors(so_far, batch), None, (), None)

    def merge(self, one: FactorStatistics, other: FactorStatistics) -> StructureResult:
        """Fit the factors to the samples of both; see `StructureLearner.merge`."""
        self._options(one.schema)
        return _make_result(merge_factors(one, other), None, (), None)

    def _fill_bags(self, fit: FactorFit, random: np.random.Generator) -> FactorBags:
        """Fit the bags, as many of them as there is time for."""
        bags = FactorBags(fit)
        with keep_best(self, lambda: pluralise(bags.n_bags, "bag")):
            while bags.n_bags < self.n_bags:
                bags.draw(random)
                report(self, bags.n_bags, self.n_bags, unit="bag")
        return bags

    def _report_certificate(
        self, certificate: Certificate | None
    ) -> dict[str, float] | None:
        """Warn if the fit did not reach `tol`."""
        if certificate is None:
            return None
        if certificate.end in ENDS:
            reason, remedy = ENDS[certificate.end]
            warn_not_converged(
                self,
                f"{reason} with an objective of {certificate.objective:.6g}, up to a "
                f"fraction of {certificate.relative_gap:.2g} above its minimum "
                f"(tol={self.tol:g})",
                remedy,
            )
        return {
            "objective": certificate.objective,
            "gap": certificate.gap,
            "passes": certificate.passes,
        }

    def _options(self, schema: Schema) -> SelectionOptions:
        """Check all arguments."""
        check_whole("order", self.order, 1)
        if self.order > MAX_ORDER:
            raise InputError(f"order must be 1, 2 or 3, got {self.order!r}.")
        check_whole("max_factors", self.max_factors, 0, none=True)
        check_whole("n_bags", self.n_bags, 1)
        check_number("tol", self.tol, above=0, none=True)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        masks = check_constraints(self.constraints).compile(schema)
        needed = masks.required | masks.required.T
        pairs = np.argwhere(np.triu(needed)).tolist()
        self._check_required(len(pairs))
        return SelectionOptions(
            int(self.order),
            self.max_factors,
            masks.allowed | masks.allowed.T | needed,
            tuple((i, j) for i, j in pairs),
            self.tol,
        )

    def _check_required(self, n_required: int) -> None:
        """Raise if the required arcs contradict the other arguments."""
        if n_required and self.order == 1:
            raise InputError(
                "Required arcs need factors over two features, but order is 1; give "
                "order=2, or leave out the required arcs."
            )
        if self.max_factors is not None and n_required > self.max_factors:
            raise InputError(
                f"{n_required} arcs are required, but max_factors is "
                f"{self.max_factors}; raise it to at least {n_required}."
            )


def _prepare_selection(data: CodedData, options: SelectionOptions) -> FactorSelection:
    """Prepare a selection from samples in memory or in parts."""
    if data.in_parts:
        return PartitionedSelection(data, options)
    codes, labels, weights = _labelled(data)
    if not len(labels):
        raise no_rows_error()
    return FactorSelection(data.schema, codes, labels, weights, options, data.n_jobs)


def _labelled(
    data: CodedData,
) -> tuple[CodeArray, LabelArray, FloatArray | None]:
    """Codes, transposed, labels and weights of the samples that have both."""
    rows = data.all_rows()
    codes, labels, weights = rows.codes.T, rows.labels, rows.weights
    known = labels < data.schema.n_classes
    if weights is not None:
        known &= weights > 0
    if not known.all():
        codes, labels = np.ascontiguousarray(codes[:, known]), labels[known]
        weights = None if weights is None else weights[known]
    if weights is not None and len(weights):
        check_sample_weights(weights)
    return codes, labels, weights


def _make_result(
    statistics: FactorStatistics,
    samples: FactorSamples | None,
    trace: tuple[Mapping[str, Any], ...],
    deviations: list[FloatArray] | None,
) -> StructureResult:
    """Tables with their errors; `samples` of a first batch, None for those kept."""
    shown = statistics.kept if samples is None else samples
    factors = FactorTables.of_terms(
        statistics.terms, statistics.log_prior, statistics.n_classes, deviations
    ).select_scale(shown.codes, shown.labels, shown.weights)
    n_variables = len(statistics.schema)
    return StructureResult(
        Structure.class_rooted([()] * n_variables, n_variables - 1),
        trace,
        factors=factors,
        statistics=statistics if statistics.n_weights <= KEPT_WEIGHTS else None,
    )
