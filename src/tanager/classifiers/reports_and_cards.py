"""Reports and cards of fitted classifiers."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.persistence import describe_classifier
from tanager.encoding import encode_frame, read_frame
from tanager.encoding.labels import encode_labels
from tanager.errors import CapabilityError, InputError
from tanager.report import ModelCard, ReportData, Training, make_card, write_report
from tanager.types import IntArray
from tanager.utils.atomic_write import check_writable
from tanager.utils.text import shorten

MAX_SETTING = 500
"""Characters of an argument that are shown."""


def write_model_report(
    model: DataFrameClassifier,
    path: str | PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    title: str = "",
    name: str = "",
) -> None:
    """Write the report of a fitted classifier; see `DataFrameClassifier.report`.

    `name` is that of the dataset.
    """
    _check_single(model, "report")
    check_writable(path)
    data = _read_data(model, X, y, name, "report")
    write_report(path, model.networks_[0], describe_training(model), data, title=title)


def make_model_card(
    model: DataFrameClassifier,
    X: Any = None,
    y: Any = None,
    *,
    title: str = "",
    name: str = "",
) -> ModelCard:
    """Make the card of a fitted classifier; see `BayesNetClassifier.card`."""
    _check_single(model, "card")
    data = _read_data(model, X, y, name, "card")
    return make_card(model.networks_[0], describe_training(model), data, title=title)


def _check_single(model: DataFrameClassifier, what: str) -> None:
    """Raise if a classifier has several networks."""
    if len(model.networks_) != 1 or hasattr(model, "estimator_weights_"):
        raise CapabilityError(
            f"A {what} shows one network, but a {type(model).__name__} lets several "
            f"vote, here {len(model.networks_)}. Use one of them: "
            f"BayesNetClassifier.from_network(model.networks_[0]).{what}(...)."
        )


def describe_training(model: DataFrameClassifier) -> Training:
    """Settings and trace of a classifier as plain data."""
    try:
        about = describe_classifier(model)
    except CapabilityError:
        about = None  # a part of the user's own: the network is exported without it
    settings = {
        key: shorten(repr(value), MAX_SETTING)
        for key, value in model.get_params(deep=False).items()
    }
    return Training(
        about,
        {"classifier": type(model).__name__, **settings},
        getattr(model, "trace_", {}),
    )


def _read_data(
    model: DataFrameClassifier, X: Any, y: Any, name: str, what: str
) -> ReportData | None:
    """Codes, labels and predictions of the samples, if there are any."""
    if X is None:
        if y is not None:
            raise InputError(f"{what} got classes y without samples; pass X, too.")
        return None
    frame = model._match_columns(read_frame(X))
    probabilities = model.predict_proba(frame)
    codes = encode_frame(frame, model.encoder_.schema_)
    labels = None if y is None else _read_labels(model, y, frame.n_rows)
    return ReportData(codes, probabilities, labels, name)


def _read_labels(model: DataFrameClassifier, y: Any, n_rows: int) -> IntArray:
    """Position of the class of every sample, -1 where it is missing."""
    found, labels = encode_labels(y, n_rows, type(model).__name__, allow_missing=True)
    place = {label: code for code, label in enumerate(model.classes_.tolist())}
    unknown = [label for label in found.tolist() if label not in place]
    if unknown:
        shown = ", ".join(map(repr, unknown[:5])) + (", ..." if unknown[5:] else "")
        raise InputError(
            f"y has classes that the model does not know: {shown}; it knows "
            f"{', '.join(map(repr, list(place)[:5]))}. Leave out these samples, or set "
            "their class to None."
        )
    lookup = np.array([*(place[label] for label in found.tolist()), -1])
    codes: IntArray = lookup[labels].astype(np.int64)
    return codes
