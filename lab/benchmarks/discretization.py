"""Fayyad-Irani discretisation of half a million samples."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._data import covtype
from lab.benchmarks._harness import Options, Row, best_of, cost, faster, shape_text
from tanager import MDLEncoder, TableEncoder
from tests.reference.encoding import mdl_cuts


def run(options: Options) -> list[Row]:
    """All samples with one thread and two; some samples against the plain reference."""
    numbers, classes = covtype()
    if options.quick:
        numbers, classes = numbers[:50_000], classes[:50_000]
    labels = np.unique(classes, return_inverse=True)[1]
    times = best_of(
        {
            "two": lambda: TableEncoder().fit_encode(numbers, labels, n_jobs=2),
            "one": lambda: TableEncoder().fit_encode(numbers, labels, n_jobs=1),
            "transformer": lambda: MDLEncoder().fit(numbers, labels),
        },
        options.pick(3, 1),
    )
    of = f"{shape_text(numbers)} {numbers.dtype}"
    rows = [
        Row(
            f"{task}, {of}",
            f"{times[name]:.3g} s, {len(numbers) / times[name]:,.0f} samples/s",
        )
        for task, name in (
            ("TableEncoder, cuts and codes, two threads", "two"),
            ("TableEncoder, cuts and codes, one thread", "one"),
            ("MDLEncoder().fit", "transformer"),
        )
    ]
    rows.append(
        cost(
            f"two threads, {of}",
            times["two"],
            times["one"],
            name="one thread",
        )
    )
    return [*rows, _against_reference(numbers, labels, options)]


def _against_reference(
    numbers: np.ndarray, labels: np.ndarray, options: Options
) -> Row:
    """The same samples for both, few enough for plain loops."""
    picked = np.random.default_rng(0).choice(
        len(numbers), options.pick(1000, 300), replace=False
    )
    some, classes = np.ascontiguousarray(numbers[picked]), labels[picked]
    encoder = MDLEncoder()

    def reference() -> list[list[float]]:
        return [mdl_cuts(column, classes.tolist(), None) for column in some.T.tolist()]

    times = best_of(
        {"ours": lambda: encoder.fit(some, classes), "reference": reference}, 1
    )
    for ours, theirs in zip(encoder.cuts_, reference(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    return faster(
        f"cuts of {shape_text(some)} of its samples",
        times["ours"],
        times["reference"],
        name="plain reference",
    )
