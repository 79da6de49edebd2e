from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager import Network, TableSizeError
from tanager.inference import elimination, marginals
from tanager.inference.marginals import Marginals
from tests.network.makers import general_network, random_evidence
from tests.reference.joint import joint_table, marginal_of
from tests.strategies import generators, log_linear_network
from tests.tolerance import assert_close


def asked(network, codes, few_tables):
    """The marginals of all variables, by families if `few_tables` is -1."""
    row = np.array([codes], dtype=np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marginals, "FEW_TABLES", few_tables)
        everything = range(len(codes))
        return Marginals(network.parameters, network.schema).of_row(row, everything)


@pytest.mark.parametrize("few_tables", [-1, 10**9])
@settings(max_examples=30)
@given(
    random=generators(),
    n=st.integers(1, 8),
    share=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    zeros=st.sampled_from([0.0, 0.4]),
    kind=st.sampled_from(["no target", "target", "sums"]),
)
def test_both_ways_equal_enumeration(few_tables, random, n, share, zeros, kind):
    if kind == "sums":
        network = log_linear_network(random, 4, 2)
    else:
        target = f"v{random.integers(n)}" if kind == "target" else None
        network = general_network(random, n, zeros=zeros, target=target)
    joint = joint_table(network)
    _, codes = random_evidence(random, network, share)
    expected = [marginal_of(network, joint, codes, v) for v in range(joint.ndim)]
    found = asked(network, codes, few_tables)
    assert (found is None) == (not expected[0].any())
    if found is not None:
        for one, p in zip(found, expected, strict=True):
            assert_close(one, p / p.sum())
            assert_close(one.sum(), 1.0)


def test_evidence_may_allow_what_the_junction_tree_does_not(monkeypatch):
    step = np.random.default_rng(3).dirichlet(np.ones(3), size=(3, 3))
    names = [f"v{k}" for k in range(6)]
    tables = {"v0": step[0, 0], "v1": (["v0"], step[0])}
    for k in range(2, 6):
        tables[names[k]] = (names[k - 2 : k], step)
    network = Network.build({name: [0, 1, 2] for name in names}, tables)
    joint = joint_table(network)

    def refuse(layout):
        raise TableSizeError("a clique is too large")

    monkeypatch.setattr(marginals.JunctionExpectations, "of", refuse)
    monkeypatch.setattr(elimination, "MAX_FACTOR_CELLS", 9)
    codes = [3, 1, 0, 3, 2, 0]
    found = asked(network, codes, -1)
    for v in (0, 3):
        expected = marginal_of(network, joint, codes, v)
        assert_close(found[v], expected / expected.sum())
    with pytest.raises(TableSizeError, match=r"27 cells over the clique \['v0', 'v1'"):
        asked(network, [3] * 6, -1)
