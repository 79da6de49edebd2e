"""The numbers of the default model in the pages are those that were measured."""

import csv
import re

import pytest

from tests.docs.pages import DOCS

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="a source distribution has no pages"
)

ROWS = {
    '**`structure="tan-res"`**': "TAN-RES, smooth",
    '`structure="2-tree-res"`': "2-tree-RES, smooth",
    '`structure="nb"`': "NB, smooth",
    "`HistGradientBoostingClassifier`": "HistGradientBoosting",
    "`LogisticRegression`": "LogisticRegression",
    "`TAN-CMI-RCL` (MDL discretisation)": "TAN-CMI-RCL",
    "`TAN-CMI-ML` (frequencies)": "TAN-CMI-ML",
}
"""How rows of the page begin, and those of the measured table."""
COLUMNS = [0, 1, 2, 4, 5]
"""Positions of the numbers that the page shows."""


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def measured_rows(name):
    """The rows of the table of models in a section of the results."""
    text = (DOCS / "results.md").read_text("utf-8")
    _, _, section = text.partition(f"\n### tanager2026/{name}:")
    _, _, table = section.partition("\n| model |")
    return [cells(line) for line in table.partition("\n\n")[0].splitlines()[2:]]


def test_the_table():
    text = (DOCS / "default-model.md").read_text("utf-8")
    found = [cells(line) for line in text.splitlines() if line.startswith("| ")]
    found = {name: numbers for name, *numbers in found if name in ROWS}
    assert set(found) == set(ROWS)
    measured = measured_rows("test")
    for name, numbers in found.items():
        (row,) = [row[1:] for row in measured if row[0].startswith(ROWS[name])]
        for number, column in zip(numbers, COLUMNS, strict=True):
            decimals = len(number.partition(".")[2])
            assert number == f"{float(row[column]):.{decimals}f}", (name, column)


@pytest.mark.parametrize(
    ("name", "model", "numbers"),
    [
        ("tuning", "TAN-RES, smooth", "88.8 % and 0.271"),
        ("tuning", "HistGradientBoosting", "88.4 % and 0.494"),
        ("boosted", "HistGradientBoosting, tuned", "87.4 % and 0.479"),
        ("boosted", "TAN-RES, smooth", "89.2 % and 0.363"),
        ("readable", "ExplainableBoosting", "90.8 % and 0.272"),
        ("readable", "TAN-RES, smooth", "90.4 % and 0.256"),
    ],
)
def test_numbers_in_the_text(name, model, numbers):
    text = " ".join((DOCS / "default-model.md").read_text("utf-8").split())
    (row,) = [row for row in measured_rows(name) if row[0].startswith(model)]
    accuracy, loss = re.findall(r"[\d.]+", numbers)
    assert accuracy == f"{float(row[1]):.1f}"
    assert loss == row[2]
    assert numbers in text or f"{numbers} for" in text


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_what_the_first_pages_say_of_rivals(page):
    """It is what the scoreboard found, of all tables and of all rivals."""
    text = " ".join((DOCS.parent / page).read_text("utf-8").split())
    folder = DOCS.parent / "lab" / "results" / "scoreboard"
    with (folder / "pairs.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    found = {row[0]: (row[5], row[-1]) for row in rows}
    ahead, level = "**ahead**", "**not apart**"
    for rival in ("LightGBM", "XGBoost", "HistGradientBoosting", "Khiops", "pyAgrum"):
        assert found[rival] == (ahead, ahead)
        assert rival in text
    assert found["EBM"] == (level, ahead)
    assert found["CatBoost"] == (level, level)
    assert "of EBM in log loss; it is not apart from EBM in accuracy" in text
    assert "from CatBoost in both" in text
    with (folder / "accuracy.csv").open(encoding="utf-8") as file:
        _, *tables = csv.reader(file)
    assert f"On {len(tables)} tables of 57 to 580,000 samples" in text
