"""`RoundingLoss`: what few bits and left-out factors cost on labelled samples."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from tanager.errors import InputError
from tanager.export.c_source import CSource
from tanager.export.quantization import quantize_terms
from tanager.export.score_terms import ScoreTerms
from tanager.network import AnyNetwork
from tanager.types import CodeArray, FloatArray, IntArray


@dataclass(frozen=True)
class RoundingLoss:
    """Accuracies of a model and of its C file on the same samples.

    Parameters
    ----------
    n_samples : int
        Number of samples: those with all features that a network would have to
        marginalise.
    exact : float
        Accuracy of the model.
    rounded : float
        Accuracy of the file.
    n_factors, n_kept : int
        Number of tables of the model that say something of the class, and of those
        that are in the file.
    """

    n_samples: int
    exact: float
    rounded: float
    n_factors: int
    n_kept: int


def measure_rounding(
    network: AnyNetwork, source: CSource, codes: CodeArray, labels: IntArray
) -> RoundingLoss:
    """Compare the accuracies of a model and of its C file.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model.
    source : CSource
        Its file.
    codes : ndarray of unsigned int, shape (n_samples, n_features)
        The features, as `BayesNetClassifier.encode` gives them.
    labels : ndarray of int64, shape (n_samples,)
        Positions of the classes; samples with -1, without a class, are left out.

    Returns
    -------
    RoundingLoss

    Examples
    --------
    >>> from tanager import BayesNetClassifier, datasets
    >>> from tanager.export import to_c
    >>> wine = datasets.load("wine")
    >>> model = BayesNetClassifier().fit(wine.X, wine.y)
    >>> labels = np.searchsorted(model.classes_, wine.y)
    >>> source = to_c(model.network_, bits=8)
    >>> loss = measure_rounding(model.network_, source, model.encode(wine.X), labels)
    >>> loss.n_samples, abs(loss.exact - loss.rounded) < 0.01
    (178, True)
    """
    # Also of a model that is too large to be exported without leaving out factors.
    exact = ScoreTerms.of_network(network, sys.maxsize)
    kept = ScoreTerms.of_network(source.network)
    scores = _scores(exact, network, codes)
    rounded = _scores(quantize_terms(kept, source.bits), network, codes)
    labels = np.asarray(labels)
    known = ~np.isnan(scores).any(axis=1) & (labels >= 0)
    if not known.any():
        raise InputError(
            "No sample has a class and all features that the network would have to "
            "marginalise, so that no accuracy can be compared; measure with complete "
            "samples."
        )
    right = labels[known]
    return RoundingLoss(
        int(known.sum()),
        float(np.mean(scores[known].argmax(axis=1) == right)),
        float(np.mean(rounded[known].argmax(axis=1) == right)),
        len(exact.terms),
        len(kept.terms),
    )


def _scores(terms: ScoreTerms, network: AnyNetwork, codes: CodeArray) -> FloatArray:
    names = network.schema.names
    places = [names.index(variable.name) for variable in terms.features]
    return terms.scores(codes[:, places])
