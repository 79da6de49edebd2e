"""Bayesian network classifiers: readable, fast, at ease with missing values.

Everything public is listed in ``__all__`` and imported on first use, so that
``import tanager`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tanager._version import __version__

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

_MEMBERS = {
    "tanager.classifiers": (
        "BayesNetClassifier", "BoostedClassifier", "NaiveBayesClassifier",
        "TANClassifier", "load", "save", "tuning_resource", "tuning_space",
    ),
    "tanager.classifiers.evaluation": ("evaluate",),
    "tanager.classifiers.evaluation_result": ("EvaluationResult",),
    "tanager.classifiers.tuning": ("tune",),
    "tanager.classifiers.tuning_result": ("TuningResult",),
    "tanager.encoding": (
        "EqualWidthEncoder", "FeatureContrasts", "MDLEncoder", "QuantileEncoder",
        "TableDescription", "TableEncoder", "describe",
    ),
    "tanager.errors": (
        "CapabilityError", "DataWarning", "FileFormatError", "InputError",
        "TableSizeError", "TanagerError",
    ),
    "tanager.io": ("Batches",),
    "tanager.model": ("Schema", "Structure", "Variable"),
    "tanager.network": ("LogLinearNetwork", "Network"),
    "tanager.parameters": (
        "APN", "DFE", "ELR", "EM", "ConditionalLikelihood", "Frequency", "KeepTables",
        "LossMinimizer",
    ),
    "tanager.registry": ("names",),
    "tanager.structure": (
        "KDB", "ChowLiu", "ConstraintBased", "Constraints", "FactorSearch", "Fixed",
        "GreedyKTree", "GumbelTree", "HillClimbing", "NaiveBayes", "OrderBased",
        "RandomTree", "ResidualTree", "SuperParent",
    ),
}  # fmt: skip
_HOME = {name: module for module, names in _MEMBERS.items() for name in names}

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


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in ("compare", "datasets", "explain"):
        return import_module(f"tanager.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tanager' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
