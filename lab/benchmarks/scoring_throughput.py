"""Throughput of scoring complete samples."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._data import N_CLASSES, N_FEATURES, synthetic
from lab.benchmarks._harness import Options, Row, best_of, cost, shape_text
from tanager import BayesNetClassifier


def run(options: Options) -> list[Row]:
    """Table cells added per second, by one thread and two."""
    codes, labels = synthetic(options.pick(1_000_000, 50_000))
    by_column = np.asfortranarray(codes)
    rows = []
    for structure in ("nb", "tan"):
        model = BayesNetClassifier(
            encoder="categorical", structure=structure, parameters="fe"
        )
        engine = model.fit(codes[:50_000], labels[:50_000]).network_.engine
        times = best_of(
            {
                "two": lambda engine=engine: engine.log_joint(by_column, n_jobs=2),
                "one": lambda engine=engine: engine.log_joint(by_column, n_jobs=1),
            },
            options.pick(5, 2),
        )
        cells = len(codes) * N_FEATURES * N_CLASSES
        rows += [
            Row(
                f"{structure} log joint, {shape_text(codes)}, threads: {name}",
                f"{times[name]:.3g} s, {cells / times[name] / 1e9:.2f}e9 "
                "samples x features x classes/s",
            )
            for name in ("one", "two")
        ]
        rows.append(
            cost(
                f"{structure} log joint, two threads",
                times["two"],
                times["one"],
                name="one thread",
            )
        )
    return rows
