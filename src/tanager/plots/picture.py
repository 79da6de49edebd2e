"""`Picture`: what is drawn, by matplotlib or as SVG."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tanager.plots.svg import Panel, write_svg


@dataclass(frozen=True, eq=False)
class Picture:
    """Plain data with the two functions that draw it.

    Parameters
    ----------
    draw : callable
        Takes `options` and `ax`, and returns matplotlib axes.
    draw_panel : callable
        Takes `options`, and returns SVG elements.
    options : mapping
        What is drawn.

    Examples
    --------
    >>> from tanager.plots import bar_picture
    >>> bar_picture(["age", "sex"], [0.7, -0.2], xlabel="log odds").to_svg()[:4]
    '<svg'
    """

    draw: Callable[..., Any]
    draw_panel: Callable[..., Panel]
    options: Mapping[str, Any]

    def plot(self, ax: Any = None) -> Any:
        """Draw with matplotlib, the extra ``plot``; None makes a figure."""
        return self.draw(**self.options, ax=ax)

    def panel(self) -> Panel:
        """Draw as SVG elements."""
        return self.draw_panel(**self.options)

    def to_svg(self) -> str:
        """Draw as an SVG document, without matplotlib."""
        return write_svg(self.panel())


class SvgMixin:
    """`to_svg` of what has a `picture`."""

    @abstractmethod
    def picture(self) -> Picture:
        """What `plot` and `to_svg` draw."""

    def to_svg(self, *arguments: Any, **options: Any) -> str:
        """Draw the `picture`, which takes the arguments, as SVG, without matplotlib."""
        return self.picture(*arguments, **options).to_svg()


class PictureMixin(SvgMixin):
    """`plot` and `to_svg` of what has a `picture`."""

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the `picture` with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **options
            As in `picture`.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InputError
            If matplotlib is not installed; it is in the extra ``plot``. `to_svg` does
            without it.
        """
        return self.picture(**options).plot(ax)
