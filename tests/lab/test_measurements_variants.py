"""Variants of learners that the papers mention: what is measured for them."""

from __future__ import annotations

import numpy as np
import pytest

from lab.measurements import dfe_variants, parameter_learner_variants, published_orders
from lab.measurements.known_distributions import three_features
from lab.runner import Experiment, Results
from lab.runner.cell import Cell
from lab.views.paired_scores import paired_scores


def by_formula(codes, labels, n_states, reading, passes):
    """Entries of DFE without equation 2, in dictionaries."""
    theta = {}
    for _ in range(passes):
        for row, label in zip(codes, labels, strict=True):
            cells = [(j, x) for j, x in enumerate(row) if x < n_states[j]] + ["class"]
            scores = []
            for c in (0, 1):
                entries = [theta.get((cell, c), 0.0) for cell in cells]
                if reading == "product":
                    scores.append(np.prod([1.0 + entry for entry in entries]))
                else:
                    scores.append(np.exp(sum(entries)))
            loss = 1.0 - scores[label] / sum(scores)
            for cell in cells:
                theta[cell, label] = theta.get((cell, label), 0.0) + loss
    return theta


@pytest.mark.parametrize("reading", ["product", "sum"])
def test_dfe_without_frequencies(reading):
    random = np.random.default_rng(0)
    states = [2, 3]
    codes = np.stack([random.integers(0, n + 1, 30) for n in states], axis=1)
    labels = random.integers(0, 2, 30)
    found = dfe_variants.entry_scores(codes, labels, codes, states, reading, passes=2)
    theta = by_formula(codes.tolist(), labels, states, reading, 2)
    for row, scores in zip(codes.tolist(), found, strict=True):
        cells = [(j, x) for j, x in enumerate(row) if x < states[j]] + ["class"]
        for c in (0, 1):
            entries = np.array([theta.get((cell, c), 0.0) for cell in cells])
            expected = np.log1p(entries) if reading == "product" else entries
            assert scores[c] == pytest.approx(expected.sum())


def test_orders_and_subsets_of_the_published_seeds():
    orders = published_orders.published_orders(16)
    assert orders[0] == list(range(16))
    assert len({tuple(order) for order in orders}) == 5
    for order in orders:
        assert sorted(order) == list(range(16))
        for subset in range(1, 6):
            two, eight = (
                published_orders.published_subset(order, subset, k) for k in (2, 8)
            )
            for place, child in enumerate(order):
                assert len(eight[child]) == min(place, 8)
                assert set(eight[child]) <= set(order[:place])
                assert eight[child][:2] == two[child]
    one, two = (published_orders.published_subset(orders[1], n, 8) for n in (1, 2))
    assert one != two


@pytest.mark.parametrize("method", ["NB+ELR_theta", "NB+APN_theta", "NB+MSE"])
def test_variants_of_learners_are_scored(method):
    found = parameter_learner_variants.learner_variant(
        data="sklearn/iris", method=method, fold=1, removed=0.1, n_rows=60
    )
    assert found["accuracy"] > 0.8
    assert found["iterations"] >= 0
    assert found["iteration_milliseconds"] > 0
    assert found["n_samples"] == 60


def test_the_residual_finds_the_arc_that_separates_the_classes():
    found = three_features(
        structure="TAN-EAR", parameters=["ML"], n_samples=1000, repetitions=3
    )
    assert found["found"] == [1.0, 1.0, 1.0]


def test_pairs_of_methods_are_compared_over_datasets():
    cells = [
        (Cell("any", {"data": f"some/{d}", "method": m}), {"accuracy": a})
        for m, values in (("A", (0.8, 0.7, 0.9)), ("B", (0.7, 0.61, 0.79)))
        for d, a in zip("xyz", values, strict=True)
    ]
    options = {"scale": 100.0, "methods": ["A", "B"], "claims": [["A", ">", "B"]]}
    experiment = Experiment("some", "table", "", "paired_scores", (), options=options)
    known = Results(*zip(*cells, strict=True))
    view = paired_scores(experiment, known)
    assert view.holds is True
    assert view.tables[1].rows[-1] == (
        "mean",
        pytest.approx(80.0),
        pytest.approx(70.0),
    )
