"""`GreedyKTree` (TAN-CR, 2-tree-CR, TAN-CL): the best arc, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.model.schema import Schema
from tanager.scores import Score
from tanager.structure.constraints import Constraints
from tanager.structure.search.search_loop import Search, SearchLearner
from tanager.utils.validation import check_flag


class GreedyKTree(SearchLearner):
    """Greedy search for arcs between features by a score (TAN-CR, 2-tree-CR).

    Parameters
    ----------
    k : int, default=1
        Feature parents a feature may have; 1 gives tree-augmented naive Bayes.
    score : str, Score or callable, default="cr"
        What is raised: "cr", the rows classified right; "cl", their conditional
        likelihood; "margin", their margins; "crcl", rows right under tables of
        greatest conditional likelihood; "ll", "bic" or "bde" for generative scores. A
        `Score` such as ``ClassificationRate(folds=5)`` says more, and a function of log
        joint, labels and weights may be given.
    treewidth : bool, default=False
        Whether the parents of every feature must be joined among each other, so that
        the structure is a true k-tree and marginalising stays cheap.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.
    max_seconds : float or None, default=None
        Time after which the search ends with the structure so far and a warning.
    verbose : bool, default=False
        Whether every step is told on standard error.

    Notes
    -----
    From naive Bayes on, each round adds the arc X_i -> X_j that raises the score most;
    of equal ones that with the lowest i, then j. The search ends when no arc raises the
    score ([1]_ section 4.4.1). The result is that of scoring every candidate on every
    row.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.

    Examples
    --------
    The class is whether the two features are equal, which naive Bayes cannot tell:

    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure=GreedyKTree(), parameters="ml")
    >>> model.fit(X, [0, 1, 1, 0] * 5).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    >>> [(step["arcs"], step["score"]) for step in model.trace_["structure"]]
    [([('x0', 'x1')], 20.0)]
    """

    def __init__(
        self,
        k: int = 1,
        *,
        score: str | Score | Callable[..., float] = "cr",
        treewidth: bool = False,
        constraints: Constraints | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.score = score
        self.treewidth = treewidth
        self.constraints = constraints
        self.max_seconds = max_seconds
        self.verbose = verbose

    def check(self, schema: Schema) -> None:
        """Refuse arguments that cannot be."""
        super().check(schema)
        check_flag("treewidth", self.treewidth)
        if self.treewidth:
            self._check_joined(schema)

    def _search(
        self,
        search: Search,
        data: CodedData,  # noqa: ARG002 - the scorer has the rows
        random: np.random.Generator,  # noqa: ARG002
    ) -> None:
        going = True
        while going:
            allowed = search.new_arcs(self.k)
            if self.treewidth:
                adjacent = search.adjacent()
                for child, parents in enumerate(search.parents):
                    allowed[:, child] &= adjacent[:, list(parents)].all(axis=1)
            going = search.step(search.adding(np.argwhere(allowed)))
