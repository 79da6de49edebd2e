"""`Questions`: which missing feature is worth asking for next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from tanager.data.information import entropy, shared_information
from tanager.errors import InputError
from tanager.explain.feature_arguments import feature_costs, missing_features
from tanager.network import AnyNetwork, LogLinearNetwork
from tanager.plots.bars import bar_picture
from tanager.plots.picture import Picture, PictureMixin
from tanager.types import CodeArray, FloatArray
from tanager.utils.data_frame import FrameMixin


@dataclass(frozen=True, eq=False, repr=False)
class Questions(PictureMixin, FrameMixin):
    """The missing features of a sample, those worth most for their cost first.

    Parameters
    ----------
    features : tuple of str
        Names of the missing features.
    gains : ndarray of float64, shape (n_missing,)
        Expected information gain in nats: by how much the entropy of the class
        decreases on average when the feature becomes known, at most `entropy`.
    costs : ndarray of float64, shape (n_missing,)
        Costs of the features; the order is by ``gains / costs``.
    entropy : float
        Entropy of the class in nats, given what is known.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", *["grey"] * 3] * 5, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> model = model.fit(X, ["dry", "wet"] * 10)
    >>> found = model.next_question({"sky": [None], "wind": [None]})
    >>> found.best, found.gains.round(3).tolist(), round(found.entropy, 3)
    ('wind', [0.406, 0.114], 0.693)
    """

    features: tuple[str, ...]
    gains: FloatArray
    costs: FloatArray
    entropy: float

    @property
    def best(self) -> str | None:
        """The feature to ask for; None if no feature is missing."""
        return self.features[0] if self.features else None

    def columns(self) -> dict[str, list[Any]]:
        """List the features by column: `feature`, `gain`, `cost`, `gain_per_cost`."""
        return {
            "feature": list(self.features),
            "gain": self.gains.tolist(),
            "cost": self.costs.tolist(),
            "gain_per_cost": (self.gains / self.costs).tolist(),
        }

    def picture(self, *, max_features: int = 20) -> Picture:
        """The largest gains as bars."""
        return bar_picture(
            self.features[:max_features],
            self.gains[:max_features],
            xlabel="Expected information gain (nats)",
        )


def rank_questions(
    network: AnyNetwork, row: CodeArray, *, costs: Mapping[str, float] | None = None
) -> Questions:
    """Rank the missing features of a sample by expected information gain per cost.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    row : ndarray of unsigned int, shape (n_features,)
        The sample.
    costs : mapping from name to number, or None, default=None
        Costs of the features, above 0; 1 by default.

    Returns
    -------
    Questions
        Of equal features the one that comes first in the data is first.

    Notes
    -----
    With e the known features, the gain of feature X is the mutual information

        I(X; C | e) = sum_x P(x | e) sum_c P(c | x, e) log(P(c | x, e) / P(c | e)).

    In a network P(x | e) is exact. A log-linear network has no distribution of the
    features: P(x | e) is replaced by the frequency of x in the training samples, which
    does not depend on e, and P(c | e) by the mean of P(c | x, e) under it. Where the
    known features make values improbable that are frequent in training, this can exceed
    the entropy of P(c | e), which no feature can lower by more than itself: the gain is
    at most `Questions.entropy`. Features that reach it are ranked by what exceeds it.

    A feature with a state for missing values is asked for its value: x then runs over
    all states but this one, and e does not contain it. Columns that the model leaves
    out are not asked for.
    """
    schema = network.schema
    prices = feature_costs(schema, costs, zero=False)
    missing = np.flatnonzero(missing_features(schema, row)).tolist()
    features = [j for j in missing if not schema[j].is_left_out]
    rows = [row[: len(schema) - 1]]
    for j in features:
        for code in range(schema[j].n_values):
            rows.append(rows[0].copy())
            rows[-1][j] = code
    log_joint = network.engine.log_joint_block(np.asfortranarray(np.stack(rows)))
    if np.isneginf(log_joint[0]).all():
        raise InputError(
            "The sample has probability zero under this network, so no feature has an "
            "information gain. Check its values."
        )
    gains = np.empty(len(features))
    start = 1
    for place, j in enumerate(features):
        stop = start + schema[j].n_values
        block = log_joint[start:stop]
        if network.has_cpts:
            joint = softmax(block)
        else:
            frequencies = state_frequencies(network, j)
            joint = frequencies[:, None] * softmax(block, axis=1)
        gains[place] = shared_information(joint, 0, 1)
        start = stop
    known = entropy(softmax(log_joint[0]))
    price = prices[features]
    estimates = gains
    if not network.has_cpts:
        gains = np.minimum(gains, known)
    # Limited gains that are equal stay in the order of their estimates.
    order = np.lexsort((-estimates / price, -gains / price))
    chosen = [features[k] for k in order]
    names = tuple(schema.names[j] for j in chosen)
    return Questions(names, gains[order], prices[chosen], known)


def state_frequencies(network: LogLinearNetwork, feature: int) -> FloatArray:
    """Fractions of the training samples in the states of values of a feature.

    They come from the support of the factor that knows the most bins of it; the states
    of one bin divide it equally. Uniform if no factor has the feature, or no sample.
    """
    n_values = network.schema[feature].n_values
    found, n_bins = np.ones(n_values), 0
    for table in network.factors.tables:
        if feature not in table.factor.key:
            continue
        place = table.factor.key.index(feature)
        axis = table.factor.axes[place]
        if axis.n_bins <= n_bins:
            continue
        others = tuple(a for a in range(len(table.factor.axes)) if a != place)
        support = table.support.reshape(table.factor.shape).sum(axis=others)
        bins = axis.bins[:n_values]
        sizes = np.bincount(bins, minlength=len(support))
        by_state = (support / np.maximum(sizes, 1))[bins]
        if by_state.sum() > 0:
            found, n_bins = by_state, axis.n_bins
    fractions: FloatArray = found / found.sum()
    return fractions
