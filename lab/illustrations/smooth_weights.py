"""Log weights of naive Bayes with and without the first-difference penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from lab.illustrations.style import INK
from lab.views.figure_style import BLUE, GREEN, ORANGE, PINK
from tanager import BayesNetClassifier, ConditionalLikelihood, QuantileEncoder
from tanager.datasets import load

WEIGHTS_OF = "uci25/vehicle"
FEATURES = 3
"""Features whose weights are shown: those that move the classes most."""
SMOOTH_BINS = 30


def smooth_weights() -> Any:
    """Log weights over the bins of some features, without and with the penalty."""
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
    colours = (BLUE, ORANGE, GREEN, PINK)
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
