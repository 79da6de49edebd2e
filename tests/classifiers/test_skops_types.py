"""Files of skops hold only types that are listed."""

from importlib import import_module

import numpy as np
import pytest

from tanager import BayesNetClassifier, NaiveBayesClassifier, TANClassifier, datasets
from tanager.classifiers.skops_types import SKOPS_TYPES

MODELS = {
    "default": BayesNetClassifier(),
    "naive Bayes": NaiveBayesClassifier(),
    "smooth naive Bayes": BayesNetClassifier(structure="nb"),
    "TAN": TANClassifier(),
    "residual tree": BayesNetClassifier(structure="tan-res"),
    "KDB": BayesNetClassifier(structure="kdb2", parameters="fe"),
    "equal width": BayesNetClassifier(encoder="width", structure="nb"),
}


@pytest.mark.parametrize("name", MODELS)
def test_types_of_files(name):
    skops_io = pytest.importorskip("skops.io", reason="skops is not installed")
    iris = datasets.load("iris")
    model = MODELS[name].fit(iris.X, iris.y)
    content = skops_io.dumps(model)
    assert set(skops_io.get_untrusted_types(data=content)) <= set(SKOPS_TYPES)
    again = skops_io.loads(content, trusted=list(SKOPS_TYPES))
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))


def test_types_exist():
    for name in SKOPS_TYPES:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)
