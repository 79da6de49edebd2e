"""One row at a time, once everything is warm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lab.benchmarks._data import image_set, synthetic
from lab.benchmarks._harness import Options, Row, Skip, limit, per_call
from tanager import BayesNetClassifier

REQUIRED_PROBA = 1e-3
REQUIRED_POSTERIOR = 200e-6


def run(options: Options) -> list[Row]:
    """`predict_proba` of one numpy row and `Network.posterior` of a dictionary."""
    rows = []
    try:
        X, y, _, _ = image_set("letter")
        rows += _measure(f"TAN on letter, {X.shape[1]} features", X, y, options)
    except Skip as reason:
        rows.append(Row("TAN on letter", f"skipped: {reason}"))
    X, y = synthetic(20_000)
    return rows + _measure(f"TAN of {X.shape[1]} features", X, y, options)


def _measure(title: str, X: np.ndarray, y: np.ndarray, options: Options) -> list[Row]:
    model = BayesNetClassifier(
        encoder="categorical", structure="tan", parameters="fe"
    ).fit(X, y)
    network = model.network_
    row = X[:1].astype(np.float64)
    holed = row.copy()
    holed[0, 2] = np.nan
    names = network.schema.names[:-1]
    evidence = dict(zip(names, X[0].tolist(), strict=True))
    partial = {name: evidence[name] for name in names[::2]}
    calls: dict[str, tuple[Callable[[], object], float]] = {
        "predict_proba, complete row": (
            lambda: model.predict_proba(row),
            REQUIRED_PROBA,
        ),
        "predict_proba, a cell missing": (
            lambda: model.predict_proba(holed),
            REQUIRED_PROBA,
        ),
        "posterior, everything known": (
            lambda: network.posterior(evidence),
            REQUIRED_POSTERIOR,
        ),
        "posterior, half of it known": (
            lambda: network.posterior(partial),
            REQUIRED_POSTERIOR,
        ),
    }
    return [
        limit(
            f"{title}: {what}",
            per_call(call, calls=options.pick(1000, 200), repeats=5),
            required,
        )
        for what, (call, required) in calls.items()
    ]
