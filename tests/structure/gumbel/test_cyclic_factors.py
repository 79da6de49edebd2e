"""Pseudo-TAN: CPTs whose arcs form cycles, as factors of a log-linear network."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

import tanager
from tanager import (
    BayesNetClassifier,
    CapabilityError,
    Constraints,
    GumbelTree,
    InputError,
    LogLinearNetwork,
    Schema,
    Variable,
)
from tanager.parameters.training_samples import LabelledSamples
from tanager.structure.gumbel.candidate_cpts import CandidateCPTs
from tanager.structure.gumbel.cyclic_factors import make_factors
from tanager.structure.gumbel.parent_candidates import ParentCandidates
from tests.reference.gumbel import SlowDescent
from tests.tolerance import assert_close

STATES = (2, 3, 4, 2)
SETS = tuple(((), *((i,) for i in range(4) if i != j)) for j in range(4))


def some_tables(n_classes=3, missing=0.3, weighted=False):
    """CPTs of all pairs, samples, and the same CPTs by their formulas."""
    random = np.random.default_rng(5)
    names = [Variable(f"f{j}", tuple(range(n))) for j, n in enumerate(STATES)]
    target = Variable("class", tuple(range(n_classes)))
    schema = Schema((*names, target), target=4)
    codes = random.integers(0, STATES, (40, 4))
    codes = np.where(random.random(codes.shape) < missing, STATES, codes)
    labels = random.integers(0, n_classes, 40)
    weights = random.random(40) if weighted else None
    rows = LabelledSamples(codes.astype(np.uint8), labels, weights)
    slow = SlowDescent(
        (*STATES, n_classes), SETS, rows.codes, labels, weights, "conditional",
        batch_size=10,
    )  # fmt: skip
    slow.beta[:] = random.normal(size=len(slow.beta))
    tables = CandidateCPTs(schema, ParentCandidates(None, SETS))
    tables.start_from(slow.beta)
    return schema, rows, tables, slow


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "parents",
    [(1, 0, 3, 2), (1, 2, 0, -1), (-1, -1, -1, -1), (2, 2, 3, 0)],
    ids=str,
)
def test_the_log_joint_is_equation_9(parents, n_classes, weighted):
    schema, rows, tables, slow = some_tables(n_classes, weighted=weighted)
    chosen = [
        slow.tables.index((j, () if p < 0 else (p,))) for j, p in enumerate(parents)
    ]
    learned = np.arange(10, 40)
    factors = make_factors(schema, tables, chosen, rows, learned)
    network = LogLinearNetwork(schema, factors)
    one_of = np.zeros(len(slow.tables) - 1)
    one_of[chosen] = 1.0
    expected = slow.log_joint(slow.log_tables(), one_of, rows.codes)
    found = network.factors.log_joint_block(np.asfortranarray(rows.codes))
    assert_close(log_softmax(found, axis=1), log_softmax(expected, axis=1))
    pairs = {tuple(sorted((j, p))) for j, p in enumerate(parents) if p >= 0}
    assert {t.factor.key for t in factors.tables if len(t.factor.key) == 2} == pairs
    total = 30.0 if rows.weights is None else rows.weights[10:].sum()
    for table in factors.tables:
        assert_close(table.support.sum(), total)


def samples(n_rows=150):
    """The class is whether neighbours in a circle of features are equal."""
    random = np.random.default_rng(0)
    x = random.integers(0, 2, (n_rows, 4))
    X = np.where(x, "a", "b").astype(object)
    return X, (x[:, 0] == x[:, 1]) & (x[:, 2] == x[:, 3])


def fit(X, y, **options):
    learner = GumbelTree(order="cyclic", epochs=40, **options)
    return BayesNetClassifier(structure=learner, random_state=0).fit(X, y)


def test_a_classifier_is_fitted_saved_and_explained(tmp_path):
    X, y = samples()
    model = fit(X, y)
    assert isinstance(model.network_, LogLinearNetwork)
    assert model.score(X, y) > 0.95
    assert len(model.trace_["structure"]) == 40
    path = tmp_path / "model.json"
    model.save(path)
    again = tanager.load(path)
    assert_close(again.predict_proba(X), model.predict_proba(X))
    assert again.structure.order == "cyclic"
    assert len(model.explain(X[:1])) == 1
    X[::5, 1] = None
    assert np.isfinite(fit(X, y).predict_proba(X)).all()


def test_every_feature_may_be_a_parent_of_every_other():
    X, y = samples()
    required = Constraints(required=[("x0", "x1"), ("x2", "x3")])
    found = fit(X, y, constraints=required).network_.interactions
    assert {("x0", "x1"), ("x2", "x3")} <= set(found)
    named = fit(X, y, candidates={"x0": ["x1"], "x1": ["x2"], "x2": ["x0"]})
    pairs = {("x0", "x1"), ("x1", "x2"), ("x0", "x2")}
    assert set(named.network_.interactions) <= pairs


def test_other_parameter_learners_and_more_parents_are_refused():
    X, y = samples(20)
    learner = GumbelTree(order="cyclic", epochs=1)
    with pytest.raises(CapabilityError, match="its own tables"):
        BayesNetClassifier(structure=learner, parameters="fe").fit(X, y)
    with pytest.raises(InputError, match="order='cyclic'"):
        fit(X, y, k=2)
