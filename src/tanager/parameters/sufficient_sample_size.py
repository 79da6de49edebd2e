"""Sufficient sample sizes for learning the CPTs of a given structure."""

from __future__ import annotations

from math import log

from tanager.utils.validation import check_number, check_whole


def conditional_sample_size(
    n_variables: int,
    n_parameters: int,
    *,
    epsilon: float = 0.05,
    delta: float = 0.05,
    gamma: float = 0.05,
) -> float:
    """Bound the number of samples that suffice for the conditional likelihood.

    With that many samples, and with probability at least ``1 - delta``, the CPTs that
    maximise the conditional log likelihood of the samples have an expected one of at
    most `epsilon` below the optimum for the structure.

    Parameters
    ----------
    n_variables : int
        Number N of variables, the class included.
    n_parameters : int
        Number K of entries of all CPTs.
    epsilon : float, default=0.05
        Distance from the optimum, in nats per sample.
    delta : float, default=0.05
        Probability of being farther away; below 1.
    gamma : float, default=0.05
        Smallest entry that a CPT may have, below 1. Learner and optimum are compared
        among such CPTs. Laplace smoothing with n samples ensures ``1 / (n + 2)`` for
        two states.

    Returns
    -------
    float
        ``18 (N ln(gamma) / epsilon)^2 (ln(2 / delta) + K ln(6 K / (gamma epsilon)))``.

    See Also
    --------
    likelihood_sample_size : The same for the likelihood.

    Notes
    -----
    Theorem 1 of [1]_, equation 8. It holds for incomplete samples, too, and for the
    squared error of the posterior (equation 9). The bound is far from what is needed in
    practice: use it to compare structures, not to plan a study. Footnote 5 of [1]_
    gives 4.77 billion samples for the vote data, without N and K; the example
    below has naive Bayes with 16 features of two states.

    References
    ----------
    .. [1] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 3.

    Examples
    --------
    >>> f"{conditional_sample_size(17, 66):.3g}"
    '1.48e+10'

    Twice the distance needs less than a quarter of the samples:

    >>> one, two = (conditional_sample_size(17, 66, epsilon=e) for e in (0.05, 0.1))
    >>> round(one / two, 2)
    4.24
    """
    _check(n_variables, n_parameters, epsilon, delta)
    check_number("gamma", gamma, above=0, below=1)
    scale = 18.0 * (n_variables * log(gamma) / epsilon) ** 2
    covering = n_parameters * log(6.0 * n_parameters / (gamma * epsilon))
    return scale * (log(2.0 / delta) + covering)


def likelihood_sample_size(
    n_variables: int, n_parameters: int, *, epsilon: float = 0.05, delta: float = 0.05
) -> float:
    """Bound the number of complete samples that suffice for the likelihood.

    The counterpart of `conditional_sample_size` for CPTs that maximise the joint log
    likelihood; it needs no smallest entry.

    Parameters
    ----------
    n_variables, n_parameters, epsilon, delta
        As in `conditional_sample_size`.

    Returns
    -------
    float
        ``288 N^2 K / epsilon^2 l^2 ln(18 N K l / (epsilon delta))`` with
        ``l = ln(1 + 3 N / epsilon)``.

    Notes
    -----
    Dasgupta [1]_, section 5, as quoted in [2]_, equation 10.

    References
    ----------
    .. [1] Dasgupta (1997), The sample complexity of learning fixed-structure Bayesian
       networks, Machine Learning 29.
    .. [2] Greiner, Su, Shen, Zhou (2005), Structural extension to logistic regression,
       section 3.

    Examples
    --------
    By these bounds the likelihood of the same network needs more samples:

    >>> f"{likelihood_sample_size(17, 66):.3g}"
    '1.88e+12'
    """
    _check(n_variables, n_parameters, epsilon, delta)
    size = log(1.0 + 3.0 * n_variables / epsilon)
    inner = 18.0 * n_variables * n_parameters * size / (epsilon * delta)
    scale = 288.0 * n_variables**2 * n_parameters / epsilon**2
    return scale * size**2 * log(inner)


def _check(
    n_variables: object, n_parameters: object, epsilon: object, delta: object
) -> None:
    check_whole("n_variables", n_variables, 1)
    check_whole("n_parameters", n_parameters, 1)
    check_number("epsilon", epsilon, above=0)
    check_number("delta", delta, above=0, below=1)
