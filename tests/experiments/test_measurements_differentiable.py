"""Structures learned by gradients, on a few rows."""

import numpy as np
import pytest

from tanager.datasets import load
from tanager.experiments.measurements import differentiable, image_sets
from tanager.experiments.measurements.coded import arcs, coded, halved
from tanager.experiments.measurements.gumbel import METHODS, Run


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

    monkeypatch.setattr(differentiable, "image_part", image_part)
    return asked


SETTING = {"lambda_": 50.0, "share": 0.5, "eta": 10.0, "rate": 0.03}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_measured(method, iris):
    numbers = differentiable.setting_tested(
        data="images/any",
        method=method,
        inner=True,
        batch_size=20,
        epochs=5,
        image_order="centre",
        **SETTING,
    )
    assert iris == [("images/any", 1, {"inner": True})]
    assert 0 <= numbers["error"] < 0.5
    assert 0 <= numbers["validation_error"] < 0.5
    assert 0 <= numbers["arcs"] <= 3
    assert numbers["seconds"] > 0


def test_frequencies_need_no_setting(iris, part):
    numbers = differentiable.setting_tested(data="images/any", method="NB-ML")
    run = Run(20, 3, **SETTING)
    same = differentiable.learned_and_tested(METHODS["NB-ML"], run, part)
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
    numbers = differentiable.order_tested(
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
    numbers = differentiable.tree_recovered(
        data="images/any", batch_size=20, epochs=60, seed=0, start="frequency"
    )
    assert iris == [("images/any", 1, {})]
    assert numbers["arcs"] == 3
    assert numbers["arcs_found"] + numbers["other_arcs"] <= 3
    assert 0 < numbers["share_of_information"] <= 1 + 1e-9


def test_small_images_of_digits():
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    images[0, 4:24, 4:24] = 200
    images[1, :2, 2:4] = 100
    inner = image_sets.inner_pixels(images)
    assert inner[0] == pytest.approx(np.full((14, 14), 200.0))
    assert not inner[1].any()
    assert halved(images)[1, 0, 1] == 100
    assert halved(images)[1].sum() == 100


@pytest.mark.parametrize("inner", [False, True])
def test_two_thirds_of_the_digits_are_for_training(inner, monkeypatch):
    random = np.random.default_rng(0)
    images = random.integers(0, 256, (60, 28, 28)).astype(np.uint8)
    labels = np.arange(60, dtype=np.uint8) % 10

    def small_digits(smaller):
        return smaller(images).reshape(-1, 196), labels, 50

    monkeypatch.setattr(image_sets, "small_digits", small_digits)
    train, test = image_sets.image_part.__wrapped__("images/mnist", inner=inner)
    assert (train.n_samples, test.n_samples) == (40, 20)
    assert len(train.schema) == 197
