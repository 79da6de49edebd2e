"""Data, a clock and copies of learners for the tests of structure search."""

from __future__ import annotations

import numpy as np

from tanager import Schema, Variable
from tanager.data import ArrayData
from tests.strategies import random_data

EDGE_CASES = {
    "one feature": {"n_features": 1},
    "one class": {"n_classes": 1},
    "one row": {"n_rows": 1},
    "one state": {"max_states": 1},
    "nothing seen": {"missing": 1.0},
    "few labels": {"unlabelled": 0.9},
}


def edge_case_data(name):
    """Data of 30 samples and 4 features, except for what the edge case changes."""
    random = np.random.default_rng(12)
    return random_data(random, **{"n_rows": 30, "n_features": 4, **EDGE_CASES[name]})


def three_state_data(codes, labels):
    """Codes and labels of three states each as data."""
    features = [Variable(f"f{j}", ("a", "b", "c")) for j in range(codes.shape[1])]
    schema = Schema((*features, Variable("class", (0, 1, 2))), target=len(features))
    return ArrayData(schema, np.asfortranarray(codes), labels.astype(np.uint8))


def with_arguments(learner, **arguments):
    """A copy of the learner with other arguments."""
    return type(learner)(**{**learner.get_params(deep=False), **arguments})


class Clock:
    """A clock that advances by one second at every call."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now
