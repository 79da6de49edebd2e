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
    def class_weights(self) -> tuple[FloatArray, ...]:
        """What every CPT says of the classes, as `ScoreTerm.weights`.

        Shape (n_parent_states, n_states, n_columns): the log odds of two classes,
        otherwise the logarithms less their mean over the classes.
        """
        if self.terms.n_classes == 2:
            return tuple(cpt[..., 1:] - cpt[..., :1] for cpt in self.log_cpts)
        return tuple(cpt - cpt.mean(axis=-1, keepdims=True) for cpt in self.log_cpts)

    @property
    def class_means(self) -> tuple[FloatArray, ...]:
        """Means of the logarithms over the classes, (n_parent_states, n_states)."""
        return tuple(cpt.mean(axis=-1) for cpt in self.log_cpts)

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
    has_children = {p for ps in structure.parents for p in ps}
    # A constant feature without arcs says nothing, and its column may hold anything.
    kept = [
        v for v in range(target)
        if schema[v].n_states > 1 or v in has_children or structure.parents[v]
    ]  # fmt: skip
    place = {v: position for position, v in enumerate(kept)}
    parents, cpts = [], []
    for v in kept:
        others = [p for p in structure.parents[v] if p != target]
        has_class = target in structure.parents[v]
        if len(others) > 1 or not has_class:
            return None
        parents.append(place[others[0]] if others else -1)
        cpt = network.parameters.log_family(v, (*others, v, target))
        cpts.append(cpt if cpt.ndim == 3 else cpt[np.newaxis])
    order = [place[v] for v in reversed(structure.topological_order) if v in place]
    log_prior = network.parameters.log_family(target, (target,))
    terms = ScoreTerms(tuple(schema[v] for v in kept), schema[target], log_prior, ())
    return ClassTree(terms, tuple(parents), tuple(order), tuple(cpts))
