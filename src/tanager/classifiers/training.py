"""What `fit` does: read the data, time the stages, learn a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from tanager import loglinear
from tanager import network as networks
from tanager.data import ArrayData, CountedData
from tanager.data.coded_data import CodedData
from tanager.data.information import fits_budget
from tanager.data.round_count import RoundCount
from tanager.encoding.dataframe_libraries import is_dask
from tanager.encoding.feature_states import extend_variable
from tanager.encoding.frame import Frame, plain_state, read_frame
from tanager.encoding.labels import BY_EM, encode_labels, mark_missing
from tanager.errors import CapabilityError, InputError
from tanager.io.batches import is_batched
from tanager.model import FamilyLayout, Parameters, Schema, Structure, Variable
from tanager.model.constant_arcs import (
    drop_constant_arcs,
    restore_constant_arcs,
    varying_parents,
)
from tanager.types import CodeArray, FloatArray
from tanager.utils.progress import set_stage, time_share
from tanager.utils.validation import check_weights, is_number

if TYPE_CHECKING:
    from tanager.encoding import TableEncoder
    from tanager.loglinear import FactorStatistics
    from tanager.network import AnyNetwork, Network
    from tanager.parameters import ParameterLearner
    from tanager.structure import StructureLearner, StructureResult

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Method) -> Method:
        """Return the method unchanged: there are no callbacks to tear down."""
        return method


STAGES = ("encode", "structure", "parameters")
"""The stages that scikit-learn's callbacks see."""

SHARE = 2 / 3
"""Fraction of a limited time in which a structure is learned, if parameters take long,
too."""

START_CELLS = 5_000_000
"""Cells up to which sums of factors are expanded to CPTs to start from."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Checked features, labels and weights, without samples of weight zero.

    `classes`, shape (n_found,), are those that occur, sorted; `labels`, shape
    (n_samples,), are positions in `classes`, their number where the label is missing;
    `weights` None means all one; `target` is the name of a named series, else "class".
    """

    frame: Frame
    classes: npt.NDArray[Any]
    labels: npt.NDArray[np.unsignedinteger]
    weights: FloatArray | None
    target: str

    def recode_labels(
        self, classes: npt.NDArray[Any]
    ) -> npt.NDArray[np.unsignedinteger]:
        """Labels as positions in `classes`, which must contain all that occur."""
        undeclared = np.setdiff1d(self.classes, classes)
        if len(undeclared):
            raise InputError(
                f"y has classes that were not declared: {undeclared.tolist()}; "
                f"declared are {classes.tolist()}."
            )
        dtype = np.min_scalar_type(len(classes))
        if len(classes) == len(self.classes):
            return self.labels.astype(dtype, copy=False)
        labels: npt.NDArray[np.unsignedinteger]
        positions = np.append(np.searchsorted(classes, self.classes), len(classes))
        labels = positions.astype(dtype)[self.labels]
        return labels

    def check_classes(self) -> None:
        """Raise unless there are at least two classes."""
        if len(self.classes) < 2:
            raise InputError(
                f"y has only one class, {self.classes.tolist()[0]!r}; a classifier "
                "needs at least two classes."
            )

    def fit_codes(self, encoder: TableEncoder, n_jobs: int | None) -> CodeArray:
        """Fit an encoder to the samples, and encode them."""
        cut_labels = mark_missing(self.classes, self.labels)
        codes = encoder.fit_frame(self.frame, cut_labels, self.weights, n_jobs)
        assert codes is not None
        return codes

    def join_codes(
        self,
        codes: CodeArray,
        features: Schema,
        classes: npt.NDArray[Any],
        options: Any,
    ) -> ArrayData:
        """Join coded features with labels and weights.

        `features` is the schema of the codes; `classes` must contain all that occur;
        `options` is an estimator with `class_weight` and `n_jobs`.
        """
        schema = add_target(features, classes, self.target)
        labels = self.recode_labels(classes)
        weights = weight_by_class(options.class_weight, classes, labels, self.weights)
        return ArrayData(schema, codes, labels, weights, options.n_jobs)


def read_training_data(
    X: Any,
    y: Any,
    sample_weight: Any,
    who: str,
    *,
    allow_unlabelled: bool = False,
    advice: str = BY_EM,
) -> TrainingData:
    """Read and check the arguments of a fit; `advice` is that of `encode_labels`."""
    if is_dask(X):
        raise CapabilityError(
            f"{who} needs the samples as one data frame here, but X is a Dask "
            f"{type(X).__name__}. Only BayesNetClassifier.fit takes these; in "
            "partial_fit give one partition after the other."
        )
    if is_batched(X):
        raise CapabilityError(
            f"{who} needs the samples as one data frame here, but X is read in batches "
            f"({type(X).__name__}). Only BayesNetClassifier.fit takes these; in "
            "partial_fit give one batch after the other."
        )
    frame = read_frame(X)
    weights = check_weights(sample_weight, frame.n_rows)
    classes, labels = encode_labels(
        y, frame.n_rows, who, allow_missing=allow_unlabelled, advice=advice
    )
    if weights is not None and not weights.all():
        # A sample of weight zero adds no states, cuts or classes.
        rows = np.flatnonzero(weights)
        frame, weights, labels = frame.take(rows), weights[rows], labels[rows]
        found = np.unique(labels[labels < len(classes)])
        if not len(found):
            raise InputError(
                "Every labelled sample has weight 0. Give some of them a weight "
                "above 0."
            )
        positions = np.full(len(classes) + 1, len(found))
        positions[found] = np.arange(len(found))
        classes, labels = classes[found], positions[labels].astype(labels.dtype)
    name = getattr(y, "name", None)
    target = name if isinstance(name, str) and name else "class"
    return TrainingData(frame, classes, labels, weights, target)


def weight_by_class(
    class_weight: Any,
    classes: npt.NDArray[Any],
    labels: npt.NDArray[np.unsignedinteger],
    weights: FloatArray | None,
) -> FloatArray | None:
    """Multiply sample weights by the weight of each sample's class."""
    if class_weight is None:
        return weights
    totals = np.bincount(labels, weights, len(classes) + 1)[: len(classes)]
    by_sample: FloatArray = class_factors(class_weight, classes, totals)[labels]
    return by_sample if weights is None else weights * by_sample


def class_factors(
    class_weight: Any, classes: npt.NDArray[Any], totals: npt.NDArray[Any]
) -> FloatArray:
    """Factors of the weights of the samples of every class, and of unlabelled ones.

    "balanced" makes the total weight of every class that occurs the same; `totals` are
    those now, shape (n_classes,). Unlabelled samples keep their weight: the last of the
    n_classes + 1 factors is one.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        mean = totals.sum() / max(1, np.count_nonzero(totals))
        factors = np.divide(mean, totals, where=totals > 0, out=np.zeros(len(totals)))
    elif isinstance(class_weight, Mapping):
        # A rare class may be absent here; if all are absent, the names are wrong.
        if class_weight and not any(
            label in class_weight for label in classes.tolist()
        ):
            raise InputError(
                f"None of the classes that class_weight names, {list(class_weight)}, "
                f"occurs; the classes are {classes.tolist()}."
            )
        given = [class_weight.get(label, 1.0) for label in classes.tolist()]
        if not all(is_number(factor) and factor >= 0 for factor in given):
            raise InputError(
                f"class_weight must hold finite numbers of at least 0, got "
                f"{dict(class_weight)!r}."
            )
        factors = np.array(given, dtype=np.float64)
        if not factors.any():
            raise InputError(
                f"class_weight={dict(class_weight)!r} gives all labelled samples the "
                "weight zero, so there is nothing to learn from. Give some class a "
                "weight above 0."
            )
    else:
        raise InputError(
            f"class_weight must be None, 'balanced' or a dict, got {class_weight!r}."
        )
    return np.append(factors, 1.0)


def add_target(features: Schema, classes: npt.NDArray[Any], name: str) -> Schema:
    """Append a class variable, with underscores if a feature has its name."""
    while name in features.position:
        name += "_"
    states = tuple(plain_state(label) for label in classes)
    return Schema((*features.variables, Variable(name, states)), target=len(features))


def join_schemas(one: Schema, other: Schema, classes: npt.NDArray[Any]) -> Schema:
    """Join the schemas of two datasets with the same features and cut points."""
    if one.names[:-1] != other.names[:-1]:
        raise InputError(
            "Only classifiers of the same features, in the same order, can be merged."
        )
    variables = []
    for mine, theirs in zip(one.variables[:-1], other.variables[:-1], strict=True):
        if mine.cuts != theirs.cuts or mine.ordered != theirs.ordered:
            raise InputError(
                f"{mine.name!r} is cut at {mine.cuts} here and at {theirs.cuts} there; "
                "only classifiers with the same cut points can be merged. Encode with "
                "one fitted TableEncoder first, or start both from the same batch."
            )
        joined = extend_variable(mine, theirs.value_states)
        if theirs.missing_state:
            joined = joined.with_missing_state()
        variables.append(joined)
    return add_target(Schema(tuple(variables)), classes, one.names[-1])


class FitProgress:
    """Times the stages of a fit and reports them to the callbacks of an estimator.

    No estimator reports nothing. `seconds` has the duration of every stage.
    """

    def __init__(
        self, estimator: Any = None, X: Any = None, y: Any = None, weight: Any = None
    ) -> None:
        self.seconds: dict[str, float] = {}
        start = getattr(estimator, "_init_callback_context", None)
        self._context = None if start is None else start(max_subtasks=len(STAGES))
        self._given = {
            "estimator": estimator,
            "X": X,
            "y": y,
            "metadata": {"sample_weight": weight},
        }
        if self._context is not None:
            self._context.call_on_fit_task_begin(**self._given)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage, and report its begin and end."""
        started = perf_counter()
        set_stage(name)
        inner = None
        if self._context is not None and name in STAGES:
            inner = self._context.subcontext(task_name=name)
            inner.call_on_fit_task_begin(**self._given)
        yield
        if inner is not None:
            inner.call_on_fit_task_end(**self._given)
        self.seconds[name] = perf_counter() - started

    def end(self) -> None:
        """Report that the estimator is fitted."""
        if self._context is not None:
            self._context.call_on_fit_task_end(
                reconstruction_attributes={}, **self._given
            )


@dataclass(frozen=True, eq=False)
class FitResult:
    """The network of a fit, the statistics it is based on, its trace and learners."""

    network: AnyNetwork
    counts: CountedData | FactorStatistics | None = None
    trace: dict[str, Any] = field(
        default_factory=lambda: {"structure": [], "parameters": [], "seconds": {}}
    )
    learner: NetworkLearner | None = None


@dataclass(frozen=True, eq=False)
class NetworkLearner:
    """A structure learner and a parameter learner, which together learn a network."""

    structure: StructureLearner
    parameters: ParameterLearner

    def __post_init__(self) -> None:
        """Check that the two are compatible."""
        if self.structure.gives_factors and not self.parameters.takes_tables:
            raise CapabilityError(
                f"{type(self.structure).__name__} learns its own tables, so "
                f"{type(self.parameters).__name__} has nothing to learn. Leave "
                'parameters="auto", or use another structure, such as "tan-res".'
            )
        if self.parameters.takes_tables and not self.structure.gives_tables:
            raise CapabilityError(
                f"{type(self.parameters).__name__} keeps the CPTs of a structure "
                f"learner, but {type(self.structure).__name__} learns no CPTs "
                "(gives_tables is False). Use a structure learner that learns both, "
                "such as GumbelTree(), or learn the CPTs: parameters=Frequency()."
            )

    def sample_bytes(self, n_features: int, n_classes: int) -> int:
        """Memory per sample, besides its codes, that learning takes, about."""
        return max(
            part.sample_bytes(n_features, n_classes)
            for part in (self.structure, self.parameters)
        )

    @property
    def rounds(self) -> dict[str, RoundCount]:
        """Passes over the samples of the learners that make any, by their names."""
        parts = (self.structure, self.parameters)
        found = {type(part).__name__: part.rounds for part in parts}
        return {
            name: rounds for name, rounds in found.items() if rounds != RoundCount()
        }

    def check_incremental(self) -> None:
        """Raise if the learners cannot learn incrementally."""
        for part in (self.parameters, self.structure):
            online = self.parameters.online or self.structure.online
            if part.needs != "counts" and not online:
                # Online parameters keep the structure of the first batch.
                remedy = "fe" if self.structure.needs == "counts" else "dfe"
                raise CapabilityError(
                    f"{type(part).__name__} needs all samples at once, so there is no "
                    f'partial_fit; call fit, or use parameters="{remedy}", which '
                    "learns incrementally."
                )

    def check_continues(
        self, structure: StructureLearner, parameters: ParameterLearner
    ) -> None:
        """Raise if the statistics of other learners cannot be continued."""
        for part, former in (
            (self.structure, structure),
            (self.parameters, parameters),
        ):
            if not part.continues(former):
                raise CapabilityError(
                    f"The counts so far are those of {type(former).__name__}; "
                    f"{type(part).__name__} cannot continue from them. Call fit "
                    "with all samples."
                )

    def count(
        self, data: CodedData, *, incremental: bool = False
    ) -> CountedData | None:
        """Count the samples if counts are all that the learners need."""
        if (self.structure.needs, self.parameters.needs) != ("counts", "counts"):
            return None
        families, pairs = self.structure.statistics(data.schema)
        if pairs and not incremental and not fits_budget(data.schema):
            return None  # too many pairs to keep: the learner counts them in blocks
        counts = data.count(families)
        kept = data.count_pairs() if pairs else None
        return CountedData(data.schema, data.n_samples, counts, kept, data.n_jobs)

    def learn(
        self,
        data: CodedData,
        random: np.random.Generator,
        progress: FitProgress,
        *,
        found: StructureResult | None = None,
        kept: CountedData | FactorStatistics | None = None,
        former: Network | None = None,
    ) -> FitResult:
        """Learn structure and parameters from samples or their counts.

        `found` is the structure, if it is not to be learned again; `kept` are counts
        over the schema of `data` that an online learner continues from; `former` is a
        network to start from (see `starting_cpts`) if it has the same variables, states
        and structure, ignored if the CPTs come with the structure.
        """
        brief = self.parameters.takes_tables or self.parameters.needs == "counts"
        with progress.stage("structure"), time_share(1.0 if brief else SHARE):
            if isinstance(kept, loglinear.FactorStatistics):
                result = self.structure.learn_more(data, kept, random_state=random)
            else:
                result = found or self.structure.learn(data, random_state=random)
        if result.factors is not None:
            return self.join_factors(data.schema, result, progress)
        assert not isinstance(kept, loglinear.FactorStatistics)
        start = result.start
        if (
            former is not None
            and not self.parameters.takes_tables
            and former.schema == data.schema
            and varying_parents(former.structure, former.parameters.layout.n_states)
            == varying_parents(result.structure, former.parameters.layout.n_states)
        ):
            start = starting_cpts(former, result.structure)
        with progress.stage("parameters"):
            counts = data if isinstance(data, CountedData) else None
            if self.parameters.online:
                parameters, sums = self.parameters.learn_more(
                    result.structure,
                    data,
                    None if kept is None else kept.families,
                    random_state=random,
                )
                n_samples = data.n_samples + (0 if kept is None else kept.n_samples)
                counts = CountedData(data.schema, n_samples, sums, None, data.n_jobs)
            else:
                parameters = self.parameters.learn(
                    result.structure, data, start=start, random_state=random
                )
        trace = {
            "structure": list(result.trace),
            "parameters": list(self.parameters.trace_),
            "seconds": progress.seconds,
        }
        arcs = result.structure
        if not self.parameters.online:  # later batches keep the structure
            index = data.schema.position
            given = {(index[p], index[c]) for p, c in self.structure.given_arcs}
            arcs, parameters = drop_constant_arcs(arcs, parameters, given)
        network = networks.Network(data.schema, arcs, parameters)
        return FitResult(network, counts, trace, self)

    def join_factors(
        self, schema: Schema, result: StructureResult, progress: FitProgress
    ) -> FitResult:
        """The log-linear network of factors that a structure learner has fitted."""
        assert result.factors is not None
        trace = {
            "structure": list(result.trace),
            "parameters": [],
            "seconds": progress.seconds,
        }
        network = networks.LogLinearNetwork(schema, result.factors)
        return FitResult(network, result.statistics, trace, self)


def starting_cpts(network: Network, structure: Structure) -> Parameters | None:
    """The CPTs of a network as learners start from them: one table per family.

    `structure` is that of the network, possibly with arcs of variables with one state.
    Sums of factors are expanded, unless that takes more than `START_CELLS` cells: then
    there is nothing to start from.
    """
    layout = network.parameters.layout
    if layout.is_full(network.structure):
        if network.structure == structure:
            return network.parameters
        return restore_constant_arcs(structure, network.parameters)
    whole = FamilyLayout.of_families(
        layout.n_states, network.structure.families, layout.target
    )
    if whole.n_cells > START_CELLS:
        return None
    log_theta = np.empty(whole.n_cells)
    for v, axes in enumerate(whole.axes):
        whole.table(log_theta, v)[...] = network.parameters.log_family(v, axes)
    return restore_constant_arcs(structure, Parameters(whole, log_theta))
