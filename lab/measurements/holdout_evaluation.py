"""Scores of a classifier on held-out samples, as Greiner et al. (2005) measure them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from lab.measurements.cross_validation import Split, classifier, scored
from lab.measurements.dataset_preparation import rows_of
from lab.measurements.mdl_encoder_variants import ENCODERS
from lab.runner.cell import Numbers
from tanager import InputError
from tanager.datasets import load, remove_values
from tanager.parameters import ELR, Frequency
from tanager.structure import Constraints, Fixed
from tanager.types import IndexArray

PAPER = "greiner2005"

INDEPENDENCE: dict[str, dict[str, Any]] = {
    "g2": {"structure__test": "g2"},
    "uncorrected": {"structure__bias_correction": False},
}
"""Arguments of independence tests of general networks, by name."""


def holdout_scores(
    *,
    data: str,
    method: str,
    fold: int | None = None,
    n_folds: int = 5,
    repeat: int = 1,
    missing_as: str | None = None,
    removed: float = 0.0,
    missing_in_test: bool = False,
    whole_structure: bool = False,
    n_rows: int | None = None,
    encoder: str = "mdl",
    threshold: float | None = None,
    max_steps: int | None = None,
    independence: str | None = None,
    zero: float | None = None,
    class_arcs: str | None = None,
) -> Numbers:
    """Accuracy, log loss and seconds of fit on one fold or on the published split.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str
        Name of a classifier, such as ``NB+ELR``.
    fold : int or None, default=None
        Which fold is held out, from 1; None is the published split of the dataset.
    n_folds : int, default=5
        Number of folds, not stratified.
    repeat : int, default=1
        Which repetition: the seed of the folds, of the gaps and of the choice of
        samples.
    missing_as : str or None, default=None
        Read a missing nominal feature as this further state.
    removed : float, default=0.0
        Probability with which every feature value is removed.
    missing_in_test : bool, default=False
        Whether values are removed from the held-out samples, too.
    whole_structure : bool, default=False
        Whether the structure is learned from all samples of the dataset, before values
        are removed and held-out samples.
    n_rows : int or None, default=None
        Learn from so many of the training samples, chosen at random.
    encoder : str, default="mdl"
        How numbers become states, by the training samples: a name of `ENCODERS`.
    threshold : float or None, default=None
        Nats of information at which a general network takes two variables for
        dependent; None leaves it at the default of the learner.
    max_steps : int or None, default=None
        Steps that ELR takes at most, in cross tuning and after it; None leaves it at
        the default of the learner. Only for methods with ELR.
    independence : {"g2", "uncorrected"} or None, default=None
        Test of general networks: G2, or mutual information whose expectation is not
        subtracted; None leaves it at the default of the learner.
    zero : float or None, default=None
        Probability that stands for zero in frequencies, in place of Laplace's rule.
    class_arcs : {"out", "in"} or None, default=None
        Which arcs a general network may have at the class; None for all.
    """
    X, y = rows_of(data, None, missing_as)
    train, test = parted(data, len(y), fold, n_folds, repeat)
    random = np.random.default_rng(repeat)
    if n_rows is not None:
        if n_rows > len(train):
            raise InputError(
                f"'{data}' has {len(train)} training samples; n_rows={n_rows} is more."
            )
        train = random.permutation(train)[:n_rows]
    if max_steps is not None and not method.endswith("+ELR"):
        raise InputError(f"max_steps is for methods with ELR; {method!r} has none.")
    options = classifier_options(encoder, threshold, max_steps, independence, zero)
    if class_arcs is not None:
        options["structure__constraints"] = class_constraints(X.columns, class_arcs)
    model = classifier(method, PAPER, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        if whole_structure:
            model.set_params(structure=known_structure(model, X, y))
        gaps = remove_values(X, removed, random_state=random)
        asked = gaps if missing_in_test else X
        part = Split(gaps.iloc[train], y[train], asked.iloc[test], y[test])
        scores = scored(model, part)
    warned = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
    return scores | {"test_rows": float(len(test)), "warnings": float(warned)}


def classifier_options(
    encoder: str = "mdl",
    threshold: float | None = None,
    max_steps: int | None = None,
    independence: str | None = None,
    zero: float | None = None,
) -> dict[str, Any]:
    """Arguments of `tanager.BayesNetClassifier.from_name` for an interpretation.

    Examples
    --------
    >>> classifier_options("mdl in class units", threshold=0.05)
    {'encoder': ClassUnitsEncoder(), 'structure__threshold': 0.05}
    """
    options = {
        "encoder": ENCODERS[encoder],
        "structure__threshold": threshold,
        "parameters__max_iter": max_steps,
        **({} if independence is None else INDEPENDENCE[independence]),
        "parameters__zero": zero,
    }
    return {name: value for name, value in options.items() if value is not None}


def class_constraints(features: Iterable[str], arcs: str) -> Constraints:
    """Constraints under which all arcs at the class lead out of it, or into it.

    Examples
    --------
    >>> class_constraints(["x"], "out")
    Constraints(required=(), forbidden=(('x', 'class'),), tiers=())
    """
    pairs = [(str(name), "class") for name in features]
    if arcs == "in":
        pairs = [(child, parent) for parent, child in pairs]
    return Constraints(forbidden=pairs)


def iteration_errors(
    *, data: str, method: str, fold: int, n_folds: int, repeat: int, iterations: int
) -> Numbers:
    """Training and test error of ELR after every iteration, from its start on.

    Parameters
    ----------
    data : str
        Name of the dataset.
    method : str
        Name of a classifier with ELR.
    fold, n_folds, repeat : int
        As of `holdout_scores`.
    iterations : int
        How many are watched.

    Returns
    -------
    mapping
        "training_error" and "test_error", a number for the start and for every
        iteration; "tuned", the number of iterations that cross tuning chooses, and
        "tuned_error", the test error after them.
    """
    X, y = rows_of(data)
    train, test = parted(data, len(y), fold, n_folds, repeat)
    errors: dict[str, list[float]] = {"training_error": [], "test_error": []}
    model = classifier(method, PAPER)
    tuned = model.fit(X.iloc[train], y[train])
    chosen = float(tuned.parameters_.n_iter_)
    tuned_error = 1.0 - tuned.score(X.iloc[test], y[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for k in range(iterations + 1):
            learner = ELR(solver="cg", folds=None, max_iter=k) if k else Frequency()
            model.set_params(parameters=learner).fit(X.iloc[train], y[train])
            for name, rows in (("training_error", train), ("test_error", test)):
                errors[name].append(1.0 - model.score(X.iloc[rows], y[rows]))
    return errors | {"tuned": chosen, "tuned_error": tuned_error}


def parted(
    data: str, n_rows: int, fold: int | None, n_folds: int, repeat: int
) -> tuple[IndexArray, IndexArray]:
    """Training and test samples: those of a fold, or of the published split."""
    rows = np.arange(n_rows)
    if fold is not None:
        folds = KFold(n_folds, shuffle=True, random_state=repeat)
        train, test = list(folds.split(rows))[fold - 1]
        return train, test
    border = load(data).n_train
    if border is None:
        raise InputError(
            f"No split of '{data}' into training and test samples is published; name a "
            "fold instead."
        )
    return rows[:border], rows[border:]


def known_structure(model: Any, X: Any, y: npt.NDArray[Any]) -> Fixed:
    """The structure that a classifier finds in some rows, as one that is given."""
    found = clone(model).set_params(parameters=Frequency()).fit(X, y)
    return Fixed(edges=found.network_.edges, class_rooted=False)
