from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.data import ArrayData
from tanager.loglinear import objective
from tanager.loglinear.objective import ConditionalLogLoss
from tanager.model.layout import FamilyLayout
from tests.reference.conditional import sums
from tests.reference.gradient import numerical_gradient
from tests.strategies import generators, random_data, random_k_tree
from tests.tolerance import assert_close

CLASSES = st.sampled_from([2, 3, 4, 5, 9])


def random_rows(random, n_classes, missing, weighted, k=1, n_rows=30):
    data = random_data(
        random, n_rows, 4, missing, weighted, unlabelled=0.2, n_classes=n_classes
    )
    structure = random_k_tree(random, data.schema, k)
    return data, FamilyLayout.of_structure(data.schema, structure)


@settings(max_examples=40)
@given(
    random=generators(),
    n_classes=CLASSES,
    missing=st.sampled_from([0.0, 0.3, 1.0]),
    weighted=st.booleans(),
    k=st.integers(1, 2),
)
def test_sums_over_rows_equal_the_formulas(random, n_classes, missing, weighted, k):
    data, layout = random_rows(random, n_classes, missing, weighted, k)
    rows = ConditionalLogLoss(layout, tuple(data.blocks()))
    values = random.normal(size=layout.n_cells) * 2
    expected = sums(layout, values, data)
    loss, gradient = rows.value_and_gradient(values)
    assert_close(loss, expected["loss"])
    assert_close(gradient, expected["gradient"])
    moments = rows.class_moments(values)
    names = ("loss", "observed", "expected", "products")
    for found, name in zip(moments, names, strict=True):
        assert_close(found, expected[name])
    direction = random.normal(size=layout.n_cells)
    product = rows.multiply_hessian(rows.posteriors(values), direction)
    assert_close(product, expected["hessian"] @ direction)
    curvature = rows.curvature(values)
    assert_close(curvature, expected["curvature"])
    # The mean of the Hessian's blocks by class, classes summing to zero.
    n_entries = layout.n_cells // n_classes
    blocks = expected["hessian"].reshape(n_entries, n_classes, n_entries, n_classes)
    assert_close(curvature * (n_classes - 1) / n_classes, np.einsum("icjc->ij", blocks))


@given(random=generators(), n_classes=CLASSES, weighted=st.booleans())
@settings(max_examples=10)
def test_gradient_is_that_of_finite_differences(random, n_classes, weighted):
    data, layout = random_rows(random, n_classes, 0.2, weighted)
    rows = ConditionalLogLoss(layout, tuple(data.blocks()))
    values = random.normal(size=layout.n_cells)
    found = rows.value_and_gradient(values)[1]
    expected = numerical_gradient(lambda x: rows.value_and_gradient(x)[0], values)
    assert_close(found, expected, 1e-6)


@given(random=generators(), n_classes=CLASSES, weighted=st.booleans())
@settings(max_examples=10)
def test_at_zero_the_curvature_is_the_hessian(random, n_classes, weighted):
    data, layout = random_rows(random, n_classes, 0.2, weighted)
    rows = ConditionalLogLoss(layout, tuple(data.blocks()))
    zero = np.zeros(layout.n_cells)
    assert_close(rows.curvature(), rows.curvature(zero))
    centre = (np.eye(n_classes) - 1.0 / n_classes) / n_classes
    assert_close(np.kron(rows.curvature(), centre), sums(layout, zero, data)["hessian"])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_extreme_tables_give_finite_sums(n_classes):
    random = np.random.default_rng(0)
    data, layout = random_rows(random, n_classes, 0.1, True)
    rows = ConditionalLogLoss(layout, tuple(data.blocks()))
    values = random.normal(size=layout.n_cells) * 1000
    expected = sums(layout, values, data)
    loss, gradient = rows.value_and_gradient(values)
    assert_close(loss, expected["loss"])
    assert_close(gradient, expected["gradient"])
    loss, *_, products = rows.class_moments(values)
    assert_close(loss, expected["loss"])
    assert_close(products, expected["products"])


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_threads_do_not_change_a_bit(n_classes, monkeypatch):
    random = np.random.default_rng(1)
    data, layout = random_rows(random, n_classes, 0.1, True, n_rows=900)
    parts = [
        ArrayData(
            data.schema,
            np.asfortranarray(data.codes[first : first + 200]),
            data.labels[first : first + 200],
            data.weights[first : first + 200],
        )
        for first in range(0, 900, 200)
    ]
    blocks = tuple(block for part in parts for block in part.blocks())
    monkeypatch.setattr(objective, "LANES", 2)
    values = random.normal(size=layout.n_cells)
    one, three = (ConditionalLogLoss(layout, blocks, n_jobs) for n_jobs in (None, 3))
    for name in ("value_and_gradient", "class_moments"):
        for first, second in zip(
            getattr(one, name)(values), getattr(three, name)(values), strict=True
        ):
            assert np.array_equal(first, second)
    assert np.array_equal(one.curvature(values), three.curvature(values))
    whole = ConditionalLogLoss(layout, tuple(data.blocks()))
    assert_close(one.value_and_gradient(values)[1], whole.value_and_gradient(values)[1])
