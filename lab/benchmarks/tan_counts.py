"""Learning a TAN against one plain compiled pass that only counts the pairs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import numpy.typing as npt

from lab.benchmarks._data import (
    N_CLASSES,
    N_STATES,
    synthetic,
    synthetic_schema,
)
from lab.benchmarks._harness import Options, Row, best_of, cost, shape_text
from tanager import BayesNetClassifier, ChowLiu, Frequency
from tanager.data import ArrayData

REQUIRED = 2.0


@numba.njit(nogil=True)
def count_by_row(codes, labels, out):  # type: ignore[no-untyped-def]
    """Increment all pair tables (i, j, class), one sample after the other."""
    n_rows, n_features = codes.shape
    for m in range(n_rows):
        c = labels[m]
        pair = 0
        for i in range(n_features):
            for j in range(i + 1, n_features):
                out[pair, codes[m, i], codes[m, j], c] += 1
                pair += 1


@numba.njit(nogil=True)
def count_by_pair(columns, labels, out):  # type: ignore[no-untyped-def]
    """Increment all pair tables (i, j, class), one pair after the other."""
    n_features, n_rows = columns.shape
    pair = 0
    for i in range(n_features):
        for j in range(i + 1, n_features):
            for m in range(n_rows):
                out[pair, columns[i, m], columns[j, m], labels[m]] += 1
            pair += 1


def plain_pass(
    kernel: object, codes: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint32]:
    """Count all pairs by two threads with half of the samples each."""
    by_pair = kernel is count_by_pair
    n_features = codes.shape[1]
    n_pairs = n_features * (n_features - 1) // 2
    middle = len(codes) // 2
    halves = (slice(0, middle), slice(middle, None))

    def count(rows: slice) -> npt.NDArray[np.uint32]:
        out = np.zeros((n_pairs, N_STATES, N_STATES, N_CLASSES), dtype=np.uint32)
        kernel(codes[rows].T if by_pair else codes[rows], labels[rows], out)  # type: ignore[operator]
        return out

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(count, halves)
    return first + second


def run(options: Options) -> list[Row]:
    """Codes given, a matrix of small integers, and a frame of categoricals."""
    import pandas as pd

    codes, labels = synthetic(options.pick(1_000_000, 50_000))
    by_column = np.asfortranarray(codes)
    schema = synthetic_schema()
    states = [chr(ord("a") + code) for code in range(N_STATES)]
    frame = pd.DataFrame(
        {
            f"x{j}": pd.Categorical.from_codes(column.astype(np.int8), states)
            for j, column in enumerate(by_column.T)
        }
    )
    target = pd.Series(pd.Categorical.from_codes(labels.astype(np.int8), states))

    def learn() -> None:
        data = ArrayData(schema, by_column, labels, n_jobs=2)
        structure = ChowLiu().learn(data).structure
        Frequency().learn(structure, data)

    model = BayesNetClassifier(
        encoder="categorical", structure="tan", parameters="fe", n_jobs=2
    )
    times = best_of(
        {
            "by row": lambda: plain_pass(count_by_row, codes, labels),
            "by pair": lambda: plain_pass(count_by_pair, by_column, labels),
            "codes": learn,
            "matrix": lambda: model.fit(codes, labels),
            "frame": lambda: model.fit(frame, target),
        },
        options.pick(5, 2),
    )
    _check_counts(schema, by_column, labels)
    # The faster of the two plain loops is the yardstick.
    plain = min(times["by row"], times["by pair"])
    name = "plain pass"
    of = shape_text(codes)
    return [
        cost(
            f"TAN from codes, {of}",
            times["codes"],
            plain,
            name=name,
            at_most=REQUIRED,
        ),
        cost(
            f"TAN fit from a uint8 matrix, {of}",
            times["matrix"],
            plain,
            name=name,
            at_most=REQUIRED,
        ),
        cost(
            f"TAN fit from a pandas frame of categoricals, {of}",
            times["frame"],
            plain,
            name=name,
            at_most=REQUIRED,
        ),
    ]


def _check_counts(
    schema: object, codes: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8]
) -> None:
    """See that the plain pass and ours count the same."""
    some = slice(0, 20_000)
    plain = plain_pass(count_by_pair, codes[some], labels[some])
    ours = ArrayData(schema, codes[some], labels[some]).count_pairs()  # type: ignore[arg-type]
    if not np.array_equal(plain.ravel(), ours.values):
        raise RuntimeError("The plain pass and ours count differently.")
