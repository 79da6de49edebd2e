"""`fit` on Dask collections, and lazy predictions partition by partition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from tanager.classifiers.training import FitProgress, add_target, class_factors
from tanager.distributed.collections import SampleCollections, n_rows_of
from tanager.distributed.dask_data import DaskData
from tanager.distributed.encoded_partitions import DaskSamples, ReadingRules
from tanager.errors import InputError

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier


def fit_on_dask(model: BayesNetClassifier, collections: SampleCollections) -> None:
    """Do what `BayesNetClassifier.fit` does, for Dask collections.

    Raw partitions are read twice, for the schema and for the codes; the codes
    stay on the workers until the fit ends. Nothing but statistics and parameters
    travels, except for the samples of a search that the learner gathers.
    """
    encoder, learner = model._parts()
    progress = FitProgress(model, collections.X, collections.y, collections.weights)
    unlabelled = learner.parameters.uses_unlabelled
    rules = ReadingRules(type(model).__name__, unlabelled, model.missing == "error")
    samples = DaskSamples(collections, rules)
    with progress.stage("encode"):
        summary = samples.summarize(encoder)
        classes = summary.classes
        assert classes is not None
        if len(classes) < 2:
            raise InputError(
                f"y has only the classes {classes.tolist()} in all partitions; a "
                "classifier needs at least two classes."
            )
        encoder.fit_summary(summary, model.n_jobs)
        schema = add_target(encoder.schema_, classes, collections.target)
        learner.structure.check(schema)
        factors = None
        if model.class_weight is not None:
            totals = summary.class_weights * summary.weight_scale
            factors = class_factors(model.class_weight, classes, totals)
        data = samples.encode(
            schema, classes, factors, summary.weight_scale, model.n_jobs
        )
    with data if isinstance(data, DaskData) else nullcontext():
        model._learn(learner, encoder, classes, data, progress)
        if isinstance(data, DaskData):
            report = data.traffic.report(len(data.futures))
            model.trace_["distributed"] = report


def predict_partitions(
    X: Any,
    predict: Callable[[Any], npt.NDArray[Any]],
    nothing: npt.NDArray[Any],
    columns: list[Any] | None = None,
) -> Any:
    """Apply a prediction to every partition of a Dask collection, lazily.

    `predict` gives one entry or row for every sample, `nothing` is its result for no
    samples, and `columns` are the names of its columns. DataFrames give a Series or
    DataFrame with their index, arrays an array, bags of frames a bag of arrays.
    """
    if hasattr(X, "divisions") and hasattr(X, "columns"):
        meta = _frame_of(X._meta, nothing, columns)
        return X.map_partitions(_predict_frame, predict, nothing, columns, meta=meta)
    if hasattr(X, "chunks"):
        whole = X.rechunk({1: -1})
        options = {"dtype": nothing.dtype, "meta": nothing}
        if columns is None:
            return whole.map_blocks(_predict_rows, predict, drop_axis=1, **options)
        chunks = whole.chunks[0], (len(columns),)
        return whole.map_blocks(_predict_rows, predict, chunks=chunks, **options)
    return X.map(_predict_rows, predict)


def _predict_rows(X: Any, predict: Callable[[Any], Any]) -> Any:
    return predict(X)


def _predict_frame(
    X: Any,
    predict: Callable[[Any], Any],
    nothing: npt.NDArray[Any],
    columns: list[Any] | None,
) -> Any:
    return _frame_of(X, predict(X) if n_rows_of(X) else nothing, columns)


def _frame_of(X: Any, found: npt.NDArray[Any], columns: list[Any] | None) -> Any:
    """A Series or data frame, with the index of X, of the results."""
    import pandas as pd

    if columns is None:
        return pd.Series(found, index=X.index)
    return pd.DataFrame(found, index=X.index, columns=columns)
