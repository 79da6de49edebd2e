"""Models of every kind that a report shows, with samples that lack values."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, TableEncoder, datasets
from tanager.encoding import QuantileEncoder

KINDS = (
    "naive Bayes",
    "tree",
    "discriminative tree",
    "tree of many bins",
    "tree of counts in many bins",
    "sums of factors",
    "k-tree",
    "junction tree",
    "factors",
    "factors, 3",
    "dates",
)
HOSTILE = (
    '</script><script>document.title="hacked"</script><img src=x onerror=alert(1)>'
)


def make_frame(name):
    data = datasets.load(name)
    return pd.DataFrame(np.asarray(data.X), columns=data.feature_names), data.y


def with_missing(frame, fraction=0.3, seed=0):
    random = np.random.default_rng(seed)
    return frame.mask(random.random(frame.shape) < fraction)


def make_dates(n_samples=400):
    """Dates, times of day and durations, some of them missing, and their classes."""
    random = np.random.default_rng(0)
    seconds = random.integers(0, 900 * 86_400, n_samples)
    moments = pd.Timestamp("2021-03-01") + pd.to_timedelta(seconds, unit="s")
    waiting = pd.Series(random.gamma(2.0, 36_000.0, n_samples))
    frame = pd.DataFrame(
        {
            "ordered": moments.floor("D"),
            "received": moments,
            "at": [moment.time() for moment in moments],
            "waiting": pd.to_timedelta(waiting.round(), unit="s"),
        }
    )
    frame.loc[random.random(n_samples) < 0.1, "waiting"] = pd.NaT
    score = moments.month.isin([6, 7, 8]) + (moments.hour > 17) + waiting / 80_000
    late = score + random.normal(size=n_samples) > 2
    return frame, np.where(late, "late", "on time")


def fit(kind):
    """A fitted model of one kind, its samples and their classes."""
    if kind == "dates":
        X, y = make_dates()
        return BayesNetClassifier().fit(X, y), X, y
    X, y = make_frame("iris" if kind == "junction tree" else "wine")
    if kind == "naive Bayes":
        return BayesNetClassifier.from_name("NB+FE").fit(X, y), X, y
    if kind == "tree":
        return BayesNetClassifier.from_name("TAN+FE").fit(X, y), X, y
    if kind == "discriminative tree":
        return BayesNetClassifier(structure="tan").fit(X, y), X, y
    if kind == "tree of many bins":
        return BayesNetClassifier(structure="tan-res").fit(X, y), X, y
    if kind == "tree of counts in many bins":
        model = BayesNetClassifier.from_name("TAN+FE", encoder="quantile")
        return model.fit(X, y), X, y
    if kind == "sums of factors":
        encoder = TableEncoder(numeric=QuantileEncoder(n_bins=12))
        model = BayesNetClassifier(structure="2-tree-res", encoder=encoder)
        with patch("tanager.loglinear.weights_to_cpts.FULL_CELLS", 1000):
            return model.fit(X, y), X, y
    if kind == "k-tree":
        return (
            BayesNetClassifier(structure="2-tree-cr", parameters="fe").fit(X, y),
            X,
            y,
        )
    if kind == "junction tree":
        model = BayesNetClassifier.from_name("HGC+FE")
        return model.fit(X, y), X, y
    if kind == "factors":
        # With missing values in training, some features have a state for them.
        return (
            BayesNetClassifier().fit(with_missing(X), np.equal(y, y[0])),
            X,
            y == y[0],
        )
    return BayesNetClassifier().fit(X, y), X, y


@pytest.fixture(scope="session")
def hostile_model():
    X, y = make_frame("iris")
    X = X.set_axis([HOSTILE, "a\u2028b", "\"quoted' & <b>", "‮rtl\x00"], axis=1)
    names = np.array([HOSTILE + "0", "<i>1</i>", "c&amp;2"])
    labels = names[np.unique(y, return_inverse=True)[1]]
    X[HOSTILE] = np.where(X[HOSTILE] > 5.8, "<svg onload=alert(2)>", "-->")
    return BayesNetClassifier.from_name("TAN+FE").fit(X, labels), X, labels
