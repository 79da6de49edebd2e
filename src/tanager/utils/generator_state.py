"""States of random generators as JSON values, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tanager.errors import InputError
from tanager.utils.fingerprint import to_json


def generator_state(random: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator as JSON values.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> state = generator_state(random)
    >>> first = random.random(3)
    >>> restore_generator(random, state)
    >>> bool((random.random(3) == first).all())
    True
    """
    state: dict[str, Any] = json.loads(to_json(random.bit_generator.state))
    return state


def restore_generator(random: np.random.Generator, state: Mapping[str, Any]) -> None:
    """Set a random generator, in place, to a state from `generator_state`.

    Raises
    ------
    InputError
        If the state is damaged, or that of a different kind of generator.
    """
    kind = type(random.bit_generator).__name__
    found = state.get("bit_generator") if isinstance(state, Mapping) else None
    if found != kind:
        raise InputError(
            f"The state of the random numbers is that of {found!r}, but random_state "
            f"is a generator of kind {kind!r}; give one of the same kind."
        )
    try:
        random.bit_generator.state = dict(state)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InputError(
            f"The state of the random numbers is damaged ({error}); start again."
        ) from error
