"""`write_report`: a model and its data as one HTML file."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tanager._version import __version__
from tanager.errors import InputError
from tanager.network import AnyNetwork
from tanager.report.assessment import assess
from tanager.report.html_page import bundle, make_page, read_source
from tanager.report.model_data import describe_model
from tanager.report.network_layout import describe_layouts
from tanager.report.payload import Payload
from tanager.report.samples import ReportData
from tanager.utils.atomic_write import PathLike, check_writable, write_text

MAX_TRACE = 300
"""Steps of a training trace that are listed."""


@dataclass(frozen=True, eq=False)
class Training:
    """How a model was learned, as plain data.

    Parameters
    ----------
    classifier : dict or None, default=None
        The classifier in the form of a model file, for the export of edited models.
    settings : mapping from str to str, default={}
        Constructor arguments in words.
    trace : mapping, default={}
        Steps of every learner, and seconds of every stage.
    """

    classifier: dict[str, Any] | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    trace: Mapping[str, Any] = field(default_factory=dict)


def write_report(
    path: PathLike,
    network: AnyNetwork,
    training: Training | None = None,
    data: ReportData | None = None,
    *,
    title: str = "",
) -> None:
    """Write a report of a model: one HTML file that needs no server and no network.

    Parameters
    ----------
    path : str or path
        File to write, replaced in one step.
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    training : Training or None, default=None
        How it was learned.
    data : ReportData or None, default=None
        Samples for the metrics and to load into the page.
    title : str, default=""
        Heading; by default made from the name of the class.
    """
    check_writable(path)
    write_text(path, report_text(network, training, data, title=title))


def report_text(
    network: AnyNetwork,
    training: Training | None = None,
    data: ReportData | None = None,
    *,
    title: str = "",
) -> str:
    """The HTML of `write_report`."""
    schema = network.schema
    if schema.target != len(schema) - 1:
        raise InputError(
            "The class must be the last variable of a report's network; use "
            "network.with_target_last()."
        )
    training = training or Training()
    payload = Payload()
    header = describe_model(network, payload)
    header |= describe_layouts(network)
    header |= {
        "title": title or f"Report: {schema.target_variable.name}",
        "summary": [[name, number] for name, number in network.sizes.items()],
        "classifier": training.classifier,
        "settings": [list(pair) for pair in training.settings.items()],
        "trace": _plain_trace(training.trace),
        "versions": [
            ["tanager", __version__],
            ["Python", platform.python_version()],
            ["NumPy", np.__version__],
        ],
        "data": None if data is None else _describe_data(network, data, payload),
    }
    return make_page(
        header["title"], read_source("page.html"), payload.pack(header), bundle()
    )


def _describe_data(
    network: AnyNetwork, data: ReportData, payload: Payload
) -> dict[str, Any]:
    """Metrics of all samples, and some of the samples."""
    schema = network.schema
    places, n_random = data.choose(payload.packed_size)
    found: dict[str, Any] = {
        "name": data.name,
        "n_samples": len(data.codes),
        "n_shown": len(places),
        "n_random": n_random,
        "fingerprint": data.fingerprint,
        "assessment": None,
    }
    # Column by column: neighbouring bytes are codes of the same feature.
    payload.add_codes("samples", data.codes[places].T)
    payload.add_codes("sample_rows_low", places % 65_536)
    payload.add_codes("sample_rows_high", places // 65_536)
    if data.labels is None:
        labels = np.full(len(places), -1)
    else:
        labels = data.labels[places]
        known = data.labels >= 0
        if known.any():
            shown = assess(
                data.probabilities[known],
                data.labels[known],
                data.codes[known],
                schema,
            )
            found["assessment"] = asdict(shown)
    payload.add_codes("sample_labels", np.where(labels < 0, schema.n_classes, labels))
    return found


def _plain_trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    """The trace with plain values, at most `MAX_TRACE` steps of every learner."""
    found: dict[str, Any] = {}
    for stage, content in trace.items():
        if isinstance(content, Mapping):
            found[stage] = [[str(k), _plain(v)] for k, v in content.items()]
        elif isinstance(content, Sequence) and not isinstance(content, str) and content:
            steps = [step for step in content if isinstance(step, Mapping)]
            found[stage] = {
                "n_steps": len(content),
                "steps": [
                    {str(k): _plain(v) for k, v in step.items()}
                    for step in steps[:MAX_TRACE]
                ],
            }
    return found


def _plain(value: Any) -> float | int | str | None:
    """A number, or anything else as a short text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."
