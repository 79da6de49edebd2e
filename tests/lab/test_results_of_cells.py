import pytest

from lab.runner.cell import Cell
from lab.runner.results import Results, read, write
from tanager.errors import InputError

CELLS = [
    Cell("m", {"data": d, "method": m, "seed": s})
    for d in ("a", "b")
    for m in ("x", "y")
    for s in (1, None)
]
NUMBERS = {
    cell: {"score": [float(k), k + 0.5], "seconds": k / 3}
    for k, cell in enumerate(CELLS)
}


def test_cells_are_chosen_by_parameters():
    results = Results.of(CELLS, NUMBERS)
    assert len(results) == 8
    some = results.where(data="b", seed=None)
    assert [cell.parameters["method"] for cell in some.cells] == ["x", "y"]
    assert some.values("score").tolist() == [5.0, 5.5, 7.0, 7.5]
    assert some.mean("score") == 6.25
    assert results.levels("method") == ["x", "y"]
    assert results.levels("other") == []
    assert results.where(other=None).mean("score") is None


def test_only_known_cells_of_the_plan_are_there_in_its_order():
    known = {CELLS[3]: {"a": 1.0}, CELLS[1]: {"a": 2.0}, Cell("m", {}): {"a": 3.0}}
    assert Results.of(CELLS, known).values("a").tolist() == [2.0, 1.0]


def test_a_file_holds_everything(tmp_path):
    path = tmp_path / "cells.csv"
    results = Results.of(CELLS, NUMBERS)
    write(path, results)
    again = read(path)
    assert again.cells == results.cells
    assert again.values("score").tolist() == results.values("score").tolist()
    assert again.values("seconds") == pytest.approx(results.values("seconds"), rel=1e-5)
    assert path.read_text().startswith("# tanager ")


def test_cells_of_different_kinds_share_a_file(tmp_path):
    cells = [Cell("m", {"a": 1}), Cell("n", {"b": [1, "x"]})]
    write(tmp_path / "c.csv", Results(tuple(cells), ({"u": 1.0}, {"v": [1.0, 2.0]})))
    again = read(tmp_path / "c.csv")
    assert list(again.cells) == cells
    assert list(again.numbers) == [{"u": 1.0}, {"v": [1.0, 2.0]}]


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "run `python -m lab reproduce`"), ("a,b\n1,2\n", "not a file of cells")],
)
def test_files_that_are_not_there_or_not_of_cells(tmp_path, content, says):
    path = tmp_path / "cells.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=says):
        read(path)
