"""Classifiers and networks to and from files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Set
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from tanager.classifiers.base import POLICIES, DataFrameClassifier, fitted_encoder
from tanager.classifiers.training import FitResult
from tanager.errors import (
    CapabilityError,
    DataWarning,
    FileFormatError,
    InputError,
    NetworkOnlyError,
    TableSizeError,
    listed,
)
from tanager.io import (
    ModelFile,
    network_format,
    read_any,
    write_ensemble,
    write_model,
)
from tanager.network import AnyNetwork, Network
from tanager.registry import part_classes, parts_from
from tanager.registry.migration import NAMES, migrate, rename
from tanager.structure import Constraints
from tanager.utils.validation import check_choice

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.boosting import BoostedClassifier

CLASS_TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "str", "object",
)  # fmt: skip
"""Types of arrays that class labels may be restored to."""

OF_THE_MACHINE = ("checkpoint", "n_jobs", "random_state")
"""Arguments that say where and how a model was learned; files do not keep them.

Nor are they taken from a file: it could name a path that the next `fit` writes to.
"""


def save(model: DataFrameClassifier | AnyNetwork, path: str | PathLike[str]) -> None:
    """Write a fitted classifier or a network to a file; see `load`.

    Parameters
    ----------
    model : BayesNetClassifier, BoostedClassifier, Network or LogLinearNetwork
        What to write. BIF and XMLBIF hold its network, with cut points and target, but
        not how a classifier was learned, and only one network. They hold CPTs: factors
        are converted (`LogLinearNetwork.to_network`). A `DataWarning` names variables
        with a single state, which pyAgrum does not read from BIF.
    path : str or path
        The suffix says the format: ``.bif``; ``.xmlbif``, ``.xml`` or ``.bifxml`` for
        XMLBIF; any other a model file, usually ``.json``. The file is replaced in one
        step, so never half-written.

    Raises
    ------
    CapabilityError
        If the format cannot hold the model.
    InputError
        If the file cannot be written, or `model` is something else.

    Examples
    --------
    >>> import os, tempfile
    >>> coin = Network.build({"coin": ["heads", "tails"]}, {"coin": [0.5, 0.5]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "coin.bif")
    ...     save(coin, path)
    ...     load(path)
    <Network: 1 variables, 0 arcs, 1 parameters>
    """
    if not isinstance(model, AnyNetwork | DataFrameClassifier):
        raise InputError(
            "save expects a Network or a classifier of this library, got an object of "
            f"type {type(model).__name__}; pickle writes other objects."
        )
    found = network_format(path)
    if found is not None:
        network = _single_network(model, path)
        if found.name == "BIF":
            _warn_of_single_states(network)
        found.write(path, network)
        return
    if isinstance(model, AnyNetwork):
        write_model(path, model)
        return
    model = model._fitted()
    about = describe_classifier(model)
    weights = getattr(model, "estimator_weights_", None)
    if weights is None:
        write_model(path, model.networks_[0], about)
    else:
        write_ensemble(path, model.networks_, weights, about)


def _warn_of_single_states(network: Network) -> None:
    """Warn of variables that pyAgrum refuses to read from BIF."""
    single = [variable.name for variable in network.schema if variable.n_states == 1]
    if single:
        several = len(single) > 1
        warnings.warn(
            f"The variable{'s' * several} {listed(single, 5)} "
            f"{'have' if several else 'has'} a single state. pyAgrum reads no such "
            "variables from BIF; pgmpy and tanager do. For pyAgrum write XMLBIF, such "
            "as model.bifxml, or leave them out, which changes no prediction: "
            "model.blanket_classifier().save(path).",
            DataWarning,
            stacklevel=3,
        )


def describe_classifier(model: DataFrameClassifier) -> dict[str, Any]:
    """What a model file says of a fitted classifier, as plain data.

    `CapabilityError` is raised if it has parts that model files do not know.
    """
    name = "str" if model.classes_.dtype.kind == "U" else model.classes_.dtype.name
    return {
        "class": type(model).__name__,
        "arguments": _arguments_to_json(model),
        "classes": name if name in CLASS_TYPES else "object",
        "named_features": hasattr(model, "feature_names_in_"),
        "names": NAMES,
    }


def _single_network(
    model: DataFrameClassifier | AnyNetwork, path: str | PathLike[str]
) -> Network:
    """A network with CPTs: the model itself, or that of a classifier with one."""
    networks: tuple[AnyNetwork, ...]
    if isinstance(model, DataFrameClassifier):
        networks = model._fitted().networks_
    else:
        networks = (model,)
    if hasattr(model, "estimator_weights_"):
        raise CapabilityError(
            f"{str(path)!r} would hold one network, but a {type(model).__name__} lets "
            f"several vote, here {len(networks)}. Save it as a model file (.json), or "
            "one of its members: tanager.save(model.networks_[0], path)."
        )
    network = networks[0]
    if isinstance(network, Network):
        return network
    try:
        return network.to_network()
    except (NetworkOnlyError, TableSizeError) as error:
        raise CapabilityError(
            f"{str(path)!r} would hold CPTs; save the model as a model file (.json). "
            f"{error}"
        ) from None


def load(
    path: str | PathLike[str],
) -> BayesNetClassifier | BoostedClassifier | AnyNetwork:
    """Read a model: a classifier, or a network if that is what the file holds.

    Parameters
    ----------
    path : str or path
        The suffix says the format: ``.bif`` is BIF; ``.xmlbif``, ``.xml`` and
        ``.bifxml`` are XMLBIF; any other is a model file, which `save` writes. BIF and
        XMLBIF give a network: `BayesNetClassifier.from_network` makes a classifier.

    Returns
    -------
    BayesNetClassifier, BoostedClassifier, Network or LogLinearNetwork
        Fitted. Reading never executes anything from the file.

    Raises
    ------
    FileFormatError
        If the file is damaged, of an unknown kind or newer than this version.
    """
    model_file = read_any(path)
    if model_file.classifier is None and model_file.weights is None:
        return model_file.network
    try:
        return _make_classifier(model_file)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileFormatError(
            f"The classifier described in {str(path)!r} cannot be made ({error}); the "
            "file is damaged or from another version."
        ) from None
    except RecursionError:
        raise FileFormatError(
            f"The classifier described in {str(path)!r} cannot be made: its arguments "
            "are nested too deeply."
        ) from None


def _make_classifier(model_file: ModelFile) -> BayesNetClassifier | BoostedClassifier:
    """The classifier that `save` wrote; any of many errors if it is none."""
    from tanager.classifiers.boosting import BoostedClassifier

    about = model_file.classifier
    if about is None:
        raise ValueError("an ensemble of networks says nothing of its classifier")
    kinds: dict[str, type[BayesNetClassifier | BoostedClassifier]]
    kinds = {**_single_kinds(), BoostedClassifier.__name__: BoostedClassifier}
    kind = kinds[about["class"]]
    arguments = about["arguments"]
    if about.get("names", 1) < NAMES:
        arguments = rename(arguments)
    arguments = migrate(arguments)
    model = kind(**_arguments_from_json(arguments))
    schema = model_file.networks[0].schema
    if about["classes"] not in CLASS_TYPES or schema.target != len(schema) - 1:
        raise ValueError("its classes are of an unknown type")
    states = schema.target_variable.states
    classes = np.array(states, dtype=about["classes"])
    if classes.tolist() != list(states):
        raise ValueError("its classes are of another type than it says")
    options = model._options()
    check_choice("missing", options.missing, POLICIES)
    check_choice("unknown", options.unknown, POLICIES)
    encoder, *_ = parts_from(
        options.encoder,
        options.structure,
        options.parameters,
        counting=isinstance(model, BoostedClassifier),
    )
    has_names = bool(about["named_features"])
    encoder = fitted_encoder(encoder, schema, has_names=has_names)
    if isinstance(model, BoostedClassifier):
        if model_file.weights is None:
            raise ValueError("it is an ensemble, but the file holds one network")
        if len(classes) < 2:
            raise ValueError("it has only one class")
        model._check(options)
        votes = np.array(model_file.weights)
        members = tuple(n for n in model_file.networks if n.has_cpts)
        if len(members) < len(model_file.networks):
            raise ValueError("an ensemble has networks with CPTs only")
        model._set_fitted(encoder, classes, members, votes)
        return model
    if model_file.weights is not None:
        raise ValueError("it has one network, but the file holds an ensemble")
    result = FitResult(model_file.network)
    model._set_fitted(encoder, classes, result, declared=True)
    return model


def _single_kinds() -> dict[str, type[BayesNetClassifier]]:
    """The classifiers of one network, by name."""
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.presets import NaiveBayesClassifier, TANClassifier

    kinds = (BayesNetClassifier, NaiveBayesClassifier, TANClassifier)
    return {kind.__name__: kind for kind in kinds}


def _arguments_to_json(part: BaseEstimator) -> dict[str, Any]:
    """Constructor arguments of a classifier or part, but for those of the machine."""
    return {
        name: _to_json(value, name)
        for name, value in part.get_params(deep=False).items()
        if name not in OF_THE_MACHINE
    }


def _to_json(value: Any, argument: str) -> Any:
    """A constructor argument as plain JSON values; parts by name of their class."""
    if isinstance(value, BaseEstimator):
        name = type(value).__name__
        kinds = _single_kinds() if argument == "estimator" else {}
        if {**part_classes(), **kinds}.get(name) is not type(value):
            raise CapabilityError(
                f"{argument} is a {name}, which model files do not know. Save the "
                "network with tanager.io.write_model(path, model.networks_[0]), or "
                "pickle the classifier."
            )
        return {"part": name, "arguments": _arguments_to_json(value)}
    if isinstance(value, Constraints):
        arguments = {k: _to_json(v, k) for k, v in vars(value).items()}
        return {"part": "Constraints", "arguments": arguments}
    if isinstance(value, Mapping):
        items = [[_to_json(x, argument) for x in pair] for pair in value.items()]
        return {"pairs": items}
    if isinstance(value, Set):
        value = sorted(value, key=repr)  # files do not depend on the hash seed
    if isinstance(value, (list, tuple, np.ndarray)):
        return {"list": [_to_json(item, argument) for item in value]}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise CapabilityError(
        f"{argument}={value!r} cannot be written to a model file, which holds plain "
        "values and the parts of this library only. Pickle the classifier, or save its "
        "network: tanager.io.write_model(path, model.network_)."
    )


def _arguments_from_json(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor arguments that `_arguments_to_json` wrote."""
    return {
        name: _from_json(value)
        for name, value in arguments.items()
        if name not in OF_THE_MACHINE
    }


def _from_json(document: Any) -> Any:
    """The argument that `_to_json` wrote."""
    if not isinstance(document, dict):
        return document
    if set(document) == {"part", "arguments"}:
        kinds = {**part_classes(), **_single_kinds(), "Constraints": Constraints}
        return kinds[document["part"]](**_arguments_from_json(document["arguments"]))
    if set(document) == {"pairs"}:
        return {_from_json(key): _from_json(value) for key, value in document["pairs"]}
    if set(document) == {"list"}:
        return [_from_json(item) for item in document["list"]]
    raise ValueError(f"unknown entry {sorted(document)}")
