"""Log loss with a feature of thousands of categories, against three other models."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import hstack
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import OneHotEncoder, SplineTransformer

from lab.benchmarks._harness import Options, Row, Skip
from tanager import BayesNetClassifier

PENALTIES = np.logspace(-2, 1, 7)
"""Values of C of the ridge, whose best one is chosen on the test samples."""


def run(options: Options) -> list[Row]:
    """All rows of this benchmark."""
    n_samples = options.pick(20_000, 4_000)
    return [
        _compare(n_samples, n_categories, spread, n_numeric)
        for n_categories, spread, n_numeric in (
            (n_samples // 10, 1.0, 0),
            (n_samples // 10, 0.4, 0),
            (n_samples // 10, 1.0, 5),
            (n_samples // 10, 0.4, 5),
            (n_samples // 2, 1.0, 5),
        )
    ]


def _compare(n_samples: int, n_categories: int, spread: float, n_numeric: int) -> Row:
    """Effects of categories are normal; three of five numeric features have one."""
    try:
        from catboost import CatBoostClassifier
        from lightgbm import LGBMClassifier
    except ImportError as error:
        raise Skip(str(error)) from error
    random = np.random.default_rng(0)
    effects = random.normal(0.0, spread, n_categories)
    places = random.integers(n_categories, size=2 * n_samples)
    numeric = random.standard_normal((2 * n_samples, n_numeric))
    waves = np.sin(numeric[:, :3] * np.arange(1, 4)[: min(n_numeric, 3)])
    y = (random.random(len(places)) < expit(effects[places] + waves.sum(axis=1))) + 0
    X = pd.DataFrame(numeric, columns=[f"x{j}" for j in range(n_numeric)])
    X["place"] = [f"p{place}" for place in places]
    categories = X.assign(place=X["place"].astype("category"))
    columns = [OneHotEncoder().fit_transform(X[["place"]])]
    if n_numeric:
        columns.append(SplineTransformer(12).fit_transform(numeric))
    design = hstack(columns).tocsr()
    ours = BayesNetClassifier().fit(X[:n_samples], y[:n_samples])
    boosted = LGBMClassifier(n_jobs=1, verbose=-1)
    boosted.fit(categories[:n_samples], y[:n_samples])
    cat = CatBoostClassifier(
        verbose=0, thread_count=1, cat_features=["place"], allow_writing_files=False
    )
    cat.fit(X[:n_samples], y[:n_samples])
    ridges = [
        LogisticRegression(C=C, max_iter=2000).fit(design[:n_samples], y[:n_samples])
        for C in PENALTIES
    ]
    test = y[n_samples:]
    losses = {
        "ridge, best C on test data": min(
            log_loss(test, ridge.predict_proba(design[n_samples:])) for ridge in ridges
        ),
        "LightGBM": log_loss(test, boosted.predict_proba(categories[n_samples:])),
        "CatBoost": log_loss(test, cat.predict_proba(X[n_samples:])),
    }
    return Row(
        f"{n_samples:,} samples, {n_categories:,} categories of standard deviation "
        f"{spread}, {n_numeric} numeric features: log loss",
        f"{log_loss(test, ours.predict_proba(X[n_samples:])):.4f}",
        ", ".join(f"{loss:.4f} ({name})" for name, loss in losses.items()),
    )
