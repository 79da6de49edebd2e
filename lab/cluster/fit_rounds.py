"""Rounds of a fit on a Dask cluster and their bytes, from the sizes of the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from types import MappingProxyType

FAN_IN = 8
"""Answers that are added at a time."""

CODE_SAMPLES = 20_000
"""Samples from which the preconditioner of convex conditional likelihood is made."""

SEARCH_SAMPLES = 54_000
"""Samples of a search for factors, and those with hidden values."""

INTERVAL_SAMPLES = 1_000
"""Samples that are kept for the intervals of factors."""

GROUPS = 32
"""Rounds of one sweep over factors, at most."""

SWEEPS = 4
"""Sweeps over factors."""

CELL_BYTES = 150
"""Bytes for every cell of the tables that tell a worker how to make a convex loss."""

FACTOR_BYTES = 1_100
"""Bytes for every factor, and 8 for every cell and class, that describe it."""


@dataclass(frozen=True)
class Round:
    """A round: an order goes to every part, answers come back.

    Parameters
    ----------
    order : float
        Bytes of the order.
    answer : float
        Bytes of the answer of one part.
    added : float or None
        Bytes of a sum of answers; None if answers are collected and not added.
    times : int, default=1
        Number of such rounds.
    passes : float, default=0.0
        Fraction of the learner's work on the samples that each of them takes.
    """

    order: float
    answer: float
    added: float | None
    times: int = 1
    passes: float = 0.0


@dataclass(frozen=True)
class Tables:
    """The sizes that bytes depend on.

    Parameters
    ----------
    n_states : tuple of int
        Numbers of states of the features.
    n_classes : int
        Number of classes.
    n_parts : int
        Number of partitions.
    """

    n_states: tuple[int, ...]
    n_classes: int
    n_parts: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_states)

    @property
    def n_pair_cells(self) -> int:
        """Cells of all pairs of features given the class."""
        pairs = combinations(self.n_states, 2)
        return self.n_classes * sum(a * b for a, b in pairs)

    @property
    def n_tree_cells(self) -> int:
        """Cells of the CPTs of a tree, a chain of the features in their order."""
        pairs = zip(self.n_states, self.n_states[1:], strict=False)
        return self.n_classes * (1 + self.n_states[0] + sum(a * b for a, b in pairs))


def naive_bayes(tables: Tables) -> list[Round]:
    """One count of every feature with the class."""
    return [_count_classes(tables, passes=1.0), _count_labels(tables)]


def tree_by_counts(tables: Tables) -> list[Round]:
    """Counts of every feature, then of all pairs, with the class."""
    return [
        _count_classes(tables, passes=0.1),
        _count_pairs(tables, passes=0.9),
        _count_labels(tables),
    ]


def convex_conditional_likelihood(tables: Tables, evaluations: int) -> list[Round]:
    """A tree by pair counts, then gradients; `evaluations` as the search needs them."""
    weights, classes = tables.n_tree_cells, tables.n_classes
    gradient = 8.0 * (weights + 1)
    moments = 8.0 * (1 + 2 * classes + classes**2)
    curvature = 8.0 * (weights / classes) ** 2
    sample = CODE_SAMPLES * (tables.n_features + 1) / tables.n_parts
    share = 1.0 / (evaluations + 2.0)
    return [
        _count_pairs(tables, passes=share),
        _count_labels(tables),
        Round(8.0 * CODE_SAMPLES + 1_400, sample, None),
        Round(CELL_BYTES * weights, 16.0, 16.0),
        Round(265.0, curvature, curvature, passes=share),
        Round(8.0 * weights + 391, gradient, gradient, evaluations, share),
        Round(8.0 * weights + 386, moments, moments, 3),
        Round(*_family_count(tables, weights)),
    ]


def factors(tables: Tables, found: Sequence[Sequence[int]]) -> list[Round]:
    """A search on a sample, sweeps over the factors that it has found, final sums."""
    columns = 1 if tables.n_classes == 2 else tables.n_classes
    sizes = [n + 1 for n in tables.n_states]  # values may be missing
    cells = [prod(sizes[j] for j in features) for features in found]
    n_groups = min(len(cells), GROUPS)
    share = 1.0 / (SWEEPS + 2.0)
    totals = 8.0 * (sum(sizes) + tables.n_classes)
    sample = SEARCH_SAMPLES * (tables.n_features + 1) / tables.n_parts
    kept = INTERVAL_SAMPLES * (tables.n_features + 1) / tables.n_parts
    description = sum(FACTOR_BYTES + 8.0 * columns * n for n in cells)
    sweeps = []
    for group in range(n_groups):
        here = sum(cells[group::n_groups])
        before = sum(cells[group - 1 :: n_groups]) if group else sum(cells[-1:])
        sums = 16.0 * columns * here
        order = 412.0 + 8.0 * columns * before
        times = SWEEPS
        if not group:  # the first order says how to make the fit
            sweeps.append(Round(description, sums, sums, 1, share / n_groups))
            times -= 1
        sweeps.append(Round(order, sums, sums, times, share / n_groups))
    everything = 16.0 * columns * sum(cells)
    counts = 8.0 * tables.n_classes * sum(cells)
    return [
        _count_labels(tables),
        Round(1_592.0, 8.0 * tables.n_classes, None),
        Round(8.0 * SEARCH_SAMPLES * 0.93, sample, None),
        Round(269.0, totals, totals, passes=share / 2),
        *sweeps,
        Round(1_600.0, counts, counts, passes=share),
        Round(300.0, everything, everything, passes=share / 2),
        Round(8.0 * INTERVAL_SAMPLES + 1_400, kept, None),
    ]


FITS: MappingProxyType[str, Callable[[Tables], list[Round]]] = MappingProxyType(
    {
        "naive Bayes": naive_bayes,
        "TAN-CMI": tree_by_counts,
        "TAN-CMI, convex conditional likelihood": lambda tables: (
            convex_conditional_likelihood(tables, 24)
        ),
        "factors, main effects and 20 pairs": lambda tables: factors(
            tables, _main_effects_and_pairs(tables.n_features, 20)
        ),
    }
)
"""Rounds of the fits of the study `scale/out-of-core`, by its names."""


@dataclass(frozen=True)
class PlannedTraffic:
    """Rounds of a fit, and bytes to and from all parts, as `trace_` reports them."""

    rounds: int
    bytes_to_parts: float
    bytes_from_parts: float

    @classmethod
    def of(cls, rounds: Sequence[Round], n_parts: int) -> PlannedTraffic:
        """Sum over rounds.

        Examples
        --------
        >>> PlannedTraffic.of([Round(100.0, 10.0, 20.0, 3)], 10)
        PlannedTraffic(rounds=3, bytes_to_parts=3000.0, bytes_from_parts=480.0)
        """
        sums = count_sums(n_parts)
        return cls(
            sum(one.times for one in rounds),
            sum(one.times * one.order * n_parts for one in rounds),
            sum(
                one.times * (one.answer * n_parts + (one.added or 0.0) * sums)
                for one in rounds
            ),
        )


def count_sums(n_parts: int) -> int:
    """Number of sums that add the answers of all parts, `FAN_IN` at a time.

    Examples
    --------
    >>> count_sums(1), count_sums(8), count_sums(10)
    (0, 1, 3)
    """
    total = 0
    while n_parts > 1:
        n_parts = -(-n_parts // FAN_IN)
        total += n_parts
    return total


def _main_effects_and_pairs(n_features: int, n_pairs: int) -> list[tuple[int, ...]]:
    pairs = list(combinations(range(n_features), 2))[:n_pairs]
    return [*((j,) for j in range(n_features)), *pairs]


def _count_labels(tables: Tables) -> Round:
    return Round(251.0, 8.0 * (tables.n_classes + 1), None)


def _count_classes(tables: Tables, passes: float) -> Round:
    """Counts of every feature with the class, and of the class."""
    cells = tables.n_classes * (1 + sum(tables.n_states))
    size = 8.0 * cells + 80 + 72 * tables.n_features
    return Round(305.0 + 6 * tables.n_features, size, size, passes=passes)


def _count_pairs(tables: Tables, passes: float) -> Round:
    """Counts of all pairs; whole numbers of four bytes, and of eight once added."""
    cells, d = tables.n_pair_cells, tables.n_features
    leaf, added = 4.0 * cells + 24 + 16 * d, 8.0 * cells + 24 + 8 * d
    return Round(280.0, leaf, added, passes=passes)


def _family_count(tables: Tables, cells: int) -> tuple[float, float, float]:
    """Order and answers of counts of the families of a tree."""
    size = 8.0 * cells + 80 + prod((86, tables.n_features))
    return 305.0 + 6 * tables.n_features, size, size
