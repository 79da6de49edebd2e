"""Every learner of the registry reports its steps, or only counts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tanager
from tanager import BayesNetClassifier
from tanager.registry import parse
from tanager.utils import progress
from tanager.utils.progress import watch

ONE_PASS = {
    "NaiveBayes": "no structure is learned",
    "ChowLiu": "one pass of counts",
    "KDB": "one pass of counts",
    "RandomTree": "no samples are read",
    "Frequency": "one pass of counts",
    "KeepTables": "the structure learner reports",
}
"""Learners without steps, with the reason."""


def one_name_per_learner():
    """A method name for every class of structure and parameter learners."""
    found = {}
    for name in tanager.names():
        recipe = parse(name)
        if recipe.boosted:
            continue
        for part in (recipe.structure, recipe.parameters):
            found.setdefault(type(part).__name__, name)
    return sorted(found.items())


class Recorder:
    """Stands for the line of progress."""

    stage = ""

    def __init__(self):
        self.reports = []

    def show(self, report):
        self.reports.append(report)

    def close(self):
        pass


def samples():
    random = np.random.default_rng(5)
    X = random.integers(0, 3, (120, 5)).astype(float)
    y = (X[:, 0] + X[:, 1] + random.integers(0, 2, 120) > 2).astype(int)
    X[random.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.mark.contract
@pytest.mark.parametrize(("learner", "name"), one_name_per_learner())
def test_every_learner_reports(learner, name):
    model = BayesNetClassifier.from_name(name, random_state=0)
    with watch("test") as mine, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mine.line = Recorder()
        model.fit(*samples())
    steps = [r for r in mine.line.reports if r.who.startswith(learner)]
    if learner in ONE_PASS:
        assert not steps
    else:
        assert steps
        assert all(step.text("1 s") for step in steps)
        assert all(step.total is None or step.step <= step.total for step in steps)


@pytest.mark.contract
@pytest.mark.parametrize(("learner", "name"), one_name_per_learner())
def test_every_learner_ends_when_the_time_is_up(learner, name, monkeypatch):
    """The clock jumps after the encoding: there is a model all the same."""
    stages = []
    set_stage = progress.set_stage

    def note(stage):
        stages.append(stage)
        set_stage(stage)

    monkeypatch.setattr("tanager.classifiers.training.set_stage", note)
    now = lambda: 1e6 * (stages[-1:] in (["structure"], ["parameters"]))  # noqa: E731
    monkeypatch.setattr(progress, "perf_counter", now)
    model = BayesNetClassifier.from_name(name, random_state=0, max_seconds=1000.0)
    X, y = samples()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    texts = [str(warning.message) for warning in caught]
    if learner not in ONE_PASS:
        assert any("max_seconds=1000: " in text and learner in text for text in texts)
