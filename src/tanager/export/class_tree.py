"""`ClassTree`: a tree of features given the class, to be written in other languages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tanager.export.score_terms import ScoreTerms
from tanager.network import AnyNetwork, Network
from tanager.types import FloatArray


@dataclass(frozen=True, eq=False)
class ClassTree:
    """A network whose features have the class and at most one feature as parents.

    Parameters
    ----------
    terms : ScoreTerms
        The features, the class, and the log prior; without terms.
    parents : tuple of int
        The feature parent of every feature, -1 for none.
    order : tuple of int
        The features, children before their parents.
    log_cpts : tuple of ndarray of float64, shape (n_parent_states, n_states, n_classes)
        log P(feature | parent, class); one parent state where there is no parent.
    """

    terms: ScoreTerms
    parents: tuple[int, ...]
    order: tuple[int, ...]
    log_cpts: tuple[FloatArray, ...]

    @property
    def n_numbers(self) -> int:
        """Number of entries of all CPTs."""
        return sum(cpt.size for cpt in self.log_cpts)


def read_tree(network: AnyNetwork) -> ClassTree | None:
    """Read a network as a tree; None if it is none.

    Its class comes last and has no parents, and its CPTs have no zeros.
    """
    if not isinstance(network, Network):
        return None
    schema, structure = network.schema, network.structure
    target = len(schema) - 1
    layout = network.parameters.layout
    if not layout.is_full(structure):
        return None
    parents, cpts = [], []
    for v in range(target):
        others = [p for p in structure.parents[v] if p != target]
        has_class = target in structure.parents[v]
        if len(others) > 1 or not (has_class or schema[v].n_states == 1):
            return None
        parents.append(others[0] if others else -1)
        if has_class:
            cpt = network.parameters.log_family(v, (*others, v, target))
        else:  # a constant feature has no arcs
            cpt = np.zeros((1, schema.n_classes))
        cpts.append(cpt if cpt.ndim == 3 else cpt[np.newaxis])
    order = [v for v in reversed(structure.topological_order) if v != target]
    log_prior = network.parameters.log_family(target, (target,))
    terms = ScoreTerms(schema.variables[:-1], schema[target], log_prior, ())
    return ClassTree(terms, tuple(parents), tuple(order), tuple(cpts))
