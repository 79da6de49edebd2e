"""`BayesNetClassifier`: one estimator for all Bayesian network classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from tanager.classifiers.base import NetworkClassifier
from tanager.classifiers.callbacks import (
    CallbackSupportMixin,
    Progress,
    stage,
    with_callbacks,
)
from tanager.classifiers.training import Learned, Learners
from tanager.classifiers.training_data import (
    TrainingRows,
    extended_schema,
    joined_classes,
    joint_schema,
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
from tanager.data import ArrayData, CountedData
from tanager.encoding import TableEncoder
from tanager.encoding.column_alignment import check_features
from tanager.encoding.labels import encode_labels
from tanager.encoding.row_encoder import EncodingPlan
from tanager.errors import CapabilityError, InputError
from tanager.model.schema import Schema, states_array
from tanager.network import Network
from tanager.registry import is_auto, parse, parts_from
from tanager.registry.auto import Parts
from tanager.structure import StructureResult
from tanager.types import CodeArray

if TYPE_CHECKING:
    from tanager.classifiers.boosting import BoostedClassifier


def _learns_in_portions(estimator: BayesNetClassifier) -> bool:
    """Whether the learners can go on from what earlier rows left."""
    estimator._learners(portion=True).check_portions()
    if hasattr(estimator, "parameters_"):  # "auto" may have meant others in `fit`
        Learners(estimator.structure_, estimator.parameters_).check_portions()
    return True


class BayesNetClassifier(CallbackSupportMixin, NetworkClassifier):
    """A Bayesian network that classifies: encoder, structure and parameters.

    Any table goes in: mixed types, strings, missing cells. Numbers are binned inside
    `fit`, a structure over the features is found, and its tables are learned.

    Parameters
    ----------
    encoder : {"auto", "mdl", "width", "quantile", "categorical"}, TableEncoder or \
            NumericEncoder, default="auto"
        How columns become states. "categorical" takes every distinct number as a state;
        "auto" makes up to 50 bins of equal frequency for smooth tables, and bins by MDL
        for others.
    structure : {"auto", "nb", "tan", ...} or StructureLearner, default="auto"
        How the parents of the features are found. "auto" is a tree of what the
        classifier has not explained yet (`ResidualTree`) for smooth tables, and a
        Chow-Liu tree for others.
    parameters : {"auto", "fe", "ml", "cl", "dfe", "em", ...} or ParameterLearner, \
            default="auto"
        How the tables are learned. "auto" are smooth tables of maximum conditional
        likelihood (`ConditionalLikelihood`) for naive Bayes, Chow-Liu, random and
        residual trees, the tables that a structure learner hands over (`GumbelTree`),
        and frequencies for other structures. In `partial_fit` it is frequencies.
    missing : {"marginalize", "error"}, default="marginalize"
        What a missing value means: sum over all its states, or an error.
    unknown : {"marginalize", "error"}, default="marginalize"
        What a category never seen in `fit` means: the same as missing, or an error.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into the row weights when counting. The
        encoder does not see them: its cuts describe the data.
    warm_start : bool, default=False
        Whether `fit` of a fitted classifier hands its present tables to the parameter
        learner as a start, which iterative learners such as `ConditionalLikelihood`
        use. If the new rows lead to other variables, states or classes or to another
        structure, it starts anew; so it does from families kept as sums that are too
        large to be written out.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness for learners that use one.

    Attributes
    ----------
    network_ : Network
        The network; its class variable comes last.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, where they were all strings.
    encoder_ : TableEncoder
        The fitted encoder.
    structure_, parameters_ : StructureLearner, ParameterLearner
        The learners that were used, with what they report of themselves; not there if
        the classifier was made of a network or read from a file.
    markov_blanket_ : tuple of str
        Names of the features that matter to the class; all of them in naive Bayes, TAN
        and whatever else makes every feature a child of the class.
    trace_ : dict
        "structure" and "parameters": what the learners report, step by step, empty if
        nothing; "seconds": how long each stage took.

    See Also
    --------
    BayesNetClassifier.from_name : The published methods by their names.
    NaiveBayesClassifier, TANClassifier : The two classics.

    Notes
    -----
    Rows with missing features are classified exactly, by summing over what is missing;
    a row with nothing observed gets the prior. If a row is impossible under every class
    (only tables with zeros allow that) its probabilities are the prior, too, and a
    warning tells how many such rows there are.

    The default was chosen on 24 datasets and tested on others (docs/default-model.md).
    ``parameters="fe"`` only counts, and is the fastest.

    Examples
    --------
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier().fit(X, ["dry", "wet", "wet", "dry"])
    >>> model.predict({"sky": ["grey", None], "wind": [None, 2.5]})
    array(['wet', 'dry'], dtype='<U3')
    >>> model.network_.edges
    (('class', 'sky'), ('class', 'wind'), ('sky', 'wind'))
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
        cls, name: str, **arguments: Any
    ) -> BayesNetClassifier | BoostedClassifier:
        """Make a classifier by its published name.

        Parameters
        ----------
        name : str
            Such as ``"TAN-CMI-ML"`` or ``"NB+FE"``; `tanager.names` lists all.
        **arguments
            Further constructor arguments; for a boosted classifier also those of the
            classifier that is boosted.

        Returns
        -------
        BayesNetClassifier or BoostedClassifier
            The latter for names that end in ``+Ada``. Not fitted.

        Examples
        --------
        >>> BayesNetClassifier.from_name("NB-ML")
        BayesNetClassifier(parameters=Frequency(zero=1e-05), structure=NaiveBayes())
        """
        from tanager.classifiers.boosting import boosted

        recipe = parse(name)
        if is_auto(name):
            return BayesNetClassifier(**arguments)
        make = boosted if recipe.boosted else BayesNetClassifier
        return make(
            structure=recipe.structure, parameters=recipe.parameters, **arguments
        )

    @classmethod
    def from_network(
        cls, network: Network, target: str | None = None
    ) -> BayesNetClassifier:
        """Make a fitted classifier of a network that already has its tables.

        Parameters
        ----------
        network : Network
            The network.
        target : str or None, default=None
            The class variable; the network's own target by default.

        Returns
        -------
        BayesNetClassifier
            Ready to be asked; its columns are the other variables, in their order.
            Named tables are matched by name: the order does not matter, a column that
            is not there is missing in every row, and that of the target is ignored. A
            model file does not keep this, but pickle does.

        Examples
        --------
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> model = BayesNetClassifier.from_network(network, target="rain")
        >>> model.classes_, model.feature_names_in_
        (array(['no', 'yes'], dtype='<U3'), array(['wet'], dtype=object))
        """
        if not isinstance(network, Network):
            raise InputError(
                "from_network expects a Network, got a "
                f"{type(network).__name__}; tanager.load reads files."
            )
        whole = network.with_target_last(target)
        model = BayesNetClassifier()
        model.n_features_in_ = len(whole.schema) - 1
        model.feature_names_in_ = np.array(whole.schema.names[:-1], dtype=object)
        model._become(
            Learned(whole),
            states_array(whole.schema.target_variable.states),
            declared=True,
        )
        model._by_name = True
        return model

    def blanket_classifier(self, *, exact: bool = True) -> BayesNetClassifier:
        """Make a classifier that needs only the columns that matter to the class.

        Parameters
        ----------
        exact : bool, default=True
            Whether its probabilities are those of this classifier for all rows, given
            the columns that it has. If not, they are so for rows with none of them
            missing; see `Network.blanket_network`.

        Returns
        -------
        BayesNetClassifier
            Fitted; its columns are those named by `markov_blanket_`, in that order.
            Named tables are matched by name as by a classifier `from_network`.

        Examples
        --------
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
                "No feature matters to the class, so a classifier of those that do "
                "would have no columns. All rows get the prior: network_.posterior()."
            )
        small = BayesNetClassifier(
            missing=self.missing, unknown=self.unknown, n_jobs=self.n_jobs
        )
        small.n_features_in_ = len(network.schema) - 1
        if hasattr(self, "feature_names_in_"):
            small.feature_names_in_ = np.array(network.schema.names[:-1], dtype=object)
        small._become(Learned(network), self.classes_, declared=True)
        small._by_name = hasattr(self, "feature_names_in_")
        return small

    # Learning

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn encoder, structure and tables.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A data frame (pandas, polars, Arrow), array, list of rows (sequences or
            mappings) or mapping of columns. Missing values are welcome.
        y : array-like of shape (n_samples,)
            The class of every row. It may be missing (None, NaN, NA, null) in some rows
            if the parameter learner can use them (`uses_unlabelled`); encoders that
            look at the classes then leave these rows out, and `class_weight` does not
            touch them.
        sample_weight : array-like of shape (n_samples,), default=None
            How often every row counts: weight 2 is the row twice, weight 0 is no row.
            Weights that sum to one are relative, as those of AdaBoost are: they are
            multiplied by the number of rows with a positive weight.

        Returns
        -------
        self : BayesNetClassifier
            The fitted classifier.
        """
        self._learn(X, y, sample_weight, classes=None, portion=False)
        return self

    @available_if(_learns_in_portions)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from one more portion of rows, for learners that count or are online.

        The first portion sets the cut points of numeric columns. Later portions may
        bring new categories and, unless `classes` were declared, new classes. With
        learners that only count the result is that of one `fit` on all rows with these
        cut points.

        An online learner (`DFE`) learns from the rows of the portion alone, going on
        from the counts that the portions before have left; the structure stays that of
        the first portion. The first call is the same as `fit` on its rows. After more
        of them the result depends on the order of the rows and on where the portions
        end.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like or None, default=None
            All classes there will be; only looked at in the first call.

        Returns
        -------
        self : BayesNetClassifier
            The fitted classifier.
        """
        if isinstance(self.class_weight, str):
            raise InputError(
                "class_weight='balanced' depends on all rows, so partial_fit cannot "
                "use it; give the weights as a dict."
            )
        self._learn(X, y, sample_weight, classes=classes, portion=True)
        return self

    def merge(self, other: BayesNetClassifier) -> BayesNetClassifier:
        """Join two classifiers fitted on different rows into one on all of them.

        Parameters
        ----------
        other : BayesNetClassifier
            Fitted with the same features and cut points, by learners that only count.
            What an online learner has counted depends on the rows it saw before, so
            two such classifiers cannot be merged.

        Returns
        -------
        BayesNetClassifier
            A new classifier, with the constructor arguments of this one.
        """
        mine, theirs = self._kept_counts(), other._kept_counts()
        learners = self._learners(portion=True)
        for learner in (learners.parameters, self.parameters_, other.parameters_):
            if learner.online:
                raise CapabilityError(
                    f"What {type(learner).__name__} counts in a row depends on the "
                    "rows before it, so the counts of two classifiers do not add up to "
                    "those of one. Fit one classifier, in portions with partial_fit."
                )
        if (mine.pairs is None) != (theirs.pairs is None) or (
            mine.families.layout.axes != theirs.families.layout.axes
        ):
            raise CapabilityError(
                "The two classifiers kept different counts: only classifiers with the "
                f"same structure learner can be merged, not {self.structure!r} and "
                f"{other.structure!r}."
            )
        classes = joined_classes(self.classes_, other.classes_)
        schema = joint_schema(mine.schema, theirs.schema, classes)
        merged: BayesNetClassifier = clone(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(merged, name, getattr(self, name))
        merged._become(
            learners.learn(
                mine.recoded(schema) + theirs.recoded(schema),
                random_generator(self.random_state),
            ),
            classes,
            declared=self._declared and other._declared,
        )
        return merged

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any, portion: bool
    ) -> None:
        """Encode the rows and learn from them, or from the counts so far and theirs.

        Everything is kept in local variables until the network is there: a portion
        that cannot be used leaves the classifier as it was.
        """
        check_choice("missing", self.missing, MEANINGS)
        check_choice("unknown", self.unknown, MEANINGS)
        first = not portion or not hasattr(self, "network_")
        learners = self._learners(portion=portion)
        if self.random_state is None and learners.structure.checkpoint is not None:
            raise InputError(
                "A run with a checkpoint can be gone on with only if it is random in "
                "the same way: give the classifier a random_state, such as 0."
            )
        counts = None if first else self._kept_counts()
        if counts is not None:
            learners.check_goes_on(self.parameters_)
        rows = training_rows(
            X,
            y,
            sample_weight,
            type(self).__name__,
            allow_unlabelled=learners.parameters.uses_unlabelled,
        )
        if self.missing == "error":
            refuse_missing(rows.table)
        if not first:
            check_features(self, rows.table, reset=False)
        learners.structure.check(names_only(rows.table, target_name(y)))
        progress = None if portion else Progress(self, X, y, sample_weight)
        seconds: dict[str, float] = {}
        with stage(progress, "encode", seconds):
            if counts is None:
                known = rows.classes
                if classes is not None:
                    known, _ = encode_labels(classes, len(classes), "partial_fit")
                schema, codes = self._coded_first(rows, known, target_name(y), portion)
            else:
                known = self.classes_
                if not self._declared:
                    known = joined_classes(known, rows.classes)
                schema = extended_schema(counts.schema, rows.table, known)
                plan = EncodingPlan(rows.table, schema.variables[:-1])
                codes = plan.encode(n_jobs=self.n_jobs)
            labels = rows.labels_by(known)
            weights = weighted_by_class(self.class_weight, known, labels, rows.weights)
            data = ArrayData(schema, codes, labels, weights, self.n_jobs)
        found = None
        with stage(None, "count", seconds):
            statistics = learners.statistics(data, portion=portion)
            if counts is not None:
                counts = counts.recoded(schema)
                if statistics is not None:
                    statistics = counts + statistics
                else:
                    steps = tuple(self.trace_["structure"])
                    found = StructureResult(self.network_.structure, steps)
                    learners = Learners(self.structure_, learners.parameters)
        warm = self.warm_start and not portion
        learned = learners.learn(
            data if statistics is None else statistics,
            random_generator(self.random_state),
            found=found,
            kept=counts,
            former=getattr(self, "network_", None) if warm else None,
            progress=progress,
            seconds=seconds,
        )
        declared = classes is not None if first else self._declared
        if first:
            check_features(self, rows.table, reset=True)
        self._become(learned, known, declared=declared)
        if progress is not None:
            progress.end()

    def _coded_first(
        self, rows: TrainingRows, classes: npt.NDArray[Any], target: str, portion: bool
    ) -> tuple[Schema, CodeArray]:
        """Fit an encoder to the first rows: the schema, and the rows' codes."""
        if not portion and len(classes) < 2:
            raise InputError(
                f"y has only one class, {classes.tolist()[0]!r}; a classifier needs at "
                "least two classes."
            )
        encoder, *_ = self._parts(portion)
        codes = encoder.fit_encode(
            rows.table, rows.labels_for_cuts, rows.weights, self.n_jobs
        )
        return with_target(encoder.schema_, classes, target), codes

    def _become(
        self, learned: Learned, classes: npt.NDArray[Any], *, declared: bool
    ) -> None:
        """Become the fitted classifier of what was learned."""
        for name in ("structure", "parameters"):
            if learned.learners is not None:
                setattr(self, f"{name}_", getattr(learned.learners, name))
            elif hasattr(self, f"{name}_"):  # it was not learned by these
                delattr(self, f"{name}_")
        self._adopt(learned.network, classes)
        self._by_name = False
        self._declared = declared
        self._counts = learned.counts
        self.trace_ = learned.trace

    def _learners(self, *, portion: bool = False) -> Learners:
        """Fresh learners, as the constructor arguments say."""
        return Learners.of(*self._parts(portion)[1:])

    def _fresh_encoder(self) -> TableEncoder:
        # One that is read from a file does not know its learners.
        parameters = getattr(self, "parameters_", self.parameters)
        return parts_from(self.encoder, self.structure, parameters)[0]

    def _parts(self, portion: bool) -> Parts:
        return parts_from(
            self.encoder, self.structure, self.parameters, counting=portion
        )

    def _kept_counts(self) -> CountedData:
        counts: CountedData | None = self._fitted()._counts
        if counts is None:
            raise CapabilityError(
                "This classifier has no counts to go on from: it was made of a network "
                "or a file, its learners need all rows, or its pair tables were too "
                "large to keep. Call fit with all rows."
            )
        return counts
