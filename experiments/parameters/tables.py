"""The tables of docs/parameters.md, from the files of results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from experiments.parameters import comparison, copies, gaps
from experiments.parameters.results import Results

T = TypeVar("T")
Numbers = dict[tuple[str, ...], float]


def document() -> str:
    """All tables, in Markdown."""
    complete = Results("complete", comparison.KEYS, comparison.SEED)
    incomplete = Results("incomplete", comparison.KEYS, comparison.SEED)
    parts = [
        "Means over sets:",
        _means(complete),
        "Accuracy by set:",
        _by_set(complete.numbers("accuracy"), 100, 1),
        "Log loss by set:",
        _by_set(complete.numbers("log_loss"), 1, 2),
        "Rows with gaps, means over sets:",
        _means(incomplete),
        "Copies, error:",
        _grid(Results("copies", copies.KEYS, copies.SEED).numbers("error"), 100, 1),
        "Copies, log loss:",
        _grid(Results("copies", copies.KEYS, copies.SEED).numbers("log_loss"), 1, 2),
        "Missing test features, error:",
        _grid(_joined(Results("gaps", gaps.KEYS, gaps.SEED), "error"), 100, 1),
        "Missing test features, log loss:",
        _grid(_joined(Results("gaps", gaps.KEYS, gaps.SEED), "log_loss"), 1, 2),
    ]
    return "\n\n".join(parts)


def _means(results: Results) -> str:
    """By method: means over the sets that all methods but the smooth one have."""
    accuracy, log_loss = results.numbers("accuracy"), results.numbers("log_loss")
    seconds = results.numbers("seconds")
    methods = _unique((s, p) for _, s, p in accuracy)
    names = _unique(name for name, *_ in accuracy)
    numeric = [n for n in names if (n, "NB", "CL smooth") in accuracy]
    every = [n for n in names if all((n, *m) in accuracy for m in methods[:10])]
    lines = []
    for method in methods:
        cells = [" ".join(method)]
        for sets in (every, numeric):
            if not sets or any((n, *method) not in accuracy for n in sets):
                cells += ["-", "-"]
                continue
            cells.append(f"{100 * _mean(accuracy, sets, method):.1f}")
            cells.append(f"{_mean(log_loss, sets, method):.2f}")
        times = [seconds[n, *method] for n in names if (n, *method) in seconds]
        cells += [f"{np.median(times):.2f}", f"{max(times):.2f}"]
        lines.append(cells)
    head = [
        "method",
        f"accuracy ({len(every)} sets)",
        "log loss",
        f"accuracy ({len(numeric)} numeric sets)",
        "log loss",
        "seconds, median",
        "seconds, most",
    ]
    return _markdown(head, lines)


def _mean(numbers: Numbers, sets: list[str], method: tuple[str, ...]) -> float:
    return float(np.mean([numbers[name, *method] for name in sets]))


def _by_set(numbers: Numbers, scale: float, digits: int) -> str:
    return _grid(
        {(n, f"{s} {p}"): v for (n, s, p), v in numbers.items()}, scale, digits
    )


def _joined(results: Results, column: str) -> Numbers:
    return {
        (f"{name} {s} {p}", share): value
        for (name, s, p, share), value in results.numbers(column).items()
    }


def _grid(numbers: Numbers, scale: float, digits: int) -> str:
    """Rows by the first key, columns by the second."""
    rows, columns = (_unique(key[k] for key in numbers) for k in (0, 1))
    lines = [
        [row]
        + [
            f"{scale * numbers[row, column]:.{digits}f}"
            if (row, column) in numbers
            else ""
            for column in columns
        ]
        for row in rows
    ]
    return _markdown(["", *columns], lines)


def _markdown(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _unique(items: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(items))
