"""`StructureLearner`: the base class of structure learners."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from tanager.data.coded_data import CodedData, block_bytes
from tanager.data.round_count import RoundCount
from tanager.errors import CapabilityError
from tanager.loglinear.factor_statistics import FactorStatistics
from tanager.loglinear.fitted_factors import FactorTables
from tanager.losses.base import Loss
from tanager.model.layout import Parameters
from tanager.model.schema import Schema
from tanager.model.structure import Structure


@dataclass(frozen=True, eq=False)
class StructureResult:
    """The result of a structure learner.

    Parameters
    ----------
    structure : Structure
        Parents of every variable.
    trace : tuple of mappings
        One entry per step of a search, with the change and the score.
    start : Parameters or None
        CPTs from which a parameter learner may start, or which it keeps (`KeepTables`).
    factors : FactorTables or None
        Fitted factors, if the model is a `LogLinearNetwork`; `structure` then has no
        arcs between features.
    statistics : FactorStatistics or None
        What a learner with `online` keeps of the samples for further batches.
    """

    structure: Structure
    trace: tuple[Mapping[str, Any], ...] = field(default=())
    start: Parameters | None = None
    factors: FactorTables | None = None
    statistics: FactorStatistics | None = None


class StructureLearner(BaseEstimator, metaclass=ABCMeta):
    """Base of structure learners.

    Attributes
    ----------
    needs : {"counts", "rows"}
        Whether `statistics` suffice, or the samples are needed. Learners that need only
        counts support `partial_fit`.
    online : bool
        Whether the learner, though it needs samples, can learn incrementally, too, by
        `learn_more`.
    gives_tables : bool
        Whether the result has CPTs or factors, learned together with the structure.
    gives_factors : bool
        Whether the result has factors, so that the model is a `LogLinearNetwork`.
    fine_bins : int or None
        Number of bins of numeric features that the encoder "auto" makes for the
        learner; None leaves it to the parameters.
    suits_many_bins : bool
        Whether the structure is learned from many bins as well as from few, so that
        "auto" combines it with smooth parameters.
    takes_smoothing : bool
        Whether it fits log-linear weights itself and has the arguments `C`, `smooth`
        and `pair_bins` of `ConditionalLikelihood`, which "auto" sets.
    default_loss : type of Loss or None
        The loss that stands for ``loss=None``, for learners that choose their loss.
    checkpoint : path or None
        A file to resume from, for learners that have one.
    constraints : Constraints or None
        What is known of the arcs, for learners that take it.
    """

    needs: ClassVar[Literal["counts", "rows"]] = "rows"
    online: ClassVar[bool] = False
    gives_tables: ClassVar[bool] = False
    gives_factors: ClassVar[bool] = False
    fine_bins: ClassVar[int | None] = None
    suits_many_bins: ClassVar[bool] = False
    takes_smoothing: ClassVar[bool] = False
    default_loss: ClassVar[type[Loss] | None] = None
    checkpoint: Any = None
    constraints: Any = None

    @property
    def given_arcs(self) -> Sequence[tuple[str, str]]:
        """Arcs (parent, child) that the user asks for, whatever the data say."""
        return () if self.constraints is None else tuple(self.constraints.required)

    @property
    def rounds(self) -> RoundCount:
        """Passes over the samples that `learn` makes, or rounds on a cluster."""
        if self.needs == "counts":
            return RoundCount(1)
        return RoundCount(0, ((1, "step"),))

    def sample_bytes(self, n_features: int, n_classes: int) -> int:
        """Memory per sample, besides its codes, that `learn` takes, about.

        Learners that count take none, others blocks unless they say otherwise.
        """
        return 0 if self.needs == "counts" else block_bytes(n_features, n_classes)

    @property
    def order_matters(self) -> bool:
        """Whether the result depends on the order of the samples."""
        return False

    def continues(self, former: StructureLearner) -> bool:
        """Whether the learner can continue from the statistics of another one."""
        return self.online == former.online

    @abstractmethod
    def learn(
        self, data: CodedData, *, random_state: np.random.Generator | None = None
    ) -> StructureResult:
        """Find the parents of every variable of the data's schema.

        Parameters
        ----------
        data : CodedData
            Coded samples, the class last.
        random_state : numpy Generator or None, default=None
            Source of randomness, for learners that need one.

        Returns
        -------
        StructureResult
            The structure and the trace of the search.
        """

    def learn_more(
        self,
        data: CodedData,  # noqa: ARG002 - for learners that are online
        so_far: FactorStatistics,  # noqa: ARG002
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> StructureResult:
        """Learn from one more batch of samples, for learners with `online`.

        Parameters
        ----------
        data : CodedData
            The batch alone.
        so_far : FactorStatistics
            Those of the batches before, over the states of the data's schema.
        random_state
            As in `learn`.

        Returns
        -------
        StructureResult
            With the statistics of all batches.
        """
        raise CapabilityError(
            f"{type(self).__name__} cannot learn incrementally; it needs all samples "
            "at once."
        )

    def merge(
        self,
        one: FactorStatistics,  # noqa: ARG002 - for learners that are online
        other: FactorStatistics,  # noqa: ARG002
    ) -> StructureResult:
        """Learn from the statistics of two models, over the same schema."""
        raise CapabilityError(
            f"{type(self).__name__} keeps no statistics that could be merged."
        )

    def check(self, schema: Schema) -> None:
        """Refuse arguments that are invalid for these variables, before any work.

        Classifiers call it as soon as the data are encoded.
        """

    def statistics(self, schema: Schema) -> tuple[Sequence[Sequence[int]], bool]:
        """Families whose counts are needed, and whether those of all pairs are.

        For learners with ``needs = "counts"``.
        """
        target = len(schema) - 1
        return [*((target, j) for j in range(target)), (target,)], False
