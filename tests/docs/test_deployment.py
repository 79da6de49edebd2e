"""The FastAPI example of the page on deployment serves the model."""

import json

import numpy as np
import pytest

from lab.measurements.serving_latency import example
from tanager import BayesNetClassifier, datasets
from tests.docs.pages import DOCS

CODE = example((DOCS / "deployment.md").read_text("utf-8"))


def test_the_example_is_short():
    lines = [line for line in CODE.splitlines() if line]
    assert len(lines) <= 15
    compile(CODE, "app.py", "exec")


@pytest.fixture
def client(tmp_path, monkeypatch):
    pytest.importorskip("fastapi", reason="fastapi is not installed")
    pytest.importorskip("httpx", reason="httpx is not installed")
    from fastapi.testclient import TestClient

    penguins = datasets.load("penguins")
    model = BayesNetClassifier().fit(penguins.X, penguins.y)
    model.save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(CODE, "app.py", "exec"), names)
    return TestClient(names["app"]), model, penguins.X


@pytest.mark.filterwarnings("ignore")  # of the client
def test_the_example_serves_the_model(client):
    web, model, X = client
    rows = json.loads(X.to_json(orient="records"))
    for row in rows[:50]:
        del row["bill_length_mm"]
    answer = web.post("/predict", json=rows)
    assert answer.status_code == 200
    found = [[row[str(label)] for label in model.classes_] for row in answer.json()]
    X = X.copy()
    X.loc[:49, "bill_length_mm"] = np.nan
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_bad_requests_are_refused(client):
    web = client[0]
    assert web.post("/predict", json={"rows": 1}).status_code == 422
    assert web.post("/predict", json=[{"species": [1]}]).status_code == 422
