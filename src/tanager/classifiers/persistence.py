"""Classifiers to and from model files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from tanager.classifiers.checks import MEANINGS, check_choice
from tanager.classifiers.learning import empty_trace
from tanager.core.errors import CapabilityError, FileFormatError
from tanager.io import read_model, write_model
from tanager.network import Network
from tanager.registry import part_classes

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier

CLASS_TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "str", "object",
)  # fmt: skip
"""Types of arrays that class labels may be restored to."""


def save(model: BayesNetClassifier, path: str | PathLike[str]) -> None:
    """Write a fitted classifier to `path`."""
    arguments = {
        name: _document_of(value, name)
        for name, value in model.get_params(deep=False).items()
        if name not in ("n_jobs", "random_state")
    }
    name = "str" if model.classes_.dtype.kind == "U" else model.classes_.dtype.name
    write_model(
        path,
        model.network_,
        {
            "class": type(model).__name__,
            "arguments": arguments,
            "classes": name if name in CLASS_TYPES else "object",
            "named_features": hasattr(model, "feature_names_in_"),
        },
    )


def load(path: str | PathLike[str]) -> BayesNetClassifier | Network:
    """Read a model file: a classifier, or a network if that was saved.

    Parameters
    ----------
    path : str or path
        Written by ``BayesNetClassifier.save`` or ``tanager.io.write_model``.

    Returns
    -------
    BayesNetClassifier or Network
        Ready to be asked. Reading never executes anything from the file.

    Raises
    ------
    FileFormatError
        If the file is damaged, of an unknown kind or newer than this version.
    """
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.presets import NaiveBayesClassifier, TANClassifier

    model_file = read_model(path)
    if model_file.classifier is None:
        return model_file.network
    about = model_file.classifier
    kinds = (BayesNetClassifier, NaiveBayesClassifier, TANClassifier)
    by_name = {kind.__name__: kind for kind in kinds}
    schema = model_file.network.schema
    try:
        kind = by_name[about["class"]]
        arguments = {k: _part_of(v) for k, v in about["arguments"].items()}
        model = kind(**arguments)
        if about["classes"] not in CLASS_TYPES or schema.target != len(schema) - 1:
            raise ValueError("its classes are of an unknown type")
        states = schema.target_variable.states
        classes = np.array(states, dtype=about["classes"])
        if classes.tolist() != list(states):
            raise ValueError("its classes are of another type than it says")
        check_choice("missing", model.missing, MEANINGS)
        check_choice("unknown", model.unknown, MEANINGS)
        model.n_features_in_ = len(schema) - 1
        if about["named_features"]:
            model.feature_names_in_ = np.array(schema.names[:-1], dtype=object)
        model._adopt(model_file.network, classes)
        model._declared, model._counts = True, None
        model.trace_ = empty_trace()
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(
            f"The classifier described in {str(path)!r} cannot be made ({error}); the "
            "file is damaged or from another version."
        ) from None
    return model


def _document_of(value: Any, argument: str) -> Any:
    """A constructor argument as plain JSON values; parts by name of their class."""
    if isinstance(value, BaseEstimator):
        name = type(value).__name__
        if part_classes().get(name) is not type(value):
            raise CapabilityError(
                f"{argument} is a {name}, which model files do not know. Save the "
                "network with tanager.io.write_model(path, model.network_), or pickle "
                "the classifier."
            )
        parts = value.get_params(deep=False)
        return {
            "part": name,
            "arguments": {key: _document_of(v, key) for key, v in parts.items()},
        }
    if isinstance(value, Mapping):
        pairs = [[_document_of(k, argument), _document_of(v, argument)]
                 for k, v in value.items()]  # fmt: skip
        return {"pairs": pairs}
    if isinstance(value, (list, tuple, np.ndarray)):
        return {"list": [_document_of(item, argument) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise CapabilityError(
        f"{argument}={value!r} cannot be written to a model file; give plain values."
    )


def _part_of(document: Any) -> Any:
    """The argument that `_document_of` wrote."""
    if not isinstance(document, dict):
        return document
    if set(document) == {"part", "arguments"}:
        made = part_classes()[document["part"]]
        return made(**{k: _part_of(v) for k, v in document["arguments"].items()})
    if set(document) == {"pairs"}:
        return {_part_of(key): _part_of(value) for key, value in document["pairs"]}
    if set(document) == {"list"}:
        return [_part_of(item) for item in document["list"]]
    raise ValueError(f"unknown entry {sorted(document)}")
