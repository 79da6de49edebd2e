"""The scripts of the page: their own tests, and the same posteriors as Python."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tanager import load
from tanager.encoding import encode_frame, read_frame
from tanager.report.model_data import describe_model
from tanager.report.payload import Payload
from tests.report.conftest import KINDS, fit, with_missing

N_ANSWERS = 15
"""Samples whose questions and flips are compared."""

FOLDER = Path(__file__).parent / "page"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def run_node(*arguments):
    done = subprocess.run(
        [NODE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_scripts():
    run_node("--test", *sorted(FOLDER.glob("*.test.mjs")))


def check_terms(model, samples, terms):
    """The contributions of the page are those of `explain`."""
    by = "feature" if model.network_.has_cpts else "factor"
    expected = model.explain(samples, by=by)
    odds = expected.values[..., -1]
    if expected.values.shape[-1] > 1:
        odds = expected.values[..., 1] - expected.values[..., 0]
    names = model.network_.schema.names
    place = {term: k for k, term in enumerate(expected.terms)}
    values = np.zeros(odds.shape)
    for row, own in enumerate(terms):
        for term in own[1:]:  # the first is the prior
            values[row, place[tuple(names[j] for j in term["features"])]] = term[
                "value"
            ]
    np.testing.assert_allclose(values, odds, rtol=0, atol=1e-9)


def check_answers(model, samples, answers):
    """Questions and flips of the page are those of the methods of the model."""
    position = model.network_.schema.position
    for row, found in enumerate(answers):
        sample = samples.iloc[[row]]
        asked = model.next_question(sample)
        gains = {own["feature"]: own["gain"] for own in found["questions"]}
        expected = {
            position[name]: gain
            for name, gain in zip(asked.features, asked.gains, strict=True)
        }
        assert gains == pytest.approx(expected, abs=1e-9)
        largest = asked.gains[:1].tolist()
        assert [q["gain"] for q in found["questions"][:1]] == pytest.approx(largest)
        smallest = model.counterfactual(sample)
        if found["flip"] is None:
            assert smallest.n_changes == 0
        else:
            assert smallest.n_changes == len(found["flip"]["changes"])
            assert smallest.cost == pytest.approx(found["flip"]["cost"], abs=1e-9)


def check_effects(model, effects):
    """Curves and pairs of networks with CPTs are those of `model.effect`."""
    schema = model.network_.schema
    assert bool(effects) is model.network_.has_cpts
    for found in effects:
        expected = model.effect(*(schema.names[j] for j in found["features"]))
        weights = np.reshape(found["weights"], (*found["shape"], -1))
        assert sum(found["support"]) == pytest.approx(1.0)
        shape = [schema[j].n_states for j in found["features"]]
        if found["shape"] != shape:  # neighbouring states of many are merged
            assert max(shape) > 24
            continue
        if schema.n_classes == 2:
            weights = np.diff(weights, axis=-1)
        np.testing.assert_allclose(weights, expected.values, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_and_exported_models_agree_with_python(kind, tmp_path):
    model, X, _ = fit(kind)
    samples = with_missing(X, 0.5, seed=1)[:60]
    codes = encode_frame(read_frame(samples), model.encoder_.schema_.variables)
    payload = Payload()
    header = describe_model(model.network_, payload)
    header["classifier"] = None
    content = {
        "payload": payload.pack(header),
        "rows": codes.tolist(),
        "nAnswers": N_ANSWERS,
    }
    (tmp_path / "content.json").write_text(json.dumps(content))
    found = json.loads(run_node(FOLDER / "agreement.mjs", tmp_path / "content.json"))
    expected = model.predict_proba(samples)
    np.testing.assert_allclose(found["posteriors"], expected, rtol=0, atol=1e-9)
    check_terms(model, samples, found["terms"])
    check_answers(model, samples[:N_ANSWERS], found["answers"])
    check_effects(model, found["effects"])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(found["document"]))
    exported = load(path)
    assert exported.schema == model.network_.schema
    again = model.__class__.from_network(exported).predict_proba(samples)
    np.testing.assert_allclose(again, expected, rtol=0, atol=1e-9)
