"""MLflow models on the model file, which holds no code.

MLflow stores a model as a folder with a file and the name of the module that loads it,
this one. Nothing is pickled; a server needs tanager and what it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tanager._version import __version__
from tanager.classifiers.base import DataFrameClassifier
from tanager.classifiers.persistence import load, save
from tanager.errors import CapabilityError, InputError
from tanager.network import AnyNetwork

FILE = "model.json"
"""Name of the model file in the folder of MLflow."""

REQUIREMENTS = (f"tanager=={__version__}",)
"""What MLflow installs to serve a model."""


class PyFuncClassifier:
    """What ``mlflow.pyfunc.load_model`` wraps: predictions as a data frame.

    Parameters
    ----------
    classifier : BayesNetClassifier or BoostedClassifier
        The model.
    """

    def __init__(self, classifier: DataFrameClassifier) -> None:
        self.classifier = classifier

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Columns ``prediction`` and ``P(class)`` for every class; no parameters."""
        import pandas as pd

        if params:
            raise InputError(f"predict has no parameters, got {params!r}.")
        found = self.classifier.predict_proba(model_input)
        classes = self.classifier.classes_
        columns = {"prediction": classes[found.argmax(axis=1)]}
        for position, label in enumerate(classes.tolist()):
            columns[f"P({label})"] = found[:, position]
        return pd.DataFrame(columns)


def save_model(
    model: DataFrameClassifier,
    path: str | PathLike[str],
    *,
    pip_requirements: Sequence[str] = REQUIREMENTS,
    **options: Any,
) -> None:
    """Write a fitted classifier as an MLflow model.

    Parameters
    ----------
    model : BayesNetClassifier or BoostedClassifier
        The model.
    path : str or path
        Folder that does not exist yet.
    pip_requirements : sequence of str, default=this version of tanager
        What MLflow installs to serve the model.
    **options
        Further arguments of ``mlflow.pyfunc.save_model``, such as `signature` and
        `input_example`.

    Raises
    ------
    CapabilityError
        If MLflow is not installed, or model files cannot hold the model.
    """
    _write(_pyfunc().save_model, model, path=str(path), options=options,
           pip_requirements=pip_requirements)  # fmt: skip


def log_model(
    model: DataFrameClassifier,
    name: str = "model",
    *,
    pip_requirements: Sequence[str] = REQUIREMENTS,
    **options: Any,
) -> Any:
    """Log a fitted classifier in the active run; see `save_model`.

    Parameters
    ----------
    model : BayesNetClassifier or BoostedClassifier
        The model.
    name : str, default="model"
        Name of the model in the run.
    pip_requirements : sequence of str, default=this version of tanager
        What MLflow installs to serve the model.
    **options
        Further arguments of ``mlflow.pyfunc.log_model``, such as
        `registered_model_name`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` loads the model.
    """
    return _write(_pyfunc().log_model, model, name=name, options=options,
                  pip_requirements=pip_requirements)  # fmt: skip


def load_model(folder: str | PathLike[str]) -> DataFrameClassifier | AnyNetwork:
    """Read the classifier itself from the local folder of an MLflow model.

    ``mlflow.pyfunc.load_model(uri)`` gives a model with `predict` only.
    """
    return load(Path(folder) / "data" / FILE)


def _write(
    function: Any, model: DataFrameClassifier, *, options: Any, **arguments: Any
) -> Any:
    """Write the model file, and call a function of MLflow that copies it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        save(model, path)
        return function(
            loader_module=__name__, data_path=str(path), **arguments, **options
        )


def _pyfunc() -> Any:
    try:
        import mlflow.pyfunc
    except ModuleNotFoundError as error:
        raise CapabilityError(
            "MLflow is not installed: pip install mlflow, or mlflow-skinny and pandas."
        ) from error
    return mlflow.pyfunc


def _load_pyfunc(path: str) -> PyFuncClassifier:
    """Load a model; the name is that of MLflow."""
    found = load(path)
    if not isinstance(found, DataFrameClassifier):
        raise InputError(
            f"{path!r} holds a network, not a classifier; save the model with "
            "tanager.classifiers.mlflow_flavor.save_model."
        )
    return PyFuncClassifier(found)
