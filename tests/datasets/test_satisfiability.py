from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tanager import ELR, BayesNetClassifier, Fixed, InputError, Network
from tanager.datasets.generators import satisfiability
from tanager.model import Parameters

SATISFIABLE = [(1, -2, 3), (-1, -3, 4), (2, -4)]
UNSATISFIABLE = [(1, 2), (1, -2), (-1, 2), (-1, -2)]

RARE = 1e-9


def assignments(clauses):
    """All assignments that satisfy a formula, by enumeration."""
    n_variables = max(abs(literal) for clause in clauses for literal in clause)
    return [
        values
        for values in product((0, 1), repeat=n_variables)
        if all(any(values[abs(v) - 1] == (v > 0) for v in clause) for clause in clauses)
    ]


def fit(clauses, **options):
    data, edges = satisfiability(clauses)
    model = BayesNetClassifier(
        structure=Fixed(edges, class_rooted=False),
        parameters=ELR(folds=None, **options),
        random_state=0,
    )
    return data, model.fit(data.X, data.y)


def proof_network(network, clauses, values):
    """The CPTs of the proof: disjunctions, conjunctions and an assignment.

    Other values than those assigned have the probability `RARE`, so that every sample
    is possible.
    """
    layout = network.parameters.layout
    log_theta = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        axes, owner = layout.axes[t], layout.owners[t]
        name = network.schema.names[owner]
        table = layout.table(log_theta, t)
        for cell in np.ndindex(table.shape):
            states = dict(
                zip((network.schema.names[v] for v in axes), cell, strict=True)
            )
            given = {parent: s for parent, s in states.items() if parent != name}
            if name.startswith("X"):
                true = values[int(name[1:]) - 1]
            elif name.startswith("C"):
                clause = clauses[int(name[1:]) - 1]
                true = any(given[f"X{abs(v)}"] == (v > 0) for v in clause)
            else:
                true = all(given.values())
            least = RARE if name.startswith("X") else 0.0
            with np.errstate(divide="ignore"):
                table[cell] = np.log(1.0 - least if states[name] == true else least)
    return Network(network.schema, network.structure, Parameters(layout, log_theta))


def log_conditional(network, data):
    """Sum of log P(class | observed features)."""
    total = 0.0
    for row, label in zip(data.X.to_dict("records"), data.y, strict=True):
        seen = {name: value for name, value in row.items() if isinstance(value, str)}
        total += np.log(max(network.posterior(seen)[label], 1e-300))
    return total


@pytest.mark.parametrize("clauses", [SATISFIABLE, UNSATISFIABLE])
def test_only_a_satisfying_assignment_gives_every_sample_probability_one(clauses):
    data, model = fit(clauses, max_iter=100)
    good = assignments(clauses)
    assert bool(good) == (clauses is SATISFIABLE)
    n_variables = max(abs(literal) for clause in clauses for literal in clause)
    for values in product((0, 1), repeat=n_variables):
        network = proof_network(model.network_, clauses, values)
        total = log_conditional(network, data)
        if values in good:
            assert total == pytest.approx(0.0, abs=1e-6)
        else:
            assert total < -10.0
    assert log_conditional(model.network_, data) < 0.0


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ([(1, 2, 3)], "at least two"),
        ([(1, 2), ()], "one to three"),
        ([(1, 2), (1, 2, 3, 4)], "one to three"),
        ([(1, 0), (2,)], "one to three"),
        ([(1, -1), (2,)], "twice"),
        (["12", (2,)], "one to three"),
    ],
)
def test_impossible_formulas_are_refused(clauses, message):
    with pytest.raises(InputError, match=message):
        satisfiability(clauses)
