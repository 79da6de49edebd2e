"""The methods that are compared, by structure and parameters."""

from __future__ import annotations

from typing import Any

from tanager import BayesNetClassifier, ConditionalLikelihood, QuantileEncoder

SMOOTH_BINS = 30

NAMES = {
    ("NB", "FE"): "NB+FE",
    ("NB", "ML"): "NB-ML",
    ("NB", "DFE"): "NB+DFE",
    ("NB", "CL"): "NB-CL",
    ("NB", "ELR"): "NB+ELR",
    ("NB", "HYB"): "NB-HYB",
    ("NB", "Ada"): "NB+Ada",
    ("TAN", "FE"): "TAN+FE",
    ("TAN", "ML"): "TAN-CMI-ML",
    ("TAN", "DFE"): "TAN+DFE",
    ("TAN", "CL"): "TAN-CMI-CL",
    ("TAN", "ELR"): "TAN+ELR",
    ("TAN", "HYB"): "TAN-CMI-HYB",
    ("TAN", "Ada"): "TAN+Ada",
    ("TAN", "EM"): "TAN+EM",
    ("TAN", "APN"): "TAN+APN",
}
"""Published names."""

SMOOTH = ("NB", "CL smooth")
"""Naive Bayes with many bins and a penalty on steps between them; has no name."""

COMPLETE = tuple(key for key in NAMES if key[1] not in ("EM", "APN"))
"""Methods for complete rows, on which EM and APN are FE."""

INCOMPLETE = (
    ("NB", "FE"),
    ("NB", "DFE"),
    ("NB", "CL"),
    ("NB", "ELR"),
    ("TAN", "FE"),
    ("TAN", "EM"),
    ("TAN", "APN"),
    ("TAN", "DFE"),
    ("TAN", "CL"),
    ("TAN", "ELR"),
)
"""Methods for rows with gaps; with naive Bayes, EM and APN are FE there, too."""


def classifier(structure: str, parameters: str) -> Any:
    """An unfitted classifier, with a fixed seed."""
    if (structure, parameters) == SMOOTH:
        return BayesNetClassifier(
            encoder=QuantileEncoder(n_bins=SMOOTH_BINS),
            structure="nb",
            parameters=ConditionalLikelihood(C="cv", smooth=True),
            random_state=0,
        )
    made = BayesNetClassifier.from_name(NAMES[structure, parameters])
    return made.set_params(random_state=0)
