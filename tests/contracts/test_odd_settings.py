"""Every argument of every part, with values of other types: clear errors or results.

Errors that are not the library's (comparisons of arrays, integers beyond 64 bits) were
found by ``python -m lab fuzz settings``, which tries far more values.
"""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from tanager import BayesNetClassifier, BoostedClassifier
from tanager.encoding import NumericEncoder, TableEncoder
from tanager.errors import TanagerError
from tanager.losses import Loss
from tanager.parameters import LossMinimizer, ParameterLearner
from tanager.registry.components import part_classes
from tanager.scores import DiscriminativeScore, Score
from tanager.structure import GreedyKTree, HillClimbing, StructureLearner

pytestmark = [pytest.mark.contract, pytest.mark.slow]

ODD = (
    np.arange(3), np.array([]), np.array("cv"), np.int64(3), np.float64(0.5), 10**30,
    2**63, -1, np.nan, (), {}, {"a": 1}, object, "x", b"x", None, True, [("a", "b")],
)  # fmt: skip

FAST = {
    "epochs": 2, "max_iter": 3, "passes": 2, "restarts": 1, "stages": 1, "tol": 1e-2,
}  # fmt: skip
"""Arguments that bound the time, where a class has them."""

LONG_RUNS = {("GumbelTree", "loss"), ("CustomScore", "function")}
"""Arguments left out: None means a long run, and errors of a user's function stay."""

CLASSIFIERS = {
    "BayesNetClassifier": BayesNetClassifier,
    "BoostedClassifier": BoostedClassifier,
}


def make_data():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 40)
    return {"a": y + random.normal(size=40), "b": np.where(y, "u", "v"), "c": y % 3}, y


def make_classifier(part):
    """A classifier that uses a part."""
    if isinstance(part, (TableEncoder, NumericEncoder)):
        return BayesNetClassifier(encoder=part, parameters="fe", random_state=0)
    if isinstance(part, StructureLearner):
        return BayesNetClassifier(structure=part, random_state=0)
    if isinstance(part, ParameterLearner):
        return BayesNetClassifier(structure="tan", parameters=part, random_state=0)
    if isinstance(part, Loss):
        learner = LossMinimizer(loss=part, epochs=2)
        return BayesNetClassifier("mdl", "nb", learner, random_state=0)
    if isinstance(part, DiscriminativeScore):
        return BayesNetClassifier(structure=GreedyKTree(score=part), parameters="fe")
    if isinstance(part, Score):
        return BayesNetClassifier(structure=HillClimbing(score=part), parameters="fe")
    return part


def make_part(kind, **arguments):
    known = inspect.signature(kind).parameters
    usual = {name: value for name, value in FAST.items() if name in known}
    if kind is BoostedClassifier:
        usual = {"estimator": BayesNetClassifier("mdl", "nb", "fe"), "n_estimators": 2}
    required = {
        name: None
        for name, parameter in known.items()
        if parameter.default is parameter.empty
    }
    return kind(**{**required, **usual, **arguments})


@pytest.mark.parametrize("name", [*part_classes(), *CLASSIFIERS])
def test_odd_arguments(name):
    kind = {**part_classes(), **CLASSIFIERS}[name]
    X, y = make_data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for argument in inspect.signature(kind).parameters:
            if argument in ("checkpoint", "verbose") or (name, argument) in LONG_RUNS:
                continue
            for value in ODD:
                if argument in FAST and isinstance(value, int) and value > 1000:
                    continue  # a wish for a long run
                model = make_classifier(make_part(kind, **{argument: value}))
                repr(model)
                try:
                    found = clone(model).fit(X, y).predict_proba(X)
                except TanagerError:
                    continue
                except Exception as error:
                    error.add_note(f"{name}({argument}={value!r})")
                    raise
                assert np.allclose(found.sum(axis=1), 1.0), (argument, value)
