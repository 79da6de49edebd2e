"""ONNX graphs give the probabilities of the model in onnxruntime."""

import numpy as np
import pytest

from tanager import BayesNetClassifier, CapabilityError
from tanager.export.score_terms import ScoreTerms
from tests.export.conftest import every_model, expected_rows

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def run(model, samples, **arguments):
    graph = model.to_onnx(**arguments)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    feed = {}
    for given in session.get_inputs():
        column = samples[given.name]
        if given.type == "tensor(double)":
            values = column.to_numpy(dtype=float, na_value=np.nan)
        elif given.type == "tensor(int64)":
            values = column.to_numpy(dtype=np.int64)
        else:
            texts = column.astype(object).where(column.notna(), "")
            values = np.array([str(text) for text in texts], dtype=object)
        feed[given.name] = values[:, None]
    return session.run(None, feed)


@every_model
def test_probabilities(models, samples, kind, n_classes):
    model = models[kind, n_classes]
    samples = samples.assign(level=samples["level"].fillna(1).astype(np.int64))
    complete = bool(ScoreTerms.of_network(model.network_).needed)
    labels, found = run(model, samples, complete=complete)
    expected, known = expected_rows(model, samples, complete=complete)
    np.testing.assert_allclose(found[known], expected[known], atol=1e-9)
    assert np.isnan(found[~known]).all()
    assert (labels[known] == model.predict(samples)[known]).all()


@pytest.mark.parametrize("kind", ["factors", "smooth-nb", "two-parents"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_are_those_of_explain(models, samples, kind, n_classes):
    model = models[kind, n_classes]
    known = samples.dropna(subset="level").assign(level=2)
    if kind == "two-parents":  # cannot marginalise
        known = known.dropna()
        known = known[known["many"] != "never seen"]
    _, _, parts = run(model, known, contributions=True, complete=True)
    graph = model.to_onnx(contributions=True, complete=True)
    names = [given.name for given in graph.graph.input]
    explanation = model.explain(known)
    used = [explanation.terms.index((name,)) for name in names]
    np.testing.assert_allclose(parts, explanation.values[:, used], atol=1e-9)


def test_a_hundred_thousand_rows(models, samples):
    model = models["factors", 3]
    samples = samples.assign(level=samples["level"].fillna(1).astype(np.int64))
    many = samples.sample(100_000, replace=True, random_state=0)
    _, found = run(model, many)
    np.testing.assert_allclose(found, model.predict_proba(many), atol=1e-9)


@pytest.mark.parametrize("kind", ["factors", "nb", "tree"])
def test_names_of_the_graph(messy, messy_models, kind):
    """Features may have the names of outputs and of tables of the graph."""
    model = messy_models[kind]
    graph = model.to_onnx(contributions=True, complete=True)
    inputs = {given.name for given in graph.graph.input}
    assert "label" in inputs
    assert [out.name for out in graph.graph.output] == [
        f"{name}_" if name in inputs else name
        for name in ("label", "probabilities", "contributions")
    ]
    labels, found, _ = run(model, messy[0], contributions=True, complete=True)
    np.testing.assert_allclose(found, model.predict_proba(messy[0]), atol=1e-9)
    assert (labels == model.predict(messy[0])).all()


def test_labels_that_are_whole_numbers():
    X = {"a": [1.0, 2.0, 3.0, 4.0] * 5}
    model = BayesNetClassifier(structure="nb", parameters="fe").fit(X, [3, 3, 7, 7] * 5)
    graph = model.to_onnx()
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    (labels,) = session.run(["label"], {"a": np.array([[1.0], [4.0]])})
    assert labels.tolist() == [3, 7]


def test_networks_that_marginalise_are_refused(models):
    with pytest.raises(CapabilityError, match="complete=True"):
        models["tree", 2].to_onnx()


def test_a_hundred_thousand_states(many_states):
    model, X = many_states
    X = X[X["code"] != ""]  # the empty string is a missing value here
    _, found = run(model, X)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)
