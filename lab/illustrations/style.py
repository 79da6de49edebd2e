"""Style that all illustrations share."""

from __future__ import annotations

INK = "#767676"
"""Of text and axes: readable on white and on dark pages."""
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.transparent": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "tanager",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
