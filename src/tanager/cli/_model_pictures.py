"""Pictures of a model by ``tanager plot --kind``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tanager.cli._column_matching import (
    absent_note,
    features_for,
    load_classifier,
    read_classes,
    text_columns,
)
from tanager.cli._input_data import load_data
from tanager.cli._terminal import say
from tanager.errors import InputError
from tanager.explain import measure_edges, stored_importance
from tanager.plots.calibration import CalibrationCurve
from tanager.plots.picture import Picture
from tanager.utils.text import pluralise

if TYPE_CHECKING:
    from tanager.network import AnyNetwork

NEED_DATA = ("waterfall", "calibration")
"""Kinds of pictures of predictions."""


def model_picture(network: AnyNetwork, kind: str, name: str | None) -> Picture:
    """Draw the importances, the strengths of the edges, or a CPT of a network."""
    if kind == "importance":
        return stored_importance(network).picture()
    if kind == "edges":
        return measure_edges(network).picture()
    if name is None:
        raise InputError("--kind cpt needs the variable: --feature NAME.")
    if not network.has_cpts:
        raise network.refusal("table")
    return network.table(name).picture()


def prediction_picture(
    model: str, data: str, kind: str, row: int, label: str | None, **options: Any
) -> Picture:
    """Draw the explanation of a row of data, or the calibration on all rows."""
    classifier = load_classifier(model, target=None)
    quiet = options.pop("quiet")
    variables = classifier.encoder_.schema_.variables
    of_class = classifier.networks_[0].schema.target_variable
    texts = text_columns((*variables, of_class))
    rows = load_data(data, options["reading"], texts, quiet=quiet)
    features, absent = features_for(rows, variables)
    if absent:
        say(absent_note(rows.name, absent), quiet=quiet)
    classes = {str(state): k for k, state in enumerate(of_class.states)}
    if label is not None and label not in classes:
        raise InputError(
            f"There is no class {label!r}; the classes are {', '.join(classes)}."
        )
    if kind == "waterfall":
        if row > features.n_rows:
            raise InputError(
                f"--row must be at most {features.n_rows}, since {rows.name} has "
                f"{pluralise(features.n_rows, 'row')}, got {row}."
            )
        if len(classifier.networks_) > 1:
            raise InputError(
                f"{model} holds {len(classifier.networks_)} networks that vote; only "
                "the predictions of a single network are explained."
            )
        chosen = None if label is None else of_class.states[classes[label]]
        found: Picture = classifier.explain(features).picture(row - 1, chosen)
        return found
    labels = read_classes(rows, of_class)
    if labels is None:
        raise InputError(
            f"{rows.name} has no column {of_class.name!r} with classes, which the "
            "calibration is measured against."
        )
    known = np.array([value is not None for value in labels])
    if not known.any():
        raise InputError(
            f"No row of {rows.name} has a class in its column {of_class.name!r}, which "
            "the calibration is measured against."
        )
    probabilities = classifier.predict_proba(features)[known]
    truth = np.array([str(value) for value in labels], dtype=object)[known]
    if label is not None or len(classes) == 2:
        name = label if label is not None else str(of_class.states[1])
        p, hits = probabilities[:, classes[name]], truth == name
        xlabel = f"Predicted probability of {name}"
    else:
        best = np.array(list(classes), dtype=object)[probabilities.argmax(axis=1)]
        p, hits = probabilities.max(axis=1), truth == best
        xlabel = "Probability of the predicted class"
    return CalibrationCurve.of(np.clip(p, 0, 1), hits).picture(xlabel=xlabel)
