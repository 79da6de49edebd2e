"""Pictures from plain data: matplotlib axes, and SVG without matplotlib."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "CalibrationCurve",
    "GraphLayout",
    "NetworkGraph",
    "Picture",
    "bar_picture",
    "cpt_picture",
    "dot_picture",
    "draw_bars",
    "draw_calibration",
    "draw_cpt",
    "draw_curve",
    "draw_dots",
    "draw_figure",
    "draw_heat_map",
    "draw_network",
    "draw_tornado",
    "draw_trace",
    "draw_waterfall",
    "lay_out_graph",
    "tornado_picture",
    "trace_picture",
    "waterfall_picture",
]

if TYPE_CHECKING:
    from tanager.plots.bars import (
        bar_picture,
        dot_picture,
        draw_bars,
        draw_dots,
        draw_tornado,
        draw_waterfall,
        tornado_picture,
        waterfall_picture,
    )
    from tanager.plots.calibration import CalibrationCurve, draw_calibration
    from tanager.plots.cpt_bars import cpt_picture, draw_cpt
    from tanager.plots.effect_curve import draw_curve
    from tanager.plots.figure import draw_figure
    from tanager.plots.heat_map import draw_heat_map
    from tanager.plots.layered_layout import GraphLayout, lay_out_graph
    from tanager.plots.network_axes import draw_network
    from tanager.plots.network_picture import NetworkGraph
    from tanager.plots.picture import Picture
    from tanager.plots.trace import draw_trace, trace_picture
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".bars": (
                "bar_picture", "dot_picture", "draw_bars", "draw_dots", "draw_tornado",
                "draw_waterfall", "tornado_picture", "waterfall_picture",
            ),
            ".calibration": ("CalibrationCurve", "draw_calibration"),
            ".cpt_bars": ("cpt_picture", "draw_cpt"),
            ".effect_curve": ("draw_curve",),
            ".figure": ("draw_figure",),
            ".heat_map": ("draw_heat_map",),
            ".layered_layout": ("GraphLayout", "lay_out_graph"),
            ".network_axes": ("draw_network",),
            ".network_picture": ("NetworkGraph",),
            ".picture": ("Picture",),
            ".trace": ("draw_trace", "trace_picture"),
        },
    )  # fmt: skip
