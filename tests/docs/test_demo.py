"""What docs/command-line.md says about the data of the demonstration."""

import re

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tanager import BayesNetClassifier, datasets
from tests.docs.pages import read_page

(SECTION,) = (part for part in read_page("command-line.md") if part.title == "demo")
TEXT = " ".join(SECTION.text.split())


def test_the_dataset():
    entry = datasets.info("penguins")
    size = re.search(r"(\d+) samples, .*?, (\d+) missing values", TEXT)
    assert [int(number) for number in size.groups()] == [entry.rows, entry.missing]
    assert entry.kinds.count("n") == 4
    assert entry.kinds.count("c") == 2


@pytest.mark.slow
def test_log_loss_for_the_sex():
    data = datasets.load("penguins")
    X = data.X.assign(species=np.asarray(data.y))[data.X["sex"].notna()]
    y = X.pop("sex").astype(str)
    assert not X.isna().any(axis=None)
    regression = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["island", "species"]), remainder=StandardScaler()
        ),
        LogisticRegression(),
    )
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=6, random_state=0)
    measured = [
        -cross_val_score(model, X, y, cv=folds, scoring="neg_log_loss").mean()
        for model in (regression, BayesNetClassifier(random_state=0))
    ]
    stated = re.search(r"log loss .*?: (0\.\d+) against (0\.\d+) of", TEXT).groups()
    np.testing.assert_allclose(measured, [float(text) for text in stated], atol=0.003)
    assert f"on {len(X)} samples" in TEXT
