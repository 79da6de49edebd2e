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


def test_contributions_sum_to_the_log_odds(models, samples):
    model = models["smooth-nb", 2]
    known = samples.dropna().assign(level=2)
    labels, found, parts = run(model, known, contributions=True)
    prior = ScoreTerms.of_network(model.network_).prior
    odds = np.log(found[:, 1] / found[:, 0])
    np.testing.assert_allclose(parts.sum(axis=1)[:, 0] + prior[0], odds, atol=1e-9)
    assert len(labels) == len(known)


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
