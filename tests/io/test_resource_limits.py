"""Small files that once took gigabytes or seconds, or raised errors of their own."""

import json

import pytest
from sklearn.base import clone

import tanager
from tanager import BayesNetClassifier, BoostedClassifier
from tanager.errors import FileFormatError, InputError
from tanager.io import model_file, network_assembly, read_bif, read_model
from tanager.structure import GumbelTree

LOG_HALF = -0.6931471805599453


def test_many_declared_attributes_of_xmlbif(tmp_path):
    def text(n_attributes):
        names = " ".join(f"a{k} CDATA 'x'" for k in range(n_attributes))
        return f"""<?xml version="1.0"?>
        <!DOCTYPE BIF [<!ATTLIST BIF VERSION CDATA #REQUIRED>
        <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
        <!ATTLIST OUTCOME {names}>]>
        <BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
        <VARIABLE><NAME>v</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>
        <DEFINITION><FOR>v</FOR><TABLE>0.5 0.5</TABLE></DEFINITION></NETWORK></BIF>"""

    path = tmp_path / "n.xmlbif"
    path.write_text(text(1))
    assert tanager.load(path).schema.names == ("v",)
    path.write_text(text(40))
    with pytest.raises(FileFormatError, match="more than 32 attributes are declared"):
        tanager.load(path)


def bif_with_default(n_parents):
    parents = [f"v{k}" for k in range(n_parents)]
    lines = [
        f"variable {name} {{ type discrete [2] {{ a, b }}; }}"
        for name in (*parents, "x")
    ]
    lines += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in parents]
    lines.append(f"probability ( x | {', '.join(parents)} ) {{ default 0.2, 0.8; }}")
    return "\n".join(lines)


def test_default_rows_of_bif_are_limited_by_the_size_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "n.bif"
    path.write_text(bif_with_default(24))
    with pytest.raises(FileFormatError, match="allowed for a file of this size"):
        tanager.load(path)
    monkeypatch.setattr(network_assembly, "FREE_CELLS", 0)
    path.write_text(bif_with_default(10))
    with pytest.raises(FileFormatError, match="which has 2,048 entries"):
        read_bif(path)
    assert read_bif(path, max_cells=3000).table("x").values.shape == (2,) * 11
    path.write_text(bif_with_default(10) + "\n" * 2000)  # a larger file may have more
    assert len(read_bif(path).schema) == 11


def sum_document(n_parents):
    """A family that is a sum of tables with each of its parents."""
    parents = [f"v{k}" for k in range(n_parents)]
    names = [*parents, "x"]
    own = [{"variables": ["x"], "values": [[LOG_HALF] * 2]}]
    own += [{"variables": [name, "x"], "values": [[0, 0]] * 2} for name in parents]
    tables = {n: {"parents": [], "log_probabilities": [[LOG_HALF] * 2]} for n in names}
    tables["x"] = {"parents": parents, "log_tables": own}
    return {
        "format": "tanager-model",
        "schema_version": 3,
        "written_by": "test",
        "target": None,
        "variables": [
            {"name": name, "states": [0, 1], "ordered": False, "cuts": None}
            for name in names
        ],
        "tables": tables,
        "classifier": None,
    }


def test_sums_are_limited_by_the_size_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(sum_document(24)))
    with pytest.raises(FileFormatError, match="16,777,216 of them of the parents"):
        read_model(path)
    path.write_text(json.dumps(sum_document(10)))
    monkeypatch.setattr(model_file, "FREE_CELLS", 0)
    assert len(read_model(path).network.schema) == 11  # fewer parents than bytes
    monkeypatch.setattr(model_file, "SUMMED_PER_CELL", 0)
    with pytest.raises(FileFormatError, match="allowed for a file of this size"):
        read_model(path)


@pytest.mark.parametrize("name", ["x" * 300, "ü" * 200, "\ud800.npz"])
def test_names_of_tables_files_that_no_file_can_have(tmp_path, name):
    document = sum_document(2)
    document["tables_file"] = {"name": name, "sha256": "0" * 64}
    for entry in document["tables"].values():
        entry.pop("log_probabilities", None)
        for part in entry.get("log_tables", ()):
            part.pop("values")
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=r"names the tables file|not in the same"):
        read_model(path)


def test_a_path_that_no_file_can_have(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        tanager.load(tmp_path / ("x" * 300 + ".json"))


@pytest.fixture
def saved(tmp_path):
    X, y = {"a": ["u", "v", "u", "v"] * 3}, [0, 1, 0, 0] * 3
    path = tmp_path / "model.json"
    base = BayesNetClassifier(structure="nb", parameters="fe")
    BoostedClassifier(base).fit(X, y).save(path)
    return path, json.loads(path.read_text()), X, y


@pytest.mark.parametrize("depth", [70, 330])
def test_settings_nested_deeply(saved, depth):
    path, document, *_ = saved
    nested = "nb"
    for _ in range(depth):
        nested = {"list": [nested]}
    arguments = document["classifier"]["arguments"]
    arguments["estimator"]["arguments"]["structure"] = nested
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="nested"):
        tanager.load(path)


def test_settings_nested_as_deeply_as_allowed_can_be_used(saved):
    path, document, *_ = saved
    arguments = document["classifier"]["arguments"]["estimator"]["arguments"]
    nested = arguments["missing"]
    for _ in range(25):
        nested = {"list": [nested]}
    arguments["class_weight"] = nested
    path.write_text(json.dumps(document))
    model = tanager.load(path)
    assert "marginalize" in repr(clone(model).get_params())


def test_a_file_chooses_neither_paths_nor_threads_nor_random_numbers(tmp_path):
    X, y = {"a": ["u", "v", "u", "v"] * 3, "b": list("xyxyyy") * 2}, [0, 1, 0, 0] * 3
    path, elsewhere = tmp_path / "model.json", tmp_path / "run.npz"
    learner = GumbelTree(epochs=2)
    model = BayesNetClassifier("mdl", learner, "keep", random_state=0).fit(X, y)
    model.save(path)
    document = json.loads(path.read_text())
    arguments = document["classifier"]["arguments"]
    arguments.update(n_jobs=64, random_state=7)
    arguments["structure"]["arguments"]["checkpoint"] = str(elsewhere)
    path.write_text(json.dumps(document))
    loaded = tanager.load(path)
    assert loaded.structure.checkpoint is None
    assert loaded.n_jobs is None
    assert loaded.random_state is None
    loaded.fit(X, y)
    assert not elsewhere.exists()
