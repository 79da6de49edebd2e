"""Draw the figures of the quickstart: a curve, and a screenshot of the report.

    python tools/draw_quickstart_figure.py

Needs the packages chromium and chromium-driver, and selenium. Look at the pictures
before committing them.
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from sklearn.model_selection import train_test_split

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tanager import BayesNetClassifier, datasets  # noqa: E402
from tests.report.browser import Page, make_driver  # noqa: E402

FIGURES = ROOT / "docs" / "figures"


def main() -> None:
    """Fit the model of the page, draw the effect of one feature and the report."""
    penguins = datasets.load("penguins")
    X, X_test, y, y_test = train_test_split(
        penguins.X, penguins.y, test_size=0.3, random_state=0, stratify=penguins.y
    )
    model = BayesNetClassifier().fit(X, y)
    curve = model.effect("bill_length_mm").to_svg()
    (FIGURES / "quickstart-curve.svg").write_text(curve, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        model.report(path, X_test, y_test, title="Penguins")
        driver = make_driver(folder)
        try:
            page = Page(driver, path)
            page.resize(1280, 820)
            page.prefer("light")
            page.run(
                "const list = document.querySelector('#samples-list select');"
                "list.selectedIndex = 1; list.dispatchEvent(new Event('change'));"
            )
            shot = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
        finally:
            driver.quit()
    shot.quantize(64).save(FIGURES / "quickstart-report.png", optimize=True)


if __name__ == "__main__":
    main()
