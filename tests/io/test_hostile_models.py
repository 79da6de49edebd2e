"""Model files that are damaged, inconsistent or hostile."""

import copy
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tanager.errors import FileFormatError, InputError
from tanager.io import model_file, read_model, write_ensemble, write_model
from tanager.io.stored_cpts import pack_arrays
from tanager.model import Parameters
from tanager.network import Network

GOLDEN = Path(__file__).parent / "golden"
LOG_HALF = -0.6931471805599453


@pytest.fixture
def document():
    return {
        "format": "tanager-model",
        "schema_version": 1,
        "written_by": "test",
        "target": "b",
        "variables": [
            {"name": "a", "states": ["x", "y"], "ordered": True, "cuts": [0.5]},
            {"name": "b", "states": [0, 1], "ordered": False, "cuts": None},
        ],
        "tables": {
            "a": {"parents": ["b"], "log_probabilities": [[LOG_HALF] * 2] * 2},
            "b": {"parents": [], "log_probabilities": [[None, 0]]},
        },
        "classifier": None,
    }


def refused(tmp_path, content):
    """The message with which the file is refused, checked to be one sentence."""
    path = tmp_path / "model.json"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FileFormatError) as caught:
        read_model(path)
    message = str(caught.value)
    assert message.startswith(("The model file", "The tables file"))
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_the_document_itself_is_fine(tmp_path, document):
    (tmp_path / "model.json").write_text(json.dumps(document))
    assert read_model(tmp_path / "model.json").network.posterior({"a": 3})[1] == 1.0
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(document).encode())
    assert read_model(tmp_path / "bom.json").version == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"hello", "is not JSON: Expecting value in line 1, column 1"),
        (b"\xff\xfe\x00", "not UTF-8 text: byte 0xff at offset 0"),
        (b"\x80\x04\x95pickle", "not UTF-8 text"),
        (b"[1, 2]", "not a tanager model"),
        (b"3", "not a tanager model"),
        (b'{"a": 1}', 'not a tanager model: it has no "format": "tanager-model"'),
        (b'{"format": "tanager-model"}', "schema_version None; expected a whole"),
        (b'{"a": NaN}', "holds NaN, which is not a JSON number"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": 1e999}', "holds the number 1e999, which is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "holds a number that is too long"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "has the key 'c' twice"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
    ],
)
def test_what_is_not_a_model(tmp_path, content, message):
    assert message in refused(tmp_path, content)


def test_every_truncation_is_refused(tmp_path, document):
    whole = json.dumps(document)
    for length in range(1, len(whole)):
        message = refused(tmp_path, whole[:length])
        assert "cut short" in message or "is not JSON" in message


def test_a_truncated_file_is_called_so(tmp_path, document):
    whole = json.dumps(document, indent=1)
    assert "cut short: it ends in line 2" in refused(tmp_path, whole[:10])
    assert "cut short" in refused(tmp_path, whole[:-2])


def test_a_newer_version_asks_for_an_upgrade(tmp_path, document):
    document.update(schema_version=99, written_by="tanager 9.0", new_field=1)
    message = refused(tmp_path, document)
    assert "schema_version 99 and was written by 'tanager 9.0'" in message
    assert "pip install --upgrade tanager" in message


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_versions_that_are_none(tmp_path, document, version):
    document["schema_version"] = version
    assert "expected a whole number" in refused(tmp_path, document)


FIELDS = ["written_by", "target", "variables", "tables", "classifier"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field(tmp_path, document, field):
    del document[field]
    assert f"lacks the field {field!r}" in refused(tmp_path, document)


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_of_the_wrong_type(tmp_path, document, field):
    document[field] = 3.5
    assert f"has a number in the field {field!r}" in refused(tmp_path, document)


def set_at(document, path, value):
    *way, last = path
    for key in way:
        document = document[key]
    document[last] = value


FIRST, SECOND = ("variables", 0), ("variables", 1)
TABLE_A, TABLE_B = ("tables", "a"), ("tables", "b")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("extra",), 1, "unknown field 'extra'"),
        (("variables",), [], "has no variables"),
        (FIRST, [], "variable number 1, has a list where an object should be"),
        ((*FIRST, "name"), 7, "has a whole number in the field 'name'"),
        ((*FIRST, "name"), "", "non-empty string"),
        ((*FIRST, "name"), "b", "Two variables are called 'b'"),
        ((*FIRST, "name"), "c", "has a CPT of 'a', which is no variable"),
        ((*FIRST, "ordered"), 1, "'ordered'; expected true or false"),
        ((*FIRST, "extra"), 1, "unknown field 'extra'"),
        ((*FIRST, "states"), [], "has no states"),
        ((*FIRST, "states"), ["x", None], "a state that is not a string"),
        ((*FIRST, "states"), ["x", ["y"]], "a state that is not a string"),
        ((*FIRST, "states"), ["x", "x"], "lists a state twice"),
        ((*FIRST, "states"), ["x", "y", "z"], "expected 2 cuts"),
        ((*FIRST, "cuts"), [0.5, 1.0], "expected 1 cuts"),
        ((*FIRST, "cuts"), ["0.5"], "a cut that is not a number"),
        ((*FIRST, "cuts"), [True], "a cut that is not a number"),
        ((*FIRST, "cuts"), [10**400], "a cut that is too large"),
        (("target",), "c", "the target 'c', which is no variable"),
        (("tables", "c"), {"parents": []}, "a CPT of 'c', which is no variable"),
        ((*TABLE_A, "parents"), ["c"], "the parent 'c', which is no variable"),
        ((*TABLE_A, "parents"), [1], "the parent 1, which is no variable"),
        ((*TABLE_A, "parents"), [["b"]], "which is no variable"),
        ((*TABLE_A, "parents"), ["b", "b"], "names a parent twice"),
        ((*TABLE_A, "parents"), ["a"], "form a cycle: 'a' -> 'a'"),
        ((*TABLE_B, "parents"), ["a"], "form a cycle: 'a' -> 'b' -> 'a'"),
        ((*TABLE_A, "parents"), [], "2 rows of 2 numbers; expected 1 rows of 2"),
        ((*TABLE_A, "extra"), 0, "unknown field 'extra'"),
        (TABLE_A, 3, "has a whole number where an object should be"),
        (TABLE_A, {"parents": ["b"]}, "lacks the field 'log_probabilities'"),
        ((*TABLE_B, "log_probabilities"), [0, 0], "are not a list of rows"),
        ((*TABLE_B, "log_probabilities"), [[0]], "1 rows of 1 numbers; expected 1"),
        ((*TABLE_B, "log_probabilities"), [[0, [0]]], "neither numbers nor null"),
        ((*TABLE_B, "log_probabilities"), [[0, "0"]], "neither numbers nor null"),
        ((*TABLE_B, "log_probabilities"), [[False, None]], "neither numbers nor null"),
        ((*TABLE_B, "log_probabilities"), [[0, 0]], "row 1 sums to 2"),
        ((*TABLE_B, "log_probabilities"), [[None, None]], "row 1 sums to 0"),
        ((*TABLE_B, "log_probabilities"), [[0.5, None]], "not the logarithm of a"),
        ((*TABLE_B, "log_probabilities"), [[1e300, None]], "not the logarithm of a"),
        ((*TABLE_B, "log_probabilities"), [[10**400, None]], "too large"),
        ((*TABLE_B, "log_probabilities"), [[-1e-5, None]], "row 1 sums to 0.99999"),
    ],
)
def test_inconsistent_documents(tmp_path, document, path, value, message):
    set_at(document, path, value)
    assert message in refused(tmp_path, document)


def test_a_missing_table(tmp_path, document):
    del document["tables"]["a"]
    assert "has no CPT of 'a'" in refused(tmp_path, document)


def test_rows_of_different_lengths(tmp_path, document):
    document["tables"]["a"]["log_probabilities"] = [[0, None], [0]]
    assert "2 rows of [1, 2] numbers" in refused(tmp_path, document)


def test_a_row_that_sums_to_one_but_for_rounding_is_kept_as_it_is(tmp_path, document):
    document["tables"]["b"]["log_probabilities"] = [[-1e-9, None]]
    (tmp_path / "m.json").write_text(json.dumps(document))
    network = read_model(tmp_path / "m.json").network
    assert -1e-9 in network.parameters.log_theta.tolist()


def many(n_variables):
    """A document whose tables are declared but not there: the last one has all."""
    names = [f"v{i}" for i in range(n_variables)]
    return {
        "format": "tanager-model",
        "schema_version": 1,
        "written_by": "test",
        "target": None,
        "variables": [
            {"name": name, "states": [0, 1], "ordered": False, "cuts": None}
            for name in names
        ],
        "tables": {
            name: {"parents": names[:-1] if name == names[-1] else []} for name in names
        },
        "tables_file": {"name": "model.npz", "sha256": ""},
        "classifier": None,
    }


@pytest.mark.parametrize("n_variables", [40, 20_000])
def test_enormous_tables_are_refused_before_anything_is_allocated(
    tmp_path, n_variables
):
    message = refused(tmp_path, many(n_variables))
    assert "describes tables of more than 50,000,000 cells" in message


def test_more_parents_than_an_array_has_axes(tmp_path, document):
    constant = [f"x{k}" for k in range(80)]
    document["variables"] += [
        {"name": name, "states": [0], "ordered": False, "cuts": None}
        for name in constant
    ]
    for name in constant:
        document["tables"][name] = {"parents": [], "log_probabilities": [[0]]}
    document["tables"]["a"]["parents"] += constant
    assert "has a variable with more than" in refused(tmp_path, document)


def test_files_beyond_the_limit_are_not_read(tmp_path, document, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_JSON_BYTES", 100)
    assert "is larger than 100 bytes" in refused(tmp_path, document)


def test_an_endless_device_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(model_file, "MAX_JSON_BYTES", 100)
    with pytest.raises(FileFormatError, match="is larger than 100 bytes"):
        read_model("/dev/zero")


def test_a_folder_and_no_file(tmp_path):
    with pytest.raises(FileFormatError, match="is a folder; give the name of a file"):
        read_model(tmp_path)
    with pytest.raises(InputError, match="does not exist; check the name"):
        read_model(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_model("a\0b")


# Arrays in a file of their own


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A folder with a model and its npz, and the document."""
    monkeypatch.setattr(model_file, "INLINE_CELLS", 1)
    network = Network.build({"a": [0, 1, 2]}, {"a": [0.5, 0.25, 0.25]}, target="a")
    write_model(tmp_path / "model.json", network)
    return json.loads((tmp_path / "model.json").read_text())


def test_a_missing_or_altered_npz(tmp_path, packed):
    npz = tmp_path / packed["tables_file"]["name"]
    content = bytearray(npz.read_bytes())
    content[len(content) // 2] ^= 1
    npz.write_bytes(content)
    assert "is not the one it was saved with" in refused(tmp_path, packed)
    npz.unlink()
    assert f"'{npz.name}', which is not in the same folder" in refused(tmp_path, packed)


@pytest.mark.parametrize(
    "name", ["../model.npz", "/etc/passwd", "", ".", "..", "a\\b", "C:x", "x\0y"]
)
def test_only_files_in_the_same_folder_are_opened(tmp_path, packed, name):
    packed["tables_file"]["name"] = name
    assert "expected a name without a folder" in refused(tmp_path, packed)


def test_any_plain_name_is_read(tmp_path, packed):
    (tmp_path / packed["tables_file"]["name"]).rename(tmp_path / "model.npz")
    packed["tables_file"]["name"] = "model.npz"
    (tmp_path / "model.json").write_text(json.dumps(packed))
    assert read_model(tmp_path / "model.json").network.posterior({})[0] == 0.5


def test_tables_in_two_places(tmp_path, packed):
    packed["tables"]["a"]["log_probabilities"] = [[0, None, None]]
    assert "both inside and in an npz file" in refused(tmp_path, packed)


def test_fields_of_the_tables_file(tmp_path, packed):
    damaged = copy.deepcopy(packed)
    del damaged["tables_file"]["sha256"]
    assert "lacks the field 'sha256'" in refused(tmp_path, damaged)
    packed["tables_file"]["sha256"] = None
    assert "has null in the field 'sha256'" in refused(tmp_path, packed)


def replace_npz(tmp_path, packed, content):
    """Another npz with the checksum that belongs to it, as an attacker would."""
    (tmp_path / packed["tables_file"]["name"]).write_bytes(content)
    packed["tables_file"]["sha256"] = hashlib.sha256(content).hexdigest()
    return refused(tmp_path, packed)


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def zipped(content, name="log_probabilities.npy", how=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def header(text):
    padded = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


def without_bytes(value):
    """An id that does not change with the time inside zip files."""
    return "bytes" if isinstance(value, bytes) else None


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip", "is damaged"),
        (zipped(b"no array"), "is damaged"),
        (zipped(b""), "is damaged"),
        (zipped(header(HUGE)), "'shape': (1000000000000,)"),
        (zipped(header("__import__('os').abort()")), "with the header __import__"),
        (zipped(header(HUGE).replace(b"\x01\x00", b"\x03\x00", 1)), "of version 1"),
        (zipped(b"0" * 10_000_000), "is damaged"),
        (zipped(b"", name="../x.npy"), "does not hold exactly"),
        (npz(other=np.zeros(3)), "does not hold exactly"),
        (zipped(b"0" * 1000, how=zipfile.ZIP_DEFLATED), "is compressed; expected"),
        (zipped(b"0" * 1000, how=zipfile.ZIP_LZMA), "is compressed; expected"),
        (zipped(header("(((")), "with the header (((; expected 3 numbers"),
        (zipped(header("{1: 2}")), "with the header {1: 2}; expected 3 numbers"),
        (npz(log_probabilities=np.zeros(2)), "'shape': (2,), }; expected 3 numbers"),
        (npz(log_probabilities=np.zeros((3, 1))), "'shape': (3, 1)"),
        (npz(log_probabilities=np.zeros(3, np.float32)), "'descr': '<f4'"),
        (npz(log_probabilities=np.array([None] * 3)), "'descr': '|O'"),
        (npz(log_probabilities=np.zeros(3)), "row 1 sums to 3"),
        (npz(log_probabilities=np.full(3, np.nan)), "not the logarithm"),
        (npz(log_probabilities=np.full(3, np.inf)), "not the logarithm"),
    ],
    ids=without_bytes,
)
def test_hostile_npz_files(tmp_path, packed, content, message):
    assert message in replace_npz(tmp_path, packed, content)


def test_an_npz_beyond_the_limit(tmp_path, packed, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_NPZ_BYTES", 10)
    assert "larger than 10 bytes" in refused(tmp_path, packed)


@pytest.fixture
def ensemble(document):
    """The document of two networks."""
    tables = document.pop("tables")
    document["schema_version"] = 2
    document["members"] = [
        {"weight": 1, "tables": tables},
        {"weight": 0.5, "tables": copy.deepcopy(tables)},
    ]
    return document


def test_the_ensemble_itself_is_fine(tmp_path, ensemble):
    (tmp_path / "model.json").write_text(json.dumps(ensemble))
    found = read_model(tmp_path / "model.json")
    assert found.version == 2
    assert found.weights == (1.0, 0.5)
    assert [network.posterior({"a": 3})[1] for network in found.networks] == [1.0, 1.0]
    with pytest.raises(InputError, match=r"ensemble of 2 network\(s\)"):
        found.network  # noqa: B018


MEMBER = ("members", 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("members",), [], "has no members"),
        (("members",), {}, "has an object in the field 'members'; expected a list"),
        (("tables",), {}, "has the unknown field 'tables'"),
        (("schema_version",), 1, "lacks the field 'tables'"),
        (MEMBER, 3, "member number 2, has a whole number where an object should be"),
        (MEMBER, {"tables": {}}, "member number 2, lacks the field 'weight'"),
        ((*MEMBER, "weight"), None, "has null in the field 'weight'"),
        ((*MEMBER, "weight"), True, "has true or false in the field 'weight'"),
        ((*MEMBER, "weight"), 0, "member number 2, has the weight 0; expected"),
        ((*MEMBER, "weight"), -0.5, "has the weight -0.5"),
        ((*MEMBER, "weight"), 10**400, "has a weight that is too large"),
        ((*MEMBER, "more"), 1, "has the unknown field 'more'"),
        ((*MEMBER, "tables"), {}, "member number 2, has no CPT of 'a'"),
        (
            (*MEMBER, "tables", "b", "log_probabilities"),
            [[0, 0]],
            "member number 2, has a CPT of 'b' whose row 1 sums to 2",
        ),
        ((*MEMBER, "tables", "b", "parents"), ["a"], "form a cycle"),
        (
            (*MEMBER, "tables", "b"),
            {"parents": []},
            "CPT of 'b', lacks the field 'log_probabilities'",
        ),
    ],
)
def test_inconsistent_ensembles(tmp_path, ensemble, path, value, message):
    set_at(ensemble, path, value)
    assert message in refused(tmp_path, ensemble)


def test_weights_with_an_infinite_sum(tmp_path, ensemble):
    for member in ensemble["members"]:
        member["weight"] = 1e308
    assert "weights that are too large" in refused(tmp_path, ensemble)


def test_members_that_are_too_large_together(tmp_path, ensemble, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_CELLS", 11)  # each has 6
    assert "more than 11 cells" in refused(tmp_path, ensemble)


def test_an_npz_that_lacks_a_member(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 0)
    network = Network.build({"a": [0, 1, 2]}, {"a": [0.5, 0.25, 0.25]}, target="a")
    write_ensemble(tmp_path / "model.json", [network] * 3, [1, 2, 3])
    document = json.loads((tmp_path / "model.json").read_text())
    del document["members"][1]
    assert "'shape': (9,)" in refused(tmp_path, document)


# Families that are sums of tables


@pytest.fixture
def sums():
    """The golden document, whose variable x is a sum of three tables."""
    return json.loads((GOLDEN / "log-linear.json").read_text(encoding="utf-8"))


PARTS = ("tables", "x", "log_tables")
HALVES = {"variables": ["x"], "values": [[LOG_HALF] * 2]}
LARGE = {"variables": ["x"], "values": [[1e308] * 2]}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema_version",), 1, "CPT of 'x', has the unknown field 'log_tables'"),
        (("schema_version",), 2, "lacks the field 'members'"),
        (("schema_version",), 4, "lacks the field 'members'"),
        (PARTS, [], "CPT of 'x', has no part with 'x' itself"),
        (PARTS, {}, "has an object in the field 'log_tables'; expected a list"),
        (
            ("tables", "x", "log_probabilities"),
            [[LOG_HALF] * 2] * 8,
            "has both 'log_probabilities' and 'log_tables'",
        ),
        ((*PARTS, 1), 3, "part number 2, has a whole number where an object should be"),
        ((*PARTS, 1), {"values": []}, "part number 2, lacks the field 'variables'"),
        ((*PARTS, 1, "more"), 1, "has the unknown field 'more'"),
        ((*PARTS, 1, "variables"), [], "part number 2, is over []; expected some of"),
        (
            (*PARTS, 1, "variables"),
            ["x", "b"],
            "['class', 'a', 'b', 'x'] in this order",
        ),
        ((*PARTS, 1, "variables"), ["b", "b", "x"], "is over ['b', 'b', 'x']"),
        ((*PARTS, 1, "variables"), ["b", "y"], "is over ['b', 'y']"),
        ((*PARTS, 1, "variables"), ["b", 1, []], "is over ['b', 1, []]"),
        (PARTS, [{"variables": ["a"], "values": [[0, 0]]}], "no part with 'x' itself"),
        ((*PARTS, 0), {"variables": ["a", "x"]}, "lacks the field 'values'"),
        ((*PARTS, 0, "values"), [[0, 0]], "1 rows of 2 numbers; expected 2 rows of 2"),
        ((*PARTS, 0, "values"), [0, 0], "whose values are not a list of rows"),
        ((*PARTS, 0, "values", 0, 1), "0", "neither numbers nor null"),
        ((*PARTS, 0, "values", 0, 1), 10**400, "with a number that is too large"),
        ((*PARTS, 0, "values", 0, 1), 0.7, "one configuration sum to exp("),
        ((*PARTS, 0, "values", 0), [None, None], "sum to exp(-inf) and not to 1"),
        ((*PARTS, 0, "values", 0), [1e308, 1e308], "and not to 1"),
        (PARTS, [LARGE, LARGE, LARGE], "sum to exp(inf) and not to 1"),
        (PARTS, [HALVES, HALVES], "sum to exp(-0.693147) and not to 1"),
    ],
)
def test_inconsistent_sums(tmp_path, sums, path, value, message):
    set_at(sums, path, value)
    assert message in refused(tmp_path, sums)


def test_one_table_may_be_written_as_a_sum(tmp_path, sums):
    sums["tables"]["x"]["log_tables"] = [HALVES]
    (tmp_path / "model.json").write_text(json.dumps(sums))
    network = read_model(tmp_path / "model.json").network
    assert network.posterior({"x": "low"}) == pytest.approx({"no": 0.4, "yes": 0.6})
    whole = {"variables": ["class", "a", "b", "x"], "values": [[LOG_HALF] * 2] * 8}
    sums["tables"]["x"]["log_tables"] = [whole]
    (tmp_path / "model.json").write_text(json.dumps(sums))
    network = read_model(tmp_path / "model.json").network
    assert network.parameters.layout.is_full(network.structure)
    whole["values"][0] = [0, 0]
    assert "whose row 1 sums to 2" in refused(tmp_path, sums)


@pytest.mark.parametrize("n_variables", [28, 40])
def test_sums_with_too_many_configurations(tmp_path, n_variables):
    document = many(n_variables)
    document["schema_version"] = 3
    *names, last = document["tables"]
    pairs = [{"variables": [name, last]} for name in names]
    document["tables"][last]["log_tables"] = pairs
    message = refused(tmp_path, document)
    assert "describes tables of more than 50,000,000 cells" in message


def test_sums_with_too_many_configurations_together(tmp_path, sums, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_SUMMED_CELLS", 15)  # there are 16
    message = "sums of tables with more than 15 configurations, which is not allowed"
    assert message in refused(tmp_path, sums)


def test_sums_in_an_npz_file(tmp_path, monkeypatch, sums):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(sums))
    network = read_model(path).network
    monkeypatch.setattr(model_file, "INLINE_CELLS", 0)
    write_model(path, network)
    packed = json.loads(path.read_text())
    packed["tables"]["x"]["log_tables"][2]["values"] = [[0, 0]] * 4
    assert "both inside and in an npz file" in refused(tmp_path, packed)
    log_theta = network.parameters.log_theta.copy()
    for value in (np.inf, np.nan, 5.0):
        log_theta[network.parameters.layout.offsets[3]] = value
        parameters = Parameters(network.parameters.layout, log_theta)
        arrays = pack_arrays([Network(network.schema, network.structure, parameters)])
        (tmp_path / "odd.npz").write_bytes(arrays)
        digest = hashlib.sha256(arrays).hexdigest()
        packed["tables_file"] = {"name": "odd.npz", "sha256": digest}
        packed["tables"]["x"]["log_tables"][2].pop("values", None)
        message = "sum to exp(" if value == 5.0 else "infinite or no number"
        assert message in refused(tmp_path, packed)
