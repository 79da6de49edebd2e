"""Losses: functions of the log joint probabilities and the labels."""

from tanager.losses.auc import AUCLoss
from tanager.losses.base import Loss
from tanager.losses.conditional import ConditionalLikelihoodLoss
from tanager.losses.cost_sensitive import CostSensitiveLoss
from tanager.losses.hybrid import HybridLoss
from tanager.losses.joint import JointLikelihoodLoss
from tanager.losses.loss_checks import check_loss
from tanager.losses.margin import MarginLoss

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
