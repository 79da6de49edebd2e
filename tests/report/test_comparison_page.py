"""Pages of comparisons."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from tanager import evaluate
from tanager.errors import InputError
from tanager.report import ComparedMetric, Comparison, comparison_text
from tanager.report.comparison_page import estimate_fold_mean
from tests.report.conftest import HOSTILE, make_frame


class Balanced(HTMLParser):
    """Checks that every element is closed in its place."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.texts = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data.strip())


def read(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return parser.texts


def make(models=("a", "b", "c"), n_folds=5):
    values = np.random.default_rng(0).random((len(models), n_folds))
    metrics = (
        ComparedMetric("Accuracy %", 100 * values, 1, 2, most=100.0),
        ComparedMetric("Log loss", values, -1),
        ComparedMetric("Seconds", values, 0),
    )
    facts = (("Parameters", tuple("123"[: len(models)])),)
    edges = tuple({("x", "y"): n_folds, ("x", "<z>"): 1} for _ in models)
    return Comparison("Title", "How", tuple(models), metrics, facts, edges, 0.25)


def test_a_page_is_complete():
    comparison = make()
    text = comparison_text(comparison)
    texts = read(text)
    for name in ("a", "b", "c"):
        assert texts.count(name) == 5  # in two tables and three charts
    assert "x - y (5), x - <z> (1)" in texts
    assert "Critical-difference diagram" in text
    assert "script-src 'none'" in text
    best = comparison.metrics[0].values.mean(axis=1).max()
    assert f"<strong>{best:.2f}</strong>" in text


def test_intervals_stay_within_what_is_possible():
    values = np.array([[100.0, 99.0, 80.0], [0.0, 10.0, 0.0]])
    metric = ComparedMetric("Accuracy %", values, 1, 2, most=100.0)
    text = comparison_text(Comparison("t", "d", ("a", "b"), (metric,), (), (), 0.5))
    ends = re.findall(r'class="note">([-\d.]+) to ([-\d.]+)<', text)
    assert ends[0][1] == "100.00"
    assert ends[1][0] == "0.00"


def test_hostile_names():
    text = comparison_text(make((HOSTILE, '"><b>', "c")))
    assert HOSTILE in read(text)
    assert "<script" not in text
    assert "<b>" not in text


@pytest.mark.parametrize(("models", "n_folds"), [(("a",), 5), (("a", "b"), 1)])
def test_no_ranks_without_several_models_and_folds(models, n_folds):
    text = comparison_text(make(models, n_folds))
    read(text)
    assert "Ranks" not in text


def test_the_interval_is_that_of_the_corrected_test():
    values = np.array([0.8, 0.7, 0.9, 0.85])
    found = estimate_fold_mean(values, 1 / 3)
    # Student's t at 97.5 % with 3 degrees of freedom is 3.1824463.
    half = 3.182446305284263 * np.sqrt((1 / 4 + 1 / 3) * values.var(ddof=1))
    assert found.high - found.value == pytest.approx(half)
    single = estimate_fold_mean(values[:1], 1 / 3)
    assert single.low == single.high == 0.8


def test_report_of_an_evaluation(tmp_path):
    X, y = make_frame("iris")
    result = evaluate(["NB+FE", "TAN+FE"], X, y, cv=3, name="iris")
    result.report(tmp_path / "comparison.html")
    texts = read((tmp_path / "comparison.html").read_text("utf-8"))
    assert "Comparison on iris" in texts
    assert "NB+FE" in texts
    assert "Structures" in texts
    assert "edges" not in result.columns()
    with pytest.raises(InputError, match="does not exist"):
        result.report(tmp_path / "absent" / "comparison.html")
