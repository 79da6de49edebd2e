"""Pictures of a factor: a curve of one feature, a heat map of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from tanager.errors import unknown_name
from tanager.model.schema import Schema, State
from tanager.network.arc_information import NetworkInformation
from tanager.plots.chart_svg import curve_panel, heat_map_panel
from tanager.plots.curve import draw_curve
from tanager.plots.heat_map import draw_heat_map
from tanager.plots.svg import Panel, write_svg
from tanager.types import FloatArray

MAX_LINES = 6
"""Classes whose curves are drawn: those with the largest effects."""


LOWEST = -14.0
"""Log probability in place of lower ones: about one in a million."""


@dataclass(frozen=True, eq=False)
class EffectTable:
    """Effects of some features on the class, ready to be drawn.

    Parameters
    ----------
    features : tuple of str
        The axes.
    labels : tuple of tuples
        Labels of the bins along every feature.
    classes : tuple
        What the last axis of `values` is of: all classes, or the second of two.
    values : ndarray of float64, shape (bins of each feature..., n_values)
        Log odds of the second of two classes, or log weights of all.
    errors : ndarray of float64, same shape, or None
        Standard errors.
    support : ndarray of float64, shape (bins of each feature...)
        Total weight of the samples in every cell.
    cuts : tuple of (ndarray of float64 or None)
        For every feature the values between its bins; None for categories.
    """

    features: tuple[str, ...]
    labels: tuple[Sequence[State], ...]
    classes: tuple[State, ...]
    values: FloatArray
    errors: FloatArray | None
    support: FloatArray
    cuts: tuple[FloatArray | None, ...]

    @property
    def heading(self) -> str:
        """The names of the features."""
        return " × ".join(self.features)  # noqa: RUF001

    @property
    def unit(self) -> str:
        """What the values are."""
        if len(self.classes) > 1:
            return "log weight"
        return f"log odds of {self.classes[0]}"

    def drop_empty_ends(self) -> EffectTable:
        """The same without last bins ("not observed") that have no samples at all."""
        kept = tuple(
            slice(None) if np.moveaxis(self.support, k, 0)[-1].any() else slice(-1)
            for k in range(self.support.ndim)
        )
        return EffectTable(
            self.features,
            tuple(own[cut] for own, cut in zip(self.labels, kept, strict=True)),
            self.classes,
            self.values[kept],
            None if self.errors is None else self.errors[kept],
            self.support[kept],
            self.cuts,
        )

    def plot(self, ax: Any = None, *, label: State | None = None) -> Any:
        """Draw with matplotlib: a curve, or the heat map of one class.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        label : class or None, default=None
            Of more than two classes the one to draw. None takes the six with the
            largest effects for a curve, and the one with the largest for a heat map.

        Returns
        -------
        matplotlib Axes
        """
        if len(self.features) == 1:
            chosen, options = self._curve(label)
            unit = self._unit_of(chosen)
            return draw_curve(title=self.heading, ylabel=unit, ax=ax, **options)
        place, options = self._grid(label)
        heading = f"{self.heading}: {self._unit_of([place])}"
        return draw_heat_map(title=heading, ax=ax, **options)

    def to_svg(self, *, label: State | None = None) -> str:
        """Draw as SVG, without matplotlib; see `plot`."""
        return write_svg(self.panel(label=label))

    def panel(self, *, label: State | None = None) -> Panel:
        """Draw as SVG elements; see `plot`."""
        if len(self.features) == 1:
            chosen, options = self._curve(label)
            unit = self._unit_of(chosen)
            return curve_panel(heading=self.heading, unit=unit, **options)
        place, options = self._grid(label)
        return heat_map_panel(
            heading=self.heading, unit=self._unit_of([place]), **options
        )

    def _unit_of(self, chosen: Sequence[int]) -> str:
        if len(chosen) == 1 and len(self.classes) > 1:
            return f"log weight of {self.classes[chosen[0]]}"
        return self.unit

    def _strongest(self, label: State | None) -> list[int]:
        """Positions of the given class, or of those with the largest effects."""
        if label is not None:
            if label not in self.classes:
                raise unknown_name("class", label, self.classes)
            return [self.classes.index(label)]
        squares = np.square(self.values) * self.support[..., np.newaxis]
        sizes = squares.reshape(-1, len(self.classes)).sum(axis=0)
        order = np.argsort(-sizes, kind="stable")[:MAX_LINES]
        return sorted(order.tolist())

    def _curve(self, label: State | None) -> tuple[list[int], dict[str, Any]]:
        """Positions of the classes of a curve, and what is drawn."""
        chosen = self._strongest(label)
        return chosen, {
            "labels": self.labels[0],
            "values": self.values[..., chosen],
            "errors": None if self.errors is None else self.errors[..., chosen],
            "support": self.support,
            "cuts": self.cuts[0],
            "line_labels": [self.classes[k] for k in chosen],
            "colours": chosen,
        }

    def _grid(self, label: State | None) -> tuple[int, dict[str, Any]]:
        """Position of the class of a heat map, and what is drawn.

        Of three features the first two together are the rows.
        """
        squares = np.square(self.values) * self.support[..., np.newaxis]
        sizes = squares.reshape(-1, len(self.classes)).sum(axis=0)
        place = int(sizes.argmax()) if label is None else self._strongest(label)[0]
        rows = [
            ", ".join(map(str, states)) for states in product(*self.labels[:-1])
        ]  # one feature, or the configurations of two
        n_columns = self.support.shape[-1]
        return place, {
            "values": self.values[..., place].reshape(-1, n_columns),
            "row_labels": rows,
            "column_labels": self.labels[-1],
            "support": self.support.reshape(-1, n_columns),
            "axis_names": (", ".join(self.features[:-1]), self.features[-1]),
        }


def evidence_effects(
    schema: Schema, information: NetworkInformation, n_effects: int
) -> list[EffectTable]:
    """Evidence of single features, the most informative ones first."""
    if schema.target is None:
        return []
    order = np.argsort(-information.features, kind="stable").tolist()
    found = (evidence_effect(schema, information, v) for v in order)
    return list(islice((effect for effect in found if effect is not None), n_effects))


def evidence_effect(
    schema: Schema, information: NetworkInformation, variable: int
) -> EffectTable | None:
    """Evidence of the states of one feature; None for the class.

    Weights are ``log P(x | class)`` minus the mean over the classes; the support is
    P(x).
    """
    joint = information.class_joint(variable)
    if joint is None:
        return None
    feature, classes = schema[variable], schema.target_variable.states
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p = np.log(joint / joint.sum(axis=1, keepdims=True)).T
    log_p = np.maximum(np.nan_to_num(log_p, nan=LOWEST, neginf=LOWEST), LOWEST)
    values = log_p - log_p.mean(axis=1, keepdims=True)
    if len(classes) == 2:
        classes, values = classes[1:], np.diff(log_p, axis=1)
    cuts = None if feature.cuts is None else np.array(feature.cuts)
    return EffectTable(
        (feature.name,),
        (feature.states,),
        classes,
        values,
        None,
        joint.sum(axis=0),
        (cuts,),
    )
