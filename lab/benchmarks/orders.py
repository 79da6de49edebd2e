"""Orders of the 196 features of MNIST at 14 x 14 pixels, for order-based search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lab.benchmarks._data import digits_by_14
from lab.benchmarks._harness import Options, Row, best_of, faster, limit, shape_text
from tanager.data import ArrayData, pair_class_information
from tanager.structure.orders.feature_orders import feature_order
from tanager.types import IntArray

AT_MOST = 120.0
NAMES = ("omi", "omisp", "ocr", "min-omi")


def plain_order(data: ArrayData) -> list[int]:
    """OMI in NumPy: for every candidate the joint values of all samples are sorted."""
    labels = data.labels.astype(np.int64)
    columns = data.codes.T.astype(np.int64)
    n_classes = data.schema.n_classes
    information = pair_class_information(data)
    best = int(np.argmax(np.round(np.triu(information, 1), 12)))
    placed = list(divmod(best, len(columns)))
    placed.sort(key=lambda j: -information[j, j])
    so_far = np.zeros(len(labels), dtype=np.int64)
    for j in placed:
        so_far = _joined(so_far, columns[j])
    while len(placed) < len(columns):
        left = [j for j in range(len(columns)) if j not in placed]
        values = [
            np.round(_unknown(so_far, columns[j], labels, n_classes), 12) for j in left
        ]
        placed.append(left[int(np.argmin(values))])
        so_far = _joined(so_far, columns[placed[-1]])
    return placed


def _joined(so_far: IntArray, column: IntArray) -> IntArray:
    """Dense numbers of the joint values."""
    return np.unique(so_far * (column.max() + 1) + column, return_inverse=True)[1]


def _unknown(
    so_far: IntArray,
    column: IntArray,
    labels: IntArray,
    n_classes: int,
) -> float:
    """H(C | joint value, column) in nats."""
    joint = so_far * (column.max() + 1) + column
    sizes = np.unique(joint, return_counts=True)[1]
    cells = np.unique(joint * n_classes + labels, return_counts=True)[1]
    return float(sizes @ np.log(sizes) - cells @ np.log(cells)) / len(labels)


def run(options: Options) -> list[Row]:
    """All samples with one thread and two; some samples against NumPy."""
    data = digits_by_14()
    if options.quick:
        data = data.take(np.arange(5000))
    of = shape_text(data.codes)
    # A fresh copy each time: the data keep the counts of pairs they were asked for.
    times = best_of(
        {
            f"{name}, {threads}": lambda name=name, n_jobs=n_jobs: feature_order(
                replace(data), name, n_jobs=n_jobs
            )
            for name in NAMES
            for threads, n_jobs in (("two threads", 2), ("one thread", 1))
        },
        options.pick(3, 1),
    )
    rows = [
        limit(f"{name}, {of}", taken, AT_MOST if name.startswith("omi,") else None)
        for name, taken in times.items()
    ]
    return [*rows, _against_numpy(data, options)]


def _against_numpy(data: ArrayData, options: Options) -> Row:
    """The same samples for both: as many as sorting for every candidate can do."""
    some = data.take(np.arange(options.pick(10_000, 500)))
    times = best_of(
        {
            "ours": lambda: feature_order(replace(some), "omi", n_jobs=1),
            "NumPy": lambda: plain_order(replace(some)),
        },
        1,
    )
    if feature_order(some, "omi").tolist() != plain_order(some):
        raise RuntimeError("The plain order and ours differ.")
    return faster(
        f"omi, one thread, {shape_text(some.codes)} of its samples",
        times["ours"],
        times["NumPy"],
        name="NumPy",
    )
