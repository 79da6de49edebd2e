import json

import pytest

from lab.runner import cache as module
from lab.runner.cache import CellCache, Record, default_folder
from lab.runner.cell import Cell
from lab.runner.versions import code_version
from tanager.errors import InputError

CELL = Cell("m", {"data": "sklearn/iris", "seed": 1})


def record(code=None, **numbers):
    return Record(numbers or {"a": 0.5}, None, 1.0, code or code_version())


def test_what_is_put_is_found_again(tmp_path):
    cache = CellCache(tmp_path / "new")
    assert cache.get(CELL) is None
    cache.put(CELL, record(a=0.25, b=[1.0, 2.0]))
    found = CellCache(tmp_path / "new").get(CELL)
    assert found == record(a=0.25, b=[1.0, 2.0])
    assert cache.get(Cell("m", {"data": "sklearn/iris", "seed": 2})) is None


def test_the_file_says_where_its_numbers_are_from(tmp_path):
    CellCache(tmp_path).put(CELL, record())
    (file,) = tmp_path.rglob("*.json")
    content = json.loads(file.read_text())
    assert content["measurement"] == "m"
    assert content["parameters"] == {"data": "sklearn/iris", "seed": 1}
    assert content["code"] == code_version()
    assert content["data"] == {"sklearn/iris": "sklearn/iris of sklearn"}


def test_numbers_of_other_code_are_taken_only_if_asked_for(tmp_path):
    CellCache(tmp_path).put(CELL, record("0.0-other"))
    assert CellCache(tmp_path).get(CELL) is None
    assert CellCache(tmp_path, any_code=True).get(CELL) == record("0.0-other")


def test_numbers_of_other_data_are_not_taken(tmp_path, monkeypatch):
    CellCache(tmp_path).put(CELL, record())
    monkeypatch.setattr(module, "data_version", lambda name: "another sum")
    assert CellCache(tmp_path).get(CELL) is None


def test_errors_are_kept_but_not_taken_from_other_code(tmp_path):
    cache = CellCache(tmp_path, any_code=True)
    cache.put(CELL, Record(None, "no memory", 1.0, "0.0-other"))
    assert cache.get(CELL) is None
    cache.put(CELL, Record(None, "no memory", 1.0, code_version()))
    assert cache.get(CELL).error == "no memory"


@pytest.mark.parametrize("content", ["", "{", '{"code": "x"}', "[]"])
def test_a_damaged_file_is_as_none(tmp_path, content):
    cache = CellCache(tmp_path)
    cache.put(CELL, record())
    (file,) = tmp_path.rglob("*.json")
    file.write_text(content)
    assert cache.get(CELL) is None


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"Cannot make the folder .*--cache"):
        CellCache(tmp_path / "file" / "cells").check()


def test_the_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("TANAGER_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("TANAGER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert default_folder() == tmp_path / "x" / "tanager" / "cells"


def test_the_versions_that_measured_are_told(tmp_path):
    cache = CellCache(tmp_path, any_code=True)
    other = Cell(CELL.measurement, {**CELL.parameters, "repeat": 17})
    cache.put(CELL, record("0.0-other"))
    cache.put(other, record("0.0-more"))
    assert cache.codes([CELL, other, CELL]) == ["0.0-more", "0.0-other"]
    assert CellCache(tmp_path).codes([CELL]) == []
