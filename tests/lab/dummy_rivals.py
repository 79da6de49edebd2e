"""Rivals that are simple, and rivals that go wrong, for processes that import them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from lab.scoreboard.rivals import Rival

LOG = "TANAGER_TEST_LOG"
"""Environment variable with the file in which fits are noted."""


class Noted(GaussianNB):
    """Notes every fit in the file that the environment names."""

    def fit(self, X, y):
        with Path(os.environ[LOG]).open("a") as file:
            file.write("fit\n")
        return super().fit(X, y)


class Broken(DummyClassifier):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise ValueError(f"cannot fit {len(y)} samples")


class Crashing(DummyClassifier):
    """Ends its process."""

    def fit(self, X, y):
        os.abort()


class Endless(DummyClassifier):
    """Computes for ever."""

    def fit(self, X, y):
        while True:
            pass


class Waiting(DummyClassifier):
    """Waits for very long."""

    def fit(self, X, y):
        file = Path(os.environ[LOG])
        file.write_text(str(os.getpid()))
        time.sleep(600)


class Greedy(DummyClassifier):
    """Needs more memory than there may be."""

    def fit(self, X, y):
        self.filled_ = np.ones(2**30)  # 8 GB
        return super().fit(X, y)


PRIOR = Rival(
    lambda: DummyClassifier(strategy="prior"), "scikit-learn", module="sklearn"
)
NORMAL = Rival(GaussianNB, "scikit-learn", lambda m: m.theta_.size, module="sklearn")
NOTED = Rival(Noted, "scikit-learn", module="sklearn")
BROKEN = Rival(Broken, "scikit-learn", module="sklearn")
CRASHING = Rival(Crashing, "scikit-learn", module="sklearn")
ENDLESS = Rival(Endless, "scikit-learn", module="sklearn")
WAITING = Rival(Waiting, "scikit-learn", module="sklearn")
GREEDY = Rival(Greedy, "scikit-learn", module="sklearn")
ABSENT = Rival(GaussianNB, "a-package-that-nobody-has", module="nobody_has_this")
