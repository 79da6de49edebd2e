"""Classifiers of this library and of others, by name, for tables as they come."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from lab.measurements.cross_validation import of_own_class
from lab.measurements.missing_feature_rules import (
    FactorsByRule,
    leave_out,
    log_mean_of_class,
    mean_of_class,
    mean_of_samples,
)
from tanager import CapabilityError
from tanager.classifiers import BayesNetClassifier
from tanager.encoding import (
    FeatureContrasts,
    NumericEncoder,
    QuantileEncoder,
    TableEncoder,
)

SEED = 0
FINE = QuantileEncoder(n_bins=50)
"""How "auto" discretises numeric features for smooth tables."""

LEAST_SHOWN = 1e-15
"""Probability below which the log loss does not count, as in scikit-learn once."""


def named(name: str) -> Callable[[], Any]:
    """A published classifier."""
    return lambda: BayesNetClassifier.from_name(name, random_state=SEED)


def encoded(
    numeric: NumericEncoder | str, missing: str, structure: str, parameters: str
) -> Callable[[], Any]:
    """A classifier that marginalises missing values or gives them a state."""
    return lambda: BayesNetClassifier(
        encoder=TableEncoder(numeric=numeric, missing=missing),
        structure=structure,
        parameters=parameters,
        random_state=SEED,
    )


def logistic_regression(*, indicators: bool = False) -> Any:
    """Nominal features as indicators, numbers as they are; nothing tuned.

    Missing numbers are replaced by the mean; `indicators` adds a feature that says
    where they were. A missing nominal value is a category.
    """
    imputer = SimpleImputer(add_indicator=indicators)
    return make_pipeline(
        make_column_transformer(
            (
                make_pipeline(imputer, StandardScaler()),
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


def light_gbm() -> Any:
    """LightGBM as it is by default, in one thread."""
    try:
        from lightgbm import LGBMClassifier  # type: ignore[import-not-found]
    except ImportError as error:
        raise CapabilityError(
            "LightGBM is not installed; pip install tanager[bench]."
        ) from error
    return LGBMClassifier(random_state=SEED, n_jobs=1, verbose=-1)


def cat_boost() -> Any:
    """CatBoost as it is by default, in one thread; text columns are categories."""
    try:
        from catboost import CatBoostClassifier  # type: ignore[import-not-found]
    except ImportError as error:
        raise CapabilityError(
            "CatBoost is not installed; pip install tanager[bench]."
        ) from error

    return NamedCategories(
        CatBoostClassifier(
            random_seed=SEED,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )
    )


class NamedCategories(ClassifierMixin, BaseEstimator):
    """A classifier that is given the names of columns with text.

    Their missing values are a category.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: npt.NDArray[Any]) -> NamedCategories:
        """Fit it; columns that are not numeric are categories."""
        texts = [name for name in X if X[name].dtype.kind not in "biuf"]
        self.model.fit(_with_texts(X), y, cat_features=texts)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        """Probabilities in the order of `classes_`."""
        return self.model.predict_proba(_with_texts(X))


def _with_texts(X: Any) -> Any:
    """Columns that are not numeric as text, "missing" where there is no value."""
    texts = [name for name in X if X[name].dtype.kind not in "biuf"]
    return X.assign(
        **{c: X[c].astype(object).fillna("missing").astype(str) for c in texts}
    )


def tuned_boosted_trees() -> Any:
    """Gradient boosting, its trees chosen in three inner folds.

    A lower rate goes with more trees.
    """
    return GridSearchCV(
        boosted_trees(),
        [
            {"max_leaf_nodes": [8, 31]},
            {"learning_rate": [0.03], "max_iter": [300], "max_leaf_nodes": [8]},
        ],
        scoring=_log_likelihood,
        cv=StratifiedKFold(3, shuffle=True, random_state=SEED),
    )


def _log_likelihood(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    """Mean logarithm of the probability of the own class; a fold may lack some."""
    own = of_own_class(model.predict_proba(X), model.classes_, y)
    return float(np.log(own.clip(min=LEAST_SHOWN)).mean())


def categorical_nb() -> Any:
    """Naive Bayes of scikit-learn; numbers in ten bins of equal frequency."""
    return make_pipeline(
        make_column_transformer(
            (
                make_pipeline(
                    SimpleImputer(),
                    KBinsDiscretizer(
                        10, encode="ordinal", quantile_method="averaged_inverted_cdf"
                    ),
                ),
                make_column_selector(dtype_include="number"),
            ),
            (
                make_pipeline(
                    OrdinalEncoder(
                        handle_unknown="use_encoded_value",
                        unknown_value=np.nan,
                        encoded_missing_value=np.nan,
                    ),
                    SimpleImputer(strategy="most_frequent", keep_empty_features=True),
                ),
                make_column_selector(dtype_exclude="number"),
            ),
        ),
        CategoricalNB(),
    )


def explainable_boosting() -> Any:
    """The explainable boosting machine, as it is by default, in one process."""
    try:
        from interpret.glassbox import (  # type: ignore[import-not-found]
            ExplainableBoostingClassifier,
        )
    except ImportError as error:
        raise CapabilityError(
            "The explainable boosting machine needs the package interpret, which is "
            "not installed; pip install tanager[bench]."
        ) from error
    return ExplainableBoostingClassifier(random_state=SEED, n_jobs=1)


MODELS: dict[str, Callable[[], Any]] = {
    "NB-ML": named("NB-ML"),
    "TAN-CMI-ML": named("TAN-CMI-ML"),
    "TAN-OMI-CR-RCL": named("TAN-OMI-CR-RCL"),
    "TAN-CMI-HYB": named("TAN-CMI-HYB"),
    "NB-RCL": named("NB-RCL"),
    "TAN-CMI-RCL": named("TAN-CMI-RCL"),
    "TAN-RES-RCL": named("TAN-RES-RCL"),
    "2-tree-RES-RCL": named("2-tree-RES-RCL"),
    "NB, smooth tables": named("NB-SCL"),
    "TAN-CMI, smooth tables": named("TAN-CMI-SCL"),
    "TAN-RES, smooth tables": named("TAN-RES-SCL"),
    "2-tree-RES, smooth tables": named("2-tree-RES-SCL"),
    "Factors": partial(BayesNetClassifier, structure="factors"),
    "Factors, contrasts": lambda: make_pipeline(
        FeatureContrasts(), BayesNetClassifier(structure="factors")
    ),
    "Factors, left out": partial(FactorsByRule, leave_out),
    "Factors, mean of all samples": partial(FactorsByRule, mean_of_samples),
    "Factors, log mean of the class": partial(FactorsByRule, log_mean_of_class),
    "Factors, mean of the class": partial(FactorsByRule, mean_of_class),
    "TAN-RES, smooth tables, missing as state": encoded(
        FINE, "state", "tan-res", "auto"
    ),
    "TAN-RES, smooth tables, marginalised": encoded(
        FINE, "marginalize", "tan-res", "auto"
    ),
    "NB, smooth tables, missing as state": encoded(FINE, "state", "nb", "auto"),
    "NB, smooth tables, marginalised": encoded(FINE, "marginalize", "nb", "auto"),
    "NB-ELR, missing as state": encoded("mdl", "state", "nb", "elr"),
    "NB-ELR, marginalised": encoded("mdl", "marginalize", "nb", "elr"),
    "TAN-ELR, missing as state": encoded("mdl", "state", "tan", "elr"),
    "TAN-ELR, marginalised": encoded("mdl", "marginalize", "tan", "elr"),
    "NB+EM": named("NB+EM"),
    "TAN+EM": named("TAN+EM"),
    "LogisticRegression": logistic_regression,
    "LogisticRegression, indicators": partial(logistic_regression, indicators=True),
    "LightGBM": light_gbm,
    "CatBoost": cat_boost,
    "CategoricalNB": categorical_nb,
    "HistGradientBoosting": boosted_trees,
    "HistGradientBoosting, tuned": tuned_boosted_trees,
    "ExplainableBoosting": explainable_boosting,
}
"""What makes an unfitted classifier, by name; "Factors" is the library's default."""
