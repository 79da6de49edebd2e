"""Losses: functions of the log joint and the labels, with their derivatives."""

from tanager.losses.base import Loss
from tanager.losses.conditional import ConditionalLikelihoodLoss
from tanager.losses.cost import CostSensitiveLoss
from tanager.losses.hybrid import HybridLoss
from tanager.losses.joint import JointLikelihoodLoss
from tanager.losses.loss_checks import checked_loss
from tanager.losses.margin import MarginLoss
from tanager.losses.ranking import AUCLoss

__all__ = [
    "AUCLoss",
    "ConditionalLikelihoodLoss",
    "CostSensitiveLoss",
    "HybridLoss",
    "JointLikelihoodLoss",
    "Loss",
    "MarginLoss",
    "checked_loss",
]
