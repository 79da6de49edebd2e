"""`Network`: a Bayesian network as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from tanager.core.errors import InputError, TableSizeError, unknown_name
from tanager.core.layout import FamilyLayout
from tanager.core.parameters import Parameters
from tanager.core.schema import (
    CodeArray,
    Schema,
    State,
    code_dtype,
    is_missing,
    states_array,
)
from tanager.core.structure import Structure
from tanager.encoding.plan import encode_table
from tanager.inference.elimination import log_marginal
from tanager.inference.engine import Engine, engine_for
from tanager.network.building import schema_of, tables_of
from tanager.network.dot import dot_text
from tanager.network.rows import rows_as_table
from tanager.network.sampling import sample_codes
from tanager.network.table import LogTable, ProbabilityTable

MAX_TABLE_CELLS = 10_000_000
"""Entries up to which a family that is a sum of tables is written out (80 MB)."""


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network: variables, parents and probability tables.

    Parameters
    ----------
    schema : Schema
        The variables and their states.
    structure : Structure
        Parents of every variable.
    parameters : Parameters
        The tables, as logarithms.

    See Also
    --------
    Network.build : Make a network by hand, from names and tables.

    Examples
    --------
    >>> network = Network.build(
    ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     {"rain": [0.8, 0.2], "wet": (["rain"], [[0.9, 0.1], [0.2, 0.8]])},
    ...     target="rain",
    ... )
    >>> network.edges
    (('rain', 'wet'),)
    >>> round(network.posterior({"wet": "yes"})["yes"], 4)
    0.6667
    >>> print(network.table("wet"))
    P(wet | rain)
    rain      no     yes
      no  0.9000  0.1000
     yes  0.2000  0.8000
    """

    schema: Schema
    structure: Structure
    parameters: Parameters

    def __post_init__(self) -> None:
        """Check that the three parts belong together."""
        layout = self.parameters.layout
        if layout.is_full(self.structure) or len(self.schema) != len(layout.n_states):
            expected = FamilyLayout.of_structure(self.schema, self.structure)
        else:
            states = self.schema.n_states.tolist()
            scopes = _scopes(layout, range(len(states)))
            expected = FamilyLayout.of_sums(states, self.structure, scopes)
            expected.check_size(self.schema)
        if self.structure.target != self.schema.target:
            raise InputError("Schema and structure name different target variables.")
        if layout != expected:
            raise InputError(
                "The tables do not have the axes that schema and structure ask for."
            )

    @classmethod
    def build(
        cls,
        variables: Mapping[str, Sequence[State]],
        tables: Mapping[str, Any],
        *,
        target: str | None = None,
    ) -> Network:
        """Make a network by hand.

        Parameters
        ----------
        variables : mapping from name to states
            The variables in order.
        tables : mapping from name to table
            For a variable without parents an array of probabilities, one per state;
            otherwise a pair (parents, array) whose axes are the parents in order, then
            the variable. The last axis must sum to one.
        target : str or None, default=None
            The class variable, asked for by default in `posterior`.

        Returns
        -------
        Network
            Checked: known names, no cycle, shapes that fit, rows that sum to one.
        """
        schema = schema_of(variables, target)
        structure, parameters = tables_of(schema, tables)
        return cls(schema, structure, parameters)

    @cached_property
    def engine(self) -> Engine:
        """What scores rows of codes under this network."""
        return engine_for(self.parameters)

    def with_target_last(self, target: str | None = None) -> Network:
        """The same network with the class as its last variable.

        Parameters
        ----------
        target : str or None, default=None
            The class; the network's own target by default.
        """
        index = self.schema.target if target is None else self.schema.index(target)
        if index is None:
            raise InputError("The network has no target variable; give `target=`.")
        if index == self.schema.target == len(self.schema) - 1:
            return self
        order = [*(v for v in range(len(self.schema)) if v != index), index]
        place = {v: new for new, v in enumerate(order)}
        schema = Schema(tuple(self.schema[v] for v in order), target=len(order) - 1)
        parents = tuple(
            tuple(place[p] for p in self.structure.parents[v]) for v in order
        )
        structure = Structure(parents, schema.target)
        own = self.parameters.layout
        scopes = [
            [[place[u] for u in axes] for axes in tables]
            for tables in _scopes(own, order)
        ]
        layout = FamilyLayout.of_sums(schema.n_states.tolist(), structure, scopes)
        log_theta = np.empty(layout.n_cells)
        old = [t for v in order for t in own.tables_of(v)]
        for new, t in enumerate(old):
            # The logarithms themselves move, so that not a bit of them changes.
            axes = [place[u] for u in own.axes[t]]
            turned = [axes.index(u) for u in layout.axes[new]]
            table = self.parameters.log_table(t).transpose(turned)
            layout.table(log_theta, new)[...] = table
        return Network(schema, structure, Parameters(layout, log_theta))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the three parts only; compiled forms are made anew."""
        return {
            "schema": self.schema,
            "structure": self.structure,
            "parameters": self.parameters,
        }

    def __repr__(self) -> str:
        return (
            f"<Network: {len(self.schema)} variables, {len(self.edges)} arcs, "
            f"{self.n_parameters} parameters>"
        )

    # What it is made of

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arcs as (parent, child) names, those of the class included."""
        names = self.schema.names
        return tuple((names[p], names[c]) for p, c in self.structure.arcs)

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters: states less one, per parent configuration.

        For a family that is a sum of log tables, those of its log-linear model.
        """
        layout = self.parameters.layout
        return sum(layout.n_free(v) for v in range(len(layout.n_states)))

    def parents(self, name: str) -> tuple[str, ...]:
        """Names of a variable's parents, in the order of its table's axes."""
        index = self.schema.index(name)
        return tuple(self.schema.names[p] for p in self.structure.parents[index])

    def table(self, name: str) -> ProbabilityTable:
        """A variable's probability table: parents in order, then the variable.

        Raises
        ------
        TableSizeError
            For a family that is a sum of log tables (see `log_tables`) and would have
            more than `MAX_TABLE_CELLS` entries as one.
        """
        index = self.schema.index(name)
        family = self.structure.families[index]
        layout = self.parameters.layout
        cells = prod(layout.n_states[v] for v in family)
        n_tables = len(layout.tables_of(index))
        if cells > MAX_TABLE_CELLS and layout.sizes[layout.tables_of(index)[0]] < cells:
            raise TableSizeError(
                f"The table of {name!r} would have {cells:,} entries, more than the "
                f"{MAX_TABLE_CELLS:,} allowed. It is kept as the sum of {n_tables} "
                f"smaller tables of logarithms: log_tables({name!r}) gives them."
            )
        log_values = self.parameters.log_family(index, family)
        return ProbabilityTable(
            tuple(self.schema.names[v] for v in family),
            tuple(self.schema[v].states for v in family),
            np.ascontiguousarray(np.exp(log_values)),
        )

    def log_tables(self, name: str) -> tuple[LogTable, ...]:
        """The tables whose sum is the logarithm of a variable's probability.

        Most variables have one, the logarithm of `table`. A log-linear family has
        several, each over some of the parents and the variable; some may be without
        the variable itself.
        """
        index = self.schema.index(name)
        layout = self.parameters.layout
        found = []
        for t in layout.tables_of(index):
            own = layout.axes[t]
            order = [v for v in self.structure.families[index] if v in own]
            found.append(
                LogTable(
                    tuple(self.schema.names[v] for v in order),
                    tuple(self.schema[v].states for v in order),
                    np.ascontiguousarray(
                        self.parameters.log_table(t).transpose(
                            [own.index(v) for v in order]
                        )
                    ),
                )
            )
        return tuple(found)

    def to_dot(self) -> str:
        """The graph in Graphviz' DOT language."""
        return dot_text(self.schema, self.structure)

    # Asking it

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
        """
        target = self.schema.target if query is None else self.schema.index(query)
        if target is None:
            raise InputError(
                "This network has no target variable; say which one is asked for with "
                "`query=`."
            )
        variable = self.schema[target]
        codes = self._evidence(evidence or {}, variable.name)
        if target == self.schema.target:
            log_joint = self.engine.log_joint_block(codes)[0]
        else:
            log_joint = log_marginal(self.parameters, codes, (target,))[0]
        highest = log_joint.max()
        if highest == -np.inf:
            raise InputError(
                f"The evidence {dict(evidence or {})!r} has probability zero under "
                "this network."
            )
        weights = np.exp(log_joint - highest)
        weights /= weights.sum()
        return dict(zip(variable.states, weights.tolist(), strict=True))

    def log_likelihood(self, rows: Any) -> npt.NDArray[np.float64]:
        """Log probability of every row, missing values summed over.

        Parameters
        ----------
        rows : data frame, mapping of columns, or sequence of mappings
            Columns are matched by name; a variable without a column is missing
            everywhere. A state that is not known is an error here.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        codes = self._codes(rows)
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

    def _evidence(self, evidence: Mapping[str, object], query: str) -> CodeArray:
        """Codes of one row; unknown names and states are errors."""
        if not isinstance(evidence, Mapping):
            raise InputError(
                f"evidence must be a mapping from names to values, got {evidence!r}."
            )
        codes = list(self.parameters.layout.n_states)
        position = self.schema.position
        for name, value in evidence.items():
            index = position.get(name)
            if index is None:
                raise unknown_name("variable", name, self.schema.names)
            if name == query:
                if is_missing(value):
                    continue
                raise InputError(f"{name!r} is both asked for and given as evidence.")
            variable = self.schema.variables[index]
            code = variable.code_of(value)
            if code == codes[index] and not is_missing(value):
                raise unknown_name(f"state for {name!r}:", value, variable.states)
            codes[index] = code
        return np.array([codes], dtype=code_dtype(max(self.parameters.layout.n_states)))

    def _codes(self, rows: Any) -> CodeArray:
        """Codes of a table of rows, one column per variable."""
        table, present = rows_as_table(rows, self.schema)
        variables = [self.schema[v] for v in present]
        found = encode_table(table, variables)
        widest = code_dtype(int(self.schema.n_states.max()))
        codes = np.empty((table.n_rows, len(self.schema)), dtype=widest, order="F")
        codes[...] = self.schema.n_states
        codes[:, present] = found
        return codes


def _scopes(
    layout: FamilyLayout, variables: Iterable[int]
) -> list[list[tuple[int, ...]]]:
    """For every one of `variables` the axes of each of its tables."""
    return [[layout.axes[t] for t in layout.tables_of(v)] for v in variables]
