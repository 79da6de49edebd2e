"""The classifiers that the scoreboard compares, an entry of `RIVALS` each.

`make` gives an unfitted classifier with `fit(X, y)`, `predict_proba(X)` and `classes_`,
of one thread and, where it has one, with the seed `SEED`. `X` is a data frame: numeric
columns are numbers with NaN for missing values, the others are categories of pandas;
`y` is text. All settings are the defaults of the package unless the name says
otherwise.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from lab.measurements.named_models import (
    SEED,
    boosted_trees,
    cat_boost,
    explainable_boosting,
    light_gbm,
    logistic_regression,
    named,
    tuned_boosted_trees,
)
from tanager import BayesNetClassifier, InputError
from tanager.types import FloatArray

OURS = "tanager"
"""The rival that the others are compared with: the library's default."""


@dataclass(frozen=True)
class Rival:
    """One classifier of the scoreboard.

    Parameters
    ----------
    make : callable
        Makes it, unfitted; called in the process that measures.
    package : str
        The distribution whose version is reported.
    count : callable or None, default=None
        The number of parameters of a fitted one; None if that is not known.
    module : str or None, default=None
        What is imported, where that is not the package.
    slow : bool, default=False
        Whether it is measured after the others, and in fewer folds.
    """

    make: Callable[[], Any]
    package: str
    count: Callable[[Any], float] | None = None
    module: str | None = None
    slow: bool = False

    @property
    def version(self) -> str | None:
        """Package and version; None if it is not installed."""
        if find_spec(self.module or self.package) is None:
            return None
        for name in (self.package, f"{self.package}-cpu"):
            try:
                return f"{self.package} {version(name)}"
            except PackageNotFoundError:
                continue
        return None


class IntegerClasses(ClassifierMixin, BaseEstimator):
    """A classifier whose classes have to be 0, 1, 2, ... in the training samples."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: npt.NDArray[Any]) -> IntegerClasses:
        """Fit it to the places of the classes."""
        self.classes_, places = np.unique(y, return_inverse=True)
        self.model.fit(X, places)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Probabilities in the order of `classes_`."""
        return self.model.predict_proba(X)


class KnownValues(ClassifierMixin, BaseEstimator):
    """A classifier that takes no missing values, and only those seen in training.

    Missing numbers get the mean, other missing values a category of their own. Later,
    a number becomes the nearest one of the training samples, and an unknown category
    the most frequent one.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: npt.NDArray[Any]) -> KnownValues:
        """Fit it to filled samples."""
        self.means_ = X.select_dtypes("number").mean()
        filled = self._filled(X)
        self.seen_ = {name: filled[name].value_counts().index for name in X}
        self.model.fit(filled, y)
        self.classes_ = np.asarray(self.model.classes_)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of samples with known values."""
        filled = self._filled(X)
        for name, seen in self.seen_.items():
            if name in self.means_:
                filled[name] = _nearest(filled[name].to_numpy(), np.sort(seen))
            else:
                filled[name] = filled[name].where(filled[name].isin(seen), seen[0])
        return self.model.predict_proba(filled)

    def _filled(self, X: Any) -> Any:
        texts = X.columns.difference(self.means_.index)
        # A mark in front keeps codes from being read as numbers.
        words = {
            c: "=" + X[c].astype(object).fillna("missing").astype(str) for c in texts
        }
        return X.assign(**words).fillna(self.means_)


def _nearest(numbers: FloatArray, sorted_seen: FloatArray) -> FloatArray:
    """The nearest ones of some numbers, of two the lower one."""
    above = np.searchsorted(sorted_seen, numbers).clip(1, len(sorted_seen) - 1)
    low, high = sorted_seen[above - 1], sorted_seen[above]
    nearest: FloatArray = np.where(numbers - low <= high - numbers, low, high)
    return nearest


def xgboost() -> Any:
    """XGBoost, which takes the categories of pandas as such."""
    from xgboost import XGBClassifier  # type: ignore[import-not-found]

    model = XGBClassifier(enable_categorical=True, n_jobs=1, random_state=SEED)
    return IntegerClasses(model)


def khiops() -> Any:
    """Khiops, whose program runs as a process of its own."""
    # Where pip has put that program; it is called by its name.
    folders = (sysconfig.get_path("scripts"), os.environ.get("PATH", ""))
    os.environ["PATH"] = os.pathsep.join(folders)
    os.environ["KHIOPS_PROC_NUMBER"] = "1"
    from khiops.sklearn import KhiopsClassifier  # type: ignore[import-not-found]

    return KhiopsClassifier()


def pyagrum(method: str | None = None) -> Any:
    """A network classifier of pyAgrum, discretised by its own default."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    options = {} if method is None else {"learningMethod": method}
    return KnownValues(BNClassifier(type_processor=DiscreteTypeProcessor(), **options))


def network_cells(model: Any) -> float:
    """Cells of the tables of a model of this library."""
    return float(model.network_.n_parameters)


def tree_numbers(n_leaves: float, n_trees: float) -> float:
    """Numbers that binary trees hold: a value per leaf; feature and place per split."""
    return float(n_leaves + 2 * (n_leaves - n_trees))


def light_gbm_numbers(model: Any) -> float:
    """The numbers of all trees."""
    trees = model.booster_.dump_model()["tree_info"]
    return tree_numbers(sum(tree["num_leaves"] for tree in trees), len(trees))


def xgboost_numbers(model: Any) -> float:
    """The numbers of all trees."""
    trees = model.model.get_booster().get_dump()
    return tree_numbers(sum(tree.count("leaf=") for tree in trees), len(trees))


def cat_boost_numbers(model: Any) -> float:
    """Values of all leaves; feature and place for every level of a tree."""
    levels = np.log2(model.model.get_tree_leaf_counts()).sum()
    return float(len(model.model.get_leaf_values()) + 2 * levels)


def histogram_numbers(model: Any) -> float:
    """The numbers of all trees."""
    trees = [tree for stage in model._predictors for tree in stage]
    leaves = sum(int(tree.nodes["is_leaf"].sum()) for tree in trees)
    return tree_numbers(leaves, len(trees))


def linear_numbers(model: Any) -> float:
    """Coefficients and intercepts."""
    return float(model[-1].coef_.size + model[-1].intercept_.size)


def explainable_numbers(model: Any) -> float:
    """Cells of the tables of all terms, and intercepts."""
    cells = sum(np.size(table) for table in model.term_scores_)
    return float(cells + np.size(model.intercept_))


def pyagrum_numbers(model: Any) -> float:
    """Cells of the tables that are free."""
    return float(model.model.bn_.dim())


RIVALS: dict[str, Rival] = {
    OURS: Rival(BayesNetClassifier, "tanager", network_cells),
    "tanager, tree": Rival(named("TAN-RES-SCL"), "tanager", network_cells),
    "tanager, TAN-RCL": Rival(named("TAN-CMI-RCL"), "tanager", network_cells),
    "tanager, TAN": Rival(named("TAN-CMI-ML"), "tanager", network_cells),
    "tanager, naive Bayes": Rival(named("NB-ML"), "tanager", network_cells),
    "logistic regression": Rival(
        logistic_regression, "scikit-learn", linear_numbers, module="sklearn"
    ),
    "LightGBM": Rival(light_gbm, "lightgbm", light_gbm_numbers),
    "XGBoost": Rival(xgboost, "xgboost", xgboost_numbers),
    "HistGradientBoosting": Rival(
        boosted_trees, "scikit-learn", histogram_numbers, module="sklearn"
    ),
    "HistGradientBoosting, tuned": Rival(
        tuned_boosted_trees,
        "scikit-learn",
        lambda model: histogram_numbers(model.best_estimator_),
        module="sklearn",
        slow=True,
    ),
    "CatBoost": Rival(cat_boost, "catboost", cat_boost_numbers, slow=True),
    "EBM": Rival(
        explainable_boosting,
        "interpret-core",
        explainable_numbers,
        module="interpret",
        slow=True,
    ),
    "Khiops": Rival(khiops, "khiops"),
    "pyAgrum": Rival(pyagrum, "pyagrum", pyagrum_numbers),
    "pyAgrum, TAN": Rival(partial(pyagrum, "TAN"), "pyagrum", pyagrum_numbers),
}
"""All rivals by name; those whose package is not installed are left out of a run."""


def find_rival(name: str) -> Rival:
    """A rival by its name in `RIVALS`, or by the place of one elsewhere.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> find_rival("LightGBM").package
    'lightgbm'
    """
    if name in RIVALS:
        return RIVALS[name]
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute, None) if attribute else None
    except ImportError as error:
        raise InputError(
            f"The module of the rival {name!r} cannot be imported ({error}); name one "
            "on the path, such as 'my_rivals:FOREST'."
        ) from error
    if not isinstance(found, Rival):
        raise InputError(
            f"There is no rival {name!r}; known are {', '.join(RIVALS)}, or give the "
            "place of a `Rival`, such as 'my_rivals:FOREST'."
        )
    return found
