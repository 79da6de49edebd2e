"""Measurements of the studies, on small data, and the cells that are saved."""

import numpy as np
import pytest

from lab.measurements import (
    MEASUREMENTS,
    classifier_evaluation,
    known_networks,
    peer_structure_learners,
    structure_evaluation,
    unlabelled_samples,
)
from lab.measurements.coded_datasets import coded
from lab.measurements.gumbel_variants import VARIANTS
from lab.runner import paper, studies
from lab.runner.output import RESULTS, read_saved
from tanager import Network
from tanager.datasets import load
from tanager.model import Pattern, structural_hamming_distance

EXPERIMENTS = [one for name in studies() for one in paper(name).experiments]


@pytest.fixture(scope="module")
def collider():
    """Two causes of one effect."""
    states = dict.fromkeys(("a", "b", "effect"), ("no", "yes"))
    table = [[[0.9, 0.1], [0.3, 0.7]], [[0.3, 0.7], [0.1, 0.9]]]
    tables = {"a": [0.5, 0.5], "b": [0.5, 0.5], "effect": (["a", "b"], table)}
    return Network.build(states, tables)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.full_name)
def test_saved_cells_are_those_of_the_plan(experiment):
    saved = read_saved(RESULTS, experiment)
    planned = set(experiment.cells())
    assert set(saved.cells) <= planned
    assert set(saved.missing) <= planned - set(saved.cells)
    # Learners of other libraries may be missing where they take too long.
    assert len(saved) + len(saved.missing) >= 0.95 * len(planned)
    assert {cell.measurement for cell in planned} <= set(MEASUREMENTS)


def test_samples_are_those_of_the_network(collider):
    data = known_networks.sample_data(collider, 4000)
    assert data.schema.names == ("a", "b", "effect")
    both = (data.codes == 1).all(axis=1)
    assert np.mean(data.labels[both]) == pytest.approx(0.9, abs=0.05)


def test_a_network_that_is_found_has_no_distance(collider):
    data = known_networks.sample_data(collider, 4000)
    truth = Pattern.of_arcs(3, collider.structure.arcs)
    numbers = known_networks.compare_pattern("GBN", data, truth)
    assert numbers["distance"] == numbers["missing"] == numbers["extra"] == 0
    assert numbers["edges"] == 2
    nothing = known_networks.compare_pattern("GBN", data, Pattern.of_arcs(3, []))
    assert (nothing["distance"], nothing["extra"]) == (2, 2)


def test_patterns_of_other_libraries_are_read_as_such():
    found = peer_structure_learners.pattern(3, [(0, 1), (2, 1)], [])
    same = Pattern.of_arcs(3, [(0, 1), (2, 1)])
    assert structural_hamming_distance(found, same) == 0
    edge = peer_structure_learners.pattern(2, [], [(1, 0)])
    np.testing.assert_array_equal(edge.open, [[False, True], [True, False]])
    assert not edge.arcs.any()


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.full_name)
def test_methods_stand_for_classifiers(experiment):
    for cell in experiment.cells():
        if cell.measurement == "classifier_scores":
            p = cell.parameters
            name = p.get("method") or f"{p['structure']} {p['parameters']}"
            classifier_evaluation.make_classifier(name)
        elif cell.measurement == "gumbel_variant":
            assert cell.parameters["method"] in VARIANTS


def test_scores_of_a_classifier_on_iris():
    numbers = classifier_evaluation.classifier_scores(data="iris", method="NB-ML")
    assert numbers["accuracy"] == 1 - numbers["error"] > 0.9
    assert numbers["warnings"] == 0


def test_scores_of_structures(monkeypatch):
    data = load("sklearn/iris")
    order = np.random.default_rng(0).permutation(data.n_rows)
    part = coded(data, order[:100], order[100:])
    monkeypatch.setattr(structure_evaluation, "parts_of", lambda name: [part, part])
    ml, cl = (
        structure_evaluation.structure_scores(
            data="iris", structure="TAN-CR", parameters=parameters
        )
        for parameters in ("ML", "RCL")
    )
    assert ml["arcs"] == cl["arcs"]
    assert ml["rows"] == 100
    assert cl["log_loss"] < ml["log_loss"]
    network = structure_evaluation.network_scores(data="iris", structure="TAN")
    assert network["rows"] == 100
    assert network["accuracy"] > 0.8


def test_a_tenth_of_the_training_samples_is_labelled():
    part = unlabelled_samples.split_labelled(load("iris"), np.random.default_rng(0))
    labelled = part.train.labels < 3
    assert set(part.train.labels[labelled]) == {0, 1, 2}
    assert (part.test.labels < 3).all()
    numbers = unlabelled_samples.semi_supervised(
        data="iris", structure="NB", repetitions=2
    )
    assert numbers["labelled"] + numbers["unlabelled"] == part.train.n_samples
    assert numbers["gain"] == pytest.approx(numbers["EM"] - numbers["FE"])
