"""Properties of BIF and XMLBIF files that keep what the formats cannot express.

Both formats store names of states only. Original names, types of states, order, cut
points, the state of a missing value and the target are stored in properties, which
other programs skip::

    property tanager_states = "['(-inf, 5]', '(5, inf)']";
    property tanager_ordered = "true";
    property tanager_cuts = "[5.0]";

Their values are JSON with single quotes: other programs take double quotes,
semicolons and equals signs for the end of a property or of its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from tanager.errors import FileFormatError, InputError, listed
from tanager.model.schema import Schema, State, Variable

PREFIX = "tanager_"  # of the names of these properties
_INTERVAL = re.compile(r"\(([^,]+), ([^,]+)[\])]")

_HALF = 300  # characters of the beginning and of the end that stay of a long message

# Turns texts into words that a format can hold, all different.
Words = Callable[[Sequence[str]], list[str]]


class WordRules(NamedTuple):
    """The words of a format for names and for states.

    The first rule is that of writing; files may also have been written by the others.
    """

    names: tuple[Words, ...]
    states: tuple[Words, ...]


class Source(Protocol):
    """A file that is read: words errors with the place in it."""

    def error(self, message: str, place: int) -> FileFormatError:
        """An error to be raised; `place` is what the source gave with a token."""


@dataclass(frozen=True)
class DeclaredVariable:
    """A variable as a file declares it, with the place of its name.

    `properties` are those of tanager, without the prefix, with their places.
    """

    name: str
    states: list[str]
    place: int
    properties: dict[str, tuple[str, int]] = field(default_factory=dict)


def brief(message: str) -> str:
    """Shorten a message that holds a very long name from a file."""
    if len(message) <= 2 * _HALF:
        return message
    return f"{message[:_HALF]} ... {message[-_HALF:]}"


def parse_property(text: str) -> tuple[str, str] | None:
    """Name, without the prefix, and value of a tanager property; None for others."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.startswith(PREFIX):
        return None
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return name.removeprefix(PREFIX), value


def property_texts(
    variable: Variable, name: str, states: list[str], *, is_target: bool
) -> dict[str, str]:
    """Properties, by name, that a variable needs in addition to its words.

    `name` and `states` are the words that stand for its name and states in the file.
    """
    needed: dict[str, object] = {}
    if name != variable.name:
        needed["name"] = variable.name
    if states != list(variable.states):
        needed["states"] = list(variable.states)
    if variable.ordered:
        needed["ordered"] = True
    if variable.cuts is not None:
        needed["cuts"] = list(variable.cuts)
    if variable.unit is not None:
        needed["unit"] = variable.unit
    if variable.missing_state:
        needed["missing_state"] = True
    if is_target:
        needed["target"] = True
    return {PREFIX + key: _text(value) for key, value in needed.items()}


def choose_words(schema: Schema, words: WordRules) -> list[tuple[str, list[str]]]:
    """Words for the name and the states of every variable."""
    names = words.names[0](schema.names)
    return [
        (name, words.states[0]([str(state) for state in variable.states]))
        for name, variable in zip(names, schema, strict=True)
    ]


def read_declared_schema(
    declared: Sequence[DeclaredVariable], words: WordRules, source: Source
) -> Schema:
    """The schema that a file declares, including the properties of tanager."""
    names = [_name(variable, words, source) for variable in declared]
    variables: list[Variable] = []
    target = None
    seen: set[str] = set()
    for position, (variable, name) in enumerate(zip(declared, names, strict=True)):
        if name in seen:
            raise source.error(f"two variables are called {name!r}.", variable.place)
        seen.add(name)
        variables.append(_variable(variable, name, words, source))
        if _value(variable, "target", bool, source):
            if target is not None:
                raise source.error(
                    f"both {names[target]!r} and {name!r} are declared as the target.",
                    variable.properties["target"][1],
                )
            target = position
    return Schema(tuple(variables), target)


def _name(variable: DeclaredVariable, words: WordRules, source: Source) -> str:
    name: str = _value(variable, "name", str, source) or variable.name
    # Of several odd names that are one as words, all but the first have a number.
    stems = tuple(rule([name])[0] for rule in words.names)
    if name != variable.name and not variable.name.startswith(stems):
        raise _stale(variable, "name", f"the name {variable.name!r}", source)
    return name


def _variable(
    variable: DeclaredVariable, name: str, words: WordRules, source: Source
) -> Variable:
    states: list[State] | None = _value(variable, "states", list, source)
    if states is None:
        states = list(variable.states)
    elif any(type(state) not in (str, int, float, bool) for state in states):
        raise _misfit(variable, "states", "a list of texts, numbers and bools", source)
    else:
        texts = [str(state) for state in states]
        if variable.states not in (texts, *(rule(texts) for rule in words.states)):
            shown = listed(variable.states)
            raise _stale(variable, "states", f"the states {shown}", source)
    cuts: list[float] | None = _value(variable, "cuts", list, source)
    if cuts is not None and any(type(cut) not in (int, float) for cut in cuts):
        raise _misfit(variable, "cuts", "a list of numbers", source)
    ordered = bool(_value(variable, "ordered", bool, source))
    missing = bool(_value(variable, "missing_state", bool, source))
    unit: str | None = _value(variable, "unit", str, source)
    try:
        plain = None if cuts is None else tuple(float(cut) for cut in cuts)
        return Variable(name, tuple(states), ordered, plain, missing, unit)
    except (InputError, OverflowError) as error:
        raise source.error(f"{error}", variable.place) from None


def _value(variable: DeclaredVariable, key: str, kind: type, source: Source) -> Any:
    """Value of a property, None if it is not there."""
    if key not in variable.properties:
        return None
    try:
        value = json.loads(variable.properties[key][0].replace("'", '"'))
    except (ValueError, RecursionError):
        value = None
    if type(value) is not kind:
        expected = {bool: "true or false", str: "a text in single quotes"}
        raise _misfit(variable, key, expected.get(kind, "a list"), source)
    return value


def _misfit(
    variable: DeclaredVariable, key: str, expected: str, source: Source
) -> FileFormatError:
    text, place = variable.properties[key]
    return source.error(
        f"the property {PREFIX}{key} is {text[:40]!r}; expected {expected}.", place
    )


def _stale(
    variable: DeclaredVariable, key: str, what: str, source: Source
) -> FileFormatError:
    return source.error(
        f"the property {PREFIX}{key} does not belong to {what}; remove it if they were "
        "changed on purpose.",
        variable.properties[key][1],
    )


def unique_words(texts: Sequence[str], is_plain: Callable[[str], bool]) -> list[str]:
    """Different words for texts that the format can hold; `is_plain` texts stay.

    The others are made of ASCII letters, with numbers appended where needed.

    Examples
    --------
    >>> unique_words(["a", "a b", "a(b)", "(-inf, 2]", "(2, 3]"], str.isidentifier)
    ['a', 'a_b', 'a_b_2', 'up_to_2', 'from_2_to_3']
    """
    taken = {text for text in texts if is_plain(text)}
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    made = []
    for text in texts:
        word = text
        if not is_plain(text) or text in seen:
            stem = _plain(text)
            word, number = stem, numbers.get(stem, 1)
            while word in taken or word in seen or not is_plain(word):
                number += 1
                word = f"{stem}_{number}"
            numbers[stem] = number  # all below are taken
        seen.add(word)
        made.append(word)
    return made


def _plain(text: str) -> str:
    """A word of ASCII letters, digits and ``_ . -`` that begins with a letter."""
    if interval := _INTERVAL.fullmatch(text):
        low, high = (end.replace("+", "") for end in interval.groups())
        before = "" if low == "-inf" else "above" if high == "inf" else "from"
        behind = "" if high == "inf" else "up_to" if low == "-inf" else "to"
        parts = ((before, low), (behind, high))
        text = "_".join(f"{word}_{cut}" for word, cut in parts if word) or "any"
    word = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")
    return word if re.match("[A-Za-z]", word) else f"_{word}"


def _text(value: object) -> str:
    """JSON with single quotes, and without what other programs could stumble over."""
    text = json.dumps(value, ensure_ascii=False).replace(r"\\", r"\u005c")
    # Strings first: their own quotes are escaped, so the others are the limits.
    text = text.replace(r"\"", r"\u0022").replace("'", r"\u0027").replace('"', "'")
    return re.sub(r"[;={}]|[^\x20-\x7e]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    mark = found[0]
    if mark > "~":
        return mark if mark.isprintable() else json.dumps(mark)[1:-1]
    return f"\\u{ord(mark):04x}"
