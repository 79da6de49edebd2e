"""Line charts of cells, one panel for each number or choice of parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lab.runner.cell import Cell, Numbers
from lab.views.figure_style import COLOURS, MARKERS, panels


def draw_lines(
    options: Mapping[str, Any], cells: Sequence[tuple[Cell, Numbers]]
) -> Callable[[Any], None]:
    """How to draw cells as lines on a figure of matplotlib.

    Parameters
    ----------
    options : mapping
        ``x`` and ``x_label``: a parameter; ``lines``: tables with ``label`` and
        ``where`` (parameters); ``panels``: tables with ``number``, ``label``, ``scale``
        (1 if left out), ``where`` and ``title``; ``log``: whether x is logarithmic;
        ``level``: a number to show as a dotted line in the last panel, with a label.
    cells : sequence of (Cell, Numbers)
        What is drawn.
    """

    def draw(figure: Any) -> None:
        axes = panels(figure, len(options["panels"]))
        for axis, panel in zip(axes, options["panels"], strict=True):
            for place, line in enumerate(options["lines"]):
                where = {**line["where"], **panel.get("where", {})}
                points = sorted(
                    (_number(cell, options["x"]), numbers[panel["number"]])
                    for cell, numbers in cells
                    if where.items() <= cell.parameters.items()
                    and line["where"].items() <= where.items()
                )
                if not points:
                    continue
                scale = panel.get("scale", 1)
                axis.plot(
                    [x for x, _ in points],
                    [scale * y for _, y in points],
                    color=COLOURS[place % len(COLOURS)],
                    marker=MARKERS[place % len(MARKERS)],
                    linestyle=line.get("style", "-"),
                    label=line["label"],
                    markersize=5,
                )
            axis.set_title(panel.get("title", ""))
            axis.set_xlabel(options["x_label"])
            axis.set_ylabel(panel["label"])
            if options.get("log"):
                axis.set_xscale("log")
                ticks = sorted({_number(cell, options["x"]) for cell, _ in cells})
                axis.set_xticks(ticks, map(str, ticks))
                axis.minorticks_off()
            else:
                axis.set_ylim(bottom=0)
        if "level" in options:
            level = options["level"]
            axes[-1].axhline(level["value"], color="#767676", linestyle=":")
        figure.legend(
            *axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4
        )

    return draw


def _number(cell: Cell, name: str) -> Any:
    """A parameter that is a number."""
    return cell.parameters[name]
