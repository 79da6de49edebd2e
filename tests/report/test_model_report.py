"""Reports as files: content, sizes, hostile names and bad input."""

import os
import re

import numba
import numpy as np
import pandas as pd
import pytest

from tanager import BayesNetClassifier, DataWarning, Network
from tanager.classifiers import BoostedClassifier
from tanager.errors import CapabilityError, InputError
from tanager.export import js_module
from tanager.report import ReportData, report_text, write_report
from tanager.report.html_page import MODULES, bundle, make_page, read_source
from tests.report.conftest import HOSTILE, fit, make_frame
from tests.report.test_payload import unpack


def payload_of(text):
    (data,) = re.findall(
        r'<script type="application/octet-stream" id="data">(.*?)</s', text
    )
    return unpack(data)


def read(path):
    return payload_of(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def tree():
    return fit("tree")


def test_names_at_the_top_of_scripts_are_unique():
    pattern = r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)"
    names = [n for m in MODULES for n in re.findall(pattern, read_source(m), re.M)]
    assert len(names) == len(set(names))


def test_every_script_is_in_the_page_after_what_it_imports():
    # Classes and constants must exist before a module uses them at its top.
    imported = re.findall(r'from "\./(\w+\.js)"', read_source("app.js"))
    assert set(imported) <= set(MODULES[: MODULES.index("app.js")])
    for name in MODULES:  # no template runs over several lines
        assert all(line.count("`") % 2 == 0 for line in read_source(name).splitlines())
    script = bundle()
    assert "import " not in re.sub(r"//.*", "", script)
    assert not re.search(r"^export ", script, re.M)


@pytest.mark.parametrize("modules", [MODULES, js_module.MODULES], ids=["page", "js"])
def test_all_that_a_script_imports_is_there(modules):
    for name in modules:
        imported = re.findall(r'from "\./(\w+\.js)"', read_source(name))
        assert set(imported) <= set(modules), name


def test_scripts_never_make_html_from_text():
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ):
        assert word not in bundle()


def test_no_address_is_in_the_page(tree, tmp_path):
    model, X, y = tree
    model.report(tmp_path / "report.html", X, y)
    text = (tmp_path / "report.html").read_text("utf-8")
    # Packed text may look like an address by chance: the script is searched itself.
    packed = r'(?s)<script type="application/octet-stream"[^>]*>.*?</script>'
    plain, n_packed = re.subn(packed, "", text)
    assert n_packed == 2
    found = set(re.findall(r"(?:https?:)?//[\w.]+\w\.\w+", plain + bundle()))
    assert found <= {"http://www.w3.org"}  # the namespace of SVG
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_parts_that_would_end_an_element_are_refused():
    with pytest.raises(ValueError, match="must not end"):
        make_page("title", "", data="</script>")


def test_hostile_names_are_not_in_the_text(hostile_model, tmp_path):
    model, X, y = hostile_model
    model.report(tmp_path / "report.html", X, y, title=HOSTILE)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert HOSTILE not in text
    assert text.count("<script") == 3
    header, _ = read(tmp_path / "report.html")
    assert header["title"] == HOSTILE
    assert header["variables"][0]["name"] == HOSTILE


def test_content(tree, tmp_path):
    model, X, y = tree
    model.report(tmp_path / "report.html", X, y, title="Wine")
    header, arrays = read(tmp_path / "report.html")
    assert header["title"] == "Wine"
    assert [v["name"] for v in header["variables"][:-1]] == list(X.columns)
    assert header["data"]["assessment"]["n_samples"] == len(y)
    accuracy = header["data"]["assessment"]["accuracy"]["value"]
    assert accuracy == pytest.approx(model.score(X, y))
    assert len(arrays["samples"]) == X.size
    assert header["classifier"]["class"] == "BayesNetClassifier"
    assert dict(header["trace"]["seconds"])


def test_without_data_and_without_labels(tree, tmp_path):
    model, X, _ = tree
    model.report(tmp_path / "report.html")
    header, arrays = read(tmp_path / "report.html")
    assert header["data"] is None
    assert "samples" not in arrays
    model.report(tmp_path / "report.html", X)
    header, arrays = read(tmp_path / "report.html")
    assert header["data"]["assessment"] is None
    assert set(arrays["sample_labels"].tolist()) == {3}


def test_missing_labels_do_not_count(tree, tmp_path):
    model, X, y = tree
    labels = np.array(y, dtype=object)
    labels[:100] = None
    model.report(tmp_path / "report.html", X, labels)
    header, _ = read(tmp_path / "report.html")
    assert header["data"]["assessment"]["n_samples"] == len(y) - 100
    assert header["data"]["n_samples"] == len(y)


def test_many_samples_are_cut_and_the_worst_kept():
    random = np.random.default_rng(0)
    codes = random.integers(0, 2, (5000, 300)).astype(np.uint8)
    proba = random.dirichlet([1, 1], 5000)
    labels = random.integers(0, 2, 5000)
    chosen, n_random = ReportData(codes, proba, labels).choose()
    assert len(chosen) == len(set(chosen.tolist())) == 133
    extra = chosen[n_random:]
    of_right = proba[np.arange(5000), labels]
    assert (proba[extra].argmax(axis=1) != labels[extra]).all()
    left = np.setdiff1d(np.flatnonzero(proba.argmax(axis=1) != labels), chosen)
    assert of_right[extra].max() <= of_right[left].min()
    again, _ = ReportData(codes, proba, labels).choose()
    np.testing.assert_array_equal(chosen, again)
    fewer, _ = ReportData(codes, proba, labels).choose(10_000_000)
    assert len(fewer) == 33


def test_the_same_model_gives_the_same_file(tree, tmp_path):
    model, X, y = tree
    for name in ("a.html", "b.html"):
        model.report(tmp_path / name, X, y)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def make_wide(n_features, n_samples=400, seed=0, n_classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, n_features))
    score = X[:, :10].sum(axis=1) + X[:, 0] * X[:, 1]
    ends = [0.0] if n_classes == 2 else np.quantile(score, [1 / 3, 2 / 3])
    X = pd.DataFrame(X).rename(columns="x{}".format)
    return X, np.searchsorted(ends, score)


@pytest.mark.parametrize(
    ("structure", "n_features", "limit", "n_samples", "n_classes"),
    [
        ("auto", 60, 500_000, 400, 2),
        ("auto", 300, 1_500_000, 400, 2),
        ("tan-res", 60, 500_000, 400, 2),
        ("tan-res", 300, 1_500_000, 400, 2),
        ("2-tree-res", 60, 500_000, 2000, 3),
        ("auto", 60, 500_000, 2000, 3),
    ],
)
@pytest.mark.slow
@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="takes minutes with compilation off"
)
def test_sizes(n_features, limit, structure, n_samples, n_classes, tmp_path):
    X, y = make_wide(n_features, n_samples, n_classes=n_classes)
    model = BayesNetClassifier(structure=structure).fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    assert os.path.getsize(tmp_path / "report.html") < limit
    header, _ = read(tmp_path / "report.html")
    assert header["kind"] != "none"
    assert "complete_only" not in header


def test_many_classes_and_states(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"id": random.integers(0, 10_000, 3000).astype(str)})
    X["b"] = random.normal(size=3000)
    y = random.integers(0, 200, 3000)
    model = BayesNetClassifier.from_name("NB+FE", encoder__identifiers="keep")
    with pytest.warns(DataWarning, match="'id' holds numbers as text"):
        model.fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    header, _ = read(tmp_path / "report.html")
    assert header["kind"] == "cpts"
    assert len(header["variables"][0]["states"]) > 2500
    assert os.path.getsize(tmp_path / "report.html") < 1_500_000


@pytest.mark.parametrize(
    ("limit", "reason"),
    [("MAX_PAGE_CELLS", "more than the 10 "), ("MAX_MODEL_BYTES", "MB, more than")],
)
def test_a_model_that_is_too_large(limit, reason, tree, monkeypatch, tmp_path):
    monkeypatch.setattr(f"tanager.report.model_data.{limit}", 10)
    monkeypatch.setattr("tanager.report.model_data.MAX_FEATURE_BYTES", 10)
    model, X, y = tree
    model.report(tmp_path / "report.html", X, y)
    header, arrays = read(tmp_path / "report.html")
    assert header["kind"] == "none"
    assert reason in header["too_large"]
    assert "tables" not in arrays
    parents = [list(parents) for parents in model.network_.structure.parents]
    assert header["parents"] == parents


def test_factors_of_a_large_model_keep_their_features(monkeypatch, tmp_path):
    monkeypatch.setattr("tanager.report.model_data.MAX_PAGE_CELLS", 10)
    X, y = make_frame("iris")
    model = BayesNetClassifier().fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    header, arrays = read(tmp_path / "report.html")
    assert header["kind"] == "none"
    expected = [list(table.factor.key) for table in model.network_.factors.tables]
    assert header["scopes"] == expected
    assert "weights" not in arrays


def test_unknown_columns_and_classes(tree, tmp_path):
    model, X, y = tree
    path = tmp_path / "report.html"
    with pytest.raises(InputError, match="feature names"):
        model.report(path, X.add_suffix("_"), y)
    with pytest.raises(InputError, match="does not know: 'other'"):
        model.report(path, X, np.where(np.arange(len(y)) < 5, "other", "class_0"))
    with pytest.raises(InputError, match="without samples"):
        model.report(path, None, y)
    with pytest.raises(ValueError, match="0 sample"):
        model.report(path, X[:0])
    assert not path.exists()


def test_unwritable_path(tree, tmp_path):
    model, X, y = tree
    with pytest.raises(InputError, match="does not exist"):
        model.report(tmp_path / "absent" / "report.html", X, y)


def test_ensembles_are_refused(tmp_path):
    X, y = make_frame("iris")
    model = BoostedClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(CapabilityError, match="one network"):
        model.report(tmp_path / "report.html")


def test_the_class_must_be_last(tmp_path):
    network = Network.build(
        {"c": ["no", "yes"], "x": ["a", "b"]},
        {"c": [0.5, 0.5], "x": (["c"], [[0.9, 0.1], [0.2, 0.8]])},
        target="c",
    )
    with pytest.raises(InputError, match="with_target_last"):
        report_text(network)
    write_report(tmp_path / "report.html", network.with_target_last())
    assert read(tmp_path / "report.html")[0]["title"] == "Report: c"


def test_states_that_javascript_would_round_or_reject(tmp_path):
    def make(states):
        return Network.build(
            {"x": states, "c": ["no", "yes"]},
            {"c": [0.5, 0.5], "x": (["c"], [[0.9, 0.1], [0.2, 0.8]])},
            target="c",
        )

    write_report(tmp_path / "report.html", make([1, 2**53 + 1]))
    assert read(tmp_path / "report.html")[0]["can_export"] is False
    with pytest.raises(InputError, match="rename infinite states"):
        write_report(tmp_path / "report.html", make([1.0, np.inf]))
