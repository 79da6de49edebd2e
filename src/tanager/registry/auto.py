"""What ``"auto"`` stands for: the recipe that did best on many datasets."""

from __future__ import annotations

from tanager.encoding import QuantileEncoder, TableEncoder
from tanager.parameters import (
    ConditionalLikelihood,
    Frequency,
    KeepTables,
    ParameterLearner,
)
from tanager.registry.components import encoder_from, parameters_from, structure_from
from tanager.structure import ChowLiu, ResidualTree, StructureLearner

AUTO = "auto"


def is_auto(part: object) -> bool:
    """Whether a part is to suit the others."""
    return isinstance(part, str) and part.casefold() == AUTO


BINS, PAIR_BINS = 50, 6
"""Bins of a numeric feature, and of each numeric feature in the factor of a pair."""

TREE_C = 0.01
"""C of the structure learner: a strong penalty leaves residuals."""

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
        Whether "auto" is what only counts: for incremental learning, and for ensembles.

    Notes
    -----
    If all are "auto", numeric features get up to 50 quantile bins, the structure is a
    `ResidualTree`, and `ConditionalLikelihood` learns the parameters with a
    first-difference penalty, whose C is chosen in three folds. Otherwise

    - *parameters* are those for structures that suit many bins
      (`StructureLearner.suits_many_bins`: naive Bayes, Chow-Liu, random and residual
      trees), the CPTs of the structure learner where it has them
      (`StructureLearner.gives_tables`), and frequencies for the others;
    - the *structure* is a residual tree for parameters that suit many bins
      (`ParameterLearner.suits_many_bins`), a Chow-Liu tree for others; residual trees
      by name ("tan-res", "2-tree-res") have the smoothing of parameters that are
      "auto";
    - the *encoder* makes up to 50 quantile bins for parameters that suit many bins, and
      discretises by MDL for others.

    Examples
    --------
    >>> for part in parts_from("auto", "auto", "auto"):
    ...     print(part)
    TableEncoder(numeric=QuantileEncoder(n_bins=50))
    ResidualTree(C=0.01, pair_bins=6, smooth=True)
    ConditionalLikelihood(C='cv', interactions=2, pair_bins=6, smooth=True)
    >>> parts_from("auto", "auto", "fe")
    (TableEncoder(), ChowLiu(), Frequency())
    """
    found = None if is_auto(structure) else structure_from(structure)
    if not is_auto(parameters):
        tables = parameters_from(parameters)
    elif counting:
        tables = Frequency()
    elif found is None or found.suits_many_bins:
        tables = ConditionalLikelihood(
            smooth=True, C="cv", interactions=2, pair_bins=PAIR_BINS
        )
    else:
        tables = KeepTables() if found.gives_tables else Frequency()
    smooth = tables.suits_many_bins
    # A tree that is given as an object keeps its arguments.
    adapts = found is None or (isinstance(structure, str) and is_auto(parameters))
    if found is None:
        found = ResidualTree() if smooth else ChowLiu()
    if smooth and adapts and found.takes_smoothing:
        found.set_params(C=TREE_C, smooth=True, pair_bins=tables.pair_bins)
    if is_auto(encoder):
        encoder = QuantileEncoder(n_bins=BINS) if smooth else "mdl"
    return encoder_from(encoder), found, tables
