"""Posteriors of published networks against a table made by enumeration.

`tests.reference.golden_posteriors` makes the table anew.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from tanager import InputError
from tests.reference.golden_posteriors import PATH, document
from tests.reference.published_networks import NETWORKS
from tests.tolerance import EXACT, assert_close

GOLDEN = json.loads(PATH.read_text(encoding="utf-8"))
CASES = [
    pytest.param(name, case, id=f"{name}-{k}")
    for name, cases in GOLDEN.items()
    for k, case in enumerate(cases)
]


def test_the_table_is_what_enumeration_gives():
    made = json.loads(json.dumps(document()))
    assert list(made) == list(GOLDEN)
    assert made == GOLDEN


@pytest.mark.parametrize(("name", "case"), CASES)
def test_posteriors(name, case):
    network, evidence = NETWORKS[name](), case["evidence"]
    found = network.log_likelihood([evidence])[0]
    if not case["probability"]:
        assert np.isneginf(found)
        for ask in (network.marginals, network.most_probable):
            with pytest.raises(InputError, match="probability zero"):
                ask(evidence)
        query = next(n for n in network.schema.names if n not in evidence)
        with pytest.raises(InputError, match="probability zero"):
            network.posterior(evidence, query)
        with pytest.raises(InputError, match="Row 0"):
            network.posteriors([evidence], query)
        return
    assert_close(found, np.log(case["probability"]), EXACT)
    marginals = network.marginals(evidence)
    for query, expected in case["marginals"].items():
        assert_close(list(marginals[query].values()), expected, EXACT)
        if query in evidence:
            continue
        posterior = network.posterior(evidence, query)
        assert_close(list(posterior.values()), expected, EXACT)
        assert_close(network.posteriors([evidence], query)[0], expected, EXACT)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_explanations(name, case):
    if not case["probability"]:
        return
    found = NETWORKS[name]().most_probable(case["evidence"])
    assert_close(found.log_probability, np.log(case["explanation_probability"]), EXACT)
    assert found.states == case["most_probable"]
