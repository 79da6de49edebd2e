from __future__ import annotations

import pytest

from tanager import CapabilityError, InputError
from tanager.scores import ClassificationRate, CustomScore, score_from
from tanager.scores.score_names import SCORES
from tanager.structure import GreedyKTree


@pytest.mark.parametrize("name", SCORES)
def test_names_are_found_in_upper_and_lower_case(name):
    assert repr(score_from(name.upper())) == repr(score_from(name))


def test_crcl_learns_by_conditional_likelihood():
    assert score_from("crcl").get_params() == {"parameters": "cl", "folds": None}
    assert score_from("crrcl").get_params() == {"parameters": "rcl", "folds": None}


def test_a_score_is_copied():
    score = ClassificationRate(folds=5)
    again = score_from(score)
    assert again is not score
    assert again.folds == 5


def test_a_function_becomes_a_score():
    def rate(log_joint, labels, weights):
        return 1.0

    assert isinstance(score_from(rate), CustomScore)
    assert score_from(rate).function is rate


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"Unknown score 'bicc'. Did you mean 'bic'"):
        score_from("bicc")


@pytest.mark.parametrize(
    "part", [None, 3, ClassificationRate, GreedyKTree(), ["cr"]], ids=str
)
def test_what_is_no_score_is_refused(part):
    with pytest.raises(CapabilityError, match="is not a score; give a name such as"):
        score_from(part)
