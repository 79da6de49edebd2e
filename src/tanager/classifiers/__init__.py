"""Classifiers: an encoder, a structure learner and a parameter learner."""

from tanager.classifiers.bayes_net import BayesNetClassifier
from tanager.classifiers.boosting import BoostedClassifier
from tanager.classifiers.persistence import load, save
from tanager.classifiers.presets import NaiveBayesClassifier, TANClassifier
from tanager.classifiers.search_space import tuning_resource, tuning_space

__all__ = [
    "BayesNetClassifier",
    "BoostedClassifier",
    "NaiveBayesClassifier",
    "TANClassifier",
    "load",
    "save",
    "tuning_resource",
    "tuning_space",
]
