"""`TreeMarginals`: exact terms of features whose parent is missing, in trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanager.network import Network
from tanager.types import CodeArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class TreeMarginals:
    """A forest of features below the class, as the kernel reads it.

    Parameters
    ----------
    order : ndarray of int64, shape (n_features,)
        The features, parents before their children.
    parents, n_states : ndarray of int64, shape (n_features,)
        The feature that is the parent of each, -1 for none, and its number of states.
    starts : ndarray of int64, shape (n_features,)
        Where each feature begins in `theta`, divided by the number of classes.
    owns, incoming : ndarray of int64, shape (n_features + 1,)
        Places for a number for every state of each feature, and of its parent.
    theta : ndarray of float64, shape (n_entries,)
        P(x | parent, c) of each feature by x, then by class, then by the state of the
        parent.
    n_classes : int
        Number of classes.

    Notes
    -----
    The term of an observed feature x with a missing parent is log P(x | e, c) with the
    evidence e on the features before x: the difference of two logarithms of the
    probability of evidence. Both come from messages that missing features send to
    their missing parents, and x changes only those on the way to its first missing
    ancestor. So all terms of a sample take about as long as its log joint, instead of
    one log joint for each of them.
    """

    order: IntArray
    parents: IntArray
    n_states: IntArray
    starts: IntArray
    owns: IntArray
    incoming: IntArray
    theta: FloatArray
    n_classes: int

    @classmethod
    def of(cls, network: Network, order: Sequence[int]) -> TreeMarginals | None:
        """Make the arrays of a network; None unless it is a forest below the class.

        Every feature must have a single CPT, without zeros, with at most one parent
        besides the class, and the class no parents.
        """
        structure, layout = network.structure, network.parameters.layout
        target = len(network.schema) - 1
        parents = [structure.feature_parents[j] for j in range(target)]
        is_forest = (
            not structure.parents[target]
            and not network.engine.has_zeros
            and all(len(found) <= 1 for found in parents)
            and all(
                target in structure.parents[j] or layout.n_states[j] == 1
                for j in range(target)
            )
            and all(len(layout.tables_of(j)) == 1 for j in range(target))
        )
        if not is_forest:
            return None
        n_classes = layout.n_states[target]
        tables = []
        for j in range(target):
            (t,) = layout.tables_of(j)
            log_cpt = network.parameters.log_table(t)
            if layout.n_states[j] == 1:  # a constant feature may have no arcs
                n_above = layout.n_states[parents[j][0]] if parents[j] else 1
                tables.append(np.ones(n_above * n_classes))
                continue
            by_state = np.moveaxis(log_cpt, (layout.axes[t].index(j), -1), (0, 1))
            tables.append(np.exp(by_state).ravel())
        n_states = np.array(layout.n_states[:target], dtype=np.int64)
        above = np.array([n_states[p[0]] if p else 1 for p in parents], dtype=np.int64)
        return cls(
            np.array(order, dtype=np.int64),
            np.array([p[0] if p else -1 for p in parents], dtype=np.int64),
            n_states,
            np.cumsum([0, *(len(table) // n_classes for table in tables[:-1])]),
            np.cumsum([0, *n_states]),
            np.cumsum([0, *above]),
            np.concatenate(tables),
            n_classes,
        )

    def write_to(self, codes: CodeArray, out: FloatArray) -> None:
        """Write the terms of all observed features with a missing parent.

        Parameters
        ----------
        codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
            The samples; the number of states of a feature means not observed.
        out : ndarray of float64, shape (n_features, n_samples, n_outputs)
            Log odds, or centred log weights; all other entries stay.
        """
        from tanager.explain import _kernels as kernels

        columns = codes.T
        counts = np.zeros(len(codes), dtype=np.int32)
        kernels.count_tree_terms(columns, self.parents, self.n_states, counts)
        n_terms = int(counts.sum(dtype=np.int64))
        ratios = np.empty((n_terms, self.n_classes))
        places = np.empty((n_terms, 2), dtype=np.int64)
        tree = (
            self.order, self.parents, self.n_states, self.starts, self.owns,
            self.incoming,
        )  # fmt: skip
        samples, rows = np.flatnonzero(counts), np.ascontiguousarray(codes)
        kernels.find_tree_terms(rows, samples, tree, self.theta, ratios, places)
        # NumPy takes several logarithms at once.
        kernels.write_tree_terms(np.log(ratios, out=ratios), places, out)
