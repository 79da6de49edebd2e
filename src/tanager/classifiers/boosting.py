"""`BoostedClassifier`: networks that vote, each learned where the others erred."""

from __future__ import annotations

from math import isfinite
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import clone

from tanager.classifiers.base import TableClassifier, fitted_encoder, with_prior
from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.ensemble_member import MemberClassifier
from tanager.classifiers.training import Learners
from tanager.classifiers.training_data import (
    TrainingRows,
    names_only,
    target_name,
    training_rows,
    weighted_by_class,
    with_target,
)
from tanager.classifiers.validation import (
    MEANINGS,
    check_choice,
    random_generator,
    refuse_missing,
)
from tanager.encoding.column_alignment import check_features
from tanager.errors import CapabilityError, InputError
from tanager.network import Network
from tanager.registry import parts_from
from tanager.registry.auto import Parts
from tanager.types import CodeArray, FloatArray
from tanager.utils.validation import check_number, check_whole


class BoostedClassifier(TableClassifier):
    """AdaBoost of Bayesian networks (NB+Ada, TAN+Ada) on any table.

    The table is encoded once. Then networks are learned one after the other by
    scikit-learn's `AdaBoostClassifier`, each from weights that are larger where those
    before it erred, and classify by a weighted vote.

    Parameters
    ----------
    estimator : BayesNetClassifier or None, default=None
        What is boosted: its encoder, structure, parameters, `missing`, `unknown`,
        `class_weight` and `n_jobs` are used, and "auto" is what only counts. None is
        naive Bayes with frequencies.
    n_estimators : int, default=20
        Number of networks, the one of [1]_; fewer if one makes no error on the
        training rows, or is no better than guessing.
    learning_rate : float, default=1.0
        Factor of every network's weight, above 0.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness for learners that use one; that of `estimator` is not
        used.

    Attributes
    ----------
    networks_ : tuple of Network
        The networks, in the order in which they were learned, over the same variables.
    estimator_weights_ : ndarray of shape (n_networks,)
        Weight of every network in the vote.
    estimator_errors_ : ndarray of shape (n_networks,)
        Weighted error of every network on the training rows; not kept in model files.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where they were all strings.
    encoder_ : TableEncoder
        The fitted encoder.

    See Also
    --------
    BayesNetClassifier : One network.

    Notes
    -----
    Cut points and states come from the training rows with their original weights, so
    that the networks differ in structure and tables alone; data are discretised
    beforehand in [1]_, too (into ten bins of equal width; missing values are replaced
    there and summed over here). To find the cuts anew for every network, boost the
    classifier itself: ``AdaBoostClassifier(TANClassifier())``.

    In round m the weights w of the N rows are scaled to the total they had at the
    start (N, where none were given), because smoothing takes them for frequencies. With
    e the weighted error of network m on the training rows and K classes, its vote has
    the weight a = learning_rate * (log((1 - e) / e) + log(K - 1)), and the rows it got
    wrong are multiplied by exp(a): the algorithm SAMME [2]_, which for K = 2 is
    AdaBoost.M1 [3]_, the one of [1]_. For K > 2 AdaBoost.M1 would ask for errors below
    1/2, SAMME for errors below 1 - 1/K.

    Boosting ends before a network that is no better than guessing. If that is the very
    first, there is nothing to boost and it stands alone, for instance where no feature
    tells anything about the class.

    Probabilities are the softmax of f / (K - 1), where f_c is the weighted mean of the
    votes, 1 for c and -1 / (K - 1) against it, as scikit-learn has them. They are never
    far from equal, at most 0.88 for K = 2, so they are no estimates of how often a
    class occurs; for those use a single network.

    Every network sums over missing cells. But the later ones are learned from weights
    that no longer describe how often rows occur, so incomplete rows may lose more than
    they do with a single network.

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

    def __init__(
        self,
        estimator: BayesNetClassifier | None = None,
        *,
        n_estimators: int = 20,
        learning_rate: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state

    @property
    def networks_(self) -> tuple[Network, ...]:
        """The networks, in the order in which they were learned."""
        return self._networks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the encoder, then one network after the other.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Whatever `BayesNetClassifier` takes; missing values are welcome.
        y : array-like of shape (n_samples,)
            The class of every row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often every row counts; weights that sum to one are relative, as in
            `BayesNetClassifier.fit`.

        Returns
        -------
        self : BoostedClassifier
            The fitted classifier.
        """
        base = self._options()
        self._check(base)
        rows = training_rows(
            X,
            y,
            sample_weight,
            type(self).__name__,
            advice="boosting needs the class of every row.",
        )
        if base.missing == "error":
            refuse_missing(rows.table)
        encoder, structure, parameters = _parts(base)
        learners = Learners.of(structure, parameters)
        learners.structure.check(names_only(rows.table, target_name(y)))
        if len(rows.classes) < 2:
            raise InputError(
                f"y has only one class, {rows.classes.tolist()[0]!r}; a classifier "
                "needs at least two classes."
            )
        codes = encoder.fit_encode(rows.table, rows.labels, rows.weights, base.n_jobs)
        schema = with_target(encoder.schema_, rows.classes, target_name(y))
        codes, labels, weights = _weighted_rows(rows, codes, base.class_weight)
        member = MemberClassifier(
            schema=schema,
            structure=learners.structure,
            parameters=learners.parameters,
            total=float(weights.sum()),
            n_jobs=base.n_jobs,
        )
        members, votes, errors = self._boosted(member, codes, labels, weights)
        check_features(self, rows.table, reset=True)
        self._adopt(tuple(m.network_ for m in members), votes, rows.classes)
        self.estimator_errors_ = errors
        return self

    def _boosted(
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
        try:
            # The weights are passed on by AdaBoost itself; it refuses to be asked
            # where the user has switched the routing of metadata on.
            with config_context(enable_metadata_routing=False):
                boost.fit(codes, labels, sample_weight=weights)
        except ValueError:
            # A member that cannot be learned is still in the list. It is empty only
            # where AdaBoost took the first member out and gave up.
            if getattr(boost, "estimators_", None) != []:
                raise
            return self._alone(member, codes, labels, weights, seed)
        n_members = len(boost.estimators_)
        votes = boost.estimator_weights_[:n_members]
        if not isfinite(votes.sum()) or not votes.all():
            raise InputError(
                f"learning_rate={self.learning_rate!r} gives networks weights that are "
                "infinite or zero by rounding; give one nearer to 1."
            )
        return boost.estimators_, votes, boost.estimator_errors_[:n_members]

    def _alone(
        self,
        member: MemberClassifier,
        codes: CodeArray,
        labels: npt.NDArray[np.integer],
        weights: FloatArray,
        seed: Any,
    ) -> tuple[list[MemberClassifier], FloatArray, FloatArray]:
        """The first member with the only vote, where there is nothing to boost."""
        single: MemberClassifier = clone(member).set_params(random_state=seed)
        single.fit(codes, labels, weights)
        error = float(np.average(single.predict(codes) != labels, weights=weights))
        return [single], np.ones(1), np.array([error])

    def _adopt(
        self,
        networks: tuple[Network, ...],
        votes: FloatArray,
        classes: npt.NDArray[Any],
    ) -> None:
        """Become the fitted classifier of networks whose target is last."""
        self._networks = networks
        self.estimator_weights_ = votes
        self.classes_ = classes
        base = self._options()
        self.encoder_ = fitted_encoder(self, _parts(base)[0], networks[0].schema)

    def _log_scores(
        self,
        codes: CodeArray,
        impossible: list[int],  # noqa: ARG002  (the prior of a member is only its vote)
    ) -> FloatArray:
        classes = np.arange(len(self.classes_))
        others = len(classes) - 1
        votes = np.zeros((codes.shape[0], len(classes)))
        for network, weight in zip(
            self._networks, self.estimator_weights_, strict=True
        ):
            log_joint = with_prior(
                network.engine, network.engine.log_joint_block(codes)
            )
            chosen = log_joint.argmax(axis=1)[:, None] == classes
            votes += np.where(chosen, weight, -1 / others * weight)
        votes /= self.estimator_weights_.sum()
        votes /= others
        return votes

    def _options(self) -> BayesNetClassifier:
        """The classifier that is boosted; its arguments are those of this one."""
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
        check_choice("missing", base.missing, MEANINGS)
        check_choice("unknown", base.unknown, MEANINGS)
        check_whole("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, above=0)


def boosted(
    *,
    n_estimators: int = 20,
    learning_rate: float = 1.0,
    random_state: Any = None,
    **arguments: Any,
) -> BoostedClassifier:
    """Boost a `BayesNetClassifier` made of the arguments that are left.

    Examples
    --------
    >>> boosted(n_estimators=5, structure="nb", encoder="width")
    BoostedClassifier(estimator=BayesNetClassifier(encoder='width', structure='nb'),
                      n_estimators=5)
    """
    return BoostedClassifier(
        BayesNetClassifier(**arguments),
        n_estimators=n_estimators,
        learning_rate=learning_rate,
        random_state=random_state,
    )


def _weighted_rows(
    rows: TrainingRows, codes: CodeArray, class_weight: Any
) -> tuple[CodeArray, npt.NDArray[np.unsignedinteger], FloatArray]:
    """Rows, labels and weights to begin with, the weights of the classes included."""
    labels = rows.labels_by(rows.classes)
    weights = weighted_by_class(class_weight, rows.classes, labels, rows.weights)
    if weights is None:
        return codes, labels, np.ones(len(labels))
    if weights.all():
        return codes, labels, weights
    kept = np.flatnonzero(weights)
    return np.asfortranarray(codes[kept]), labels[kept], weights[kept]


def _random_state(random_state: Any) -> Any:
    """What scikit-learn takes for a source of randomness; it knows no Generator."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    random = random_generator(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random.integers(2**31 - 1))
    return random_state


def _parts(base: BayesNetClassifier) -> Parts:
    """Fresh parts; "auto" is what is learned fast, since there are many networks."""
    return parts_from(base.encoder, base.structure, base.parameters, counting=True)
