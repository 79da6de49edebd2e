"""`RatingTable`: a classifier as points to add, as in credit scoring."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from tanager.errors import CapabilityError, InputError
from tanager.export.score_terms import ScoreTerm, ScoreTerms, TermAxis
from tanager.model.schema import State, Variable
from tanager.network import AnyNetwork
from tanager.utils.data_frame import FrameMixin


@dataclass(frozen=True, eq=False, repr=False)
class RatingTable(FrameMixin):
    """Points for every state of every feature, and for combinations of states.

    Parameters
    ----------
    target, label : str
        The class variable and the class for which points speak.
    base : float
        Points of a sample before any are added.
    features : tuple of tuple of str
        The features of every row: one, or several for an interaction.
    states : tuple of tuple of str
        Their states, in the same order.
    points : tuple of float
        What the row adds.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", "blue"] * 9}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> model = model.fit(X, [0, 1, 1, 0] * 9)
    >>> table = to_rating_table(model.network_, decimals=0)
    >>> table.base, table.states[:2], table.points[:2]
    (487, (('blue',), ('grey',)), (-85, 85))
    """

    target: str
    label: State
    base: float
    features: tuple[tuple[str, ...], ...]
    states: tuple[tuple[str, ...], ...]
    points: tuple[float, ...]

    def columns(self) -> dict[str, list[Any]]:
        """The rows as a dictionary of lists; the first row has the base points."""
        return {
            "features": ["", *(" x ".join(names) for names in self.features)],
            "states": ["base", *(" x ".join(states) for states in self.states)],
            "points": [self.base, *self.points],
        }


def to_rating_table(
    network: AnyNetwork,
    *,
    label: State | None = None,
    base_points: float = 600.0,
    base_odds: float = 50.0,
    points_to_double: float = 20.0,
    decimals: int | None = None,
) -> RatingTable:
    """Write a classifier of two classes as a table of points.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; its scores must be sums of tables.
    label : str, int, float or bool, default=None
        The class for which points speak; by default the second one.
    base_points, base_odds : float, default=600 and 50
        A sample with these odds has this number of points.
    points_to_double : float, default=20
        Points that double the odds.
    decimals : int or None, default=None
        Round points to so many decimals, to integers for 0; None does not round.

    Returns
    -------
    RatingTable
        The base and the points of every row. A sample has the base and one row of
        every factor; its odds are ``base_odds * 2 ** ((points - base_points) /
        points_to_double)``.

    Raises
    ------
    CapabilityError
        If there are more than two classes.
    """
    terms = ScoreTerms.of_network(network)
    if terms.n_classes != 2:
        raise CapabilityError(
            f"A rating table has points for one of two classes, but "
            f"{terms.target.name!r} has {terms.n_classes}. Fit one class against the "
            "others."
        )
    if not (base_odds > 0.0 and points_to_double > 0.0):
        raise InputError(
            "base_odds and points_to_double must be above 0, got "
            f"{base_odds!r} and {points_to_double!r}."
        )
    classes = terms.target.states
    label = classes[1] if label is None else label
    if label not in classes:
        raise InputError(f"label must be one of {list(classes)}, got {label!r}.")
    sign = 1.0 if label == classes[1] else -1.0
    scale = points_to_double / log(2.0)
    start = base_points - scale * log(base_odds) + sign * scale * float(terms.prior[0])
    features, states, points = [], [], []
    for term in terms.terms:
        names = tuple(terms.features[axis.feature].name for axis in term.axes)
        for row, weight in zip(_rows(terms, term), term.weights[:, 0], strict=True):
            features.append(names)
            states.append(row)
            points.append(sign * scale * float(weight))
    if decimals is not None:
        start, *points = _round([start, *points], decimals)
    return RatingTable(
        terms.target.name, label, start, tuple(features), tuple(states), tuple(points)
    )


def _round(points: list[float], decimals: int) -> list[float]:
    """Round points, without a negative zero; to integers without decimals."""
    rounded = np.round(points, decimals) + 0.0
    found: list[float] = (rounded if decimals > 0 else rounded.astype(int)).tolist()
    return found


def _rows(terms: ScoreTerms, term: ScoreTerm) -> list[tuple[str, ...]]:
    """The states of every cell of a term."""
    labels = [_labels(terms.features[axis.feature], axis) for axis in term.axes]
    shape = tuple(len(found) for found in labels)
    return [
        tuple(labels[a][bins[a]] for a in range(len(labels)))
        for bins in np.ndindex(*shape)
    ]


def _labels(variable: Variable, axis: TermAxis) -> list[str]:
    """The states of every bin as text."""
    codes_of: list[list[int]] = [[] for _ in range(axis.n_bins)]
    for code, b in enumerate(axis.bins):
        if b >= 0:
            codes_of[b].append(code)
    found = []
    for codes in codes_of:
        values = [code for code in codes if code < variable.n_values]
        if not values:
            is_state = codes and codes[0] < variable.n_states
            found.append("missing" if is_state else "not observed")
        elif variable.cuts is not None:
            ends = (-np.inf, *variable.cuts, np.inf)
            low, high = ends[values[0]], ends[values[-1] + 1]
            found.append(f"({low:g}, {high:g}{')' if high == np.inf else ']'}")
        else:
            found.append(", ".join(str(variable.states[code]) for code in values))
    return found
