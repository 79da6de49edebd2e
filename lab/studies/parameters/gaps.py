"""Complete training rows, test rows with features missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from lab.studies.parameters.results import Results
from tanager import BayesNetClassifier
from tanager.datasets import load, remove_values

SEED = 0
KEYS = ("set", "structure", "parameters", "missing")
SETS = ("images/letter", "images/usps")
SHARES = (0.0, 0.1, 0.3, 0.5)
METHODS = {
    ("NB", "FE"): "NB+FE",
    ("NB", "CL"): "NB-CL",
    ("NB", "HYB"): "NB-HYB",
    ("TAN", "FE"): "TAN+FE",
    ("TAN", "CL"): "TAN-CMI-CL",
    ("TAN", "HYB"): "TAN-CMI-HYB",
}


def run() -> None:
    """Fit once on complete rows, then remove more and more of the test rows."""
    results = Results("gaps", KEYS, SEED)
    for name in SETS:
        data = load(name, fold=1)
        for (structure, parameters), method in METHODS.items():
            key = (name, structure, parameters)
            if all((*key, share) in results for share in SHARES):
                continue
            model = _fitted(method, data)
            for share in SHARES:
                if (*key, share) not in results:
                    results.add((*key, share), _scores(model, data, share))


def _fitted(method: str, data: Any) -> Any:
    # Pixels and counts were made into few values by whoever published the set.
    model = BayesNetClassifier.from_name(method)
    model.set_params(encoder="categorical", random_state=SEED)
    return model.fit(data.X.iloc[: data.n_train], data.y.iloc[: data.n_train])


def _scores(model: Any, data: Any, share: float) -> dict[str, float]:
    rows = data.X.iloc[data.n_train :]
    # The same cells for every method.
    rows = remove_values(rows, share, random_state=SEED) if share else rows
    log_proba = model.predict_log_proba(rows)
    truth = np.searchsorted(model.classes_, np.asarray(data.y.iloc[data.n_train :]))
    return {
        "error": float(np.mean(log_proba.argmax(axis=1) != truth)),
        "log_loss": float(-log_proba[np.arange(len(truth)), truth].mean()),
    }
