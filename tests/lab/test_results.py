import pytest

results = pytest.importorskip(
    "lab.studies.parameters.results",
    reason="a source distribution has no experiments",
)


def make(folder):
    return results.Results("some", ("set", "share"), 7, folder)


def test_what_was_added_is_there_in_the_next_run(tmp_path):
    first = make(tmp_path)
    first.add(("a, b", 0.5), {"error": 0.25})
    first.add(("c", 0.5), {"error": 1.0})
    again = make(tmp_path)
    assert ("a, b", 0.5) in again
    assert ("a, b", 0.1) not in again
    assert again.numbers("error") == {("a, b", "0.5"): 0.25, ("c", "0.5"): 1.0}


def test_the_header_names_seed_and_versions(tmp_path):
    make(tmp_path).add(("a", 1), {"error": 0.5})
    header = (tmp_path / "some.csv").read_text("utf-8").splitlines()[0]
    assert header.startswith("# seed 7; tanager ")
    assert "numpy" in header
