"""`BayesNetClassifier`: one estimator for all Bayesian network classifiers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from tanager import loglinear, registry
from tanager.classifiers.base import POLICIES, fitted_encoder
from tanager.classifiers.fit_checkpoint import resumable
from tanager.classifiers.incremental import IncrementalMixin
from tanager.classifiers.network_conversion import NetworkConversionMixin
from tanager.classifiers.short_name_arguments import PartArgumentsMixin
from tanager.classifiers.training import (
    CallbackSupportMixin,
    FitProgress,
    FitResult,
    NetworkLearner,
    TrainingData,
    read_training_data,
    with_callbacks,
)
from tanager.data import ArrayData
from tanager.encoding import TableEncoder
from tanager.encoding.dataframe_libraries import is_dask
from tanager.encoding.feature_checks import refuse_missing
from tanager.errors import InputError
from tanager.io.batches import is_batched
from tanager.utils.progress import watch
from tanager.utils.validation import check_choice, check_flag, check_number

if TYPE_CHECKING:
    from tanager.classifiers.batch_fit_plan import FitPlan
    from tanager.classifiers.boosting import BoostedClassifier
    from tanager.data.partitioned_data import PartitionedData
    from tanager.distributed.collections import SampleCollections
    from tanager.loglinear import CurvatureSamples
    from tanager.network import AnyNetwork


class BayesNetClassifier(
    CallbackSupportMixin, PartArgumentsMixin, IncrementalMixin, NetworkConversionMixin
):
    """Bayesian network classifier: an encoder, a structure and its parameters.

    The input may have mixed types, strings and missing values. `fit` discretises
    numeric features, learns a structure over the features, and learns its CPTs.

    Parameters
    ----------
    encoder : {"auto", "mdl", "width", "quantile", "categorical"}, TableEncoder or \
            NumericEncoder, default="auto"
        How columns are encoded. "categorical" makes every distinct number a category.
        "auto" makes up to 254 quantile bins for factors and 50 for smoothed parameters
        (``ConditionalLikelihood(smooth=True)``), and discretises by MDL for others. For
        factors and `ConditionalLikelihood` it gives features with missing values in
        `fit` a state for them.
    structure : {"auto", "nb", "tan", ...} or StructureLearner, default="auto"
        How the structure is learned. "auto" is `FactorSearch` if the parameters are
        "auto", too, a `ResidualTree` for smoothed parameters, and a Chow-Liu tree for
        others.
    parameters : {"auto", "fe", "ml", "rcl", "cl", "em", ...} or ParameterLearner, \
            default="auto"
        How the CPTs are learned. "auto" is a smoothed `ConditionalLikelihood` for naive
        Bayes, Chow-Liu, random and residual trees, what the structure learner has
        learned for `FactorSearch` and `GumbelTree`, and frequencies for other
        structures. In `partial_fit` it is frequencies, unless the structure is "auto".
    missing : {"marginalize", "error"}, default="marginalize"
        Whether missing values are accepted, or raise an error.
    unknown : {"marginalize", "error"}, default="marginalize"
        Whether categories unseen in `fit` are treated as not observed, like a feature
        that is not known, or raise an error.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply the sample weights. The encoder ignores
        them.
    warm_start : bool, default=False
        Whether `fit` of a fitted classifier starts iterative parameter learners, such
        as `ConditionalLikelihood`, from its present CPTs. It starts afresh if the new
        data lead to other variables, states, classes or another structure, or if the
        CPTs are sums of factors that are too large to be expanded.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness for learners that use one.
    max_seconds : float or None, default=None
        Time that `fit` may take, about. When it is up, the result is the best model so
        far, with a `ConvergenceWarning`; `TimeLimitError` if there is none yet. Learned
        structures leave a third of it for parameters that take long.
    verbose : bool, default=False
        Whether progress is shown on standard error: stage, step, score, and about how
        much time is left.
    checkpoint : str, path or None, default=None
        File in which `fit` keeps the statistics of the samples, one by one, to resume
        from: a fit that was interrupted or killed and is begun again with the same
        arguments gets them from the file instead of from the samples. The file is
        removed when the fit is done. Every fit needs a file of its own, so do not use
        it in a cross-validation. See docs/scale.md for what can be resumed.

    Attributes
    ----------
    network_ : Network or LogLinearNetwork
        The network; its class variable comes last. The default, ``"factors"``, is a
        `LogLinearNetwork`; the other structures give a `Network`.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, where they were all strings.
    encoder_ : TableEncoder
        The fitted encoder.
    structure_, parameters_ : StructureLearner, ParameterLearner
        The fitted learners; absent if the classifier was made from a network or loaded
        from a file.
    markov_blanket_ : tuple of str
        Names of the features in the Markov blanket of the class; all of them if every
        feature is a child of the class, as in naive Bayes and TAN.
    trace_ : dict
        "structure" and "parameters": the steps that the learners report, which may be
        empty; "seconds": the duration of each stage; "batches", after `partial_fit`:
        how well each batch was predicted before (`drift_report`).

    See Also
    --------
    BayesNetClassifier.from_name : The published methods by their names.
    NaiveBayesClassifier, TANClassifier : Naive Bayes, and a tree-augmented one.

    Notes
    -----
    Missing features of a `Network` are marginalised exactly, unless the encoder gives
    them a state (see `TableEncoder`); those of a `LogLinearNetwork` are averaged over
    the training samples (docs/missing-values.md). A sample without any observed feature
    gets the prior, unless some features have a state for missing values. A sample with
    probability zero under every class, which requires CPTs with zeros, gets the prior
    too, and a warning gives the number of such samples.

    Examples
    --------
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier().fit(X, ["dry", "wet", "wet", "dry"])
    >>> model.predict({"sky": ["grey", None], "wind": [None, 2.5]})
    array(['wet', 'dry'], dtype='<U3')
    >>> model.network_.edges
    (('class', 'sky'), ('class', 'wind'))
    """

    def __init__(
        self,
        encoder: Any = "auto",
        structure: Any = "auto",
        parameters: Any = "auto",
        *,
        missing: str = "marginalize",
        unknown: str = "marginalize",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.encoder = encoder
        self.structure = structure
        self.parameters = parameters
        self.missing = missing
        self.unknown = unknown
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.checkpoint = checkpoint

    @classmethod
    def from_name(
        cls, name: str, *, paper: str | None = None, **arguments: Any
    ) -> BayesNetClassifier | BoostedClassifier:
        """Make a classifier by its published name.

        Parameters
        ----------
        name : str
            Such as ``"TAN-CMI-ML"`` or ``"NB+FE"``; `tanager.names` lists all.
        paper : {"greiner2005", "pernkopf2010", "roth2020", "su2008"}, optional
            Encoder and settings are those of this paper: ``tanager.names(paper)``.
        **arguments
            Further constructor arguments, also of a boosted classifier's base; for the
            parts as in `set_params`: ``parameters__max_iter=10``.

        Returns
        -------
        BayesNetClassifier or BoostedClassifier
            The latter for names that end in ``+Ada``.

        Examples
        --------
        >>> BayesNetClassifier.from_name("NB-ML")
        BayesNetClassifier(parameters=Frequency(zero=1e-05), structure=NaiveBayes())
        >>> model = BayesNetClassifier.from_name("HGC+FE", paper="su2008")
        >>> model.encoder, model.structure
        (TableEncoder(numeric=EqualWidthEncoder()), HillClimbing(score=K2(weight=0.5)))
        """
        from tanager.classifiers.boosting import boost

        recipe = registry.parse(name, paper)
        of_parts = {key: arguments.pop(key) for key in list(arguments) if "__" in key}
        make = boost if recipe.boosted else BayesNetClassifier
        model = make(**{**recipe.arguments, **arguments})
        model.set_params(**of_parts)
        return model

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn encoder, structure and parameters.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data frame (pandas, polars, Arrow), array, list of rows (sequences or
            mappings) or mapping of columns. Values may be missing. Or a table that is
            read in batches, such as ``"folder/*.parquet"``: see `tanager.Batches`. Or a
            Dask collection, with y and weights of the same partitions.
        y : array-like of shape (n_samples,), or str
            The class of every sample; in batches the name of its column. Some may be
            missing (None, NaN, NA, null) if the parameter learner uses unlabelled
            samples (`uses_unlabelled`). Encoders that use the classes and
            `class_weight` ignore unlabelled samples.
        sample_weight : array-like of shape (n_samples,), or str, default=None
            Frequency of every sample, or the name of its column: weight 2 counts it
            twice, weight 0 ignores it. Learners that hold samples out, such as the
            default, split by position, so repeated samples give other folds than
            weights. Weights that sum to one, such as those of AdaBoost, are multiplied
            by the number of positive ones.

        Returns
        -------
        self : BayesNetClassifier
            The fitted classifier.

        Notes
        -----
        The first Ctrl-C ends the fit with the best model so far and a
        `ConvergenceWarning`, or with KeyboardInterrupt if there is none yet; the second
        always raises KeyboardInterrupt.
        """
        if is_dask(X):
            from tanager.distributed.collections import SampleCollections

            self._fit_collections(SampleCollections(X, y, sample_weight))
            return self
        with self._watched():
            if is_batched(X):
                self._fit_batches(X, y, sample_weight)
            else:
                self._fit_frame(X, y, sample_weight)
        return self

    def _watched(self) -> AbstractContextManager[object]:
        """Show the progress of a whole fit, and end it in time."""
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)
        return watch(self, self.max_seconds, verbose=self.verbose, whole=True)

    def _fit_collections(self, collections: SampleCollections) -> None:
        from tanager.classifiers.distributed_fit import fit_on_dask

        with self._watched():
            fit_on_dask(self, collections)

    def plan(self, X: Any, y: str, sample_weight: str | None = None) -> FitPlan:
        """Passes, memory and rounds of a fit to batches, before it starts.

        Parameters
        ----------
        X : Batches or source of `tanager.Batches`
            The table; only its first batch is read, and the number of rows.
        y, sample_weight : str, and str or None
            As in `fit`: names of columns.

        Returns
        -------
        FitPlan
            Prints as text.

        Examples
        --------
        >>> import pandas as pd
        >>> frames = [pd.DataFrame({"x": range(100), "y": [0, 1] * 50})] * 1000
        >>> print(
        ...     BayesNetClassifier(structure="tan", parameters="fe").plan(frames, "y")
        ... )
        100,000 samples, 1 features, 2 classes
        Reading   2 passes: encoder, codes
        Batches   10 MB, summaries at most 10 MB
        Codes     1 MB in memory
        Learners  counts only
        Rounds    ChowLiu: 2
                  Frequency: 1
        Peak      20 MB of memory, about
        """
        from tanager.classifiers.batch_fit_plan import plan_fit

        encoder, learner = self._parts()
        return plan_fit(X, y, sample_weight, encoder, learner, self)

    def _parts(
        self, *, incremental: bool = False
    ) -> tuple[TableEncoder, NetworkLearner]:
        """Check the arguments, and make a fresh encoder and learners."""
        check_choice("missing", self.missing, POLICIES)
        check_choice("unknown", self.unknown, POLICIES)
        check_flag("warm_start", self.warm_start)
        encoder, structure, parameters = registry.parts_from(
            self.encoder, self.structure, self.parameters, incremental=incremental
        )
        if self.checkpoint is not None and "checkpoint" in structure.get_params(
            deep=False
        ):
            structure.set_params(checkpoint=self.checkpoint)
        if self.random_state is None and structure.checkpoint is not None:
            raise InputError(
                "A run can be resumed from a checkpoint only with the same random "
                "numbers: give the classifier a random_state, such as 0."
            )
        return encoder, NetworkLearner(structure, parameters)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, learner: NetworkLearner
    ) -> TrainingData:
        """Read and check the arguments of a fit to one data frame."""
        who, unlabelled = type(self).__name__, learner.parameters.uses_unlabelled
        given = read_training_data(
            X, y, sample_weight, who, allow_unlabelled=unlabelled
        )
        if self.missing == "error":
            refuse_missing(given.frame)
        return given

    def _fit_frame(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Encode a data frame and learn from its codes."""
        encoder, learner = self._parts()
        given = self._read(X, y, sample_weight, learner)
        progress = FitProgress(self, X, y, sample_weight)
        with progress.stage("encode"):
            given.check_classes()
            codes = given.fit_codes(encoder, self.n_jobs)
            data = given.join_codes(codes, encoder.schema_, given.classes, self)
            learner.structure.check(data.schema)
        self._learn(learner, encoder, given.classes, data, progress)

    def _fit_batches(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Encode a table in batches and learn from its codes."""
        from tanager.classifiers.batch_encoding import encode_batches

        encoder, learner = self._parts()
        progress = FitProgress(self, X, y, sample_weight)
        with progress.stage("encode"):
            unlabelled = learner.parameters.uses_unlabelled
            classes, data = encode_batches(
                X, y, sample_weight, encoder, self, unlabelled
            )
            learner.structure.check(data.schema)
        self._learn(learner, encoder, classes, data, progress)

    def _learn(
        self,
        learner: NetworkLearner,
        encoder: TableEncoder,
        classes: npt.NDArray[Any],
        data: ArrayData | PartitionedData,
        progress: FitProgress,
    ) -> None:
        """Learn from coded samples and become fitted.

        Everything stays in local variables until the network is learned: a fit that
        fails leaves the classifier as it was.
        """
        former = getattr(self, "network_", None) if self.warm_start else None
        # A structure learner with a checkpoint of its own writes it.
        checkpoint = None if learner.structure.checkpoint else self.checkpoint
        with resumable(self, data, checkpoint, former) as (samples, random):
            with progress.stage("count"):
                counts = learner.count(samples)
            result = learner.learn(
                samples if counts is None else counts,
                random,
                progress,
                former=former if former and former.has_cpts else None,
            )
        kept = None
        if not result.network.has_cpts:  # counts serve for the intervals of others
            kept = loglinear.CurvatureSamples.of_data(data)
        self._set_fitted(encoder, classes, result, declared=False, samples=kept)
        progress.end()

    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: npt.NDArray[Any],
        result: FitResult,
        *,
        declared: bool,
        samples: CurvatureSamples | None = None,
    ) -> None:
        """Become the fitted classifier of a result whose target is the last variable.

        `declared` says whether later batches must not bring other classes.
        """
        learned = () if result.learner is None else ("structure", "parameters")
        parts = {f"{name}_": getattr(result.learner, name) for name in learned}
        self._set_state(
            encoder,
            **parts,
            network_=result.network,
            classes_=classes,
            trace_=result.trace,
            _declared=declared,
            _counts=result.counts,
            _samples=samples,
        )

    def _set_network(
        self, network: AnyNetwork, classes: npt.NDArray[Any], *, has_names: bool
    ) -> Self:
        """Become the fitted classifier of a network; match columns by their names."""
        encoder, *_ = registry.parts_from(self.encoder, self.structure, self.parameters)
        encoder = fitted_encoder(encoder, network.schema, has_names=has_names)
        self._set_fitted(encoder, classes, FitResult(network), declared=True)
        self._by_name = has_names
        return self
