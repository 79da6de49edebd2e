import numpy as np
import pytest

from tanager.compare import (
    Results,
    bayesian_tests,
    means_table,
    paired_t_tests,
    summary,
    wilcoxon_tests,
    win_tie_loss,
)
from tanager.errors import InputError


def make(n_sets=6, n_folds=5, **keywords):
    random = np.random.default_rng(0)
    return Results.from_mapping(
        {
            (f"dataset {d}", m): 0.7 + 0.03 * k + random.normal(0, 0.02, n_folds)
            for d in range(n_sets)
            for k, m in enumerate(("NB", "TAN", "2-tree"))
        },
        **keywords,
    )


def cells(text):
    return [
        [c.strip() for c in line.strip("|").split("|")] for line in text.split("\n")
    ]


def test_means_table():
    results = Results.from_mapping(
        {
            ("a", "x"): [0.5, 0.7],
            ("a", "y"): [0.7, 0.5],
            ("b", "x"): 0.9,
            ("b", "y"): 0.8,
        },
        sizes={"a": 300, "b": 100},
    )
    table = cells(means_table(results, digits=2, test_rows={"b": 400}))
    assert table[0] == ["dataset", "x", "y"]
    # Equal means are not bold; sqrt(2) / 10 and sqrt(p (1 - p) / 400).
    assert table[2] == ["a", "0.60 ± 0.14", "0.60 ± 0.14"]
    assert table[3] == ["b", "**0.90** ± 0.01", "0.80 ± 0.02"]
    assert table[4] == ["average", "**0.75**", "0.70"]
    assert table[5] == ["average by rows", "**0.68**", "0.65"]
    assert table[6] == ["average rank", "**1.25**", "1.75"]


def test_lower_is_better():
    results = Results.from_mapping(
        {("a", "x"): 0.5, ("a", "y"): 0.7}, higher_is_better=False
    )
    table = cells(means_table(results))
    assert table[2] == ["a", "**0.500**", "0.700"]
    assert table[3] == ["average", "**0.500**", "0.700"]


def test_names_stay_in_their_cells():
    results = Results.from_mapping({("a|b", "two\nlines"): 1.0, ("a|b", "y"): 2.0})
    lines = means_table(results).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert lines[2].startswith("| a\\|b")
    assert "two lines" in lines[0]


def test_the_summary_has_all_parts():
    results = make()
    text = summary(results, rope=0.02, alpha=0.1)
    for part in (
        means_table(results),
        paired_t_tests(results, alpha=0.1).markdown(),
        win_tie_loss(results, alpha=0.1).markdown(),
        wilcoxon_tests(results, alpha=0.1).markdown(),
        bayesian_tests(results, 0.02, random_state=0).markdown(),
        "Friedman test over 6 datasets",
        "critical difference",
    ):
        assert part in text
    assert summary(results, rope=0.02, alpha=0.1) == text


def test_what_cannot_be_tested_is_left_out():
    assert "Wins/ties/losses" not in summary(make(n_folds=1))
    single = summary(make(n_sets=1))
    assert "Friedman" not in single
    assert "Bayesian" not in single
    assert "Wins/ties/losses" in single


def test_bad_input():
    with pytest.raises(InputError, match="at least 2 methods, got 1"):
        summary(make().select(["NB"]))
    with pytest.raises(InputError, match="rope must be"):
        summary(make(), rope=-1)
    with pytest.raises(InputError, match="digits must be"):
        summary(make(), digits=-1)
    with pytest.raises(InputError, match="alpha must be"):
        summary(make(), alpha=0)
