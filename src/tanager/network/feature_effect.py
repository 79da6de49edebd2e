"""`Effect`: what features add to the log odds, as a curve or a heat map."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import numpy as np

from tanager.errors import unknown_name
from tanager.model.schema import Schema, State
from tanager.network.arc_information import NetworkInformation
from tanager.plots.effect_curve import draw_curve
from tanager.plots.effect_svg import curve_panel, heat_map_panel
from tanager.plots.heat_map import draw_heat_map
from tanager.plots.style import COLOURS
from tanager.plots.svg import Panel, write_svg
from tanager.types import FloatArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.text import escape_controls, one_line

MAX_LINES = 6
"""Classes whose curves are drawn: those with the largest effects."""


MAX_CATEGORIES = 60
"""States of a category that are drawn: those with most samples."""

LOWEST = -14.0
"""Log probability in place of lower ones: about one in a million."""


@dataclass(frozen=True, eq=False, repr=False)
class Effect(FrameMixin):
    """What the states of some features add to the log odds.

    Parameters
    ----------
    features : tuple of str
        The axes.
    labels : tuple of tuples
        Labels of the bins along every feature.
    classes : tuple
        The classes.
    values : ndarray of float64, shape (bins of each feature..., n_outputs)
        Log odds of the second of two classes, or centred log weights of all.
    errors : ndarray of float64, same shape, or None
        Their standard errors, if known.
    support : ndarray of float64, shape (bins of each feature...), or None
        Total weight of the training samples in every cell, or its probability in a
        network without counts; None if neither is known.
    cuts : tuple of (ndarray of float64 or None)
        For every feature the values between its bins; None for categories.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", *["grey"] * 3] * 5, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> found = model.fit(X, ["dry", "wet"] * 10).effect("sky")
    >>> found.labels, found.values[:, 0].round(3), found.support
    ((('blue', 'grey'),), array([-1.792,  0.606]), array([ 5., 15.]))
    """

    features: tuple[str, ...]
    labels: tuple[tuple[State, ...], ...]
    classes: tuple[State, ...]
    values: FloatArray
    errors: FloatArray | None
    support: FloatArray | None
    cuts: tuple[FloatArray | None, ...]

    @property
    def outputs(self) -> tuple[State, ...]:
        """What the last axis of `values` is of: the second of two classes, or all."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    def most_frequent(self) -> Effect:
        """The same with at most `MAX_CATEGORIES` states of a category.

        These are the ones with most samples, or the first ones if that is not known.
        """
        n_states = len(self.labels[0])
        if len(self.features) > 1 or self.cuts[0] is not None:
            return self
        if n_states <= MAX_CATEGORIES:
            return self
        counts = np.zeros(n_states) if self.support is None else self.support
        kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_CATEGORIES])
        return replace(
            self,
            features=(f"{self.features[0]} ({MAX_CATEGORIES} of {n_states:,} states)",),
            labels=(tuple(self.labels[0][k] for k in kept),),
            values=self.values[kept],
            errors=None if self.errors is None else self.errors[kept],
            support=None if self.support is None else self.support[kept],
        )

    @property
    def heading(self) -> str:
        """The names of the features."""
        return " × ".join(self.features)  # noqa: RUF001

    @property
    def unit(self) -> str:
        """What the values are."""
        if len(self.classes) > 2:
            return "log weight"
        return f"log odds of {self.outputs[0]}"

    def columns(self) -> dict[str, list[Any]]:
        """List the cells by column, with a row for every cell and class.

        The columns are the features, `class` if there are more than two, `log_odds` or
        `log_weight`, `standard_error` and `support`. A name that a feature has, too,
        ends in an underscore.
        """
        axes = list(zip(self.features, self.labels, strict=True))
        if len(self.classes) > 2:
            axes.append((free_name("class", self.features), self.classes))
        return cell_columns(axes, self.values, self.errors, self.support)

    def drop_empty_ends(self) -> Effect:
        """The same without last bins ("not observed") that have no samples at all."""
        support = self.support
        if support is None:
            return self
        kept = tuple(
            slice(None) if np.moveaxis(support, k, 0)[-1].any() else slice(-1)
            for k in range(support.ndim)
        )
        return replace(
            self,
            labels=tuple(own[cut] for own, cut in zip(self.labels, kept, strict=True)),
            values=self.values[kept],
            errors=None if self.errors is None else self.errors[kept],
            support=support[kept],
        )

    def plot(self, ax: Any = None, *, label: State | None = None) -> Any:
        """Draw with matplotlib: a curve, or the heat map of one class.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        label : class or None, default=None
            The class whose log odds or log weight is drawn. None takes the second of
            two classes; of more the six with the largest effects for a curve, and the
            one with the largest for a heat map.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            If there is no such class, or matplotlib is not installed; it is in the
            extra ``plot``. `to_svg` does without it.
        """
        drawn = self.most_frequent()
        unit, options = drawn._chart_data(label)
        if len(self.features) == 1:
            return draw_curve(title=drawn.heading, ylabel=unit, ax=ax, **options)
        return draw_heat_map(title=f"{self.heading}: {unit}", ax=ax, **options)

    def to_svg(self, *, label: State | None = None) -> str:
        """Draw as SVG, without matplotlib; see `plot`."""
        return write_svg(self.panel(label=label))

    def to_text(
        self,
        *,
        width: int = 80,
        ascii: bool = False,
        paint: Callable[[str, int], str] | None = None,
    ) -> str:
        """Draw the curve of a numeric feature with characters, for terminals.

        Parameters
        ----------
        width : int, default=80
            Characters of a line.
        ascii : bool, default=False
            Whether only characters of ASCII are used.
        paint : callable or None, default=None
            Gives a text the colour of a class by its number; see
            `tanager.plots.text_curve.curve_text`.

        Returns
        -------
        str
            A curve for every class, of many for those that vary most; the effect of
            categories, and that of several features, as the table of ``repr``.
        """
        from tanager.plots.text_curve import curve_text

        cuts = self.cuts[0]
        if len(self.features) > 1 or cuts is None or not len(cuts):
            return repr(self)
        values = self.values[: len(cuts) + 1]
        order = np.argsort(-np.ptp(values, axis=0), kind="stable")
        shown = np.sort(order[:MAX_LINES])
        values = values[:, shown]
        names = [escape_controls(str(self.outputs[k])) for k in shown]
        curve = curve_text(cuts, values, names, width=width, ascii=ascii, paint=paint)
        heading = escape_controls(one_line(f"{self.heading}: {self.unit}"))
        return f"{heading}\n\n{curve}"

    def panel(self, *, label: State | None = None) -> Panel:
        """Draw as SVG elements; see `plot`."""
        drawn = self.most_frequent()
        unit, options = drawn._chart_data(label)
        draw = curve_panel if len(self.features) == 1 else heat_map_panel
        return draw(heading=drawn.heading, unit=unit, **options)

    def _chart_data(self, label: State | None) -> tuple[str, dict[str, Any]]:
        """What the values of a picture are, and its data."""
        chosen, unit, sign = self._largest(), self.unit, 1.0
        if label is not None:
            if label not in self.classes:
                raise unknown_name("class", label, self.classes)
            place = self.classes.index(label)
            if len(self.classes) == 2:
                chosen, sign, unit = [0], 2.0 * place - 1.0, f"log odds of {label}"
            else:
                chosen = [place]
        if len(self.features) > 1:
            chosen = chosen[:1]
        if len(chosen) == 1 and len(self.classes) > 2:
            unit = f"log weight of {self.classes[chosen[0]]}"
        shown = sorted(chosen[:MAX_LINES])
        values = sign * self.values[..., shown]
        if len(self.features) > 1:
            return unit, self._grid(values[..., 0])
        # A class has its own colour in all pictures, unless there are too few of them.
        many = len(self.outputs) > len(COLOURS)
        return unit, {
            "labels": self.labels[0],
            "values": values,
            "errors": None if self.errors is None else self.errors[..., shown],
            "support": self.support,
            "cuts": self.cuts[0],
            "line_labels": [self.outputs[k] for k in shown],
            "colours": list(range(len(shown))) if many else shown,
        }

    def _largest(self) -> list[int]:
        """Positions of the outputs, that with the largest effects first."""
        squares = np.square(self.values)
        if self.support is not None:
            squares = squares * self.support[..., np.newaxis]
        sizes = squares.reshape(-1, len(self.outputs)).sum(axis=0)
        order: list[int] = np.argsort(-sizes, kind="stable").tolist()
        return order

    def _grid(self, values: FloatArray) -> dict[str, Any]:
        """Data of a heat map; of three features the first two are the rows."""
        rows = [", ".join(map(str, states)) for states in product(*self.labels[:-1])]
        shape = (len(rows), values.shape[-1])
        return {
            "values": values.reshape(shape),
            "row_labels": rows,
            "column_labels": self.labels[-1],
            "support": None if self.support is None else self.support.reshape(shape),
            "axis_names": (", ".join(self.features[:-1]), self.features[-1]),
        }


def cell_columns(
    axes: Sequence[tuple[str, Sequence[State]]],
    values: FloatArray,
    errors: FloatArray | None,
    support: FloatArray | None,
) -> dict[str, list[Any]]:
    """List the cells of effects by column, with a row for every cell and output.

    `axes` are names and labels of the first axes of `values`. Those of all of them are
    given if there are several outputs; a single output, the last axis, has no label.
    Other columns are `log_weight` or `log_odds`, `standard_error` and `support`.
    """
    places = np.unravel_index(np.arange(values.size), values.shape)
    found = {
        name: [labels[k] for k in place]
        for (name, labels), place in zip(axes, places, strict=False)
    }
    parts: dict[str, Any] = {
        "log_weight" if values.shape[-1] > 1 else "log_odds": values,
        "standard_error": np.nan if errors is None else errors,
        "support": np.nan if support is None else support[..., np.newaxis],
    }
    for name, part in parts.items():
        column = np.broadcast_to(part, values.shape).ravel().tolist()
        found[free_name(name, found)] = column
    return found


def free_name(name: str, taken: Container[str]) -> str:
    """The name, with underscores if it is taken."""
    while name in taken:
        name += "_"
    return name


def evidence_effects(
    schema: Schema, information: NetworkInformation, n_effects: int
) -> list[Effect]:
    """Evidence of single features, the most informative ones first."""
    if schema.target is None:
        return []
    order = np.argsort(-information.features, kind="stable").tolist()
    found = (evidence_effect(schema, information, v) for v in order)
    return list(islice((effect for effect in found if effect is not None), n_effects))


def evidence_effect(
    schema: Schema, information: NetworkInformation, variable: int
) -> Effect | None:
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
        values = np.diff(log_p, axis=1)
    cuts = None if feature.cuts is None else np.array(feature.cuts)
    return Effect(
        (feature.name,),
        (feature.states,),
        classes,
        values,
        None,
        joint.sum(axis=0),
        (cuts,),
    )
