"""What ``"auto"`` stands for: the recipe that did best on many data sets."""

from __future__ import annotations

from tanager.encoding import QuantileEncoder, TableEncoder
from tanager.parameters import ELR, Frequency, KeepTables, ParameterLearner
from tanager.registry.components import encoder_from, parameters_from, structure_from
from tanager.structure import (
    ChowLiu,
    NaiveBayes,
    RandomTree,
    ResidualTree,
    StructureLearner,
)

AUTO = "auto"


def is_auto(part: object) -> bool:
    """Whether a part is to suit the others."""
    return isinstance(part, str) and part.casefold() == AUTO


BINS, PAIR_BINS = 50, 6
"""Bins of a number, and of each of the two numbers in the table of a pair."""

FOLDS = 3
"""Folds by which the penalty of smooth tables is chosen."""

TREE_C = 0.01
"""Weight of the data while the tree is found: a strong penalty leaves residuals."""

FOR_SMOOTH_TABLES = (NaiveBayes, ChowLiu, RandomTree, ResidualTree)
"""Structures that are found from many bins as well as from few."""

Parts = tuple[TableEncoder, StructureLearner, ParameterLearner]


def parts_from(
    encoder: object, structure: object, parameters: object, *, counting: bool = False
) -> Parts:
    """Fresh parts of a classifier from short names or parts; "auto" suits the others.

    Parameters
    ----------
    encoder, structure, parameters
        As in `tanager.BayesNetClassifier`.
    counting : bool, default=False
        Whether "auto" is what only counts: for rows that come in portions, and where
        many networks are learned.

    Notes
    -----
    If all are "auto", numbers get up to 50 bins of equal frequency, the structure is a
    tree of what the classifier has not explained yet (`ResidualTree`), and tables
    maximise the conditional likelihood under a penalty on steps between neighbouring
    bins, whose strength is chosen in three folds (`ELR`). Else

    - *parameters* are such smooth tables for naive Bayes, Chow-Liu, random and residual
      trees, those that the structure learner hands over where it does
      (`StructureLearner.gives_tables`), and frequencies otherwise;
    - the *structure* is a residual tree for smooth tables, a Chow-Liu tree for others;
      residual trees by name ("tan-res", "2-tree-res") are as smooth as tables that are
      "auto";
    - the *encoder* makes up to 50 bins of equal frequency for smooth tables, bins by
      MDL for others.

    Examples
    --------
    >>> for part in parts_from("auto", "auto", "auto"):
    ...     print(part)
    TableEncoder(numeric=QuantileEncoder(n_bins=50))
    ResidualTree(C=0.01, pair_bins=6, smooth=True)
    ELR(C='cv', folds=3, interactions=2, pair_bins=6, smooth=True)
    >>> parts_from("auto", "auto", "fe")
    (TableEncoder(), ChowLiu(), Frequency())
    """
    found = None if is_auto(structure) else structure_from(structure)
    tables = (
        _tables_for(found, counting=counting)
        if is_auto(parameters)
        else parameters_from(parameters)
    )
    smooth = tables if isinstance(tables, ELR) and tables.smooth else None
    # A tree that is given as an object has the arguments that are meant.
    named = isinstance(structure, str) and is_auto(parameters)
    if found is None:
        found = _tree_for(smooth) if smooth else ChowLiu()
    elif smooth and named and isinstance(found, ResidualTree):
        found = _tree_for(smooth, found.k)
    return _encoder(encoder, smooth=smooth is not None), found, tables


def _tables_for(
    structure: StructureLearner | None, *, counting: bool
) -> ParameterLearner:
    if counting:
        return Frequency()
    if structure is None or isinstance(structure, FOR_SMOOTH_TABLES):
        return ELR(
            smooth=True, C="cv", folds=FOLDS, interactions=2, pair_bins=PAIR_BINS
        )
    return KeepTables() if structure.gives_tables else Frequency()


def _tree_for(tables: ELR, k: int = 1) -> ResidualTree:
    return ResidualTree(k=k, C=TREE_C, smooth=True, pair_bins=tables.pair_bins)


def _encoder(encoder: object, *, smooth: bool) -> TableEncoder:
    if not is_auto(encoder):
        return encoder_from(encoder)
    return encoder_from(QuantileEncoder(n_bins=BINS) if smooth else "mdl")
