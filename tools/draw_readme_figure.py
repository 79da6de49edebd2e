"""Draw docs/figures/readme.svg: a fitted network and its posteriors.

Run with ``python tools/draw_readme_figure.py``; ``--png PATH`` also writes a PNG.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tanager import BayesNetClassifier, Network, datasets

TARGET = Path(__file__).parents[1] / "docs" / "figures" / "readme.svg"
SAMPLE = 70  # a wine whose class needs more than one feature
KNOWN = ["flavanoids", "color_intensity"]
COLOURS = ("#1b6ca8", "#e08e1b", "#7a7a7a")
OBSERVED = "#ffe0a3"


def short(name: str) -> str:
    """Give the label of a feature."""
    return name.replace("od280/od315_of_diluted_wines", "od280/od315").replace("_", " ")


def tree_layout(network: Network) -> dict[str, tuple[float, float]]:
    """Place the features: a column for every depth, parents before their children."""
    target = network.schema.target_variable.name
    arcs = [arc for arc in network.edges if arc[0] != target]
    children: dict[str, list[str]] = {}
    for parent, child in arcs:
        children.setdefault(parent, []).append(child)
    places: dict[str, tuple[float, float]] = {}
    next_row = 0.0

    def place(name: str, depth: int) -> float:
        nonlocal next_row
        rows = [place(child, depth + 1) for child in children.get(name, [])]
        if not rows:
            rows = [next_row]
            next_row += 1
        row = (rows[0] + rows[-1]) / 2
        places[name] = (depth, -row)
        return row

    found = {child for _, child in arcs}
    for name in network.schema.names:
        if name != target and name not in found:
            place(name, 0)
    widths = [0] * (1 + max(int(depth) for depth, _ in places.values()))
    for name, (depth, _) in places.items():
        widths[int(depth)] = max(widths[int(depth)], len(short(name)))
    starts = [sum(widths[:depth]) + 4 * depth for depth in range(len(widths))]
    return {name: (starts[int(depth)], row) for name, (depth, row) in places.items()}


def draw() -> Figure:
    """Fit the default classifier to wine without one sample and draw both panels."""
    wine = datasets.load("wine")
    X, y = wine.X.drop(index=SAMPLE), wine.y.drop(index=SAMPLE)
    network = BayesNetClassifier(structure="tan-res").fit(X, y).network_
    sample = wine.X.loc[SAMPLE].to_dict()
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2.4, 1])
    places = tree_layout(network)
    boxes = {}
    for name, (x, row) in places.items():
        style = {
            "boxstyle": "round,pad=0.35",
            "facecolor": OBSERVED if name in KNOWN else "white",
            "edgecolor": "#555555",
        }
        boxes[name] = left.text(
            x, row, short(name), ha="left", va="center", fontsize=9, bbox=style
        )
    for parent, child in network.edges:
        if parent in places:
            ends = {
                "patchA": boxes[parent].get_bbox_patch(),
                "patchB": boxes[child].get_bbox_patch(),
            }
            left.annotate(
                "",
                xy=places[child],
                xytext=places[parent],
                va="center",
                arrowprops={"arrowstyle": "-|>", "color": "#555555", **ends},
            )
    left.set_xlim(-1, max(x for x, _ in places.values()) + 12)
    left.set_ylim(min(row for _, row in places.values()) - 0.6, 0.6)
    left.set_title(
        "The structure learned for wine (the class is a parent of every feature)",
        fontsize=9.5,
    )
    left.axis("off")
    evidence = [
        ("nothing known", []),
        (f"{KNOWN[0]} = {sample[KNOWN[0]]:g}", KNOWN[:1]),
        (f"and {short(KNOWN[1])} = {sample[KNOWN[1]]:g}", KNOWN),
        ("all 13 features", list(sample)),
    ]
    states = [str(state) for state in wine.y.cat.categories]
    for row, (_, names) in enumerate(evidence):
        posterior = network.posterior({name: sample[name] for name in names})
        start = 0.0
        for state, colour in zip(states, COLOURS, strict=True):
            p = posterior[state]
            right.barh(
                -row,
                p,
                left=start,
                height=0.55,
                color=colour,
                label=state.replace("_", " ") if row == 0 else None,
            )
            if p > 0.08:
                right.text(
                    start + p / 2,
                    -row,
                    f"{p:.2f}",
                    ha="center",
                    va="center",
                    color="white",
                    fontsize=9,
                )
            start += p
    right.set_yticks([-row for row in range(len(evidence))])
    right.set_yticklabels([label for label, _ in evidence], fontsize=9)
    right.set_xlim(0, 1)
    right.set_xticks([0, 0.5, 1])
    right.tick_params(length=0, labelsize=9)
    for side in right.spines.values():
        side.set_visible(False)
    right.set_title("P(class | what is known) of a new wine", fontsize=9.5)
    right.legend(
        ncols=3,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.08),
        frameon=False,
        fontsize=9,
        handlelength=1,
    )
    return figure


def main() -> None:
    """Write the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", type=Path)
    options = parser.parse_args()
    mpl.rcParams["svg.hashsalt"] = "tanager"
    figure = draw()
    figure.savefig(TARGET, metadata={"Date": None})
    if options.png is not None:
        figure.savefig(options.png, dpi=130)


if __name__ == "__main__":
    main()
