"""Incomplete data: removing values completely at random."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tanager.datasets._dataset import TARGET, Dataset
from tanager.datasets._generator_checks import RandomState
from tanager.errors import InputError
from tanager.types import BoolArray
from tanager.utils.validation import check_number

Table = TypeVar("Table")


def remove_values(
    frame: Table,
    probability: float = 0.25,
    *,
    target: str = TARGET,
    random_state: RandomState = 0,
) -> Table:
    """Remove feature values completely at random.

    Parameters
    ----------
    frame : Dataset, pandas.DataFrame or dict of str to ndarray
        The table; it is not changed.
    probability : float, default=0.25
        Probability with which each value is removed, independently.
    target : str, default="class"
        Column to leave alone, if there is one of that name; for a `Dataset` its own.
    random_state : int, numpy.random.Generator or None, default=0
        Seed.

    Returns
    -------
    Dataset, pandas.DataFrame or dict of str to ndarray
        As given, with missing values: NaN in numeric columns, which become float64,
        missing categories, None in arrays of text.

    References
    ----------
    R. Greiner, X. Su, B. Shen, W. Zhou (2005), "Structural extension to logistic
    regression", Machine Learning 59, section 5.1.3.

    Examples
    --------
    >>> import numpy as np
    >>> table = {"x": np.arange(4), "class": np.array(["a", "b", "a", "b"])}
    >>> remove_values(table, 0.5, random_state=1)["x"]
    array([ 0.,  1., nan,  3.])
    """
    check_number("probability", probability, least=0, most=1)
    if isinstance(frame, Dataset):
        removed = remove_values(
            frame.frame, probability, target=frame.target, random_state=random_state
        )
        return replace(frame, frame=removed)
    table: Any = frame
    if not isinstance(table, dict) and not hasattr(table, "mask"):
        raise InputError(
            "`frame` must be a Dataset, a pandas data frame or a dict of arrays, got "
            f"{type(frame).__name__}."
        )
    if probability == 0:
        return frame
    rng = np.random.default_rng(random_state)
    changed = {}
    for name in table:
        if name == target:
            continue
        gone = rng.random(len(table[name])) < probability
        if isinstance(table, dict):
            changed[name] = _without(np.asarray(table[name]), gone)
        else:
            changed[name] = table[name].mask(gone)
    if isinstance(table, dict):
        return {**table, **changed}  # type: ignore[return-value]
    return table.assign(**changed)  # type: ignore[no-any-return]


def _without(values: npt.NDArray[Any], gone: BoolArray) -> Any:
    if values.dtype.kind in "iuf":
        return np.where(gone, np.nan, values)
    texts = values.astype(object)
    texts[gone] = None
    return texts
