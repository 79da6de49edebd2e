"""`KeepTables`: the CPTs that were learned together with the structure."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.errors import CapabilityError, InputError
from tanager.model.layout import Parameters
from tanager.model.structure import Structure
from tanager.parameters.base import ParameterLearner


class KeepTables(ParameterLearner):
    """Keep the CPTs that the structure learner has learned; learn nothing more.

    For structure learners that learn the CPTs together with the structure
    (``gives_tables = True``): `GumbelTree`, as in [1]_. Any other raises an error. On a
    warm start, too, the CPTs are those learned with the structure, not those of the
    former network.

    See Also
    --------
    GumbelTree : Structure and CPTs by one gradient descent.
    LossMinimizer : Learns new CPTs for a structure, with `HybridLoss` as in [1]_.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, section 3.2.

    Examples
    --------
    >>> from tanager import BayesNetClassifier, GumbelTree
    >>> X, y = [["a", "u"], ["a", "v"], ["b", "u"]] * 9, [0, 1, 1] * 9
    >>> model = BayesNetClassifier(
    ...     structure=GumbelTree(), parameters=KeepTables(), random_state=0
    ... )
    >>> model.fit(X, y).predict(X[:3])
    array([0, 1, 1])
    >>> BayesNetClassifier(structure="nb", parameters="keep").fit(X, y)
    Traceback (most recent call last):
        ...
    tanager.errors.CapabilityError: KeepTables keeps the CPTs of a structure learner, \
but NaiveBayes learns no CPTs ...
    """

    needs: ClassVar[Literal["counts", "rows"]] = "counts"
    takes_tables: ClassVar[bool] = True
    rounds = RoundCount()

    def learn(
        self,
        structure: Structure,
        data: CodedData,
        *,
        start: Parameters | None = None,
        random_state: np.random.Generator | None = None,  # noqa: ARG002
    ) -> Parameters:
        """Return `start`; see `ParameterLearner.learn`.

        Raises
        ------
        CapabilityError
            If there are no CPTs to keep.
        InputError
            If they are of other families or states, or no logarithms of probabilities.
        """
        if start is None:
            raise CapabilityError(
                "KeepTables keeps the CPTs that a structure learner has learned "
                "(StructureResult.start), and there are none. Use a structure learner "
                "that learns both, such as GumbelTree(), or learn the CPTs, for "
                "instance with Frequency()."
            )
        layout = start.layout
        states = tuple(data.schema.n_states.tolist())
        if layout.n_states != states or not _fits(start, structure):
            raise InputError(
                "The CPTs to keep are of other families or states than the structure "
                f"and the data: {layout.n_tables} CPTs with {layout.n_cells} entries "
                "in all. A structure learner must return CPTs of the structure that it "
                "returns."
            )
        if not (start.log_theta < np.inf).all():
            raise InputError(
                "The CPTs to keep have entries that are no logarithms of "
                "probabilities: infinite or NaN. Learning may have failed to converge: "
                "take smaller steps."
            )
        return start


def _fits(cpts: Parameters, structure: Structure) -> bool:
    """Whether every family has one CPT, or is a sum of factors over its members."""
    layout = cpts.layout
    if layout.is_full(structure):
        return True
    families = structure.families
    return (
        layout.target == structure.target
        and set(layout.owners) == set(range(len(families)))
        and all(
            set(axes) <= set(families[owner])
            for axes, owner in zip(layout.axes, layout.owners, strict=True)
        )
    )
