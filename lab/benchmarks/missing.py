"""Prediction with a fifth of all cells missing against complete samples, on a TAN."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._data import N_STATES, synthetic, with_missing
from lab.benchmarks._harness import Options, Row, best_of, cost, shape_text
from tanager import BayesNetClassifier

REQUIRED = 3.0
SHARE = 0.2


def run(options: Options) -> list[Row]:
    """Score codes, and predict from a matrix in which NaN is missing."""
    codes, labels = synthetic(options.pick(1_000_000, 50_000))
    model = BayesNetClassifier(
        encoder="categorical", structure="tan", parameters="fe", n_jobs=2
    )
    model.fit(codes, labels)
    engine = model.network_.engine
    holes = with_missing(codes, SHARE)
    complete_codes, holed_codes = np.asfortranarray(codes), np.asfortranarray(holes)
    complete = codes.astype(np.float32)
    holed = holes.astype(np.float32)
    holed[holes == N_STATES] = np.nan
    times = best_of(
        {
            "complete codes": lambda: engine.log_joint(complete_codes, n_jobs=2),
            "holed codes": lambda: engine.log_joint(holed_codes, n_jobs=2),
            "complete": lambda: model.predict(complete),
            "holed": lambda: model.predict(holed),
        },
        options.pick(5, 2),
    )
    of = f"{shape_text(codes)}, {SHARE:.0%} missing"
    name = "complete samples"
    return [
        cost(
            f"log joint of codes, {of}",
            times["holed codes"],
            times["complete codes"],
            name=name,
            at_most=REQUIRED,
        ),
        cost(
            f"predict, float32 with NaN, {of}",
            times["holed"],
            times["complete"],
            name=name,
            at_most=REQUIRED,
        ),
    ]
