"""`Typicality`: how likely samples are among those of the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from scipy.special import logsumexp

from tanager.explain.feature_arguments import check_not_empty
from tanager.network import AnyNetwork
from tanager.network.sampling import sample_codes
from tanager.plots.bars import bar_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import BoolArray, CodeArray, FloatArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.validation import check_whole, random_generator

MAX_EXACT = 20_000
"""Configurations of the observed features up to which all are enumerated."""

TOLERANCE = 1e-9
"""Log likelihoods that differ by less count as equal."""


@dataclass(frozen=True, eq=False, repr=False)
class Typicality(PictureMixin, FrameMixin):
    """Log likelihoods of samples, and their percentiles under the model.

    Parameters
    ----------
    log_likelihood : ndarray of float64, shape (n_samples,)
        Log probability of the observed features.
    percentile : ndarray of float64, shape (n_samples,)
        Percentage of samples of the model, with the same features observed, that are at
        most as likely: below 1, a sample is unusual.
    exact : ndarray of bool, shape (n_samples,)
        Whether the percentile is exact; otherwise it is estimated from random samples.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", "grey"] * 10, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> model = model.fit(X, ["dry", "wet"] * 10)
    >>> found = model.typicality({"sky": ["blue", "blue"], "wind": [3.0, 9.0]})
    >>> found.percentile.round(1).tolist()
    [100.0, 15.3]
    """

    log_likelihood: FloatArray
    percentile: FloatArray
    exact: BoolArray

    def columns(self) -> dict[str, list[Any]]:
        """List the samples by column: `sample`, `log_likelihood`, `percentile`."""
        return {
            "sample": list(range(len(self.percentile))),
            "log_likelihood": self.log_likelihood.tolist(),
            "percentile": self.percentile.tolist(),
        }

    def picture(self, *, max_samples: int = 20) -> Picture:
        """The percentiles of the most unusual samples as bars."""
        order = np.argsort(self.percentile, kind="stable")[:max_samples]
        labels = [f"sample {k}" for k in order.tolist()]
        xlabel = "Percentile of the log likelihood"
        return bar_picture(labels, self.percentile[order], xlabel=xlabel)


def measure_typicality(
    network: AnyNetwork,
    codes: CodeArray,
    *,
    n_samples: int = 10_000,
    random_state: Any = 0,
) -> Typicality:
    """Compare the log likelihoods of samples with those of samples of the model.

    Parameters
    ----------
    network : Network
        The model; the class is its last variable.
    codes : ndarray of unsigned int, shape (n_rows, n_features), Fortran order
        The samples; the number of states of a feature means that it is not observed.
    n_samples : int, default=10000
        Random samples from which percentiles are estimated where the observed features
        have more than 20,000 configurations.
    random_state : int, Generator, RandomState or None, default=0
        Source of randomness.

    Returns
    -------
    Typicality

    Raises
    ------
    NetworkOnlyError
        For a log-linear network, which has no distribution of the features.

    Notes
    -----
    The percentile of x is ``100 P(log P(X) <= log P(x))``, where X is a sample of the
    model with the same observed features; features that are not observed and the class
    are marginalised. Estimated from m random samples its standard error is at most
    ``50 / sqrt(m)``, half a point for 10,000.
    """
    check_whole("n_samples", n_samples, 1)
    if not network.has_cpts:
        raise network.refusal("typicality")
    check_not_empty(codes, "typicality")
    n_states = network.schema.n_states[:-1]
    observed = codes[:, : len(n_states)] != n_states
    log_likelihood = logsumexp(network.engine.log_joint(codes), axis=1)
    percentile = np.full(len(codes), 100.0)
    exact = np.zeros(len(codes), dtype=np.bool_)
    drawn: CodeArray | None = None
    patterns, which = np.unique(observed, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        columns = np.flatnonzero(pattern)
        n_cells = prod(n_states[columns].tolist())
        if n_cells <= MAX_EXACT:
            some = np.empty((n_cells, len(n_states)), dtype=codes.dtype, order="F")
            some[...] = n_states
            if len(columns):
                cells = np.unravel_index(np.arange(n_cells), n_states[columns])
                some[:, columns] = np.stack(cells, axis=1)
            exact[rows] = True
        else:
            if drawn is None:
                random = random_generator(random_state)
                whole = sample_codes(
                    network.structure, network.parameters, n_samples, random
                )
                drawn = whole[:, :-1].astype(codes.dtype, order="F")
            some = np.asfortranarray(np.where(pattern, drawn, n_states))
            some = some.astype(codes.dtype, order="F")
        found = logsumexp(network.engine.log_joint(some), axis=1)
        mass = np.exp(found) if n_cells <= MAX_EXACT else np.ones(len(found))
        order = np.argsort(found)
        below = np.concatenate([[0.0], np.cumsum(mass[order])]) / mass.sum()
        places = np.searchsorted(found[order], log_likelihood[rows] + TOLERANCE)
        percentile[rows] = 100.0 * below[places]
    return Typicality(log_likelihood, np.minimum(percentile, 100.0), exact)
