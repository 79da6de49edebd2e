"""Structure learners of other libraries, on the same samples."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tanager.data import ArrayData
from tanager.model import Pattern

SIGNIFICANCE = 0.01
"""Of all tests by p-value, here and in the library."""


def miic(data: ArrayData) -> Pattern:
    """PyAgrum's MIIC with its default arguments."""
    import pyagrum

    learner = pyagrum.BNLearner(frame(data))
    learner.useMIIC()
    graph = learner.learnPDAG()
    return pattern(len(data.schema), graph.arcs(), graph.edges())


def greedy_hill_climbing(data: ArrayData) -> Pattern:
    """PyAgrum's hill climbing by BIC, without a prior or a bound on parents."""
    import pyagrum

    learner = pyagrum.BNLearner(frame(data))
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    learner.useNoPrior()
    return Pattern.of_arcs(len(data.schema), learner.learnDAG().arcs())


def pc(data: ArrayData) -> Pattern:
    """PC of pgmpy by G2."""
    from pgmpy.estimators import PC

    with quiet():
        graph = PC(frame(data)).estimate(
            ci_test="g_sq",
            significance_level=SIGNIFICANCE,
            return_type="pdag",
            show_progress=False,
            n_jobs=1,
        )
    names = data.schema.names.index
    return pattern(
        len(data.schema),
        ((names(a), names(b)) for a, b in graph.directed_edges),
        ((names(a), names(b)) for a, b in graph.undirected_edges),
    )


def hill_climb_search(data: ArrayData) -> Pattern:
    """Hill climbing of pgmpy by BIC, without a bound on parents."""
    from pgmpy.estimators import HillClimbSearch

    with quiet():
        graph = HillClimbSearch(frame(data)).estimate(
            scoring_method="bic-d", show_progress=False
        )
    names = data.schema.names.index
    arcs = ((names(a), names(b)) for a, b in graph.edges())
    return Pattern.of_arcs(len(data.schema), arcs)


@contextmanager
def quiet() -> Iterator[None]:
    """Show nothing of what a library logs within."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def frame(data: ArrayData) -> Any:
    """The samples as a table of categories."""
    import pandas as pd

    codes = np.column_stack([data.codes, data.labels]).astype(str)
    names = list(data.schema.names)
    return pd.DataFrame(codes, columns=names).astype("category")


def pattern(
    n_nodes: int,
    arcs: Iterable[tuple[int, int]],
    edges: Iterable[tuple[int, int]],
) -> Pattern:
    """A pattern that a library gives as such."""
    directed = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    undirected = np.zeros((n_nodes, n_nodes), dtype=np.bool_)
    for i, j in arcs:
        directed[i, j] = True
    for i, j in edges:
        undirected[i, j] = undirected[j, i] = True
    return Pattern(directed, undirected)
