"""Encoding by the formulas, in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import fsum, log2

from tanager.model.schema import State, Variable, is_missing

Row = tuple[float, int, float]


def entropy(rows: Sequence[Row]) -> float:
    """Class entropy in bits of (value, class, weight) rows."""
    total = fsum(w for _, _, w in rows)
    shares = [
        fsum(w for _, c, w in rows if c == wanted) / total
        for wanted in sorted({c for _, c, _ in rows})
    ]
    return -fsum(p * log2(p) for p in shares)


def middle(low: float, high: float) -> float:
    """Midpoint that still lies below `high` after rounding."""
    half = (low + high) / 2
    return half if half < high else low


def mdl_cuts(
    values: Sequence[float],
    labels: Sequence[int],
    weights: Sequence[float] | None,
    unit: float = 1.0,
) -> list[float]:
    """Fayyad-Irani: all candidate cuts, one after the other, recursively.

    Entropies have `unit` bits each where they are held against the price of a cut.
    """
    if weights is None:
        weights = [1.0] * len(values)
    rows = [
        (float(v), int(c), float(w))
        for v, c, w in zip(values, labels, weights, strict=True)
        if w > 0
    ]
    return _mdl(rows, unit)


def _mdl(rows: list[Row], unit: float) -> list[float]:
    total = fsum(w for _, _, w in rows)
    k = len({c for _, c, _ in rows})
    if total <= 1 or k < 2:
        return []
    distinct = sorted({v for v, _, _ in rows})
    candidates = []
    for low, high in pairwise(distinct):
        left = [row for row in rows if row[0] <= low]
        right = [row for row in rows if row[0] >= high]
        n1, n2 = (fsum(w for _, _, w in side) for side in (left, right))
        mixed = n1 / total * entropy(left) + n2 / total * entropy(right)
        candidates.append((mixed, middle(low, high), left, right))
    if not candidates:
        return []
    least = min(candidate[0] for candidate in candidates)
    mixed, cut, left, right = next(c for c in candidates if c[0] <= least + 1e-12)
    k1, k2 = (len({c for _, c, _ in side}) for side in (left, right))
    saved = k * entropy(rows) - k1 * entropy(left) - k2 * entropy(right)
    price = (log2(total - 1) + log2(3**k - 2) - saved / unit) / total
    if (entropy(rows) - mixed) / unit <= price:
        return []
    return [*_mdl(left, unit), cut, *_mdl(right, unit)]


def repeated(values: Sequence[float], weights: Sequence[float] | None) -> list[float]:
    """Every value as often as its whole weight says, sorted."""
    if weights is None:
        return sorted(map(float, values))
    return sorted(
        float(v) for v, w in zip(values, weights, strict=True) for _ in range(int(w))
    )


def equal_width_cuts(
    values: Sequence[float], weights: Sequence[float] | None, n_bins: int
) -> list[float]:
    """Cuts at equal steps over the range of the values."""
    rows = repeated(values, weights)
    low, high = rows[0], rows[-1]
    if low == high:
        return []
    return [low + (high - low) * (i / n_bins) for i in range(1, n_bins)]


def quantile_cuts(
    values: Sequence[float], weights: Sequence[float] | None, n_bins: int
) -> list[float]:
    """A bin for every heavy value; the other bins by equal frequency."""
    rows = repeated(values, weights)
    bins = quantile_bins(rows, n_bins)
    return [middle(low[-1], high[0]) for low, high in pairwise(bins)]


def quantile_bins(rows: list[float], n_bins: int) -> list[list[float]]:
    """Divide sorted rows into bins, each a list of rows."""
    distinct = sorted(set(rows))
    if len(distinct) <= n_bins:
        return [[r for r in rows if r == value] for value in distinct]
    heavy: list[float] = []
    while True:
        light = [r for r in rows if r not in heavy]
        value = max(sorted(set(light)), key=light.count)  # the first of equal ones
        fair = Fraction(len(light), n_bins - len(heavy))
        runs = light_runs(rows, [*heavy, value])
        if light.count(value) <= fair or len(heavy) + 1 + len(runs) > n_bins:
            break
        heavy.append(value)
    if not heavy:
        return equal_frequency_bins(rows, n_bins)
    runs = light_runs(rows, heavy)
    given = [1] * len(runs)
    while sum(given) < n_bins - len(heavy):
        open_runs = [i for i, run in enumerate(runs) if given[i] < len(set(run))]
        most = max(open_runs, key=lambda i: Fraction(len(runs[i]), given[i]))
        given[most] += 1
    bins = [[r for r in rows if r == value] for value in heavy]
    for run, n in zip(runs, given, strict=True):
        bins += quantile_bins(run, n)
    return sorted(bins)


def light_runs(rows: list[float], heavy: list[float]) -> list[list[float]]:
    """The sorted rows between the heavy values, without runs that are empty."""
    runs: list[list[float]] = [[]]
    for row in rows:
        if row in heavy:
            runs.append([])
        else:
            runs[-1].append(row)
    return [run for run in runs if run]


def equal_frequency_bins(rows: list[float], n_bins: int) -> list[list[float]]:
    """Cut after the least value that at least i / n_bins of the rows do not exceed."""
    ends = {
        next(v for v in rows if sum(r <= v for r in rows) * n_bins >= i * len(rows))
        for i in range(1, n_bins)
    }
    bins: list[list[float]] = [[]]
    for value in sorted(set(rows)):
        bins[-1] += [r for r in rows if r == value]
        if value in ends and value < rows[-1]:
            bins.append([])
    return bins


def sorted_categories(values: Sequence[State | None]) -> list[State]:
    """Distinct values: numbers by value, then strings."""
    found: list[State] = []
    for value in values:
        if value is not None and not is_missing(value) and value not in found:
            found.append(value)
    numbers = [v for v in found if not isinstance(v, str)]
    return sorted(numbers) + sorted(v for v in found if isinstance(v, str))


def encode(
    rows: Sequence[Sequence[object]], variables: Sequence[Variable]
) -> list[list[int]]:
    """Code of every cell: count the cuts below, or find the state."""
    codes = []
    for row in rows:
        line = []
        for value, variable in zip(row, variables, strict=True):
            code = variable.n_states
            if is_missing(value) and variable.missing_state:
                code = variable.n_states - 1
            if not is_missing(value):
                if variable.cuts is not None:
                    code = sum(cut < value for cut in variable.cuts)  # type: ignore[operator]
                else:
                    for position, state in enumerate(variable.states):
                        if state == value:
                            code = position
            line.append(code)
        codes.append(line)
    return codes
