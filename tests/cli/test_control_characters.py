"""Names from files must not control the terminal."""

import json

import pytest

from tanager.cli import _terminal

ODD = "n\x1b[2J\x07\u202eame"
SHOWN = r"n\x1b[2J\x07\u202eame"


@pytest.fixture
def model(tmp_path):
    half = -0.6931471805599453
    document = {
        "format": "tanager-model",
        "schema_version": 1,
        "written_by": f"tanager {ODD}",
        "target": f"class {ODD}",
        "variables": [
            {"name": name, "states": ["a", f"s{ODD}"], "ordered": False, "cuts": None}
            for name in (ODD, f"class {ODD}")
        ],
        "tables": {
            ODD: {"parents": [], "log_probabilities": [[half, half]]},
            f"class {ODD}": {
                "parents": [ODD],
                "log_probabilities": [[half, half]] * 2,
            },
        },
        "classifier": None,
    }
    (tmp_path / "odd.json").write_text(json.dumps(document))
    return "odd.json"


def assert_harmless(text):
    assert SHOWN in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("options", [(), ("--table", ODD), ("--dot",)])
def test_show_escapes_names_states_and_writer(done, model, options):
    assert_harmless(done("show", model, *options).stdout)


def test_explain_escapes_names(done, model, tmp_path):
    (tmp_path / "rows.csv").write_text(f"{ODD}\na\n", encoding="utf-8")
    found = done("explain", model, "rows.csv", "--row", 1)
    assert_harmless(found.stdout)


def test_predictions_are_escaped_on_a_terminal_only(done, model, tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text(f"{ODD}\na\n", encoding="utf-8")
    assert ODD in done("predict", model, "rows.csv").stdout
    monkeypatch.setattr(_terminal, "terminal_width", lambda: 80)
    assert_harmless(done("predict", model, "rows.csv").stdout)


def test_errors_and_warnings_are_escaped(failed, tanager, model):
    assert_harmless(failed("show", f"{ODD}.json"))
    assert_harmless(failed("show", model, "--table", f"{ODD}x"))
    assert tanager("fit", "x.csv").stderr.replace("\n", "").isprintable()
