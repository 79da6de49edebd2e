"""Metrics of a report against scikit-learn and plain loops."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss

from tanager.model.schema import Schema, Variable
from tanager.report.assessment import (
    MAX_GROUPS,
    assess,
    estimate_fraction,
    group_states,
)


@pytest.fixture(params=[2, 3])
def predictions(request):
    n_classes, n = request.param, 300
    random = np.random.default_rng(1)
    proba = random.dirichlet(np.ones(n_classes), n)
    labels = np.array([random.choice(n_classes, p=p) for p in proba])
    schema = Schema(
        (
            Variable.binned("x", list(map(float, range(20)))),
            Variable("z", ("a", "b", "missing"), missing_state=True),
            Variable("class", tuple(range(n_classes))),
        ),
        2,
    )
    codes = np.column_stack([random.integers(0, 22, n), random.integers(0, 4, n)])
    return proba, labels, codes, schema


def test_scores_equal_those_of_scikit_learn(predictions):
    proba, labels, codes, schema = predictions
    found = assess(proba, labels, codes, schema)
    n_classes = proba.shape[1]
    assert found.accuracy.value == accuracy_score(labels, proba.argmax(axis=1))
    assert found.log_loss.value == pytest.approx(log_loss(labels, proba))
    brier = ((proba - np.eye(n_classes)[labels]) ** 2).sum(axis=1).mean()
    assert found.brier.value == pytest.approx(brier)
    matrix = np.zeros((n_classes, n_classes), dtype=int)
    for right, predicted, n in found.confusion:
        matrix[right, predicted] = n
    np.testing.assert_array_equal(
        matrix, confusion_matrix(labels, proba.argmax(axis=1))
    )
    for estimate in (found.accuracy, found.log_loss, found.brier):
        assert estimate.low < estimate.value < estimate.high


def test_every_sample_is_in_one_slice_of_a_feature(predictions):
    proba, labels, codes, schema = predictions
    found = assess(proba, labels, codes, schema)
    n_wrong = (proba.argmax(axis=1) != labels).sum()
    for feature in (0, 1):
        own = [s for s in found.slices if s.feature == feature]
        assert sum(s.n_samples for s in own) == len(labels)
        assert sum(round(s.n_samples * s.error.value) for s in own) == n_wrong
        assert len({s.states for s in own}) == len(own)


def test_calibration_bins_hold_all_samples(predictions):
    proba, labels, codes, schema = predictions
    bins = assess(proba, labels, codes, schema).calibration
    assert sum(b.n_samples for b in bins) == len(labels)
    predicted = [b.predicted for b in bins]
    assert predicted == sorted(predicted)


def test_a_single_sample():
    schema = Schema((Variable("a", (0, 1)), Variable("class", (0, 1))), 1)
    found = assess(np.array([[1.0, 0.0]]), np.array([1]), np.array([[0]]), schema)
    assert found.accuracy.value == 0
    assert np.isfinite(found.log_loss.value)
    assert found.log_loss.low == found.log_loss.high


def test_wilson_interval_by_its_definition():
    for count, total in ((0, 5), (3, 10), (50, 50)):
        found = estimate_fraction(count, total)
        z = 1.959963984540054
        for end in {found.low, found.high} - {0.0, 1.0}:
            # The ends solve |p - end| = z sqrt(end (1 - end) / n).
            width = z * np.sqrt(end * (1 - end) / total)
            assert abs(found.value - end) == pytest.approx(width)


@pytest.mark.parametrize("ordered", [False, True])
def test_groups_of_many_states(ordered):
    variable = Variable("a", tuple(f"s{i}" for i in range(50)), ordered=ordered)
    totals = np.append(np.random.default_rng(0).integers(0, 40, 50), 3)
    groups, labels = group_states(variable, totals)
    assert len(labels) <= MAX_GROUPS + 1
    assert labels[-1] == "not observed"
    assert groups[-1] == len(labels) - 1
    assert sorted(set(groups.tolist())) == list(range(len(labels)))
    if ordered:
        assert (np.diff(groups) >= 0).all()
