from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tanager import APN, BayesNetClassifier, Frequency, InputError
from tests.strategies import random_dag, random_data, random_structure
from tests.tolerance import assert_close


@pytest.mark.parametrize("solver", ["cg", "lbfgs", "cg-theta"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("drawn", [random_structure, random_dag])
def test_the_objective_rises_at_every_step(solver, alpha, drawn):
    random = np.random.default_rng(0)
    data = random_data(random, 200, 4, 0.3, unlabelled=0.3)
    structure = drawn(random, data.schema)
    learner = APN(solver=solver, alpha=alpha, max_iter=10, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_iter=10"):
        learner.learn(structure, data)
    assert [step["iteration"] for step in learner.trace_] == list(range(11))
    assert learner.n_iter_ == 10
    assert (np.diff([step["objective"] for step in learner.trace_]) >= 0).all()


@pytest.mark.parametrize("solver", ["cg", "lbfgs", "cg-theta"])
def test_complete_rows_end_where_they_start(solver):
    random = np.random.default_rng(1)
    data = random_data(random, 100, 4, weighted=True)
    structure = random_structure(random, data.schema)
    learner = APN(solver=solver)
    found = learner.learn(structure, data)
    assert learner.n_iter_ == 0
    assert_close(found.log_theta, Frequency().learn(structure, data).log_theta)


def test_an_unknown_solver_is_refused():
    model = BayesNetClassifier(structure="nb", parameters=APN(solver="newton"))
    with pytest.raises(InputError, match="newton"):
        model.fit([["a"], ["b"]], [0, 1])


def test_probabilities_and_softmax_parameters_have_the_same_optimum():
    random = np.random.default_rng(2)
    data = random_data(random, 200, 3, 0.3, max_states=3)
    structure = random_structure(random, data.schema)
    ends = []
    for solver in ("cg", "cg-theta"):
        learner = APN(solver=solver, tol=1e-6, max_iter=2000)
        found = learner.learn(structure, data)
        ends.append(learner.trace_[-1]["objective"])
        assert_close(np.exp(found.log_table(3)).sum(), 1.0)
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)
