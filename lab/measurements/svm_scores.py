"""Support vector machines compared with networks."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from lab.measurements.coded_datasets import (
    DIGITS,
    SEED,
    part_of,
    small_digits,
)
from lab.measurements.known_distributions import three_binary_part
from lab.runner.cell import Numbers


def svm_accuracy(
    *, data: str, C: float, gamma: float, fold: int | None = None, coded: bool = True
) -> Numbers:
    """Accuracy and size of a support vector machine with a radial kernel.

    Parameters
    ----------
    data, fold
        See `structure_accuracy`.
    C, gamma : float
        See `sklearn.svm.SVC`.
    coded : bool, default=True
        Whether features are the codes that networks see; else grey values between 0
        and 1, which there are of MNIST.
    """
    train, test = part_of(data, fold)
    rows = [train.codes.astype(np.float64), test.codes.astype(np.float64)]
    if not coded:
        assert data == DIGITS
        pixels, _, border = small_digits()
        rows = [pixels[:border] / 255.0, pixels[border:] / 255.0]
    machine = SVC(C=C, gamma=gamma, random_state=SEED).fit(rows[0], train.labels)
    n_vectors = int(machine.n_support_.sum())
    return {
        "rows": test.n_samples,
        "right": float(np.sum(machine.predict(rows[1]) == test.labels)),
        "features": rows[0].shape[1],
        "vectors": n_vectors,
        "parameters": n_vectors * rows[0].shape[1],
    }


def svm_three_features(
    *, n_samples: int, repetitions: int, C: float, gamma: float
) -> Numbers:
    """Accuracy of a support vector machine where one arc separates the classes.

    Parameters
    ----------
    n_samples, repetitions
        See `three_features`.
    C, gamma : float
        See `sklearn.svm.SVC`.
    """
    rates = []
    for repetition in range(repetitions):
        train, test = three_binary_part(n_samples, repetition)
        machine = SVC(C=C, gamma=gamma).fit(train.codes, train.labels)
        rates.append(float(np.mean(machine.predict(test.codes) == test.labels)))
    return {"accuracy_SVM": rates}
