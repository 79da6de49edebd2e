"""The errors and the warning of tanager, and the words for an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

MAX_MESSAGE = 2000
"""Characters of a message; of a longer one the middle is left out."""


class TanagerError(Exception):
    """Base of every error that tanager raises on purpose.

    Messages quote names and values of the data, which may be of any length, so they
    are bounded: beginning and end stay, which say what was wrong and what to do.

    Examples
    --------
    >>> len(str(InputError("Unknown state '" + 10**6 * "x" + "'; check its name.")))
    2000
    """

    def __init__(self, message: str = "") -> None:
        if len(message) > MAX_MESSAGE:
            end = MAX_MESSAGE // 4
            message = f"{message[: MAX_MESSAGE - end - 5]} ... {message[-end:]}"
        super().__init__(message)


class InputError(TanagerError, ValueError):
    """The data or an argument cannot be used; the message says what to do."""


class CapabilityError(TanagerError, TypeError):
    """Two parts do not fit: says who, with whom, and what is missing."""


class NetworkOnlyError(CapabilityError, AttributeError):
    """A query of a `Network` was put to a model that is none: it has no such name."""


class TableSizeError(TanagerError, ValueError):
    """A probability or count table would be larger than allowed."""


class PartitionError(TanagerError, RuntimeError):
    """A part of distributed data, or the cluster that holds it, has failed."""


class TimeLimitError(TanagerError, TimeoutError):
    """`max_seconds` ended a fit before there was any model."""


class FileFormatError(TanagerError, ValueError):
    """A file is damaged, hostile or of an unknown kind."""


class DataWarning(UserWarning):
    """The data can be used, but not as they look; the message says what to do."""


def unknown_name(what: str, name: object, known: Iterable[object]) -> InputError:
    """Word the error for a name that is not known, with the nearest ones.

    Parameters
    ----------
    what : str
        The kind of thing, for instance ``"feature"``.
    name : object
        The name that was asked for.
    known : iterable
        The names that exist.

    Returns
    -------
    InputError
        Ready to be raised.

    Examples
    --------
    >>> str(unknown_name("method", "TAN-CM-ML", ["NB-ML", "TAN-CMI-ML"]))
    "Unknown method 'TAN-CM-ML'. Did you mean 'TAN-CMI-ML'?"
    """
    names = list(known)
    folded = {str(item).casefold(): item for item in reversed(names)}
    near = [
        folded[match]
        for match in difflib.get_close_matches(
            str(name).casefold(), list(folded), n=3, cutoff=0.6
        )
    ]
    if near:
        hint = "Did you mean " + " or ".join(repr(item) for item in near) + "?"
        if str(near[0]) == str(name) and type(near[0]) is not type(name):
            kind, other = type(name).__name__, type(near[0]).__name__
            hint = f"{near[0]!r} is known, of type {other}; {name!r} is of type {kind}."
    else:
        hint = f"Known: {listed(names)}." if names else "None is known."
    return InputError(f"Unknown {what} {name!r}. {hint}")


def listed(names: Sequence[object], most: int = 10) -> str:
    """Names one after the other, the last ones left out where there are many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
