"""`Queries`: posteriors, marginals, likelihoods and samples of a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from tanager.errors import InputError
from tanager.inference.elimination import most_probable_codes
from tanager.inference.engine import Engine, engine_for
from tanager.inference.marginals import Marginals
from tanager.model.layout import Parameters
from tanager.model.schema import Schema, State, states_array
from tanager.model.structure import Structure
from tanager.network.evidence import (
    evidence_codes,
    impossible_evidence,
    impossible_row,
    known_states,
    query_is_given,
    row_codes,
)
from tanager.network.retargeting import retarget
from tanager.network.sampling import sample_codes
from tanager.types import FloatArray

MAX_ENGINES = 16
"""Queries other than the target whose compiled engine a network keeps."""


@dataclass(frozen=True)
class MostProbable:
    """The most probable states of all variables together.

    Parameters
    ----------
    states : dict from name to state
        A state for every variable, those of the evidence included.
    log_probability : float
        Natural logarithm of the probability of exactly these states.

    Examples
    --------
    >>> from math import exp
    >>> from tanager import Network
    >>> coin = Network.build({"coin": ["heads", "tails"]}, {"coin": [0.4, 0.6]})
    >>> found = coin.most_probable()
    >>> found.states, round(exp(found.log_probability), 3)
    ({'coin': 'tails'}, 0.6)
    """

    states: dict[str, State]
    log_probability: float


class Queries:
    """The queries of a `Network`."""

    schema: Schema
    structure: Structure
    parameters: Parameters

    @cached_property
    def engine(self) -> Engine:
        """The inference engine of this network, for rows of codes."""
        return engine_for(self.parameters, self.schema)

    @cached_property
    def _engines(self) -> dict[int, Engine]:
        """Engines for other queries, the oldest first."""
        return {}

    def _engine_of(self, target: int) -> Engine:
        """The engine whose classes are the states of `target`."""
        if target == self.schema.target:
            return self.engine
        engine = self._engines.get(target)
        if engine is None:
            if len(self._engines) >= MAX_ENGINES:
                self._engines.pop(next(iter(self._engines)), None)
            parameters = retarget(self.parameters, self.structure, target)
            engine = self._engines[target] = engine_for(parameters, self.schema)
        return engine

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals(self.parameters, self.schema)

    def _query_index(self, name: str | None, argument: str = "query") -> int:
        """Position of the query; the target by default."""
        target = self.schema.target if name is None else self.schema.index(name)
        if target is None:
            raise InputError(
                f"This network has no target; name a variable with `{argument}=`."
            )
        return target

    def posterior(
        self, evidence: Mapping[str, object] | None = None, query: str | None = None
    ) -> dict[State, float]:
        """Posterior distribution of one variable given evidence on others.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            States, or numbers for discretised variables. Missing values (None, NaN)
            count as not given.
        query : str or None, default=None
            The variable; the target by default.

        Returns
        -------
        dict from state to probability

        Raises
        ------
        InputError
            For unknown names and states, a query that is given as evidence, and
            evidence of probability zero.
        """
        target = self._query_index(query)
        variable = self.schema[target]
        codes = evidence_codes(self.schema, evidence, variable.name)
        log_joint = self._engine_of(target).log_joint_block(codes)[0]
        highest = log_joint.max()
        if highest == -np.inf:
            raise impossible_evidence(evidence)
        weights = np.exp(log_joint - highest)
        weights /= weights.sum()
        return dict(zip(variable.states, weights.tolist(), strict=True))

    def posteriors(
        self, rows: Any, query: str | None = None, *, n_jobs: int | None = None
    ) -> FloatArray:
        """Posterior distribution of one variable for every row of a data frame.

        Parameters
        ----------
        rows : data frame, mapping of columns, or sequence of mappings
            Columns are matched by name. A variable without a column is missing
            everywhere, and any value may be missing. Unknown states are errors. The
            query may have a column if all of its values are missing.
        query : str or None, default=None
            The variable; the target by default.
        n_jobs : int or None, default=None
            Threads; None is one, -1 all cores. The result does not depend on it.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_states)
            Column k belongs to state k of the variable.

        Raises
        ------
        InputError
            As in `posterior`; for rows of probability zero, the first one is shown.

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ...     target="rain",
        ... )
        >>> network.posteriors({"wet": ["yes", "no", None]}).round(4)
        array([[0.3333, 0.6667],
               [0.9474, 0.0526],
               [0.8   , 0.2   ]])
        """
        target = self._query_index(query)
        variable = self.schema[target]
        codes = row_codes(self.schema, rows)
        if (codes[:, target] != variable.n_states).any():
            raise query_is_given(variable.name)
        log_joint = self._engine_of(target).log_joint(codes, n_jobs)
        highest = log_joint.max(axis=1, keepdims=True)
        impossible = highest[:, 0] == -np.inf
        if impossible.any():
            raise impossible_row(self.schema, codes, impossible)
        weights: FloatArray = np.exp(log_joint - highest)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights

    def marginals(
        self,
        evidence: Mapping[str, object] | None = None,
        variables: Iterable[str] | None = None,
    ) -> dict[str, dict[State, float]]:
        """Marginal distributions of all variables, given evidence.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            As in `posterior`.
        variables : iterable of str or None, default=None
            Their names; all variables by default.

        Returns
        -------
        dict from name to dict from state to probability
            The state of a variable in the evidence has probability one.

        Raises
        ------
        InputError
            For unknown names and states, and evidence of probability zero.

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> found = network.marginals()
        >>> {name: round(states["yes"], 4) for name, states in found.items()}
        {'rain': 0.2, 'wet': 0.24}
        """
        if isinstance(variables, str):
            raise InputError(
                f"variables must be a list of names, got the string {variables!r}; "
                f"write [{variables!r}]."
            )
        queried = self.schema.names if variables is None else tuple(variables)
        positions = [self.schema.index(name) for name in queried]
        codes = evidence_codes(self.schema, evidence)
        found = self._marginals.of_row(codes, positions)
        if found is None:
            raise impossible_evidence(evidence)
        return {
            name: dict(zip(self.schema[v].states, p.tolist(), strict=True))
            for name, v, p in zip(queried, positions, found, strict=True)
        }

    def most_probable(
        self, evidence: Mapping[str, object] | None = None
    ) -> MostProbable:
        """Most probable joint states of all variables, given evidence.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            As in `posterior`.

        Returns
        -------
        MostProbable
            The states, evidence included, and their log probability.

        Raises
        ------
        InputError
            For unknown names and states, and evidence of probability zero.
        TableSizeError
            Before anything is allocated, if a factor over too many variables would be
            needed; the message names them.

        Notes
        -----
        This is the most probable explanation (MPE). It may differ from the most
        probable state of each single variable, see `marginals`. Its probability given
        the evidence is ``exp(log_probability - log_likelihood([evidence])[0])``. Ties
        are broken in favour of the lowest state, for one variable after the other in
        the reverse order of elimination.

        Examples
        --------
        >>> from tanager import Network
        >>> network = Network.build(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
        ... )
        >>> found = network.most_probable({"wet": "yes"})
        >>> found.states, round(found.log_probability, 4)
        ({'rain': 'yes', 'wet': 'yes'}, -1.8326)
        """
        codes = evidence_codes(self.schema, evidence)
        found, log_p = most_probable_codes(self.parameters, codes, self.schema)
        if log_p == -np.inf:
            raise impossible_evidence(evidence)
        return MostProbable(known_states(self.schema, found[0]), log_p)

    def log_likelihood(self, rows: Any) -> FloatArray:
        """Log probability of every row, with missing values marginalised.

        Parameters
        ----------
        rows : data frame, mapping of columns, or sequence of mappings
            As in `posteriors`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Minus infinity for a row of probability zero.
        """
        codes = row_codes(self.schema, rows)
        log_joint = self.engine.log_joint(codes)
        target = self.schema.target
        if target is None:
            return log_joint[:, 0]
        labels = codes[:, target].astype(np.intp)
        known = labels < self.schema.n_classes
        picked = log_joint[np.arange(len(labels)), np.where(known, labels, 0)]
        return np.where(known, picked, logsumexp(log_joint, axis=1))

    def sample(
        self, n: int, random_state: int | np.random.Generator | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Draw random samples from the network.

        Parameters
        ----------
        n : int
            Number of samples.
        random_state : int, numpy Generator or None, default=None
            Seed or random number generator.

        Returns
        -------
        dict from name to ndarray, shape (n,)
            One array of states per variable; `pandas.DataFrame` accepts it.
        """
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise InputError(f"n must be an integer of at least 0, got {n!r}.")
        random = np.random.default_rng(random_state)
        codes = sample_codes(self.structure, self.parameters, int(n), random)
        return {
            variable.name: states_array(variable.states)[column]
            for variable, column in zip(self.schema, codes.T, strict=True)
        }
