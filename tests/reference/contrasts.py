"""Groups of correlated features and their differences, in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import fsum, isnan, nan, sqrt

Column = Sequence[float]


def observed(column: Column) -> list[float]:
    return [x for x in column if not isnan(x)]


def mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def standardised(column: Column) -> list[float]:
    """(x - mean) / deviation; missing values stay missing."""
    values = observed(column)
    centre = mean(values)
    deviation = sqrt(mean([(x - centre) ** 2 for x in values])) or 1.0
    return [(x - centre) / deviation for x in column]


def correlation(a: Column, b: Column) -> float:
    """Correlation of two standardised columns, missing values at their mean, 0."""
    a, b = ([0.0 if isnan(x) else x for x in column] for column in (a, b))
    norms = sqrt(fsum(x * x for x in a)) * sqrt(fsum(x * x for x in b))
    return fsum(x * y for x, y in zip(a, b, strict=True)) / norms


def groups(z: Sequence[Column], least: float) -> list[list[int]]:
    """Merge the two groups with the largest mean |correlation|, while it suffices."""
    found = [[j] for j in range(len(z))]
    r = [[abs(correlation(a, b)) for b in z] for a in z]

    def closeness(pair: tuple[int, int]) -> float:
        one, other = (found[k] for k in pair)
        return mean([r[i][j] for i in one for j in other])

    while len(found) > 1:
        best = max(combinations(range(len(found)), 2), key=closeness)
        if closeness(best) < least:
            break
        found[best[0]] += found.pop(best[1])
    return sorted(sorted(group) for group in found)


def group_mean(z: Sequence[Column], group: Sequence[int]) -> list[float]:
    """Means of the observed members, turned to the direction of the first one."""
    signs = [-1.0 if correlation(z[group[0]], z[j]) < 0 else 1.0 for j in group]
    result = []
    for row in zip(*(z[j] for j in group), strict=True):
        members = [sign * x for sign, x in zip(signs, row, strict=True) if not isnan(x)]
        result.append(mean(members) if members else nan)
    return result


def contrasts(
    columns: Sequence[Column], least: float, most: int
) -> tuple[list[list[float]], list[list[float]]]:
    """Columns of the means of groups, and of the differences, best correlated first."""
    z = [standardised(column) for column in columns]
    found = groups(z, least)
    means = [group_mean(z, group) for group in found]
    again = [standardised(column) for column in means]
    r = {
        (a, b): correlation(again[a], again[b])
        for a, b in combinations(range(len(means)), 2)
    }
    pairs = sorted(r, key=lambda pair: -abs(r[pair]))[:most]
    differences = [
        [
            x + y if r[a, b] < 0 else x - y
            for x, y in zip(means[a], means[b], strict=True)
        ]
        for a, b in pairs
    ]
    groups_of_two = [k for k, group in enumerate(found) if len(group) > 1]
    return [means[k] for k in groups_of_two], differences
