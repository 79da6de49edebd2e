"""`GreedyKTree` (TAN-CR, 2-tree-CR, TAN-CL): greedy forward search for arcs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tanager.data.coded_data import CodedData
from tanager.data.round_count import RoundCount
from tanager.scores import Score
from tanager.structure.constraints import Constraints
from tanager.structure.search.search_loop import Candidates, Search, SearchLearner


class GreedyKTree(SearchLearner):
    """Greedy search for arcs between features by a score (TAN-CR, 2-tree-CR).

    Parameters
    ----------
    k : int, default=1
        Feature parents a feature may have; 1 gives tree-augmented naive Bayes.
    score : str, Score or callable, default="cr"
        The score to maximise: "cr", the classification rate; "cl", the conditional
        log likelihood; "margin", the capped margins; "crcl" and "crrcl", the
        classification rate under CPTs of maximum and of penalised maximum conditional
        likelihood; "ll", "bic" or "bde" for generative scores; a `Score` such as
        ``ClassificationRate(folds=5)``; or a function of log joint, labels and weights.
    treewidth : bool, default=False
        Whether the parents of every feature must be adjacent to each other, so that
        the structure is a true k-tree and marginalisation stays cheap.
    constraints : Constraints or None, default=None
        Arcs that must, and must not, be in the structure.
    max_seconds : float or None, default=None
        Time after which the search ends with the structure so far and a warning.
    verbose : bool, default=False
        Whether every step is printed to standard error.

    Notes
    -----
    The search starts from naive Bayes. Each step adds the arc X_i -> X_j that increases
    the score most; ties go to the lowest i, then j. The search ends when no arc
    increases the score ([1]_ section 4.4.1). The result is that of scoring every
    candidate on every sample.

    References
    ----------
    .. [1] Pernkopf, Bilmes (2010), Efficient heuristics for discriminative structure
       learning of Bayesian network classifiers.

    Examples
    --------
    The class is whether the two features are equal, which naive Bayes cannot represent:

    >>> from tanager import BayesNetClassifier
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 5
    >>> model = BayesNetClassifier(structure=GreedyKTree(), parameters="ml")
    >>> model.fit(X, [0, 1, 1, 0] * 5).network_.edges
    (('class', 'x0'), ('class', 'x1'), ('x0', 'x1'))
    >>> [(step["arcs"], step["score"]) for step in model.trace_["structure"]]
    [([('x0', 'x1')], 20.0)]
    """

    rounds = RoundCount(4, ((2, "step"), (1, "group of new families")))

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

    def _candidates(
        self,
        search: Search,
        data: CodedData,  # noqa: ARG002
        random: np.random.Generator,  # noqa: ARG002
    ) -> Iterator[Candidates]:
        while True:
            allowed = search.new_arcs(self.k)
            if self.treewidth:
                adjacent = search.adjacent()
                for child, parents in enumerate(search.parents):
                    allowed[:, child] &= adjacent[:, list(parents)].all(axis=1)
            yield Candidates(search.additions(np.argwhere(allowed)))
