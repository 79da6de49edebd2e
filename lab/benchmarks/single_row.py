"""One row at a time, once everything is warm."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from lab.benchmarks._data import image_set, synthetic
from lab.benchmarks._harness import Options, Row, Skip, limit, per_call, seconds
from tanager import BayesNetClassifier, datasets

REQUIRED_PROBA = 1e-3
REQUIRED_POSTERIOR = 200e-6
REQUIRED_RATE = 10_000
"""Predictions of one row per second."""


def run(options: Options) -> list[Row]:
    """`predict_proba` of one numpy row and `Network.posterior` of a dictionary."""
    rows = []
    try:
        X, y, _, _ = image_set("letter")
        rows += _measure(f"TAN on letter, {X.shape[1]} features", X, y, options)
    except Skip as reason:
        rows.append(Row("TAN on letter", f"skipped: {reason}"))
    X, y = synthetic(20_000)
    rows += _measure(f"TAN of {X.shape[1]} features", X, y, options)
    for name in ("sklearn/wine", "penguins"):
        rows += _measure_rates(name, options)
    return rows


def _measure_rates(name: str, options: Options) -> list[Row]:
    """Times of single calls of the default classifier, for every form of a row."""
    data = datasets.load(name)
    model = BayesNetClassifier(random_state=0).fit(data.X, data.y)
    frame = data.X.iloc[:1]
    mapping = {column: [frame[column].iloc[0]] for column in frame}
    forms: dict[str, object] = {"data frame": frame, "mapping": mapping}
    if all(kind.kind in "iuf" for kind in frame.dtypes):
        forms["array"] = frame.to_numpy()
    return [
        _rate(
            f"default on {data.name}, one row in a {form}: p50, p99, rate",
            lambda X=X: model.predict_proba(X),  # type: ignore[misc]
            options.pick(10_000, 300),
        )
        for form, X in forms.items()
    ]


def _rate(what: str, call: Callable[[], object], calls: int) -> Row:
    """A row with quantiles of the time of a call, in the fastest of three runs.

    The rate is that of a core which does nothing else: by processor time.
    """
    runs = []
    call()
    for _ in range(3):
        times = np.empty(calls)
        began = process_time()
        for i in range(calls):
            started = perf_counter()
            call()
            times[i] = perf_counter() - started
        runs.append((process_time() - began, times))
    used, best = min(runs, key=lambda run: run[0])
    middle, late = np.quantile(best, (0.5, 0.99))
    rate = calls / used
    return Row(
        what,
        f"{seconds(middle)}, {seconds(late)}, {rate:,.0f} per second",
        required=f"at least {REQUIRED_RATE:,} per second",
        passed=rate >= REQUIRED_RATE,
    )


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
