import numpy as np
import pytest

pytest.importorskip(
    "lab.studies.networks", reason="a source distribution has no experiments"
)

from lab.studies.networks import semi_supervised
from lab.studies.parameters.results import Results
from tanager import NaiveBayes
from tanager.datasets import load
from tests.docs.pages import DOCS


def test_a_tenth_of_the_training_rows_has_a_class(monkeypatch):
    data = load("iris")
    part = semi_supervised._drawn(data, np.random.default_rng(0))
    labelled = part.train.labels < 3
    assert 8 <= labelled.sum() <= 13
    assert set(part.train.labels[labelled]) == {0, 1, 2}
    assert (part.test.labels < 3).all()
    monkeypatch.setattr(semi_supervised, "REPETITIONS", 2)
    numbers = semi_supervised.measured(data, NaiveBayes())
    assert numbers["labelled"] + numbers["unlabelled"] == part.train.n_samples
    assert numbers["gain"] == pytest.approx(numbers["EM"] - numbers["FE"])


def test_the_page_has_the_measured_numbers():
    results = Results(
        "semi_supervised", semi_supervised.KEYS, 0, semi_supervised.FOLDER
    )
    gains, errors = results.numbers("gain"), results.numbers("error")
    page = (DOCS / "parameters.md").read_text("utf-8")
    # By collection: some sets are in both.
    for structure, collection in sorted(
        {(key[1], key[0].split("/")[0]) for key in gains}
    ):
        keys = [
            key
            for key in gains
            if key[1] == structure and key[0].startswith(f"{collection}/")
        ]
        found = np.array([gains[key] for key in keys])
        doubt = 2 * np.array([errors[key] for key in keys])
        line = (
            f"| {structure}, {collection} | {len(keys)} | {(found > 0).sum()} | "
            f"{(found > doubt).sum()} | {(found < -doubt).sum()} | {found.mean():.1f} |"
        )
        assert line in page
