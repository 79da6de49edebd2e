"""The default model against LightGBM: fit, batches and single samples, one thread."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from lab.benchmarks._default_data import CASES, Case
from lab.benchmarks._harness import Options, Row, Skip, cost, limit
from lab.measurements.named_models import light_gbm
from tanager import BayesNetClassifier, CapabilityError

REQUIRED_PREDICTION = 0.2
"""Largest time to predict, relative to LightGBM."""

SLOW = 10.0
"""Processor seconds from which on one measurement is enough."""

SHORT = 0.1
"""Processor seconds that several calls of a short action take together."""

N_BATCH = 20_000
"""Samples of a prediction."""


def run(options: Options) -> list[Row]:
    """Processor seconds, which other processes of the machine change least."""
    try:
        light_gbm()
    except CapabilityError as error:
        raise Skip(str(error)) from error
    rows, totals = [], np.zeros(2)
    # Compiled kernels are read once, before anything is measured.
    for quick in (CASES[0], CASES[4]):
        BayesNetClassifier().fit(*quick.make(20_000))
    with threadpool_limits(1):
        for case in CASES:
            found, times = _measure(case, options)
            rows += found
            print("\n".join(map(str, found)), file=sys.stderr, flush=True)
            if case.public:
                totals += times
    total = "fit, all public datasets above"
    return [*rows, cost(total, *totals, name="LightGBM", at_most=1.0)]


def _measure(case: Case, options: Options) -> tuple[list[Row], tuple[float, float]]:
    """Rows of one dataset, and the two times to fit."""
    X, y = case.make(options.pick(case.n_samples, case.n_quick))
    title = f"{case.name}, {len(y):,} x {X.shape[1]}"
    models = {"ours": BayesNetClassifier(), "LightGBM": light_gbm()}
    fits = _seconds({k: _call(m.fit, X, y) for k, m in models.items()})
    times = fits["ours"], fits["LightGBM"]
    rows = [cost(f"fit {title}", *times, name="LightGBM", at_most=case.most_ratio)]
    if case.most_seconds is not None:
        rows.append(limit(f"fit {title}", fits["ours"], case.most_seconds))
    batch, one = X[:N_BATCH], X[:1]
    for what, data in (
        (f"predict {len(batch):,} samples of", batch),
        ("predict one sample of", one),
    ):
        found = _seconds({k: _call(m.predict_proba, data) for k, m in models.items()})
        rows.append(
            cost(
                f"{what} {title}",
                found["ours"],
                found["LightGBM"],
                name="LightGBM",
                at_most=REQUIRED_PREDICTION,
            )
        )
    return rows, times


def _call(function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    return lambda: function(*arguments)


def _seconds(actions: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Least processor seconds of every action, three times in turn unless slow."""
    times = {name: _timed(action, 1) for name, action in actions.items()}
    for _ in range(2):
        for name, action in actions.items():
            if times[name] < SLOW:
                calls = int(np.clip(SHORT / max(times[name], 1e-6), 1, 1_000))
                times[name] = min(times[name], _timed(action, calls))
    return times


def _timed(action: Callable[[], Any], calls: int) -> float:
    """Processor seconds of one of several calls."""
    gc.collect()
    started = process_time()
    for _ in range(calls):
        action()
    return (process_time() - started) / calls
