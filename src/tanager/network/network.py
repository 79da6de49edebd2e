"""`Network`: a Bayesian network as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tanager.errors import InputError, TableSizeError, listed
from tanager.model.layout import FamilyLayout, Parameters, along
from tanager.model.schema import Schema, State
from tanager.model.structure import Structure
from tanager.network.construction import make_parameters, make_schema
from tanager.network.markov_blanket import blanket_parts
from tanager.network.named_table import LogTable, ProbabilityTable
from tanager.network.pictures import Pictures
from tanager.network.queries import Queries
from tanager.network.retargeting import renumber, tables_by_owner
from tanager.types import FloatArray
from tanager.utils.stored_fields import StoredFields

if TYPE_CHECKING:
    from tanager.network.arc_information import NetworkInformation
    from tanager.network.feature_effect import Effect
    from tanager.plots.network_picture import NetworkGraph

MAX_TABLE_CELLS = 10_000_000
"""Entries up to which the CPT of a log-linear family is written out (80 MB)."""


@dataclass(frozen=True, eq=False)
class Network(StoredFields, Queries, Pictures):
    """A Bayesian network: variables, parents and CPTs.

    Parameters
    ----------
    schema : Schema
        The variables and their states.
    structure : Structure
        Parents of every variable.
    parameters : Parameters
        The CPTs, as logarithms.

    See Also
    --------
    Network.build : Make a network from names and CPTs.

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

    has_cpts: ClassVar[Literal[True]] = True
    """Whether every variable has a CPT, and the features a distribution."""

    used_columns: ClassVar[None] = None
    """Positions of the features that the log joint depends on: None means all."""

    def __post_init__(self) -> None:
        """Check that the three parts belong together."""
        layout = self.parameters.layout
        if layout.is_full(self.structure) or len(self.schema) != len(layout.n_states):
            expected = FamilyLayout.of_structure(self.schema, self.structure)
        else:
            states = self.schema.n_states.tolist()
            scopes = [
                [layout.axes[t] for t in layout.tables_of(v)]
                for v in range(len(states))
            ]
            expected = FamilyLayout.of_sums(states, self.structure, scopes)
            expected.check_size(self.schema)
        if self.structure.target != self.schema.target:
            raise InputError("Schema and structure have different target variables.")
        if layout != expected:
            raise InputError(
                "The tables do not have the axes that schema and structure require."
            )

    @classmethod
    def build(
        cls,
        variables: Mapping[str, Sequence[State]],
        tables: Mapping[str, Any],
        *,
        target: str | None = None,
    ) -> Network:
        """Make a network from names and CPTs.

        Parameters
        ----------
        variables : mapping from name to states
            The variables in order.
        tables : mapping from name to CPT
            For a variable without parents an array of probabilities, one per state;
            otherwise a pair (parents, array) whose axes are the parents in order, then
            the variable. The last axis must sum to one.
        target : str or None, default=None
            The class variable, the default query of `posterior`.

        Returns
        -------
        Network
            Names, shapes, sums and the absence of cycles are checked.
        """
        schema = make_schema(variables, target)
        structure, parameters = make_parameters(schema, tables)
        return cls(schema, structure, parameters)

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
        parents = dict(enumerate(self.structure.parents))
        tables = tables_by_owner(self.parameters, order)
        return Network(*renumber(self.schema, parents, tables, index))

    def __repr__(self) -> str:
        return (
            f"<Network: {len(self.schema)} variables, {len(self.edges)} arcs, "
            f"{self.n_parameters} parameters>"
        )

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arcs as (parent, child) names."""
        names = self.schema.names
        return tuple((names[p], names[c]) for p, c in self.structure.arcs)

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters of all CPTs, or of the log-linear families."""
        layout = self.parameters.layout
        return sum(layout.n_free(v) for v in range(len(layout.n_states)))

    @property
    def sizes(self) -> dict[str, int]:
        """Number of arcs and of parameters."""
        return {"arc": len(self.edges), "parameter": self.n_parameters}

    def parents(self, name: str) -> tuple[str, ...]:
        """Names of a variable's parents, in the order of the axes of its CPT."""
        index = self.schema.index(name)
        return tuple(self.schema.names[p] for p in self.structure.parents[index])

    def markov_blanket(self, name: str | None = None) -> tuple[str, ...]:
        """Names of the variables in the Markov blanket of one variable.

        These are its parents, its children and the other parents of its children: given
        them, the variable is independent of all others.

        Parameters
        ----------
        name : str or None, default=None
            The variable; the target by default.

        Returns
        -------
        tuple of str
            In the order of the schema.

        Examples
        --------
        >>> network = Network.build(
        ...     dict.fromkeys(["rain", "pump", "wet"], ["no", "yes"]),
        ...     {
        ...         "rain": [0.8, 0.2],
        ...         "pump": [0.5, 0.5],
        ...         "wet": (["rain", "pump"], [[[1, 0], [0, 1]], [[0, 1], [0, 1]]]),
        ...     },
        ... )
        >>> network.markov_blanket("rain")
        ('pump', 'wet')
        """
        members = self.structure.markov_blanket(self._query_index(name, "name"))
        return tuple(self.schema.names[v] for v in members)

    def blanket_network(
        self, name: str | None = None, *, exact: bool = True
    ) -> Network:
        """The network of one variable and its Markov blanket alone.

        Parameters
        ----------
        name : str or None, default=None
            The variable, the target of the new network; the target by default.
        exact : bool, default=True
            Whether to keep the joint distribution of the remaining variables, and so
            all of their posteriors for any evidence on them. If False, the posterior of
            the variable is kept where its whole blanket is observed; this needs no
            larger CPTs.

        Returns
        -------
        Network
            The variable, its children and the members that keep all of their parents
            keep their CPTs. A member that loses a parent gets new parents if `exact`;
            otherwise none, and its marginal distribution as CPT (a uniform one where
            that is too large to compute).

        Raises
        ------
        TableSizeError
            If `exact` would need a CPT larger than allowed.

        Examples
        --------
        >>> steps = [[0.9, 0.1], [0.3, 0.7]]
        >>> chain = Network.build(
        ...     dict.fromkeys("abc", [0, 1]),
        ...     {"a": [0.6, 0.4], "b": (["a"], steps), "c": (["b"], steps)},
        ...     target="c",
        ... )
        >>> small = chain.blanket_network()
        >>> print(small.table("b"))
        P(b)
             0       1
        0.6600  0.3400
        >>> small.edges
        (('b', 'c'),)
        """
        target = self._query_index(name, "name")
        parts = self.schema, self.structure, self.parameters
        return Network(*blanket_parts(*parts, target, exact=exact))

    def table(self, name: str) -> ProbabilityTable:
        """The CPT of a variable; axes are its parents in order, then the variable.

        Raises
        ------
        TableSizeError
            For a log-linear family (see `log_tables`) whose CPT would have more than
            `MAX_TABLE_CELLS` entries.
        """
        index = self.schema.index(name)
        family = self.structure.families[index]
        layout = self.parameters.layout
        cells = prod(layout.n_states[v] for v in family)
        tables = layout.tables_of(index)
        if cells > MAX_TABLE_CELLS and layout.sizes[tables[0]] < cells:
            raise TableSizeError(
                f"The CPT of {name!r} would have {cells:,} entries, more than the "
                f"{MAX_TABLE_CELLS:,} allowed. It is stored as the sum of "
                f"{len(tables)} smaller log tables: use log_tables({name!r})."
            )
        log_values = self.parameters.log_family(index, family)
        values = np.ascontiguousarray(np.exp(log_values))
        return ProbabilityTable(*self._label_axes(family), values)

    def log_tables(self, name: str) -> tuple[LogTable, ...]:
        """The log factors whose sum is the logarithm of a variable's CPT.

        Most variables have one, the logarithm of `table`. A log-linear family has
        several, each over some of the parents and, in most of them, the variable.
        """
        index = self.schema.index(name)
        layout, family = self.parameters.layout, self.structure.families[index]
        found = []
        for t in layout.tables_of(index):
            order = [v for v in family if v in layout.axes[t]]
            values = along(self.parameters.log_table(t), layout.axes[t], order)
            found.append(
                LogTable(*self._label_axes(order), np.ascontiguousarray(values))
            )
        return tuple(found)

    def _label_axes(
        self, axes: Sequence[int]
    ) -> tuple[tuple[str, ...], tuple[tuple[State, ...], ...]]:
        """Names and states of variables."""
        return (
            tuple(self.schema.names[v] for v in axes),
            tuple(self.schema[v].states for v in axes),
        )

    @cached_property
    def information(self) -> NetworkInformation:
        """How much arcs say about their children, and features about the class."""
        from tanager.network.arc_information import NetworkInformation

        return NetworkInformation(self.schema, self.structure, self.parameters)

    @property
    def graph(self) -> NetworkGraph:
        """The graph that `plot` shows: arcs with conditional mutual information."""
        from tanager.plots.network_picture import NetworkGraph

        has_class = self.schema.target is not None
        return NetworkGraph(
            self.schema.names,
            self.structure.arcs,
            self.schema.target,
            _fill_in_median(self.information.arcs),
            self.information.features if has_class else None,
            measures=("conditional mutual information", "information about the class"),
        )

    def effect(self, *names: str) -> Effect:
        """What a single feature says about the class, as `plot_effects` draws it.

        Parameters
        ----------
        *names : str
            The name of the feature.

        Returns
        -------
        Effect
            The evidence of its states: ``log P(x | class)``, minus the mean over the
            classes; for two classes, the log odds of the second one.

        Raises
        ------
        InputError
            If several features are named, or the class, or if there is no class.
        """
        from tanager.network.feature_effect import evidence_effect

        positions = [self.schema.index(name) for name in names]
        found = None
        if len(positions) == 1 and self.schema.target is not None:
            found = evidence_effect(self.schema, self.information, positions[0])
        if found is None:
            raise InputError(
                "A network has the effects of single features on the class, got "
                f"{listed(names)}; give the name of one feature of a network with a "
                "class. Interactions have factors in a LogLinearNetwork."
            )
        return found

    def main_effects(self, n_effects: int) -> list[Effect]:
        """What single features say about the class, the most informative ones first.

        See `effect`.
        """
        from tanager.network.feature_effect import evidence_effects

        return evidence_effects(self.schema, self.information, n_effects)

    def to_dot(self) -> str:
        """The graph in the DOT language of Graphviz; the target is a double circle.

        Examples
        --------
        >>> network = Network.build(
        ...     {"x": [0, 1], "y": [0, 1]},
        ...     {"y": [0.5, 0.5], "x": (["y"], [[0.9, 0.1], [0.2, 0.8]])},
        ...     target="y",
        ... )
        >>> print(network.to_dot())
        digraph network {
          "x";
          "y" [shape=doublecircle];
          "y" -> "x";
        }
        """
        lines = ["digraph network {"]
        for index, name in enumerate(self.schema.names):
            mark = " [shape=doublecircle]" if index == self.schema.target else ""
            lines.append(f"  {quote_dot(name)}{mark};")
        lines += [f"  {quote_dot(p)} -> {quote_dot(child)};" for p, child in self.edges]
        return "\n".join([*lines, "}"])


def _fill_in_median(strengths: FloatArray) -> FloatArray:
    """Strengths to draw: arcs whose strength is not known get the median."""
    known = strengths[~np.isnan(strengths)]
    middle = float(np.median(known)) if len(known) else 0.0
    return np.where(np.isnan(strengths), middle, strengths)


def quote_dot(name: str) -> str:
    """Write a name as an identifier of the DOT language."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
