"""`satisfiability`: samples and arcs whose conditional likelihood encodes a formula."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tanager.datasets._dataset import TARGET, Dataset
from tanager.datasets._generator_checks import nominal_dataset
from tanager.errors import InputError
from tanager.utils.validation import is_whole

MAX_LITERALS = 3
"""Largest number of literals of a clause."""


def satisfiability(
    clauses: Iterable[Sequence[int]],
) -> tuple[Dataset, tuple[tuple[str, str], ...]]:
    """Make the learning problem that is as hard as the satisfiability of a formula.

    There are CPTs with which every sample has conditional probability one if, and only
    if, the formula is satisfiable. Use it to see how far a learner of CPTs comes where
    the problem is not convex: small formulas have many local optima.

    Parameters
    ----------
    clauses : iterable of sequences of int
        Clauses of the conjunctive normal form, at least two, each of up to three
        different variables: i for variable i, -i for its negation, from 1.

    Returns
    -------
    dataset : Dataset
        One sample for every clause, of class 0, with the values of its variables that
        falsify it, and one of class 1 without any value. Features are the variables
        ``X1``, ..., the clauses ``C1``, ... and the conjunctions ``D2``, ...; the last
        two are never observed. All states are 0 and 1.
    edges : tuple of (parent, child) names
        The arcs, for ``Fixed(edges, class_rooted=False)``: variables lead to their
        clauses; D_j has the parents D_{j-1} (C1 for j = 2) and C_j, and the class is
        the last conjunction.

    References
    ----------
    R. Greiner, X. Su, B. Shen, W. Zhou (2005), "Structural extension to logistic
    regression", Machine Learning 59, Theorem 2, Figure 13 and Table VII.

    Examples
    --------
    The paper's two clauses, (x1 or not x2 or x3) and (not x1 or not x3 or x4):

    >>> data, edges = satisfiability([(1, -2, 3), (-1, -3, 4)])
    >>> data.feature_names
    ('X1', 'X2', 'X3', 'X4', 'C1', 'C2')
    >>> edges[-2:]
    (('C1', 'class'), ('C2', 'class'))
    >>> from tanager import ELR, BayesNetClassifier, Fixed
    >>> structure = Fixed(edges, class_rooted=False)
    >>> model = BayesNetClassifier(
    ...     structure=structure, parameters=ELR(folds=None), random_state=0
    ... )
    >>> trace = model.fit(data.X, data.y).trace_["parameters"]
    >>> trace[-1]["objective"] < 0.01  # mean of -log P(class | observed features)
    True
    """
    formula = [_check_clause(clause) for clause in clauses]
    if len(formula) < 2:
        raise InputError(f"clauses must have at least two clauses, got {len(formula)}.")
    n_clauses = len(formula)
    n_variables = max(abs(literal) for clause in formula for literal in clause)
    values = np.full((n_clauses + 1, n_variables), -1)
    edges: list[tuple[str, str]] = []
    for row, clause in enumerate(formula):
        for literal in clause:
            values[row, abs(literal) - 1] = int(literal < 0)
            edges.append((f"X{abs(literal)}", f"C{row + 1}"))
    last = "C1"
    for j in range(2, n_clauses + 1):
        child = TARGET if j == n_clauses else f"D{j}"
        edges += [(last, child), (f"C{j}", child)]
        last = child
    hidden = [*(f"C{j + 1}" for j in range(n_clauses))]
    hidden += [f"D{j}" for j in range(2, n_clauses)]
    absent = np.full(n_clauses + 1, -1)
    features = {f"X{i + 1}": values[:, i] for i in range(n_variables)}
    dataset = nominal_dataset(
        "satisfiability",
        features | dict.fromkeys(hidden, absent),
        (np.arange(n_clauses + 1) == n_clauses).astype(np.int64),
        f"{n_clauses} clauses of {n_variables} variables, each falsified by one row.",
    )
    return dataset, tuple(edges)


def _check_clause(clause: Sequence[int]) -> list[int]:
    """Return the literals of a clause; refuse others than up to three, all apart."""
    literals = [] if isinstance(clause, str) else list(clause)
    whole = all(is_whole(literal) and literal != 0 for literal in literals)
    if not (whole and 1 <= len(literals) <= MAX_LITERALS):
        raise InputError(
            "A clause must have one to three whole numbers other than 0, such as "
            f"(1, -2, 3); got {clause!r}."
        )
    if len({abs(literal) for literal in literals}) < len(literals):
        raise InputError(f"The clause {clause!r} has the same variable twice.")
    return [int(literal) for literal in literals]
