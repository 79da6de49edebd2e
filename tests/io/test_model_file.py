"""Round trips of model files."""

import json
import os
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanager.core import (
    FamilyLayout,
    InputError,
    Parameters,
    Schema,
    Structure,
    Variable,
)
from tanager.io import model_file, read_model, write_model
from tanager.network import Network

ODD_NAMES = ['a "quoted" name', "größe 🐦", "new\nline", "back\\slash", "\ud800", " "]


def random_network(seed, n_variables=5, max_states=4, target=True):
    """A network with states of all types, a bin, zeros and random parents."""
    random = np.random.default_rng(seed)
    variables = []
    for v in range(n_variables):
        n = int(random.integers(1, max_states + 1))
        pools = [
            [f"s{i}" for i in range(n)],
            list(range(n)),
            [i + 0.5 for i in range(n)],
            [False, True][:n] + [f"s{i}" for i in range(n - 2)],
            [10**20 + i for i in range(n)],
        ]
        name = f"{ODD_NAMES[v % len(ODD_NAMES)]}{v}"
        if v % 3 == 0:
            variables.append(Variable.binned(name, np.sort(random.normal(size=n - 1))))
        else:
            variables.append(Variable(name, tuple(pools[v % 5]), ordered=bool(v % 2)))
    parents = tuple(
        tuple(random.permutation(v)[: random.integers(0, min(v, 3) + 1)].tolist())
        for v in range(n_variables)
    )
    schema = Schema(tuple(variables), n_variables - 1 if target else None)
    structure = Structure(parents, schema.target)
    layout = FamilyLayout.of_structure(schema, structure)
    log_theta = np.empty(layout.n_cells)
    for index in range(layout.n_tables):
        axis = layout.owner_axis(index)
        table = random.random(layout.shapes[index]) ** 3
        table[random.random(table.shape) < 0.2] = 0.0
        table += (table.sum(axis=axis, keepdims=True) == 0).astype(float)
        table /= table.sum(axis=axis, keepdims=True)
        with np.errstate(divide="ignore"):
            layout.table(log_theta, index)[...] = np.log(table)
    return Network(schema, structure, Parameters(layout, log_theta))


def assert_same(network, again):
    assert again.schema == network.schema
    for one, two in zip(network.schema, again.schema, strict=True):
        assert [type(s) for s in one.states] == [type(s) for s in two.states]
    assert again.structure == network.structure
    expected = network.parameters.log_theta
    assert again.parameters.log_theta.tobytes() == expected.tobytes()


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), n_variables=st.integers(1, 7), target=st.booleans()
)
def test_a_round_trip_is_exact(tmp_path_factory, seed, n_variables, target):
    network = random_network(seed, n_variables, target=target)
    path = tmp_path_factory.mktemp("model") / "model.json"
    write_model(path, network)
    assert_same(network, read_model(path).network)


@pytest.mark.parametrize("seed", range(5))
def test_tables_in_an_npz_are_exact_too(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 3)
    network = random_network(seed, 6)
    write_model(tmp_path / "model.json", network, {"k": 1})
    assert sorted(os.listdir(tmp_path)) == ["model.json", "model.npz"]
    found = read_model(tmp_path / "model.json")
    assert_same(network, found.network)
    assert found.classifier == {"k": 1}


def test_a_large_network_goes_to_an_npz_without_being_asked(tmp_path):
    states = list(range(500))
    uniform = np.full((500, 500), 1 / 500)
    network = Network.build(
        {"a": states, "b": states}, {"a": uniform[0], "b": (["a"], uniform)}
    )
    write_model(tmp_path / "big.json", network)
    with np.load(tmp_path / "big.npz", allow_pickle=False) as arrays:
        assert arrays["log_probabilities"].shape == (250_500,)
    assert os.path.getsize(tmp_path / "big.json") < 20_000
    assert_same(network, read_model(tmp_path / "big.json").network)


def test_the_file_is_readable_and_diffs_by_row(tmp_path):
    network = Network.build(
        {"rain": ["no", "yes"], "wet": [0, 1]},
        {"rain": [0.5, 0.5], "wet": (["rain"], [[1, 0], [0.5, 0.5]])},
        target="rain",
    )
    path = tmp_path / "model.json"
    write_model(path, network, {"name": "TAN", "nothing": {}, "none": []})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["{", '  "format": "tanager-model",']
    assert '      "states": ["no", "yes"],' in lines
    assert "        [0.0, null]," in lines
    assert "        [-0.6931471805599453, -0.6931471805599453]" in lines
    document = json.loads(path.read_text(encoding="utf-8"))
    assert list(document) == [
        "format",
        "schema_version",
        "written_by",
        "target",
        "variables",
        "tables",
        "classifier",
    ]
    assert document["schema_version"] == 1
    assert document["written_by"].startswith("tanager ")
    assert document["target"] == "rain"
    assert document["classifier"] == {"name": "TAN", "nothing": {}, "none": []}


def test_the_rows_follow_the_order_of_the_parents(tmp_path):
    # Three parents with 2, 3 and 2 states; the last parent runs fastest.
    values = np.random.default_rng(0).dirichlet([1, 1], (2, 3, 2))
    network = Network.build(
        {"c": [0, 1], "p": [0, 1, 2], "q": [0, 1], "x": [0, 1]},
        {
            "c": [0.5, 0.5],
            "p": [0.2, 0.3, 0.5],
            "q": [0.5, 0.5],
            "x": (["c", "p", "q"], values),
        },
        target="c",
    )
    write_model(tmp_path / "m.json", network)
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(
        np.exp(document["tables"]["x"]["log_probabilities"]),
        values.reshape(12, 2),
        rtol=1e-14,
    )


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        ({"x": float("nan")}, "cannot be kept in a JSON file"),
        ({"x": float("inf")}, "cannot be kept in a JSON file"),
        ({"x": {1, 2}}, "cannot be kept in a JSON file"),
        ({1: "x"}, "Keys in a JSON file must be strings"),
    ],
)
def test_what_has_no_json_form_is_refused_before_writing(tmp_path, classifier, message):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(InputError, match=message):
        write_model(path, random_network(0), classifier)
    assert path.read_text() == "old"


def test_an_infinite_state_is_refused(tmp_path):
    network = Network.build({"a": [1.0, float("inf")]}, {"a": [0.5, 0.5]})
    with pytest.raises(InputError, match="cannot be kept"):
        write_model(tmp_path / "model.json", network)


def test_a_network_with_nan_is_not_written(tmp_path):
    network = random_network(1)
    broken = np.full(network.parameters.layout.n_cells, np.nan)
    parameters = Parameters(network.parameters.layout, broken)
    with pytest.raises(InputError, match="NaN, so it is not written"):
        write_model(
            tmp_path / "m.json", Network(network.schema, network.structure, parameters)
        )


def test_a_failed_second_save_leaves_the_first_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 3)
    first = random_network(3)
    path = tmp_path / "model.json"
    write_model(path, first)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left"):
            write_model(path, random_network(4))
    assert sorted(os.listdir(tmp_path)) == ["model.json", "model.npz"]
    assert_same(first, read_model(path).network)


def test_an_npz_of_someone_else_is_not_overwritten(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 3)
    np.savez(tmp_path / "data.npz", x=np.arange(3))
    with pytest.raises(InputError, match="holds something else; choose another name"):
        write_model(tmp_path / "data.json", random_network(0))
    assert os.listdir(tmp_path) == ["data.npz"]
    (tmp_path / "text.npz").write_text("no zip")
    with pytest.raises(InputError, match="holds something else"):
        write_model(tmp_path / "text.json", random_network(0))
    with pytest.raises(InputError, match="a model is a JSON file"):
        write_model(tmp_path / "model.npz", random_network(0))


def test_both_files_can_be_moved_together(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 3)
    network = random_network(5)
    write_model(tmp_path / "model.json", network)
    (tmp_path / "other").mkdir()
    for name in ("model.json", "model.npz"):
        (tmp_path / name).rename(tmp_path / "other" / name)
    assert_same(network, read_model(tmp_path / "other" / "model.json").network)


def test_the_npz_is_a_plain_zip_of_one_array(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "INLINE_CELLS", 3)
    write_model(tmp_path / "model.json", random_network(6))
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        assert archive.namelist() == ["log_probabilities.npy"]
