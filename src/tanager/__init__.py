"""Bayesian network classifiers: readable, fast, at ease with missing values.

Everything public is listed in ``__all__`` and imported on first use, so that
``import tanager`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanager._version import __version__
from tanager.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from tanager import compare as compare
    from tanager import datasets as datasets
    from tanager import explain as explain
    from tanager.classifiers import (
        BayesNetClassifier,
        BoostedClassifier,
        NaiveBayesClassifier,
        TANClassifier,
        load,
        save,
        tuning_resource,
        tuning_space,
    )
    from tanager.classifiers.evaluation import evaluate
    from tanager.classifiers.evaluation_result import EvaluationResult
    from tanager.classifiers.tuning import tune
    from tanager.classifiers.tuning_result import TuningResult
    from tanager.encoding import (
        EqualWidthEncoder,
        FeatureContrasts,
        MDLEncoder,
        QuantileEncoder,
        TableDescription,
        TableEncoder,
        describe,
    )
    from tanager.errors import (
        CapabilityError,
        DataWarning,
        FileFormatError,
        InputError,
        TableSizeError,
        TanagerError,
    )
    from tanager.io import Batches
    from tanager.model import Schema, Structure, Variable
    from tanager.network import LogLinearNetwork, Network
    from tanager.parameters import (
        APN,
        DFE,
        ELR,
        EM,
        ConditionalLikelihood,
        Frequency,
        KeepTables,
        LossMinimizer,
    )
    from tanager.registry import names
    from tanager.structure import (
        KDB,
        ChowLiu,
        ConstraintBased,
        Constraints,
        FactorSearch,
        Fixed,
        GreedyKTree,
        GumbelTree,
        HillClimbing,
        NaiveBayes,
        OrderBased,
        RandomTree,
        ResidualTree,
        SuperParent,
    )

__all__ = [
    "APN", "DFE", "ELR", "EM", "KDB", "Batches", "BayesNetClassifier",
    "BoostedClassifier", "CapabilityError", "ChowLiu", "ConditionalLikelihood",
    "ConstraintBased", "Constraints", "DataWarning", "EqualWidthEncoder",
    "EvaluationResult", "FactorSearch", "FeatureContrasts",
    "FileFormatError", "Fixed", "Frequency", "GreedyKTree", "GumbelTree",
    "HillClimbing", "InputError", "KeepTables", "LogLinearNetwork", "LossMinimizer",
    "MDLEncoder", "NaiveBayes", "NaiveBayesClassifier", "Network", "OrderBased",
    "QuantileEncoder", "RandomTree", "ResidualTree", "Schema",
    "Structure", "SuperParent", "TANClassifier", "TableDescription", "TableEncoder",
    "TableSizeError", "TanagerError", "TuningResult", "Variable", "__version__",
    "compare", "datasets", "describe", "evaluate", "explain", "load", "names", "save",
    "tune", "tuning_resource", "tuning_space",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        ".classifiers": (
            "BayesNetClassifier", "BoostedClassifier", "NaiveBayesClassifier",
            "TANClassifier", "load", "save", "tuning_resource", "tuning_space",
        ),
        ".classifiers.evaluation": ("evaluate",),
        ".classifiers.evaluation_result": ("EvaluationResult",),
        ".classifiers.tuning": ("tune",),
        ".classifiers.tuning_result": ("TuningResult",),
        ".encoding": (
            "EqualWidthEncoder", "FeatureContrasts", "MDLEncoder", "QuantileEncoder",
            "TableDescription", "TableEncoder", "describe",
        ),
        ".errors": (
            "CapabilityError", "DataWarning", "FileFormatError", "InputError",
            "TableSizeError", "TanagerError",
        ),
        ".io": ("Batches",),
        ".model": ("Schema", "Structure", "Variable"),
        ".network": ("LogLinearNetwork", "Network"),
        ".parameters": (
            "APN", "DFE", "ELR", "EM", "ConditionalLikelihood", "Frequency",
            "KeepTables", "LossMinimizer",
        ),
        ".registry": ("names",),
        ".structure": (
            "KDB", "ChowLiu", "ConstraintBased", "Constraints", "FactorSearch", "Fixed",
            "GreedyKTree", "GumbelTree", "HillClimbing", "NaiveBayes", "OrderBased",
            "RandomTree", "ResidualTree", "SuperParent",
        ),
    },
    modules=("compare", "datasets", "explain"),
)  # fmt: skip
