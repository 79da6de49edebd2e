"""`BoostedClassifier`: AdaBoost of Bayesian network classifiers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from math import isfinite
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from tanager.classifiers.base import POLICIES, DataFrameClassifier, fill_in_prior
from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.training import (
    NetworkLearner,
    TrainingData,
    add_target,
    read_training_data,
    weight_by_class,
)
from tanager.data import ArrayData
from tanager.encoding import TableEncoder
from tanager.encoding.feature_checks import refuse_missing
from tanager.errors import CapabilityError, InputError
from tanager.model.schema import Schema
from tanager.network import Network
from tanager.parameters import ParameterLearner
from tanager.registry import parts_from
from tanager.structure import StructureLearner
from tanager.types import CodeArray, FloatArray, IndexArray, LabelArray
from tanager.utils.progress import keep_best, report, watch
from tanager.utils.text import pluralise
from tanager.utils.validation import (
    check_choice,
    check_flag,
    check_number,
    check_whole,
    is_whole,
    random_generator,
)


class BoostedClassifier(DataFrameClassifier):
    """AdaBoost of Bayesian network classifiers (NB+Ada, TAN+Ada).

    The data are encoded once. Then scikit-learn's `AdaBoostClassifier` learns one
    network after the other, each with larger weights for the samples that the networks
    before misclassified. They classify by a weighted vote.

    Parameters
    ----------
    estimator : BayesNetClassifier or None, default=None
        The base classifier: its encoder, structure, parameters, `missing`, `unknown`,
        `class_weight` and `n_jobs` are used; "auto" means learners that only count.
        None is naive Bayes with frequencies.
    n_estimators : int, default=20
        Maximum number of networks, that of [1]_. Boosting stops early after a network
        without training errors, or before one that is no better than guessing.
    learning_rate : float, default=1.0
        Factor of every network's weight, above 0.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness for learners that use one; that of `estimator` is ignored.
    max_seconds, verbose
        As in `BayesNetClassifier`; those of `estimator` are ignored. The best model so
        far are the networks so far.

    Attributes
    ----------
    networks_ : tuple of Network
        The networks, in the order of learning, over the same variables.
    estimator_weights_ : ndarray of shape (n_networks,)
        Weight of every network in the vote.
    estimator_errors_ : ndarray of shape (n_networks,)
        Weighted training error of every network; not stored in model files.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, where they were all strings.
    encoder_ : TableEncoder
        The fitted encoder.

    See Also
    --------
    BayesNetClassifier : One network.

    Notes
    -----
    Cut points and states come from the training data with their original weights, so
    the networks differ only in structure and CPTs. The data of [1]_ are discretised
    beforehand, too (ten bins of equal width; missing values are imputed there and
    marginalised here). To discretise again for every network, boost the classifier
    itself: ``AdaBoostClassifier(TANClassifier())``.

    In round m the weights of the N samples are scaled to their initial total (N, if
    none were given), because smoothing takes them as frequencies. With e the weighted
    training error of network m and K classes, its vote has the weight
    a = learning_rate * (log((1 - e) / e) + log(K - 1)), and the weights of samples it
    misclassifies are multiplied by exp(a): the algorithm SAMME [2]_, which for K = 2 is
    AdaBoost.M1 [3]_, that of [1]_. For K > 2 AdaBoost.M1 would require errors below
    1/2, SAMME requires errors below 1 - 1/K.

    Boosting ends before a network that is no better than guessing. If that is the
    first one, for instance because no feature depends on the class, it is kept alone.

    Probabilities are the softmax of f / (K - 1), where f_c is the weighted mean of the
    votes, 1 for c and -1 / (K - 1) against it, as in scikit-learn. They are at most
    0.88 for K = 2, so they are not calibrated; use a single network for that.

    Every network marginalises missing values. But later networks are learned from
    weights that no longer describe the distribution of the data, so missing values may
    cost more accuracy than with a single network.

    References
    ----------
    .. [1] J. Su, H. Zhang, C. X. Ling and S. Matwin, "Discriminative parameter learning
       for Bayesian networks", ICML 2008, section 6.1.
    .. [2] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics
       and Its Interface 2, 2009.
    .. [3] Y. Freund and R. E. Schapire, "Experiments with a new boosting algorithm",
       ICML 1996.

    Examples
    --------
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BoostedClassifier(n_estimators=5).fit(X, ["dry", "wet", "wet", "dry"])
    >>> model.predict({"sky": ["grey", None], "wind": [None, 2.5]})
    array(['wet', 'dry'], dtype='<U3')
    >>> len(model.networks_)  # the first made no error
    1
    """

    _networks: tuple[Network, ...]

    def __init__(
        self,
        estimator: BayesNetClassifier | None = None,
        *,
        n_estimators: int = 20,
        learning_rate: float = 1.0,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose

    @property
    def networks_(self) -> tuple[Network, ...]:
        """The networks, in the order of learning."""
        return self._networks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the encoder, then one network after the other.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As in `BayesNetClassifier.fit`; values may be missing.
        y : array-like of shape (n_samples,)
            The class of every sample.
        sample_weight : array-like of shape (n_samples,), default=None
            Frequency of every sample, as in `BayesNetClassifier.fit`.

        Returns
        -------
        self : BoostedClassifier
            The fitted classifier.
        """
        base = self._options()
        self._check(base)
        with watch(self, self.max_seconds, verbose=self.verbose, whole=True):
            self._fit(base, X, y, sample_weight)
        return self

    def _fit(
        self, base: BayesNetClassifier, X: Any, y: Any, sample_weight: Any
    ) -> None:
        who, advice = type(self).__name__, "boosting needs the class of every sample."
        data = read_training_data(X, y, sample_weight, who, advice=advice)
        if base.missing == "error":
            refuse_missing(data.frame)
        # "auto" means learners that only count, since many networks are learned.
        encoder, structure, parameters = parts_from(
            base.encoder, base.structure, base.parameters, counting=True
        )
        NetworkLearner(structure, parameters)  # raises if they are incompatible
        data.check_classes()
        codes = data.fit_codes(encoder, base.n_jobs)
        schema = add_target(encoder.schema_, data.classes, data.target)
        structure.check(schema)
        codes, labels, weights = _select_weighted(data, codes, base.class_weight)
        member = MemberClassifier(
            schema=schema,
            structure=structure,
            parameters=parameters,
            total=float(weights.sum()),
            n_jobs=base.n_jobs,
            numbers=zip(range(self.n_estimators + 1), repeat(self.n_estimators)),
        )
        members, votes, errors = self._boost(member, codes, labels, weights)
        networks = tuple(m.network_ for m in members)
        self._set_fitted(encoder, data.classes, networks, votes, errors)

    def _boost(
        self,
        member: MemberClassifier,
        codes: CodeArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray,
    ) -> tuple[list[MemberClassifier], FloatArray, FloatArray]:
        """The fitted members, the weights of their votes and their errors."""
        # Here, because it brings scikit-learn's trees, which nothing else needs.
        from sklearn.ensemble import AdaBoostClassifier

        seed = _random_state(self.random_state)
        boost = AdaBoostClassifier(
            member,
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            random_state=seed,
        )

        def complete() -> int:
            weights = getattr(boost, "estimator_weights_", np.empty(0))
            return int(np.count_nonzero(weights))

        def done() -> str:
            return pluralise(complete(), "network") if complete() else ""

        ended = False
        try:
            # AdaBoost passes the weights on itself, and raises if the user has
            # enabled metadata routing.
            with config_context(enable_metadata_routing=False), keep_best(self, done):
                boost.fit(codes, labels, sample_weight=weights)
                ended = True
        except ValueError:
            # The list is empty only if AdaBoost discarded the first member, because
            # it is no better than guessing. Then this member gets the only vote.
            if getattr(boost, "estimators_", None) != []:
                raise
            single: MemberClassifier = clone(member).set_params(random_state=seed)
            single.fit(codes, labels, weights)
            error = np.average(single.predict(codes) != labels, weights=weights)
            return [single], np.ones(1), np.array([float(error)])
        # If the time was up, the last network has no weight yet.
        n_members = len(boost.estimators_) if ended else complete()
        votes = boost.estimator_weights_[:n_members]
        if not isfinite(votes.sum()) or not votes.all():
            raise InputError(
                f"learning_rate={self.learning_rate!r} gives networks weights that are "
                "infinite or zero by rounding; give one closer to 1."
            )
        return boost.estimators_[:n_members], votes, boost.estimator_errors_[:n_members]

    def _set_fitted(
        self,
        encoder: TableEncoder,
        classes: npt.NDArray[Any],
        networks: tuple[Network, ...],
        votes: FloatArray,
        errors: FloatArray | None = None,
    ) -> None:
        """Become the fitted classifier of networks whose target is last.

        Model files do not keep `errors`.
        """
        known = {} if errors is None else {"estimator_errors_": errors}
        self._set_state(
            encoder,
            classes_=classes,
            _networks=networks,
            estimator_weights_=votes,
            **known,
        )

    def _log_scores(
        self,
        codes: CodeArray,
        impossible: list[int],  # noqa: ARG002  (members vote, so there is no warning)
    ) -> FloatArray:
        classes = np.arange(len(self.classes_))
        others = len(classes) - 1
        votes = np.zeros((codes.shape[0], len(classes)))
        for network, weight in zip(
            self._networks, self.estimator_weights_, strict=True
        ):
            log_joint = fill_in_prior(
                network.engine, network.engine.log_joint_block(codes)
            )
            chosen = log_joint.argmax(axis=1)[:, None] == classes
            votes += np.where(chosen, weight, -1 / others * weight)
        votes /= self.estimator_weights_.sum()
        votes /= others
        return votes

    def _options(self) -> BayesNetClassifier:
        """The base classifier."""
        if self.estimator is None:
            return BayesNetClassifier("mdl", "nb", "fe")
        return self.estimator

    def _check(self, base: object) -> None:
        if not isinstance(base, BayesNetClassifier):
            raise CapabilityError(
                f"estimator={base!r} is not a BayesNetClassifier; give one such as "
                "BayesNetClassifier(structure='nb'), or boost other classifiers with "
                "scikit-learn's AdaBoostClassifier."
            )
        check_choice("missing", base.missing, POLICIES)
        check_choice("unknown", base.unknown, POLICIES)
        check_whole("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("max_seconds", self.max_seconds, above=0, none=True)
        check_flag("verbose", self.verbose)


def boost(
    *,
    n_estimators: int = 20,
    learning_rate: float = 1.0,
    random_state: Any = None,
    max_seconds: float | None = None,
    verbose: bool = False,
    **arguments: Any,
) -> BoostedClassifier:
    """Boost a `BayesNetClassifier` made from the other arguments."""
    return BoostedClassifier(
        BayesNetClassifier(**arguments),
        n_estimators=n_estimators,
        learning_rate=learning_rate,
        random_state=random_state,
        max_seconds=max_seconds,
        verbose=verbose,
    )


def _select_weighted(
    data: TrainingData, codes: CodeArray, class_weight: Any
) -> tuple[CodeArray, npt.NDArray[np.unsignedinteger], FloatArray]:
    """Codes, labels and initial weights of the samples with a positive weight."""
    labels = data.recode_labels(data.classes)
    weights = weight_by_class(class_weight, data.classes, labels, data.weights)
    if weights is None:
        return codes, labels, np.ones(len(labels))
    if weights.all():
        return codes, labels, weights
    kept = np.flatnonzero(weights)
    return np.asfortranarray(codes[kept]), labels[kept], weights[kept]


def _random_state(random_state: Any) -> Any:
    """A source of randomness that scikit-learn accepts: Generators are none."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return random_state
    random = random_generator(random_state)
    if is_whole(random_state) and random_state < 2**32:
        return random_state
    return int(random.integers(2**31 - 1))


class MemberClassifier(ClassifierMixin, BaseEstimator):
    """A network learned from codes: the base estimator of scikit-learn's AdaBoost.

    Codes and labels are finite integers, so they pass scikit-learn's checks; a missing
    value has a code of its own. `total` is the sum that the sample weights are scaled
    to: an ensemble gives relative weights, but the learners take them as frequencies.
    The schema, with the class last, is shared by all clones, and so are the `numbers`
    of networks, those done and those to be made.
    """

    def __init__(
        self,
        *,
        schema: Schema,
        structure: StructureLearner,
        parameters: ParameterLearner,
        total: float,
        n_jobs: int | None = None,
        random_state: Any = None,
        numbers: Iterator[tuple[int, int]] | None = None,
    ) -> None:
        self.schema = schema
        self.structure = structure
        self.parameters = parameters
        self.total = total
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.numbers = numbers

    def fit(
        self,
        X: CodeArray,
        y: LabelArray,
        sample_weight: FloatArray,
    ) -> Self:
        """Learn from codes (n_samples, n_features), class codes and weights."""
        if self.numbers is not None:
            report("BoostedClassifier", *next(self.numbers), unit="network")
        weights = sample_weight * (self.total / sample_weight.sum())
        data = ArrayData(self.schema, X, y, weights, self.n_jobs)
        random = random_generator(self.random_state)
        found = self.structure.learn(data, random_state=random)
        tables = self.parameters.learn(
            found.structure, data, start=found.start, random_state=random
        )
        self.network_ = Network(self.schema, found.structure, tables)
        self.classes_ = np.arange(self.schema.n_classes)
        return self

    def predict(self, X: CodeArray) -> IndexArray:
        """Predict the code of the most probable class of every sample."""
        engine = self.network_.engine
        log_joint = engine.log_joint(np.asfortranarray(X), self.n_jobs)
        best: IndexArray = fill_in_prior(engine, log_joint).argmax(axis=1)
        return best

    def __sklearn_clone__(self) -> MemberClassifier:
        return MemberClassifier(
            schema=self.schema,  # a value: copying it would only cost
            structure=clone(self.structure),
            parameters=clone(self.parameters),
            total=self.total,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            numbers=self.numbers,
        )
