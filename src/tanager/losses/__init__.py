"""Losses: functions of the log joint probabilities and the labels."""

from tanager.losses.auc import AUCLoss
from tanager.losses.base import Loss, set_margin
from tanager.losses.cost_sensitive import CostSensitiveLoss
from tanager.losses.likelihood import ConditionalLikelihoodLoss, JointLikelihoodLoss
from tanager.losses.loss_checks import check_loss
from tanager.losses.margin import HybridLoss, MarginLoss
from tanager.losses.squared_error import SquaredErrorLoss

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
