"""Terms of features with missing parents in trees, against enumeration."""

import numpy as np
import pytest

from tanager.explain import _kernels as kernels
from tanager.explain import explain_samples
from tanager.explain.terms import FamilyTerms
from tanager.explain.tree_marginals import TreeMarginals
from tests.explain.makers import fitted_model, random_codes
from tests.reference.explanations import family_terms


@pytest.mark.parametrize("small", [1e-100, 2.0])  # with 2, products are always scaled
@pytest.mark.parametrize("n_classes", [2, 3])
def test_terms_of_trees_by_enumeration(n_classes, small, monkeypatch):
    monkeypatch.setattr(kernels, "SMALL", small)
    # Compiled code has the constant of the module inside.
    plain = getattr(kernels.find_tree_terms, "py_func", kernels.find_tree_terms)
    monkeypatch.setattr(kernels, "find_tree_terms", plain)
    network = fitted_model("tan", n_classes).network_
    codes = random_codes(network.schema, 60, missing=0.4)
    values = explain_samples(network, codes, by="factor").values
    for row, found in zip(codes.tolist(), values, strict=True):
        _, terms = family_terms(network, row)
        np.testing.assert_allclose(found, terms[: len(found)], atol=1e-10)


def test_trees_equal_one_evaluation_per_feature():
    network = fitted_model("tan", 3).network_
    codes = random_codes(network.schema, 300, missing=0.3)
    terms = FamilyTerms(network)
    fast = terms.evaluate(codes)
    slow = fast.copy()
    terms._marginalise(codes, codes == network.schema.n_states[:-1], slow)
    np.testing.assert_allclose(fast, slow, atol=1e-10)


@pytest.mark.parametrize(("kind", "is_tree"), [("tan", True), ("2-tree", False)])
def test_which_networks_are_trees(kind, is_tree):
    network = fitted_model(kind, 2).network_
    found = TreeMarginals.of(network, FamilyTerms(network).order)
    assert (found is not None) == is_tree
