"""Take the screenshots of reports in docs/figures with a headless Chromium.

    python tools/draw_report_figures.py

Needs the packages chromium and chromium-driver, and selenium. Look at the pictures
before committing them.
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tanager import BayesNetClassifier, datasets  # noqa: E402
from tests.report.browser import Page, make_driver  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
UNKNOWN = ("area error", "worst concavity", "worst concave points")
"""Features whose values are taken away in the what-if panel."""


def load_sample(page: Page, hidden: list[int]) -> None:
    """Load the first sample, and take some features away."""
    page.show_all_features()
    page.run(
        "const list = document.querySelector('#samples-list select');"
        "list.selectedIndex = 0; list.dispatchEvent(new Event('change'));"
        "for (const j of arguments[0])"
        ' document.querySelector(`[data-unknown="${j}"]`).click();',
        hidden,
    )


def save(driver: Any, name: str) -> None:
    """Save what the browser shows, in few colours."""
    picture = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(64).save(FIGURES / name, optimize=True)


def main() -> None:
    """Write the figures."""
    data = datasets.load("breast_cancer")
    parts = train_test_split(data.X, data.y, random_state=0, stratify=data.y)
    X_train, X_test, y_train, y_test = parts
    cancer = BayesNetClassifier().fit(X_train, y_train)
    wine = datasets.load("wine")
    tree = BayesNetClassifier(structure="tan", parameters="fe").fit(wine.X, wine.y)
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "cancer.html", Path(folder) / "wine.html"
        cancer.report(one, X_test, y_test, title="Breast cancer")
        tree.report(two, wine.X, wine.y, title="Wine")
        driver = make_driver(folder)
        try:
            hidden = [list(data.X).index(name) for name in UNKNOWN]
            for size, name, shown in (
                ((1280, 900), "report-what-if.png", "body"),
                ((390, 844), "report-phone.png", "#results"),
            ):
                page = Page(driver, one)
                page.resize(*size)
                page.prefer("light")
                load_sample(page, hidden)
                page.run("document.querySelector(arguments[0]).scrollIntoView()", shown)
                save(driver, name)
            page = Page(driver, two)
            page.resize(1280, 900)
            page.prefer("dark")
            page.run(
                "const all = [...document.querySelectorAll('#graph [tabindex]')];"
                "const node = all.find((n) => /flavanoids/.test(n.textContent)"
                " && !/non/.test(n.textContent));"
                "node.dispatchEvent(new MouseEvent('click', {bubbles: true}));"
                "document.getElementById('network').scrollIntoView();"
            )
            save(driver, "report-network.png")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
