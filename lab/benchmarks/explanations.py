"""Explanations of 10,000 complete samples against their predictions."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._harness import Options, Row, best_of, cost, limit, per_call
from tanager import BayesNetClassifier, datasets

REQUIRED = 3.0
MODELS = {"NB+FE": ("nb", "fe"), "TAN+FE": ("tan", "fe"), "Factors": ("auto", "auto")}


def run(options: Options) -> list[Row]:
    """`explain` by feature and by factor, and a counterfactual of one sample."""
    rows = []
    for dataset in ("breast_cancer", "digits"):
        data = datasets.load(dataset)
        n_samples = options.pick(10_000, 1000)
        X = data.X.iloc[np.resize(np.arange(len(data.X)), n_samples)]
        for name, (structure, parameters) in MODELS.items():
            model = BayesNetClassifier(structure=structure, parameters=parameters)
            model.fit(data.X, data.y)
            rows += _measure(f"{name} on {dataset}", model, X, options)
    return rows


def _measure(
    title: str, model: BayesNetClassifier, X: object, options: Options
) -> list[Row]:
    times = best_of(
        {
            "predict": lambda: model.predict_proba(X),
            "feature": lambda: model.explain(X),
            "factor": lambda: model.explain(X, by="factor"),
        },
        options.pick(25, 2),
    )
    rows = [
        cost(
            f"{title}: explain {len(X):,} samples by {by}",
            times[by],
            times["predict"],
            name="predict_proba",
            at_most=REQUIRED,
        )
        for by in ("feature", "factor")
    ]
    one = X[:1]
    seconds = per_call(lambda: model.counterfactual(one), calls=1, repeats=3)
    return [*rows, limit(f"{title}: counterfactual of one sample", seconds)]
