"""Posteriors against pyAgrum's LazyPropagation, on the networks of the data folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tanager import InputError, load
from tests.network.makers import random_evidence
from tests.reference.pyagrum import to_pyagrum
from tests.tolerance import TABLES, assert_close

gum = pytest.importorskip("pyagrum")

FOLDER = Path(os.environ.get("TANAGER_DATA", "nowhere")) / "networks"
NAMES = (
    "alarm", "andes", "asia", "cancer", "child", "earthquake", "hailfinder",
    "insurance", "sachs", "survey", "win95pts",
)  # fmt: skip

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs the networks in the folder TANAGER_DATA names"
)


@pytest.fixture(params=NAMES)
def pair(request):
    """The same network twice: theirs, made of our tables, and ours."""
    ours = load(FOLDER / f"{request.param}.bif")
    return to_pyagrum(ours), ours


def patterns(random, network):
    """Evidence: parts of samples, and states at random, which may be impossible."""
    drawn = network.sample(6, random_state=random)
    for k, fraction in enumerate([0.0, 0.05, 0.2, 0.4, 0.7, 0.95]):
        chosen = random.random(len(network.schema)) < fraction
        names = np.array(network.schema.names)[chosen].tolist()
        yield {name: str(drawn[name][k]) for name in names}
    for fraction in (0.05, 0.1, 0.2, 0.5):
        yield random_evidence(random, network, fraction)[0]


def is_possible(engine):
    """Whether their engine finds a probability above zero for its evidence.

    They answer questions where only observed variables contradict each other.
    """
    try:
        engine.makeInference()
        return engine.evidenceProbability() > 0
    except gum.IncompatibleEvidence:
        return False


def test_posteriors(pair):
    theirs, ours = pair
    random = np.random.default_rng(0)
    impossible = 0
    for evidence in patterns(random, ours):
        engine = gum.LazyPropagation(theirs)
        engine.setEvidence(evidence)
        hidden = [name for name in ours.schema.names if name not in evidence]
        if not is_possible(engine):
            impossible += 1
            assert np.isneginf(ours.log_likelihood([evidence])[0])
            with pytest.raises(InputError, match="probability zero"):
                ours.marginals(evidence)
            continue
        expected = {name: engine.posterior(name).toarray() for name in hidden}
        found = ours.marginals(evidence)
        for name in hidden:
            assert_close(list(found[name].values()), expected[name], TABLES)
        for name in random.choice(hidden, min(3, len(hidden)), replace=False).tolist():
            one = ours.posterior(evidence, name)
            assert_close(list(one.values()), expected[name], TABLES)
    assert impossible <= 4
