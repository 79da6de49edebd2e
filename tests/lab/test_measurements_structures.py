import numpy as np
import pytest

from lab.measurements import MEASUREMENTS
from lab.measurements import coded_datasets as coding
from lab.measurements import digit_preparations as digits_module
from lab.measurements.coded_datasets import (
    arcs,
    coded,
    every_second,
    free_parameters,
    part_of,
    searched,
)
from lab.measurements.digit_preparations import (
    SMALLER,
    digit_accuracy,
    digits_part,
    drawn_anew,
)
from lab.measurements.missing_test_features import missing_feature_accuracy, without
from lab.measurements.search_accuracy import (
    order_likelihood,
    random_order_accuracy,
    search_times,
    structure_accuracy,
)
from lab.measurements.search_interpretations import (
    TiesByLikelihood,
    structure_learner,
)
from lab.measurements.svm_scores import (
    svm_accuracy,
    svm_three_features,
)
from lab.runner.pool import check_finite
from tanager import BayesNetClassifier, ChowLiu, Fixed, Frequency
from tanager.datasets import load
from tanager.errors import InputError
from tanager.registry import structure_from

IRIS = "sklearn/iris"


@pytest.fixture(scope="module")
def part():
    data = load(IRIS)
    rows = np.random.default_rng(0).permutation(data.n_rows)
    return data, rows[:100], rows[100:], coded(data, rows[:100], rows[100:])


def test_rows_are_those_a_classifier_sees(part):
    data, train, test, rows = part
    learned, seconds = searched(structure_from("TAN-OMI-CR"), rows.train)
    found = coding.evaluate_structure(Frequency(zero=1e-5), learned.structure, rows)
    model = BayesNetClassifier.from_name("TAN-OMI-CR-ML")
    model.fit(data.X.iloc[train], data.y.iloc[train])
    assert found.right == model.score(data.X.iloc[test], data.y.iloc[test]) * 50
    log_proba = model.predict_log_proba(data.X.iloc[test])
    truth = np.searchsorted(model.classes_, data.y.iloc[test])
    assert found.log_loss == pytest.approx(-log_proba[np.arange(50), truth].sum())
    assert arcs(learned.structure) == len(model.network_.edges) - 4
    assert seconds >= 0


def test_a_class_without_training_rows_is_never_right(part):
    data = part[0]
    order = np.argsort(np.asarray(data.y), kind="stable")
    rows = coded(data, order[:100], order[100:])
    found = coding.evaluate_structure(
        Frequency(), Fixed().learn(rows.train).structure, rows
    )
    assert found.right == 0


def test_folds_are_a_partition_of_the_rows():
    parts = [part_of(IRIS, fold, n_folds=3) for fold in (1, 2, 3)]
    assert sum(one.test.n_samples for one in parts) == 150
    assert all(one.train.n_samples == 100 for one in parts)


def test_a_set_without_a_split_needs_a_fold():
    with pytest.raises(InputError, match="name a fold from 1 to 5"):
        part_of(IRIS)


def test_free_parameters_by_the_formula(part):
    train = part[3].train
    structure, _ = searched(structure_from("TAN-CMI"), train)
    states = train.schema.n_states
    expected = states[-1] - 1
    for child, parents in enumerate(structure.structure.parents[:-1]):
        expected += (states[child] - 1) * np.prod(states[list(parents)])
    assert free_parameters(structure.structure, train.schema) == expected


def test_all_parameters_are_of_one_structure():
    numbers = structure_accuracy(
        data=IRIS, structure="TAN-CR", parameters=["ML", "RCL"], fold=1
    )
    check_finite(numbers)
    assert numbers["rows"] == 30
    assert numbers["right_ML"] <= 30
    assert numbers["right_RCL"] <= 30
    alone = structure_accuracy(data=IRIS, structure="TAN-CR", parameters=["ML"], fold=1)
    assert alone["right_ML"] == numbers["right_ML"]


def test_a_search_tells_its_work():
    numbers = search_times(data=IRIS, structure="TAN-CR", fold=1, repetitions=2)
    assert numbers["rows"] == 120
    # Four features: twelve arcs in the first round, at least.
    assert numbers["candidates"] >= 12
    assert 0 <= numbers["visited"] <= 1
    plain = search_times(data=IRIS, structure="TAN-CMI", fold=1, repetitions=1)
    assert plain["candidates"] == plain["visited"] == 0


def test_random_orders_are_the_same_in_every_fold():
    blocks = [
        random_order_accuracy(data=IRIS, fold=2, n_orders=3, block=block)
        for block in (1, 1, 2)
    ]
    assert blocks[0] == blocks[1]
    assert len(blocks[0]["right"]) == len(blocks[2]["score"]) == 3
    assert max(blocks[0]["right"]) <= blocks[0]["rows"][0] == 30


def test_the_likelihood_of_an_order_is_that_of_its_tree():
    numbers = order_likelihood(data=IRIS, order="omi", fold=1)
    train = part_of(IRIS, 1).train
    learned, _ = searched(structure_from("TAN-OMI-CL"), train)
    own = coding.evaluate_structure(
        Frequency(zero=1e-5), learned.structure, part_of(IRIS, 1)._replace(test=train)
    )
    assert numbers["likelihood"][0] == pytest.approx(-own.log_loss / 120)
    several = order_likelihood(data=IRIS, order="ro", n_orders=4, fold=1)
    assert len(several["likelihood"]) == 4


def test_missing_features_by_the_classifier():
    numbers = missing_feature_accuracy(
        data=IRIS,
        structure="TAN-CMI",
        parameters=["ML"],
        n_missing=2,
        repetitions=3,
        fold=1,
    )
    assert len(numbers["accuracy_ML"]) == 3
    complete = missing_feature_accuracy(
        data=IRIS,
        structure="TAN-CMI",
        parameters=["ML"],
        n_missing=0,
        repetitions=3,
        fold=1,
    )
    right = structure_accuracy(
        data=IRIS, structure="TAN-CMI", parameters=["ML"], fold=1
    )
    assert complete["accuracy_ML"] == [right["right_ML"] / 30]


def test_nothing_observed_leaves_the_commonest_class():
    test = part_of(IRIS, 1).test
    codes = without(test, 4, np.random.default_rng(0))
    assert (codes == test.schema.n_states[:-1]).all()
    assert (test.codes < test.schema.n_states[:-1]).all()


def test_a_machine_has_as_many_parameters_as_its_vectors():
    numbers = svm_accuracy(data=IRIS, C=1.0, gamma=0.5, fold=1)
    assert numbers["parameters"] == 4 * numbers["vectors"]
    assert numbers["right"] > 20
    few = svm_three_features(n_samples=200, repetitions=2, C=3.0, gamma=1.0)
    assert len(few["accuracy_SVM"]) == 2


def test_three_features_need_the_arc():
    both = {
        name: MEASUREMENTS["three_features"](
            structure=name, parameters=["ML"], n_samples=1000, repetitions=3
        )
        for name in ("TAN-CMI", "TAN-OMI-CR")
    }
    assert both["TAN-OMI-CR"]["found"] == [1.0, 1.0, 1.0]
    means = {name: np.mean(of["accuracy_ML"]) for name, of in both.items()}
    assert means["TAN-OMI-CR"] > means["TAN-CMI"] + 0.03


def test_variants_are_searches_of_their_own():
    learner = structure_learner("TAN-OMI-CRCL1")
    assert learner.score.parameters.max_iter == 1
    part = part_of("sklearn/wine", 1)
    few = arcs(searched(learner, part.train)[0].structure)
    found = structure_accuracy(
        data="sklearn/wine", structure="TAN-OMI-CRCL1", parameters=["ML"], fold=1
    )
    assert found["arcs"] == few < arcs(searched(ChowLiu(), part.train)[0].structure)


def test_likelihood_breaks_ties_and_nothing_else():
    score = TiesByLikelihood()
    labels, weights = np.array([0, 0, 1]), np.array([1.0, 2.0, 1.0])
    sure, unsure, wrong = (
        np.log([[p, 1 - p], [0.8, 0.2], [0.7, 0.3]]) for p in (0.9, 0.6, 0.4)
    )
    values = [score.value(one, labels, weights) for one in (sure, unsure, wrong)]
    assert [int(value) for value in values] == [3, 3, 2]
    assert values[0] > values[1]
    part = part_of("sklearn/wine", 1)
    few, many = (
        arcs(searched(structure_learner(name), part.train)[0].structure)
        for name in ("TAN-OMI-CRRCL", "TAN-OMI-CRRCL-ties")
    )
    assert many > few


@pytest.fixture
def no_parts_kept():
    digits_part.cache_clear()
    yield
    digits_part.cache_clear()


@pytest.mark.usefixtures("no_parts_kept")
@pytest.mark.parametrize("smaller", SMALLER)
def test_digits_are_told_apart_by_the_pixels_that_stay(smaller, monkeypatch):
    labels = np.arange(200, dtype=np.uint8) % 10
    images = np.zeros((200, 28, 28), dtype=np.uint8)
    # Only pixels in odd rows and columns say anything of the digit.
    for row, label in enumerate(labels):
        images[row, 1 : 2 * label + 2 : 2, 1] = 200

    def small(smaller):
        return smaller(images).reshape(-1, 196), labels, 150

    monkeypatch.setattr(coding, "small_digits", small)
    found = digit_accuracy(data="images/mnist", method="NB-ML", smaller=smaller)
    assert found["test_rows"] == 50
    blind = smaller == "every second pixel from the first"
    assert found["accuracy"] == (0.1 if blind else 1.0)


def test_every_second_pixel():
    images = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    np.testing.assert_array_equal(every_second(images)[0], [[5, 7], [13, 15]])
    np.testing.assert_array_equal(every_second(images, 0)[0], [[0, 2], [8, 10]])


@pytest.mark.usefixtures("no_parts_kept")
def test_rows_drawn_anew_are_all_rows():
    part = part_of(IRIS, 1)
    again = drawn_anew(part, 110, seed=3)
    for one, other in (
        (np.concatenate([p.codes for p in part]), [p.codes for p in again]),
        (np.concatenate([p.labels for p in part]), [p.labels for p in again]),
    ):
        other = np.concatenate(other)
        assert not np.array_equal(one, other)
        np.testing.assert_array_equal(np.sort(one, axis=0), np.sort(other, axis=0))
    assert again.train.n_samples == 110


@pytest.mark.usefixtures("no_parts_kept")
def test_bad_parts_of_digits_are_refused(monkeypatch):
    monkeypatch.setattr(digits_module, "part_of", lambda data: part_of(data, 1))
    with pytest.raises(InputError, match="none of 'every second pixel'"):
        digit_accuracy(data=IRIS, method="NB-ML", smaller="blurred")
    with pytest.raises(InputError, match="has 150 samples; n_train=150 leaves none"):
        digit_accuracy(data=IRIS, method="NB-ML", n_train=150)
    found = digit_accuracy(data=IRIS, method="TAN-OMI-CRCL1-ML", n_train=100)
    assert found["test_rows"] == 50
