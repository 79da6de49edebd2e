"""Losses: functions of the log joint probabilities and the labels."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

__all__ = [
    "AUCLoss",
    "ConditionalLikelihoodLoss",
    "CostSensitiveLoss",
    "HybridLoss",
    "JointLikelihoodLoss",
    "Loss",
    "MarginLoss",
    "SquaredErrorLoss",
    "check_loss",
    "set_margin",
]

if TYPE_CHECKING:
    from tanager.losses.auc import AUCLoss
    from tanager.losses.base import Loss, set_margin
    from tanager.losses.cost_sensitive import CostSensitiveLoss
    from tanager.losses.likelihood import ConditionalLikelihoodLoss, JointLikelihoodLoss
    from tanager.losses.loss_checks import check_loss
    from tanager.losses.margin import HybridLoss, MarginLoss
    from tanager.losses.squared_error import SquaredErrorLoss
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".auc": ("AUCLoss",),
            ".base": ("Loss", "set_margin"),
            ".cost_sensitive": ("CostSensitiveLoss",),
            ".likelihood": ("ConditionalLikelihoodLoss", "JointLikelihoodLoss"),
            ".loss_checks": ("check_loss",),
            ".margin": ("HybridLoss", "MarginLoss"),
            ".squared_error": ("SquaredErrorLoss",),
        },
    )  # fmt: skip
