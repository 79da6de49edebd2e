"""`NamedFactor`: a factor with names, bins, standard errors and support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tanager.model.schema import State
from tanager.network.named_table import LogTable
from tanager.types import FloatArray
from tanager.utils.data_frame import make_frame

if TYPE_CHECKING:
    from tanager.network.feature_effect import Effect


@dataclass(frozen=True, eq=False)
class NamedFactor(LogTable):
    """The log weights of a factor with their standard errors.

    Over one feature it is a curve, over two a surface.

    Parameters
    ----------
    names : tuple of str
        The axes: the features in the order of the data, then the class.
    states : tuple of tuples
        Labels along every axis. Along a feature they are those of the factor's bins;
        the last one is "not observed".
    values : ndarray of float64, shape (bins of each feature..., n_classes)
        Log weights; the sum over the classes is zero.
    errors : ndarray of float64, same shape, or None
        Their standard errors; None for models saved without them.
    support : ndarray of float64, shape (bins of each feature...)
        Total weight of the training samples in every cell.
    cuts : tuple of (ndarray of float64, shape (n_numeric_bins - 1,), or None)
        For every feature the values between its bins, increasing; None for categories.
        The bins of numbers come first, then perhaps that of missing values.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"hour": [1.0, 2.0, 3.0, 4.0] * 20}
    >>> model = BayesNetClassifier().fit(X, [0, 0, 1, 1] * 20)
    >>> curve = model.network_.log_table("hour")
    >>> curve.cuts
    (array([1.5, 2.5, 3.5]),)
    >>> curve.effects.shape, bool(curve.effects[3, 0] > 0)
    ((5, 1), True)
    >>> list(curve.columns())
    ['hour', 'log_odds', 'standard_error', 'support']
    """

    errors: FloatArray | None
    support: FloatArray
    cuts: tuple[FloatArray | None, ...]

    @property
    def effects(self) -> FloatArray:
        """Log odds of the second of two classes, or the log weights of all classes.

        The shape is (bins of each feature..., 1), or that of `values`.
        """
        two = self.values.shape[-1] == 2
        return np.diff(self.values, axis=-1) if two else self.values

    @property
    def effect_errors(self) -> FloatArray | None:
        """Standard errors of `effects`."""
        if self.errors is None or self.values.shape[-1] != 2:
            return self.errors
        # The two weights are opposite numbers, so their errors add.
        total: FloatArray = self.errors.sum(axis=-1, keepdims=True)
        return total

    @property
    def effect(self) -> Effect:
        """The effects as they are drawn, without bins that have no samples."""
        from tanager.network.feature_effect import Effect

        return Effect(
            self.names[:-1],
            self.states[:-1],
            self.states[-1],
            self.effects,
            self.effect_errors,
            self.support,
            self.cuts,
        ).drop_empty_ends()

    def plot(self, ax: Any = None, *, label: State | None = None) -> Any:
        """Draw the factor: a curve of one feature, a heat map of two or three.

        Curves have a band of plus and minus one standard error; bars at the bottom show
        the samples. In heat maps, cells without samples are hatched.

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
            Needs the extra ``plot``; `to_svg` does without it.
        """
        return self.effect.plot(ax, label=label)

    def to_svg(self, *, label: State | None = None) -> str:
        """Draw the factor as SVG, without matplotlib; see `plot`."""
        return self.effect.to_svg(label=label)

    def columns(self) -> dict[str, list[Any]]:
        """List `effects` by column, with a row for every cell.

        The columns are the features, the class if there are more than two, `log_odds`
        or `log_weight`, `standard_error` and `support`. A name that a feature has, too,
        ends in an underscore.
        """
        from tanager.network.feature_effect import cell_columns

        # Of two classes there is a single column, which needs no label.
        n_axes = len(self.names) - (1 if len(self.states[-1]) == 2 else 0)
        axes = list(zip(self.names, self.states, strict=True))[:n_axes]
        return cell_columns(axes, self.effects, self.effect_errors, self.support)

    def to_frame(self) -> Any:
        """The `columns` as a pandas DataFrame.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return make_frame(self.columns())
