from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.inference import engine_for
from tanager.network.retargeting import retarget
from tests.network.makers import general_network
from tests.reference.joint import joint_table
from tests.strategies import generators, log_linear_network
from tests.tolerance import assert_close


@settings(max_examples=30)
@given(random=generators(), n=st.integers(2, 6), sums=st.booleans())
def test_every_variable_can_be_the_class_of_an_engine(random, n, sums):
    if sums:
        network = log_linear_network(random, 4, 2)
    else:
        network = general_network(random, n)
    joint = joint_table(network)
    cells = np.array(list(np.ndindex(joint.shape)))
    codes = np.asfortranarray(cells[:: max(1, len(cells) // 20)].astype(np.uint8))
    for target in range(len(network.schema)):
        parameters = retarget(network.parameters, network.structure, target)
        assert parameters.layout.target == target
        assert all(
            axes[-1] == target for axes in parameters.layout.axes if target in axes
        )
        found = engine_for(parameters).log_joint(codes)
        rows = np.moveaxis(joint, target, -1)[
            tuple(codes[:, v] for v in range(joint.ndim) if v != target)
        ]
        assert_close(np.exp(found), rows)


def test_the_tables_themselves_do_not_change():
    network = log_linear_network(np.random.default_rng(1), 4, 2)
    same = retarget(network.parameters, network.structure, network.schema.target)
    assert same is network.parameters
    other = retarget(network.parameters, network.structure, 0)
    back = retarget(other, network.structure, network.schema.target)
    assert back.layout == network.parameters.layout
    assert np.array_equal(back.log_theta, network.parameters.log_theta)
    nothing = retarget(network.parameters, network.structure, None)
    assert nothing.layout.target is None
    assert nothing.layout.is_full(network.structure) is False
