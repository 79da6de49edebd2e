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
        MDLEncoder,
        QuantileEncoder,
        TableEncoder,
    )
    from tanager.errors import (
        CapabilityError,
        FileFormatError,
        InputError,
        TableSizeError,
        TanagerError,
    )
    from tanager.model import Schema, Structure, Variable
    from tanager.network import Network
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

_HOME = {
    "APN": "tanager.parameters",
    "DFE": "tanager.parameters",
    "ELR": "tanager.parameters",
    "EM": "tanager.parameters",
    "KDB": "tanager.structure",
    "BayesNetClassifier": "tanager.classifiers",
    "BoostedClassifier": "tanager.classifiers",
    "CapabilityError": "tanager.errors",
    "ChowLiu": "tanager.structure",
    "ConditionalLikelihood": "tanager.parameters",
    "ConstraintBased": "tanager.structure",
    "Constraints": "tanager.structure",
    "EqualWidthEncoder": "tanager.encoding",
    "EvaluationResult": "tanager.classifiers.evaluation_result",
    "FileFormatError": "tanager.errors",
    "Fixed": "tanager.structure",
    "Frequency": "tanager.parameters",
    "GreedyKTree": "tanager.structure",
    "GumbelTree": "tanager.structure",
    "HillClimbing": "tanager.structure",
    "InputError": "tanager.errors",
    "KeepTables": "tanager.parameters",
    "LossMinimizer": "tanager.parameters",
    "MDLEncoder": "tanager.encoding",
    "NaiveBayes": "tanager.structure",
    "NaiveBayesClassifier": "tanager.classifiers",
    "Network": "tanager.network",
    "OrderBased": "tanager.structure",
    "QuantileEncoder": "tanager.encoding",
    "RandomTree": "tanager.structure",
    "ResidualTree": "tanager.structure",
    "Schema": "tanager.model",
    "Structure": "tanager.model",
    "SuperParent": "tanager.structure",
    "TANClassifier": "tanager.classifiers",
    "TableEncoder": "tanager.encoding",
    "TableSizeError": "tanager.errors",
    "TanagerError": "tanager.errors",
    "TuningResult": "tanager.classifiers.tuning_result",
    "Variable": "tanager.model",
    "evaluate": "tanager.classifiers.evaluation",
    "load": "tanager.classifiers",
    "names": "tanager.registry",
    "save": "tanager.classifiers",
    "tune": "tanager.classifiers.tuning",
    "tuning_resource": "tanager.classifiers",
    "tuning_space": "tanager.classifiers",
}

__all__ = [
    "APN",
    "DFE",
    "ELR",
    "EM",
    "KDB",
    "BayesNetClassifier",
    "BoostedClassifier",
    "CapabilityError",
    "ChowLiu",
    "ConditionalLikelihood",
    "ConstraintBased",
    "Constraints",
    "EqualWidthEncoder",
    "EvaluationResult",
    "FileFormatError",
    "Fixed",
    "Frequency",
    "GreedyKTree",
    "GumbelTree",
    "HillClimbing",
    "InputError",
    "KeepTables",
    "LossMinimizer",
    "MDLEncoder",
    "NaiveBayes",
    "NaiveBayesClassifier",
    "Network",
    "OrderBased",
    "QuantileEncoder",
    "RandomTree",
    "ResidualTree",
    "Schema",
    "Structure",
    "SuperParent",
    "TANClassifier",
    "TableEncoder",
    "TableSizeError",
    "TanagerError",
    "TuningResult",
    "Variable",
    "__version__",
    "compare",
    "datasets",
    "evaluate",
    "load",
    "names",
    "save",
    "tune",
    "tuning_resource",
    "tuning_space",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in ("compare", "datasets"):
        return import_module(f"tanager.{name}")
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tanager' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
