"""The JavaScript module gives the probabilities of the model, in node."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from tests.export.conftest import every_model

RUNNER = """
import { readFileSync } from "node:fs";
import { classes, features, predict, predictProba } from "./model.mjs";
const rows = JSON.parse(readFileSync(new URL("rows.json", import.meta.url)));
const probabilities = rows.map(predictProba);
const labels = rows.map(predict);
console.log(JSON.stringify({ classes, features, labels, probabilities }));
"""

node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@node
@every_model
def test_probabilities(models, samples, tmp_path, kind, n_classes):
    model = models[kind, n_classes]
    (tmp_path / "model.mjs").write_text(model.to_js(), "utf-8")
    (tmp_path / "run.mjs").write_text(RUNNER, "utf-8")
    (tmp_path / "rows.json").write_text(samples.to_json(orient="records"), "utf-8")
    command = ["node", tmp_path / "run.mjs"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    found = json.loads(done.stdout)
    assert found["classes"] == model.classes_.tolist()
    assert found["features"] == list(samples.columns)
    expected = model.predict_proba(samples)
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-9)
    assert found["labels"] == model.predict(samples).tolist()


@node
@pytest.mark.parametrize("kind", ["factors", "nb", "tree"])
def test_names_that_objects_inherit(messy, messy_models, tmp_path, kind):
    model = messy_models[kind]
    rows = messy[0].copy()
    (tmp_path / "model.mjs").write_text(model.to_js(), "utf-8")
    (tmp_path / "run.mjs").write_text(RUNNER, "utf-8")
    records = rows.to_dict(orient="records")
    for record in records[:300]:
        del record["constructor"], record["__proto__"], record["customer_id"]
    (tmp_path / "rows.json").write_text(json.dumps(records), "utf-8")
    command = ["node", tmp_path / "run.mjs"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    rows.loc[:299, ["constructor", "__proto__"]] = np.nan
    rows.loc[:299, "customer_id"] = None
    found = json.loads(done.stdout)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-9)


@node
def test_a_hundred_thousand_states(many_states, tmp_path):
    model, rows = many_states
    (tmp_path / "model.mjs").write_text(model.to_js(), "utf-8")
    (tmp_path / "run.mjs").write_text(RUNNER, "utf-8")
    (tmp_path / "rows.json").write_text(rows.to_json(orient="records"), "utf-8")
    command = ["node", tmp_path / "run.mjs"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    found = json.loads(done.stdout)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-9)
