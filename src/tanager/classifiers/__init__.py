"""Classifiers: an encoder, a structure learner and a parameter learner."""

from typing import TYPE_CHECKING

from tanager.utils.lazy_names import lazy_names

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

if TYPE_CHECKING:
    from tanager.classifiers.bayes_net import BayesNetClassifier
    from tanager.classifiers.boosting import BoostedClassifier
    from tanager.classifiers.persistence import load, save
    from tanager.classifiers.presets import NaiveBayesClassifier, TANClassifier
    from tanager.classifiers.search_space import tuning_resource, tuning_space
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".bayes_net": ("BayesNetClassifier",),
            ".boosting": ("BoostedClassifier",),
            ".persistence": ("load", "save"),
            ".presets": ("NaiveBayesClassifier", "TANClassifier"),
            ".search_space": ("tuning_resource", "tuning_space"),
        },
    )  # fmt: skip
