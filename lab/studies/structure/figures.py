"""The figures of docs/structure.md, as SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

from lab.measurements.generated import best_accuracy
from lab.studies.parameters.figures import FOLDER, INK, STYLE
from lab.studies.structure import three_features
from lab.studies.structure.coded import results
from lab.studies.structure.drawings import DRAWINGS

CURVES = {
    ("TAN-OMI-CR", "ML"): ("#0072b2", "s", "-"),
    ("TAN-OMI-CR", "CL"): ("#0072b2", "s", "--"),
    ("TAN-CR", "ML"): ("#56b4e9", "^", "-"),
    ("TAN-SuperParent", "ML"): ("#cc79a7", "D", "-"),
    ("TAN-OMI-CL", "ML"): ("#009e73", "v", "-"),
    ("TAN-CMI", "ML"): ("#d55e00", "o", "-"),
    ("TAN-CMI", "CL"): ("#d55e00", "o", "--"),
    ("NB", "ML"): (INK, "x", "-"),
}
"""Colour, marker and line of every method (colours by Okabe and Ito)."""


def draw(folder: Path = FOLDER, kind: str = "svg") -> None:
    """Draw all figures into a folder."""
    figures: dict[str, Callable[[], Any]] = {
        **{f"structure-{name}": make for name, make in DRAWINGS.items()},
        "structure-three-features": by_rows,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, make in figures.items():
            figure = make()
            path = folder / f"{name}.{kind}"
            # Without a date the same numbers give the same file.
            metadata = {"Date": None} if kind == "svg" else None
            figure.savefig(path, metadata=metadata)
            plt.close(figure)
            print(path)


def by_rows() -> Any:
    """How often the arc is found, and the accuracy, by the number of rows."""
    numbers = results("three-features", three_features.KEYS)
    found, accuracy = numbers.numbers("found"), numbers.numbers("accuracy")
    sizes = three_features.SIZES
    figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.6))
    for (structure, parameters), (colour, marker, line) in CURVES.items():
        style: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "linestyle": line,
            "markersize": 5,
        }
        if parameters == "ML" and structure != "NB":
            axes[0].plot(
                sizes,
                [100 * found[structure, parameters, str(n)] for n in sizes],
                **style,
            )
        axes[1].plot(
            sizes,
            [100 * accuracy[structure, parameters, str(n)] for n in sizes],
            label=f"{structure} {parameters}",
            **style,
        )
    best = 100 * best_accuracy()
    axes[1].axhline(best, color=INK, linestyle=":", label="truth")
    for axis, label in zip(
        axes, ("arc found, % of samples", "accuracy, %"), strict=True
    ):
        axis.set_xscale("log")
        axis.set_xticks(sizes, map(str, sizes))
        axis.minorticks_off()
        axis.set_xlabel("training rows")
        axis.set_ylabel(label)
    axes[0].set_ylim(0, 103)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center")
    return figure
