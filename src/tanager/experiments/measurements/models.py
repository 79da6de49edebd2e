"""Classifiers of this library and of others, by name, for tables as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tanager.classifiers import BayesNetClassifier
from tanager.encoding.numeric import QuantileEncoder
from tanager.encoding.table_encoder import TableEncoder
from tanager.parameters import ELR
from tanager.structure import ChowLiu, NaiveBayes, ResidualTree

BINS, PAIR_BINS = 30, 6
"""Bins of a number, and of each of the two numbers in the table of a pair."""

FOLDS = 3
"""Inner folds by which the penalty is chosen."""

MOST_STATES = 300
"""States that scikit-learn's naive Bayes is told to expect in test rows."""

SEED = 0


def named(name: str) -> Callable[[], Any]:
    """A published classifier."""
    return lambda: BayesNetClassifier.from_name(name, random_state=SEED)


def convex(structure: Any, *, smooth: bool, k: int = 1) -> Callable[[], Any]:
    """Penalised conditional likelihood, the penalty chosen by inner folds.

    Parameters
    ----------
    structure : {"nb", "tan", "residual"}
        Which one.
    smooth : bool
        Many bins and a penalty on steps between them, or bins by MDL.
    k : int, default=1
        Feature parents of a residual tree.
    """
    tables: dict[str, Any] = {"smooth": True, "pair_bins": PAIR_BINS} if smooth else {}
    structures = {
        "nb": NaiveBayes,
        "tan": ChowLiu,
        "residual": lambda: ResidualTree(k=k, **tables),
    }
    return lambda: BayesNetClassifier(
        QuantileEncoder(n_bins=BINS) if smooth else "mdl",
        structures[structure](),
        ELR(C="cv", folds=FOLDS, interactions=2, **tables),
        random_state=SEED,
    )


def logistic_regression() -> Any:
    """Nominal features as indicators, numbers as they are; nothing tuned."""
    return make_pipeline(
        make_column_transformer(
            (
                make_pipeline(SimpleImputer(), StandardScaler()),
                make_column_selector(dtype_include="number"),
            ),
            (
                OneHotEncoder(handle_unknown="ignore"),
                make_column_selector(dtype_exclude="number"),
            ),
        ),
        LogisticRegression(max_iter=2000),
    )


def boosted_trees() -> Any:
    """Gradient boosting on histograms, as it is by default."""
    return HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=SEED
    )


def categorical_nb() -> Any:
    """Naive Bayes of scikit-learn on bins by MDL."""
    return make_pipeline(
        TableEncoder(),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        CategoricalNB(min_categories=MOST_STATES),
    )


def explainable_boosting() -> Any:
    """The explainable boosting machine, as it is by default."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=SEED, n_jobs=1)


MODELS: dict[str, Callable[[], Any]] = {
    "NB-ML": named("NB-ML"),
    "TAN-CMI-ML": named("TAN-CMI-ML"),
    "TAN-OMI-CR-ML": named("TAN-OMI-CR-ML"),
    "TAN-CMI-HYB": named("TAN-CMI-HYB"),
    "NB-CL": convex("nb", smooth=False),
    "TAN-CMI-CL": convex("tan", smooth=False),
    "TAN-RES-CL": convex("residual", smooth=False),
    "2-tree-RES-CL": convex("residual", smooth=False, k=2),
    "NB-CL smooth": convex("nb", smooth=True),
    "TAN-CMI-CL smooth": convex("tan", smooth=True),
    "TAN-RES-CL smooth": convex("residual", smooth=True),
    "2-tree-RES-CL smooth": convex("residual", smooth=True, k=2),
    "LogisticRegression": logistic_regression,
    "CategoricalNB": categorical_nb,
    "HistGradientBoosting": boosted_trees,
    "ExplainableBoosting": explainable_boosting,
}
"""What makes an unfitted classifier, by name."""
