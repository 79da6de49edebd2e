import numpy as np
import pytest

from tanager import ConstraintBased, Network
from tanager.model.equivalence_class import Pattern, structural_hamming_distance

recovery = pytest.importorskip(
    "lab.studies.networks.recovery",
    reason="a source distribution has no experiments",
)
peers = pytest.importorskip("lab.studies.networks.peers")
accuracy = pytest.importorskip("lab.studies.networks.accuracy")


@pytest.fixture(scope="module")
def collider():
    """Two causes of one effect."""
    states = dict.fromkeys(("a", "b", "effect"), ("no", "yes"))
    table = [[[0.9, 0.1], [0.3, 0.7]], [[0.3, 0.7], [0.1, 0.9]]]
    tables = {"a": [0.5, 0.5], "b": [0.5, 0.5], "effect": (["a", "b"], table)}
    return Network.build(states, tables)


def test_rows_are_those_of_the_network(collider):
    data = recovery.drawn(collider, 4000)
    assert data.schema.names == ("a", "b", "effect")
    both = (data.codes == 1).all(axis=1)
    assert np.mean(data.labels[both]) == pytest.approx(0.9, abs=0.05)


def test_a_network_that_is_found_has_no_distance(collider):
    truth = Pattern.of_arcs(3, collider.structure.arcs)
    numbers = recovery.compared("GBN", recovery.drawn(collider, 4000), truth)
    assert numbers["distance"] == numbers["missing"] == numbers["extra"] == 0
    assert numbers["edges"] == 2
    nothing = recovery.compared(
        "GBN", recovery.drawn(collider, 4000), Pattern.of_arcs(3, [])
    )
    assert (nothing["distance"], nothing["extra"]) == (2, 2)


def test_patterns_of_peers_are_read_as_such():
    found = peers.pattern(3, [(0, 1), (2, 1)], [])
    same = Pattern.of_arcs(3, [(0, 1), (2, 1)])
    assert structural_hamming_distance(found, same) == 0
    edge = peers.pattern(2, [], [(1, 0)])
    np.testing.assert_array_equal(edge.open, [[False, True], [True, False]])
    assert not edge.arcs.any()


def test_accuracy_is_over_all_parts(collider):
    data = recovery.drawn(collider, 600)
    rows = np.arange(600)
    part = accuracy.Part(data.take(rows[:400]), data.take(rows[400:]))
    numbers = accuracy.evaluated(ConstraintBased(), [part, part])
    assert numbers["rows"] == 400
    assert numbers["arcs"] == 2
    assert 0.7 < numbers["accuracy"] < 0.9
