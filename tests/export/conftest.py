"""Models of several kinds, and samples with missing values and unknown categories."""

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, DataWarning, Network

N_TRAIN, N_TEST = 1500, 800

KINDS = {
    "factors": {},
    "nb": {"structure": "nb", "parameters": "fe"},
    "smooth-nb": {"structure": "nb"},
    "tree": {"structure": "tan", "parameters": "fe"},
    "smooth-tree": {"structure": "tan-res"},
    "two-parents": {"structure": "kdb2", "parameters": "fe"},
}
"""Arguments of a classifier of every kind."""

NEEDS_COMPLETE = ("two-parents",)
"""Kinds that are no trees, so that only a page marginalises them."""


def make_features(n_samples, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n_samples),
            "count; DROP TABLE data": rng.integers(0, 9, n_samples).astype(float),
            'it\'s "odd"': rng.choice(["u", "v'", 'w";--', "\u00fc?"], n_samples),
            "many": rng.choice([f"s{i}" for i in range(80)], n_samples),
            "level": rng.integers(1, 4, n_samples),
        }
    )


def make_classes(features, n_classes):
    count = features["count; DROP TABLE data"] - 4
    score = features["size"] * count + 2 * (features['it\'s "odd"'] == "u")
    score = score + features["level"]
    cuts = [1.5] if n_classes == 2 else [0.5, 3.5]
    return np.array(["low", "mid", "high"])[np.digitize(score, cuts)]


@pytest.fixture(scope="session")
def train():
    features = make_features(N_TRAIN, 0)
    features.loc[:150, "size"] = np.nan  # gets a state for missing values
    return features


@pytest.fixture(scope="session")
def samples():
    """Samples with missing values of every feature and unknown categories."""
    features = make_features(N_TEST, 1)
    rng = np.random.default_rng(2)
    features["level"] = features["level"].astype("Int64")
    for name in features.columns:
        features.loc[rng.random(N_TEST) < 0.15, name] = None
    features.loc[:10, "many"] = "never seen"
    features.loc[11:15, "level"] = 77
    features.loc[16, "size"] = 1e300
    return features


@pytest.fixture(scope="session")
def models(train):
    """Fitted models by kind and number of classes."""
    return {
        (kind, n_classes): BayesNetClassifier(**arguments).fit(
            train, make_classes(make_features(N_TRAIN, 0), n_classes)
        )
        for kind, arguments in KINDS.items()
        for n_classes in (2, 3)
    }


def expected_rows(model, samples, *, complete):
    """Probabilities, and whether a sample has all features that others depend on."""
    from tanager.export.score_terms import ScoreTerms

    known = np.ones(len(samples), dtype=bool)
    if complete:
        terms = ScoreTerms.of_network(model.network_)
        names = model.network_.schema.names
        places = [names.index(v.name) for v in terms.features]
        known = ~np.isnan(terms.scores(model.encode(samples)[:, places])).any(axis=1)
    return model.predict_proba(samples), known


@pytest.fixture(scope="session")
def messy():
    """Samples with an identifier, a constant column and names of other languages."""
    rng = np.random.default_rng(4)
    names = ("label", "probabilities", "classes", "tanager_c0", "cell_0", "int")
    X = pd.DataFrame({name: rng.normal(size=600) for name in names})
    X = X.assign(constructor=X["int"] + rng.normal(size=600), __proto__=X["label"])
    X["constant"] = "k"
    X["customer_id"] = [f"c{i:06d}" for i in range(600)]
    return X, np.where(X["label"] + X["int"] > 0, "Yes", "yes")


@pytest.fixture(scope="session")
def messy_models(messy):
    found = {}
    for kind in ("factors", "nb", "tree"):
        with pytest.warns(DataWarning, match="customer_id"):
            found[kind] = BayesNetClassifier(**KINDS[kind]).fit(*messy)
    return found


@pytest.fixture(scope="session")
def many_states():
    """A model of a feature with 10^5 states, and samples of them and of others."""
    n_states = 100_000
    rng = np.random.default_rng(5)
    cpts = rng.dirichlet(np.full(n_states, 5.0), size=2)
    states = [f"s{i}" for i in range(n_states)]
    network = Network.build(
        {"code": states, "size": ["u", "v"], "class": ["no", "yes"]},
        {
            "class": [0.4, 0.6],
            "code": (["class"], cpts.tolist()),
            "size": (["class"], [[0.3, 0.7], [0.6, 0.4]]),
        },
        target="class",
    )
    codes = [states[i] for i in rng.integers(0, n_states, 1997)] + ["other", None, ""]
    X = pd.DataFrame({"code": codes, "size": rng.choice(["u", "v"], 2000)})
    return BayesNetClassifier.from_network(network), X


every_model = pytest.mark.parametrize(
    ("kind", "n_classes"), [(kind, n) for kind in KINDS for n in (2, 3)]
)
