"""MLflow loads a model from the file without code, and serves its predictions."""

import json
import sys

import numpy as np
import pytest

from tanager import (
    BayesNetClassifier,
    CapabilityError,
    InputError,
    Network,
    datasets,
    save,
)
from tanager.classifiers import mlflow_flavor


@pytest.fixture(scope="module")
def iris():
    return datasets.load("iris")


@pytest.fixture(scope="module")
def model(iris):
    return BayesNetClassifier(structure="tan", parameters="fe").fit(iris.X, iris.y)


@pytest.fixture
def pyfunc():
    pytest.importorskip("pandas")
    return pytest.importorskip("mlflow.pyfunc", reason="mlflow is not installed")


def check_table(found, model, X):
    names = [f"P({label})" for label in model.classes_]
    assert list(found.columns) == ["prediction", *names]
    assert (found["prediction"].to_numpy() == model.predict(X)).all()
    assert np.array_equal(found[names].to_numpy(), model.predict_proba(X))


def test_saved_model(pyfunc, model, iris, tmp_path):
    folder = tmp_path / "served"
    mlflow_flavor.save_model(model, folder)
    again = mlflow_flavor.load_model(folder)
    assert np.array_equal(again.predict_proba(iris.X), model.predict_proba(iris.X))
    X = iris.X.copy()
    X.iloc[::3, 0] = np.nan
    check_table(pyfunc.load_model(str(folder)).predict(X), model, X)
    suffixes = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert not suffixes & {".pkl", ".pickle", ".joblib", ".py"}
    assert "tanager==" in (folder / "requirements.txt").read_text()


@pytest.mark.filterwarnings("ignore")  # MLflow and SQLAlchemy warn of each other
def test_logged_model(pyfunc, model, iris, tmp_path, monkeypatch):
    import mlflow

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    mlflow.create_experiment("iris", artifact_location=(tmp_path / "runs").as_uri())
    mlflow.set_experiment("iris")
    with mlflow.start_run():
        info = mlflow_flavor.log_model(model, input_example=iris.X.head(2))
    check_table(pyfunc.load_model(info.model_uri).predict(iris.X), model, iris.X)


def test_parameters_are_refused(model, iris):
    pytest.importorskip("pandas")
    wrapped = mlflow_flavor.PyFuncClassifier(model)
    check_table(wrapped.predict(iris.X), model, iris.X)
    with pytest.raises(InputError, match="no parameters"):
        wrapped.predict(iris.X, {"method": "proba"})


def test_networks_are_refused(tmp_path):
    network = Network.build({"a": [0, 1]}, {"a": [0.5, 0.5]})
    save(network, tmp_path / "model.json")
    with pytest.raises(InputError, match="holds a network"):
        mlflow_flavor._load_pyfunc(str(tmp_path / "model.json"))


def test_without_mlflow(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(CapabilityError, match="pip install mlflow"):
        mlflow_flavor.save_model(model, tmp_path / "served")


def test_the_folder_holds_a_model_file(pyfunc, model, tmp_path):
    mlflow_flavor.save_model(model, tmp_path / "served")
    text = (tmp_path / "served" / "data" / mlflow_flavor.FILE).read_text("utf-8")
    assert json.loads(text)["classifier"]["class"] == "BayesNetClassifier"
