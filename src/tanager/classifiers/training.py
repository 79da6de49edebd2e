"""The stages of a fit, and the network that two learners make of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from tanager.data import ArrayData, CountedData
from tanager.data.information import fits_budget
from tanager.errors import CapabilityError
from tanager.model import FamilyLayout, Parameters
from tanager.network import Network
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

START_CELLS = 5_000_000
"""Cells up to which sums of factors are expanded to CPTs to start from."""


class FitProgress:
    """Times the stages of a fit and reports them to the callbacks of an estimator.

    Parameters
    ----------
    estimator : object
        The estimator being fitted; None reports nothing.
    X, y, sample_weight : object
        The training data, which the callbacks receive.

    Attributes
    ----------
    seconds : dict from str to float
        Duration of every stage.
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


def empty_trace() -> dict[str, Any]:
    """The trace of a classifier that was not fitted here."""
    return {"structure": [], "parameters": [], "seconds": {}}


@dataclass(frozen=True, eq=False)
class FitResult:
    """The network of a fit, the counts it is based on, its trace and its learners."""

    network: Network
    counts: CountedData | None = None
    trace: dict[str, Any] = field(default_factory=empty_trace)
    learner: NetworkLearner | None = None


@dataclass(frozen=True, eq=False)
class NetworkLearner:
    """A structure learner and a parameter learner, which together learn a network."""

    structure: StructureLearner
    parameters: ParameterLearner

    def __post_init__(self) -> None:
        """Check that the two are compatible."""
        if self.parameters.takes_tables and not self.structure.gives_tables:
            raise CapabilityError(
                f"{type(self.parameters).__name__} keeps the CPTs of a structure "
                f"learner, but {type(self.structure).__name__} learns no CPTs "
                "(gives_tables is False). Use a structure learner that learns both, "
                "such as GumbelTree(), or learn the CPTs: parameters=Frequency()."
            )

    @property
    def needs_only_counts(self) -> bool:
        """Whether both learners need nothing but counts."""
        return self.structure.needs == "counts" and self.parameters.needs == "counts"

    def check_incremental(self) -> None:
        """Raise if the learners cannot learn incrementally."""
        if self.needs_only_counts or self.parameters.online:
            return
        for part in (self.parameters, self.structure):
            if part.needs != "counts":
                raise CapabilityError(
                    f"{type(part).__name__} needs all samples at once, so there is no "
                    "partial_fit; call fit."
                )

    def check_continues(self, former: ParameterLearner) -> None:
        """Raise if the counts of another parameter learner cannot be continued."""
        same_kind = (former.needs == "counts") == (self.parameters.needs == "counts")
        online = self.parameters.online
        if not same_kind or (online and type(former) is not type(self.parameters)):
            raise CapabilityError(
                f"The counts so far are those of {type(former).__name__}; "
                f"{type(self.parameters).__name__} cannot continue from them. Call fit "
                "with all samples."
            )

    def count(self, data: ArrayData, *, incremental: bool) -> CountedData | None:
        """Count the samples if counts are all that the learners need."""
        if not self.needs_only_counts:
            return None
        families, pairs = self.structure.statistics(data.schema)
        if pairs and not incremental and not fits_budget(data.schema):
            return None  # too many pairs to keep: the learner counts them in blocks
        return CountedData.of(data, families, pairs=pairs)

    def learn(
        self,
        data: ArrayData | CountedData,
        random: np.random.Generator,
        progress: FitProgress,
        *,
        found: StructureResult | None = None,
        kept: CountedData | None = None,
        former: Network | None = None,
    ) -> FitResult:
        """Learn structure and parameters.

        Parameters
        ----------
        data : ArrayData or CountedData
            The samples, or their counts.
        random : numpy Generator
            Source of randomness of both learners.
        progress : FitProgress
            Times both stages.
        found : StructureResult or None, default=None
            The structure, if it is not to be learned again.
        kept : CountedData or None, default=None
            Counts over the schema of `data` that an online learner continues from.
        former : Network or None, default=None
            A network to start from, if it has the same variables, states and structure;
            see `starting_cpts`. Ignored if the CPTs come with the structure.
        """
        with progress.stage("structure"):
            result = found or self.structure.learn(data, random_state=random)
        start = result.start
        if (
            former is not None
            and not self.parameters.takes_tables
            and (former.schema, former.structure) == (data.schema, result.structure)
        ):
            start = starting_cpts(former)
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
        network = Network(data.schema, result.structure, parameters)
        return FitResult(network, counts, trace, self)


def starting_cpts(network: Network) -> Parameters | None:
    """The CPTs of a network as learners start from them: one table per family.

    Sums of factors are expanded, unless that takes more than `START_CELLS` cells: then
    there is nothing to start from.
    """
    layout = network.parameters.layout
    if layout.is_full(network.structure):
        return network.parameters
    whole = FamilyLayout.of_families(
        layout.n_states, network.structure.families, layout.target
    )
    if whole.n_cells > START_CELLS:
        return None
    log_theta = np.empty(whole.n_cells)
    for v, axes in enumerate(whole.axes):
        whole.table(log_theta, v)[...] = network.parameters.log_family(v, axes)
    return Parameters(whole, log_theta)


def copy_features(source: object, target: object) -> None:
    """Give an estimator the number and names of the features of another one."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))
        elif hasattr(target, name):
            delattr(target, name)
