"""Losses: functions of the log joint probabilities and the labels."""

from tanager.losses.auc import AUCLoss
from tanager.losses.base import Loss
from tanager.losses.cost_sensitive import CostSensitiveLoss
from tanager.losses.likelihood import ConditionalLikelihoodLoss, JointLikelihoodLoss
from tanager.losses.loss_checks import check_loss
from tanager.losses.margin import HybridLoss, MarginLoss

__all__ = [
    "AUCLoss",
    "ConditionalLikelihoodLoss",
    "CostSensitiveLoss",
    "HybridLoss",
    "JointLikelihoodLoss",
    "Loss",
    "MarginLoss",
    "check_loss",
]
