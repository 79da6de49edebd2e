"""The parts of a classifier, from short names or from what suits the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import isabstract
from typing import TypeVar

from sklearn.base import BaseEstimator, clone

from tanager import encoding as encoders
from tanager import losses, scores
from tanager import network as networks
from tanager import parameters as learners
from tanager import structure as structures
from tanager.encoding import NumericEncoder, QuantileEncoder, TableEncoder
from tanager.errors import CapabilityError, unknown_name
from tanager.model.structure import Structure
from tanager.parameters import ParameterLearner
from tanager.registry.short_names import PARAMETERS, STRUCTURES, StructureName
from tanager.structure import StructureLearner

Part = TypeVar("Part")

AUTO = "auto"


def is_auto(part: object) -> bool:
    """Whether a part is to suit the others."""
    return isinstance(part, str) and part.casefold() == AUTO


ENCODERS: Mapping[str, Callable[[], TableEncoder]] = {
    "mdl": lambda: TableEncoder(numeric="mdl"),
    "width": lambda: TableEncoder(numeric="width"),
    "quantile": lambda: TableEncoder(numeric="quantile"),
    "categorical": lambda: TableEncoder(categorical_features="all"),
}

BINS = 50
"""Bins of a numeric feature for smooth parameters."""

SMOOTH = "scl"
"""The parameters that "auto" combines with structures that suit many bins."""

TREE_C = 0.01
"""C of the structure learner: a strong penalty leaves residuals."""

Parts = tuple[TableEncoder, StructureLearner, ParameterLearner]


def parts_from(
    encoder: object,
    structure: object,
    parameters: object,
    *,
    counting: bool = False,
    incremental: bool = False,
) -> Parts:
    """Fresh parts of a classifier from short names or parts; "auto" suits the others.

    Parameters
    ----------
    encoder, structure, parameters
        As in `tanager.BayesNetClassifier`.
    counting : bool, default=False
        Whether "auto" is what only counts, for ensembles.
    incremental : bool, default=False
        Whether "auto" is what learns incrementally: factors, or, for a given structure,
        frequencies.

    Notes
    -----
    If structure and parameters are "auto", `FactorSearch` learns factors, and numeric
    features get up to 254 quantile bins. Otherwise

    - *parameters* are "scl", a smooth `ConditionalLikelihood`, whose C is chosen in
      three folds, for structures that suit many bins
      (`StructureLearner.suits_many_bins`: naive Bayes, Chow-Liu, random and residual
      trees), the CPTs of the structure learner where it has them
      (`StructureLearner.gives_tables`), and frequencies for the others;
    - the *structure* is a residual tree for parameters that suit many bins
      (`ParameterLearner.suits_many_bins`), a Chow-Liu tree for others; residual trees
      by name ("tan-res", "2-tree-res") have the smoothing of parameters that are
      "auto" or "scl";
    - the *encoder* makes up to 50 quantile bins for parameters that suit many bins, and
      discretises by MDL for others. It gives features with missing values a state for
      them if the parameters gain from it (`ParameterLearner.suits_missing_state`:
      `ConditionalLikelihood`), and for factors, which have up to 254 bins.

    Examples
    --------
    >>> for part in parts_from("auto", "auto", "auto"):
    ...     print(part)
    TableEncoder(missing='state', numeric=QuantileEncoder(n_bins=254))
    FactorSearch()
    KeepTables()
    >>> for part in parts_from("auto", "tan-res", "auto"):
    ...     print(part)
    TableEncoder(missing='state', numeric=QuantileEncoder(n_bins=50))
    ResidualTree(C=0.01, pair_bins=6, smooth=True)
    ConditionalLikelihood(C='cv', fallback=ELR(folds=3, solver='lbfgs'),
                          interactions=2, pair_bins=6, smooth=True)
    >>> parts_from("auto", "auto", "fe")
    (TableEncoder(), ChowLiu(), Frequency())
    """
    found = None if is_auto(structure) else structure_from(structure)
    if found is None and is_auto(parameters) and not counting:
        found = structures.FactorSearch()
    if not is_auto(parameters):
        tables = parameters_from(parameters)
    elif counting or (incremental and not (found is not None and found.online)):
        tables = learners.Frequency()
    elif found is not None and found.suits_many_bins:
        tables = parameters_from(SMOOTH)
    else:
        gives_tables = found is not None and found.gives_tables
        tables = learners.KeepTables() if gives_tables else learners.Frequency()
    # Learners that are given as objects keep their arguments.
    adapts = found is None or (
        isinstance(structure, str) and isinstance(parameters, str)
    )
    if found is None:
        suits = tables.suits_many_bins
        found = structures.ResidualTree() if suits else structures.ChowLiu()
    if adapts:
        smooth_structure(found, tables)
    if not is_auto(encoder):
        return encoder_from(encoder), found, tables
    bins = found.fine_bins or (BINS if tables.suits_many_bins else None)
    numeric = "mdl" if bins is None else QuantileEncoder(n_bins=bins)
    with_state = tables.suits_missing_state or found.gives_factors
    missing = "state" if with_state else "marginalize"
    return TableEncoder(numeric=numeric, missing=missing), found, tables


def smooth_structure(structure: StructureLearner, tables: ParameterLearner) -> None:
    """Give a structure learner the smoothing of the parameters, where it takes it."""
    if structure.takes_smoothing and tables.suits_many_bins:
        structure.set_params(C=TREE_C, smooth=True, pair_bins=tables.pair_bins)


def structure_from(part: object) -> StructureLearner:
    """Make a structure learner from a short name, or clone one.

    Examples
    --------
    >>> structure_from("nb")
    NaiveBayes()
    """
    if isinstance(part, str):
        found = match_structure(part)
        if found is not None:
            return found[1]
        known = (name.lower() for entry in STRUCTURES for name in entry.listed)
        raise unknown_name("structure", part, ("auto", *known))
    if isinstance(part, (networks.Network, Structure)):
        raise CapabilityError(
            f"structure is a {type(part).__name__}, not a StructureLearner; to learn "
            "new CPTs for the arcs of a network give structure="
            "Fixed(network.edges, class_rooted=False)."
        )
    return _cloned(part, StructureLearner, "structure", "NaiveBayes() or 'tan'")  # type: ignore[type-abstract]


def match_structure(text: str) -> tuple[StructureName, StructureLearner] | None:
    """The structure that a name stands for, and a fresh learner; None if unknown."""
    spelling = join_words(text)
    for entry in STRUCTURES:
        found = re.fullmatch(entry.pattern, spelling, flags=re.IGNORECASE)
        if found is not None:
            return entry, entry.make(*found.groups())
    return None


def join_words(text: str) -> str:
    """Write a name without blanks: "TAN Subset 8" of a paper is "TAN-Subset-8"."""
    return re.sub(r"\s+", "-", text.strip())


def parameters_from(part: object) -> ParameterLearner:
    """Make a parameter learner from a short name, or clone one.

    Examples
    --------
    >>> parameters_from("ml")
    Frequency(zero=1e-05)
    """
    if isinstance(part, str):
        learners = [entry for entry in PARAMETERS if not entry.boosted]
        for entry in learners:
            if entry.name.casefold() == part.casefold():
                return entry.make()
        known = (entry.name.lower() for entry in learners)
        raise unknown_name("parameter learner", part, ("auto", *known))
    return _cloned(part, ParameterLearner, "parameters", "Frequency() or 'ml'")  # type: ignore[type-abstract]


def encoder_from(part: object) -> TableEncoder:
    """Make an encoder from a short name or a numeric encoder, or clone one.

    Examples
    --------
    >>> encoder_from("quantile")
    TableEncoder(numeric='quantile')
    """
    if isinstance(part, str):
        if part in ENCODERS:
            return ENCODERS[part]()
        raise unknown_name("encoder", part, ("auto", *ENCODERS))
    if isinstance(part, NumericEncoder):
        return TableEncoder(numeric=clone(part))
    return _cloned(part, TableEncoder, "encoder", "TableEncoder() or 'mdl'")


def part_classes() -> dict[str, type[BaseEstimator]]:
    """Every part that model files may name, by class name.

    All public encoders, learners, losses and scores: what the packages list in
    ``__all__``.
    """
    kinds = (
        NumericEncoder, TableEncoder, StructureLearner, ParameterLearner, losses.Loss,
        scores.Score,
    )  # fmt: skip
    found = {}
    for package in (encoders, losses, learners, scores, structures):
        for name in package.__all__:
            item = getattr(package, name)
            if (
                isinstance(item, type)
                and issubclass(item, kinds)
                and not isabstract(item)
            ):
                found[name] = item
    return found


def _cloned(part: object, kind: type[Part], argument: str, example: str) -> Part:
    if not isinstance(part, kind):
        raise CapabilityError(
            f"{argument}={part!r} is not a {kind.__name__}; give one such as {example}."
        )
    cloned: Part = clone(part)
    return cloned
