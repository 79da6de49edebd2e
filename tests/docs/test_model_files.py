"""What docs/model-files.md says about the layout is what is written and read."""

import json
import re

import numpy as np
import pytest

from tanager.core.layout import MAX_CELLS
from tanager.io import model_file, read_model, write_model
from tanager.network import Network
from tanager.network.building import SUM_TOLERANCE
from tests.docs.pages import read_page

SECTIONS = {section.title: section for section in read_page("model-files.md")}


@pytest.fixture
def document(page_files, typed):
    """The model that docs/command-line.md makes, from which the example is taken."""
    command = "tanager fit weather.csv --target play --model TAN+FE -o model.json"
    assert typed(command).exit_code == 0
    with open("model.json", encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def packed(folder, monkeypatch):
    """A document with its tables beside it."""
    monkeypatch.setattr(model_file, "INLINE_CELLS", 0)
    states = ["x", "y", "z"]
    rows = [[0.5, 0.5, 0], [0.25, 0.25, 0.5]]
    network = Network.build(
        {"a": [0, 1], "b": states}, {"a": [0.5, 0.5], "b": (["a"], rows)}
    )
    write_model("model.json", network)
    return json.loads((folder / "model.json").read_text("utf-8"))


def test_the_fields(document, packed):
    fields = re.findall(r"(?m)^\| `(\w+)` \|", SECTIONS["The document"].text)
    assert list(packed) == fields
    fields.remove("tables_file")
    assert list(document) == fields
    assert f'| `format` | `"{document["format"]}"` |' in SECTIONS["The document"].text
    version = f"| `schema_version` | `{document['schema_version']}`, "
    assert version in SECTIONS["The document"].text


def test_the_fields_of_variables_and_tables(document, packed):
    text = SECTIONS["The document"].text
    (variable,) = re.findall(r"A \*\*variable\*\* has ([^.]*)", text)
    (table,) = re.findall(r"A \*\*table\*\* has ([^:]*)", text)
    for entry in document["variables"]:
        assert list(entry) == re.findall(r"`(\w+)`", variable)
    for entry in document["tables"].values():
        assert list(entry) == re.findall(r"`(\w+)`", table)
    for entry in packed["tables"].values():
        assert list(entry) == ["parents"]


def test_the_example(folder, document):
    (block,) = SECTIONS["The document"].blocks
    example = block.rstrip().removesuffix("...").rstrip().rstrip(",")
    shown = json.loads("{" + example + "}}")["tables"]
    assert shown["wind"]["parents"] == document["tables"]["wind"]["parents"]
    np.testing.assert_allclose(
        shown["wind"]["log_probabilities"],
        document["tables"]["wind"]["log_probabilities"],
        rtol=1e-12,
    )
    # One line for every row, as in the file.
    lines = (folder / "model.json").read_text("utf-8").splitlines()
    shapes = [re.sub(r"-\d\.\d+", "#", line).strip() for line in lines]
    for line in example.splitlines():
        assert re.sub(r"-\d\.\d+", "#", line).strip().rstrip(",") in {
            shape.rstrip(",") for shape in shapes
        }


def test_the_order_of_the_rows(document):
    states = {entry["name"]: entry["states"] for entry in document["variables"]}
    first, second = document["tables"]["wind"]["parents"]
    order = ", ".join(f"({a}, {b})" for a in states[first] for b in states[second])
    assert f"Here the rows are {order}." in SECTIONS["The document"].text


def test_tables_beside(folder, packed):
    (block,) = SECTIONS["Large tables"].blocks
    shown = json.loads("{" + block + "}")["tables_file"]
    found = packed["tables_file"]
    assert list(found) == list(shown)
    for entry in (shown, found):
        assert entry["name"] == f"model.json-{entry['sha256'][:12]}.npz"
    with np.load(folder / found["name"], allow_pickle=False) as arrays:
        assert arrays.files == ["log_probabilities"]
        assert arrays["log_probabilities"].dtype == np.dtype("<f8")
        with np.errstate(divide="ignore"):
            expected = np.log([0.5, 0.5, 0.5, 0.5, 0, 0.25, 0.25, 0.5])
        np.testing.assert_array_equal(arrays["log_probabilities"], expected)
    assert read_model("model.json").network.schema.names == ("a", "b")


def test_limits():
    text = " ".join(SECTIONS["Large tables"].text.split())
    assert f"more than {model_file.INLINE_CELLS:,} entries" in text
    text = " ".join(SECTIONS["What is refused"].text.split())
    assert f"more than {MAX_CELLS // 10**6} million entries" in text
    assert MAX_CELLS % 10**6 == 0
    assert f"larger than {model_file.MAX_JSON_BYTES / 2**20:g} MiB" in text
    assert f"({model_file.MAX_NPZ_BYTES / 2**30:g} GiB for the npz file)" in text
    (tolerance,) = re.findall(r"sum to one \(within (\S+)\)", text)
    assert float(tolerance) == SUM_TOLERANCE


def test_the_classifier_entry(document):
    text = SECTIONS["The classifier entry"].text
    entry = document["classifier"]
    for name in (*entry, entry["class"]):
        assert f"`{name}`" in text
    assert set(entry["arguments"]["structure"]) == {"part", "arguments"}
    for absent in ("n_jobs", "random_state"):
        assert f"`{absent}`" in text
        assert absent not in entry["arguments"]
