"""What docs/model-files.md says about the layout is what is written and read."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tanager import BayesNetClassifier, FileFormatError, TableEncoder, load, save
from tanager.io import (
    bif_reader,
    bif_writer,
    model_file,
    read_model,
    write_ensemble,
    write_model,
    xmlbif_reader,
)
from tanager.io.network_assembly import EXACT, ROUNDED
from tanager.io.network_formats import NETWORK_FORMATS
from tanager.model.layout import MAX_CELLS, MAX_SUMMED_CELLS
from tanager.network import Network
from tanager.network.construction import SUM_TOLERANCE
from tests.docs.pages import read_page
from tests.io.network_texts import GOOD

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
    fields = re.findall(
        r"(?m)^\| `(\w+)` \|", SECTIONS["JSON format: the document"].text
    )
    assert list(packed) == fields
    fields.remove("tables_file")
    assert list(document) == fields
    assert (
        f'| `format` | `"{document["format"]}"` |'
        in SECTIONS["JSON format: the document"].text
    )
    version = f"| `schema_version` | `{document['schema_version']}`, "
    assert version in SECTIONS["JSON format: the document"].text


def test_the_fields_of_variables_and_tables(document, packed):
    text = SECTIONS["JSON format: the document"].text
    (variable,) = re.findall(r"A \*\*variable\*\* has ([^.]*)", text)
    (table,) = re.findall(r"A \*\*table\*\* has ([^:]*)", text)
    for entry in document["variables"]:
        assert list(entry) == re.findall(r"`(\w+)`", variable)
    for entry in document["tables"].values():
        assert list(entry) == re.findall(r"`(\w+)`", table)
    for entry in packed["tables"].values():
        assert list(entry) == ["parents"]


def test_the_example(folder, document):
    (block,) = SECTIONS["JSON format: the document"].blocks
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
    assert f"Here the rows are {order}." in SECTIONS["JSON format: the document"].text


def test_several_networks(folder, typed):
    section = SECTIONS["JSON format: several networks"]
    text = " ".join(section.text.split())
    assert typed("tanager fit iris --model NB+Ada -o boosted.json").exit_code == 0
    lines = (folder / "boosted.json").read_text("utf-8").splitlines()
    document = json.loads("\n".join(lines))
    version = document["schema_version"]
    assert f"has the `schema_version` {version}: in place of `tables` it has" in text
    fields = re.findall(
        r"(?m)^\| `(\w+)` \|", SECTIONS["JSON format: the document"].text
    )
    fields[fields.index("tables")] = "members"
    fields.remove("tables_file")
    assert list(document) == fields
    (member,) = re.findall(r"A \*\*member\*\* has ([^.]*)", text)
    for entry in document["members"]:
        assert list(entry) == re.findall(r"`(\w+)`", member)
    (block,) = section.blocks
    shapes = {re.sub(r"\d\.\d+", "#", line).strip() for line in lines}
    for line in block.splitlines():
        if line.strip() != "...":
            assert re.sub(r"\d\.\d+", "#", line).strip() in shapes
    (weight,) = re.findall(r'"weight": ([\d.]+)', block)
    assert float(weight) == pytest.approx(document["members"][0]["weight"], rel=1e-12)
    _check_the_formula(document)


def _check_the_formula(document):
    """Probabilities from the members by what the page says of them."""
    model = load("boosted.json")
    rows = load_iris().data
    n_classes = len(model.classes_)
    f = np.zeros((len(rows), n_classes))
    weights = [member["weight"] for member in document["members"]]
    for weight, network in zip(weights, model.networks_, strict=True):
        best = BayesNetClassifier.from_network(network)
        best = best.predict_joint_log_proba(
            dict(zip(network.schema.names[:-1], rows.T, strict=True))
        ).argmax(axis=1)
        mine = best[:, None] == np.arange(n_classes)
        f += np.where(mine, weight, -weight / (n_classes - 1)) / sum(weights)
    expected = np.exp(f / (n_classes - 1))
    expected /= expected.sum(axis=1, keepdims=True)
    found = model.predict_proba(dict(zip(model.feature_names_in_, rows.T, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_families_that_are_sums(folder):
    section = SECTIONS["JSON format: log-linear CPTs"]
    text = " ".join(section.text.split())
    golden = Path(__file__).parents[1] / "io" / "golden" / "log-linear.json"
    network = read_model(golden).network
    write_model("model.json", network)
    lines = (folder / "model.json").read_text("utf-8").splitlines()
    document = json.loads("\n".join(lines))
    assert f"has the `schema_version` {document['schema_version']}, and 4 with" in text
    write_ensemble("ensemble.json", [network] * 2, [1, 2])
    assert read_model("ensemble.json").version == 4
    (part,) = re.findall(r"A \*\*factor\*\* has (.*?): natural", text)
    assert list(document["tables"]["x"]) == ["parents", "log_tables"]
    for entry in document["tables"]["x"]["log_tables"]:
        assert list(entry) == re.findall(r"`(\w+)`", part)
    (block,) = section.blocks
    shown = [line.strip() for line in block.splitlines() if line.strip() != "..."]
    assert all(line in {found.strip() for found in lines} for line in shown)


def test_tables_beside(folder, packed):
    (block,) = SECTIONS["JSON format: large CPTs"].blocks
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


@pytest.mark.filterwarnings("ignore:.*single state:tanager.DataWarning")
def test_bif_and_xmlbif(folder, document, typed):
    section = SECTIONS["BIF and XMLBIF"]
    text = " ".join(section.text.split())
    for name, block in zip(("bif", "xmlbif"), section.blocks, strict=False):
        assert typed(f"tanager convert model.json model.{name}").exit_code == 0
        assert block in (folder / f"model.{name}").read_text("utf-8")
    properties = re.findall(r"(?m)^\| `(\w+)` \|", section.text)
    numbers = Network.build({"a b": [1, 2]}, {"a b": [0.5, 0.5]}, target="a b")
    save(numbers, "numbers.bif")
    days = np.array(["2024-01-01", "2024-02-01", "2024-03-01"], dtype="M8[D]")
    X = {"sky": ["blue", None, "grey"], "day": days}
    encoder = TableEncoder(missing="state")
    BayesNetClassifier(encoder, "nb", "fe").fit(X, [0, 1, 0]).save("missing.bif")
    written = "".join(
        (folder / f"{name}.bif").read_text("utf-8")
        for name in ("model", "numbers", "missing")
    )
    assert set(re.findall(r"tanager_\w+", written)) == set(properties)
    assert f"off from one by at most {ROUNDED:g} is divided" in text
    assert f"off by at most {re.sub('e-0', 'e-', f'{EXACT:g}')} is taken" in text
    assert f"more than {bif_writer.MAX_CELLS // 10**6} million probabilities" in text
    assert f"larger than {bif_reader.MAX_BYTES / 2**20:g} MiB" in text
    assert xmlbif_reader.MAX_BYTES == bif_reader.MAX_BYTES
    (message,) = re.findall("FileFormatError: (.*)", section.blocks[2])
    (folder / "x.bif").write_text(GOOD.replace("0.4, 0.5", "0.4, 0.6"))
    with pytest.raises(FileFormatError) as error:
        load("x.bif")
    assert str(error.value) == message


def test_suffixes():
    (title,) = [section for section in SECTIONS if section == "Model files"]
    rows = re.findall(r"(?m)^\| (`\..*?) \| (.*?) \|", SECTIONS[title].text)
    found = {
        suffix: kind for names, kind in rows for suffix in re.findall(r"`(.*?)`", names)
    }
    assert set(found) == {*NETWORK_FORMATS, ".json"}
    for suffix, known in NETWORK_FORMATS.items():
        assert f"[{known.name}]" in found[suffix]


def test_limits():
    text = " ".join(SECTIONS["JSON format: large CPTs"].text.split())
    assert f"more than {model_file.INLINE_CELLS:,} entries" in text
    text = " ".join(SECTIONS["JSON format: what is rejected"].text.split())
    assert f"more than {MAX_CELLS // 10**6} million entries" in text
    assert MAX_CELLS % 10**6 == MAX_SUMMED_CELLS % 10**6 == 0
    assert f"more than {MAX_SUMMED_CELLS // 10**6} million configurations" in text
    assert f"larger than {model_file.MAX_JSON_BYTES / 2**20:g} MiB" in text
    assert f"({model_file.MAX_NPZ_BYTES / 2**30:g} GiB for the npz file)" in text
    (tolerance,) = re.findall(r"sum to one \(within (\S+)\)", text)
    assert float(tolerance) == SUM_TOLERANCE


def test_the_classifier_entry(document):
    text = SECTIONS["JSON format: the classifier entry"].text
    entry = document["classifier"]
    for name in (*entry, entry["class"]):
        assert f"`{name}`" in text
    assert "`BoostedClassifier`" in text
    assert set(entry["arguments"]["structure"]) == {"part", "arguments"}
    for absent in ("n_jobs", "random_state"):
        assert f"`{absent}`" in text
        assert absent not in entry["arguments"]
