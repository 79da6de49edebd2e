"""Reports in a real browser: ``make test-browser``."""

import time

import numpy as np
import pytest

from tanager import BayesNetClassifier, DataWarning, TableEncoder, load
from tanager.encoding import encode_frame, read_frame
from tests.report.browser import Page, make_driver
from tests.report.conftest import (
    HOSTILE,
    KINDS,
    fit,
    make_dates,
    make_frame,
    with_missing,
)
from tests.report.test_model_report import make_wide

pytestmark = pytest.mark.browser

N_EVIDENCES = 200


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def driver(downloads):
    driver = make_driver(downloads)
    yield driver
    driver.quit()


@pytest.fixture
def open_report(driver, tmp_path):
    def show(model, X=None, y=None, **options):
        model.report(tmp_path / "report.html", X, y, **options)
        return Page(driver, tmp_path / "report.html")

    yield show
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture(scope="module")
def tree():
    X, y = make_frame("iris")
    return BayesNetClassifier.from_name("TAN+FE").fit(X, y), X, y


@pytest.fixture(scope="module")
def factors():
    X, y = make_frame("wine")
    return BayesNetClassifier().fit(X, y), X, y


def codes_of(model, X):
    return encode_frame(read_frame(X), model.encoder_.schema_.variables).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_equal_predict_proba(kind, open_report):
    model, X, y = fit(kind)
    page = open_report(model, X, y)
    page.show_all_features()
    random = np.random.default_rng(0)
    rows = random.integers(0, len(X), N_EVIDENCES)
    fractions = random.random(N_EVIDENCES)[:, None]
    samples = X.iloc[rows].reset_index(drop=True)
    samples = samples.mask(random.random(samples.shape) < fractions)
    found, slowest = page.set_evidence(codes_of(model, samples))
    expected = model.predict_proba(samples)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert slowest > 0
    assert page.errors() == []


def test_no_request_leaves_the_page(open_report, tree, tmp_path):
    page = open_report(*tree)
    own = (tmp_path / "report.html").resolve().as_uri()
    assert set(page.requests()) == {own}
    # The policy also stops what a script would ask for.
    blocked = page.run(
        "return fetch('https://example.com/').then(() => false, () => true)"
    )
    assert blocked is True
    assert set(page.requests()) <= {own, "https://example.com/"}


def test_samples_are_loaded_wrong_ones_first(open_report, tree):
    model, X, y = tree
    page = open_report(*tree)
    options = page.text("#samples").splitlines()
    wrong = np.flatnonzero(model.predict(X) != np.asarray(y))
    first = [int(o.split("row ")[1].split(":")[0]) - 1 for o in options[: len(wrong)]]
    assert sorted(first) == wrong.tolist()
    page.run(
        "const list = document.getElementById('samples'); list.selectedIndex = 0;"
        "list.dispatchEvent(new Event('change'))"
    )
    expected = model.predict_proba(X.iloc[first[:1]])[0]
    np.testing.assert_allclose(page.probabilities(), expected, atol=1e-9)
    assert "flip" in page.text("#flips")
    assert page.text("#questions") == "Every feature is known."


def test_select_a_node_and_search(open_report, tree):
    page = open_report(*tree)
    page.find('.node[data-variable="1"]').click()
    assert "sepal width" in page.text("#node h3")
    search = page.find("#graph-tools input")
    search.send_keys("petal wid\n")
    assert "petal width" in page.text("#node h3")
    before = page.run("return document.querySelector('.graph').getAttribute('viewBox')")
    page.find('[aria-label="Zoom in"]').click()
    after = page.run("return document.querySelector('.graph').getAttribute('viewBox')")
    assert before != after


def test_curves_and_pairs_of_networks_with_cpts(open_report, tree):
    model = tree[0]
    page = open_report(*tree)
    charts = page.run(
        "return [...document.querySelectorAll('#curves figure')]"
        ".map((own) => own.querySelector('figcaption').textContent)"
    )
    names = set(model.network_.schema.names[:-1])
    pairs = [chart for chart in charts if " \u00d7 " in chart]
    assert set(charts) - set(pairs) == names
    assert len(pairs) == 3  # the arcs of a tree
    assert "if nothing else is known" in page.text("#curves")
    curve = "return document.querySelector('#curves polyline').getAttribute('points')"
    before = page.run(curve)
    first = next(chart for chart in charts if chart not in pairs)
    variable = list(model.network_.schema.names).index(first)
    page.run(f"window.tanagerReport.app.selectNode({variable})")
    field = page.find("#node .editor input")
    field.clear()
    field.send_keys("90\n")
    assert page.run(curve) != before
    assert page.errors() == []


def wait_for(path):
    end = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    return path


def test_edit_a_cpt_and_export(open_report, tree, downloads):
    model, X, y = tree
    page = open_report(*tree)
    page.find('.node[data-variable="3"]').click()
    before = float(page.find("#edit-loss").get_attribute("data-loss"))
    proba = model.predict_proba(X)
    labels = np.unique(y, return_inverse=True)[1]
    loss = -np.log(proba[np.arange(len(y)), labels]).mean()
    assert before == pytest.approx(loss, abs=1e-9)
    field = page.find("#node .editor input")
    field.clear()
    field.send_keys("40\n")
    after = float(page.find("#edit-loss").get_attribute("data-loss"))
    assert after != before
    page.find("#export").click()
    path = wait_for(downloads / "model.json")
    edited = load(path)
    path.unlink()
    proba = edited.predict_proba(X)
    loss = -np.log(proba[np.arange(len(y)), labels]).mean()
    assert after == pytest.approx(loss, abs=1e-9)
    incomplete = with_missing(X[:20])
    found, _ = page.set_evidence(codes_of(model, incomplete))
    np.testing.assert_allclose(found, edited.predict_proba(incomplete), atol=1e-9)
    assert page.errors() == []


def test_edit_a_curve_and_export(open_report, factors, downloads):
    model, X, _ = factors
    page = open_report(*factors)
    page.show_all_features()
    field = page.find("#node .editor input")
    field.clear()
    field.send_keys("1.5\n")
    page.find("#export").click()
    path = wait_for(downloads / "model.json")
    edited = load(path)
    path.unlink()
    assert not np.allclose(edited.predict_proba(X), model.predict_proba(X), atol=1e-6)
    incomplete = with_missing(X[:20])
    found, _ = page.set_evidence(codes_of(model, incomplete))
    np.testing.assert_allclose(found, edited.predict_proba(incomplete), atol=1e-9)
    assert page.errors() == []


def test_undo(open_report, tree):
    page = open_report(*tree)
    field = page.find("#node .editor input")
    field.clear()
    field.send_keys("1\n")
    assert "→" in page.text("#edit-loss")
    page.run("[...document.querySelectorAll('#edits button')][1].click()")
    loss = page.find("#edit-loss")
    assert loss.get_attribute("data-loss") == loss.get_attribute("data-baseline")
    assert "→" not in page.text("#edit-loss")


@pytest.mark.parametrize("which", ["tree", "factors"])
def test_every_view_follows_edits_and_undo(which, open_report, request):
    page = open_report(*request.getfixturevalue(which))
    field = "return document.querySelector('#node .editor input').value"
    effects = "return document.querySelector('#effects').innerHTML"
    before = page.run(field), page.run(effects)
    entry = page.find("#node .editor input")
    entry.clear()
    entry.send_keys("7\n")
    assert float(page.run(field)) == 7
    assert page.run(effects) != before[1]
    page.run("document.querySelector('#edits button').click()")
    assert (page.run(field), page.run(effects)) == before
    assert page.errors() == []


@pytest.mark.parametrize(("which", "bad"), [("tree", "101"), ("factors", "-1001")])
def test_bad_edits_are_refused_with_a_reason(which, bad, open_report, request):
    page = open_report(*request.getfixturevalue(which))
    field = page.find("#node .editor input")
    for text in ("", bad):
        field.clear()
        field.send_keys(text + "\n")
        assert "Enter a number from" in field.get_attribute("validationMessage")
        assert "Nothing is edited" in page.text("#edits")
    field.clear()
    field.send_keys("2\n")
    assert "set to 2" in page.text("#edits")


def test_keyboard_alone(open_report, tree):
    from selenium.webdriver.common.keys import Keys

    page = open_report(*tree)
    body = page.find("body")
    body.send_keys(Keys.TAB)
    seen, before = [], page.probabilities()
    for _ in range(80):
        active = page.driver.switch_to.active_element
        what = page.run(
            "const a = document.activeElement; return [a.tagName, a.id, a.type || '', "
            "a.getAttribute('class') || '', a.getAttribute('aria-label') || '']"
        )
        seen.append(what)
        if what[2] == "range" and page.probabilities() == before:
            active.send_keys(Keys.ARROW_RIGHT)
        if "node" in what[3].split() and "feature" in what[4]:
            active.send_keys(Keys.ENTER)
            assert page.text("#node h3").startswith(f"P({what[4][8:]}")
        if what[1] == "export":
            break
        active.send_keys(Keys.TAB)
    assert seen[-1][1] == "export"
    assert page.probabilities() != before
    tags = {what[0] for what in seen}
    assert {"A", "BUTTON", "INPUT", "SELECT", "g"} <= tags
    assert page.run(UNNAMED) == []


UNNAMED = """
const controls = "button, input, select, [role=img], [role=button]";
return [...document.querySelectorAll(controls)]
  .filter((node) => !node.closest("[hidden]"))
  .filter((node) => {
    const label = node.getAttribute("aria-label") || node.textContent.trim();
    const ids = node.getAttribute("aria-labelledby");
    const named = ids && document.getElementById(ids)?.textContent.trim();
    return !(label || named || node.labels?.length);
  }).map((node) => node.outerHTML.slice(0, 200));
"""


@pytest.mark.parametrize("which", ["tree", "factors"])
@pytest.mark.parametrize("size", [(390, 844), (1280, 900)])
def test_nothing_is_wider_than_the_window(which, size, open_report, request):
    page = open_report(*request.getfixturevalue(which))
    page.resize(*size)
    width = page.run("return document.documentElement.scrollWidth")
    assert width <= size[0]


def test_long_class_names_and_bars_on_a_phone(open_report):
    X, y = make_frame("wine")
    labels = np.array([f"{k} {'a long class name ' * 5}" for k in range(3)])
    y = labels[np.unique(y, return_inverse=True)[1]]
    model = BayesNetClassifier().fit(X, y)
    page = open_report(model, X, y)
    page.resize(390, 844)
    assert page.run("return document.documentElement.scrollWidth") <= 390
    widths = page.run(
        "return [...document.querySelectorAll('#importance .track')]"
        ".map((track) => track.getBoundingClientRect().width)"
    )
    assert min(widths) >= 40


def test_dark_mode(open_report, tree):
    page = open_report(*tree)
    colour = "return getComputedStyle(document.body).backgroundColor"
    page.prefer("light")
    light = page.run(colour)
    page.prefer("dark")
    dark = page.run(colour)
    assert light == "rgb(255, 255, 255)"
    assert max(map(int, dark[4:-1].split(","))) < 60
    page.find("#theme").click()
    assert page.run(colour) == light


def test_print_is_light_after_a_choice_of_dark(open_report, tree):
    page = open_report(*tree)
    page.prefer("light")
    page.find("#theme").click()
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    colour = page.run("return getComputedStyle(document.body).backgroundColor")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert colour == "rgb(255, 255, 255)"


def test_print(open_report, tree):
    page = open_report(*tree)
    content = page.pdf()
    assert content.startswith(b"%PDF")
    assert len(content) > 20_000


def test_hostile_names_are_text(open_report, hostile_model):
    model, X, y = hostile_model
    page = open_report(model, X, y, title=HOSTILE)
    assert page.driver.title == HOSTILE
    assert page.text("h1") == HOSTILE
    assert page.run("return document.querySelectorAll('img, b, i').length") == 0
    assert page.run("return document.querySelectorAll('script').length") == 4
    for v in range(5):
        page.run(
            "document.querySelector(`.node[data-variable='${arguments[0]}']`)"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            v,
        )
    found, _ = page.set_evidence(codes_of(model, X[:5]))
    np.testing.assert_allclose(found, model.predict_proba(X[:5]), atol=1e-9)
    assert page.errors() == []


def test_without_data(open_report, tree):
    page = open_report(tree[0])
    assert "without data" in page.text("#metrics")
    assert not page.find("#samples-block").is_displayed()
    assert page.errors() == []


def test_many_features(open_report):
    X, y = make_wide(500, 200)
    model = BayesNetClassifier.from_name("TAN+FE").fit(X, y)
    page = open_report(model, X, y)
    assert page.run("return document.querySelectorAll('.node').length") == 41
    assert page.run("return document.querySelectorAll('.control').length") == 15
    page.run("[...document.querySelectorAll('#graph-tools button')].at(-1).click()")
    assert page.run("return document.querySelectorAll('.node').length") == 501
    assert page.errors() == []


def test_many_classes(open_report):
    random = np.random.default_rng(0)
    X, _ = make_wide(5, 2000)
    y = random.integers(0, 200, 2000)
    model = BayesNetClassifier.from_name("NB+FE").fit(X, y)
    page = open_report(model, X, y)
    found, _ = page.set_evidence(codes_of(model, X[:5]))
    np.testing.assert_allclose(found, model.predict_proba(X[:5]), atol=1e-9)
    assert "190 other classes" in page.text("#posterior")
    assert page.errors() == []


def test_many_states_and_classes(open_report):
    random = np.random.default_rng(0)
    X, _ = make_wide(2, 3000)
    X["id"] = np.char.add("s", random.integers(0, 10_000, 3000).astype(str))
    y = random.integers(0, 200, 3000)
    encoder = TableEncoder(identifiers="keep")
    model = BayesNetClassifier.from_name("NB+FE", encoder=encoder).fit(X, y)
    page = open_report(model, X, y)
    assert "others" in page.text("#quality")
    # Two curves, not one of thousands of unordered states.
    assert page.run("return document.querySelectorAll('#curves figure').length") == 2
    assert page.errors() == []


def test_a_model_that_is_too_large(open_report, tree, monkeypatch):
    monkeypatch.setattr("tanager.report.model_data.MAX_PAGE_CELLS", 10)
    page = open_report(*tree)
    assert "more than the 10 " in page.text("#notice")
    assert "Accuracy" in page.text("#metrics")
    assert page.run("return document.querySelectorAll('.class-arc').length") == 4
    assert page.text("nav").split() == ["Network", "Quality", "About"]
    assert page.errors() == []


def test_factors_of_a_model_that_is_too_large(open_report, factors, monkeypatch):
    monkeypatch.setattr("tanager.report.model_data.MAX_PAGE_CELLS", 10)
    page = open_report(*factors)
    keys = [table.factor.key for table in factors[0].network_.factors.tables]
    n_arcs = len({key for key in keys if len(key) == 2})
    assert page.run("return document.querySelectorAll('.arc').length") == n_arcs
    assert page.errors() == []


FOCUS = """
const a = document.activeElement;
return [a.tagName, a.getAttribute("aria-label") || a.closest("label")?.innerText || ""];
"""


def test_focus_stays_in_pickers_that_are_drawn_again(open_report, factors):
    from selenium.webdriver.common.keys import Keys

    page = open_report(*factors)
    for selector in (
        "#waterfall label:last-of-type select",
        "#node .editor select",
        "#node .editor label:last-of-type select",
        "#slice-feature",
    ):
        picker = page.find(selector)
        picker.send_keys(Keys.ARROW_DOWN)
        after = page.find(selector)
        assert page.run("return document.activeElement === arguments[0]", after)
        assert after.get_attribute("value") != "0" or "waterfall" in selector
    field = page.find("#node .editor input")
    field.clear()
    field.send_keys("1.5\n")
    assert page.run(FOCUS) == ["INPUT", "New value"]
    more = page.find("#evidence-tools button")
    more.send_keys(Keys.ENTER)
    assert page.run("return document.activeElement.textContent") == "Clear all"
    assert page.errors() == []


def test_charts_have_their_values_as_text(open_report, factors):
    page = open_report(*factors)
    labels = page.run(
        "return [...document.querySelectorAll('svg[role=img]')]"
        ".map((chart) => chart.getAttribute('aria-label'))"
    )
    assert labels
    for label in labels:
        assert any(sign in label for sign in "0123456789"), label
    total = float(page.find("#waterfall").get_attribute("data-total"))
    (waterfall,) = (label for label in labels if label.startswith("Contributions"))
    assert waterfall.endswith(f"log odds {total:+.2f}".replace("-", "\u2212"))


def test_a_model_file_has_no_trace(open_report, tree, tmp_path):
    tree[0].save(tmp_path / "model.json")
    page = open_report(load(tmp_path / "model.json"))
    assert "model files do not hold one" in page.text("#about")


def test_complete_evidence_of_a_model_that_is_too_large(open_report, monkeypatch):
    X, y = make_frame("wine")
    model = BayesNetClassifier(structure="tan").fit(X, y)
    monkeypatch.setattr("tanager.report.model_data.MAX_MODEL_BYTES", 24_000)
    monkeypatch.setattr("tanager.report.model_data.MAX_FEATURE_BYTES", 0)
    page = open_report(model, X, y)
    assert "answers where every feature is known" in page.text("#notice")
    assert page.text("nav").split() == ["What", "if", "Network", "Quality", "About"]
    found, _ = page.set_evidence(codes_of(model, X))
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)
    assert "flip it" in page.text("#flips") or "flips it" in page.text("#flips")
    total = float(page.find("#waterfall").get_attribute("data-total"))
    top = np.sort(model.predict_proba(X[-1:])[0])[::-1]
    assert total == pytest.approx(np.log(top[0] / top[1]), abs=1e-6)
    page.find("[data-unknown]").click()
    assert "Set every feature" in page.text("#posterior")
    assert page.errors() == []


CUT_TEXTS = """
return [...document.querySelectorAll("svg.chart")].flatMap((chart) => {
  const outer = chart.getBoundingClientRect();
  return [...chart.querySelectorAll(".axis text")]
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < outer.left - 1 || box.right > outer.right + 1)
    .map(([text]) => text);
});
"""
OVERLAPPING_TEXTS = """
return [...document.querySelectorAll("#curves svg.chart")].flatMap((chart) => {
  const axis = [...chart.querySelectorAll(".axis")].at(-1);
  if (!axis) return [];
  const boxes = [...axis.querySelectorAll("text")]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.filter(([, box], k) => k && box.left < boxes[k - 1][1].right)
    .map(([text]) => text);
});
"""


@pytest.mark.parametrize("method", ["default", "tree"])
def test_dates_are_shown_as_dates(method, open_report, downloads):
    X, y = make_dates(1500)
    if method == "default":
        model = BayesNetClassifier().fit(X, y)
    else:
        model = BayesNetClassifier.from_name("TAN+FE").fit(X, y)
    page = open_report(model, X, y)
    for size in ((1280, 900), (390, 844)):
        page.resize(*size)
        assert page.run("return document.documentElement.scrollWidth") <= size[0]
        assert page.run(CUT_TEXTS) == []
        assert page.run(OVERLAPPING_TEXTS) == []
    about = page.text("#about")
    assert all(kind in about for kind in ("date", "time of day", "duration"))
    assert "cut at 2021-" in about
    page.show_all_features()
    texts = page.run(
        "return [...document.querySelectorAll('#evidence [aria-valuetext], #evidence "
        "option')].map((node) => node.getAttribute('aria-valuetext') ?? node.text)"
    )
    states = {str(state) for v in model.network_.schema for state in v.states}
    assert set(texts) <= {*states, "unknown", "missing"}
    page.find("#export").click()
    path = wait_for(downloads / "model.json")
    exported = load(path)
    path.unlink()
    schema = exported.network_.schema
    assert [v.unit for v in schema] == [
        "datetime", "datetime", "time", "timedelta", None,
    ]  # fmt: skip
    assert schema == model.network_.schema
    np.testing.assert_allclose(
        exported.predict_proba(X[:50]), model.predict_proba(X[:50]), atol=1e-9
    )
    assert page.errors() == []


@pytest.mark.parametrize("name", ["TAN+FE", None])
def test_columns_that_the_model_leaves_out_are_not_asked_for(name, open_report):
    X, y = make_frame("iris")
    X["customer"] = [f"c{k:05d}" for k in range(len(X))]
    model = BayesNetClassifier.from_name(name) if name else BayesNetClassifier()
    with pytest.warns(DataWarning, match="identifies samples"):
        model.fit(X, y)
    page = open_report(model, X, y)
    for part in ("#evidence", "#questions", "#importance"):
        assert "petal width" in page.text(part)
        assert "customer" not in page.text(part)
    assert "left out" in page.text("#about")
    assert page.errors() == []
