"""`CredibleInterval`: how sure the probabilities of samples are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtri, polygamma, softmax

from tanager.data.counts import Counts
from tanager.errors import CapabilityError
from tanager.explain.factor_posterior import FactorPosterior
from tanager.explain.feature_arguments import check_not_empty
from tanager.explain.odds_conversion import check_sample
from tanager.explain.terms import without_zeros
from tanager.loglinear.factor_uncertainty import CurvatureSamples
from tanager.model.layout import Parameters
from tanager.model.schema import State
from tanager.network import AnyNetwork, LogLinearNetwork, Network
from tanager.plots.bars import bar_picture
from tanager.plots.picture import Picture, SvgMixin
from tanager.types import BoolArray, CodeArray, FloatArray
from tanager.utils.data_frame import FrameMixin
from tanager.utils.text import pluralise
from tanager.utils.validation import check_number, check_whole, random_generator


@dataclass(frozen=True, eq=False, repr=False)
class CredibleInterval(SvgMixin, FrameMixin):
    """Probabilities of the classes with credible intervals.

    Parameters
    ----------
    classes : tuple
        The classes.
    probabilities : ndarray of float64, shape (n_samples, n_classes)
        Those of the model.
    low, high : ndarray of float64, same shape
        Limits of the intervals.
    level : float
        Probability with which an interval contains the true value.
    independent : ndarray of bool, shape (n_samples,)
        Samples of a log-linear network whose factors were treated as independent, for
        want of training samples: their intervals are wider.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> X = {"sky": ["blue", *["grey"] * 3] * 5, "wind": [3.0, 9.0, 2.0, 8.0] * 5}
    >>> model = BayesNetClassifier(structure="nb", parameters="fe")
    >>> model = model.fit(X, ["dry", "wet"] * 10)
    >>> found = model.credible_interval({"sky": ["blue"], "wind": [3.0]})
    >>> found.low[0].round(3), found.high[0].round(3)
    (array([0.639, 0.   ]), array([1.   , 0.361]))
    >>> print(found)
    95 % intervals of 1 sample, mean width 0.361
    """

    classes: tuple[State, ...]
    probabilities: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    independent: BoolArray

    def __str__(self) -> str:
        n_samples, width = len(self.low), float((self.high - self.low).mean())
        text = (
            f"{100 * self.level:g} % intervals of {pluralise(n_samples, 'sample')}, "
            f"mean width {width:.3f}"
        )
        if self.independent.any():
            text += (
                f"; {self.independent.sum():,} with factors treated as independent, "
                "which makes them wider: training_data=(X, y) helps where no feature "
                "is missing that was always observed in training"
            )
        return text

    def columns(self) -> dict[str, list[Any]]:
        """List by column: `sample`, `class`, `probability`, `low` and `high`."""
        n_samples, n_classes = self.probabilities.shape
        return {
            "sample": np.repeat(np.arange(n_samples), n_classes).tolist(),
            "class": list(self.classes) * n_samples,
            "probability": self.probabilities.ravel().tolist(),
            "low": self.low.ravel().tolist(),
            "high": self.high.ravel().tolist(),
        }

    def picture(self, sample: int = 0, *, max_classes: int = 20) -> Picture:
        """The probabilities of one sample with their intervals.

        Of many classes the most probable ones are shown.
        """
        check_sample(sample, len(self.probabilities))
        order = np.argsort(-self.probabilities[sample], kind="stable")[:max_classes]
        shown = np.sort(order)
        p, low, high = (
            array[sample, shown] for array in (self.probabilities, self.low, self.high)
        )
        return bar_picture(
            [self.classes[k] for k in shown],
            p,
            errors=np.maximum([p - low, high - p], 0.0),
            title="Factors as if independent" if self.independent[sample] else None,
            xlabel="Probability",
        )

    def plot(self, sample: int = 0, *, ax: Any = None, **options: Any) -> Any:
        """Draw the `picture` of one sample with matplotlib."""
        return self.picture(sample, **options).plot(ax)


def measure_intervals(
    network: AnyNetwork,
    codes: CodeArray,
    counts: Counts | None = None,
    *,
    samples: CurvatureSamples | None = None,
    level: float = 0.95,
    n_draws: int = 500,
    random_state: Any = 0,
) -> CredibleInterval:
    """Compute credible intervals of the probabilities of samples.

    Parameters
    ----------
    network : Network or LogLinearNetwork
        The model; the class is its last variable.
    codes : ndarray of unsigned int, shape (n_samples, n_features), Fortran order
        The number of states of a feature means that it is not observed.
    counts : Counts or None, default=None
        Counts of the families of a network, in the layout of its CPTs.
    samples : CurvatureSamples or None, default=None
        Training samples of a log-linear network.
    level : float, default=0.95
        Probability of the intervals.
    n_draws : int, default=500
        Random CPTs for samples in which an observed feature has a missing parent.
    random_state : int, Generator, RandomState or None, default=0
        Source of randomness for these.

    Returns
    -------
    CredibleInterval

    Raises
    ------
    CapabilityError
        If there are neither counts nor standard errors.

    Notes
    -----
    The interval of P(k | x) = p is ``expit(logit(p) -+ z s)``, s the standard deviation
    of its log odds against all other classes, by the delta method:

        s^2 = v_k + sum_{c != k} (p_c / (1 - p))^2 v_c.

    v_c is the variance of the log weight of class c. In a **log-linear network** with
    training samples it follows from the joint posterior of all factors
    (`FactorPosterior`). Without, and for samples that lack a feature that was never
    missing in training, it is the sum of the squared standard errors of the cells of
    the sample, as if the factors were independent: these intervals are wider.

    In a **network** every row of a CPT has a Dirichlet posterior with the CPT as its
    mean and the concentration a = N + r, N the number of training samples in the
    configuration and r the number of states. For ``Frequency(alpha=1)`` this is the
    posterior under a uniform prior. The variance of log P(x | u) is
    ``trigamma(a P(x | u)) - trigamma(a)``, and v_c is the sum over the families; that
    of the class has no second term, since it is common to all classes. For samples in
    which an observed feature, or the class, has a missing parent, CPTs are drawn from
    the posterior, and the limits are quantiles of the probabilities.

    Both treat the structure and the cut points as known.
    """
    check_number("level", level, above=0, below=1)
    check_whole("n_draws", n_draws, 1)
    check_not_empty(codes, "credible_interval")
    classes = network.schema.target_variable.states
    independent = np.zeros(len(codes), dtype=np.bool_)
    z = float(ndtri(0.5 + 0.5 * level))
    if not network.has_cpts:
        probabilities = softmax(network.engine.log_joint_block(codes), axis=1)
        independent[...] = samples is None
        independent[network.factors.shrinkage(codes)[0]] = True
        deviation = _factor_deviations(
            network, codes, probabilities, samples, independent
        )
    else:
        network = without_zeros(network)
        probabilities = softmax(network.engine.log_joint(codes), axis=1)
        concentration = _concentration(network, counts)
        deviation = _family_deviations(network, concentration, codes, probabilities)
    centre = logit(np.clip(probabilities, 1e-300, 1 - 1e-16))
    low, high = expit(centre - z * deviation), expit(centre + z * deviation)
    if network.has_cpts:
        rows = _needs_draws(network, codes)
        if rows.any():
            random = random_generator(random_state)
            some = np.asfortranarray(codes[rows])
            low[rows], high[rows] = np.quantile(
                _draw_probabilities(network, concentration, some, n_draws, random),
                [0.5 - 0.5 * level, 0.5 + 0.5 * level],
                axis=0,
            )
    return CredibleInterval(
        classes, probabilities, low, high, float(level), independent
    )


def _combine(variances: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Standard deviations of the log odds of every class against all others."""
    rows = np.arange(len(probabilities))
    squares = np.square(probabilities) * variances
    rest = 1 - probabilities
    others = squares.sum(axis=1, keepdims=True) - squares
    # Without cancellation for the most probable class, whose `rest` may be tiny.
    best = probabilities.argmax(axis=1)
    small, small_squares = probabilities.copy(), squares
    small[rows, best] = 0.0
    small_squares[rows, best] = 0.0
    rest[rows, best] = small.sum(axis=1)
    others[rows, best] = small_squares.sum(axis=1)
    ratio = np.maximum(others, 0) / np.maximum(np.square(rest), 1e-300)
    total: FloatArray = np.sqrt(variances + ratio)
    return total


def _factor_deviations(
    network: LogLinearNetwork,
    codes: CodeArray,
    probabilities: FloatArray,
    samples: CurvatureSamples | None,
    independent: BoolArray,
) -> FloatArray:
    """From the joint posterior, or of `independent` factors where it is not known."""
    variances = np.zeros(probabilities.shape)
    if independent.any():
        variances = _added_variances(network, codes, probabilities)
    if samples is not None and not independent.all():
        some = np.asfortranarray(codes[~independent])
        found = FactorPosterior(network.factors, samples).variances(some)
        variances[~independent] = _of_both_classes(found, probabilities)
    return _combine(variances, probabilities)


def _added_variances(
    network: LogLinearNetwork, codes: CodeArray, probabilities: FloatArray
) -> FloatArray:
    """Sums of the squared standard errors of the cells of every sample."""
    if not network.factors.has_errors:
        raise CapabilityError(
            "The factors have no standard errors, so there are no credible intervals: "
            "the model was saved without them. Fit it again."
        )
    variances = np.zeros(probabilities.shape)
    two = probabilities.shape[1] == 2
    for table in network.factors.tables:
        assert table.errors is not None
        errors = table.errors
        if two:
            # The errors of the two opposite weights add; each class gets half.
            errors = np.repeat(errors.sum(axis=1, keepdims=True), 2, axis=1) / 2**0.5
        variances += np.square(errors)[table.factor.cells(codes.T)]
    rows, divisors = network.factors.shrinkage(codes)
    if len(rows):
        variances[rows] /= np.square(divisors)
    return variances


def _of_both_classes(variances: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Variances of all classes; each of two gets half of that of the log odds."""
    if probabilities.shape[1] > 2:
        return variances
    return np.repeat(0.5 * variances, 2, axis=1)


def _concentration(network: Network, counts: Counts | None) -> FloatArray:
    """Dirichlet parameters of all entries: CPT times count plus number of states."""
    layout = network.parameters.layout
    if counts is None or counts.layout != layout:
        raise CapabilityError(
            "There are no counts of the families of this network, so there are no "
            "credible intervals. Give the training samples, training_data=(X, y), or "
            'fit with learners that keep counts, such as structure="tan" with '
            'parameters="fe"; model files do not hold them.'
        )
    found = np.empty(layout.n_cells)
    for t in range(layout.n_tables):
        axis = layout.owner_axis(t)
        total = counts.table(t).sum(axis=axis, keepdims=True) + layout.shapes[t][axis]
        layout.table(found, t)[...] = total * np.exp(network.parameters.log_table(t))
    return found


def _family_deviations(
    network: Network,
    concentration: FloatArray,
    codes: CodeArray,
    probabilities: FloatArray,
) -> FloatArray:
    """By the delta method; families with missing members count as absent."""
    layout, target = network.parameters.layout, len(network.schema) - 1
    variances = np.zeros(probabilities.shape)
    n_states = network.schema.n_states
    for t in layout.class_tables:
        own = layout.table(concentration, t)
        table = polygamma(1, own)
        if layout.owners[t] != target:
            axis = layout.owner_axis(t)
            table = table - polygamma(1, own.sum(axis=axis, keepdims=True))
        features = layout.axes[t][:-1]
        observed = np.ones(len(codes), dtype=np.bool_)
        for j in features:
            observed &= codes[:, j] != n_states[j]
        index = tuple(np.where(observed, codes[:, j], 0) for j in features)
        variances += np.where(observed[:, None], table[index], 0.0)
    return _combine(variances, probabilities)


def _needs_draws(network: Network, codes: CodeArray) -> BoolArray:
    """Samples in which an observed feature, or the class, has a missing parent."""
    n_states, target = network.schema.n_states, len(network.schema) - 1
    missing = codes[:, :target] == n_states[:-1]
    found = np.zeros(len(codes), dtype=np.bool_)
    for v, parents in enumerate(network.structure.feature_parents):
        if parents:
            observed = True if v == target else ~missing[:, v]
            found |= missing[:, list(parents)].any(axis=1) & observed
    return found


def _draw_probabilities(
    network: Network,
    concentration: FloatArray,
    codes: CodeArray,
    n_draws: int,
    random: np.random.Generator,
) -> FloatArray:
    """Probabilities under random CPTs, shape (n_draws, n_samples, n_classes)."""
    layout = network.parameters.layout
    found = []
    for _ in range(n_draws):
        # Gamma variables, normalised, have a Dirichlet distribution.
        theta = np.maximum(random.standard_gamma(concentration), 1e-300)
        for t in range(layout.n_tables):
            table = layout.table(theta, t)
            table /= table.sum(axis=layout.owner_axis(t), keepdims=True)
        drawn = replace(network, parameters=Parameters(layout, np.log(theta)))
        found.append(softmax(drawn.engine.log_joint(codes), axis=1))
    return np.stack(found)
