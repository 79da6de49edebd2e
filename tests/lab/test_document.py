from dataclasses import replace

import pytest

from lab.runner import Results, find, papers
from lab.runner.document import known, page
from lab.runner.output import write_all
from lab.views import view_of
from tanager.errors import InputError

NAME = "su2008/figure2"
PROBABILITIES = {"probability": [1.0, 0.4]}


@pytest.fixture
def experiment():
    return find([NAME])[0]


def save(folder, experiment, cells, numbers=None):
    found = (
        {c: {"probability": [1.0, 0.4]} for c in cells} if numbers is None else numbers
    )
    results = Results.of(cells, found)
    view = view_of(experiment, results)
    # Without its figure, which needs matplotlib.
    write_all(folder, experiment, results, type(view)(view.tables, "", None))


def test_a_page_has_claim_verdict_and_averages(tmp_path, experiment):
    save(tmp_path, experiment, experiment.cells())
    (tmp_path / "su2008" / "figure2.svg").touch()
    text = page(tmp_path, [NAME], tmp_path / "docs")
    lines = text.splitlines()
    assert f"### {NAME}: {experiment.title}" in lines
    assert f"**Claim.** {experiment.claim}" in lines
    assert f"**Rule.** {experiment.rule}" in lines
    assert "**Here: does not hold.** FE ends at 0.400 and DFE at 0.400;" in text
    assert f"**Differences.** {experiment.differs[0]}" in lines
    assert "| DFE | 2 | 0.400 | 0.400 | 0.000 |" in lines
    assert f"![{experiment.title}](../su2008/figure2.svg)" in lines
    assert (
        "Cells measured: 4 of 4. All numbers: [figure2.csv](../su2008/figure2.csv)."
    ) in lines
    rule = experiment.rule.replace("|", "\\|")
    distance = "2 numbers: mean distance 0.13, largest -0.26 (FE)"
    assert f"**Distance.** {distance}." in lines
    row = f"| {NAME} | {experiment.claim} | {rule} | **does not hold** | {distance} |"
    assert row in lines
    assert lines[-1].startswith("- tanager ")
    assert lines[-1].endswith(f": {NAME}")


def test_what_was_chosen_on_test_data_stands_with_the_distance(tmp_path, experiment):
    save(tmp_path, experiment, experiment.cells())
    named = replace(experiment, chosen="the seed")
    distance = known(tmp_path, named).distance
    assert distance.endswith("largest -0.26 (FE); chosen on test data: the seed")


def test_all_papers_are_named_measured_or_not(tmp_path, experiment):
    save(tmp_path, experiment, experiment.cells())
    text = page(tmp_path, papers(), tmp_path)
    for one in find(papers()):
        assert f"### {one.full_name}: {one.title}" in text
    n_all = len(find(papers()))
    assert text.count("Not measured yet.") == n_all - 1
    assert f"Of {n_all} tables and figures 1 have a claim and are measured" in text
    assert "Verdicts: 0 hold, 1 do not hold, 0 inconclusive." in text


def test_the_same_cells_make_the_same_page(tmp_path, experiment):
    save(tmp_path, experiment, experiment.cells())
    first = page(tmp_path, [NAME], tmp_path)
    save(tmp_path, experiment, experiment.cells())
    assert page(tmp_path, [NAME], tmp_path) == first


def test_cells_that_are_no_longer_planned_do_not_count(tmp_path, experiment):
    cell = experiment.cells()[0]
    other = type(cell)(cell.measurement, {**cell.parameters, "alpha": 7.0})
    save(tmp_path, experiment, [cell, other])
    found = known(tmp_path, experiment)
    assert found.results.cells == (cell,)
    assert found.measured == "1 of 4"


def test_a_quick_run_says_so(tmp_path):
    (experiment,) = find(["su2008/figure4"])
    cells = experiment.cells(quick=True)
    save(tmp_path, experiment, cells, {c: {"accuracy": [0.5]} for c in cells[:3]})
    found = known(tmp_path, experiment)
    assert found.measured == f"3 of {len(cells)} of a quick run"


def test_folders_that_are_not_there_or_damaged(tmp_path, experiment):
    with pytest.raises(InputError, match="There is no folder"):
        page(tmp_path / "none", [NAME], tmp_path)
    (tmp_path / "su2008").mkdir()
    (tmp_path / "su2008" / "figure2.cells.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="not a file of cells"):
        page(tmp_path, [NAME], tmp_path)


def test_what_is_not_explained_stands_after_the_overview(tmp_path):
    (tried,) = find(["greiner2005/table2-hypotheses"])
    cells = [c for c in tried.cells() if c.parameters["data"] == "uci25/segment"]
    save(tmp_path, tried, cells, {c: {"accuracy": 0.9} for c in cells})
    text = page(tmp_path, [tried.full_name], tmp_path)
    before, _, after = text.partition("## Not explained")
    assert "| experiment | claim |" in before
    row = (
        "| greiner2005/table2-hypotheses | GBN+OFE, segment | the plain interpretation "
        "| 77.53 | 90.00 |  | 12.47 | does not explain it |"
    )
    assert row in after.partition("## Greiner")[0].splitlines()
    assert "## Not explained" not in page(tmp_path, [NAME], tmp_path)
