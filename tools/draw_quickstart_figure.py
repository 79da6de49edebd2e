"""Draw the figure of the quickstart: ``python tools/draw_quickstart_figure.py``."""

from __future__ import annotations

from pathlib import Path

from sklearn.model_selection import train_test_split

from tanager import BayesNetClassifier, datasets

PATH = Path(__file__).resolve().parents[1] / "docs/figures/quickstart-curve.svg"


def main() -> None:
    """Fit the model of the page and draw the effect of one feature."""
    penguins = datasets.load("penguins")
    X, _, y, _ = train_test_split(
        penguins.X, penguins.y, test_size=0.3, random_state=0, stratify=penguins.y
    )
    model = BayesNetClassifier().fit(X, y)
    PATH.write_text(model.effect("bill_length_mm").to_svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
