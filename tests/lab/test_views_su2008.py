"""Views of Tables 2 and 3 and Figures 2 to 4 of Su et al. (2008)."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import t as student

from lab.runner import Cell, Results, find
from lab.views import view_of
from lab.views.win_counts import common

METHODS = ("NB+DFE", "NB+FE", "NB+ELR", "NB+Ada", "HGC+FE", "HGC+DFE")


def experiment(name):
    return find([f"su2008/{name}"])[0]


def folds(sets, numbers, repeats=(1,)):
    """Cells of all methods, with made-up numbers."""
    known = {
        Cell(
            "cross_validation_scores", {"data": f"weka33/{s}", "method": m, "repeat": r}
        ): numbers(s, m, r)
        for s, m, r in product(sets, METHODS, repeats)
    }
    return Results.of(list(known), known)


def accuracies(data, method, repeat):
    random = np.random.default_rng([repeat, len(data)])
    gain = {"NB+FE": -0.2, "HGC+FE": -0.1}.get(method, 0.0)
    return {"accuracy": (0.7 + gain + 0.05 * random.normal(size=10)).tolist()}


def test_wins_ties_and_losses():
    results = folds(["iris", "glass"], accuracies, (1, 2))
    view = view_of(experiment("table2"), results)
    rows = {row[:2]: row[2:] for row in view.tables[0].rows}
    assert len(rows) == 15
    assert rows["NB+DFE", "NB+FE"] == ("12/21/0", "2/0/0", -10, 0)
    assert rows["NB+DFE", "NB+ELR"] == ("1/31/1", "0/2/0", -1, -1)
    assert rows["NB+FE", "HGC+FE"] == ("0/22/11", "0/0/2", 0, -9)
    assert "NB+DFE >> NB+FE: yes, 2/0/0." in view.verdict
    assert "HGC+FE >> NB+FE: yes, 2/0/0." in view.verdict
    assert view.holds is None
    assert view.distance.endswith("at most 10 datasets apart (NB+DFE against NB+FE)")
    assert "Ours on 2 datasets (published on 33)" in view.tables[1].title


def test_claims_about_wins_are_judged_on_all_sets():
    results = folds([f"set {k}" for k in range(33)], accuracies)
    assert view_of(experiment("table2"), results).holds is True


def test_a_loss_contradicts_wins_without_a_loss():
    def worse_once(data, method, repeat):
        numbers = accuracies(data, method, repeat)["accuracy"]
        lost = data == "set 0" and method == "HGC+FE"
        return {"accuracy": [one - 0.3 * lost for one in numbers]}

    results = folds([f"set {k}" for k in range(33)], worse_once)
    view = view_of(experiment("table2"), results)
    assert "HGC+FE >> NB+FE: no, 32/0/1." in view.verdict
    assert view.holds is False


def test_only_sets_of_which_all_is_known_are_compared():
    whole = folds(["iris", "glass"], accuracies, (1, 2))
    some = [c for c in whole.cells if c.parameters["data"] == "weka33/iris"]
    numbers = dict(whole)
    for left_out in (
        some[0],  # one repetition of one method
        [c for c in some if c.parameters["repeat"] == 2],  # one repetition of all
    ):
        gone = left_out if isinstance(left_out, list) else [left_out]
        results = Results.of([c for c in whole.cells if c not in gone], numbers)
        assert common(results, METHODS, "accuracy").datasets == ("glass",)
    nothing = view_of(experiment("table2"), whole.where(method="NB+FE"))
    assert nothing.holds is None
    assert nothing.tables[0].rows == ()


def published_counts(correlation, test_share):
    """Wins and losses that a t-test would find in the published Table 1.

    Accuracies of the 100 folds of two methods have the published means and deviations
    and this correlation.
    """
    table = {
        (row["dataset"], row["classifier"]): (float(row["accuracy"]), float(row["std"]))
        for row in experiment("table1").published
    }
    found = {}
    for row in experiment("table2").published:
        pair = row["row"], row["column"]
        wins = losses = 0
        for data in {name for name, _ in table}:
            (one, sd), (other, sd_other) = (table[data, method] for method in pair)
            variance = sd**2 + sd_other**2 - 2 * correlation * sd * sd_other
            error = np.sqrt(max(variance, 1e-12) * (1 / 100 + test_share))
            t = (one - other) / error
            if 2 * student.sf(abs(t), 99) < 0.05:
                wins += t > 0
                losses += t < 0
        found[pair] = wins, losses
    return found


def test_the_paper_made_the_corrected_test():
    published = {
        (row["row"], row["column"]): (int(row["win"]), int(row["loss"]))
        for row in experiment("table2").published
    }
    n_published = sum(map(sum, published.values()))
    assert n_published == 110
    # Folds are the same for all methods, so that 0 is the least correlation.
    plain = published_counts(0.0, 0.0)
    assert sum(map(sum, plain.values())) == 260
    corrected = published_counts(0.4, 1 / 9)
    assert sum(map(sum, corrected.values())) == 107
    # The one entry that is the wrong way round.
    pair = ("NB+FE", "NB+Ada")
    assert published[pair] == (9, 5)
    assert corrected[pair] == (4, 9)


def test_ratios_of_times():
    seconds = dict(zip(METHODS, (0.5, 0.25, 50.0, 5.0, 1.0, 2.0), strict=True))
    results = folds(
        ["iris", "glass"], lambda s, m, _: {"seconds": [seconds[m] * len(s)] * 2}
    )
    view = view_of(experiment("table3"), results)
    means = {row[0]: row for row in view.tables[1].rows}
    assert means["NB+ELR"][4] == "100"
    assert means["NB+DFE"][3:] == ("1", "1")
    ratio = np.sqrt(317.4304 / 0.0005 * 205.4710 / 0.0008)
    assert float(means["NB+ELR"][3].replace(",", "")) == pytest.approx(ratio, rel=0.01)
    assert "NB+ELR > NB+Ada: yes, 10 times as long." in view.verdict
    assert view.holds is True
    row = next(r for r in view.tables[0].rows if r[:2] == ("glass", "NB+FE"))
    assert row == ("glass", "NB+FE", 0.0002, 1.25, pytest.approx(0.25), 0.5)


def test_times_of_some_methods():
    results = folds(["iris"], lambda *_: {"seconds": [1.0]}).where(method="NB+FE")
    view = view_of(experiment("table3"), results)
    assert view.holds is None
    assert view.tables[1].rows == ()


def test_probabilities_step_by_step(drawn):
    known = {
        Cell(
            "duplicate_features", {"learner": learner, "alpha": alpha, "n_steps": 10}
        ): {"probability": np.linspace(1.0, end, 10).tolist()}
        for learner, alpha, end in (
            ("FE", 0.0, 0.67),
            ("DFE", 0.0, 0.41),
            ("FE", 1.0, 0.6),
        )
    }
    view = view_of(experiment("figure2"), Results.of(list(known), known))
    assert view.holds is True
    assert [row[0] for row in view.tables[0].rows] == [
        "FE",
        "DFE",
        "FE, 1 in every cell",
    ]
    assert view.tables[0].rows[1][2:] == (0.4, 0.41, pytest.approx(0.01))
    assert [row[0] for row in view.tables[2].rows] == ["5", "10"]
    drawn(view, 1)


def pass_accuracy(sets, test):
    known = {
        Cell("pass_accuracy", {"data": f"weka33/{s}", "passes": p}): {
            "training": [0.9, 1.0],
            "test": [test(s, p)] * 2,
        }
        for s, p in product(sets, (1, 4, 16))
    }
    return Results.of(list(known), known)


def test_accuracy_by_passes(drawn):
    steady = pass_accuracy(["vowel", "sick", "letter"], lambda s, p: 0.9 + 0.0001 * p)
    view = view_of(experiment("figure3"), steady)
    assert view.holds is True
    assert "on 0 of 3 datasets" in view.verdict
    assert view.tables[0].rows[0] == (
        "vowel", 1, 90.0, pytest.approx(90.01), pytest.approx(0.01), pytest.approx(95.0)
    )  # fmt: skip
    assert view.tables[1].rows[1] == (
        "sick", pytest.approx(90.01), pytest.approx(0.15), 16
    )  # fmt: skip
    assert view.tables[2].head == ("passes", "vowel", "sick", "letter")
    heights = drawn(view, 2)
    assert heights[0] == pytest.approx(heights[1])
    falling = pass_accuracy(["sick"], lambda _, p: 0.9 - 0.001 * p)
    fallen = view_of(experiment("figure3"), falling)
    assert "on 1 of 1 datasets" in fallen.verdict
    assert "sick -1.50 (16)." in fallen.verdict
    assert fallen.holds is False
    slow = pass_accuracy(
        ["vowel", "sick"], lambda s, p: 0.9 + 0.001 * p * (s != "sick")
    )
    assert view_of(experiment("figure3"), slow).holds is True
    alone = view_of(experiment("figure3"), pass_accuracy(["vowel"], lambda *_: 0.9))
    assert alone.holds is None
    assert alone.draw is None


def small_samples(heights):
    """Accuracies of NB+DFE, NB+ELR and NB+FE by dataset, in two runs each."""
    known = {
        Cell(
            "small_sample_accuracy", {"data": f"weka33/{s}", "method": m, "n_rows": n}
        ): {"accuracy": [height, 1.01 * height]}
        for s, of_set in heights.items()
        for m, height in zip(("NB+DFE", "NB+ELR", "NB+FE"), of_set, strict=True)
        for n in (10, 50)
    }
    return Results.of(list(known), known)


AS_PUBLISHED = {
    "credit-g": (0.6, 0.65, 0.7),
    "hypothyroid": (0.6, 0.65, 0.7),
    "kr-vs-kp": (0.8, 0.75, 0.7),
    "mushroom": (0.8, 0.75, 0.7),
    "splice": (0.8, 0.6, 0.7),
}


def test_accuracy_by_rows(drawn):
    results = small_samples(AS_PUBLISHED)
    view = view_of(experiment("figure4"), results)
    assert view.verdict == (
        "NB+FE is significantly ahead of all others on credit-g, hypothyroid (the "
        "paper: credit-g, hypothyroid) and significantly behind all of them on "
        "kr-vs-kp, mushroom (the paper: kr-vs-kp, mushroom), of 5 datasets."
    )
    assert view.holds is True
    assert view.tables[1].rows[0] == (
        "credit-g",
        *(pytest.approx(100.5 * x) for x in (0.6, 0.65, 0.7)),
    )
    drawn(view, 5)
    none = view_of(experiment("figure4"), results.where(method="NB+FE"))
    assert none.holds is None


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({"splice": (0.6, 0.6, 0.7)}, False),  # ahead on another dataset
        ({"mushroom": (0.8, 0.6, 0.7)}, False),  # not behind both
        ({"letter": (0.8, 0.8, 0.7)}, True),  # behind on another one is not denied
    ],
)
def test_few_samples_judge_the_datasets_that_the_paper_names(change, holds):
    results = small_samples(AS_PUBLISHED | change)
    assert view_of(experiment("figure4"), results).holds is holds


@pytest.fixture
def drawn():
    """Draws a view, if matplotlib is there, and counts the panels to be seen."""

    def draw(view, n_panels):
        figures = pytest.importorskip("matplotlib.figure")
        figure = figures.Figure(layout="constrained")
        view.draw(figure)
        assert sum(axes.get_visible() for axes in figure.axes) == n_panels
        return [np.ptp(axes.get_ylim()) for axes in figure.axes[:n_panels]]

    return draw
