"""``python -m lab illustrate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lab.console import say

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "figures"


@click.command(short_help="Draw the illustrations of the documentation.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=FOLDER,
    metavar="FOLDER",
    help="Folder for the SVG files.  [default: docs/figures]",
)
def illustrate(output: Path) -> int:
    """Draw the illustrations of the documentation as SVG."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    from lab.illustrations.smooth_weights import smooth_weights
    from lab.illustrations.structures import DRAWINGS
    from lab.illustrations.style import STYLE

    drawings: dict[str, Callable[[], Any]] = {
        f"structure-{name}": draw for name, draw in DRAWINGS.items()
    }
    drawings["parameters-smooth"] = smooth_weights
    output.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in drawings.items():
            figure = draw()
            # Without a date the same drawing is the same file.
            figure.savefig(output / f"{name}.svg", metadata={"Date": None})
            plt.close(figure)
            say(f"Wrote {output / name}.svg.")
    return 0
