"""`Questions`: what a network can be asked."""

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
    given_and_asked,
    impossible_evidence,
    impossible_row,
    row_codes,
)
from tanager.network.sampling import sample_codes
from tanager.network.target_change import retargeted
from tanager.types import FloatArray

MAX_ENGINES = 16
"""Variables besides the target for which a network keeps a compiled engine."""


@dataclass(frozen=True)
class MostProbable:
    """The most probable states of all variables together.

    Parameters
    ----------
    states : dict from name to state
        A state for every variable; what was given is among them.
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


class Questions:
    """What a network can be asked: posteriors, explanations, likelihoods, samples."""

    schema: Schema
    structure: Structure
    parameters: Parameters

    @cached_property
    def engine(self) -> Engine:
        """What scores rows of codes under this network."""
        return engine_for(self.parameters, self.schema)

    @cached_property
    def _engines(self) -> dict[int, Engine]:
        """Engines for other targets, in the order in which they were made."""
        return {}

    def _engine_of(self, target: int) -> Engine:
        """The engine whose classes are the states of `target`."""
        if target == self.schema.target:
            return self.engine
        engine = self._engines.get(target)
        if engine is None:
            if len(self._engines) >= MAX_ENGINES:
                self._engines.pop(next(iter(self._engines)), None)
            parameters = retargeted(self.parameters, self.structure, target)
            engine = engine_for(parameters, self.schema)
            self._engines[target] = engine
        return engine

    @cached_property
    def _marginals(self) -> Marginals:
        return Marginals(self.parameters, self.schema)

    def _asked(self, name: str | None, argument: str = "query") -> int:
        """Position of the variable that is asked for; the target by default."""
        target = self.schema.target if name is None else self.schema.index(name)
        if target is None:
            raise InputError(
                "This network has no target variable; say which one is asked for with "
                f"`{argument}=`."
            )
        return target

    def posterior(
        self, evidence: Mapping[str, object] | None = None, query: str | None = None
    ) -> dict[State, float]:
        """Distribution of one variable given what is known of the others.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            States, or numbers for binned variables. Missing values (None, NaN) count as
            not given.
        query : str or None, default=None
            The variable asked for; the target by default.

        Returns
        -------
        dict from state to probability

        Raises
        ------
        InputError
            For names and states that are not known, a query that is given as evidence,
            and evidence of probability zero.
        """
        target = self._asked(query)
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
        """Distribution of one variable for every row of a table.

        Parameters
        ----------
        rows : data frame, mapping of columns, or sequence of mappings
            Columns are matched by name; a variable without a column is missing
            everywhere, and any cell may be missing. A state that is not known is an
            error. The variable asked for may have a column if all of it is missing.
        query : str or None, default=None
            The variable asked for; the target by default.
        n_jobs : int or None, default=None
            Threads; None is one, -1 all cores. The result does not depend on it.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_states)
            Column k belongs to state k of the variable.

        Raises
        ------
        InputError
            As in `posterior`; for rows of probability zero it names the first one.

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
        target = self._asked(query)
        variable = self.schema[target]
        codes = row_codes(self.schema, rows)
        if (codes[:, target] != variable.n_states).any():
            raise given_and_asked(variable.name)
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
        """Distributions of all variables, each by itself, given what is known.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            As in `posterior`.
        variables : iterable of str or None, default=None
            The variables asked for; all of them by default.

        Returns
        -------
        dict from name to dict from state to probability
            Of a variable that is given, the given state has probability one.

        Raises
        ------
        InputError
            For names and states that are not known, and evidence of probability zero.

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
        asked = self.schema.names if variables is None else tuple(variables)
        positions = [self.schema.index(name) for name in asked]
        codes = evidence_codes(self.schema, evidence)
        found = self._marginals.of_row(codes, positions)
        if found is None:
            raise impossible_evidence(evidence)
        return {
            name: dict(zip(self.schema[v].states, p.tolist(), strict=True))
            for name, v, p in zip(asked, positions, found, strict=True)
        }

    def most_probable(
        self, evidence: Mapping[str, object] | None = None
    ) -> MostProbable:
        """Most probable states of all variables together, given what is known.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            As in `posterior`.

        Returns
        -------
        MostProbable
            The states, evidence included, and the logarithm of their probability.

        Raises
        ------
        InputError
            For names and states that are not known, and evidence of probability zero.
        TableSizeError
            Before anything is allocated, if a table over too many variables at once
            would be needed; names them.

        Notes
        -----
        This is the most probable explanation: not the most probable state of each
        variable by itself, which `marginals` tells. Its probability given the evidence
        is ``exp(log_probability - log_likelihood([evidence])[0])``. Among equally
        probable explanations the choice is fixed: going back through the variables in
        the order in which they were eliminated, each takes the lowest state it can.

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
        found, log_probability = most_probable_codes(
            self.parameters, codes, self.schema
        )
        if log_probability == -np.inf:
            raise impossible_evidence(evidence)
        states = {
            variable.name: variable.states[code]
            for variable, code in zip(self.schema, found[0].tolist(), strict=True)
        }
        return MostProbable(states, log_probability)

    def log_likelihood(self, rows: Any) -> FloatArray:
        """Log probability of every row, missing values summed over.

        Parameters
        ----------
        rows : data frame, mapping of columns, or sequence of mappings
            Columns are matched by name; a variable without a column is missing
            everywhere. A state that is not known is an error here.

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
        """Draw rows from the network.

        Parameters
        ----------
        n : int
            Number of rows.
        random_state : int, numpy Generator or None, default=None
            Seed or source of randomness.

        Returns
        -------
        dict from name to ndarray, shape (n,)
            One array of states per variable; data frame libraries take it as it is.
        """
        if not isinstance(n, (int, np.integer)) or n < 0:
            raise InputError(f"n must be a whole number of at least 0, got {n!r}.")
        random = np.random.default_rng(random_state)
        codes = sample_codes(self.structure, self.parameters, int(n), random)
        drawn: dict[str, npt.NDArray[Any]] = {}
        for variable, column in zip(self.schema, codes.T, strict=True):
            drawn[variable.name] = states_array(variable.states)[column]
        return drawn
