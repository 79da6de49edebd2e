"""`Counterfactual`: the smallest change of a sample that changes its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from scipy.special import softmax

from tanager.errors import CapabilityError, InputError
from tanager.explain.change_search import MARGIN, ChangeSearch, FoundChange
from tanager.explain.feature_arguments import (
    feature_costs,
    feature_mask,
    missing_features,
)
from tanager.explain.odds_conversion import class_position
from tanager.explain.terms import terms_of
from tanager.model.schema import Schema, State, Variable
from tanager.network import AnyNetwork
from tanager.plots.bars import waterfall_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import CodeArray, FloatArray, IntArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.threads import row_blocks
from tanager.utils.validation import is_whole

MAX_CHANGES = 3
"""Changes up to which the search is exhaustive."""

MAX_ENUMERATED = 2_000_000
"""Samples that are scored one by one where a model is no sum of terms."""


@dataclass(frozen=True)
class Change:
    """A feature with another value.

    Parameters
    ----------
    feature : str
        Name of the feature.
    before, after : str, int, float or bool
        The states; of a numeric feature the intervals.
    cost : float
        What the change costs.
    """

    feature: str
    before: State
    after: State
    cost: float

    def __str__(self) -> str:
        return f"{self.feature}: {self.before} -> {self.after}"


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(PictureMixin, FrameMixin):
    """The smallest change of a sample after which another class is predicted.

    Parameters
    ----------
    classes : tuple
        The classes.
    prediction : str, int, float or bool
        The class of the sample as it is.
    target : str, int, float, bool or None
        The class after the changes; None if no change was found.
    changes : tuple of Change
        The changes, by feature; empty if none was found.
    before, after : ndarray of float64, shape (n_classes,)
        Probabilities without and with the changes.
    log_odds : ndarray of float64, shape (n_changes + 1,)
        Log odds of the new class against the present one: of the sample, and after each
        further change.
    max_changes : int
        Changes up to which all were considered: fewer do not suffice.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey"] * 10, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> model = model.fit(X, ["dry", "wet"] * 10)
    >>> found = model.counterfactual({"sky": ["blue"], "wind": [3.0]})
    >>> found.prediction, found.target, found.n_changes
    ('dry', 'wet', 2)
    >>> print(found)
    wet instead of dry if sky: blue -> grey, wind: (-inf, 5.5] -> (5.5, inf)
    """

    classes: tuple[State, ...]
    prediction: State
    target: State | None
    changes: tuple[Change, ...]
    before: FloatArray
    after: FloatArray
    log_odds: FloatArray
    max_changes: int

    def __str__(self) -> str:
        if self.target is None:
            return (
                f"{self.prediction}: no change of up to {self.max_changes} features "
                "suffices"
            )
        changes = ", ".join(map(str, self.changes))
        return f"{self.target} instead of {self.prediction} if {changes}"

    @property
    def n_changes(self) -> int:
        """Number of changes."""
        return len(self.changes)

    @property
    def cost(self) -> float:
        """Cost of all changes."""
        return sum(change.cost for change in self.changes)

    def columns(self) -> dict[str, list[Any]]:
        """List the changes by column: `feature`, `before`, `after` and `cost`."""
        return {
            name: [getattr(change, name) for change in self.changes]
            for name in ("feature", "before", "after", "cost")
        }

    def picture(self) -> Picture:
        """The log odds of the new class as the changes are made.

        Without a change, `target` None, there is nothing to draw: an `InputError`.
        """
        if self.target is None:
            raise InputError(
                f"There is nothing to draw, since no change of up to "
                f"{self.max_changes} features suffices: target is None. Allow more "
                "changes, fewer immutable features or any target."
            )
        return waterfall_picture(
            [str(change) for change in self.changes],
            np.diff(self.log_odds).tolist(),
            start=float(self.log_odds[0]),
            title=f"{self.target} instead of {self.prediction}",
            xlabel="Log odds",
        )


def find_counterfactual(
    network: AnyNetwork,
    row: CodeArray,
    *,
    target: object = None,
    costs: Mapping[str, float] | None = None,
    immutable: Iterable[str] = (),
    max_changes: int = MAX_CHANGES,
) -> Counterfactual:
    """Find the smallest change of a sample after which another class is predicted.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    row : ndarray of unsigned int, shape (n_features,)
        The sample.
    target : class or None, default=None
        The class to reach; any other than the present one by default.
    costs : mapping from name to number, or None, default=None
        Costs of the features, at least 0; 1 by default.
    immutable : iterable of str, default=()
        Features that do not change.
    max_changes : int, default=3
        Largest number of features to change, 1 to 3.

    Returns
    -------
    Counterfactual
        Fewest features first, then least cost. Of equal costs always the same one.

    Raises
    ------
    CapabilityError
        If the model is not a sum of terms for this sample, and has too many states to
        try all: a network in which an observed feature has a missing parent or with
        probabilities of zero, or a factor with both missing and observed features.

    Notes
    -----
    Changing feature j from state a to b costs its cost, times ``|a - b| / (r - 1)`` if
    its r states are ordered. Missing values stay missing, and no value becomes missing.
    The new class must exceed all others by log odds of more than 1e-9.

    The result is minimal: no smaller set of features, and no cheaper change of as many,
    leads to another class. For sums of terms this is proven by bounds
    (`tanager.explain.change_search`), otherwise all changes are tried.
    """
    schema = network.schema
    if not is_whole(max_changes) or not 1 <= max_changes <= MAX_CHANGES:
        raise InputError(
            f"max_changes must be a whole number from 1 to {MAX_CHANGES}, got "
            f"{max_changes!r}."
        )
    row = row[: len(schema) - 1]
    log_weights = _score(network, row[None])[0]
    if np.isneginf(log_weights).all():
        raise InputError(
            "The sample has probability zero under this network, so it has no class to "
            "change. Check its values."
        )
    current = int(log_weights.argmax())
    wanted = (
        None
        if target is None
        else class_position(schema.target_variable.states, target)
    )
    if wanted == current:
        raise InputError(
            f"The model predicts {target!r} already; choose another target."
        )
    prices = feature_costs(schema, costs)
    fixed = feature_mask(schema, immutable, "immutable") | missing_features(schema, row)
    states, state_costs = {}, {}
    for j in np.flatnonzero(~fixed).tolist():
        codes = np.arange(schema[j].n_values)
        states[j] = codes[codes != row[j]]
        state_costs[j] = prices[j] * _distances(schema[j], int(row[j]))[states[j]]
    terms = terms_of(network).additive(row)
    targets = [k for k in range(schema.n_classes) if k != current]
    targets = targets if wanted is None else [wanted]
    search = ChangeSearch(terms or (), log_weights, row, states, state_costs)
    found: FoundChange | None = None
    for size in range(1, max_changes + 1):
        if terms is None:
            found = _enumerate(network, row, states, state_costs, size, targets)
        else:
            for k in targets:
                found = search.best(size, k, found)
        if found is not None:
            break
    return _describe(network, row, found, state_costs, states, max_changes)


def _distances(variable: Variable, code: int) -> FloatArray:
    """Distance of every value from one: a fraction of the range, or 1."""
    codes = np.arange(variable.n_values)
    if not variable.ordered or variable.n_values < 2:
        return np.ones(variable.n_values)
    distances: FloatArray = np.abs(codes - code) / (variable.n_values - 1)
    return distances


def _score(network: AnyNetwork, codes: CodeArray) -> FloatArray:
    """Log joint of samples: an impossible one has minus infinity for all classes."""
    return network.engine.log_joint_block(np.asfortranarray(codes))


def _enumerate(
    network: AnyNetwork,
    row: CodeArray,
    states: Mapping[int, IntArray],
    costs: Mapping[int, FloatArray],
    size: int,
    targets: list[int],
) -> FoundChange | None:
    """Score every change of `size` features and return the cheapest that works."""
    groups = list(combinations(sorted(states), size))
    n_rows = sum(prod(len(states[j]) for j in group) for group in groups)
    if n_rows > MAX_ENUMERATED:
        raise CapabilityError(
            f"Changes of {size} features would need {n_rows:,} evaluations, more than "
            f"the {MAX_ENUMERATED:,} allowed: all must be tried where observed "
            "features share a family or factor with missing ones, or CPTs have zeros. "
            "Give more features as immutable, fill in missing values, or use "
            f"max_changes={size - 1}."
        )
    best: FoundChange | None = None
    allowed = np.zeros(network.schema.n_classes, dtype=np.bool_)
    allowed[targets] = True
    for group in groups:
        shape = [len(states[j]) for j in group]
        for start, stop in row_blocks(prod(shape)):
            places = np.unravel_index(np.arange(start, stop), shape)
            codes = np.repeat(row[None], stop - start, axis=0)
            cost = np.zeros(stop - start)
            for j, place in zip(group, places, strict=True):
                codes[:, j] = states[j][place]
                cost += costs[j][place]
            log_joint = _score(network, codes)
            log_joint = np.where(np.isneginf(log_joint), -1e300, log_joint)
            ranked = np.sort(log_joint, axis=1)
            margin = ranked[:, -1] - ranked[:, -2]
            works = allowed[log_joint.argmax(axis=1)] & (margin > MARGIN)
            if not works.any():
                continue
            k = int(np.lexsort((-margin, np.where(works, cost, np.inf)))[0])
            after = tuple(codes[k, list(group)].tolist())
            found = FoundChange(float(cost[k]), -float(margin[k]), group, after)
            best = found if best is None else min(best, found)
    return best


def _describe(
    network: AnyNetwork,
    row: CodeArray,
    found: FoundChange | None,
    costs: Mapping[int, FloatArray],
    states: Mapping[int, IntArray],
    max_changes: int,
) -> Counterfactual:
    """Name the changes, and score the sample after each of them."""
    schema: Schema = network.schema
    rows = [row]
    changes = []
    if found is not None:
        for j, code in zip(found.features, found.codes, strict=True):
            rows.append(rows[-1].copy())
            rows[-1][j] = code
            labels = schema[j].states
            place = int(np.flatnonzero(states[j] == code)[0])
            cost = float(costs[j][place])
            changes.append(
                Change(schema.names[j], labels[int(row[j])], labels[code], cost)
            )
    log_joint = np.maximum(_score(network, np.stack(rows)), -1e300)
    probabilities = softmax(log_joint, axis=1)
    first, last = int(log_joint[0].argmax()), int(log_joint[-1].argmax())
    classes = schema.target_variable.states
    return Counterfactual(
        classes,
        classes[first],
        classes[last] if changes else None,
        tuple(changes),
        probabilities[0],
        probabilities[-1],
        log_joint[:, last] - log_joint[:, first],
        max_changes,
    )
