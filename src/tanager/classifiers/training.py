"""The two learners of a classifier: what they can do together, and doing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tanager.classifiers.callbacks import Progress, stage
from tanager.data import ArrayData, CountedData
from tanager.data.information import fits_budget
from tanager.errors import CapabilityError
from tanager.model import FamilyLayout, Parameters
from tanager.network import Network
from tanager.parameters import ParameterLearner
from tanager.structure import StructureLearner, StructureResult

START_CELLS = 5_000_000
"""Cells up to which families that are sums of tables are written out to start from."""


def empty_trace() -> dict[str, Any]:
    """The story of a classifier that was not learned here."""
    return {"structure": [], "parameters": [], "seconds": {}}


@dataclass(frozen=True, eq=False)
class Learned:
    """What a fit comes to: the network, the counts it rests on, and its story."""

    network: Network
    counts: CountedData | None = None
    trace: dict[str, Any] = field(default_factory=empty_trace)
    learners: Learners | None = None


@dataclass(frozen=True, eq=False)
class Learners:
    """A structure learner and a parameter learner.

    Parameters
    ----------
    structure : StructureLearner
        Finds the parents.
    parameters : ParameterLearner
        Learns the tables.
    """

    structure: StructureLearner
    parameters: ParameterLearner

    @classmethod
    def of(cls, structure: StructureLearner, parameters: ParameterLearner) -> Learners:
        """Learners, checked to go together."""
        learners = cls(structure, parameters)
        if learners.parameters.takes_tables and not learners.structure.gives_tables:
            raise CapabilityError(
                f"{type(learners.parameters).__name__} keeps the tables that a "
                "structure learner hands over, and "
                f"{type(learners.structure).__name__} hands none over (gives_tables is "
                "False): it finds the structure only. Take one that learns both, such "
                "as GumbelTree(), or learn the tables: parameters=Frequency()."
            )
        return learners

    @property
    def only_count(self) -> bool:
        """Whether both need nothing but counts."""
        return self.structure.needs == "counts" and self.parameters.needs == "counts"

    def check_portions(self) -> None:
        """Refuse learners that cannot learn in portions."""
        if self.only_count or self.parameters.online:
            return
        for part in (self.parameters, self.structure):
            if part.needs != "counts":
                raise CapabilityError(
                    f"{type(part).__name__} needs all rows at once, so there is no "
                    "partial_fit; call fit."
                )

    def check_goes_on(self, former: ParameterLearner) -> None:
        """Refuse to go on from the counts of a learner of another kind."""
        same_kind = (former.needs == "counts") == (self.parameters.needs == "counts")
        other_rule = self.parameters.online and type(former) is not type(
            self.parameters
        )
        if not same_kind or other_rule:
            raise CapabilityError(
                f"The counts so far are those of {type(former).__name__}, from which "
                f"{type(self.parameters).__name__} cannot go on. Call fit with all "
                "rows."
            )

    def statistics(self, data: ArrayData, *, portion: bool) -> CountedData | None:
        """The counts of the rows, where they are all that the learners need."""
        if not self.only_count:
            return None
        families, pairs = self.structure.statistics(data.schema)
        if pairs and not portion and not fits_budget(data.schema):
            return None  # too many pairs to keep: the learner takes them in portions
        return CountedData.of(data, families, pairs=pairs)

    def learn(
        self,
        data: ArrayData | CountedData,
        random: np.random.Generator,
        *,
        found: StructureResult | None = None,
        kept: CountedData | None = None,
        former: Network | None = None,
        progress: Progress | None = None,
        seconds: dict[str, float] | None = None,
    ) -> Learned:
        """Learn structure and tables.

        Parameters
        ----------
        data : ArrayData or CountedData
            The rows, or all that is kept of them.
        random : numpy Generator
            Source of randomness of both learners.
        found : StructureResult or None, default=None
            The structure, if it is not to be learned again.
        kept : CountedData or None, default=None
            Counts over the schema of `data` that an online learner goes on from.
        former : Network or None, default=None
            A network whose tables are to start from, if it has the same variables,
            states and structure; see `plain_tables`. Not looked at where the tables
            are to be those found with the structure.
        progress : Progress or None, default=None
            Is told of both stages.
        seconds : dict or None, default=None
            Takes the time of both stages.
        """
        times = {} if seconds is None else seconds
        with stage(progress, "structure", times):
            result = found or self.structure.learn(data, random_state=random)
        start = result.start
        if (
            former is not None
            and not self.parameters.takes_tables
            and (former.schema, former.structure) == (data.schema, result.structure)
        ):
            start = plain_tables(former)
        with stage(progress, "parameters", times):
            counts = data if isinstance(data, CountedData) else None
            if self.parameters.online:
                tables, sums = self.parameters.learn_more(
                    result.structure,
                    data,
                    None if kept is None else kept.families,
                    random_state=random,
                )
                n_samples = data.n_samples + (0 if kept is None else kept.n_samples)
                counts = CountedData(data.schema, n_samples, sums, None)
            else:
                tables = self.parameters.learn(
                    result.structure, data, start=start, random_state=random
                )
        return Learned(
            Network(data.schema, result.structure, tables),
            counts,
            {
                "structure": list(result.trace),
                "parameters": list(self.parameters.trace_),
                "seconds": times,
            },
            self,
        )


def plain_tables(network: Network) -> Parameters | None:
    """A network's tables as learners start from them: one over every whole family.

    Families that are sums of tables are written out, unless all tables together would
    have more than `START_CELLS` cells: then there is nothing to start from.
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
