"""`LogLinearNetwork`: a classifier that is a sum of small log tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

import numpy as np
from scipy.special import softmax

from tanager.errors import CapabilityError, InputError, NetworkOnlyError
from tanager.loglinear.factor import Axis
from tanager.loglinear.factors_to_cpts import (
    chordless_cycle,
    convert_factors,
    cycle_text,
)
from tanager.loglinear.fitted_factors import FactorTable, FactorTables
from tanager.model.schema import Schema, State
from tanager.network.evidence import evidence_codes
from tanager.network.named_factor import NamedFactor
from tanager.network.network import Network, quote_dot
from tanager.network.pictures import Pictures
from tanager.types import FloatArray, IntArray
from tanager.utils.stored_fields import StoredFields

if TYPE_CHECKING:
    from tanager.network.feature_effect import Effect
    from tanager.plots.network_picture import NetworkGraph

NETWORK_ONLY = (
    "blanket_network", "log_likelihood", "log_tables", "most_probable", "parameters",
    "parents", "posteriors", "sample", "structure", "table",
)  # fmt: skip
"""What a `Network` has and a sum of factors does not."""


@dataclass(frozen=True, eq=False)
class LogLinearNetwork(StoredFields, Pictures):
    """P(class | features) as the softmax of a sum of factors.

    A Bayesian network classifier has this form where all features are observed. Without
    the condition that the factors are families of a network, interactions may be over
    any pairs and triples of features; in return the features have no distribution.
    Where the interactions form a graph without long cycles, such as a forest,
    `to_network` converts the factors to a `Network`.

    Parameters
    ----------
    schema : Schema
        The variables; the class comes last.
    factors : FactorTables
        The fitted factors.

    See Also
    --------
    tanager.FactorSearch : Learns such a network.
    tanager.Network : A network that also has a distribution of the features.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] * 10
    >>> model = BayesNetClassifier(structure="factors").fit(X, [0, 0, 1, 1] * 10)
    >>> model.network_.interactions
    (('x0', 'x1'),)
    >>> round(model.network_.posterior({"x0": "a", "x1": "v"})[1], 1)
    1.0
    """

    schema: Schema
    factors: FactorTables

    has_cpts: ClassVar[Literal[False]] = False
    """Whether every variable has a CPT, and the features a distribution."""

    def __post_init__(self) -> None:
        """Check that factors and schema belong together."""
        states = self.schema.n_states
        if self.schema.target != len(states) - 1:
            raise InputError("The class must be the last variable of the schema.")
        if self.factors.log_prior.shape != (states[-1],):
            raise InputError(
                f"The class has {states[-1]} states, but the factors are of "
                f"{len(self.factors.log_prior)}."
            )
        for table in self.factors.tables:
            for axis in table.factor.axes:
                if not 0 <= axis.feature < len(states) - 1:
                    raise InputError(
                        f"A factor is over variable number {axis.feature}, but the "
                        f"features are 0 to {len(states) - 2}."
                    )
                if len(axis.bins) != states[axis.feature] + 1:
                    name = self.schema.names[axis.feature]
                    raise InputError(
                        f"A factor over {name!r} has bins of {len(axis.bins) - 1} "
                        f"states, but {name!r} has {states[axis.feature]}."
                    )

    def __repr__(self) -> str:
        n_effective = self.n_effective
        effective = "" if n_effective is None else f" ({n_effective:.0f} effective)"
        return (
            f"<LogLinearNetwork: {len(self.schema)} variables, "
            f"{len(self.factors.tables)} factors, "
            f"{self.n_parameters} parameters{effective}>"
        )

    @property
    def engine(self) -> FactorTables:
        """What computes the log joint of samples."""
        return self.factors

    @cached_property
    def interactions(self) -> tuple[tuple[str, ...], ...]:
        """Names of the features of every factor over several features."""
        return tuple(
            self.names_of(table)
            for table in self.factors.tables
            if len(table.factor.axes) > 1
        )

    @cached_property
    def unused_features(self) -> tuple[str, ...]:
        """Names of the features that are in no factor: they change no prediction."""
        columns = self.used_columns
        if columns is None:
            return ()
        used, names = set(columns.tolist()), self.schema.names[:-1]
        return tuple(name for j, name in enumerate(names) if j not in used)

    @cached_property
    def used_columns(self) -> IntArray | None:
        """Positions of the features that are in a factor; None if all of them are."""
        used = sorted({j for table in self._tables() for j in table.factor.key})
        if len(used) == len(self.schema) - 1:
            return None
        return np.array(used, dtype=np.int64)

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The class with every feature in a factor, and the pairs of these in one.

        The pairs have no direction; the feature that comes first in the data is first.
        """
        names = self.schema.names
        return tuple((names[i], names[j]) for i, j in self.edge_strengths)

    @cached_property
    def edge_strengths(self) -> dict[tuple[int, int], float]:
        """Strengths of `edges`, in the same order, by the positions of their ends.

        It is the root of the sum of the squared importances of the factors that have
        both ends of the edge; the class belongs to every factor.
        """
        target = len(self.schema) - 1
        squares: dict[tuple[int, int], float] = {}
        pairs: dict[tuple[int, int], float] = {}
        for table in self._tables():
            square = table.importance**2
            for j in table.factor.key:
                squares[target, j] = squares.get((target, j), 0.0) + square
            for pair in combinations(table.factor.key, 2):
                pairs[pair] = pairs.get(pair, 0.0) + square
        return {edge: square**0.5 for edge, square in (squares | pairs).items()}

    @cached_property
    def n_parameters(self) -> int:
        """Number of free log weights in cells with training samples."""
        cells = sum(int((table.support > 0).sum()) for table in self._tables())
        return (cells + 1) * (self.schema.n_classes - 1)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of factors and of parameters."""
        return {"factor": len(self._tables()), "parameter": self.n_parameters}

    @cached_property
    def n_effective(self) -> float | None:
        """Effective number of parameters: how many the penalty leaves to the data.

        It is the sum over the factors; see `tanager.loglinear.factor_uncertainty`. None
        for models saved without it.
        """
        found = [table.effective for table in self._tables()]
        known = [effective for effective in found if effective is not None]
        return sum(known) if self.factors.has_errors else None

    def markov_blanket(self) -> tuple[str, ...]:
        """Names of the features on which the class depends.

        A factor whose weights are the same in all cells with training samples, such as
        that of a constant column, does not count.
        """
        found = {
            j
            for table in self._tables()
            if (seen := table.support > 0).any()
            and np.ptp(table.weights[seen], axis=0).any()
            for j in table.factor.key
        }
        return tuple(self.schema.names[j] for j in sorted(found))

    def names_of(self, table: FactorTable) -> tuple[str, ...]:
        """Names of the features of a factor."""
        return tuple(self.schema.names[j] for j in table.factor.key)

    def by_importance(self) -> list[FactorTable]:
        """List the factors, the most important ones first."""
        return sorted(self._tables(), key=lambda table: -table.importance)

    def factor(self, *names: str) -> FactorTable:
        """The factor over the named features, in any order.

        Raises
        ------
        InputError
            If there is no factor over exactly these features.
        """
        wanted = tuple(sorted(self.schema.index(name) for name in names))
        for table in self._tables():
            if table.factor.key == wanted:
                return table
        near = [found for found in self.interactions if set(found) & set(names)]
        hint = "None of these is in a factor over several features."
        if set(names) <= set(self.unused_features):
            hint = f"The model does not use {' or '.join(names)}: there is no effect."
        if near:
            shown = ", ".join(" x ".join(found) for found in near[:5])
            more = f" and {len(near) - 5} more" if near[5:] else ""
            hint = f"Factors over several features with one of these: {shown}{more}."
        raise InputError(f"There is no factor over {' x '.join(names)}. {hint}")

    def log_table(self, *names: str) -> NamedFactor:
        """The log weights of the factor over the named features.

        Axes are the features, in the order of the data, then the class. Along a feature
        the states are the factor's bins; the last one is "not observed".

        Raises
        ------
        InputError
            If there is no factor over exactly these features.
        """
        table = self.factor(*names)
        bins = tuple(table.factor.shape.tolist())
        shape, errors = (*bins, self.schema.n_classes), table.errors
        return NamedFactor(
            (*self.names_of(table), self.schema.target_variable.name),
            (*self._bin_labels(table), self.schema.target_variable.states),
            table.weights.reshape(shape),
            None if errors is None else errors.reshape(shape),
            table.support.reshape(bins),
            tuple(self._cuts(axis) for axis in table.factor.axes),
        )

    def posterior(
        self, evidence: Mapping[str, object] | None = None, query: str | None = None
    ) -> dict[State, float]:
        """Probability of every class given some features.

        Factors with a feature that is not given are averaged over training samples (see
        `FactorTables`): without a distribution of the features, these cannot be
        marginalised exactly.

        Parameters
        ----------
        evidence : mapping from name to value, or None
            States, or numbers for discretised features. Missing values (None, NaN)
            count as not given.
        query : str or None, default=None
            The class, which None stands for. Other variables raise `CapabilityError`.

        Returns
        -------
        dict from class to probability
        """
        self.with_target_last(query)
        target = self.schema.target_variable
        codes = evidence_codes(self.schema, evidence, target.name)
        log_joint = self.factors.log_joint_block(np.asfortranarray(codes))
        return dict(zip(target.states, softmax(log_joint[0]).tolist(), strict=True))

    def with_target_last(self, target: str | None = None) -> LogLinearNetwork:
        """Return the network itself: no variable but the class can be predicted."""
        own = self.schema.target_variable.name
        if target not in (None, own):
            self.schema.index(str(target))
            raise CapabilityError(
                f"A LogLinearNetwork predicts its class {own!r} only, not {target!r}. "
                f"{self._remedy}"
            )
        return self

    def to_network(self) -> Network:
        """Convert the factors to CPTs with the same P(class | features).

        The network can do what a sum of factors cannot: marginalise missing features
        exactly, sample, answer queries about any variable, and be written to BIF.

        Returns
        -------
        Network
            The class is a parent of every feature, and features that share a factor are
            joined by an arc. Families of more than 100,000 entries with several feature
            parents are kept as sums (`Network.log_tables`).

        Raises
        ------
        NetworkOnlyError
            If the features that share a factor form a cycle of four or more in which
            only neighbours do: the graph must be chordal, as it is without
            interactions, for forests and for k-trees.
        TableSizeError
            If the CPTs would have more than 10 million entries.

        Notes
        -----
        P(class | features) is the same where all features are observed; a missing value
        that has a state of its own is observed. Otherwise it differs: this class
        averages the factors of features that are not observed, and the network
        marginalises these features. What was learned for "not observed" is lost.

        P(class | features) leaves the distribution of the features open. It is chosen
        so that features are most likely under the samples of training, as far as the
        factors know them: single features, and those that share a factor, have about
        the distribution of the training samples over the factor's bins. Features that
        share none are independent given the class and the features between them in the
        graph, which data seldom confirm: samples of the network are no replacement for
        data, and P(class) without evidence may differ from the class frequencies.

        CPTs are over all states, while factors over several features have few bins: 24
        by 24 bins of two numeric features become 254 by 254 states. A fit therefore
        never converts by itself.

        References
        ----------
        Roos, Wettig, Grunwald, Myllymaki, Tirri (2005), On discriminative Bayesian
        network classifiers and logistic regression, Machine Learning 59.

        Examples
        --------
        >>> from tanager import BayesNetClassifier
        >>> X = [["a", "u"], ["b", "v"], ["a", "v"], ["b", "u"]] * 10
        >>> model = BayesNetClassifier(structure="factors").fit(X, [0, 0, 1, 1] * 10)
        >>> network = model.network_.to_network()
        >>> network.edges
        (('class', 'x0'), ('x1', 'x0'), ('class', 'x1'))
        >>> found = network.posterior({"x0": "a", "class": 1}, query="x1")
        >>> {state: round(p, 1) for state, p in found.items()}
        {'u': 0.0, 'v': 1.0}
        """
        return Network(self.schema, *convert_factors(self.schema, self.factors))

    @property
    def graph(self) -> NetworkGraph:
        """The graph that `plot` shows: the features, and the pairs in one factor.

        Lines are as wide as `edge_strengths` says; a feature has the importance of its
        own factor.
        """
        from tanager.plots.network_picture import NetworkGraph

        target = len(self.schema) - 1
        importances = np.zeros(len(self.schema))
        for table in self._tables():
            if len(table.factor.key) == 1:
                importances[table.factor.key[0]] = table.importance
        # The class is above the features, and the more important feature above another.
        arcs = tuple(
            (j, i) if i != target and importances[j] > importances[i] else (i, j)
            for i, j in self.edge_strengths
        )
        return NetworkGraph(
            self.schema.names,
            arcs,
            target,
            np.array(list(self.edge_strengths.values())),
            importances,
            directed=False,
            measures=("importance of the interaction", "importance of the feature"),
        )

    def effect(self, *names: str) -> Effect:
        """The factor over the named features, as `plot_effects` draws it.

        Raises
        ------
        InputError
            If there is no factor over exactly these features.
        """
        return self.log_table(*names).effect

    def main_effects(self, n_effects: int) -> list[Effect]:
        """The most important factors, as `plot_effects` draws them."""
        return [
            self.effect(*self.names_of(table))
            for table in self.by_importance()[:n_effects]
        ]

    def to_dot(self) -> str:
        """The graph of the factors in the DOT language of Graphviz."""
        target = self.schema.target_variable.name
        lines = ["graph network {"]
        for name in self.schema.names:
            mark = " [shape=doublecircle]" if name == target else ""
            lines.append(f"  {quote_dot(name)}{mark};")
        lines += [f"  {quote_dot(a)} -- {quote_dot(b)};" for a, b in self.edges]
        return "\n".join([*lines, "}"])

    def __getattr__(self, name: str) -> NoReturn:
        """Say what to use instead of the queries that only a `Network` answers."""
        if name in NETWORK_ONLY:
            raise self.refusal(name)
        raise AttributeError(f"'LogLinearNetwork' object has no attribute {name!r}")

    def refusal(self, name: str) -> NetworkOnlyError:
        """The error for what only a `Network` answers, with what to do instead."""
        return NetworkOnlyError(
            f"A LogLinearNetwork has no {name!r}: its factors give P(class | "
            "features), but no distribution of the features and no CPTs. "
            f"{self._remedy}"
        )

    @cached_property
    def _remedy(self) -> str:
        """How to get a `Network`: by conversion, or by fitting another structure."""
        other = 'structure="tan-res", "2-tree-res" or another structure'
        if _is_chordal(self.factors):
            return f"Convert it with to_network(), or fit with {other}, for a Network."
        cycle = chordless_cycle(self.factors)
        return (
            f"Fit with {other} for a Network; to_network() cannot convert this model: "
            f"{cycle_text(self.schema, cycle)}"
        )

    def _tables(self) -> tuple[FactorTable, ...]:
        return self.factors.tables

    def _cuts(self, axis: Axis) -> FloatArray | None:
        """The values between the bins of a numeric feature."""
        variable = self.schema[axis.feature]
        if variable.cuts is None:
            return None
        bins = axis.bins[: variable.n_values]
        return np.array(variable.cuts, dtype=np.float64)[np.diff(bins) > 0]

    def _bin_labels(self, table: FactorTable) -> list[tuple[State, ...]]:
        """The labels of the bins along every feature of a factor."""
        labels = []
        for axis in table.factor.axes:
            variable = self.schema[axis.feature]
            members: list[list[State]] = [[] for _ in range(axis.n_bins)]
            for state, place in zip(variable.states, axis.bins[:-1], strict=True):
                members[place].append(state)
            ordered = variable.cuts is not None
            joined = (_join_states(states, ordered=ordered) for states in members[:-1])
            labels.append((*joined, "not observed"))
        return labels


def _join_states(states: list[State], *, ordered: bool) -> State:
    """One label of several states: an interval, a few states, or how many they are.

    The states of `ordered` variables are intervals, but for that of missing values.
    """
    if len(states) == 1:
        return states[0]
    first, last = str(states[0]), str(states[-1])
    if ordered and last.endswith(("]", ")")):
        return f"{first.split(',')[0]}, {last.split(', ')[-1]}"
    if len(states) <= 3:
        return ", ".join(map(str, states))
    return f"{len(states)} others"


def _is_chordal(factors: FactorTables) -> bool:
    """Whether no cycle of common factors lacks a chord, in near linear time.

    By maximum cardinality search: the next feature is one with the most neighbours that
    were visited. In a chordal graph these are joined to each other, and it suffices
    that the last one of them is joined to the others (Tarjan and Yannakakis, 1984).
    """
    graph: dict[int, set[int]] = {}
    for table in factors.tables:
        for v in table.factor.key:
            graph.setdefault(v, set()).update(table.factor.key)
    done: set[int] = set()
    visited: dict[int, list[int]] = {v: [] for v in graph}
    heap = [(0, v) for v in sorted(graph)]
    while heap:
        _, v = heappop(heap)
        if v in done:
            continue
        done.add(v)
        before = visited[v]
        if before and not graph[before[-1]].issuperset(before):
            return False
        for u in graph[v] - done:
            visited[u].append(v)
            heappush(heap, (-len(visited[u]), u))
    return True
