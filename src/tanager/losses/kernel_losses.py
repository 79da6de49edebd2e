"""Losses that kernels know, as a few numbers."""

from __future__ import annotations

from typing import Any

from tanager.losses.conditional import ConditionalLikelihoodLoss
from tanager.losses.hybrid import HybridLoss
from tanager.losses.joint import JointLikelihoodLoss
from tanager.losses.margin import MarginLoss
from tanager.utils.validation import check_number

ClosedForm = tuple[float, float, float, float, float]


def closed_form(loss: Any) -> ClosedForm | None:
    """The numbers by which kernels know a loss, or None if they do not know it.

    Parameters
    ----------
    loss : object
        A loss. Subclasses are not known: they may do something else.

    Returns
    -------
    tuple of float or None
        The kind, 0 for likelihood and margin and 1 for the conditional likelihood; the
        weights of likelihood and margin; gamma and eta.

    Examples
    --------
    >>> closed_form(HybridLoss(lambda_=10.0, gamma=2.0))
    (0.0, 1.0, 10.0, 2.0, 10.0)
    """
    if type(loss) is ConditionalLikelihoodLoss:
        return 1.0, 0.0, 0.0, 1.0, 1.0
    if type(loss) is JointLikelihoodLoss:
        return 0.0, 1.0, 0.0, 1.0, 1.0
    if type(loss) is HybridLoss:
        check_number("lambda_", loss.lambda_, least=0)
        likelihood, margin = 1.0, float(loss.lambda_)
    elif type(loss) is MarginLoss:
        likelihood, margin = 0.0, 1.0
    else:
        return None
    check_number("gamma", loss.gamma, above=0)
    check_number("eta", loss.eta, above=0)
    return 0.0, likelihood, margin, float(loss.gamma), float(loss.eta)
