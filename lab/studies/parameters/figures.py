"""The figures of docs/parameters.md, as SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from lab.studies.parameters import copies, gaps
from lab.studies.parameters.methods import SMOOTH_BINS
from lab.studies.parameters.results import Results
from tanager import BayesNetClassifier, ConditionalLikelihood, QuantileEncoder
from tanager.datasets import load

FOLDER = Path(__file__).parents[3] / "docs" / "figures"
INK = "#767676"
"""Of text and axes: readable on white and on dark pages."""

COLOURS = {
    "FE": "#d55e00",
    "DFE": "#cc79a7",
    "CL": "#0072b2",
    "ELR": "#56b4e9",
    "HYB": "#009e73",
    "best": INK,
}
"""Colours that are told apart with any kind of colour vision (Okabe and Ito)."""

MARKERS = {"FE": "o", "DFE": "D", "CL": "s", "ELR": "^", "HYB": "v", "best": ""}
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
WEIGHTS_OF = "uci25/vehicle"
FEATURES = 3
"""Features whose weights are shown: those that move the classes most."""


def draw(folder: Path = FOLDER, kind: str = "svg") -> None:
    """Draw all figures into a folder."""
    figures: dict[str, Callable[[], Any]] = {
        "parameters-smooth": smooth_weights,
        "parameters-copies": error_by_copies,
        "parameters-gaps": error_by_gaps,
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


def smooth_weights() -> Any:
    """Log weights over the bins of some features, penalised without and with order."""
    data = load(WEIGHTS_OF)
    models = [
        BayesNetClassifier(
            encoder=QuantileEncoder(n_bins=SMOOTH_BINS),
            structure="nb",
            parameters=ConditionalLikelihood(C="cv", smooth=smooth),
            random_state=0,
        ).fit(data.X, data.y)
        for smooth in (False, True)
    ]
    spread = {
        name: float(np.ptp(_weights(models[1], name), axis=0).max())
        for name in data.feature_names
    }
    chosen = sorted(spread, key=spread.__getitem__, reverse=True)[:FEATURES]
    figure, axes = plt.subplots(
        2, FEATURES, figsize=(8.2, 4.6), sharex="col", sharey="row"
    )
    colours = [COLOURS[name] for name in ("CL", "FE", "HYB", "DFE")]
    lines = ["-", "--", "-.", ":"]
    for row, model in enumerate(models):
        for column, name in enumerate(chosen):
            cuts = np.array(
                next(v for v in model.encoder_.schema_ if v.name == name).cuts
            )
            middle = np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:]])
            axis = axes[row, column]
            weights = _weights(model, name)
            for c, label in enumerate(model.classes_):
                axis.step(
                    middle,
                    weights[:, c],
                    where="mid",
                    color=colours[c],
                    linestyle=lines[c],
                    linewidth=1.6,
                    label=label,
                )
            axis.axhline(0, color=INK, linewidth=0.5)
            if row == 0:
                axis.set_title(name)
        axes[row, 0].set_ylabel(
            f"smooth={bool(row)}, C={model.parameters_.C_:.2g}\nlog weight"
        )
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _weights(model: Any, name: str) -> Any:
    """Log P(state | class) less its mean over the classes, (n_states, n_classes)."""
    log_theta = np.log(model.network_.table(name).values).T
    return log_theta - log_theta.mean(axis=1, keepdims=True)


def error_by_copies() -> Any:
    """Error and log loss of naive Bayes by the number of equal features."""
    results = Results("copies", copies.KEYS, copies.SEED)
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.2))
    for axis, column, label, scale in (
        (axes[0], "error", "error, %", 100),
        (axes[1], "log_loss", "log loss", 1),
    ):
        numbers = results.numbers(column)
        for name in (*copies.LEARNERS, "best"):
            axis.plot(
                copies.COPIES,
                [scale * numbers[str(m), name] for m in copies.COPIES],
                color=COLOURS[name],
                marker=MARKERS[name],
                linestyle="--" if name == "best" else "-",
                label="truth" if name == "best" else name,
                markersize=5,
            )
        axis.set_xticks(copies.COPIES)
        axis.set_xlabel("equal features, of 5")
        axis.set_ylabel(label)
        axis.set_ylim(bottom=0)
    axes[0].legend(loc="upper left")
    return figure


def error_by_gaps() -> Any:
    """Error by the share of test features that are missing."""
    results = Results("gaps", gaps.KEYS, gaps.SEED)
    numbers = results.numbers("error")
    figure, axes = plt.subplots(1, len(gaps.SETS), figsize=(7.6, 3.4))
    for axis, name in zip(axes, gaps.SETS, strict=True):
        for structure, parameters in gaps.METHODS:
            axis.plot(
                [100 * share for share in gaps.SHARES],
                [
                    100 * numbers[name, structure, parameters, str(share)]
                    for share in gaps.SHARES
                ],
                color=COLOURS[parameters],
                marker=MARKERS[parameters],
                linestyle="--" if structure == "NB" else "-",
                label=f"{structure} {parameters}",
                markersize=5,
            )
        axis.set_title(name.split("/")[1])
        axis.set_xlabel("test features missing, %")
        axis.set_ylim(bottom=0)
    axes[0].set_ylabel("error, %")
    axes[0].legend(loc="upper left")
    return figure
