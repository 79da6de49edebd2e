"""Searches for parents as the papers write them: every candidate scored in full.

Log probabilities are whole numbers of 2^-30 nats here, so that sums are exact and
equal classes are equal, as in `tanager.scores`.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import ceil, fsum, log, log2

import numpy as np
from scipy.special import log_softmax

from tanager.data.folds import stratified_folds

GRID = 2**30


class PlainScore:
    """The score of whole structures from rows.

    Parameters
    ----------
    data : ArrayData
        Labelled rows.
    kind : {"cr", "cl", "margin"}
        Margins count up to 1.
    alpha, zero : float
        Smoothing; `zero` is used if it is positive.
    folds : int or None
        Whether a row is scored by tables of the other folds.
    """

    def __init__(self, data, kind="cr", alpha=0.0, zero=1e-5, folds=None):
        self.codes = data.codes.astype(int)
        self.labels = data.labels.astype(int)
        n_rows = len(self.labels)
        self.weights = np.ones(n_rows) if data.weights is None else data.weights
        self.n_states = data.schema.n_states[:-1].tolist()
        self.n_classes = data.schema.n_classes
        self.kind, self.alpha, self.zero = kind, alpha, zero
        self.parts = [(np.arange(n_rows), np.arange(n_rows))]
        if folds is not None:
            self.parts = [
                (np.setdiff1d(np.arange(n_rows), part), part)
                for part in stratified_folds(self.labels, self.n_classes, folds)
            ]
        self.family = cache(self.family)

    def value(self, parents):
        """The score of a structure given by the feature parents of every feature."""
        joint = self.prior().copy()
        for child, of in enumerate(parents):
            joint += self.family(child, tuple(sorted(of)))
        rows = np.concatenate([test for _, test in self.parts])
        labels, weights, joint = self.labels[rows], self.weights[rows], joint[rows]
        if self.kind == "cr":
            right = joint.argmax(axis=1) == labels  # the first of equal classes
            return fsum(weights[right])
        joint = joint / GRID
        own = joint[np.arange(len(rows)), labels]
        if self.kind == "cl":
            posterior = log_softmax(joint, axis=1)
            return self.rounded(weights @ posterior[np.arange(len(rows)), labels])
        joint[np.arange(len(rows)), labels] = -np.inf
        return self.rounded(weights @ np.minimum(own - joint.max(axis=1), 1.0))

    def rounded(self, value):
        """A sum over rows without the digits that its order decides."""
        unit = 2.0 ** (ceil(log2(self.weights.sum())) - 24)
        return round(value / unit) * unit

    def prior(self):
        """Log probability of the classes, the same for all rows of a fold."""
        out = np.zeros((len(self.labels), self.n_classes), dtype=np.int64)
        for train, test in self.parts:
            counts = np.zeros(self.n_classes)
            np.add.at(counts, self.labels[train], self.weights[train])
            out[test] = self.logarithms(counts)
        return out

    def family(self, child, parents):
        """Part of one family in the log joint of all rows and classes.

        A row that shows some of the parents is scored by all training rows that show
        the same of them, whatever their other parents are.
        """
        out = np.zeros((len(self.labels), self.n_classes), dtype=np.int64)
        states, parents = self.n_states[child], list(parents)
        for train, test in self.parts:
            train, test = (
                rows[self.codes[rows, child] < states] for rows in (train, test)
            )
            shown, which = np.unique(
                self.codes[np.ix_(test, parents)], axis=0, return_inverse=True
            )
            for number, values in enumerate(shown):
                alike = np.ones(len(train), dtype=bool)
                for p, value in zip(parents, values, strict=True):
                    if value < self.n_states[p]:
                        alike &= self.codes[train, p] == value
                counts = np.zeros((self.n_classes, states))
                rows = train[alike]
                cells = self.labels[rows], self.codes[rows, child]
                np.add.at(counts, cells, self.weights[rows])
                table = np.array([self.logarithms(of_class) for of_class in counts])
                here = test[which.ravel() == number]
                out[here] = table[:, self.codes[here, child]].T
        return out

    def logarithms(self, counts):
        """Log frequencies on the grid; of nothing seen, those of even odds."""
        if self.zero > 0:
            total = counts.sum()
            theta = [n / total if n > 0 else self.zero for n in counts]
        else:
            theta = [n + self.alpha for n in counts]
        mass = sum(theta)
        theta = [t / mass if mass > 0 else 1 / len(theta) for t in theta]
        return [round((log(t) if t > 0 else -100.0) * GRID) for t in theta]


def makes_cycle(parents, parent, child):
    """Whether the arc parent -> child would close a cycle."""
    waiting, seen = [parent], set()
    while waiting:
        node = waiting.pop()
        if node == child:
            return True
        if node not in seen:
            seen.add(node)
            waiting += parents[node]
    return False


def with_arcs(parents, arcs):
    """The structure with more arcs."""
    more = [list(of) for of in parents]
    for parent, child in arcs:
        more[child].append(parent)
    return more


def are_joined(parents):
    """Whether the parents of every feature are adjacent to each other."""
    arcs = {frozenset((p, child)) for child, of in enumerate(parents) for p in of}
    return all(
        frozenset(pair) in arcs for of in parents for pair in combinations(of, 2)
    )


def moral_width(parents):
    """The treewidth of the moral graph: the best of all elimination orders.

    After some features are eliminated, the neighbours of the next one are those that
    paths through eliminated features lead to.
    """
    n_features = len(parents)
    near = [set() for _ in range(n_features)]
    for child, of in enumerate(parents):
        for one, other in combinations([child, *of], 2):
            near[one].add(other)
            near[other].add(one)

    @cache
    def width(gone):
        if len(gone) == n_features:
            return 0
        return min(
            max(len(reached(v, gone)), width(gone | {v}))
            for v in range(n_features)
            if v not in gone
        )

    def reached(v, gone):
        seen, waiting = {v}, [v]
        while waiting:
            for u in near[waiting.pop()] - seen:
                seen.add(u)
                if u in gone:
                    waiting.append(u)
        return seen - gone - {v}

    return width(frozenset())


def greedy(score, n_features, k, allowed=lambda i, j: True, joined=False):
    """Add the best arc while one raises the score: arcs and scores.

    If `joined`, the parents of every feature stay adjacent to each other, as in a
    k-tree; so in the other searches.
    """
    parents, value, steps = [[] for _ in range(n_features)], None, []
    value = score.value(parents)
    while True:
        found = None
        for i in range(n_features):
            for j in range(n_features):
                if (
                    i == j or i in parents[j] or len(parents[j]) >= k
                    or not allowed(i, j) or makes_cycle(parents, i, j)
                    or (joined and not are_joined(with_arcs(parents, [(i, j)])))
                ):  # fmt: skip
                    continue
                new = score.value(with_arcs(parents, [(i, j)]))
                if found is None or new > found[0]:
                    found = new, (i, j)
        if found is None or not found[0] > value:
            return parents, steps
        value = found[0]
        parents = with_arcs(parents, [found[1]])
        steps.append(([found[1]], value))


def superparent(score, n_features, k, n_children=None, joined=False):
    """The SuperParent search: structure and steps."""
    parents, steps = [[] for _ in range(n_features)], []
    value = score.value(parents)
    while True:
        best = None
        for p in range(n_features):
            arcs = [
                (p, j)
                for j in range(n_features)
                if j != p and p not in parents[j] and len(parents[j]) < k
                and not makes_cycle(parents, p, j)
            ]  # fmt: skip
            if joined:
                # All sets of children that can be, together.
                arcs = sorted(
                    {
                        arc
                        for size in range(len(arcs) + 1)
                        for some in combinations(arcs, size)
                        if are_joined(with_arcs(parents, some))
                        for arc in some
                    }
                )
            if arcs:
                new = score.value(with_arcs(parents, arcs))
                if best is None or new > best[0]:
                    best = new, arcs
        if best is None:
            return parents, steps
        size = min(n_children or k, len(best[1]))
        found = None
        for arcs in combinations(best[1], size):
            if joined and not are_joined(with_arcs(parents, arcs)):
                continue
            new = score.value(with_arcs(parents, arcs))
            if found is None or new > found[0]:
                found = new, arcs
        if not found[0] > value:
            return parents, steps
        value = found[0]
        parents = with_arcs(parents, found[1])
        steps.append((list(found[1]), value))


def order_based(score, order, k, joined=False):
    """Parents along an order: structure and steps (Algorithm 1 for k = 1).

    If `joined`, a set of parents may be smaller than k if no further one is adjacent to
    all of them.
    """
    parents, steps = [[] for _ in order], []
    value = None
    if k == 1 and len(order) > 1:
        parents = with_arcs(parents, [(order[0], order[1])])
        steps.append(([(order[0], order[1])], score.value(parents)))
    elif k > 1:
        value = score.value(parents)
    for place in range(2 if k == 1 else 1, len(order)):
        child, earlier = order[place], sorted(order[:place])
        best = None
        sets = list(combinations(earlier, min(k, place)))
        if joined:
            cliques = [
                set(of)
                for size in range(1, min(k, place) + 1)
                for of in combinations(earlier, size)
                if are_joined([*parents, of])
            ]
            sets = [
                tuple(sorted(of))
                for of in cliques
                if len(of) == k or not any(of < other for other in cliques)
            ]
        for of in sets:
            new = score.value(with_arcs(parents, [(p, child) for p in of]))
            if best is None or new > best[0]:
                best = new, of
        if value is None or best[0] > value:
            value = best[0]
            arcs = [(p, child) for p in best[1]]
            parents = with_arcs(parents, arcs)
            steps.append((arcs, value))
    return parents, steps
