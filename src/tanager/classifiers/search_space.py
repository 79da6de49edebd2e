"""What there is to tune in a classifier, and over which ranges."""

from __future__ import annotations

from copy import copy
from typing import Any, NoReturn

from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator

from tanager.errors import InputError, listed
from tanager.registry import (
    is_auto,
    names,
    parameters_from,
    parse,
    structure_from,
)

RESOURCE = "epochs"
"""The argument of parts that are trained in passes over the samples."""

RANGES: dict[str, Any] = {
    "lambda_": loguniform(1e1, 1e3),
    "gamma": loguniform(1e-1, 1e2),
    "eta": uniform(1, 19),
    "rate": [3e-3, 3e-2],
}
"""Distributions to draw from, or values to choose among, by name of the argument."""


def tuning_space(classifier: Any) -> dict[str, Any]:
    """The settings of a classifier that are worth a search, and their ranges.

    Parameters
    ----------
    classifier : BayesNetClassifier or BoostedClassifier
        Not necessarily fitted. Its structure or parameter learner is trained in
        epochs, as `LossMinimizer` is.

    Returns
    -------
    dict from str to distribution or list
        What scikit-learn's searches, such as `RandomizedSearchCV`, take as
        ``param_distributions``: the weight ``lambda_``, the margin ``gamma``, the
        sharpness ``eta`` and the ``rate`` of the steps, as far as there are such. A
        learner that chooses its loss from the data gets a loss whose weights can be
        set; for one that chooses its rate, None stays one of the rates.

    Raises
    ------
    InputError
        If there is nothing to tune, or a learner is given by its short name, whose
        arguments cannot be set.

    See Also
    --------
    tuning_resource : The argument that stops bad settings early.

    Notes
    -----
    ``log10 lambda_`` is uniform between 1 and 3, ``log10 gamma`` between -1 and 2 and
    `eta` between 1 and 20; `rate` is 0.003 or 0.03. Of the two searches of [1]_ that
    is the narrower range of `lambda_`, and the one that samples `eta`: weights that
    hardly matter cost a random search next to nothing.

    References
    ----------
    .. [1] Roth, Pernkopf (2020), Differentiable TAN structure learning for Bayesian
       network classifiers, section 4.2.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> model = BayesNetClassifier.from_name("TAN-CMI-HYB")
    >>> space = tuning_space(model)
    >>> list(space)
    ['parameters__loss__lambda_', 'parameters__loss__gamma', 'parameters__loss__eta', \
'parameters__rate']
    >>> [float(bound) for bound in space["parameters__loss__lambda_"].support()]
    [10.0, 1000.0]
    """
    space: dict[str, Any] = {}
    for path, part in _parts_with_epochs(classifier):
        loss = part.get_params(deep=False).get("loss")
        chosen = loss is None and part.default_loss is not None
        if chosen:
            loss = part.default_loss()
        own = _ranges(loss, f"{path}__loss") if isinstance(loss, BaseEstimator) else {}
        if chosen and own:
            space[f"{path}__loss"] = [loss]
        space |= own | _ranges(part, path)
    if not space:
        _refuse(classifier)
    return space


def tuning_resource(classifier: Any) -> str:
    """The argument that says for how many epochs a classifier is trained.

    It is what scikit-learn's halving searches take as ``resource``: all settings are
    tried with few epochs, and only the better ones with more.

    Parameters
    ----------
    classifier : BayesNetClassifier or BoostedClassifier
        As in `tuning_space`.

    Returns
    -------
    str
        Of the structure learner if both learners are trained in epochs.

    Examples
    --------
    >>> from tanager import BayesNetClassifier
    >>> tuning_resource(BayesNetClassifier.from_name("NB-HYB"))
    'parameters__epochs'
    """
    parts = _parts_with_epochs(classifier)
    if not parts:
        _refuse(classifier)
    path, _ = parts[0]
    return f"{path}__{RESOURCE}"


def tunable_names() -> tuple[str, ...]:
    """The method names for which there is something to tune."""
    return tuple(
        name
        for name, recipe in ((name, parse(name)) for name in names())
        if any(
            RESOURCE in part.get_params(deep=False)
            for part in (recipe.structure, recipe.parameters)
        )
    )


def _parts_with_epochs(classifier: Any) -> list[tuple[str, Any]]:
    """The parts of a classifier that are trained in epochs, the structure first."""
    found = [
        (path, value)
        for path, value in classifier.get_params(deep=True).items()
        if isinstance(value, BaseEstimator) and RESOURCE in value.get_params(False)
    ]
    return sorted(found, key=lambda part: not part[0].endswith("structure"))


def _ranges(part: BaseEstimator, path: str) -> dict[str, Any]:
    """The ranges of a part's own arguments."""
    own = part.get_params(deep=False)
    found = {f"{path}__{name}": copy(RANGES[name]) for name in RANGES if name in own}
    if "rate" in own and own["rate"] is None:
        found[f"{path}__rate"].insert(0, None)
    return found


def _refuse(classifier: Any) -> NoReturn:
    """Say that there is nothing to tune, and what to do."""
    kinds = {"structure": structure_from, "parameters": parameters_from}
    learners = []
    for path, value in classifier.get_params(deep=True).items():
        make: Any = kinds.get(path.rpartition("__")[2])
        if make is None:
            continue
        if is_auto(value):
            learners.append("'auto'")
            continue
        learner = make(value)
        learners.append(type(learner).__name__)
        if isinstance(value, str) and RESOURCE in learner.get_params(deep=False):
            raise InputError(
                f"{path}={value!r} is a name, whose arguments cannot be set; give the "
                f"learner itself, {path}={learner}."
            )
    shown = ", ".join(dict.fromkeys(learners)) or "the usual ones"
    raise InputError(
        f"Nothing to tune: none of its learners ({shown}) is trained in epochs. "
        f"Methods that are: {listed(tunable_names())}."
    )
