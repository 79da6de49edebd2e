"""`BayesNetClassifier`: one estimator for all Bayesian network classifiers."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from tanager.classifiers.base import POLICIES, fitted_encoder
from tanager.classifiers.incremental import IncrementalMixin, remaining_weight
from tanager.classifiers.training import (
    CallbackSupportMixin,
    FitProgress,
    FitResult,
    NetworkLearner,
    add_target,
    copy_features,
    join_classes,
    read_training_data,
    weight_by_class,
    with_callbacks,
)
from tanager.data import ArrayData, CountedData
from tanager.encoding import EncodingPlan, TableEncoder, extend_schema
from tanager.encoding.feature_checks import check_features, refuse_missing
from tanager.encoding.labels import encode_labels, mark_missing
from tanager.errors import InputError
from tanager.loglinear.factor_statistics import FactorStatistics
from tanager.loglinear.factor_uncertainty import CurvatureSamples
from tanager.model.schema import states_array
from tanager.network import AnyNetwork
from tanager.registry import parse, parts_from
from tanager.structure import StructureResult
from tanager.utils.validation import check_choice, random_generator

if TYPE_CHECKING:
    from tanager.classifiers.boosting import BoostedClassifier


class BayesNetClassifier(CallbackSupportMixin, IncrementalMixin):
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
        Whether missing values are accepted or raise an error. Those of a feature
        without a state for them are marginalised.
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

    Attributes
    ----------
    network_ : Network or LogLinearNetwork
        The network; its class variable comes last. The default, ``"factors"``, is a
        `LogLinearNetwork`; the other structures give a `Network`.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    ``parameters="fe"`` only counts, and is the fastest.

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
            Further constructor arguments, also of the base of a boosted classifier; for
            the parts as in `set_params`: ``parameters__max_iter=10``.

        Returns
        -------
        BayesNetClassifier or BoostedClassifier
            The latter for names that end in ``+Ada``. Not fitted.

        Examples
        --------
        >>> BayesNetClassifier.from_name("NB-ML")
        BayesNetClassifier(parameters=Frequency(zero=1e-05), structure=NaiveBayes())
        >>> model = BayesNetClassifier.from_name("HGC+FE", paper="su2008")
        >>> model.encoder, model.structure
        (TableEncoder(numeric=EqualWidthEncoder()), HillClimbing(score=K2(weight=0.5)))
        """
        from tanager.classifiers.boosting import boost

        recipe = parse(name, paper)
        of_parts = {key: arguments.pop(key) for key in list(arguments) if "__" in key}
        make = boost if recipe.boosted else BayesNetClassifier
        model = make(**{**recipe.arguments, **arguments})
        model.set_params(**of_parts)
        return model

    @classmethod
    def from_network(
        cls, network: AnyNetwork, target: str | None = None
    ) -> BayesNetClassifier:
        """Make a fitted classifier from a network.

        Parameters
        ----------
        network : Network or LogLinearNetwork
            The network.
        target : str or None, default=None
            The class variable; the network's own target by default.

        Returns
        -------
        BayesNetClassifier
            Its features are the other variables, in their order. Data with column
            names are matched by name: in any order, an absent column is missing in
            every sample, and the column of the target is ignored. Model files do not
            store this matching, but pickle does.

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> model = BayesNetClassifier.from_network(network, target="rain")
        >>> model.classes_, model.feature_names_in_
        (array(['no', 'yes'], dtype='<U3'), array(['wet'], dtype=object))
        """
        if not isinstance(network, AnyNetwork):
            raise InputError(
                "from_network expects a Network, got a "
                f"{type(network).__name__}; tanager.load reads files."
            )
        whole = network.with_target_last(target)
        classes = states_array(whole.schema.target_variable.states)
        return BayesNetClassifier()._set_network(whole, classes, has_names=True)

    def blanket_classifier(self, *, exact: bool = True) -> BayesNetClassifier:
        """Make a classifier on the Markov blanket of the class only.

        Parameters
        ----------
        exact : bool, default=True
            Whether its probabilities equal those of this classifier, given its
            features, for all samples. If False, they do for samples without missing
            values; see `Network.blanket_network`.

        Returns
        -------
        BayesNetClassifier
            Fitted; its features are those in `markov_blanket_`, in that order. Data
            with column names are matched by name, as in `from_network`.

        Examples
        --------
        >>> from tanager import Network
        >>> steps = [[0.9, 0.1], [0.3, 0.7]]
        >>> chain = Network.build(
        ...     dict.fromkeys("abc", [0, 1]),
        ...     {"a": [0.6, 0.4], "b": (["a"], steps), "c": (["b"], steps)},
        ... )
        >>> model = BayesNetClassifier.from_network(chain, target="c")
        >>> model.blanket_classifier().feature_names_in_
        array(['b'], dtype=object)
        """
        network = self._fitted().network_.blanket_network(exact=exact)
        if len(network.schema) == 1:
            raise InputError(
                "The Markov blanket of the class is empty, so the classifier would "
                "have no features. All samples get the prior: network_.posterior()."
            )
        small = BayesNetClassifier(
            missing=self.missing, unknown=self.unknown, n_jobs=self.n_jobs
        )
        has_names = hasattr(self, "feature_names_in_")
        return small._set_network(network, self.classes_, has_names=has_names)

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn encoder, structure and parameters.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            A data frame (pandas, polars, Arrow), array, list of rows (sequences or
            mappings) or mapping of columns. Values may be missing.
        y : array-like of shape (n_samples,)
            The class of every sample. Some may be missing (None, NaN, NA, null) if the
            parameter learner uses unlabelled samples (`uses_unlabelled`). Encoders that
            use the classes and `class_weight` ignore unlabelled samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of every sample: weight 2 counts it twice, weight 0 ignores it.
            Learners that hold samples out, such as the default, split samples by their
            position, so repeated samples give other folds than weights.
            Weights that sum to one, such as those of AdaBoost, are relative: they are
            multiplied by the number of samples with a positive weight.

        Returns
        -------
        self : BayesNetClassifier
            The fitted classifier.
        """
        self._fit(X, y, sample_weight, classes=None, incremental=False)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        classes: Any,
        incremental: bool,
        half_life: float | None = None,
    ) -> None:
        """Encode the samples and learn from them, or from all counts so far.

        Everything stays in local variables until the network is learned: a batch that
        cannot be used leaves the classifier as it was.
        """
        check_choice("missing", self.missing, POLICIES)
        check_choice("unknown", self.unknown, POLICIES)
        encoder, structure, parameters = parts_from(
            self.encoder, self.structure, self.parameters, incremental=incremental
        )
        learner = NetworkLearner(structure, parameters)
        if self.random_state is None and structure.checkpoint is not None:
            raise InputError(
                "A run can be resumed from a checkpoint only with the same random "
                "numbers: give the classifier a random_state, such as 0."
            )
        counts = None
        if incremental and hasattr(self, "network_"):
            counts = self._kept_counts()
            learner.check_continues(self.structure_, self.parameters_)
        who, unlabelled = type(self).__name__, parameters.uses_unlabelled
        given = read_training_data(
            X, y, sample_weight, who, allow_unlabelled=unlabelled
        )
        if self.missing == "error":
            refuse_missing(given.frame)
        if counts is not None:
            check_features(self, given.frame)
        target = given.target if counts is None else counts.schema.names[-1]
        progress = FitProgress(None if incremental else self, X, y, sample_weight)
        with progress.stage("encode"):
            if counts is None:
                known = given.classes
                if classes is not None:
                    if not len(classes):
                        raise InputError(
                            "classes is empty. Give all classes, or None to take those "
                            "that occur."
                        )
                    known, _ = encode_labels(classes, len(classes), "partial_fit")
                if not incremental and len(known) < 2:
                    raise InputError(
                        f"y has only one class, {known.tolist()[0]!r}; a classifier "
                        "needs at least two classes."
                    )
                cut_labels = mark_missing(given.classes, given.labels)
                codes = encoder.fit_frame(
                    given.frame, cut_labels, given.weights, self.n_jobs
                )
                assert codes is not None
            else:
                known = self.classes_
                if not self._declared:
                    known = join_classes(known, given.classes)
                encoder = copy(self.encoder_)
                encoder.schema_ = extend_schema(
                    encoder.schema_,
                    given.frame,
                    missing_state=encoder.missing == "state",
                )
                plan = EncodingPlan(given.frame, encoder.schema_)
                codes = plan.encode(n_jobs=self.n_jobs)
            schema = add_target(encoder.schema_, known, target)
            structure.check(schema)
            labels = given.recode_labels(known)
            weights = weight_by_class(self.class_weight, known, labels, given.weights)
            data = ArrayData(schema, codes, labels, weights, self.n_jobs)
        found, batches = None, []
        with progress.stage("count"):
            statistics = learner.count(data, incremental=incremental)
            if counts is not None:
                batches = self._measure_drift(given, schema)
                counts = counts.recode(schema).forget(
                    remaining_weight(half_life, data.n_samples)
                )
                if statistics is not None:
                    assert isinstance(counts, CountedData)
                    statistics = counts + statistics
                elif not structure.online:
                    steps = tuple(self.trace_["structure"])
                    found = StructureResult(self.network_.structure, steps)
                    learner = NetworkLearner(self.structure_, parameters)
        warm = self.warm_start and not incremental
        former = getattr(self, "network_", None)
        result = learner.learn(
            data if statistics is None else statistics,
            random_generator(self.random_state),
            progress,
            found=found,
            kept=counts,
            former=former if warm and former and former.has_cpts else None,
        )
        declared = self._declared if counts is not None else classes is not None
        if batches:
            result.trace["batches"] = batches
        self._set_fitted(encoder, known, result, declared=declared)
        self._samples = None
        if not self.network_.has_cpts:  # counts serve for the intervals of others
            self._samples = CurvatureSamples.of(codes, weights, len(known))
            if incremental and isinstance(result.counts, FactorStatistics):
                self._samples = result.counts.curvature_samples()
        progress.end()

    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: npt.NDArray[Any],
        result: FitResult,
        *,
        declared: bool,
    ) -> None:
        """Become the fitted classifier of a result whose target is the last variable.

        `declared` says whether later batches must not bring other classes.
        """
        for name in ("structure", "parameters"):
            if result.learner is not None:
                setattr(self, f"{name}_", getattr(result.learner, name))
            elif hasattr(self, f"{name}_"):
                delattr(self, f"{name}_")
        copy_features(encoder, self)
        self.network_ = result.network
        self.classes_ = classes
        self.encoder_ = encoder
        self.trace_ = result.trace
        self._by_name = False
        self._declared = declared
        self._counts = result.counts

    def _set_network(
        self, network: AnyNetwork, classes: npt.NDArray[Any], *, has_names: bool
    ) -> Self:
        """Become the fitted classifier of a network; match columns by their names."""
        encoder, *_ = parts_from(self.encoder, self.structure, self.parameters)
        encoder = fitted_encoder(encoder, network.schema, has_names=has_names)
        self._set_fitted(encoder, classes, FitResult(network), declared=True)
        self._by_name = has_names
        return self
