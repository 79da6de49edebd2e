"""Parts in model files of earlier versions, as parts of this version."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Arguments = dict[str, Any]
"""Constructor arguments of a part, as plain JSON values."""

Migration = Callable[[Arguments], tuple[str, Arguments]]
"""From the arguments of an earlier version to a class name and its arguments."""

NAMES = 2
"""The short names of this version, which model files state.

Files without such a number have those of version 1, in which "cl" was penalised and
k-trees bounded the number of parents only.
"""

RENAMED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "parameters": (("cl", "rcl"),),
    "score": (("crcl", "crrcl"),),
    "structure": (
        (r"(\d+)-tree-((?!res).*)", r"\1-parent-\2"),
        (r"(.*)-crcl", r"\1-crrcl"),
    ),
}
"""By argument: patterns of short names of version 1, and what means the same since."""


def rename(document: Any) -> Any:
    """Replace short names of version 1 in the arguments of a model file.

    Examples
    --------
    >>> rename({"structure": "2-tree-cr", "parameters": "CL", "unknown": "error"})
    {'structure': '2-parent-cr', 'parameters': 'rcl', 'unknown': 'error'}
    """
    if isinstance(document, list):
        return [rename(item) for item in document]
    if not isinstance(document, Mapping):
        return document
    renamed = {}
    for key, value in document.items():
        for old, new in RENAMED.get(key, ()):
            if isinstance(value, str) and re.fullmatch(old, value, re.IGNORECASE):
                value = re.sub(old, new, value, flags=re.IGNORECASE)
        renamed[key] = rename(value)
    return renamed


def migrate(document: Any) -> Any:
    """Replace the parts of earlier versions in the arguments of a model file.

    A part is a mapping with the keys "part", the name of its class, and "arguments".
    The result has the names and arguments of this version. Arguments that no version
    wrote raise `ValueError`.

    Examples
    --------
    >>> old = {"part": "MaxMargin", "arguments": {"gamma": 2.0, "eta": 5.0}}
    >>> new = migrate(old)
    >>> new["part"], new["arguments"]["loss"]["part"]
    ('LossMinimizer', 'MarginLoss')
    """
    if isinstance(document, list):
        return [migrate(item) for item in document]
    if not isinstance(document, Mapping):
        return document
    migrated = {key: migrate(value) for key, value in document.items()}
    if set(migrated) == {"part", "arguments"}:
        change = MIGRATIONS.get(migrated["part"])
        if change is not None:
            migrated = _part(*change(dict(migrated["arguments"])))
    return migrated


def _part(name: str, arguments: Arguments) -> Arguments:
    return {"part": name, "arguments": arguments}


def _migrate_elr(arguments: Arguments) -> tuple[str, Arguments]:
    """`ELR` with a convex solver is `ConditionalLikelihood`."""
    solver = arguments.get("solver", "convex")
    if solver not in ("cg", "cg-theta", "lbfgs", "convex", "auto"):
        raise ValueError(f"ELR has no solver {solver!r}")
    own = ("folds", "start", "alpha", "zero", "tol", "max_iter")
    kept = {name: arguments[name] for name in own if name in arguments}
    if solver not in ("convex", "auto"):
        return "ELR", {"solver": solver, **kept}
    fallback = None
    if solver == "auto":
        fallback = _part("ELR", {"solver": "lbfgs", **kept})
    shared = ("C", "smooth", "interactions", "pair_bins", "tol")
    found = {name: arguments[name] for name in shared if name in arguments}
    # Without folds there was no C="cv", and the number of folds had no effect.
    found["folds"] = 3 if (folds := arguments.get("folds", 5)) is None else folds
    steps = arguments.get("max_iter")
    found["max_iter"] = 500 if steps is None else steps
    return "ConditionalLikelihood", {**found, "fallback": fallback}


def _migrate_margin_learner(
    arguments: Arguments, loss: str, own: tuple[str, ...]
) -> tuple[str, Arguments]:
    """Learners with a margin loss are `LossMinimizer` with that loss."""
    of_loss = {name: arguments.pop(name) for name in own if name in arguments}
    return "LossMinimizer", {**arguments, "loss": _part(loss, of_loss)}


def _join_constraints(name: str, arguments: Arguments) -> tuple[str, Arguments]:
    """Three arguments of structure learners became one value, `Constraints`."""
    old = {"required_arcs": "required", "forbidden_arcs": "forbidden", "tiers": "tiers"}
    given = {old[key]: arguments.pop(key) for key in old if key in arguments}
    given = {key: value for key, value in given.items() if value is not None}
    if given:
        if arguments.get("constraints") is not None:
            raise ValueError(f"{name} has constraints twice, as one value and several")
        arguments["constraints"] = _part("Constraints", given)
    return name, arguments


_CONSTRAINED = (
    "ChowLiu", "ConstraintBased", "GreedyKTree", "GumbelTree", "HillClimbing", "KDB",
    "OrderBased", "RandomTree", "ResidualTree", "SuperParent",
)  # fmt: skip

MIGRATIONS: Mapping[str, Migration] = {
    "ELR": _migrate_elr,
    "MaxMargin": lambda arguments: _migrate_margin_learner(
        arguments, "MarginLoss", ("gamma", "eta")
    ),
    "Hybrid": lambda arguments: _migrate_margin_learner(
        arguments, "HybridLoss", ("lambda_", "gamma", "eta")
    ),
    **{name: partial(_join_constraints, name) for name in _CONSTRAINED},
}
"""Migrations by the name that the class had; arguments of this version pass through."""
