"""TAN by conditional mutual information against pyAgrum's `BNClassifier`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lab.benchmarks._data import image_set
from lab.benchmarks._harness import (
    Options,
    Row,
    Skip,
    best_of,
    faster,
    shape_text,
)
from tanager import BayesNetClassifier, ChowLiu, Frequency

REQUIRED_FIT = {"letter": 20.0, "usps": 50.0}
REQUIRED_PREDICT = 500.0


def run(options: Options) -> list[Row]:
    """Fit on the training samples; predict the test samples, the peer some of them."""
    rows = []
    for name in ("letter", "usps"):
        rows += _compare(name, options)
    return rows


def _compare(name: str, options: Options) -> list[Row]:
    X, y, X_test, y_test = image_set(name)
    if options.quick:
        X, y = X[:1000, :40], y[:1000]
        X_test = X_test[:, :40]
    few = X_test[: options.pick(300, 40)]
    ours = BayesNetClassifier(
        encoder="categorical",
        structure=ChowLiu(),
        parameters=Frequency(alpha=1.0),
        n_jobs=2,
    )
    theirs = peer()
    fits = best_of(
        {"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)},
        options.pick(3, 1),
    )
    predictions = best_of(
        {"ours": lambda: ours.predict(X_test), "theirs": lambda: theirs.predict(few)},
        options.pick(15, 1),
    )
    per_row = predictions["ours"] / len(X_test), predictions["theirs"] / len(few)
    right = {
        name: float(np.mean(model.predict(few) == y_test[: len(few)]))
        for name, model in (("ours", ours), ("theirs", theirs))
    }
    return [
        faster(
            f"TAN fit, {name}, {shape_text(X)}",
            fits["ours"],
            fits["theirs"],
            name="pyAgrum",
            at_least=REQUIRED_FIT[name],
        ),
        faster(
            f"TAN predict, per sample, {name}",
            *per_row,
            name="pyAgrum",
            at_least=REQUIRED_PREDICT,
        ),
        Row(
            f"accuracy on {len(few)} test samples of {name}",
            f"{right['ours']:.4f}",
            f"{right['theirs']:.4f} (pyAgrum)",
        ),
    ]


def peer() -> Any:
    """PyAgrum's TAN on integer codes, smoothed by one count per cell."""
    try:
        import pyagrum.skbn as skbn
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    except ImportError:
        raise Skip("needs pyAgrum; install the bench extra") from None
    # More classes than ten, and features that are integers, make it warn.
    warnings.filterwarnings("ignore", module=r"pyagrum.*")
    codes = DiscreteTypeProcessor(
        defaultDiscretizationMethod="NoDiscretization",
        defaultNumberOfBins=None,
        discretizationThreshold=1_000,
    )
    return skbn.BNClassifier(
        type_processor=codes, learningMethod="TAN", prior="Smoothing", priorWeight=1
    )
