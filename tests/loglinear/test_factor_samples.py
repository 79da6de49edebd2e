from __future__ import annotations

import numpy as np
import pytest

from tanager.loglinear.factor_samples import FactorSamples
from tests.loglinear.factor_makers import make_codes, make_factor, make_variables

pytestmark = pytest.mark.usefixtures("numpy_or_kernels")


def make_samples(weights, held_out=None):
    random = np.random.default_rng(0)
    variables = make_variables(random, 2)
    codes = make_codes(random, variables, 40)
    labels = random.integers(0, 3, 40)
    samples = FactorSamples.of(codes, labels, weights, 3, held_out=held_out)
    return samples, make_factor(variables, [0, 1])


def test_no_weights_are_weights_of_one():
    held = np.array([3, 7])
    without, factor = make_samples(None, held)
    ones, _ = make_samples(np.ones(40), held)
    np.testing.assert_array_equal(without.weights, ones.weights)
    assert without.weights.dtype == ones.weights.dtype == np.float32
    np.testing.assert_array_equal(without.held_out_weights, ones.held_out_weights)
    assert without.class_counts(factor).sum() == 38.0


def test_labels_are_of_the_smallest_type():
    samples, _ = make_samples(None)
    assert samples.labels.dtype == np.uint8


def test_counts_that_are_taken_are_counted_again():
    samples, factor = make_samples(None)
    kept = samples.class_counts(factor)
    assert samples.class_counts(factor) is kept
    assert samples.take_class_counts(factor) is kept
    again = samples.class_counts(factor)
    assert again is not kept
    np.testing.assert_array_equal(again, kept)
