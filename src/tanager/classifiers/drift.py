"""`DriftReport`: how well a model predicts every batch before it learns from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from tanager.classifiers.base import fill_in_prior, normalize_scores
from tanager.classifiers.result_export import ExportableResult
from tanager.encoding import EncodingPlan
from tanager.encoding.frame import Frame
from tanager.errors import InputError
from tanager.model.schema import Schema
from tanager.network import AnyNetwork
from tanager.plots.picture import Picture, PictureMixin
from tanager.plots.trace import trace_picture
from tanager.types import FloatArray
from tanager.utils.text import table_text

MAX_SAMPLES = 10_000
"""Samples of a batch that are predicted; of more, a regular part."""

LEAST = 1e-15
"""Least probability in a log loss."""


@dataclass(frozen=True, eq=False, repr=False)
class DriftReport(PictureMixin, ExportableResult):
    """How well a model predicted each batch before it learned from it.

    Parameters
    ----------
    batches : tuple of mappings
        One for every batch but the first; see `Notes`.

    Notes
    -----
    A row has the number of the `batch` (the first one is 1, and has no row), its
    `samples`, the `log_loss` and `accuracy` of the model before it, and

    - `expected_log_loss`, what the model itself expects on these samples: the mean
      entropy ``-sum_c p_c log p_c`` of its predictions;
    - `z`, the difference of the two in standard errors. Without drift, and if the model
      is calibrated, it is about standard normal. Large positive values mean that the
      samples no longer follow the model; a rising loss at a small `z` means that they
      have become harder, not different;
    - `new_categories` and `new_classes`, the numbers of those that came. Samples of new
      classes are not in the losses.

    Of more than 10,000 samples of a batch a regular part is predicted.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X, y = [["a"], ["b"]] * 50, [0, 1] * 50
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").partial_fit(X, y)
    >>> turned = [1, 0] * 50
    >>> report = model.partial_fit(X, y).partial_fit(X, turned).drift_report()
    >>> print(report)
    batch  samples  log loss  expected      z  accuracy
        2      100     0.019     0.095   -1.4   100.0 %
        3      100     4.625     0.055  100.5     0.0 %
    """

    batches: tuple[Mapping[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary for every batch."""
        return [dict(batch) for batch in self.batches]

    def picture(self, *, y: str | Sequence[str] | None = None) -> Picture:
        """Log loss by batch, and the one that the model expected.

        `y` names other columns.
        """
        keys = ["log_loss", "expected_log_loss"] if y is None else y
        return trace_picture(self.batches, y=keys, x="batch")

    def __str__(self) -> str:
        header = ["batch", "samples", "log loss", "expected", "z", "accuracy"]
        lines = [
            [
                str(b["batch"]),
                f"{b['samples']:,}",
                f"{b['log_loss']:.3f}",
                f"{b['expected_log_loss']:.3f}",
                f"{b['z']:.1f}",
                f"{100 * b['accuracy']:.1f} %",
            ]
            for b in self.batches
        ]
        return table_text(header, lines, right=range(len(header)))


def make_report(trace: Mapping[str, Any]) -> DriftReport:
    """Take the batches out of the trace of a classifier."""
    batches = tuple(trace.get("batches", ()))
    if not batches:
        raise InputError(
            "There is no batch to report: the drift report has every batch that "
            "partial_fit learned from after the first one. Call partial_fit again."
        )
    return DriftReport(batches)


def measure_batch(
    network: AnyNetwork,
    features: Schema,
    classes: npt.NDArray[Any],
    frame: Frame,
    labels: npt.NDArray[Any],
    weights: FloatArray | None,
) -> dict[str, Any]:
    """Predict a batch that the model has not seen; see `DriftReport`.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model so far.
    features : Schema
        Its features.
    classes : ndarray, shape (n_classes,)
        Its classes.
    frame : Frame
        The features of the batch.
    labels : ndarray of shape (n_samples,)
        The classes of its samples.
    weights : ndarray of float64, shape (n_samples,), or None
        Their weights; None means all one.
    """
    known = np.flatnonzero(np.isin(labels, classes))
    rows = known[:: max(1, -(-len(known) // MAX_SAMPLES))]
    entry: dict[str, Any] = {"samples": frame.n_rows}
    values = dict.fromkeys(("log_loss", "expected_log_loss", "z", "accuracy"), np.nan)
    if len(rows):
        codes = EncodingPlan(frame.take(rows), features).encode()
        own = np.searchsorted(classes, labels[rows])
        given = np.ones(len(rows)) if weights is None else weights[rows]
        scores = fill_in_prior(network.engine, network.engine.log_joint_block(codes))
        values = _compare(normalize_scores(scores), own, given / given.sum())
    return entry | values


def _compare(
    p: FloatArray, labels: npt.NDArray[np.integer], weights: FloatArray
) -> dict[str, float]:
    """Losses of predictions p, shape (n_samples, n_classes); weights sum to one."""
    own = np.take_along_axis(p, labels[:, np.newaxis], axis=1)[:, 0]
    loss = float(-weights @ np.log(np.maximum(own, LEAST)))
    entropy = -xlogy(p, p).sum(axis=1)
    log_p = np.log(np.maximum(p, LEAST))
    variance = (p * np.square(log_p)).sum(axis=1) - np.square(entropy)
    expected = float(weights @ entropy)
    error = float(np.sqrt(np.square(weights) @ np.maximum(variance, 0.0)))
    return {
        "log_loss": loss,
        "expected_log_loss": expected,
        "z": (loss - expected) / error if error > 0.0 else 0.0,
        "accuracy": float(weights @ (p.argmax(axis=1) == labels)),
    }
