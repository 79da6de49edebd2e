"""Draw docs/figures/factors-adult.svg: the main factors of a model of adult.

Run with ``TANAGER_DATA=FOLDER python tools/draw_factors_figure.py``; the figure needs
the dataset adult, and no matplotlib.
"""

from __future__ import annotations

from pathlib import Path

from tanager import BayesNetClassifier, datasets
from tanager.plots.svg import arrange, write_svg

TARGET = Path(__file__).parents[1] / "docs" / "figures" / "factors-adult.svg"
N_CURVES, N_PAIRS = 6, 3
WIDTH = 1130.0


def main() -> None:
    """Fit the default classifier to all samples and write its largest effects."""
    adult = datasets.load("adult")
    network = BayesNetClassifier(random_state=0).fit(adult.X, adult.y).network_
    effects = network.main_effects(len(network.factors.tables))
    curves = [effect for effect in effects if len(effect.features) == 1]
    pairs = [effect for effect in effects if len(effect.features) == 2]
    shown = [*curves[:N_CURVES], *pairs[:N_PAIRS]]
    panels = [effect.panel() for effect in shown]
    TARGET.write_text(write_svg(arrange(panels, width=WIDTH)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
