"""Learners in model files of earlier versions."""

from __future__ import annotations

import json

import pytest

from tanager import (
    ELR,
    KDB,
    BayesNetClassifier,
    ConditionalLikelihood,
    LossMinimizer,
    OrderBased,
    load,
)
from tanager.losses import HybridLoss, MarginLoss
from tanager.registry.migration import migrate

ELR_DEFAULTS = {
    "solver": "convex",
    "C": 1.0,
    "smooth": False,
    "interactions": None,
    "pair_bins": None,
    "folds": 5,
    "alpha": 1.0,
    "tol": 1e-4,
    "max_iter": None,
}
MARGIN_DEFAULTS = {
    "gamma": 2.0,
    "eta": 5.0,
    "epochs": 7,
    "batch_size": 100,
    "rate": 0.03,
    "decay": 1e-3,
    "early_stopping": None,
    "patience": 20,
    "start": "frequency",
    "alpha": 1.0,
}


def part(name, **arguments):
    return {"part": name, "arguments": arguments}


def elr(**arguments):
    return part("ELR", **{**ELR_DEFAULTS, **arguments})


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (elr(), ConditionalLikelihood(folds=5)),
        (part("ELR"), ConditionalLikelihood(folds=5)),
        (elr(folds=None, max_iter=9), ConditionalLikelihood(folds=3, max_iter=9)),
        (
            elr(C="cv", folds=3, interactions=2, pair_bins=6, smooth=True),
            ConditionalLikelihood(C="cv", interactions=2, pair_bins=6, smooth=True),
        ),
        (
            elr(solver="auto", C="cv", folds=3),
            ConditionalLikelihood(C="cv", fallback=ELR(solver="lbfgs", folds=3)),
        ),
        (elr(solver="cg", folds=None, max_iter=9), ELR(folds=None, max_iter=9)),
        (part("ELR", **ELR(solver="lbfgs").get_params()), ELR(solver="lbfgs")),
        (
            part("MaxMargin", **MARGIN_DEFAULTS),
            LossMinimizer(loss=MarginLoss(gamma=2.0, eta=5.0), epochs=7),
        ),
        (
            part("Hybrid", lambda_=3.0, **MARGIN_DEFAULTS),
            LossMinimizer(loss=HybridLoss(lambda_=3.0, gamma=2.0, eta=5.0), epochs=7),
        ),
    ],
)
def test_old_learners_become_those_of_this_version(document, expected, tmp_path):
    model = BayesNetClassifier(structure="nb", parameters=expected)
    model.fit([["a"], ["b"]] * 3, [0, 1] * 3).save(tmp_path / "new.json")
    text = (tmp_path / "new.json").read_text(encoding="utf-8")
    stored = json.loads(text)
    stored["classifier"]["arguments"]["parameters"] = document
    (tmp_path / "old.json").write_text(json.dumps(stored), encoding="utf-8")
    found = load(tmp_path / "old.json").parameters
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"structure": "nb", "parameters": "CL"}, {"parameters": "rcl"}),
        ({"structure": "2-tree-omi-cr"}, {"structure": "2-parent-omi-cr"}),
        ({"structure": "2-Tree-Gumbel"}, {"structure": "2-parent-Gumbel"}),
        ({"structure": "2-tree-res"}, {"structure": "2-tree-res"}),
        ({"structure": "tan-omi-crcl"}, {"structure": "tan-omi-crrcl"}),
        (
            {"structure": part("OrderBased", score="crcl")},
            {"structure": OrderBased(score="crrcl")},
        ),
        (
            {"structure": part("KDB", k=2), "parameters": "ml"},
            {"structure": KDB(k=2), "parameters": "ml"},
        ),
    ],
    ids=str,
)
def test_short_names_of_earlier_versions_keep_their_meaning(old, new, tmp_path):
    found = loaded_with(old, tmp_path, names=None)
    for argument, value in new.items():
        assert repr(getattr(found, argument)) == repr(value)


def test_short_names_of_this_version_stay(tmp_path):
    new = {"structure": "2-tree-omi-crcl", "parameters": "cl"}
    found = loaded_with(new, tmp_path, names=2)
    assert (found.structure, found.parameters) == tuple(new.values())


def loaded_with(arguments, folder, *, names):
    """A classifier from a file with these arguments and this version of names."""
    model = BayesNetClassifier(structure="nb", parameters="fe")
    model.fit([["a"], ["b"]] * 3, [0, 1] * 3).save(folder / "model.json")
    stored = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    about = stored["classifier"]
    assert about.pop("names") == 2
    if names is not None:
        about["names"] = names
    about["arguments"] |= arguments
    (folder / "model.json").write_text(json.dumps(stored), encoding="utf-8")
    return load(folder / "model.json")


def test_parts_within_parts_and_lists():
    old = {"list": [{"pairs": [["a", part("MaxMargin", gamma=1.0)]]}, 3]}
    (pairs, three) = migrate(old)["list"]
    assert three == 3
    assert pairs["pairs"][0][1]["arguments"]["loss"] == part("MarginLoss", gamma=1.0)


def test_parts_of_this_version_stay():
    new = part("ConditionalLikelihood", C="cv", fallback=part("ELR", solver="cg"))
    assert migrate(new) == new


@pytest.mark.parametrize("solver", ["foo", ["cg"], None])
def test_unknown_solvers_are_refused(solver):
    with pytest.raises(ValueError, match="ELR has no solver"):
        migrate(elr(solver=solver))


@pytest.mark.parametrize("old", ["required_arcs", "forbidden_arcs", "tiers"])
def test_constraints_are_not_overwritten(old):
    constraints = part("Constraints", required={"list": []})
    new = part("KDB", constraints=constraints)
    assert migrate(part("KDB", constraints=constraints, **{old: None})) == new
    both = part("KDB", constraints=constraints, **{old: {"list": []}})
    with pytest.raises(ValueError, match="KDB has constraints twice"):
        migrate(both)


def test_elr_of_this_version_is_kept():
    arguments = {"solver": "cg-theta", "folds": None, "start": "random", "alpha": 2.0}
    part = {"part": "ELR", "arguments": arguments}
    assert migrate(part) == part
