"""JSON with stable line breaks, read strictly."""

from __future__ import annotations

import json
from collections import Counter
from math import isinf
from typing import Any

from tanager.errors import FileFormatError, InputError

_INDENT = "  "


def encode_json(document: object) -> bytes:
    """Write plain data as indented JSON, lists of scalars on one line.

    Keys must be strings and numbers finite, otherwise `InputError` is raised. The order
    of keys is kept, and floats have the digits that restore them exactly.
    """
    # A lone surrogate is no UTF-8; its Python escape is also its JSON escape.
    return (_text(document, "\n") + "\n").encode("utf-8", "backslashreplace")


def _text(value: object, newline: str) -> str:
    """Write a value whose lines start with `newline`."""
    inner = newline + _INDENT
    if isinstance(value, dict) and value:
        if not all(isinstance(key, str) for key in value):
            raise InputError(f"Keys in a JSON file must be strings, got {list(value)}.")
        entries = [f"{_scalar(key)}: {_text(v, inner)}" for key, v in value.items()]
        return "{" + inner + f",{inner}".join(entries) + newline + "}"
    if isinstance(value, (list, tuple)):
        if any(isinstance(item, (dict, list, tuple)) for item in value):
            items = [_text(item, inner) for item in value]
            return "[" + inner + f",{inner}".join(items) + newline + "]"
        return _scalar(list(value))
    return _scalar(value)


def _scalar(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{value!r} cannot be kept in a JSON file ({error}); only strings, finite "
            "numbers, bools, None, and lists and dicts of them can."
        ) from None


def nesting(value: object) -> int:
    """How many lists and dicts are inside each other; 0 for a scalar.

    Examples
    --------
    >>> nesting(3), nesting([]), nesting({"a": [1, {"b": 2}]})
    (0, 1, 3)
    """
    depth, inner = 0, [value]
    while inner := [one for one in inner if isinstance(one, (dict, list, tuple))]:
        depth += 1
        inner = [
            item
            for one in inner
            for item in (one.values() if isinstance(one, dict) else one)
        ]
    return depth


def decode_json(content: bytes, what: str) -> Any:
    """Read the bytes of a UTF-8 JSON file strictly; `what` begins error messages.

    `FileFormatError` is raised for text that is empty, not UTF-8, not JSON, truncated
    or nested too deeply, for duplicate keys, NaN and infinite numbers.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise FileFormatError(
                f"{what} has the key {twice!r} twice in one object; which one is meant "
                "is not clear."
            )
        return found

    def finite(text: str) -> float:
        number = float(text)
        if isinf(number):
            raise FileFormatError(
                f"{what} holds the number {text[:20]}, which is too large."
            )
        return number

    def constant(text: str) -> float:
        raise FileFormatError(f"{what} holds {text}, which is not a JSON number.")

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            f"{what} is not UTF-8 text: byte 0x{content[error.start]:02x} at offset "
            f"{error.start}."
        ) from None
    if not text.strip():
        raise FileFormatError(f"{what} is empty.")
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_float=finite, parse_constant=constant
        )
    except json.JSONDecodeError as error:
        left = text[error.pos :].strip()
        if not left or error.msg.startswith("Unterminated string"):
            raise FileFormatError(
                f"{what} is cut short: it ends in line {text.count(chr(10)) + 1} in "
                "the middle of a value."
            ) from None
        raise FileFormatError(
            f"{what} is not JSON: {error.msg} in line {error.lineno}, column "
            f"{error.colno}."
        ) from None
    except RecursionError:
        raise FileFormatError(f"{what} is nested too deeply.") from None
    except ValueError as error:
        if isinstance(error, FileFormatError):
            raise
        # An integer of thousands of digits, which Python refuses to convert.
        raise FileFormatError(f"{what} holds a number that is too long.") from None
