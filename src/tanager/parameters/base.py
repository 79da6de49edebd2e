"""`ParameterLearner`: what every parameter learner offers."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from tanager.data.coded_data import CodedData, block_bytes
from tanager.data.counts import Counts
from tanager.data.round_count import RoundCount
from tanager.errors import CapabilityError
from tanager.losses.base import Loss
from tanager.model.layout import Parameters
from tanager.model.structure import Structure


@dataclass(frozen=True)
class Smoothing:
    """How counts become frequencies.

    Parameters
    ----------
    alpha : float
        Added to every count, unless `zero` is above 0.
    zero : float
        Probability of a state that was not counted; 0 for none.
    """

    alpha: float
    zero: float


class ParameterLearner(BaseEstimator, metaclass=ABCMeta):
    """Base of parameter learners.

    Attributes
    ----------
    needs : {"counts", "rows"}
        Whether counts are enough, or the samples themselves are needed. Learners that
        only count can learn incrementally (`partial_fit`).
    online : bool
        Whether the learner, though it needs samples, can learn incrementally, too, by
        `learn_more`.
    uses_unlabelled : bool
        Whether the learner uses unlabelled samples, whose label code is the number of
        classes. Other learners never get them; it takes ``needs = "rows"``.
    takes_tables : bool
        Whether the learner needs the CPTs that a structure learner has learned
        (`StructureLearner.gives_tables`). Other structure learners raise an error, and
        the CPTs of a former network are not used instead.
    suits_many_bins : bool
        Whether neighbouring ordered states share what they learn, so that "auto"
        discretises finely and finds the structure with the same smoothing.
    suits_missing_state : bool
        Whether the learner gains from a state for missing values, so that "auto" gives
        one to features with missing values in training.
    stops_early : bool
        Whether the result depends on where the learner starts, because it stops before
        it converges. A structure score then starts it from its own initial CPTs for
        every candidate.
    default_loss : type of Loss or None
        The loss that stands for ``loss=None``, for learners that choose their loss.
    pair_bins : int or None
        Number of groups of ordered states in factors over several features, for
        learners that have such groups.
    trace_ : sequence of dict
        What an iterative learner reports of the steps of its last `learn`; empty for
        learners that report nothing.
    """

    needs: ClassVar[Literal["counts", "rows"]] = "rows"
    online: ClassVar[bool] = False
    uses_unlabelled: ClassVar[bool] = False
    takes_tables: ClassVar[bool] = False
    suits_missing_state: ClassVar[bool] = False
    default_loss: ClassVar[type[Loss] | None] = None
    pair_bins: int | None = None
    trace_: Sequence[Mapping[str, Any]] = ()

    @property
    def smoothing(self) -> Smoothing | None:
        """The smoothing of learners whose CPTs are frequencies; None for others.

        A structure score exchanges such CPTs one family at a time.
        """
        return None

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

    @property
    def suits_many_bins(self) -> bool:
        """Whether neighbouring ordered states share what they learn."""
        return False

    @property
    def stops_early(self) -> bool:
        """Whether the result depends on where the learner starts."""
        return False

    def continues(self, former: ParameterLearner) -> bool:
        """Whether the learner can continue from the counts of another one.

        Learners that need only counts have the same ones; those of an online learner
        are its own.
        """
        if self.online:
            return type(former) is type(self)
        return (former.needs == "counts") == (self.needs == "counts")

    @abstractmethod
    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,
    ) -> Parameters:
        """Learn the CPTs of `structure` from `data`.

        Parameters
        ----------
        structure : Structure
            Parents of every variable of the data's schema.
        data : CodedData
            Coded samples.
        start : Parameters or None, default=None
            Where an iterative learner starts, CPTs of the same families and states;
            others ignore it.
        random_state : numpy Generator or None, default=None
            Source of randomness, for learners that need one.

        Returns
        -------
        learned : Parameters
            Normalised log CPTs.
        """

    def learn_more(
        self,
        structure: Structure,  # noqa: ARG002 - for learners that are online
        data: CodedData,  # noqa: ARG002
        so_far: Counts | None,  # noqa: ARG002
        *,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> tuple[Parameters, Counts]:
        """Learn from one more batch of samples, for learners with `online`.

        Parameters
        ----------
        structure, data, random_state
            As in `learn`; `data` holds the batch alone.
        so_far : Counts or None
            Counts of the batches before, over the states of the data's schema; None for
            the first batch. It is not changed.

        Returns
        -------
        learned : Parameters
            Normalised log CPTs. After a first batch they are those of `learn`.
        counts : Counts
            Counts for the next batch.
        """
        raise CapabilityError(
            f"{type(self).__name__} cannot learn incrementally; it needs all samples "
            "at once."
        )
