"""Structures learned by gradients, on a few rows."""

import numpy as np
import pytest

from lab.measurements import gradient_structures, image_datasets
from lab.measurements.coded_datasets import arcs, coded, in_bins
from lab.measurements.gumbel_methods import METHODS, Run
from tanager.datasets import load


@pytest.fixture(scope="module")
def part():
    data = load("sklearn/iris")
    rows = np.random.default_rng(0).permutation(data.n_rows)
    return coded(data, rows[:100], rows[100:])


@pytest.fixture
def iris(part, monkeypatch):
    """Measurements read these rows, whatever set they are asked for."""
    asked = []

    def image_part(*which, **kind):
        asked.append((*which, kind))
        return part

    monkeypatch.setattr(gradient_structures, "image_part", image_part)
    return asked


SETTING = {"lambda_": 50.0, "share": 0.5, "eta": 10.0, "rate": 0.03}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_measured(method, iris):
    numbers = gradient_structures.setting_errors(
        data="images/any",
        method=method,
        batch_size=20,
        epochs=5,
        image_order="centre",
        **SETTING,
    )
    assert iris == [("images/any", 1, {})]
    assert 0 <= numbers["error"] < 0.5
    assert 0 <= numbers["validation_error"] < 0.5
    assert 0 <= numbers["arcs"] <= 3
    assert numbers["seconds"] > 0


def test_frequencies_need_no_setting(iris, part):
    numbers = gradient_structures.setting_errors(data="images/any", method="NB-ML")
    run = Run(20, 3, **SETTING)
    same = gradient_structures.learned_and_tested(METHODS["NB-ML"], run, part)
    assert numbers["error"] == same["error"]
    assert numbers["validation_error"] == same["validation_error"]


def test_random_parents_come_first_among_the_candidates(part):
    run = Run(20, 1, **SETTING)
    structure, _ = METHODS["TAN Random-HYB"](run, part.train)
    assert arcs(structure) == 3
    again, _ = METHODS["TAN Random-HYB"](run, part.train)
    assert again == structure


@pytest.mark.parametrize(
    ("order", "candidates"),
    [("random", "random"), (None, "random"), ("chow-liu", "information")],
)
def test_orders(order, candidates, iris):
    numbers = gradient_structures.order_errors(
        data="images/any",
        order=order,
        candidates=candidates,
        batch_size=20,
        epochs=3,
        seed=0,
    )
    assert iris == [("images/any", 1, {})]
    assert 0 <= numbers["error"] < 0.5
    assert 0 <= numbers["arcs"] <= 3


def test_the_tree_of_one_strong_dependence_is_recovered(iris):
    numbers = gradient_structures.tree_recovery(
        data="images/any", batch_size=20, epochs=60, seed=0, start="frequency"
    )
    assert iris == [("images/any", 1, {})]
    assert numbers["arcs"] == 3
    assert numbers["arcs_found"] + numbers["other_arcs"] <= 3
    assert 0 < numbers["share_of_information"] <= 1 + 1e-9


def test_cubic_convolution_by_its_weights():
    """Those of Keys (1981), a = -1/2, at a quarter, three quarters, ... of a pixel."""
    weights = np.array([-3, -9, 29, 111, 111, 29, -9, -3]) / 256
    images = np.random.default_rng(0).integers(0, 256, (3, 28, 28)).astype(np.uint8)
    found = image_datasets.cubic(images)
    padded = np.pad(images.astype(np.float64), ((0, 0), (3, 3), (3, 3)))
    for i in range(14):
        for j in range(14):
            seen = padded[:, 2 * i : 2 * i + 8, 2 * j : 2 * j + 8]
            expected = np.einsum("nab,a,b->n", seen, weights, weights)
            assert (found[:, i, j] == expected).all()


def test_blocks_of_images_are_as_all_at_once(monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype(np.uint8)
    whole = image_datasets.cubic(images)
    monkeypatch.setattr(image_datasets, "BLOCK", 2)
    assert (image_datasets.cubic(images) == whole).all()


def test_two_thirds_of_the_digits_are_for_training(monkeypatch):
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (60, 28, 28)).astype(np.uint8)
    labels = np.arange(60, dtype=np.uint8) % 10
    images[:, 0] = 30 * (labels[:, None] % 2)  # the rim of the first row has a meaning

    def small_digits(smaller):
        return smaller(images).reshape(-1, 196), labels, 50

    monkeypatch.setattr(image_datasets, "small_digits", small_digits)
    train, test = image_datasets.image_part.__wrapped__("images/mnist")
    assert np.bincount(train.labels).tolist() == [4] * 10
    assert np.bincount(test.labels).tolist() == [2] * 10
    # Bins are those of the first 50, pixels run column by column.
    pixels = image_datasets.cubic(images).transpose(0, 2, 1).reshape(-1, 196)
    known = in_bins(pixels, labels, np.arange(50))
    assert train.schema == known.schema
    rows = image_datasets.drawn_rows(labels, 0)
    for part, of in zip((train, test), rows, strict=True):
        assert (part.codes == known.codes[of]).all()
    assert known.schema != in_bins(pixels, labels, rows[0]).schema
