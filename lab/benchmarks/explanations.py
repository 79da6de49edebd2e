"""Explanations of 10,000 complete samples against their predictions."""

from __future__ import annotations

import numpy as np

from lab.benchmarks._harness import Options, Row, best_of, cost, limit, per_call
from tanager import BayesNetClassifier, datasets

REQUIRED = 3.0
WIDE = "300 features of 10 classes"
MODELS = {"NB+FE": ("nb", "fe"), "TAN+FE": ("tan", "fe"), "Factors": ("auto", "auto")}


def run(options: Options) -> list[Row]:
    """`explain` by feature and by factor, and a counterfactual of one sample."""
    rows = []
    for dataset in ("breast_cancer", "digits", WIDE):
        X, y = _wide_data() if dataset == WIDE else _read(dataset)
        samples = np.resize(X, (options.pick(10_000, 1000), X.shape[1]))
        for name, (structure, parameters) in MODELS.items():
            model = BayesNetClassifier(structure=structure, parameters=parameters)
            model.fit(X, y)
            title = f"{name} on {dataset}"
            repeats = options.pick(10 if dataset == WIDE else 25, 2)
            rows += _measure(title, model, samples, repeats)
            if dataset != WIDE:
                rows.append(_measure_counterfactual(title, model, X[:1]))
    return rows


def _read(dataset: str) -> tuple[np.ndarray, np.ndarray]:
    data = datasets.load(dataset)
    return data.X.to_numpy(float), np.asarray(data.y)


def _wide_data() -> tuple[np.ndarray, np.ndarray]:
    """Samples of 300 features, whose products matter, too."""
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 300))
    scores = X @ random.normal(size=(300, 10))
    scores += X[:, ::2] * X[:, 1::2] @ random.normal(size=(150, 10))
    return X, scores.argmax(axis=1)


def _measure(
    title: str, model: BayesNetClassifier, X: np.ndarray, repeats: int
) -> list[Row]:
    times = best_of(
        {
            "predict": lambda: model.predict_proba(X),
            "feature": lambda: model.explain(X),
            "factor": lambda: model.explain(X, by="factor"),
        },
        repeats,
    )
    return [
        cost(
            f"{title}: explain {len(X):,} samples by {by}",
            times[by],
            times["predict"],
            name="predict_proba",
            at_most=REQUIRED,
        )
        for by in ("feature", "factor")
    ]


def _measure_counterfactual(title: str, model: BayesNetClassifier, X: object) -> Row:
    seconds = per_call(lambda: model.counterfactual(X), calls=1, repeats=3)
    return limit(f"{title}: counterfactual of one sample", seconds)
