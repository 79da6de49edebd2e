"""What learners make of samples that are repeated."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from lab.measurements.cross_validation import classifier, splits
from lab.runner.cell import Numbers
from tanager import DFE, BayesNetClassifier, Frequency

COPIES = 3
"""Features of the five samples, each the same as the first."""

FIVE_ROWS = (("1", "-"), ("1", "-"), ("0", "+"), ("0", "-"), ("0", "-"))
"""State of all features and class, in the order in which they are learned."""


def duplicate_features(*, learner: str, alpha: float, n_steps: int) -> Numbers:
    """P(+ | 0, 0, 0) of naive Bayes after every step, five samples over and over.

    Parameters
    ----------
    learner : {"FE", "DFE"}
        Frequencies or discriminative frequencies.
    alpha : float
        Pseudo-count of every cell.
    n_steps : int
        Number of samples that are learned.

    References
    ----------
    Su, Zhang, Ling, Matwin (2008), section 5, Figures 1 and 2.

    Examples
    --------
    >>> found = duplicate_features(learner="FE", alpha=0.0, n_steps=10)["probability"]
    >>> [round(p, 2) for p in found[4::5]]
    [0.67, 0.67]
    """
    parameters = Frequency(alpha=alpha) if learner == "FE" else DFE(passes=1)
    model = BayesNetClassifier(
        encoder="categorical",
        structure="nb",
        parameters=parameters.set_params(alpha=alpha),
    )
    known = []
    with warnings.catch_warnings():
        # Without pseudo-counts the first samples leave states that no class has.
        warnings.filterwarnings("ignore", message=".* probability zero")
        for step in range(n_steps):
            state, label = FIVE_ROWS[step % len(FIVE_ROWS)]
            model.partial_fit(_row(state), [label], classes=["+", "-"])
            known.append(float(model.predict_proba(_row("0"))[0, 0]))
    return {"probability": known}


def _row(state: str) -> pd.DataFrame:
    """A row with the same state everywhere; both states are declared."""
    column = pd.Categorical([state], categories=["0", "1"])
    return pd.DataFrame({f"A{k + 1}": column for k in range(COPIES)})


def pass_accuracy(
    *,
    data: str,
    method: str,
    passes: int,
    n_folds: int,
    repeat: int = 1,
    paper: str | None = None,
    n_classes: int | None = None,
    fill: bool = False,
) -> Numbers:
    """Accuracy on training and test samples of every fold after some passes of DFE.

    Parameters
    ----------
    passes : int
        How often DFE goes through the training samples, which are in random order.
    data, method, n_folds, repeat, paper, n_classes, fill
        As in `cross_validation_scores`.
    """
    parts = splits(data, n_folds, repeat, n_classes=n_classes, fill=fill, shuffled=True)
    numbers: dict[str, list[float]] = {"training": [], "test": []}
    for part in parts:
        model = classifier(method, paper, parameters__passes=passes)
        model.fit(part.X, part.y)
        for name, X, y in (
            ("training", part.X, part.y),
            ("test", part.X_test, part.y_test),
        ):
            numbers[name].append(float(np.mean(model.predict(X) == y)))
    return numbers
