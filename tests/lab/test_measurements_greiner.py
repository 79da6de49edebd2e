import numpy as np
import pytest

from lab.measurements import (
    equal_features,
    holdout_evaluation,
    holdout_scores,
    irrelevant_features,
    iteration_errors,
)
from lab.measurements.cross_validation import classifier
from lab.measurements.dataset_preparation import rows_of
from lab.measurements.holdout_evaluation import (
    classifier_options,
    known_structure,
    parted,
)
from lab.measurements.mdl_encoder_variants import (
    ENCODERS,
    ClassUnitsEncoder,
    EntropyUnitEncoder,
)
from tanager.datasets import load
from tanager.errors import InputError
from tanager.parameters import ELR
from tests.reference import encoding as reference


def test_folds_are_parts_of_the_rows():
    parts = [parted("iris", 150, fold, 5, 1) for fold in range(1, 6)]
    every = np.concatenate([test for _, test in parts])
    np.testing.assert_array_equal(np.sort(every), np.arange(150))
    for train, test in parts:
        assert not set(train) & set(test)
        assert len(train) + len(test) == 150


def test_a_set_without_a_split_needs_a_fold():
    with pytest.raises(InputError, match="name a fold"):
        holdout_scores(data="iris", method="NB+OFE")


def test_a_published_split_is_used_as_it_is():
    assert load("mofn-3-7-10").n_train == 300
    train, test = parted("mofn-3-7-10", 1324, None, 5, 1)
    assert (len(train), len(test), test[0]) == (300, 1024, 300)


def test_scores_of_a_fold_are_those_of_a_fit_by_hand():
    found = holdout_scores(data="iris", method="NB+OFE", fold=2)
    X, y = rows_of("iris")
    train, test = parted("iris", 150, 2, 5, 1)
    model = classifier("NB+OFE", "greiner2005").fit(X.iloc[train], y[train])
    assert found["accuracy"] == model.score(X.iloc[test], y[test])
    assert found["test_rows"] == 30
    assert found["warnings"] == 0


def test_gaps_are_the_same_for_all_methods_and_may_be_kept_from_test_rows():
    arguments = {"data": "wine", "fold": 1, "removed": 0.5}
    # Naive Bayes has nothing to sum over: EM stays at the frequencies.
    one, other = (holdout_scores(method=m, **arguments) for m in ("NB+OFE", "NB+EM"))
    assert one["log_loss"] == pytest.approx(other["log_loss"])
    gaps = holdout_scores(method="NB+OFE", missing_in_test=True, **arguments)
    assert gaps["log_loss"] != one["log_loss"]


def test_few_rows_are_some_of_the_training_rows():
    few = holdout_scores(data="iris", method="NB+OFE", fold=1, n_rows=10)
    whole = holdout_scores(data="iris", method="NB+OFE", fold=1)
    every = holdout_scores(data="iris", method="NB+OFE", fold=1, n_rows=120)
    assert few["log_loss"] > whole["log_loss"]
    assert every["log_loss"] == pytest.approx(whole["log_loss"])
    with pytest.raises(InputError, match="120 training samples"):
        holdout_scores(data="iris", method="NB+OFE", fold=1, n_rows=121)


@pytest.mark.numerical
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_class_units_are_logarithms_to_the_base_of_the_classes(n_classes):
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(0, n_classes, 200)
    values = np.round(labels + rng.normal(scale=0.8, size=200), 1)
    expected, plain = (
        reference.mdl_cuts(values, labels, None, unit)
        for unit in (np.log2(n_classes), 1.0)
    )
    found = ClassUnitsEncoder().cuts_of(values, labels, None).tolist()
    assert found == expected
    assert (expected == plain) == (n_classes == 2)


@pytest.mark.numerical
@pytest.mark.parametrize("bits", [1.0, ENCODERS["mdl in nats"].bits, 3.0])
def test_entropies_in_another_unit_than_their_price(bits):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    values = np.round(labels + rng.normal(scale=0.8, size=200), 1)
    found = EntropyUnitEncoder(bits=bits).cuts_of(values, labels, None).tolist()
    assert found == reference.mdl_cuts(values, labels, None, bits)


def test_arcs_at_the_class_of_a_cell_are_those_it_names(monkeypatch):
    kept = []

    def scored(model, part):
        kept.append(model.fit(part.X, part.y).network_)
        return {"accuracy": 0.5}

    monkeypatch.setattr(holdout_evaluation, "scored", scored)
    for arcs in ("out", "in"):
        holdout_scores(data="wine", method="GBN+OFE", fold=1, class_arcs=arcs)
    out, into = (network.edges for network in kept)
    assert {child for _, child in out}.isdisjoint({"class"})
    assert {parent for parent, _ in into}.isdisjoint({"class"})
    assert any("class" in edge for edge in out)
    assert any("class" in edge for edge in into)


def test_tests_and_zeros_of_a_cell_are_those_it_names():
    plain = holdout_scores(data="wine", method="GBN+OFE", fold=1)
    for changed in ({"independence": "g2"}, {"zero": 1e-5}):
        other = holdout_scores(data="wine", method="GBN+OFE", fold=1, **changed)
        assert other["log_loss"] != plain["log_loss"]
    assert classifier_options(independence="uncorrected", zero=0.1) == {
        "structure__bias_correction": False,
        "parameters__zero": 0.1,
    }


def test_cuts_and_threshold_of_a_cell_are_those_it_names():
    plain = holdout_scores(data="wine", method="NB+OFE", fold=1)
    coarse = holdout_scores(
        data="wine", method="NB+OFE", fold=1, encoder="mdl in class units"
    )
    assert coarse["log_loss"] != plain["log_loss"]
    lone = holdout_scores(data="wine", method="GBN+OFE", fold=1, threshold=5.0)
    # No feature depends on the class by so much: the largest class is left.
    assert lone["accuracy"] < 0.5 < plain["accuracy"]


def test_steps_of_elr_are_bounded_in_cross_tuning_and_after_it():
    data = "breast_cancer"
    bounded, whole = (
        holdout_scores(data=data, method="NB+ELR", fold=1, max_steps=n)
        for n in (1, None)
    )
    one_step = ELR(solver="cg", max_iter=1)
    by_hand = classifier("NB+ELR", "greiner2005").set_params(parameters=one_step)
    X, y = rows_of(data)
    train, test = parted(data, len(y), 1, 5, 1)
    by_hand.fit(X.iloc[train], y[train])
    assert by_hand.parameters_.n_iter_ == 1
    assert {step["iteration"] for step in by_hand.parameters_.trace_} <= {0, 1}
    assert bounded["accuracy"] == by_hand.score(X.iloc[test], y[test])
    assert bounded["log_loss"] > whole["log_loss"]
    with pytest.raises(InputError, match=r"for methods with ELR; 'NB\+OFE' has none"):
        holdout_scores(data=data, method="NB+OFE", fold=1, max_steps=1)


def test_a_structure_of_all_rows_is_kept():
    X, y = rows_of("iris")
    model = classifier("GBN+EM", "greiner2005")
    fixed = known_structure(model, X, y)
    free = classifier("GBN+OFE", "greiner2005").fit(X, y)
    again = model.set_params(structure=fixed).fit(X.iloc[::2], y[::2])
    assert set(again.network_.edges) == set(free.network_.edges)
    found = holdout_scores(
        data="iris", method="GBN+EM", fold=1, removed=0.2, whole_structure=True
    )
    assert 0.7 < found["accuracy"] <= 1.0


def test_iterations_begin_at_the_frequencies():
    found = iteration_errors(
        data="iris", method="NB+ELR", fold=1, n_folds=5, repeat=1, iterations=3
    )
    start = holdout_scores(data="iris", method="NB+OFE", fold=1)
    assert found["test_error"][0] == pytest.approx(1 - start["accuracy"])
    assert len(found["training_error"]) == len(found["test_error"]) == 4
    tuned = int(found["tuned"])
    if tuned <= 3:
        assert found["tuned_error"] == pytest.approx(found["test_error"][tuned])


def test_equal_features_mislead_frequencies_and_not_elr():
    ofe, elr = (
        equal_features(method=m, m=5, n_samples=400, repeat=1)["error"]
        for m in ("NB+OFE", "NB+ELR")
    )
    # P(+c, +e) + P(-c, -e) = 0.2 if every copy counts, P(-c) = 0.1 at best.
    assert ofe == pytest.approx(0.2, abs=0.03)
    assert elr == pytest.approx(0.1, abs=0.03)


def test_a_chain_of_links_is_given():
    arguments = {"m": 0, "n_samples": 100, "repeat": 1}
    naive = equal_features(method="NB+OFE", **arguments)
    one = equal_features(method="TAN+OFE", links=1, **arguments)
    chain = equal_features(method="TAN+OFE", links=5, **arguments)
    assert one == naive
    assert chain["log_loss"] != naive["log_loss"]


def test_irrelevant_features_leave_half_of_the_rows_without_the_first_to_chance():
    found = irrelevant_features(
        method="NB+EM", n_samples=320, repeat=1, missing=0.2, missing_in_test=True
    )
    assert found["error"] == pytest.approx(0.1, abs=0.02)
    complete = irrelevant_features(method="NB+EM", n_samples=320, repeat=1)
    assert complete["error"] == 0


def test_without_cross_tuning_elr_goes_on():
    arguments = {"method": "NB+ELR", "n_samples": 40, "repeat": 1}
    tuned = irrelevant_features(**arguments)
    free = irrelevant_features(cross_tuning=False, **arguments)
    assert free["log_loss"] < tuned["log_loss"]
