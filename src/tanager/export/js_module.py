"""`to_js`: a classifier as one JavaScript module."""

from __future__ import annotations

import json

from tanager._version import __version__
from tanager.errors import CapabilityError
from tanager.export.score_terms import check_units
from tanager.network import AnyNetwork
from tanager.report.html_page import bundle
from tanager.report.model_data import describe_model
from tanager.report.payload import Payload

MODULES = (
    "numerics.js", "binary_text.js", "payload.js", "table_places.js",
    "normalisers.js", "cpt_packing.js", "elimination.js", "forest_terms.js",
    "cpt_model.js", "missing_variance.js", "factor_model.js", "variables.js",
    "model.js", "predictor.js",
)  # fmt: skip
"""The modules of a report that predict, each after those that it imports."""


def to_js(network: AnyNetwork) -> str:
    """Write a classifier as one JavaScript module without dependencies.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model.

    Returns
    -------
    str
        An ES module for browsers and Node.js. It exports ``features``, ``classes``,
        ``predict(values)`` and ``predictProba(values)``, where `values` is an object
        with the features by name. A feature that is left out is missing, and is treated
        as in Python: inference is that of the pages of `report`, exact to 1e-9.

    Raises
    ------
    CapabilityError
        If the tables are too large for a page, or a feature holds dates or times.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey", "grey", None], "wind": [3.0, 9.0, 8.5, 2.0]}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, [0, 1, 1, 0])
    >>> print(to_js(model.network_).splitlines()[-1])
    export const predictProba = (values) => predictor.predictProba(values);
    """
    check_units(network)
    payload = Payload()
    header = describe_model(network, payload)
    for key in ("too_large", "complete_only"):
        if key in header:
            raise CapabilityError(str(header[key]))
    data = json.dumps(payload.pack(header))
    return "\n".join(
        [
            f"// A classifier, written by tanager {__version__}.",
            bundle(MODULES),
            f"const predictor = new Predictor(await readPayload({data}));",
            "export const features = predictor.features;",
            "export const classes = predictor.classes;",
            "export const predict = (values) => predictor.predict(values);",
            "export const predictProba = (values) => predictor.predictProba(values);",
            "",
        ]
    )
